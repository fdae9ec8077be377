//! Names that are declared twice or not at all.

use super::Findings;
use crate::lang::Diagnostic;
use crate::lang::similar::nearest;
use crate::lang::slco::parser::meant_by;
use crate::lang::slco::syntax::Name;
use std::collections::HashSet;

/// How many names are listed at most.
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
    if let Some(advice) = meant_by(&name.text) {
        return error.with_help(advice);
    }
    match nearest(&name.text, known.iter().copied()) {
        Some(candidate) => error.with_help(format!("did you mean `{candidate}`?")),
        None if known.is_empty() => error.with_help(format!("no {what} is declared here")),
        None => error.with_help(format!("declared here: {}", listed(&known))),
    }
}

/// The names, or the first of them.
pub fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(LISTED_NAMES).map(|name| format!("`{name}`"));
    let more = (names.len() > LISTED_NAMES).then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}
