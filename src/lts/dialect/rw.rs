//! The `rw` dialect: labels of the published mCRL2 translation of SLCO models.
//!
//! ```text
//! label    = "rw" "(" object "," thread "," instruction "," "[" [mark {"," mark}] [","] [item {"," item}] "]" ")"
//! mark     = "fence'" | "fence_KIND'" | "atomic'" | "rmw'" | "MARK'" | "refused'"
//!                                                                our addition, written by `seqcon export`
//! item     = "A'" "(" accesses "," accesses ")"                  reads, writes
//! accesses = "[" [access {"," access}] "]"
//! access   = "lc'" "(" variable ")" | "lcdp'" "(" variable "," "[" [address {"," address}] "]" ")"
//! address  = variable | access
//! variable = "var_" object "'" [thread "'"] name [ "(" index ")" ]
//! ```
//!
//! The first item without writes is the condition; any other item is an assignment. Marks stand in front: at most one
//! kind of instruction, then perhaps the [marks](Marks) of its accesses (`acquire'`), and then perhaps `refused'`, the
//! condition was evaluated to false; its label has that condition and nothing else. `KIND` is that of a [partial
//! fence](PartialFence) with `_` for a comma (`fence_stores'`, `fence_rw_w'`); `rmw'` is atomic and no fence, and
//! orders by its marks only. The thread is called `object'thread`, a shared variable `object'name`, a local
//! `object'thread'name`, an element `object'name[index]`: names keep their object, so that facts of several state
//! spaces can be merged.
//!
//! Every access that is listed counts. The published translation lists what an address needs among the reads, too: an
//! index that is shared counts as read twice there, which can only ask for more.

#![forbid(unsafe_code)]

use super::LabelError;
use super::syntax::{self, MAX_DEPTH, Parsed, blanks, comma_list, expecting, fail, sign};
use crate::lts::label::{Access, Label, LabelKind, Step};
use crate::ordering::{Marks, PartialFence};
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::take_while1;
use nom::combinator::map;
use nom::sequence::{delimited, preceded, separated_pair};

/// Reads one label.
///
/// # Errors
/// If the text is not in the grammar above.
pub fn parse(text: &str) -> Result<Label, LabelError> {
    syntax::whole(text, 0, label)
}

fn label(input: &str) -> Parsed<'_, Label> {
    let mut comma = sign(",", "`,`");
    let (input, ()) = sign("rw", "`rw(object, thread, instruction, [accesses])`")(input)?;
    let (input, ()) = sign("(", "`(` after `rw`")(input)?;
    let (input, object) = identifier("the object's name")(blanks(input))?;
    let (input, ()) = comma(input)?;
    let (input, thread) = identifier("the thread's name")(blanks(input))?;
    let (input, ()) = comma(input)?;
    let (input, instr) = identifier("the instruction's name")(blanks(input))?;
    let (input, ()) = comma(input)?;
    let (input, Listed { kind, refused, items }) = marks_and_items(input)?;
    let (input, ()) = sign(")", "`)` at the end of the label")(input)?;
    let steps = items.into_iter().enumerate().map(|(position, (reads, writes))| {
        let condition = position == 0 && writes.is_empty();
        if condition { Step::Condition { reads } } else { Step::Assignment { writes, reads } }
    });
    let label =
        Label { thread: format!("{object}'{thread}"), instr: instr.to_owned(), kind, refused, steps: steps.collect() };
    Ok((input, label))
}

fn identifier<'a>(expected: &'static str) -> impl FnMut(&'a str) -> Parsed<'a, &'a str> {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '\'');
    expecting(expected, take_while1(is_part))
}

/// `[ ... ]`, possibly empty.
fn list<'a, T>(input: &'a str, item: impl FnMut(&'a str) -> Parsed<'a, T>) -> Parsed<'a, Vec<T>> {
    let (rest, ()) = sign("[", "`[`")(input)?;
    if let Some(rest) = blanks(rest).strip_prefix(']') {
        return Ok((rest, Vec::new()));
    }
    let (rest, items) = comma_list(item)(rest)?;
    let (rest, ()) = sign("]", "`,` or `]`")(rest)?;
    Ok((rest, items))
}

/// Reads and writes.
type Item = (Vec<Access>, Vec<Access>);

/// What stands in the brackets of a label.
struct Listed {
    kind: LabelKind,
    refused: bool,
    items: Vec<Item>,
}

/// What stands in front of items.
enum Mark {
    Kind(LabelKind),
    Of(Marks),
    Refused,
}

/// The words for what a label of this kind has in front, without what tells that it was refused.
#[must_use]
pub fn words(kind: LabelKind) -> Vec<String> {
    let of = |marks: Marks| {
        let own = Marks::NAMES.into_iter().filter(move |(_, mark)| marks.has(*mark));
        own.map(|(name, _)| format!("{name}'"))
    };
    match kind {
        LabelKind::Plain => Vec::new(),
        LabelKind::Marked(marks) => of(marks).collect(),
        LabelKind::Fence => vec!["fence'".to_owned()],
        LabelKind::PartialFence(kind) => vec![format!("fence_{}'", kind.to_string().replace(',', "_"))],
        LabelKind::Atomic => vec!["atomic'".to_owned()],
        LabelKind::Rmw(marks) => std::iter::once("rmw'".to_owned()).chain(of(marks)).collect(),
    }
}

/// The mark that stands here, and what is behind it.
fn mark(input: &str) -> Option<(&str, Mark)> {
    let (word, behind) = input.split_once('\'')?;
    let mark = match word {
        "refused" => Mark::Refused,
        "fence" => Mark::Kind(LabelKind::Fence),
        "atomic" => Mark::Kind(LabelKind::Atomic),
        "rmw" => Mark::Kind(LabelKind::Rmw(Marks::NONE)),
        _ => match word.strip_prefix("fence_") {
            Some(kind) => Mark::Kind(LabelKind::PartialFence(partial_fence(kind)?)),
            None => Mark::Of(Marks::NAMES.into_iter().find(|(name, _)| *name == word)?.1),
        },
    };
    Some((behind, mark))
}

fn partial_fence(name: &str) -> Option<PartialFence> {
    PartialFence::named(name).or_else(|| PartialFence::named(&name.replace('_', ",")))
}

/// `[ ... ]`, where marks may stand in front.
fn marks_and_items(input: &str) -> Parsed<'_, Listed> {
    let (mut rest, ()) = sign("[", "`[`")(input)?;
    let mut listed = Listed { kind: LabelKind::Plain, refused: false, items: Vec::new() };
    let mut is_first = true;
    loop {
        let here = blanks(rest);
        let Some((behind, mark)) = mark(here) else { break };
        match (mark, listed.kind) {
            (Mark::Kind(kind), _) if is_first => listed.kind = kind,
            (Mark::Refused, _) if !listed.refused => listed.refused = true,
            (Mark::Of(marks), LabelKind::Plain) if !listed.refused => listed.kind = LabelKind::Marked(marks),
            (Mark::Of(more), LabelKind::Marked(marks)) if !listed.refused && !marks.has(more) => {
                listed.kind = LabelKind::Marked(marks.and(more));
            }
            (Mark::Of(more), LabelKind::Rmw(marks)) if !listed.refused && !marks.has(more) => {
                listed.kind = LabelKind::Rmw(marks.and(more));
            }
            _ => return fail(here, "`A'([reads], [writes])`: a kind stands first, and each mark once"),
        }
        is_first = false;
        if let Some(end) = blanks(behind).strip_prefix(']').filter(|_| !listed.refused) {
            return Ok((end, listed));
        }
        (rest, ()) = sign(",", if listed.refused { "`,` and the condition" } else { "`,` or `]`" })(behind)?;
    }
    if let Some(end) = blanks(rest).strip_prefix(']').filter(|_| is_first) {
        return Ok((end, listed));
    }
    let start = blanks(rest);
    (rest, listed.items) = comma_list(item)(rest)?;
    if listed.refused && !matches!(&listed.items[..], [(_, writes)] if writes.is_empty()) {
        return fail(start, "the condition that was refused, `A'([reads], [])`, and nothing else");
    }
    (rest, ()) = sign("]", "`,` or `]`")(rest)?;
    Ok((rest, listed))
}

/// Reads and writes of one item.
fn item(input: &str) -> Parsed<'_, Item> {
    let accesses = |input| list(input, |input| access(input, 0));
    let both = separated_pair(accesses, sign(",", "`,` between reads and writes"), accesses);
    let (rest, ()) = sign("A'", "`A'([reads], [writes])`")(input)?;
    delimited(sign("(", "`(` after `A'`"), both, sign(")", "`)` after the writes")).parse(rest)
}

fn access(input: &str, depth: usize) -> Parsed<'_, Access> {
    const ACCESS: &str = "`lc'(variable)` or `lcdp'(variable, [variables])`";
    // One level less than elsewhere: an address may be a bare variable, which is a level too.
    if depth >= MAX_DEPTH {
        return syntax::too_deep(input);
    }
    let close = || sign(")", "`)` after the access");
    let plain = delimited(sign("lc'(", ACCESS), variable, close());
    let addresses = preceded(sign(",", "`,` after the variable"), |i| list(i, |i| address(i, depth)));
    let indexed = delimited(sign("lcdp'(", ACCESS), (variable, addresses), close());
    let indexed = map(indexed, |(variable, address)| Access { address, ..variable });
    alt((plain, indexed)).parse(input)
}

fn address(input: &str, depth: usize) -> Parsed<'_, Access> {
    alt((variable, |input| access(input, depth + 1))).parse(input)
}

fn variable(input: &str) -> Parsed<'_, Access> {
    const VARIABLE: &str = "`var_object'name` or `var_object'thread'name`";
    let input = blanks(input);
    let (rest, ()) = sign("var_", VARIABLE)(input)?;
    let (rest, name) = identifier(VARIABLE)(rest)?;
    let parts: Vec<&str> = name.split('\'').collect();
    if !(2..=3).contains(&parts.len()) || parts.contains(&"") {
        return fail(input, VARIABLE);
    }
    let (rest, index) = if rest.starts_with('(') { map(index, Some).parse(rest)? } else { (rest, None) };
    let name = index.map_or_else(|| name.to_owned(), |index| format!("{name}[{index}]"));
    Ok((rest, Access { name, local: parts.len() == 3, address: Vec::new() }))
}

fn index(input: &str) -> Parsed<'_, &str> {
    let text = take_while1(|character| !"()[]".contains(character));
    delimited(sign("(", "`(`"), expecting("an index", text), sign(")", "`)` after the index")).parse(input)
}
