//! Is a forbidden state reached on store buffers?
//!
//! States are judged where all buffers are empty and every thread is between two instructions, at a control state of
//! the program: where a thread stands at a fence that was put in, it is in none. Buffers can be emptied and
//! instructions ended without another thread moving, so for conditions on where threads are this makes no difference;
//! for shared variables it keeps a write that is merely on its way from counting.
//!
//! [`search`] looks at all states in breadth-first order, so the run that it finds is a shortest one. It is exact
//! while no buffer reaches its bound. Locals that are dead, and that the condition does not mention, are forgotten.
//!
//! *Deadlock.* A thread is stuck if whatever it evaluates leaves it where it is and writes nothing; it is at an end if
//! no instruction begins where it is. In a deadlock every thread is stuck and one of them is not at an end. A fence
//! that was put in is passed like the middle of an instruction: who comes home through one has not moved, so fences
//! neither free a thread nor stop it.

use super::buffers::{BufferState, BufferStep, Buffers};
use super::split::SplitProgram;
use super::system::System;
use super::threads::{AccessKind, ConfigId, Configurations};
use super::verify::{Ground, Question, Verdict, Violation, steps_along};
use super::visited::{LimitReached, Visited};
use crate::ids::ThreadAt;
use crate::program::At;
use crate::property::{ConditionFault, FinalCondition, Property, Quantifier, StateCondition};

/// What is never to be reached.
#[derive(Clone, Copy, Debug)]
pub enum Forbidden<'f> {
    /// A state that satisfies this.
    State(&'f StateCondition),
    /// A state in which all threads have ended, with the outcome that a litmus test asks for; of one that asks
    /// something of all final states, the contrary.
    End(&'f FinalCondition),
    /// A deadlock.
    Deadlock,
}

impl<'f> Forbidden<'f> {
    /// What a property forbids, if it is one of states.
    #[must_use]
    pub fn by(property: &'f Property) -> Option<Forbidden<'f>> {
        match property {
            Property::Never(condition) => Some(Forbidden::State(condition)),
            Property::Final(condition) => Some(Forbidden::End(condition)),
            Property::NoDeadlock => Some(Forbidden::Deadlock),
            Property::Robust | Property::Persistent | Property::SameStates => None,
        }
    }

    /// Whether it can be told without the locals of a thread that are dead.
    fn ignores_locals(self, program: &SplitProgram, thread: ThreadAt) -> bool {
        match self {
            Forbidden::State(condition) => {
                let first = program.memory.len()
                    + program.threads[..thread.index()].iter().map(|t| t.locals.len()).sum::<usize>();
                let own = first..first + program.threads[thread.index()].locals.len();
                let mut ignores = true;
                condition.for_each_slot(&mut |slot| ignores &= !own.contains(&slot.index()));
                ignores
            }
            Forbidden::End(_) => false,
            Forbidden::Deadlock => true,
        }
    }

    /// The threads of a program, each with locals forgotten that are dead and do not matter here.
    #[must_use]
    pub fn configurations<'p>(self, program: &'p SplitProgram) -> Vec<Configurations<'p>> {
        let of_thread = |thread: ThreadAt| {
            let split = &program.threads[thread.index()];
            match self.ignores_locals(program, thread) {
                true => Configurations::forgetting(split),
                false => Configurations::new(split),
            }
        };
        program.threads_at().map(of_thread).collect()
    }
}

/// Where states are judged: values and control states as conditions observe them.
pub struct Judge<'f> {
    forbidden: Forbidden<'f>,
    /// What is observed of a state, kept for its memory.
    observed: Vec<i64>,
}

impl<'f> Judge<'f> {
    /// Of what is forbidden.
    #[must_use]
    pub fn new(forbidden: Forbidden<'f>) -> Judge<'f> {
        Judge { forbidden, observed: Vec::new() }
    }

    /// What the state violates, in words, if it is one that is never to be reached and is judged.
    ///
    /// # Errors
    /// If the condition cannot be evaluated there.
    pub fn violated(
        &mut self,
        buffers: &mut Buffers<'_>,
        state: &BufferState,
    ) -> Result<Option<String>, ConditionFault> {
        let is_judged = |system: &System<'_>| {
            let is_judged = |thread: ThreadAt| system.thread(thread).is_judged(state.shared.config(thread));
            system.program.threads_at().all(is_judged)
        };
        if !state.buffers.iter().all(Vec::is_empty) || !is_judged(&buffers.system) {
            return Ok(None);
        }
        let configs = |thread: ThreadAt| buffers.system.thread(thread).config(state.shared.config(thread));
        match self.forbidden {
            Forbidden::State(condition) => {
                self.observed.clear();
                self.observed.extend(&state.shared.memory[..]);
                let threads = || buffers.system.program.threads_at();
                threads().for_each(|thread| self.observed.extend(&configs(thread).frame[..]));
                threads().for_each(|thread| self.observed.push(i64::from(configs(thread).control.0)));
                Ok(condition.which_holds(&self.observed)?.map(StateCondition::to_string))
            }
            Forbidden::End(condition) => {
                let threads = buffers.system.program.threads_at();
                let has_ended = |thread| buffers.system.thread(thread).steps(state.shared.config(thread)).is_empty();
                if !threads.clone().all(has_ended) {
                    return Ok(None);
                }
                let locals: Vec<Vec<i64>> = threads.map(|thread| configs(thread).frame.to_vec()).collect();
                let is_so = condition.proposition.holds((&state.shared.memory, &locals));
                let is_forbidden = is_so == (condition.quantifier != Quantifier::Forall);
                Ok(is_forbidden.then(|| "the condition of the test".to_owned()))
            }
            Forbidden::Deadlock => {
                let threads = buffers.system.program.threads_at();
                let has_ended = |thread| buffers.system.thread(thread).steps(state.shared.config(thread)).is_empty();
                let has_more = !threads.clone().all(has_ended);
                let is_deadlock = has_more && threads.into_iter().all(|thread| is_stuck(buffers, state, thread));
                Ok(is_deadlock
                    .then(|| "no-deadlock: every thread is stuck, and one of them is not at its end".to_owned()))
            }
        }
    }
}

/// Whether whatever a thread evaluates leaves it where it is and writes nothing.
fn is_stuck(buffers: &mut Buffers<'_>, state: &BufferState, thread: ThreadAt) -> bool {
    let home: ConfigId = state.shared.config(thread);
    let mut seen = vec![home];
    let mut at = 0;
    while at < seen.len() {
        let mut here = state.clone();
        here.shared.threads[thread.index()] = seen[at];
        at += 1;
        for (event, next) in buffers.system.steps_of(&here.shared, thread) {
            let config = next.config(thread);
            let has_written = event.accesses.iter().any(|access| access.kind == AccessKind::Write);
            // In the middle of an instruction, and at a fence that was put in, it may still come home.
            if has_written || (config != home && buffers.system.thread(thread).is_judged(config)) {
                return false;
            }
            if !seen.contains(&config) {
                seen.push(config);
            }
        }
    }
    true
}

/// A run without the steps of fences that were put in: these are none of the program's.
#[must_use]
pub fn without_fences(buffers: &Buffers<'_>, run: Vec<(BufferStep, BufferState)>) -> Vec<(BufferStep, BufferState)> {
    let mut before = buffers.initial().shared;
    let mut kept = Vec::with_capacity(run.len());
    for (step, state) in run {
        let is_fence = match &step {
            BufferStep::Issued(event) => {
                let (thread, config) = (buffers.system.thread(event.at.thread), before.config(event.at.thread));
                thread.is_at_boundary(config) && !thread.is_judged(config)
            }
            BufferStep::Committed { .. } => false,
        };
        before = state.shared.clone();
        if !is_fence {
            kept.push((step, state));
        }
    }
    kept
}

/// Why a search for a forbidden state has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// A limit was reached.
    Limit(LimitReached),
    /// An instruction goes wrong: its thread stops there, and would hide what is behind.
    GoesWrong(At),
    /// The condition cannot be evaluated in a state that is reached.
    Fault(ConditionFault),
}

impl From<LimitReached> for Unjudged {
    fn from(limit: LimitReached) -> Unjudged {
        Unjudged::Limit(limit)
    }
}

impl From<ConditionFault> for Unjudged {
    fn from(fault: ConditionFault) -> Unjudged {
        Unjudged::Fault(fault)
    }
}

/// Whether a program, as it stands, reaches no forbidden state.
///
/// # Errors
/// If a limit was reached, an instruction goes wrong, or the condition cannot be evaluated in some state.
pub fn search(program: &SplitProgram, question: &Question, forbidden: Forbidden<'_>) -> Result<Verdict, Unjudged> {
    let mut buffers = Buffers::with(program, forbidden.configurations(program), question.machine, question.bound);
    let mut judge = Judge::new(forbidden);
    let mut visited = Visited::within(question.limit, &program.budget);
    let initial = buffers.initial();
    if let Some(what) = judge.violated(&mut buffers, &initial)? {
        return Ok(Verdict::Violated(Box::new(Violation::Forbidden(Vec::new(), what))));
    }
    visited.start(initial)?;
    let mut at = 0;
    while (at as usize) < visited.len() {
        let state = visited.get(at);
        for (step, next) in buffers.steps(&state) {
            if let BufferStep::Issued(event) = &step
                && buffers.system.thread(event.at.thread).config(next.shared.config(event.at.thread)).is_faulty
            {
                return Err(Unjudged::GoesWrong(event.at));
            }
            let known = visited.len();
            if (visited.insert(next.clone(), at)? as usize) < known {
                continue;
            }
            if let Some(what) = judge.violated(&mut buffers, &next)? {
                let numbers = visited.path_to(at);
                let path: Vec<BufferState> = numbers.iter().map(|&number| (*visited.get(number)).clone()).collect();
                let run = steps_along(&mut buffers, &path, (step, next));
                let run = without_fences(&buffers, run);
                return Ok(Verdict::Violated(Box::new(Violation::Forbidden(run, what))));
            }
        }
        at += 1;
    }
    let states = visited.len();
    Ok(match buffers.is_cut_off {
        false => Verdict::Verified(Ground::AllRuns { states }),
        true => Verdict::Bounded { bound: question.bound, states },
    })
}
