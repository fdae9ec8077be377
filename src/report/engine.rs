//! What the text says of the engine that a result is from: nothing of the default one.

use super::names;
use super::prose;
use crate::analysis::{Abstraction, ModelOutcome, Outcome};
use std::fmt::{self, Write};

/// What the result guarantees, and how it was found.
pub(super) fn write_guarantee(outcome: &Outcome, out: &mut dyn Write) -> fmt::Result {
    let engine = &outcome.engine;
    if engine.is_default() {
        return Ok(());
    }
    prose::write(out, 2, 4, &format!("engine {}, which guarantees {}", engine.name, engine.guarantees))?;
    if outcome.analysis.num_of_states == 0 {
        writeln!(out, "  what its threads write and read decides it: no state had to be explored")?;
    }
    let how = match engine.abstraction {
        Some(Abstraction::Flattening(bound)) => format!("flattened (--abstraction {bound})"),
        Some(Abstraction::Environment) => {
            "each thread alone among what others may write (--abstraction environment)".to_owned()
        }
        None => return Ok(()),
    };
    prose::write(out, 2, 4, &format!("{how}: it may need fewer fences, not more; states are those of all pivots"))
}

/// The minimal sets of fences, thread by thread.
pub(super) fn write_minimal_sets(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let Some(sets) = &result.minimal_sets else { return Ok(()) };
    let graph = &outcome.analysis.graph;
    let more = if sets.complete { "" } else { " (and more: the limit of --minimal-sets was reached)" };
    writeln!(out, "  minimal sets of fences, each to be combined with one of every other thread{more}:")?;
    for thread in &sets.threads {
        for set in thread {
            let instrs: Vec<String> = set.iter().map(|&instr| names::instruction(graph, instr)).collect();
            writeln!(out, "    after {}", instrs.join(", "))?;
        }
    }
    Ok(())
}
