//! What a program does on weak memory, by axioms: all its executions are enumerated, and those that a memory model
//! allows are kept.
//!
//! An execution is a trace for each thread ([`trace`]: accesses with program order, dependencies and fences), and for
//! each location an order of the writes and a write for each read ([`coherence`]). A memory model is a set of axioms
//! on that, a text in the language cat ([`models`]). The way of a program:
//!
//! 1. *Traces.* Which values a read may return depends on what others write, and that on what they read: start with
//!    the initial values and repeat until no new value comes up. The models forbid values out of thin air: a write
//!    depends on earlier ones only, so every value of an execution is found after as many rounds as it has writes.
//! 2. *Combinations* of a trace for each thread; one in which a read has a value that nobody writes is dropped as
//!    soon as that is certain.
//! 3. *Communication*, location by location: the ways that SC-per-location allows (all ways, for a model that does not
//!    say it), each checked as soon as it is chosen against the axioms that only forbid more when more is known, and
//!    against the others when all is.
//! 4. *Ends.* The last write to each location gives the final state; a thread that is left waiting must have no
//!    condition that holds there.
//!
//! Exponential in the number of reads and writes: meant for litmus tests and for small programs that check the
//! analysis. No instruction is taken more than `unroll` times, and [`Outcomes::complete`] is false if a trace was cut
//! off for that, or if the [`Budget`] of [`outcomes_within`] was exhausted: then what was found is there, and what
//! was not found may be.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use seqcon::weak::axiomatic::{Model, outcomes};
//!
//! let store_buffering = "model sb { classes C { variables Integer x := 0 Integer y := 0
//!     state machines a { variables Integer r := 0 initial A states B C transitions A -> B { x := 1 } B -> C { r := y } }
//!                    b { variables Integer r := 0 initial A states B C transitions A -> B { y := 1 } B -> C { r := x } } }
//!     objects o : C() }";
//! let program = seqcon::lang::parse("sb.slco", store_buffering)?.program;
//! let tso = Model::named("tso").ok_or("built in")?;
//! assert_eq!(outcomes(&program, &Model::sc(), 1)?.ends.len(), 3);
//! assert_eq!(outcomes(&program, &tso, 1)?.ends.len(), 4);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod access;
pub mod beginnings;
mod choices;
pub mod coherence;
mod combine;
pub mod execution;
pub mod litmus;
pub mod models;
pub mod probe;
pub mod trace;

pub use models::Model;

use crate::budget::{Budget, Exhausted};
use crate::ids::{ControlAt, ThreadAt};
use crate::memory::cat::Refusal;
use crate::program::compiled::{Compiled, Fault};
use crate::program::{At, Program, Span};
use combine::Combiner;
use std::collections::BTreeSet;
use trace::{Offers, TracedThread, Traces};

/// Where an execution ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End {
    /// The values of the shared variables, element by element, in the order of the program.
    pub shared: Vec<i64>,
    /// For each thread, the values of its locals, element by element.
    pub locals: Vec<Vec<i64>>,
    /// For each thread, its control state.
    pub controls: Vec<ControlAt>,
}

/// What a program can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcomes {
    /// Where its executions end.
    pub ends: BTreeSet<End>,
    /// Whether these are all: false if a loop may go round more often than it was unrolled, or a limit was reached.
    pub complete: bool,
    /// The limit that was reached, if one was.
    pub stopped: Option<Exhausted>,
    /// How many executions the model allows.
    pub executions: u64,
    /// The flags of the model that some allowed execution raises: `racy` of RC11 says that the program has no meaning.
    pub flags: BTreeSet<String>,
}

/// Why a program has no outcomes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Some execution goes wrong.
    #[error("{} in {thread}.{instruction}", fault.kind)]
    Fault {
        /// How.
        fault: Fault,
        /// The thread's name.
        thread: String,
        /// The instruction's name.
        instruction: String,
        /// Where the instruction stands.
        span: Span,
    },
    /// The computed indices of an instruction have too many combinations.
    #[error("this instruction computes too many indices; split it")]
    TooManyIndices {
        /// The instruction.
        span: Span,
    },
    /// The model does not say what an instruction does.
    #[error("the memory model {model} cannot judge this: {refusal}")]
    Refused {
        /// The model.
        model: String,
        /// Of what it says nothing.
        refusal: Refusal,
    },
}

impl Failure {
    fn of(program: &Program, at: At, fault: Fault) -> Failure {
        let instruction = program.instruction(at);
        Failure::Fault {
            fault,
            thread: program.thread(at.thread).name.clone(),
            instruction: instruction.name.clone(),
            span: instruction.span,
        }
    }
}

/// All ends of all executions of a program that the model allows, with no instruction taken more than `unroll` times
/// in one execution.
///
/// # Errors
/// If an allowed execution goes wrong, or the program cannot be compiled.
#[cfg(feature = "internals")]
pub fn outcomes(program: &Program, model: &Model, unroll: usize) -> Result<Outcomes, Failure> {
    outcomes_within(program, model, unroll, &Budget::default())
}

/// The same, as far as the budget goes.
///
/// # Errors
/// If an allowed execution goes wrong, or the program cannot be compiled.
pub fn outcomes_within(program: &Program, model: &Model, unroll: usize, budget: &Budget) -> Result<Outcomes, Failure> {
    let compiled = Compiled::new(program).map_err(|error| Failure::TooManyIndices { span: error.span })?;
    budget.enter("enumerating executions");
    let traces = all_traces(program, &compiled, model.axioms().is_coherent(), unroll, budget);
    let complete = traces.iter().all(|traces| !traces.cut_off);
    let found = Combiner::new(program, &compiled, model, &traces, budget).combine()?;
    let stopped = budget.exhausted();
    Ok(Outcomes {
        ends: found.ends,
        complete: complete && stopped.is_none(),
        executions: found.executions,
        stopped,
        flags: found.flags,
    })
}

/// The traces of all threads, with all values that their reads can have; fewer if the budget is exhausted.
fn all_traces(
    program: &Program,
    compiled: &Compiled,
    is_coherent: bool,
    unroll: usize,
    budget: &Budget,
) -> Vec<Traces> {
    let num_of_locations = program.num_of_locations();
    let source = |(position, thread)| TracedThread { compiled, thread, position, num_of_locations, unroll };
    let sources: Vec<TracedThread<'_>> = program.threads_at().map(source).collect();
    // For each thread, what it may write.
    let mut written: Vec<Offers> = vec![vec![BTreeSet::new(); num_of_locations]; sources.len()];
    // As long as a value is missing, there are more writes on the way to it than rounds.
    for round in 0.. {
        let offers =
            |thread| if is_coherent { offers_of_others(&written, thread) } else { all_offers(&written, compiled) };
        let traces: Vec<Traces> =
            sources.iter().map(|source| source.traces(&offers(source.position), budget)).collect();
        let now: Vec<Offers> = traces.iter().map(|traces| writes_of(traces, num_of_locations)).collect();
        let most_writes: usize = traces.iter().map(|traces| traces.most_writes).sum();
        if now == written || round > most_writes || budget.is_over() {
            return traces;
        }
        written = now;
    }
    unreachable!("traces have finitely many writes")
}

fn offers_of_others(written: &[Offers], thread: ThreadAt) -> Offers {
    let mut offers: Offers = vec![BTreeSet::new(); written[thread.index()].len()];
    for (_, others) in written.iter().enumerate().filter(|(other, _)| *other != thread.index()) {
        offers.iter_mut().zip(others).for_each(|(offer, values)| offer.extend(values));
    }
    offers
}

/// What a thread may read if its own program order means nothing, even at one location.
fn all_offers(written: &[Offers], compiled: &Compiled) -> Offers {
    let locations = written.first().map_or(0, Vec::len);
    let initial = compiled.initial[..locations].iter();
    let mut offers: Offers = initial.map(|value| BTreeSet::from([*value])).collect();
    for of_thread in written {
        offers.iter_mut().zip(of_thread).for_each(|(offer, values)| offer.extend(values));
    }
    offers
}

fn writes_of(traces: &Traces, num_of_locations: usize) -> Offers {
    let mut written: Offers = vec![BTreeSet::new(); num_of_locations];
    for access in traces.traces.iter().flat_map(|trace| &trace.accesses) {
        if access.kind == access::AccessKind::Write {
            written[access.location.index()].insert(access.value);
        }
    }
    written
}
