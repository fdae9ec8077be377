//! The summary for people: what to put where, and why, in the program's own words and in 80 columns where its names allow.

use super::{engine, names};
use crate::analysis::{Confirmation, Fence, ModelOutcome, Outcome};
use crate::cycles::{Cycle, Edge, Torn, Verdict};
use crate::ids::{InstrId, VertexId};
use crate::placement::locks::Role;
use crate::safety::Place;
use std::fmt::{self, Write};

/// Everything about one memory model.
///
/// # Errors
/// If the writer fails.
pub fn write_result(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "{} ({})", result.model.name, result.model.title)?;
    engine::write_guarantee(outcome, out)?;
    if outcome.analysis.cut_off {
        writeln!(out, "  only a part of the state space is known; what is missing elsewhere is not")?;
    }
    if result.is_clean() {
        let verdict = if outcome.analysis.cut_off { "found to be needed in that part" } else { "needed" };
        writeln!(out, "  no fence and no lock is {verdict}")?;
    }
    for fence in &result.fences {
        write_fence(outcome, result, fence, out)?;
    }
    write_locks(outcome, result, out)?;
    write_presumption(outcome, result, out)?;
    write_verdict(outcome, result, out)?;
    engine::write_minimal_sets(outcome, result, out)
}

fn write_fence(outcome: &Outcome, result: &ModelOutcome, fence: &Fence, out: &mut dyn Write) -> fmt::Result {
    let analysis = &outcome.analysis;
    let graph = &analysis.graph;
    let place = match fence.point.place {
        Place::Before => "before",
        Place::After => "after",
        Place::Inside(_) => "inside",
    };
    let instr = names::instruction(graph, fence.point.instr);
    let text = names::instruction_text(analysis, fence.point.instr);
    writeln!(out, "  fence {place} {instr} ({text}): {}, {}", fence.mnemonic, fence.strength)?;
    if let Place::Inside(level) = fence.point.place {
        let (first, then) = sides(outcome, fence.point.instr, level);
        writeln!(out, "    between {first} and {then}")?;
    }
    let shortest = fence.delays.iter().map(|&d| &result.findings.delays[d]).min_by_key(|d| d.witness.num_of_accesses());
    let Some(delay) = shortest else { return Ok(()) };
    let access = |vertex: VertexId| {
        format!("{} {}", names::instruction(graph, graph.vertex(vertex).instr), names::access(graph, vertex))
    };
    let (from, to) = (access(delay.from), access(delay.to));
    // Two accesses of one instruction that are not ordered within it: the second belongs to a later round of a loop.
    let later = if graph.vertex(delay.from).instr == graph.vertex(delay.to).instr { "a later " } else { "" };
    if delay.is_unsafe {
        writeln!(out, "    or {later}{to} may be executed before {from}:")?;
    } else {
        writeln!(out, "    or {later}{to} may be seen before what {from} has read:")?;
    }
    write_cycle(outcome, &delay.witness, &[], out)?;
    match fence.delays.len() {
        1 => Ok(()),
        2 => writeln!(out, "    and 1 more delay"),
        more => writeln!(out, "    and {} more delays", more - 1),
    }
}

/// The accesses of an instruction below a level, and the others.
fn sides(outcome: &Outcome, instr: InstrId, level: u32) -> (String, String) {
    let graph = &outcome.analysis.graph;
    let evaluations = graph.instruction(instr).labels.iter().map(|&label| graph.evaluation(label));
    let fullest = evaluations.max_by_key(|evaluation| evaluation.events.len());
    let list = |wanted: &dyn Fn(u32) -> bool| {
        let events = fullest.iter().flat_map(|evaluation| &evaluation.events);
        let names: Vec<String> =
            events.filter(|event| wanted(event.level)).map(|event| names::access(graph, event.vertex)).collect();
        names.join(", ")
    };
    (list(&|at| at < level), list(&|at| at >= level))
}

/// The cycle, an access a line, with the edge that leaves it, and its name.
fn write_cycle(outcome: &Outcome, cycle: &Cycle, verdicts: &[Verdict], out: &mut dyn Write) -> fmt::Result {
    let graph = &outcome.analysis.graph;
    let steps = outcome.steps(cycle, verdicts);
    let lines: Vec<(String, String, &str)> = steps
        .iter()
        .map(|step| {
            let instr = names::instruction(graph, graph.vertex(step.vertex).instr);
            let words = match step.edge {
                Edge::Program => "then",
                Edge::Sideways => "in one instruction with",
                Edge::Conflict => "conflicts with",
                Edge::Store => "is stored before",
            };
            (instr, names::access(graph, step.vertex), words)
        })
        .collect();
    let width = |column: fn(&(String, String, &str)) -> usize| lines.iter().map(column).max().unwrap_or(0);
    let (instrs, accesses) = (width(|line| line.0.chars().count()), width(|line| line.1.chars().count()));
    for (instr, access, words) in &lines {
        writeln!(out, "      {instr:<instrs$}  {access:<accesses$}  {words}")?;
    }
    let name: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    writeln!(out, "      the first again ({})", name.join(" "))
}

fn write_locks(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let graph = &outcome.analysis.graph;
    for (number, lock) in result.locks.iter().enumerate() {
        let locations: Vec<&str> = lock.locations.iter().map(|&location| names::location(graph, location)).collect();
        writeln!(out, "  lock {number} for {}", locations.join(", "))?;
        for (&instr, &role) in &lock.users {
            let text = names::instruction_text(&outcome.analysis, instr);
            let why = match role {
                Role::TornUpdate => "is torn",
                Role::TornCondition => "is torn (a condition)",
                Role::Partner => "must take it, too",
            };
            writeln!(out, "    {} ({text}) {why}", names::instruction(graph, instr))?;
        }
        let shortest =
            result.findings.torn.iter().filter(|torn| lock.users.contains_key(&torn.instr)).min_by_key(witness_length);
        if let Some(torn) = shortest {
            writeln!(out, "    or {} is not one step:", names::instruction(graph, torn.instr))?;
            write_cycle(outcome, &torn.witness, &[Verdict { torn: true, ..Verdict::default() }], out)?;
        }
    }
    if result.locks.len() > 1 {
        writeln!(out, "  an instruction under several locks acquires them in the order of their numbers")?;
    }
    Ok(())
}

fn witness_length(torn: &&Torn) -> usize {
    torn.witness.num_of_accesses()
}

fn write_presumption(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let graph = &outcome.analysis.graph;
    let Some(first) = result.presumed_atomic.first() else { return Ok(()) };
    let others = match result.presumed_atomic.len() {
        1 => String::new(),
        more => format!(" and {} more", more - 1),
    };
    let first = names::instruction(graph, *first);
    writeln!(out, "  presumed to be atomic by other means: {first}{others} (--atomicity checks)")
}

fn write_verdict(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let minimal = if result.placement.proved_minimal { "proved" } else { "not proved (greedy placement)" };
    let rechecked = match (result.recheck.enough, result.recheck.each_needed) {
        (true, true) => "enough, each fence needed",
        (true, false) => "enough, not every fence needed",
        (false, _) => "NOT ENOUGH: this is a bug in seqcon, please report it",
    };
    if !result.fences.is_empty() {
        writeln!(out, "  minimal: {minimal}; re-checked: {rechecked}")?;
    }
    let confirmed = result.confirmations.iter().filter(|&&c| c == Confirmation::Yes).count();
    let infeasible = result.infeasible.len() + result.confirmations.iter().filter(|&&c| c == Confirmation::No).count();
    if confirmed + infeasible > 0 {
        let all = result.all_delays().count();
        write!(out, "  delays: {all}, of which {confirmed} were confirmed by a run")?;
        let unfenced = if result.infeasible.is_empty() { "" } else { " and need no fence" };
        match infeasible {
            0 => writeln!(out)?,
            1 => writeln!(out, "; 1 was proved infeasible{unfenced}")?,
            more => writeln!(out, "; {more} were proved infeasible{unfenced}")?,
        }
    }
    if let Some(list) = &result.findings.cycles {
        let more = if list.complete { "" } else { " (and more: the limit of --cycles was reached)" };
        writeln!(out, "  critical cycles: {}{more}", list.cycles.len())?;
        for (number, judged) in list.cycles.iter().enumerate() {
            writeln!(out, "    cycle {number}: {}", outcome.diy_name(&judged.cycle, &judged.verdicts))?;
        }
    }
    Ok(())
}
