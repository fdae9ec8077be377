//! The final states of a small program under SC: one instruction after the other, in every order.
//!
//! Unlike the explorer, this knows load and store exclusive: a thread has a monitor, which its load sets to the
//! location, another thread's write to that location and its own next store exclusive clear, and which a store must
//! find set to succeed. Instructions are indivisible, so it is not for programs in which a plain one accesses twice
//! ([`accesses_twice`]).

use seqcon::ids::{ControlAt, ThreadAt};
use seqcon::program::compiled::{Compiled, Step, Trace};
use seqcon::program::{Expression, Instruction, InstructionKind, Marks, Mention, Program, Scope};
use std::collections::{BTreeSet, HashSet};

/// A final state: the values of shared variables, and those of each thread's locals.
pub type Final = (Vec<i64>, Vec<Vec<i64>>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    controls: Vec<ControlAt>,
    values: Vec<i64>,
    monitors: Vec<Option<usize>>,
}

/// Whether an instruction that is not atomic mentions more than one location.
pub fn accesses_twice(program: &Program) -> bool {
    program.instructions_at().any(|(_, instruction)| {
        let mut mentions = 0;
        instruction.for_each_reference(&mut |_, reference| mentions += usize::from(reference.scope == Scope::Shared));
        mentions > 1 && !instruction.is_atomic()
    })
}

/// The final states; nothing if there are too many states.
pub fn finals(program: &Program, most: usize) -> Option<BTreeSet<Final>> {
    let compiled = Compiled::new(program).ok()?;
    let first = State {
        controls: program.threads.iter().map(|thread| thread.initial).collect(),
        values: compiled.initial.clone(),
        monitors: vec![None; program.threads.len()],
    };
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut finals = BTreeSet::new();
    while let Some(state) = open.pop() {
        let mut is_final = true;
        for (thread, known) in program.threads_at() {
            let steps = compiled.thread(thread).steps_from(state.controls[thread.index()]);
            is_final &= steps.is_empty();
            let is_store = |step: &Step| stored(known.instruction(step.instruction)).is_some();
            let may_store = steps.iter().any(is_store);
            for step in steps {
                let instruction = known.instruction(step.instruction);
                let next = take(&state, thread, step, instruction, may_store);
                open.extend(next.filter(|next| seen.insert(next.clone())));
            }
        }
        if is_final {
            finals.insert(apart(program, &state.values));
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(finals)
}

/// The location that a store exclusive writes.
fn stored(instruction: &Instruction) -> Option<usize> {
    let target = &instruction.assignments.first()?.target;
    (is_exclusive(instruction) && target.scope == Scope::Shared).then_some(target.variable)
}

/// The location that a load exclusive reads.
fn loaded(instruction: &Instruction) -> Option<usize> {
    match &instruction.assignments.first()?.value {
        Expression::Read(reference) if is_exclusive(instruction) && reference.scope == Scope::Shared => {
            Some(reference.variable)
        }
        _ => None,
    }
}

fn is_exclusive(instruction: &Instruction) -> bool {
    matches!(instruction.kind, InstructionKind::Marked(marks) if marks.has(Marks::EXCLUSIVE))
}

fn take(state: &State, thread: ThreadAt, step: &Step, instruction: &Instruction, may_store: bool) -> Option<State> {
    let own = thread.index();
    let mut trace = Trace::default();
    if !step.is_enabled(&state.values, &mut trace).ok()? {
        return None;
    }
    if stored(instruction).is_some_and(|location| state.monitors[own] != Some(location)) {
        return None;
    }
    let mut next = state.clone();
    step.execute(&mut next.values, &mut trace).ok()?;
    next.controls[own] = step.to;
    // A store exclusive clears the monitor whether it succeeds or not.
    if may_store {
        next.monitors[own] = None;
    }
    let is_store = stored(instruction).is_some();
    if let Some(location) = loaded(instruction).filter(|_| !is_store) {
        next.monitors[own] = Some(location);
    }
    let mut written = Vec::new();
    instruction.for_each_reference(&mut |mention, reference| {
        let is_certain = reference.index.as_deref().is_none_or(|index| matches!(index, Expression::Constant(_)));
        if mention == Mention::Written && reference.scope == Scope::Shared {
            // One that is made only sometimes was made if something has changed.
            if is_certain || next.values != state.values {
                written.push(reference.variable);
            }
        }
    });
    for (other, monitor) in next.monitors.iter_mut().enumerate() {
        if other != own && monitor.is_some_and(|location| written.contains(&location)) {
            *monitor = None;
        }
    }
    Some(next)
}

fn apart(program: &Program, values: &[i64]) -> Final {
    let (shared, mut rest) = values.split_at(program.num_of_locations());
    let mut locals = Vec::new();
    for thread in &program.threads {
        let (own, others) = rest.split_at(thread.locals.iter().map(|local| local.initial.len()).sum());
        locals.push(own.to_vec());
        rest = others;
    }
    (shared.to_vec(), locals)
}
