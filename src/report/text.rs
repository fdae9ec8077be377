//! The summary for people: what to put where, and why, in the program's own words and in 80 columns where its names
//! allow.
//!
//! First a table of fences (`F0`, `F1`, …) and locks (`L0`, …), each with the instruction's own text, where it
//! stands, and the reason in one sentence; then the source with the additions drawn in, if it is known; then a cycle,
//! drawn; then the verdict. [`write_explained`] draws the cycle of every delay, and every run.

use super::drawing::{self, Column};
use super::edges::Edges;
use super::engine;
use super::minimal::{Minimal, confirmed_in_words};
use super::names;
use super::program_order;
use super::prose;
use super::reading;
use super::runs::{self, Style};
use super::snippet::{self, Addition};
use super::style::{ADDED, TITLE, WRONG, styled};
use crate::analysis::{Fence, Inserted, ModelOutcome, Outcome, Verification};
use crate::caveat::{Caveat, Level};
use crate::cycles::{Cycle, Delay, Edge, Segment, SegmentVerdict, Step, Torn};
use crate::ids::{InstrId, VertexId};
use crate::outline::Place;
use crate::placement::locks::Role;
use crate::program::Span;
use crate::source::Source;
use crate::text::excerpt::{printable, shortened};
use std::fmt::{self, Write};

/// The widest drawing: with its indentation, 80 columns.
const WIDEST: usize = 74;
/// How far what is said about a fence or a lock is indented.
const BEHIND: usize = 6;
/// How much of a name is shown.
const NAME: usize = 40;
/// How much of an instruction's text is quoted.
const INSTRUCTION: usize = 30;

/// Everything about one memory model, with one cycle.
///
/// # Errors
/// If the writer fails.
pub fn write_result(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    write_additions(outcome, result, out)?;
    write_example(outcome, result, out)?;
    write_runs(result, (1, Style::List), out)?;
    write_verdict(outcome, result, out)?;
    engine::write_minimal_sets(outcome, result, out)
}

/// Everything about one memory model, with the cycles of all delays and torn instructions, and all runs, drawn.
///
/// # Errors
/// If the writer fails.
pub fn write_explained(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    write_additions(outcome, result, out)?;
    write_explanation(outcome, result, out)?;
    write_runs(result, (usize::MAX, Style::Drawing), out)?;
    write_verdict(outcome, result, out)?;
    engine::write_minimal_sets(outcome, result, out)
}

/// What must be known before the results are believed, a sentence each and a blank line; nothing where there is
/// nothing.
///
/// # Errors
/// If the writer fails.
pub fn write_caveats(caveats: &[Caveat], out: &mut dyn Write) -> fmt::Result {
    for caveat in caveats {
        let level = caveat.topic.level();
        let word = match level {
            Level::Warning => styled(WRONG, level.name()),
            Level::Note => level.name().to_owned(),
        };
        prose::write(out, 0, 2, &format!("{word}: {}", printable(&caveat.sentence)))?;
    }
    if caveats.is_empty() { Ok(()) } else { writeln!(out) }
}

/// What a clean verdict owes to the caveats.
fn reservation(outcome: &Outcome) -> &'static str {
    match outcome.caveats.iter().any(|caveat| caveat.topic.level() == Level::Warning) {
        true => " (but see the warnings above)",
        false => "",
    }
}

/// The table of fences and locks, and the source with them.
fn write_additions(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    write_title(result, out)?;
    for sentence in engine::guarantee(outcome) {
        prose::write(out, 2, 4, &sentence)?;
    }
    if outcome.explored.cut_off {
        writeln!(out, "  only a part of the state space is known: more may be missing in the rest of it")?;
        let mut missing = outcome.explored.missing.iter();
        missing.try_for_each(|why| prose::write(out, 2, 4, &format!("why: {why}")))?;
    }
    if let Some(limit) = result.stopped {
        let sentence = format!(
            "stopped at {limit}: what follows is for what was found until then; there may be more to find, and fewer fences may do for this"
        );
        prose::write(out, 2, 4, &sentence)?;
    }
    if let Inserted::Undecided(_, why) = &result.inserted {
        prose::write(out, 2, 4, &format!("it is not known which fences are enough: {why}"))?;
    }
    if let Inserted::NotAbstractly(advice) = &result.inserted {
        prose::write(out, 2, 4, &format!("the program may need none, or some: {advice}"))?;
    }
    if let Some(upper) = &result.upper {
        let points: Vec<String> = upper.fences.iter().map(|&site| names::point(&outcome.accesses, site)).collect();
        let points = if points.is_empty() { "none".to_owned() } else { points.join(", ") };
        let sentence = format!("enough, if perhaps not the fewest: {points} (rests on: {})", upper.rests_on);
        prose::write(out, 2, 4, &sentence)?;
    }
    if result.is_clean() {
        let verdict = match (outcome.explored.cut_off, result.stopped) {
            (_, Some(_)) => "found to be needed so far",
            (true, None) => "found to be needed in that part",
            (false, None) => "needed",
        };
        writeln!(out, "  no fence and no lock is {verdict}{}", reservation(outcome))?;
    }
    for (number, fence) in result.fences.iter().enumerate() {
        write_fence(outcome, result, number, fence, out)?;
    }
    write_locks(outcome, result, out)?;
    write_source(outcome, result, out)
}

/// Each delay and each torn instruction with its cycle.
fn write_explanation(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let edges = Edges::new(outcome, result);
    for (number, delay) in result.findings.delays.iter().enumerate() {
        let served: Vec<String> = (0..result.fences.len())
            .filter(|&fence| result.fences[fence].delays.contains(&number))
            .map(|fence| format!("F{fence}"))
            .collect();
        let title = styled(TITLE, format!("delay {number}"));
        let served = if served.is_empty() { String::new() } else { format!(" ({})", served.join(", ")) };
        writeln!(out)?;
        prose::write(out, 2, 6, &format!("{title}{served}: {}", reason(outcome, delay)))?;
        write_cycle(outcome, &delay.witness, &edges.steps(&delay.witness, &[]), out)?;
    }
    for (number, torn) in result.findings.torn.iter().enumerate() {
        let name = name(outcome, torn.instr);
        let title = styled(TITLE, format!("torn instruction {number}"));
        writeln!(out)?;
        prose::write(out, 2, 6, &format!("{title}: {name} is not one step"))?;
        write_cycle(outcome, &torn.witness, &edges.steps(&torn.witness, &[TORN]), out)?;
    }
    write_gap(result, out)
}

/// A line between the cycles and what follows.
fn write_gap(result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let is_empty = result.findings.delays.is_empty() && result.findings.torn.is_empty();
    if is_empty { Ok(()) } else { writeln!(out) }
}

/// The verdict on the first segment of the witness of a torn instruction.
const TORN: SegmentVerdict = SegmentVerdict { is_unsafe: false, cumulative: false, torn: true };

fn write_title(result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    write!(out, "{} ({})", styled(TITLE, &result.model.name), result.model.title)?;
    if result.is_clean() {
        return writeln!(out);
    }
    match result.inserted {
        Inserted::Enough => {}
        Inserted::Unfixable => return writeln!(out, ": no fences are enough"),
        Inserted::NotAtSites => return writeln!(out, ": no fences at the sites allowed are enough"),
        Inserted::NotAbstractly(_) => {
            return writeln!(out, ": not decided (no fences are enough for the abstraction)");
        }
        Inserted::Undecided(..) => return writeln!(out, ": not decided"),
    }
    let needed = [(result.fences.len(), "fence"), (result.locks.len(), "lock")];
    let needed: Vec<String> = needed
        .into_iter()
        .filter(|&(number, _)| number > 0)
        .map(|(number, what)| names::counted(number, what))
        .collect();
    writeln!(out, ": {}", needed.join(", "))
}

/// The instruction as the specification or, without one, its labels have it; and where it stands.
fn instruction(outcome: &Outcome, instr: InstrId) -> String {
    let name = name(outcome, instr);
    let source = outcome.source.as_ref();
    let written = source.and_then(|source| source.text_of(instr)).filter(|text| !text.is_empty());
    // Names have no characters that garble a terminal; a comment within an instruction may.
    let text = written.unwrap_or_else(|| names::instruction_text(outcome, instr));
    let place = source.and_then(|source| source.place(instr)).map(|place| format!(", line {}", place.line));
    format!("{name} ({}){}", shortened(&printable(&text), INSTRUCTION), place.unwrap_or_default())
}

fn write_fence(
    outcome: &Outcome,
    result: &ModelOutcome,
    number: usize,
    fence: &Fence,
    out: &mut dyn Write,
) -> fmt::Result {
    let head = styled(ADDED, format!("{:<3} {}", format!("F{number}"), fence.mnemonic));
    let instruction = instruction(outcome, fence.site.instr);
    let place = match fence.site.place {
        Place::State => at_state(outcome, fence.site.instr, &instruction),
        place => format!("{} {instruction}", super::rows::position(place)),
    };
    prose::write(out, 2, BEHIND, &format!("{head} ({}) {place}", fence.strength))?;
    // Without an event graph nobody knows which accesses are on which side.
    if let (Place::Inside(level), Some(_)) = (fence.site.place, &outcome.analysis) {
        let (first, then) = sides(outcome, fence.site.instr, level);
        prose::write(out, BEHIND, BEHIND, &format!("between {first} and {then}"))?;
    }
    let Some(delay) = shortest(result, fence) else { return Ok(()) };
    let others = match fence.delays.len() {
        1 => String::new(),
        several => format!(" (1 of {several} delays)"),
    };
    prose::write(out, BEHIND, BEHIND, &format!("otherwise {}{others}", reason(outcome, delay)))
}

/// A control state, by its name and by what leads there.
fn at_state(outcome: &Outcome, instr: InstrId, instruction: &str) -> String {
    let state = outcome.target(instr).map_or(String::new(), |state| format!(" {}", shortened(&state, NAME)));
    let others = match outcome.leading_along(instr).len() - 1 {
        0 => " leads".to_owned(),
        more => format!(", and {} lead", names::counted(more, "other")),
    };
    format!("at state{state}, one for all ways into it: {instruction}{others} there")
}

/// The delay with the shortest cycle among those that the fence serves.
fn shortest<'a>(result: &'a ModelOutcome, fence: &Fence) -> Option<&'a Delay> {
    fence.delays.iter().map(|&delay| &result.findings.delays[delay]).min_by_key(|delay| delay.witness.num_of_accesses())
}

/// What a delay means, in one sentence.
fn reason(outcome: &Outcome, delay: &Delay) -> String {
    let accesses = &outcome.accesses;
    let (from, to) = (access(outcome, delay.from), access(outcome, delay.to));
    // Two accesses of one instruction that are not ordered within it: the second belongs to a later round of a loop.
    let later = if accesses.vertex(delay.from).instr == accesses.vertex(delay.to).instr { "a later " } else { "" };
    if delay.is_unsafe {
        format!("{later}{to} may be executed before {from}")
    } else {
        format!("{later}{to} may be seen before what {from} has read")
    }
}

/// An instruction with its thread.
fn name(outcome: &Outcome, instr: InstrId) -> String {
    shortened(&names::instruction(&outcome.accesses, instr), NAME)
}

/// An access with its instruction.
fn access(outcome: &Outcome, vertex: VertexId) -> String {
    let accesses = &outcome.accesses;
    let access = shortened(&names::access(accesses, vertex), NAME);
    format!("{} {access}", name(outcome, accesses.vertex(vertex).instr))
}

/// The accesses of an instruction below a level, and the others.
fn sides(outcome: &Outcome, instr: InstrId, level: u32) -> (String, String) {
    let accesses = &outcome.accesses;
    let evaluations = program_order::evaluations(outcome);
    let own = evaluations.iter().filter(|evaluation| evaluation.instr == instr);
    let fullest = own.max_by_key(|evaluation| evaluation.events.len());
    let list = |wanted: &dyn Fn(u32) -> bool| {
        let events = fullest.iter().flat_map(|evaluation| &evaluation.events);
        let names: Vec<String> =
            events.filter(|event| wanted(event.level)).map(|event| names::access(accesses, event.vertex)).collect();
        names.join(", ")
    };
    (list(&|at| at < level), list(&|at| at >= level))
}

fn write_locks(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let accesses = &outcome.accesses;
    for (number, lock) in result.locks.iter().enumerate() {
        let locations: Vec<&str> = lock.locations.iter().map(|&location| names::location(accesses, location)).collect();
        writeln!(out, "  {} for {}", styled(ADDED, format!("{:<3} lock", format!("L{number}"))), locations.join(", "))?;
        for (&instr, &role) in &lock.users {
            let why = match role {
                Role::TornUpdate => "is torn",
                Role::TornCondition => "is torn (a condition)",
                Role::Partner => "must take it, too",
            };
            prose::write(out, BEHIND, BEHIND, &format!("{} {why}", instruction(outcome, instr)))?;
        }
    }
    if result.locks.len() > 1 {
        writeln!(out, "  an instruction under several locks acquires them in the order of their numbers")?;
    }
    Ok(())
}

/// Where a fence is drawn in, and what stands there: one at a control state behind everything that leads there.
fn drawn_in(outcome: &Outcome, source: &Source, fence: &Fence) -> Vec<(snippet::Spot, String)> {
    let own = fence.site.instr;
    let here = |place: fn(Span) -> snippet::Spot, what: String| {
        source.span(own).map(|span| (place(span), what)).into_iter().collect()
    };
    let mnemonic = &fence.mnemonic;
    match fence.site.place {
        Place::Before => here(snippet::Spot::Before, mnemonic.clone()),
        Place::After => here(snippet::Spot::After, mnemonic.clone()),
        Place::Inside(_) => here(snippet::Spot::Around, format!("{mnemonic} inside")),
        Place::On => here(snippet::Spot::Around, mnemonic.clone()),
        Place::State => {
            let way = |instr: InstrId| {
                let what = if instr == own { mnemonic.clone() } else { "the same fence".to_owned() };
                Some((snippet::Spot::After(source.span(instr)?), what))
            };
            outcome.leading_along(own).into_iter().filter_map(way).collect()
        }
    }
}

/// The specification with everything drawn in.
fn write_source(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let Some(source) = &outcome.source else { return Ok(()) };
    let fences = result.fences.iter().enumerate().flat_map(|(number, fence)| {
        let mark = format!("F{number}");
        let addition = move |(place, what)| Addition { place, mark: mark.clone(), what };
        drawn_in(outcome, source, fence).into_iter().map(addition)
    });
    let locks = result.locks.iter().enumerate().flat_map(|(number, lock)| {
        lock.users.keys().filter_map(move |&instr| {
            let place = snippet::Spot::Around(source.span(instr)?);
            Some(Addition { place, mark: format!("L{number}"), what: "under the lock".to_owned() })
        })
    });
    let additions: Vec<Addition> = fences.chain(locks).collect();
    if additions.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    snippet::write(&source.path, &source.text, &additions, out)
}

/// One cycle, the shortest, so that nobody must ask why.
fn write_example(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let edges = Edges::new(outcome, result);
    let fences =
        result.fences.iter().enumerate().filter_map(|(number, fence)| Some((number, shortest(result, fence)?)));
    if let Some((number, delay)) = fences.min_by_key(|(_, delay)| delay.witness.num_of_accesses()) {
        writeln!(out)?;
        prose::write(out, 2, 6, &format!("without F{number}, {}:", reason(outcome, delay)))?;
        write_cycle(outcome, &delay.witness, &edges.steps(&delay.witness, &[]), out)?;
    }
    if let Some(torn) = result.findings.torn.iter().min_by_key(witness_length) {
        writeln!(out, "\n  without a lock, {} is not one step:", name(outcome, torn.instr))?;
        write_cycle(outcome, &torn.witness, &edges.steps(&torn.witness, &[TORN]), out)?;
    }
    write_gap(result, out)
}

/// The runs that fences stop, and the one that none does: so many of them.
fn write_runs(result: &ModelOutcome, (most, style): (usize, Style), out: &mut dyn Write) -> fmt::Result {
    let unstopped = result.runs.iter().take(usize::from(result.inserted.is_hopeless()));
    let stopping = match result.inserted {
        Inserted::NotAtSites => "no fence at the sites allowed stops this run",
        _ => "no fence stops this run",
    };
    let unstopped = unstopped.map(|run| (stopping.to_owned(), run));
    let stopped = result.runs.iter().enumerate().take(most).filter_map(|(number, run)| {
        let by: Vec<String> = (0..result.fences.len())
            .filter(|&fence| result.fences[fence].runs.contains(&number))
            .map(|fence| format!("F{fence}"))
            .collect();
        (!by.is_empty()).then(|| (format!("without {}, this run is possible", by.join(", ")), run))
    });
    let mut is_any = false;
    for (title, run) in unstopped.chain(stopped) {
        writeln!(out, "\n  {title}:")?;
        runs::write(run, style, out)?;
        is_any = true;
    }
    if is_any { writeln!(out) } else { Ok(()) }
}

fn witness_length(torn: &&Torn) -> usize {
    torn.witness.num_of_accesses()
}

/// The cycle drawn or, where that is too wide, an access a line; and its name.
fn write_cycle(outcome: &Outcome, cycle: &Cycle, steps: &[Step], out: &mut dyn Write) -> fmt::Result {
    let columns = columns(outcome, cycle, steps);
    let name: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    if drawing::width(&columns) > WIDEST {
        return write_steps(outcome, steps, &name.join(" "), out);
    }
    for line in drawing::draw(&columns) {
        writeln!(out, "      {line}")?;
    }
    Ok(())
}

fn columns(outcome: &Outcome, cycle: &Cycle, steps: &[Step]) -> Vec<Column> {
    let accesses = &outcome.accesses;
    let mut steps = steps.iter();
    let mut column = |(position, segment): (usize, &Segment)| {
        let inner = cycle.is_move(position).then(|| steps.next()).flatten();
        Column {
            thread: accesses.threads[accesses.vertex(segment.entry).thread.index()].clone(),
            entry: access(outcome, segment.entry),
            exit: inner.map(|step| (access(outcome, segment.exit), step.name.clone())),
            is_wrong: position == 0,
            leaves_by: steps.next().map(|step| step.name.clone()).unwrap_or_default(),
        }
    };
    cycle.segments.iter().enumerate().map(&mut column).collect()
}

fn write_steps(outcome: &Outcome, steps: &[Step], diy_name: &str, out: &mut dyn Write) -> fmt::Result {
    let accesses = &outcome.accesses;
    let lines: Vec<(String, String, &str)> = steps
        .iter()
        .map(|step| {
            let instr = name(outcome, accesses.vertex(step.vertex).instr);
            let words = match step.edge {
                Edge::Program => "then",
                Edge::Sideways => "in one instruction with",
                Edge::Conflict => "conflicts with",
                Edge::Store => "is stored before",
            };
            (instr, shortened(&names::access(accesses, step.vertex), NAME), words)
        })
        .collect();
    let width = |column: fn(&(String, String, &str)) -> usize| lines.iter().map(column).max().unwrap_or(0);
    let (instrs, accesses) = (width(|line| line.0.chars().count()), width(|line| line.1.chars().count()));
    for (instr, access, words) in &lines {
        writeln!(out, "      {instr:<instrs$}  {access:<accesses$}  {words}")?;
    }
    writeln!(out, "      the first again ({diy_name})")
}

fn write_verdict(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    for sentence in reading::sentences(outcome, result) {
        prose::write(out, 2, 4, &sentence)?;
    }
    if let Some(sentence) = engine::left_out(outcome) {
        prose::write(out, 2, 4, &sentence)?;
    }
    if let Some(sentence) = confirmed_in_words(result) {
        prose::write(out, 2, 4, &sentence)?;
    }
    if let Some(list) = &result.findings.cycles {
        let more = match (list.complete, result.stopped) {
            (true, _) => String::new(),
            (false, None) => " (and more: the limit of --cycles was reached)".to_owned(),
            (false, Some(limit)) => format!(" (and more: stopped at {limit})"),
        };
        writeln!(out, "  critical cycles: {}{more}", list.cycles.len())?;
        let edges = Edges::new(outcome, result);
        for (number, judged) in list.cycles.iter().enumerate() {
            writeln!(out, "    cycle {number}: {}", edges.diy_name(&judged.cycle, &judged.verdicts))?;
        }
    }
    engine::write_ladder(outcome, result, out)?;
    let minimal = outcome.minimal_in_words(result);
    let rechecked = match (result.recheck.enough, result.recheck.each_needed) {
        _ if result.inserted != Inserted::Enough => "no".to_owned(),
        _ if !result.recheck.done => "no (stopped at a limit)".to_owned(),
        (true, true) => "yes".to_owned(),
        // Of a method that asks for more than is needed nobody knows.
        (true, false) if outcome.analysis.is_none() && outcome.minimal(result) == Minimal::No => "enough".to_owned(),
        (true, false) => "enough, not every fence closes a path".to_owned(),
        (false, _) => styled(WRONG, "NOT ENOUGH: this is a bug in seqcon, please report it"),
    };
    let verified = names::verification(&result.verification);
    let verified =
        if result.verification == Verification::Violated { styled(WRONG, verified) } else { verified.to_owned() };
    let complete = names::yes_no(result.complete);
    let verdict = format!("{minimal}; re-checked: {rechecked}; verified: {verified}; complete: {complete}");
    prose::write(out, 2, 4, &verdict)?;
    match &result.verification {
        Verification::Verified(ground) => prose::write(out, 2, 4, &format!("verified by {ground}")),
        Verification::Violated => writeln!(out, "  'seqcon verify' shows a run that goes wrong"),
        Verification::Bounded(limit) | Verification::Undecided(limit) => {
            prose::write(out, 2, 4, &format!("verification: {limit}"))
        }
        Verification::NotAsked => Ok(()),
    }
}
