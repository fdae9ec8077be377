//! What people write who come from other languages, and what SLCO has instead.
//!
//! Nothing of this is SLCO, so advice never changes what a text means. Words that SLCO has as names (`if`, `wait`, …)
//! are only taken for something else where no name can stand.

use super::super::lexer::TokenKind;
use super::{Parser, Reported};
use crate::lang::Diagnostic;

/// Words that begin statements elsewhere.
const CONTROL: [(&str, &str); 5] = [
    ("if", "a branch is two transitions: `s -> yes { x = 1 }` and `s -> no { x != 1 }`"),
    ("else", "a branch is two transitions: `s -> yes { x = 1 }` and `s -> no { x != 1 }`"),
    ("while", "a loop is a transition that leads back, and one that leaves: `s -> s { … }`, `s -> t { … }`"),
    ("for", "a loop is a transition that leads back, and one that leaves: `s -> s { … }`, `s -> t { … }`"),
    ("goto", "where a thread goes on is said by its transitions: `s -> t { … }`"),
];
/// What waits, elsewhere.
const WAITS: [&str; 5] = ["wait", "await", "wait_until", "when", "assume"];
/// What compares and swaps, elsewhere.
const SWAPS: [&str; 4] = ["cas", "CAS", "compare_and_swap", "compare_exchange"];
/// What does nothing, elsewhere.
const NOTHING: [&str; 5] = ["skip", "pass", "nop", "noop", "continue"];

const WAITING: &str = "a condition waits until it holds: write it alone, `x = 1`";
const SWAPPING: &str = "a compare-and-swap is `atomic [x = 0; x := 1]`, which waits until its condition holds; one that may fail is a second transition, `{ x != 0 }`";

/// What an unknown name may have been meant to be.
pub fn meant_by(name: &str) -> Option<&'static str> {
    NOTHING.contains(&name).then_some("a step that does nothing is a transition without `{ … }`, or `true`")
}

impl Parser<'_> {
    /// Reports a statement of another language, if one begins here.
    pub(super) fn foreign_statement(&mut self) -> Option<Reported> {
        if ["Integer", "Boolean", "Byte"].iter().any(|word| self.at(word)) {
            let error =
                Diagnostic::error(self.span(), format!("expected a statement, found the type `{}`", self.peek(0)));
            let help =
                "variables are declared at the beginning of a class or a state machine: `variables Integer x := 1`";
            return Some(self.report(error.with_help(help)));
        }
        let (_, help) = CONTROL.into_iter().find(|(word, _)| self.at(word))?;
        // With an operator behind it, it is a variable of that name.
        let begins_more = match self.kind(1) {
            TokenKind::Word | TokenKind::Number => !self.is_operator(1),
            TokenKind::Symbol => ["(", "{", "!"].contains(&self.peek(1)),
            TokenKind::End => false,
        };
        if !begins_more {
            return None;
        }
        let error = Diagnostic::error(self.span(), format!("there is no statement `{}`", self.peek(0)));
        Some(self.report(error.with_help(help)))
    }

    /// Whether what begins at a token is a statement with blocks, in other languages.
    pub(super) fn has_blocks(&self, start: usize) -> bool {
        let first = self.text_at(start);
        first == "atomic" || CONTROL.iter().any(|(word, _)| *word == first)
    }

    /// What to write instead of the next token, which nothing that is known can have here.
    pub(super) fn advice(&self) -> Option<String> {
        let before = |back: usize| self.position.checked_sub(back).map_or("", |position| self.text_at(position));
        let is_joined = |back: usize| {
            let start = self.position.checked_sub(back).map(|position| self.token_at(position).span.end);
            start == Some(self.token_at(self.position + 1 - back).span.start)
        };
        let (last, found) = (before(1), self.peek(0));
        match found {
            "=" if ["+", "-", "*", "/", "%"].contains(&last) && is_joined(1) => {
                Some(format!("`x {last}= 1` is written `x := x {last} 1`"))
            }
            _ if ["+", "-"].contains(&last) && before(2) == last && is_joined(2) => {
                Some(format!("`x{last}{last}` is written `x := x {last} 1`"))
            }
            "," => Some(
                "statements are separated by `;`, and each is a step of its own; `[x := 1; y := 1]` is one step"
                    .to_owned(),
            ),
            "{" if last == "atomic" => Some("brackets hold it together: `atomic [x = 0; x := 1]`".to_owned()),
            "(" if SWAPS.contains(&last) => Some(SWAPPING.to_owned()),
            _ if WAITS.contains(&last) => Some(WAITING.to_owned()),
            "(" if self.position > 0 && self.token_at(self.position - 1).kind == TokenKind::Word => {
                Some("there are no procedures: write out what it does".to_owned())
            }
            _ => self.other_notation(last, found).filter(|_| is_joined(1)),
        }
    }

    /// A number that is not in decimal notation: its zero, and the rest of it behind.
    fn other_notation(&self, zero: &str, rest: &str) -> Option<String> {
        let is_number = self.kind(0) == TokenKind::Word && zero == "0";
        let (digits, radix) = match rest.split_at_checked(1)? {
            ("x" | "X", digits) => (digits, 16),
            ("b" | "B", digits) => (digits, 2),
            ("o" | "O", digits) => (digits, 8),
            _ => return None,
        };
        let number = i64::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
        Some(format!("numbers are decimal: `0{rest}` is written `{number}`"))
    }
}
