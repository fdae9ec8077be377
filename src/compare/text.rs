//! A comparison for people.

use super::{Change, Changes, Comparison, ModelComparison, count};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// So many delays of which the same is told are named; the data has all of them.
const MOST_ALIKE: usize = 5;

/// So many instructions with other names are named.
const MOST_RENAMED: usize = 10;

/// Writes what changed, one thing a line, and the verdict.
///
/// # Errors
/// If the writer fails.
pub fn write(comparison: &Comparison, out: &mut dyn Write) -> fmt::Result {
    for Change { what, before, after } in &comparison.provenance {
        writeln!(out, "{what}: {before} -> {after}")?;
    }
    for Change { what, before, after } in comparison.renamed.iter().take(MOST_RENAMED) {
        writeln!(out, "{before} is {after} in the second report ({what})")?;
    }
    if let more @ 1.. = comparison.renamed.len().saturating_sub(MOST_RENAMED) {
        writeln!(out, "and {} more with other names", count(more, "instruction"))?;
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
    let is_well = |result: &ModelComparison| result.done || result.is_identical();
    let is_done = comparison.results.iter().any(|result| result.done) && comparison.results.iter().all(is_well);
    let is_whole = comparison.only_before.is_empty() && comparison.only_after.is_empty();
    let verdict = match () {
        () if comparison.identical => "the results are identical",
        () if is_done && is_whole => "the results differ: what was asked for is done",
        () => "the results differ",
    };
    writeln!(out, "{verdict}")
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
    writeln!(out, "{name}:{}", in_short(result))?;
    for (names, kind) in [(&result.put_in.fences, "fence"), (&result.put_in.locks, "lock")] {
        for name in names {
            line(out, &format!("{kind} put in"), name)?;
        }
    }
    write_changes("fence", &result.fences, out)?;
    for Change { what, before, after } in &result.moved_fences {
        line(out, "fence moved", &format!("{before} -> {after} ({what})"))?;
    }
    write_changes("lock", &result.locks, out)?;
    write_delays(result, out)?;
    for Change { what, before, after } in &result.figures {
        line(out, "figure", &format!("{what}: {before} -> {after}"))?;
    }
    Ok(())
}

/// What became of what the first report asks for, if something was done about it.
fn in_short(result: &ModelComparison) -> String {
    let put_in: usize = result.put_in.fences.len() + result.put_in.locks.len();
    match (result.done, put_in) {
        (true, 0) => " done, nothing is needed any more".to_owned(),
        (true, _) => format!(" done, {} put in and nothing more is needed", put_in_words(result)),
        (false, 0) => String::new(),
        (false, _) => format!(" {} put in, {} still needed", put_in_words(result), result.still_needed),
    }
}

fn put_in_words(result: &ModelComparison) -> String {
    let kinds = [(result.put_in.fences.len(), "fence"), (result.put_in.locks.len(), "lock")];
    let kinds = kinds.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| count(number, what));
    kinds.collect::<Vec<_>>().join(" and ")
}

fn line(out: &mut dyn Write, what: &str, text: &str) -> fmt::Result {
    writeln!(out, "  {what:<23} {text}")
}

fn write_changes(kind: &str, changes: &Changes, out: &mut dyn Write) -> fmt::Result {
    for (names, word) in [(&changes.lost, "no longer needed"), (&changes.gained, "newly needed")] {
        for name in names {
            line(out, &format!("{kind} {word}"), name)?;
        }
    }
    changes.changed.iter().try_for_each(|change| write_changed(kind, change, out))
}

fn write_changed(kind: &str, Change { what, before, after }: &Change, out: &mut dyn Write) -> fmt::Result {
    line(out, &format!("{kind} changed"), &format!("{what}: {before} -> {after}"))
}

/// Delays that are gone are good news, and many.
fn write_delays(result: &ModelComparison, out: &mut dyn Write) -> fmt::Result {
    let gone = &result.delays.lost;
    let named = if gone.len() <= MOST_ALIKE { gone.len() } else { 0 };
    for name in &gone[..named] {
        line(out, "delay gone", name)?;
    }
    if named < gone.len() {
        line(out, "delays gone", &format!("{} (--json names them)", gone.len()))?;
    }
    for name in &result.delays.gained {
        line(out, "delay new", name)?;
    }
    let mut alike: BTreeMap<(&str, &str), Vec<&Change>> = BTreeMap::new();
    for change in &result.delays.changed {
        alike.entry((&change.before, &change.after)).or_default().push(change);
    }
    for ((before, after), changes) in alike {
        if changes.len() > MOST_ALIKE {
            let text = format!("{}: {before} -> {after} (--json names them)", changes.len());
            line(out, "delays changed", &text)?;
        } else {
            changes.into_iter().try_for_each(|change| write_changed("delay", change, out))?;
        }
    }
    Ok(())
}
