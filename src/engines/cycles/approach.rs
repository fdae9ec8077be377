//! What is looked at: the program's state space, an [abstraction](crate::environment) that includes it, or
//! (`--abstraction auto`) whatever is enough for a proven minimum.
//!
//! *Auto.* A small program is explored. If it has more states, the abstraction tells in no time which fences are
//! enough, and [few threads](super::few) at a time, how many are needed: by their runs, under a memory model with a
//! machine, or by their event graph. Where these meet for all memory models that are asked for, that is the answer.
//! Where they do not, pairs of threads are looked at together; and if that leaves something open, too, the program is
//! explored: as far as the limits allow, or, if only runs could decide more and the event graph is known already, no
//! further than searches for runs would go. If that does not end, the answer is the abstraction's, with both bounds.

use super::between::Between;
use super::{ExploredFacts, explored_facts};
use crate::analysis::{Abstraction, Analysis, ModelOutcome, Options};
use crate::confirm::AUTO_STATES;
use crate::cycles::Atomicity;
use crate::engines::{Approach, Confirm, Task, Trouble};
use crate::environment::{self, Stopped, View};
use crate::explore::{Limits, Stop};
use crate::facts::Facts;
use crate::outline::Outline;
use crate::placement::Minimality;
use crate::specification::Specification;
use crate::weak::split::SplitProgram;
use crate::{aeg::Profile, readings};
use std::time::Instant;

/// A program of so many states is explored before anything else is tried.
const SMALL: usize = 100_000;

/// What was looked at.
pub(super) struct Looked {
    pub explored: ExploredFacts,
    /// The abstraction, if the facts are of one.
    pub abstraction: Option<Abstraction>,
    /// What it comes to with the [usual options](usual), where that is known already.
    pub known: Vec<ModelOutcome>,
}

/// What is asked of the analysis unless somebody says otherwise.
pub(super) fn usual(atomicity: Atomicity) -> Options {
    Options { atomicity, ..Options::default() }
}

impl From<ExploredFacts> for Looked {
    fn from(explored: ExploredFacts) -> Looked {
        Looked { explored, abstraction: None, known: Vec::new() }
    }
}

/// Looks at what is asked for.
pub(super) fn look(task: &Task<'_>, specification: &Specification) -> Result<Looked, Trouble> {
    match task.settings.approach {
        Approach::Auto if !task.models.is_empty() && task.settings.confirm != Confirm::Mark => {
            auto(task, specification)
        }
        // For what nobody names there are no bounds that could meet, and delays that are only marked are all of them.
        Approach::Program | Approach::Auto => Ok(explored_facts(specification, task.limits)?.into()),
        Approach::Abstract(abstraction) => {
            let view = match abstraction {
                Abstraction::Environment => View::Each,
                Abstraction::Pairs => View::Pairs,
                Abstraction::Flattening(_) => {
                    return unsupported("--abstraction with a number of steps is for --engine persistence");
                }
            };
            if task.settings.confirm == Confirm::Mark {
                return unsupported("--confirm marks the delays of the program itself; use --abstraction none");
            }
            if task.settings.profile != Profile::Sound {
                return unsupported("--abstraction is for the corrected definitions; leave out --profile");
            }
            if !is_abstractable(task, specification)? {
                return unsupported(
                    "--abstraction knows whole instructions, and with this --atomicity some can be interrupted; use --abstraction none",
                );
            }
            abstracted(specification, view, task.limits)
        }
    }
}

fn unsupported<T>(why: &str) -> Result<T, Trouble> {
    Err(Trouble::Unsupported(why.to_owned()))
}

/// Whether instructions are whole, as the abstraction has them.
fn is_abstractable(task: &Task<'_>, specification: &Specification) -> Result<bool, Trouble> {
    let lets_tear = task.settings.atomicity.is_some_and(Atomicity::lets_tear);
    Ok(!lets_tear || SplitProgram::new(&specification.program)?.composites().is_empty())
}

/// The facts of an abstraction.
fn abstracted(specification: &Specification, view: View, limits: &Limits<'_>) -> Result<Looked, Trouble> {
    let Specification { program, compiled, .. } = specification;
    let abstraction = match view {
        View::Each => Abstraction::Environment,
        View::Pairs => Abstraction::Pairs,
    };
    let (facts, stop) = match environment::facts(program, compiled, view, limits) {
        Ok(facts) => (facts, Stop::Complete),
        Err(Stopped::TooDetailed) => {
            return unsupported("the abstraction of this program has too many states; use --abstraction none");
        }
        Err(Stopped::Limit(stop)) => {
            let outline = Some(Outline::of_program(program));
            (Facts { cut_off: true, outline, ..Facts::default() }, stop)
        }
    };
    let explored = ExploredFacts { limit: stop.limit(), stop, ..ExploredFacts::read(facts) };
    Ok(Looked { explored, abstraction: Some(abstraction), known: Vec::new() })
}

/// How far bounds have come for all memory models that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    /// They are apart.
    Bounds,
    /// What the event graph asks for is known.
    EventGraph,
    /// Nothing more is to be found out.
    All,
}

fn auto(task: &Task<'_>, specification: &Specification) -> Result<Looked, Trouble> {
    let started = Instant::now();
    let up_to = |states: usize| {
        let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
        let states = Some(task.limits.states.map_or(states, |most| most.min(states)));
        Limits { states, time, ..*task.limits }
    };
    let first = explored_facts(specification, &up_to(SMALL))?;
    let is_at_limit = first.stop == Stop::States && task.limits.states.is_none_or(|most| most > SMALL);
    if !is_at_limit || task.settings.profile != Profile::Sound || !is_abstractable(task, specification)? {
        return if is_at_limit {
            Ok(explored_facts(specification, &up_to(usize::MAX))?.into())
        } else {
            Ok(first.into())
        };
    }
    let out_of_range = first.out_of_range;
    drop(first);
    let mut best = None;
    for view in [View::Each, View::Pairs] {
        let Ok(mut looked) = abstracted(specification, view, &up_to(usize::MAX)) else { continue };
        looked.explored.out_of_range = out_of_range;
        if looked.explored.facts.cut_off {
            break;
        }
        let reached = reached(task, specification, &mut looked)?;
        if reached == Reached::All {
            return Ok(looked);
        }
        best = Some((looked, reached));
    }
    let most = match best {
        Some((_, Reached::EventGraph)) => AUTO_STATES,
        _ => usize::MAX,
    };
    let whole = explored_facts(specification, &up_to(most))?;
    match best {
        Some((abstracted, _)) if whole.facts.cut_off => Ok(abstracted),
        _ => Ok(whole.into()),
    }
}

/// How far the bounds come with this abstraction.
fn reached(task: &Task<'_>, specification: &Specification, looked: &mut Looked) -> Result<Reached, Trouble> {
    let atomicity = task.settings.atomicity.unwrap_or(Atomicity::Full);
    // What is left for the rest is known only once nothing more is explored.
    let budget = task.limits.budget.cloned().unwrap_or_default();
    let whole = Analysis::within(looked.explored.facts.clone(), task.settings.profile, &budget);
    let split = readings::Splittable { program: &specification.program, limit: task.settings.searches.states };
    let analysis = readings::analysis(whole, atomicity, Some(split))?;
    let between = Between::new(specification, task.settings, budget);
    let options = usual(atomicity);
    let mut reached = Reached::All;
    for model in task.models {
        let outcome = between.place(&analysis, model, &options)?;
        reached = reached.min(match outcome.placement.minimality {
            Minimality::Program => Reached::All,
            Minimality::EventGraph if between.is_confirming(model) => Reached::EventGraph,
            Minimality::EventGraph | Minimality::Abstraction | Minimality::Greedy => Reached::All,
            Minimality::AtLeast(_) => Reached::Bounds,
        });
        looked.known.push(outcome);
    }
    if looked.known.iter().any(|outcome| outcome.stopped.is_some()) {
        looked.known.clear();
    }
    Ok(reached)
}
