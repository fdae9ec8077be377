//! Persistence: under TSO the program shows no (program order, store order) that it does not show under sequential
//! consistency.
//!
//! After Abdulla, Atig and Ngo, *The Best of Both Worlds: Trading Efficiency and Optimality in Fence Insertion for
//! TSO* (ESOP 2015). The trace of a run is, for each thread, the sequence of its accesses with their values, and
//! *one* sequence of all writes in the order in which they reach memory. A program is *persistent* if every trace
//! that it has under TSO it has under sequential consistency, too; else it is *fragile*. A persistent program reaches
//! the same states with empty buffers, so no safety property can tell. Which write a read takes its value from is not
//! looked at; so persistence and robustness are incomparable: `y := 1; r := x || x := 1` is robust and fragile.
//!
//! # The check
//!
//! A program is fragile exactly if it has this pattern (the paper's Theorem 1, with a correction): a reachable SC
//! state s; a thread p, the *pivot*, that can take a write of some y at s; steps of p alone from there that are reads
//! or local, none a write, an atomic instruction or a fence; then a read by p of some x ≠ y; and another thread, the
//! *fringe*, that *at s* can take a write or an atomic instruction that gives x a value that it does not have. The
//! correction: the paper asks for a write of the fringe, and misses `y := 1; r := x` against an atomic update of x.
//! Its reduction to a reachability problem also spoils y, which p may read back; here nothing is instrumented, and y
//! keeps its value.
//!
//! That the fringe can be asked at s, before p has moved, makes the check one pass over the states: [`record`] fills
//! a small table during the exploration, [`local`] lets p run alone from every entry. [`hitting`] cuts the paths,
//! [`run`] shows the run, [`outcome`] hands it all to the reports. [`abstraction`] has the paper's abstractions, one
//! small search for each pivot instead of a large one, [`needed`] tells which of their fences are needed, and
//! [`approach`] chooses.
//!
//! A thread none of whose writes is followed by a read of a location that another thread writes can be no pivot; if
//! no thread can, the program is persistent whatever its states are, and is not explored.
//!
//! The reports get the accesses of the program, but no event graph: this engine looks at none.
//! The states counted are those that were looked at; steps without a shared access are not interleaved.
//!
//! *Cost.* One exploration, one lookup for each write that can be taken in a state while others are about to change
//! what the thread reads next; then local searches, one for each entry. No store buffers anywhere.
//!
//! # What is presumed
//!
//! - The pattern is about loads and stores. Instructions with several shared accesses are first
//!   [split](crate::program::single_access), every mention an access, reads before writes, and the result is about
//!   the program that performs its accesses one by one. An instruction that reads what it has written writes before
//!   it reads; if a pattern is inside it, no fence beside it helps, and the program is refused. That an instruction
//!   can be torn under sequential consistency is not its business (reports name such instructions as presumed to be
//!   atomic; `verify --atomicity split` is the matching question).
//! - An atomic instruction that looks at other locations than the one that it writes (a lock region, `atomic [y = 0;
//!   x := 1]`) is no update as the paper has it: on TSO it may see what those were before several writes of the
//!   pivot. All that it may write counts as about to be changed wherever it can be tried, so for programs with such
//!   instructions fences may be too many, never too few.
//! - An atomic instruction empties the buffer before it acts. If its condition is refused it has not acted, and the
//!   pivot does not pass it.
//! - A condition that is refused has been read: it can be the pivot's read of x.

mod abstraction;
mod approach;
mod environment;
mod flatten;
mod hitting;
mod local;
mod machine;
mod named;
mod needed;
mod observed;
mod outcome;
mod record;
mod run;
mod values;

use super::{Description, Engine, Examined, Purpose, Task, Trouble};
use crate::aeg::Accesses;
use crate::analysis::{Abstraction, Explored};
use crate::budget::Budget;
use crate::caveat::Caveat;
use crate::explore::Stop;
use crate::memory::Known;
use crate::outline::Outline;
use crate::program::compiled::Compiled;
use crate::program::single_access::SingleAccess;
use crate::property::PropertyKind;
use crate::specification::Specification;
use approach::Found;
use hitting::Paths;
use local::Patterns;
use machine::Machine;
use needed::Part;

/// The engine.
pub struct Persistence;

const NAME: &str = "persistence";
const PROPERTIES: &[PropertyKind] = &[PropertyKind::Persistent];

/// What was found.
struct Checked<'a> {
    specification: &'a Specification,
    single: SingleAccess,
    compiled: Compiled,
    outline: Outline,
    patterns: Patterns,
    accesses: Accesses,
    explored: Explored,
    caveats: Vec<Caveat>,
    budget: Budget,
    tells_runs: bool,
    /// The abstraction that was looked at, if one was.
    abstraction: Option<Abstraction>,
    /// The patterns that are known to be in the program, if that is not known of all.
    certain: Option<Patterns>,
    /// The explorations that patterns were found in, to lead runs there.
    parts: Vec<Part>,
}

impl Engine for Persistence {
    fn description(&self) -> Description {
        Description {
            name: NAME,
            properties: PROPERTIES,
            models: &[Known::Tso],
            input: "specifications",
            after: "Abdulla, Atig and Ngo 2015 (docs/engines/persistence.md)",
            purpose: Purpose::Finds,
            takes: &["--abstraction", "--cycles", "--minimal-sets"],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        Ok(Box::new(Checked::new(task)?))
    }
}

impl<'a> Checked<'a> {
    fn new(task: &Task<'a>) -> Result<Checked<'a>, Trouble> {
        task.subject.refuse_exclusives()?;
        let specification = task.program(NAME)?;
        let single = SingleAccess::of(&specification.program);
        let compiled = Compiled::new(&single.program)?;
        let outline = specification.outline.clone();
        let budget = task.limits.budget.cloned().unwrap_or_default();
        let machine = Machine::new((&single, &outline), &compiled, &budget);
        let Found { patterns, abstraction, certain, accesses, size, parts } =
            approach::find(task, &specification.program, &machine)?;
        for thread in machine.threads() {
            if let Some(at) = Paths::of(&patterns, thread, &machine).uncut() {
                return Err(Trouble::Inside(at));
            }
        }
        let explored = Explored {
            states: size.states,
            transitions: size.transitions,
            cut_off: size.is_cut_off(),
            missing: size.stop.and_then(Stop::limit).map(str::to_owned),
        };
        let caveats = super::caveats::explored(specification, task.limits);
        Ok(Checked {
            specification,
            accesses: Accesses::of(outline.clone(), &accesses, |_| 0),
            single,
            compiled,
            outline,
            patterns,
            explored,
            caveats,
            budget: (task.rest)(),
            tells_runs: task.settings.tells_runs,
            abstraction,
            certain,
            parts,
        })
    }

    fn machine(&self) -> Machine<'_> {
        Machine::new((&self.single, &self.outline), &self.compiled, &self.budget)
    }
}
