//! Names that are declared twice or not at all.

use super::Findings;
use crate::lang::Diagnostic;
use crate::lang::similar::nearest;
use crate::lang::slco::syntax::Name;
use std::collections::HashSet;

/// Up to how many names are listed if none is near.
const LISTED_NAMES: usize = 8;

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
    match nearest(&name.text, known.iter().copied()) {
        Some(candidate) => error.with_help(format!("did you mean `{candidate}`?")),
        None if known.is_empty() => error.with_help(format!("no {what} is declared here")),
        None if known.len() <= LISTED_NAMES => error.with_help(format!(
            "declared here: {}",
            known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        )),
        None => error,
    }
}
