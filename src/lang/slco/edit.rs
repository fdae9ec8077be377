//! Puts our additions into the text of a model: `fence`, and `atomic [ … ]` around a statement. Everything else stays
//! byte for byte as it is.

use crate::program::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A change at a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// A fence before the statement.
    FenceBefore(Span),
    /// A fence after the statement.
    FenceAfter(Span),
    /// The statement becomes atomic.
    Atomic(Span),
}

/// What the changes insert, and where, in bytes; nothing is taken away.
#[must_use]
pub fn insertions(text: &str, edits: &BTreeSet<Edit>) -> BTreeMap<usize, String> {
    // At one place, what comes first in the text comes first: the ends of statements, then fences, then beginnings.
    let mut insertions: BTreeMap<usize, [String; 4]> = BTreeMap::new();
    let mut insert = |at: usize, rank: usize, what: &str| insertions.entry(at).or_default()[rank].push_str(what);
    for edit in edits {
        match *edit {
            Edit::FenceBefore(span) => insert(span.start, 2, "fence; "),
            Edit::FenceAfter(span) => insert(span.end, 1, "; fence"),
            Edit::Atomic(span) => {
                let is_composite = text[span.start..span.end].starts_with('[');
                insert(span.start, 3, if is_composite { "atomic " } else { "atomic [" });
                insert(span.end, 0, if is_composite { "" } else { "]" });
            }
        }
    }
    insertions.into_iter().map(|(at, parts)| (at, parts.concat())).filter(|(_, what)| !what.is_empty()).collect()
}

/// The text with all changes made.
#[must_use]
pub fn edited(text: &str, edits: &BTreeSet<Edit>) -> String {
    let mut result = String::with_capacity(text.len() + 16 * edits.len());
    let mut from = 0;
    for (at, what) in insertions(text, edits) {
        result.push_str(&text[from..at]);
        result.push_str(&what);
        from = at;
    }
    result.push_str(&text[from..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_at_one_statement_nest() {
        let text = "A -> B { x := 1; [y = 0; y := 1] }";
        let span = |part: &str| {
            let start = text.find(part).expect("part of the text");
            Span { start, end: start + part.len() }
        };
        let (first, second) = (span("x := 1"), span("[y = 0; y := 1]"));
        let edits = [
            Edit::FenceBefore(first),
            Edit::Atomic(first),
            Edit::FenceAfter(first),
            Edit::Atomic(second),
            Edit::FenceAfter(second),
        ];
        let expected = "A -> B { fence; atomic [x := 1]; fence; atomic [y = 0; y := 1]; fence }";
        assert_eq!(edited(text, &edits.into_iter().collect()), expected);
    }
}
