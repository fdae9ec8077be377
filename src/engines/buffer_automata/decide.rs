//! The decision: all symbolic states, and what is claimed of them.

use super::closing::close;
use super::concrete::run_to;
use super::recheck::proves;
use super::search::{Ended, Met, Reductions, Search};
use super::space::Memory;
use crate::engines::judged::{Decided, Ruling};
use crate::memory::Known;
use crate::program::At;
use crate::trial::{Trial, Trouble};
use crate::weak::Granularity;
use crate::weak::buffers::BufferStep;
use crate::weak::forbidden::{self, Forbidden, Judge, without_fences};
use crate::weak::split::SplitProgram;
use crate::weak::unperformed::Unperformed;
use crate::weak::verify::{Limit, Question, Verdict, Violation};
use crate::weak::visited::LimitReached;

/// The most states of the machine among which a short run is looked for, once it is known that there is one.
const NEAR_STATES: usize = 50_000;
/// With how many waiting writes.
const NEAR_BOUNDS: [usize; 3] = [1, 2, 4];

/// What all symbolic states say.
#[derive(Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Nothing forbidden is reached.
    Proved(Proof),
    /// Something forbidden is.
    Violated(Violation),
    /// An instruction goes wrong.
    GoesWrong(At),
    /// A symbolic path leads to something forbidden, or to an instruction that goes wrong, and no run was found that
    /// is like it.
    Suspected,
    /// The states that were seen did not pass a second look: a defect of ours.
    Doubtful,
}

/// What a proof rests on, and what was done for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The symbolic states of the invariant.
    pub states: usize,
    /// The symbolic states that were seen.
    pub seen: usize,
    /// Those of them that the search had left out.
    pub left_out: usize,
}

/// The repaired program of a trial, access by access, and the ruling on it.
pub fn decide(trial: &Trial<'_>, reductions: Reductions) -> Decided {
    let memory = match trial.model.known() {
        Ok(Known::Sc) => match trial.program.exclusive() {
            None => Memory::Sc,
            Some(at) => return Err(Trouble::Unperformed(Unperformed::Exclusive(at))),
        },
        _ => Memory::from(trial.machine()?),
    };
    let Some(forbidden) = Forbidden::by(trial.property) else {
        return Err(Trouble::Undecidable(trial.property.kind()));
    };
    let (split, _) = trial.repaired()?;
    let ruling = match judge(&split, memory, forbidden, reductions, trial.limits.states) {
        Ok(Judgement::Proved(proof)) => Ruling::Holds(proof.in_words(memory)),
        Ok(Judgement::Violated(violation)) => Verdict::Violated(Box::new(violation)).into(),
        Ok(Judgement::GoesWrong(at)) => return Err(Trouble::GoesWrong(at)),
        Ok(Judgement::Suspected) => Ruling::Undecided(
            "a path of the search leads to a violation, with buffers whose rounds are counted apart, and no run was found that is like it; try --engine auto or store-buffers".to_owned(),
        ),
        Ok(Judgement::Doubtful) => Verdict::Undecided(Limit::SecondLook).into(),
        Err(Ended::Fault(fault)) => return Err(Trouble::Condition(fault)),
        Err(Ended::Limit(limit)) => Verdict::Undecided(limit.into()).into(),
        Err(Ended::Met(_)) => Verdict::Undecided(Limit::SecondLook).into(),
    };
    Ok((split, ruling))
}

impl Proof {
    /// In words.
    #[must_use]
    pub fn in_words(&self, memory: Memory) -> String {
        let buffers = match memory {
            Memory::Sc => "without store buffers",
            Memory::Tso | Memory::Pso => "with what buffers can hold as automata, however many writes wait",
        };
        format!("all {} symbolic states ({buffers}), closed under steps (re-checked)", self.states)
    }
}

/// What all symbolic states of a program say; at most so many are seen.
///
/// # Errors
/// If a limit was reached, or the condition cannot be evaluated in a state.
pub fn judge(
    split: &SplitProgram,
    memory: Memory,
    forbidden: Forbidden<'_>,
    reductions: Reductions,
    most: usize,
) -> Result<Judgement, Ended> {
    let mut search = Search::new(split, memory, forbidden, reductions, most);
    let closed = search.run().and_then(|()| close(&mut search));
    let exhausted = |limit| Ended::Limit(LimitReached::Budget(limit));
    match closed {
        Ok((members, left_out)) => {
            let Search { mut space, mut persistent, tree, .. } = search;
            let is_proved = proves(&mut space, &mut persistent, forbidden, &members).map_err(exhausted)?;
            let proof = Proof { states: members.len(), seen: tree.nodes.len(), left_out };
            Ok(if is_proved { Judgement::Proved(proof) } else { Judgement::Doubtful })
        }
        Err(Ended::Met(Met::Forbidden(node, _))) => {
            if let Some(violation) = nearest(split, memory, forbidden) {
                return Ok(Judgement::Violated(violation));
            }
            let Search { mut space, tree, .. } = search;
            let Some(run) = run_to(&mut space, &tree, node).map_err(exhausted)? else {
                return Ok(Judgement::Suspected);
            };
            let last = run.last().map_or_else(|| space.machine.initial(), |(_, state)| state.clone());
            let what = Judge::new(forbidden).violated(&mut space.machine, &last).map_err(Ended::Fault)?;
            let violation = |what| Violation::Forbidden(without_fences(&space.machine, run), what);
            Ok(what.map_or(Judgement::Suspected, |what| Judgement::Violated(violation(what))))
        }
        Err(Ended::Met(Met::Wrong(node))) => {
            let Search { mut space, tree, .. } = search;
            let run = run_to(&mut space, &tree, node).map_err(exhausted)?;
            let last = run.and_then(|run| {
                run.into_iter().rev().find_map(|(step, _)| match step {
                    BufferStep::Issued(event) => Some(event.at),
                    BufferStep::Committed { .. } => None,
                })
            });
            Ok(last.map_or(Judgement::Suspected, Judgement::GoesWrong))
        }
        Err(other) => Err(other),
    }
}

/// A shortest run with few waiting writes, if there is one: a path found depth first is long.
fn nearest(split: &SplitProgram, memory: Memory, forbidden: Forbidden<'_>) -> Option<Violation> {
    if memory == Memory::Sc {
        return None;
    }
    NEAR_BOUNDS.into_iter().find_map(|bound| {
        let granularity = Granularity::Accesses;
        let question = Question { machine: memory.machine(), granularity, bound, limit: NEAR_STATES };
        match forbidden::search(split, &question, forbidden) {
            Ok(Verdict::Violated(violation)) => Some(*violation),
            _ => None,
        }
    })
}
