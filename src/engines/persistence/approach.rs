//! What is looked at: the program itself, an [`abstraction`] of it, or (`--abstraction auto`) whatever is enough for
//! a proven minimum.
//!
//! *Auto.* A small program is explored: that gives the fewest fences, and a run for each of them. If there are more
//! states, the environment abstraction tells in no time how many fences are enough, and a few threads at a time often
//! [need](super::needed) as many: then that is the answer. If not, flattening may ask for fewer; and if that leaves
//! something open, too, the program is explored as far as the limits allow. If that is not all of it, the answer are
//! the fences of the abstraction that asks for fewer: they are enough, and how many are needed at least is told.

use super::local::{Patterns, patterns};
use super::machine::Machine;
use super::named::{NamedAccess, accesses_of_label, accesses_of_patterns};
use super::needed::{Needed, Part, exact, num_of_fences};
use super::outcome::Size;
use super::record::{Recording, certain, evaluated, merged};
use super::{abstraction, needed};
use crate::analysis::Abstraction;
use crate::engines::{Approach, Task, Trouble};
use crate::explore::driver::Failure;
use crate::explore::successors::Evaluated;
use crate::explore::{Limits, Stop, explore};
use crate::program::Program;
use crate::program::labels::label;
use std::collections::BTreeSet;
use std::time::Instant;

/// A program of so many states is explored before anything else is tried.
const SMALL: usize = 200_000;

/// What a search has found.
pub(super) struct Found {
    /// All patterns of the program, and perhaps more if it was abstracted.
    pub patterns: Patterns,
    /// The abstraction, if one was looked at.
    pub abstraction: Option<Abstraction>,
    /// The patterns that are known to be in the program, if that is not known of all.
    pub certain: Option<Patterns>,
    /// What reports name.
    pub accesses: BTreeSet<NamedAccess>,
    /// How much was looked at.
    pub size: Size,
    /// The explorations that patterns were found in.
    pub parts: Vec<Part>,
}

/// Looks at what is asked for.
pub(super) fn find(task: &Task<'_>, program: &Program, machine: &Machine<'_>) -> Result<Found, Trouble> {
    match task.settings.approach {
        Approach::Program => explored(program, machine, task.limits, 0),
        Approach::Abstract(Abstraction::Pairs) => Err(Trouble::Unsupported(
            "--abstraction pairs is for --engine cycles; use --abstraction environment, or a number of steps"
                .to_owned(),
        )),
        Approach::Abstract(abstraction) => {
            Ok(Abstracted::new(machine, abstraction, task.limits).found(program, machine))
        }
        Approach::Auto => auto(program, machine, task.limits),
    }
}

fn auto(program: &Program, machine: &Machine<'_>, limits: &Limits<'_>) -> Result<Found, Trouble> {
    let started = Instant::now();
    let whole = || {
        let time = limits.time.map(|time| time.saturating_sub(started.elapsed()));
        Limits { time, ..*limits }
    };
    let small = || Limits { states: Some(limits.states.map_or(SMALL, |most| most.min(SMALL))), ..whole() };
    let first = explored(program, machine, &small(), 0)?;
    if !first.size.is_cut_off() && first.certain.is_none() {
        return Ok(first);
    }
    let mut abstracted = Abstracted::new(machine, Abstraction::Environment, &small());
    if !first.size.is_cut_off() {
        // What is only presumed may ask for fences that the abstraction knows not to be needed.
        let is_better = !abstracted.size.is_cut_off()
            && num_of_fences(machine, &abstracted.enough) < num_of_fences(machine, &first.patterns);
        return Ok(if is_better { abstracted.found(program, machine) } else { first });
    }
    if !abstracted.size.is_cut_off() && !abstracted.needed.open.is_empty() {
        abstracted.refine(machine, Abstraction::Flattening(0), &small());
    }
    let is_answer = !abstracted.size.is_cut_off() && abstracted.needed.open.is_empty();
    if !is_answer && limits.states.is_none_or(|most| most > SMALL) {
        let mut explored = explored(program, machine, &whole(), abstracted.needed.parts.len())?;
        abstracted.needed.parts.append(&mut explored.parts);
        if !explored.size.is_cut_off() || abstracted.size.is_cut_off() {
            return Ok(Found { parts: abstracted.needed.parts, ..explored });
        }
        abstracted.needed.add(explored.certain.unwrap_or(explored.patterns));
    } else if abstracted.size.is_cut_off() {
        return Ok(first);
    }
    Ok(abstracted.found(program, machine))
}

/// What abstractions tell: all patterns, and which of them are needed for certain.
struct Abstracted {
    abstraction: Abstraction,
    enough: Patterns,
    size: Size,
    needed: Needed,
}

impl Abstracted {
    fn new(machine: &Machine<'_>, abstraction: Abstraction, limits: &Limits<'_>) -> Abstracted {
        let started = Instant::now();
        let pivots = machine.threads().collect();
        let shown = abstraction::check(machine, abstraction, &pivots, limits);
        let enough = patterns(machine, &shown.entries);
        let time = limits.time.map(|time| time.saturating_sub(started.elapsed()));
        let nothing = Patterns::new();
        let sought = if shown.size.is_cut_off() { &nothing } else { &enough };
        let needed = needed::search(machine, sought, &Limits { time, ..*limits });
        Abstracted { abstraction, enough, size: shown.size, needed }
    }

    /// Looks again at the threads that are not known to need as many fences as are enough, with an abstraction that
    /// tells apart more.
    fn refine(&mut self, machine: &Machine<'_>, abstraction: Abstraction, limits: &Limits<'_>) {
        let shown = abstraction::check(machine, abstraction, &self.needed.open, limits);
        if shown.size.is_cut_off() {
            return;
        }
        self.abstraction = abstraction;
        self.size += shown.size;
        self.enough.retain(|pattern, _| !self.needed.open.contains(&pattern.thread));
        self.enough.extend(patterns(machine, &shown.entries));
        self.needed.settle(machine, &self.enough);
    }

    fn found(self, program: &Program, machine: &Machine<'_>) -> Found {
        let Abstracted { abstraction, enough: mut patterns, size, needed } = self;
        needed.add_to(&mut patterns);
        let accesses = accesses_of_patterns(program, machine, &patterns);
        let (abstraction, certain) = (Some(abstraction), Some(needed.patterns));
        Found { patterns, abstraction, certain, accesses, size, parts: needed.parts }
    }
}

/// Looks at the state space of the program; this is the exploration of that number.
fn explored(program: &Program, machine: &Machine<'_>, limits: &Limits<'_>, part: usize) -> Result<Found, Trouble> {
    let single = machine.single;
    let is_split = single.program != *program;
    if !machine.has_pivot() {
        let patterns = Patterns::new();
        let accesses = accesses_of_patterns(program, machine, &patterns);
        return Ok(Found {
            patterns,
            abstraction: None,
            certain: None,
            accesses,
            size: Size::default(),
            parts: Vec::new(),
        });
    }
    let explored = explore(machine.compiled, limits, &mut Recording { machine, compiled: machine.compiled, part });
    let (exploration, watchers) = explored.map_err(|failure| match failure {
        Failure::Fault { fault, at, .. } if is_split => Trouble::Fault(fault, machine.origin(at)),
        failure => Trouble::Exploration(failure),
    })?;
    let entries = merged(&watchers);
    let all = patterns(machine, &entries);
    let certain = certain(&entries).map(|entries| patterns(machine, &entries));
    let certain = certain.or_else(|| all.keys().any(|pattern| !pattern.is_exact).then(|| all.clone())).map(exact);
    let patterns = all;
    let size = Size {
        states: exploration.states.len() as u64,
        transitions: exploration.transitions,
        stop: Some(exploration.stop).filter(|stop| *stop != Stop::Complete),
    };
    let mut accesses = BTreeSet::new();
    if !is_split {
        for Evaluated { at, verdict, key } in evaluated(&watchers) {
            let label = label(program, at, verdict, key);
            accesses.extend(accesses_of_label(machine.outline.instr(at), &label));
        }
    }
    if is_split || size.is_cut_off() || certain.is_some() {
        // Behind its write the pivot may come to instructions that no state of the explored part has come to, and who
        // is presumed to change something has perhaps never done so.
        accesses.extend(accesses_of_patterns(program, machine, &patterns));
    }
    let parts = vec![Part { compiled: machine.compiled.clone(), exploration }];
    Ok(Found { patterns, abstraction: None, certain, accesses, size, parts })
}
