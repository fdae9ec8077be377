//! Partial coherence: all states of a program whose store buffers are kept only in part (Blender).
//!
//! After Kuperstein, Vechev and Yahav, "Partial-Coherence Abstractions for Relaxed Memory Models" (PLDI 2011). A store
//! buffer becomes what is worth keeping of it: the oldest writes, so many, in order, the set of those behind them, and
//! the newest. A thread reads back its newest write, as it does with a buffer; the others see the oldest writes in
//! their order, and those behind in any. So there are finitely many states, however many writes wait, and every run of
//! the program is a run of the abstraction: what that never reaches the program never reaches. What it reaches the
//! program may not.
//!
//! | part | holds |
//! |---|---|
//! | [`coherence`] | how much is kept |
//! | [`layout`] | a state in bits |
//! | [`space`] | the rules, and which states are bad |
//! | [`expander`] | the successors of a state |
//! | [`search`] | all states, through the machinery of [explorations](crate::explore) |
//! | [`recheck`] | the same, looked at a second time by plain rules |
//! | [`runs`] | what fences stop a run |
//! | [`constraints`] | the same by the paper's formula |
//! | [`decide`] | all of this together |
//!
//! *Variant.* Threads are [automata](super::automata) over finite domains; where there are none, [values are given
//! up](super::automata::values). Steps that nobody else notices are made at once ([`space`]). A run of the abstraction
//! that can be made on real store buffers is a violation; one that cannot be asks for a fence all the same, and then
//! the answer is "fewest for the abstraction". On TSO, of which the paper says only that it is like PSO, a buffer has
//! writes to all locations, and the newest of all is known besides that of each location.
//!
//! *Complexity.* Exponential in the threads, as every search, and in the number of different writes of a thread; with
//! sets that are united polynomial in these. *Limits.* As for automata; a buffer can have 64 different writes. The
//! number of states is bounded by `--max-weak-states`. If a limit is reached, there is no verdict.

mod coherence;
mod constraints;
mod decide;
mod expander;
mod layout;
mod recheck;
mod runs;
mod search;
mod space;
#[cfg(test)]
mod tests;

pub use coherence::Coherence;
pub(super) use decide::judge_sequentially;
pub use decide::{Judgement, Proof, Suspicion, View, judge};
#[cfg(feature = "internals")]
pub use decide::{count, drained_states};
pub use space::Reduction;

#[cfg(feature = "internals")]
pub use super::automata::{Labels, Stop};

use super::judged::{Decided, Method, Ruling, Runnable};
use super::{Description, Engine, Examined, Purpose, Task, Trouble};
use crate::engines::automata::values::GivenUp;
use crate::memory::Known;
use crate::program::Program;
use crate::property::PropertyKind;
use crate::repair::Repair;
use crate::trial::{self, Trial};
use crate::weak::Machine;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::verify::{Limit, Verdict};
use crate::weak::ways::Way;
use decide::{Formula, by_formula};

/// The engine.
pub struct PartialCoherence;

const NAME: &str = "partial-coherence";
const PROPERTIES: &[PropertyKind] = &[PropertyKind::Never, PropertyKind::Final, PropertyKind::NoDeadlock];

/// How store buffers are abstracted, and fences are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abstracting {
    /// What is kept of them.
    pub coherence: Coherence,
    /// Which steps are made at once.
    pub reduction: Reduction,
    /// How fences are found.
    pub inference: Inference,
}

/// How fences are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inference {
    /// By the sites that a run passes while something waits.
    Sites,
    /// By the paper's formula over ordering constraints.
    Constraints,
}

impl Default for Abstracting {
    fn default() -> Abstracting {
        Abstracting { coherence: Coherence::Full(1), reduction: Reduction::Private, inference: Inference::Sites }
    }
}

impl Engine for PartialCoherence {
    fn description(&self) -> Description {
        Description {
            name: NAME,
            properties: PROPERTIES,
            models: &[Known::Tso, Known::Pso],
            input: "specifications",
            after: "Blender: Kuperstein, Vechev and Yahav 2011 (docs/engines/partial-coherence.md)",
            purpose: Purpose::FindsAndJudges,
            takes: &[
                "--atomicity",
                "--max-weak-states",
                "--minimal-sets",
                "--fence-sites",
                "--buffers",
                "--inference",
                "--no-reduction",
            ],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        let how = task.settings.abstracting;
        let decide = Box::new(move |trial: &Trial<'_>| decided(trial, how));
        Ok(Box::new(Runnable::new(task, Method { engine: NAME, same_states: "", knows_store_fences: false, decide })?))
    }
}

fn decided(trial: &Trial<'_>, how: Abstracting) -> Decided {
    let machine = trial.machine()?;
    let forbidden = Forbidden::by(trial.property).ok_or(trial::Trouble::Undecidable(trial.property.kind()))?;
    let Abstracting { coherence, reduction, inference } = how;
    let (split, _) = trial.repaired()?;
    let view = View { machine, coherence, reduction, most: trial.limits.states };
    if inference == Inference::Constraints
        && let Some(ruling) = formula(trial, forbidden, view)?
    {
        return Ok((split, ruling));
    }
    let ruling = match judge(&split, trial.outline, forbidden, view) {
        Ok(Judgement::Proved(proof)) => Ruling::Holds(proof.in_words(trial.program, &split, view)),
        Ok(Judgement::Violated(violation)) => Verdict::Violated(Box::new(violation)).into(),
        Ok(Judgement::GoesWrong(at)) => return Err(trial::Trouble::GoesWrong(at)),
        Ok(Judgement::Suspected(Suspicion { way, given_up })) => {
            // A fence elsewhere may keep a write out of a set that was united, or a value within its bounds.
            let necessary = given_up == GivenUp::default() && !matches!(coherence, Coherence::Partial(_));
            let ignores = machine == Machine::Pso && split.orders_stores();
            let advice = suspicion(coherence, given_up.names(trial.program, &split), ignores);
            Ruling::Suspected { way, necessary, advice }
        }
        Ok(Judgement::Doubtful) => Verdict::Undecided(Limit::SecondLook).into(),
        Err(stop) => Verdict::Undecided(stop.limit(trial.program)?.into()).into(),
    };
    Ok((split, ruling))
}

/// What is said of a run of the abstraction that may be none of the program.
fn suspicion(coherence: Coherence, given_up: Option<String>, ignores_fences: bool) -> String {
    let (values, other) = match given_up {
        None => {
            let longer = coherence.with_longer_head();
            let other = longer.map(|longer| format!("try --buffers {longer}, or --engine auto"));
            (String::new(), other.unwrap_or_else(|| "use --engine auto".to_owned()))
        }
        Some(names) => (
            format!(", where the values of {names} are not told apart,"),
            "bound them (for example with %), or use --engine auto".to_owned(),
        ),
    };
    let fences = match ignores_fences {
        true => " (store-store fences are nothing here: --engine buffer-automata and --engine store-buffers know them)",
        false => "",
    };
    format!(
        "a run of the abstraction --buffers {coherence}{values} violates it, and the program may have no such run; {other}{fences}"
    )
}

/// What the paper's formula demands; nothing if it is met, and the program with the fences is to be judged.
fn formula(trial: &Trial<'_>, forbidden: Forbidden<'_>, view: View) -> Result<Option<Ruling>, trial::Trouble> {
    let bare = Repair { fences: std::collections::BTreeMap::new(), ..trial.repair.clone() };
    let (split, repair) = Trial { repair: &bare, budget: trial.budget.clone(), ..*trial }.repaired()?;
    let is_composite = |at: &crate::program::At| !repair.locked.contains(&trial.outline.instr(*at));
    if split.composites().iter().any(is_composite) {
        return Err(trial::Trouble::Unbounded(
            "the formula over ordering constraints is for instructions with one access each; use --inference sites"
                .to_owned(),
        ));
    }
    let given = (trial.program, trial.outline, &trial.repair.full_sites());
    match by_formula(&split, given, forbidden, view) {
        Ok(Formula::Holds) => Ok(None),
        Ok(Formula::Demands(sites)) => Ok(Some(Ruling::Suspected {
            way: Way::through(sites),
            necessary: false,
            advice: suspicion(view.coherence, None, view.machine == Machine::Pso && split.orders_stores()),
        })),
        Err(stop) => Ok(Some(Verdict::Undecided(stop.limit(trial.program)?.into()).into())),
    }
}

impl Proof {
    /// What a proof rests on.
    pub(super) fn in_words(&self, program: &Program, split: &SplitProgram, view: View) -> String {
        let Proof { states, given_up } = self;
        let values = given_up.names(program, split);
        let values = values.map_or(String::new(), |names| format!("; the values of {names} are not told apart"));
        format!(
            "{} of an abstraction that has every run of the program (partial coherence, --buffers {}), however many writes wait{values} (re-checked)",
            if *states == 1 { "the only state".to_owned() } else { format!("all {states} states") },
            view.coherence
        )
    }
}
