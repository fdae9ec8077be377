//! Is a program, as it stands, right under TSO or PSO (method §10)?
//!
//! [`robust`]: every run has an acyclic happens-before relation. On TSO this is decided exactly, loops
//! included, by [torn instructions](super::torn) and by [attacks](super::attack) on *all* pairs that a thread can
//! reorder, whatever the event graph says. On PSO what these find is a violation, and what they cannot find is looked
//! for in [all runs](super::runs), exact while no buffer reaches its bound. If one does, and nothing was found, that
//! is [`Verdict::Bounded`]: no verdict on the program.
//!
//! Under the models without a machine [`by_rounds`](super::by_rounds) looks for an execution that is not sequentially
//! consistent among the beginnings of executions, and [`Compared`] compares all executions that the model's axioms
//! allow with those that sequential consistency allows.
//!
//! [`same_states`]: every state between instructions with empty buffers is reached under sequential consistency,
//! too; final states are such states. Where all runs are sequentially consistent, so are all states: where a buffer
//! reaches its bound, an exact answer on traces still decides. By axioms only final states are compared.

use super::attack::{Attack, Witness};
use super::axiomatic::beginnings::Beginning;
use super::axiomatic::{End, Failure, Model, Outcomes, outcomes_within};
use super::buffers::{BufferState, BufferStep, Buffers};
use super::runs;
use super::split::SplitProgram;
use super::torn::{Torn, torn};
use super::visited::{LimitReached, Visited};
use super::{Granularity, Machine};
use crate::budget::{Budget, Exhausted};
use crate::program::Program;
use std::collections::BTreeSet;

/// What a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ground {
    /// An exact search without store buffers: sequentially consistent states, pairs tried.
    Attacks {
        /// The number of sequentially consistent states.
        states: usize,
        /// The number of pairs.
        pairs: usize,
    },
    /// All runs: the number of states.
    AllRuns {
        /// The number of states.
        states: usize,
    },
    /// An exact search backwards from what is forbidden, with its result looked at a second time: the number of minimal
    /// configurations.
    SingleBuffer {
        /// How many.
        minors: usize,
    },
    /// All executions that the axioms allow.
    Axioms {
        /// How many.
        executions: u64,
    },
    /// All beginnings of executions: how many.
    Beginnings(u64),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An instruction is torn.
    Torn(Torn),
    /// A thread delays a write, and others can tell.
    Attack(Witness),
    /// A run whose happens-before relation is cyclic.
    Run(Vec<(BufferStep, BufferState)>),
    /// An execution that sequential consistency does not allow ends here.
    End(End),
    /// There are executions that sequential consistency does not allow, although they end where others end: how many
    /// of how many.
    Executions(u64, u64),
    /// An execution that begins like this is not sequentially consistent.
    Beginning(Beginning),
    /// A run to a state that sequential consistency does not reach.
    State(Vec<(BufferStep, BufferState)>),
    /// A run to a state that is never to be reached, and what it violates.
    Forbidden(Vec<(BufferStep, BufferState)>, String),
}

/// The verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The property holds.
    Verified(Ground),
    /// It does not.
    Violated(Box<Violation>),
    /// No run with at most so many writes in a buffer violates it; a buffer was full, and what happens with more is
    /// not known.
    Bounded {
        /// The bound.
        bound: usize,
        /// The number of states.
        states: usize,
    },
    /// A limit was reached first.
    Undecided(Limit),
}

/// A limit that left a question open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A search would have had more states than it may.
    States,
    /// A loop was cut off. None of so many executions that go round less often violates the property; of none of them
    /// nothing is known.
    Unrolling(u64),
    /// The same, looked for among beginnings of executions.
    Rounds {
        /// How often an instruction was taken at most.
        rounds: usize,
        /// How many beginnings there are.
        beginnings: u64,
        /// The limit that was reached with one round more, if that was tried.
        stopped: Option<LimitReached>,
    },
    /// An update that is to be one step can be torn, and what it would do as one step is not known.
    Torn,
    /// What a search found nothing by did not pass a second look: a defect of ours.
    SecondLook,
    /// A run violates the property if fences of stores are nothing, and none was found where they are what they are.
    StoreFences,
    /// The budget was exhausted.
    Budget(Exhausted),
}

impl From<LimitReached> for Limit {
    fn from(reached: LimitReached) -> Limit {
        match reached {
            LimitReached::States => Limit::States,
            LimitReached::Budget(limit) => Limit::Budget(limit),
        }
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Which machine.
    pub machine: Machine,
    /// What counts as an event, and so what is compared with what.
    pub granularity: Granularity,
    /// The most writes in a buffer.
    pub bound: usize,
    /// The most states.
    pub limit: usize,
}

/// Whether every run of a program, as it stands, is sequentially consistent.
#[must_use]
pub fn robust(program: &SplitProgram, question: &Question) -> Verdict {
    traces(program, question).unwrap_or_else(|limit| Verdict::Undecided(limit.into()))
}

/// Whether a program, as it stands, reaches no state between instructions that it does not reach under sequential
/// consistency.
#[must_use]
pub fn same_states(program: &SplitProgram, question: &Question) -> Verdict {
    match same_states_within_bound(program, question) {
        // Where all runs are sequentially consistent, so are all states.
        Verdict::Bounded { bound, states } => match traces(program, question) {
            Ok(Verdict::Verified(ground)) => Verdict::Verified(ground),
            _ => Verdict::Bounded { bound, states },
        },
        verdict => verdict,
    }
}

/// The same by the states of the machine alone: nobody asks about runs where a buffer was full.
#[must_use]
pub fn same_states_within_bound(program: &SplitProgram, question: &Question) -> Verdict {
    states(program, question).unwrap_or_else(|limit| Verdict::Undecided(limit.into()))
}

/// What the axioms of a memory model, and those of sequential consistency, allow: executions that take no instruction
/// more than so many times. What is wrong is found among these, and that all is right is known only if these are all.
#[derive(Clone, Debug)]
pub struct Compared {
    strong: Outcomes,
    weak: Outcomes,
}

impl Compared {
    /// All executions of a program as it stands.
    ///
    /// # Errors
    /// If an execution goes wrong.
    pub fn new(program: &Program, model: &Model, unroll: usize, budget: &Budget) -> Result<Compared, Failure> {
        Ok(Compared {
            strong: outcomes_within(program, &Model::sc(), unroll, budget)?,
            weak: outcomes_within(program, model, unroll, budget)?,
        })
    }

    /// Whether every execution is sequentially consistent. Sequential consistency allows nothing that the model does
    /// not allow, so they are exactly if there are equally many; and an execution that it does not allow is a
    /// violation however often loops go round elsewhere.
    #[must_use]
    pub fn robust(&self) -> Verdict {
        let more = |weak: u64, strong: u64| (weak > strong).then(|| Violation::Executions(weak - strong, weak));
        self.verdict(self.other_end(), || more(self.weak.executions, self.strong.executions))
    }

    /// Whether every final state is reached under sequential consistency, too. One that it does not reach in so many
    /// rounds of a loop it may reach in more.
    #[must_use]
    pub fn same_ends(&self) -> Verdict {
        self.verdict(self.other_end().filter(|_| self.strong.complete), || None)
    }

    /// A final state that sequential consistency does not reach.
    fn other_end(&self) -> Option<Violation> {
        self.weak.ends.difference(&self.strong.ends).next().map(|end| Violation::End(end.clone()))
    }

    /// The verdict, with a violation that is known whatever else there is, and one that is known if nothing is missing.
    fn verdict(&self, end: Option<Violation>, other: impl FnOnce() -> Option<Violation>) -> Verdict {
        if let Some(limit) = self.strong.stopped {
            // What is not among those that were found may be among the others.
            return Verdict::Undecided(Limit::Budget(limit));
        }
        if let Some(violation) = end {
            return Verdict::Violated(Box::new(violation));
        }
        if let Some(limit) = self.weak.stopped {
            return Verdict::Undecided(Limit::Budget(limit));
        }
        match other() {
            Some(violation) => Verdict::Violated(Box::new(violation)),
            // Only executions that end are compared: of what a loop does beyond the bound nothing is known.
            None if self.weak.complete => Verdict::Verified(Ground::Axioms { executions: self.weak.executions }),
            // An end that sequential consistency reaches in more rounds, if at all.
            None if self.other_end().is_some() => Verdict::Undecided(Limit::Unrolling(0)),
            None => Verdict::Undecided(Limit::Unrolling(self.weak.executions)),
        }
    }
}

fn traces(program: &SplitProgram, question: &Question) -> Result<Verdict, LimitReached> {
    let violated = |violation| Ok(Verdict::Violated(Box::new(violation)));
    if question.granularity == Granularity::Instructions
        && let Some(torn) = torn(program, question.limit)?.into_iter().next()
    {
        return violated(Violation::Torn(torn));
    }
    let mut attack = Attack::new(program, question.machine, question.granularity, question.limit)?;
    let pairs = attack.pairs();
    for &pair in &pairs {
        if let Some(witness) = attack.confirm(pair)? {
            return violated(Violation::Attack(witness));
        }
    }
    let (states, pairs) = (attack.num_of_states(), pairs.len());
    // Where no write can be overtaken at all, every run is sequentially consistent: up to the first write that is
    // overtaken, writes can be taken to be issued when they become visible.
    if question.machine == Machine::Tso || pairs == 0 {
        return Ok(Verdict::Verified(Ground::Attacks { states, pairs }));
    }
    Ok(match runs::examine(program, question.machine, question.granularity, question.bound, question.limit) {
        Ok(runs::RunsVerdict::Cyclic(run)) => return violated(Violation::Run(run)),
        Ok(runs::RunsVerdict::Robust { is_complete: true, states }) => Verdict::Verified(Ground::AllRuns { states }),
        Ok(runs::RunsVerdict::Robust { states, .. }) => Verdict::Bounded { bound: question.bound, states },
        Err(limit) => Verdict::Undecided(limit.into()),
    })
}

fn states(program: &SplitProgram, question: &Question) -> Result<Verdict, LimitReached> {
    let mut buffers = Buffers::new(program, question.machine, question.bound);
    buffers.system.granularity = question.granularity;
    let consistent = buffers.system.reach(question.limit)?;
    let expected: BTreeSet<_> = (0..consistent.len() as u32)
        .map(|number| consistent.get(number))
        .filter(|s| buffers.system.is_at_boundary(s))
        .collect();
    buffers.system.granularity = Granularity::Accesses;
    let mut visited = Visited::within(question.limit, &program.budget);
    visited.start(buffers.initial())?;
    let mut at = 0;
    while (at as usize) < visited.len() {
        let state = visited.get(at);
        for (step, next) in buffers.steps(&state) {
            if buffers.is_at_boundary(&next) && !expected.contains(&next.shared) {
                let path: Vec<BufferState> =
                    visited.path_to(at).iter().map(|&number| (*visited.get(number)).clone()).collect();
                let run = steps_along(&mut buffers, &path, (step, next));
                return Ok(Verdict::Violated(Box::new(Violation::State(run))));
            }
            visited.insert(next, at)?;
        }
        at += 1;
    }
    let states = visited.len();
    Ok(match buffers.is_cut_off {
        false => Verdict::Verified(Ground::AllRuns { states }),
        true => Verdict::Bounded { bound: question.bound, states },
    })
}

/// The steps along these states, and a last one.
pub(super) fn steps_along(
    buffers: &mut Buffers<'_>,
    states: &[BufferState],
    last: (BufferStep, BufferState),
) -> Vec<(BufferStep, BufferState)> {
    let mut steps = Vec::new();
    for pair in states.windows(2) {
        let found = buffers.steps(&pair[0]).into_iter().find(|(_, next)| *next == pair[1]);
        steps.extend(found);
    }
    steps.push(last);
    steps
}
