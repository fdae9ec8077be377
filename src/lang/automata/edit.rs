//! Puts fences into the text of a program: a state between, and a transition with the fence from there on. Everything
//! else stays byte for byte as it is.
//!
//! ```text
//! transition q0 q1 write 1 0            transition q0 q0_f1 write 1 0
//!                                       transition q0_f1 q1 mfence
//! q0 : x = 1 ; goto q1                  q0 : x = 1 ; goto q0_f1
//!                                       q0_f1 : fence ; goto q1
//! ```
//!
//! A fence at a state is the same for all transitions that lead there: one new state, which they lead to instead, and
//! one transition with the fence, behind the last of them. Where the thread starts in the state it still does.
//!
//! A transition makes one access, so a fence never belongs inside of it. What is said of one copy of a thread is put
//! into all of them, since they have one text.

use super::syntax::{Thread, Transition};
use super::{paper, tools};
use crate::program::Span;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Where a fence goes; instructions are given by their spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// After the instruction.
    After(Span),
    /// At the state where the instruction begins.
    AtOrigin(Span),
    /// At the state that the instruction leads to.
    AtTarget(Span),
}

/// The text with these fences.
#[must_use]
pub fn fenced(text: &str, spots: &BTreeSet<Spot>) -> String {
    let is_paper = paper::is_one(text);
    let source = if is_paper { paper::parse(text) } else { tools::parse("", text) };
    // A text that was read once is read again.
    let Ok(source) = source else { return text.to_owned() };
    let mut changes =
        Changes { text, is_paper, names: HashSet::new(), replaced: BTreeMap::new(), added: BTreeMap::new() };
    let all = source.threads.iter().flat_map(|thread| &thread.transitions);
    changes.names.extend(all.flat_map(|transition| [&transition.from, &transition.to]).map(|name| name.text.clone()));
    source.threads.iter().for_each(|thread| changes.fence(thread, spots));
    changes.made()
}

/// Changes of a text.
struct Changes<'t> {
    text: &'t str,
    is_paper: bool,
    /// Names of states that are taken.
    names: HashSet<String>,
    /// By where they begin: names that give way to others.
    replaced: BTreeMap<usize, (Span, String)>,
    /// By the end of a transition: those that come behind it.
    added: BTreeMap<usize, String>,
}

impl Changes<'_> {
    /// Puts those of the fences in that belong to this thread.
    fn fence(&mut self, thread: &Thread, spots: &BTreeSet<Spot>) {
        // A region begins where its `lock` does and ends where its `unlock` does.
        let begins = |span: Span| thread.transitions.iter().find(move |known| known.span.start == span.start);
        let ends = |span: Span| thread.transitions.iter().find(move |known| known.span.end == span.end);
        let mut states: BTreeSet<&str> = BTreeSet::new();
        let mut after: BTreeMap<usize, &Transition> = BTreeMap::new();
        for spot in spots {
            match *spot {
                Spot::After(span) => after.extend(ends(span).map(|transition| (transition.span.end, transition))),
                Spot::AtOrigin(span) => states.extend(begins(span).map(|transition| &*transition.from.text)),
                Spot::AtTarget(span) => states.extend(ends(span).map(|transition| &*transition.to.text)),
            }
        }
        // Where what led to a state leads now.
        let mut entries: BTreeMap<&str, String> = BTreeMap::new();
        for state in states {
            let ways: Vec<&Transition> = thread.transitions.iter().filter(|way| way.to.text == state).collect();
            let Some(last) = ways.last() else { continue };
            let entry = self.fresh(state);
            self.add(last, &entry, state);
            for way in ways {
                self.replaced.insert(way.to.span.start, (way.to.span, entry.clone()));
            }
            entries.insert(state, entry);
        }
        for transition in after.into_values() {
            let between = self.fresh(&transition.from.text);
            let to = &transition.to;
            self.add(transition, &between, entries.get(&*to.text).unwrap_or(&to.text));
            self.replaced.insert(to.span.start, (to.span, between));
        }
    }

    /// A name of a state that is not taken yet.
    fn fresh(&mut self, like: &str) -> String {
        let mut number = 1;
        loop {
            let candidate = format!("{like}_f{number}");
            if self.names.insert(candidate.clone()) {
                return candidate;
            }
            number += 1;
        }
    }

    /// Adds a transition with a fence behind another one.
    fn add(&mut self, behind: &Transition, from: &str, to: &str) {
        let line_start = self.text[..behind.span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent: String = self.text[line_start..].chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        let addition = match self.is_paper {
            true => format!("\n{indent}{from} : fence ; goto {to}"),
            false => format!("\n{indent}transition {from} {to} mfence"),
        };
        self.added.entry(behind.span.end).or_default().push_str(&addition);
    }

    /// The text with the changes made.
    fn made(&self) -> String {
        let Changes { text, replaced, added, .. } = self;
        let mut result = String::with_capacity(text.len() + 40 * added.len());
        let mut from = 0;
        let mut places: BTreeSet<usize> = replaced.keys().copied().collect();
        places.extend(added.keys());
        for at in places {
            result.push_str(&text[from..at]);
            from = at;
            // At one place, a transition ends before the next one begins.
            if let Some(addition) = added.get(&at) {
                // What follows on the same line, a semicolon or a comment, stays behind its own transition.
                let rest_of_line = text[at..].find(['\n', '\r']).map_or(text.len(), |length| at + length);
                let is_rest = replaced.range(at..rest_of_line).next().is_none()
                    && text[at..rest_of_line].trim_start().chars().next().is_none_or(|c| matches!(c, ';' | '#' | '/'));
                if is_rest {
                    result.push_str(&text[at..rest_of_line]);
                    from = rest_of_line;
                }
                result.push_str(addition);
            }
            if let Some((span, name)) = replaced.get(&at) {
                result.push_str(name);
                from = span.end;
            }
        }
        result.push_str(&text[from..]);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::{Spot, fenced};
    use crate::lang;
    use crate::program::{Instruction, Span};
    use std::collections::BTreeSet;

    /// The text with fences at instructions, given by their names.
    fn with(text: &str, spot: impl Fn(&Instruction) -> Option<Spot>) -> String {
        let program = lang::parse("test.txt", text).expect("a right text").program;
        let instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
        fenced(text, &instructions.filter_map(spot).collect::<BTreeSet<_>>())
    }

    fn all_fenced(text: &str) -> String {
        with(text, |instruction| Some(Spot::After(instruction.span)))
    }

    #[test]
    fn a_fence_is_a_state_between() {
        let text = "thread t\n  initial a\n  transition a # here\n b write 1 0 # x\n  transition b a_f1 lock transition a_f1 c unlock\nend\n";
        assert_eq!(
            all_fenced(text),
            "thread t\n  initial a\n  transition a # here\n a_f2 write 1 0 # x\n  transition a_f2 b mfence\n  \
             transition b a_f1 lock transition a_f1 a_f1_f1 unlock\n  transition a_f1_f1 c mfence\nend\n"
        );
        let text = "program p vars x procs process q regs init a begin\n a : x = 1 ; goto b; b:skip;goto a\nend";
        assert_eq!(
            all_fenced(text),
            "program p vars x procs process q regs init a begin\n a : x = 1 ; goto a_f1\n a_f1 : fence ; goto b; \
             b:skip;goto b_f1\n b_f1 : fence ; goto a\nend"
        );
    }

    /// A fence of this kind at the instruction of this name.
    fn at(name: &str, spot: fn(Span) -> Spot) -> impl Fn(&Instruction) -> Option<Spot> {
        move |instruction| (instruction.name == name).then(|| spot(instruction.span))
    }

    #[test]
    fn a_fence_at_a_state_is_one_for_all_ways_into_it() {
        // The thread starts in the state, and a region leads there; another thread has a state of the same name.
        let text = "thread t\ninitial a\ntransition a b read r 0\ntransition b a write 1 1\ntransition b c lock\n transition c a unlock # d\nend\nthread u initial a transition a a noop end\n";
        let expected = "thread t\ninitial a\ntransition a b read r 0\ntransition b a_f1 write 1 1\ntransition b c lock\n transition c a_f1 unlock # d\n transition a_f1 a mfence\nend\nthread u initial a transition a a noop end\n";
        assert_eq!(with(text, at("b-a", Spot::AtTarget)), expected);
        assert_eq!(with(text, at("a-b", Spot::AtOrigin)), expected);
        // By two instructions that lead there it is said twice, and put in once.
        let all = |instruction: &Instruction| (instruction.to.0 == 0).then_some(Spot::AtTarget(instruction.span));
        let both = with(text, all);
        assert_eq!(both.matches("mfence").count(), 2, "one in each thread: {both}");
        // What is behind a fence after an instruction leads to the one at the state.
        let two = |instruction: &Instruction| match &*instruction.name {
            "b-a" => Some(Spot::After(instruction.span)),
            "a-b" => Some(Spot::AtOrigin(instruction.span)),
            _ => None,
        };
        assert!(with(text, two).contains("transition b b_f1 write 1 1\ntransition b_f1 a_f1 mfence\n"));
        let text = "program p vars x procs process q regs init a begin\n a : x = 1 ; goto b; b:skip;goto a\n b : skip; goto b;\nend";
        assert_eq!(
            with(text, at("b-a", Spot::AtOrigin)),
            "program p vars x procs process q regs init a begin\n a : x = 1 ; goto b_f1; b:skip;goto a\n b : skip; goto b_f1;\n b_f1 : fence ; goto b\nend"
        );
    }
}
