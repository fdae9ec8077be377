//! Names that are declared twice or not at all.

use super::Findings;
use crate::lang::Diagnostic;
use crate::lang::slco::syntax::Name;
use std::collections::HashSet;

/// Within how many edits a name is taken for a misspelling of another.
const SUGGESTED_DISTANCE: usize = 2;
/// Up to how many names are listed if none is near.
const LISTED_NAMES: usize = 8;
/// Names of which one is longer than this are not compared.
const COMPARED_CHARS: usize = 100;

/// Reports every name that repeats an earlier one; `what` is a plural.
pub fn check_unique<'a>(what: &str, names: impl Iterator<Item = &'a Name>, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name.text.as_str()) {
            findings.error(name.span, format!("there are two {what} `{}`", name.text));
        }
    }
}

/// The error for a name that is not among the known ones, with the nearest of them.
pub fn unknown<'a>(what: &str, name: &Name, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let error = Diagnostic::error(name.span, format!("there is no {what} `{}`", name.text));
    let known: Vec<&str> = known.collect();
    let near = known.iter().map(|candidate| (distance(&name.text, candidate), *candidate));
    // Short names are all near to each other: at least one character must be right.
    let near =
        near.filter(|(edits, candidate)| *edits <= SUGGESTED_DISTANCE && *edits < name.text.len().min(candidate.len()));
    match near.min_by_key(|(edits, _)| *edits) {
        Some((_, candidate)) => error.with_help(format!("did you mean `{candidate}`?")),
        None if known.is_empty() => error.with_help(format!("no {what} is declared here")),
        None if known.len() <= LISTED_NAMES => error.with_help(format!(
            "declared here: {}",
            known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        )),
        None => error,
    }
}

/// How many characters must be inserted, removed, replaced or swapped with their neighbour to turn one name into the other.
fn distance(a: &str, b: &str) -> usize {
    if a.len().max(b.len()) > COMPARED_CHARS {
        return usize::MAX;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn edits_are_counted() {
        let cases = [("turn", "turn", 0), ("trun", "turn", 1), ("tur", "turn", 1), ("flag", "flog", 1), ("", "ab", 2)];
        for (a, b, edits) in cases {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }
}
