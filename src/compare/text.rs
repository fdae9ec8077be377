//! A comparison for people.

use super::{Change, Changes, Comparison, ModelComparison};
use std::fmt::{self, Write};

/// Writes what changed, one thing a line, and the verdict.
///
/// # Errors
/// If the writer fails.
pub fn write(comparison: &Comparison, out: &mut dyn Write) -> fmt::Result {
    for Change { what, before, after } in &comparison.provenance {
        writeln!(out, "{what}: {before} -> {after}")?;
    }
    for result in &comparison.results {
        write_result(result, out)?;
    }
    for name in &comparison.only_before {
        writeln!(out, "{name}: only in the first report")?;
    }
    for name in &comparison.only_after {
        writeln!(out, "{name}: only in the second report")?;
    }
    writeln!(out, "{}", if comparison.identical { "the results are identical" } else { "the results differ" })
}

fn write_result(result: &ModelComparison, out: &mut dyn Write) -> fmt::Result {
    let name = if result.before == result.after {
        result.before.clone()
    } else {
        format!("{} -> {}", result.before, result.after)
    };
    if result.is_identical() {
        return writeln!(out, "{name}: no change");
    }
    writeln!(out, "{name}:")?;
    write_changes("fence", &result.fences, out)?;
    for Change { what, before, after } in &result.moved_fences {
        writeln!(out, "  fence moved    {before} -> {after} ({what})")?;
    }
    write_changes("lock", &result.locks, out)?;
    write_changes("delay", &result.delays, out)?;
    for Change { what, before, after } in &result.figures {
        writeln!(out, "  figure         {what}: {before} -> {after}")?;
    }
    Ok(())
}

fn write_changes(kind: &str, changes: &Changes, out: &mut dyn Write) -> fmt::Result {
    for (names, word) in [(&changes.lost, "lost"), (&changes.gained, "gained")] {
        for name in names {
            writeln!(out, "  {:<14} {name}", format!("{kind} {word}"))?;
        }
    }
    for Change { what, before, after } in &changes.changed {
        writeln!(out, "  {:<14} {what}: {before} -> {after}", format!("{kind} changed"))?;
    }
    Ok(())
}
