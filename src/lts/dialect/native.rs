//! The native dialect: what seqcon itself writes, meant to be read by people.
//!
//! ```text
//! label      = thread "." instr [":" [ "fence" [kind] | ["atomic"] [marks] [step {";" step}] ]]
//! kind       = "lightweight" | "stores" | "loads" | "control" | "acquire" | "release" | "acq_rel" | accesses "," accesses
//! accesses   = "r" | "w" | "rw"
//! marks      = "[" [mark {"," mark}] "]"
//! mark       = "relaxed" | "acquire" | "acquire_pc" | "release" | "seq_cst" | "exclusive"
//! step       = condition | assignment
//! condition  = ("?" | "?!") [access {"," access}]               "?!": it was evaluated to false
//! assignment = [access {"," access}] ":=" [access {"," access}]
//! access     = ["~"] name {"[" index "]"} ["@" "(" access {"," access} ")"]
//! ```
//!
//! The head ends at the first `:`; the thread is everything before its last dot. Thread and instruction names are
//! made of letters, digits and `_ ' $ # -`, variable names also of `. > * &`; an index is any text with its brackets
//! matched. `~` marks a thread-local, `@(…)` lists what the address depends on. A name that is only digits is
//! refused: constants are no accesses and are left out (`x :=`, not `x := 1`). `atomic` is no variable's name.
//!
//! A fence with a kind orders less than all ([`PartialFence`]). `atomic` is a full fence, too; with marks, be it none
//! (`atomic [] x := x`), it is in one piece and orders nothing but by its [`Marks`].
//!
//! This is the inverse of [`Label`]'s `Display`: `parse(&label.to_string())` is `label` for every label that a
//! dialect reads.

#![forbid(unsafe_code)]

use super::LabelError;
use super::syntax::{self, ATOMIC, MAX_DEPTH, Parsed, blanks, comma_list, expecting, fail, sign};
use crate::lts::label::{Access, Label, LabelKind, Step};
use crate::ordering::{Marks, PartialFence};
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::take_while1;
use nom::character::complete::char;
use nom::combinator::{map, opt};
use nom::sequence::{delimited, pair, preceded, separated_pair};

const VARIABLE: &str = "a variable name (a constant is no access: leave it out)";

/// Reads one label.
///
/// # Errors
/// If the text is not in the grammar above.
pub fn parse(text: &str) -> Result<Label, LabelError> {
    let head_end = text.find(':').unwrap_or(text.len());
    let (thread, instr) = head(&text[..head_end])?;
    let body_start = (head_end + 1).min(text.len());
    let body = blanks(&text[body_start..]);
    let label = |kind, refused, steps| Label { thread, instr, kind, refused, steps };
    if let Some(kind) = fence(body) {
        return Ok(label(kind, false, Vec::new()));
    }
    let (is_atomic, rest) = match body.strip_prefix(ATOMIC) {
        Some(rest) if !rest.starts_with(syntax::is_name_char) => (true, blanks(rest)),
        _ => (false, body),
    };
    let (marks, rest) = marks(rest, text)?;
    let steps_start = text.len() - rest.len();
    let kind = match (is_atomic, marks) {
        (true, None) => LabelKind::Atomic,
        (true, Some(marks)) => LabelKind::Rmw(marks),
        (false, None | Some(Marks::NONE)) => LabelKind::Plain,
        (false, Some(marks)) => LabelKind::Marked(marks),
    };
    if blanks(&text[steps_start..]).is_empty() {
        return Ok(label(kind, false, Vec::new()));
    }
    let steps = syntax::whole(text, steps_start, steps)?;
    let refused = steps.iter().any(|(_, refused)| *refused);
    Ok(label(kind, refused, steps.into_iter().map(|(step, _)| step).collect()))
}

/// `fence`, alone or with its kind.
fn fence(body: &str) -> Option<LabelKind> {
    let rest = body.strip_prefix("fence")?;
    if rest.trim().is_empty() {
        return Some(LabelKind::Fence);
    }
    let kind = rest.starts_with([' ', '\t']).then(|| PartialFence::named(rest.trim())).flatten();
    kind.map(LabelKind::PartialFence)
}

/// Marks in brackets, if there are any, and what is behind them.
fn marks<'t>(input: &'t str, text: &str) -> Result<(Option<Marks>, &'t str), LabelError> {
    let Some(inner) = input.strip_prefix('[') else { return Ok((None, input)) };
    let error =
        |rest: &str, expected: &str| LabelError { offset: text.len() - rest.len(), expected: expected.to_owned() };
    let (names, rest) = inner.split_once(']').ok_or_else(|| error(input, "marks with their closing `]`"))?;
    let marks = Marks::named(names).ok_or_else(|| {
        error(
            inner,
            "marks: `relaxed`, `acquire`, `acquire_pc`, `release`, `seq_cst` or `exclusive`, with commas between",
        )
    })?;
    Ok((Some(marks), blanks(rest)))
}

/// `thread.instr`; offsets count from the start of the label, where the head stands.
fn head(text: &str) -> Result<(String, String), LabelError> {
    let error = |offset, expected: &str| Err(LabelError { offset, expected: expected.to_owned() });
    let (start, end) = (text.len() - blanks(text).len(), text.trim_end_matches([' ', '\t']).len());
    let Some(dot) = text.rfind('.') else {
        return error(start, "`thread.instruction`, then `:` and its accesses");
    };
    if let Some(wrong) = text[start..dot].find(|character| !syntax::is_head_char(character) && character != '.') {
        return error(start + wrong, "a thread name of letters, digits and _ ' $ # -");
    }
    if let Some(wrong) = text[dot + 1..end.max(dot + 1)].find(|character| !syntax::is_head_char(character)) {
        return error(dot + 1 + wrong, "an instruction name of letters, digits and _ ' $ # -");
    }
    if start == dot {
        return error(start, "a thread name before the dot");
    }
    if dot + 1 >= end {
        return error(dot + 1, "an instruction name after the dot");
    }
    Ok((text[start..dot].to_owned(), text[dot + 1..end].to_owned()))
}

/// Steps, each with whether it is a condition evaluated to false.
fn steps(input: &str) -> Parsed<'_, Vec<(Step, bool)>> {
    let (mut rest, first) = step(input)?;
    let mut steps = vec![first];
    while let Some(after) = blanks(rest).strip_prefix(';') {
        let (next, another) = step(after)?;
        steps.push(another);
        rest = next;
    }
    Ok((rest, steps))
}

fn step(input: &str) -> Parsed<'_, (Step, bool)> {
    let input = blanks(input);
    expecting("a step: `? reads` or `writes := reads`", alt((condition, map(assignment, |step| (step, false)))))(input)
}

fn condition(input: &str) -> Parsed<'_, (Step, bool)> {
    let refused = map(opt(char('!')), |mark| mark.is_some());
    map(preceded(char('?'), pair(refused, accesses)), |(refused, reads)| (Step::Condition { reads }, refused))
        .parse(input)
}

fn assignment(input: &str) -> Parsed<'_, Step> {
    map(separated_pair(accesses, sign(":=", "`:=`"), accesses), |(writes, reads)| Step::Assignment { writes, reads })
        .parse(input)
}

/// A list that ends where a step or a side of it ends; it may be empty.
fn accesses(input: &str) -> Parsed<'_, Vec<Access>> {
    let input = blanks(input);
    if input.is_empty() || input.starts_with([';', ':']) {
        return Ok((input, Vec::new()));
    }
    comma_list(|input| access(input, 0))(input)
}

fn access(input: &str, depth: usize) -> Parsed<'_, Access> {
    if depth > MAX_DEPTH {
        return syntax::too_deep(input);
    }
    let (rest, local) = map(opt(char('~')), |mark| mark.is_some()).parse(input)?;
    let (rest, name) = name(rest)?;
    let address = preceded(char('@'), delimited(sign("(", "`(` after `@`"), |i| address(i, depth), sign(")", "`)`")));
    let (rest, address) = if rest.starts_with('@') { map(address, Some).parse(rest)? } else { (rest, None) };
    Ok((rest, Access { name: name.to_owned(), local, address: address.unwrap_or_default() }))
}

fn address(input: &str, depth: usize) -> Parsed<'_, Vec<Access>> {
    comma_list(|input| access(input, depth + 1))(input)
}

/// A variable's name with its indices.
fn name(input: &str) -> Parsed<'_, &str> {
    let (rest, plain): (&str, &str) = expecting(VARIABLE, take_while1(syntax::is_name_char))(input)?;
    if !syntax::is_variable(plain) {
        return fail(input, VARIABLE);
    }
    let Some(length) = syntax::indices_length(rest) else {
        return fail(rest, "an index with its closing `]`");
    };
    Ok((&rest[length..], &input[..plain.len() + length]))
}
