//! Another number of processes: `process(N)` with another `N`, if it is the only process of the text.
//!
//! Forbidden vectors speak of all processes, so they change, too: their labels are those of any processes, each of
//! another one, and `*` of all others. If there are not enough processes for that, nothing is forbidden.

use super::parser;
use super::syntax::{Model, Vector};
use crate::lang::Diagnostic;
use crate::program::Span;
use std::collections::BTreeSet;

/// How many vectors there may be.
const MAX_VECTORS: usize = 10_000;

/// The text with so many processes.
pub fn instances(text: &str, number: usize) -> Result<String, Vec<Diagnostic>> {
    let model = parser::parse(text)?;
    let none = |span, why: &str, help: &str| Err(vec![Diagnostic::error(span, why).with_help(help)]);
    let [process] = &model.processes[..] else {
        let span = model.processes.get(1).map_or(Span::default(), |process| process.span);
        let help = "the number of a process changes where there is no other: `process(2)`";
        return none(span, "there are several processes: it is not clear what there are to be instances of", help);
    };
    let Some((_, count)) = process.count else {
        return none(process.span, "the process has no number of instances", "`process(2)` are two processes");
    };
    let Some(forbidden) = forbidden(&model, number) else {
        let span = model.forbidden_span.unwrap_or_default();
        return none(span, "there would be too many forbidden vectors", "ask for fewer instances");
    };
    let mut changed = text.to_owned();
    changed.replace_range(count.start..count.end, &number.to_string());
    if let Some(Span { start, end }) = model.forbidden_span {
        changed.replace_range(start..end, &forbidden);
    }
    Ok(changed)
}

/// The forbidden vectors for so many processes; none if they are too many.
fn forbidden(model: &Model, number: usize) -> Option<String> {
    let mut vectors: BTreeSet<Vec<&str>> = BTreeSet::new();
    for Vector { labels, .. } in &model.forbidden {
        let labels: Vec<&str> = labels.iter().flatten().map(|label| label.text.as_str()).collect();
        let mut open = vec![vec!["*"; number]];
        for label in labels {
            let mut placed = Vec::new();
            for vector in open {
                for process in (0..number).filter(|process| vector[*process] == "*") {
                    let mut vector = vector.clone();
                    vector[process] = label;
                    placed.push(vector);
                }
                if placed.len() > MAX_VECTORS {
                    return None;
                }
            }
            placed.sort_unstable();
            placed.dedup();
            open = placed;
        }
        vectors.extend(open);
        if vectors.len() > MAX_VECTORS {
            return None;
        }
    }
    let vectors: Vec<String> = vectors.into_iter().map(|vector| vector.join(" ")).collect();
    Some(if vectors.is_empty() { String::new() } else { format!("forbidden {}", vectors.join("; ")) })
}
