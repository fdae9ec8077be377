//! Puts the traces of the threads together, lets them communicate, and keeps what the model allows.

use super::access::AccessKind;
use super::coherence::{Location, LocationAccess, Way};
use super::execution::{Communication, Strand, ThreadAccess, accesses, is_before, structure};
use super::models::Model;
use super::trace::{Stop, Trace, Traces};
use super::{End, Failure};
use crate::budget::Budget;
use crate::ids::{LocationAt, ThreadAt};
use crate::memory::cat::evaluate::Prepared;
use crate::program::compiled::{Compiled, Fault, Trace as Evaluation};
use crate::program::{At, Program};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What was found.
#[derive(Default)]
pub struct Found {
    pub ends: BTreeSet<End>,
    pub executions: u64,
    pub flags: BTreeSet<String>,
}

/// The search over combinations of traces.
pub struct Combiner<'a> {
    program: &'a Program,
    compiled: &'a Compiled,
    model: &'a Model,
    traces: &'a [Traces],
    /// For each thread and trace, the pairs of location and value that another thread must write for it, and those
    /// that it writes.
    exchanges: Vec<Vec<Exchange>>,
    /// For each thread, all that it and the threads after it may write.
    possible: Vec<FixedBitSet>,
    budget: &'a Budget,
    found: Found,
}

struct Exchange {
    needs: FixedBitSet,
    writes: FixedBitSet,
}

impl<'a> Combiner<'a> {
    pub fn new(
        program: &'a Program,
        compiled: &'a Compiled,
        model: &'a Model,
        traces: &'a [Traces],
        budget: &'a Budget,
    ) -> Combiner<'a> {
        let mut numbers = FxHashMap::default();
        let is_coherent = model.axioms().is_coherent();
        let mut exchange = |trace| exchange(trace, compiled, is_coherent, &mut numbers);
        let exchanges: Vec<Vec<Exchange>> =
            traces.iter().map(|traces| traces.traces.iter().map(&mut exchange).collect()).collect();
        let mut possible = vec![FixedBitSet::new(); traces.len() + 1];
        for thread in (0..traces.len()).rev() {
            let mut all = possible[thread + 1].clone();
            exchanges[thread].iter().for_each(|exchange| {
                all.grow(exchange.writes.len());
                all.union_with(&exchange.writes);
            });
            possible[thread] = all;
        }
        Combiner { program, compiled, model, traces, exchanges, possible, budget, found: Found::default() }
    }

    /// All executions; if the budget is exhausted, those that were found until then.
    pub fn combine(mut self) -> Result<Found, Failure> {
        self.choose(&mut Vec::new())?;
        Ok(self.found)
    }

    /// Chooses a trace for each thread, as numbers.
    fn choose(&mut self, chosen: &mut Vec<usize>) -> Result<(), Failure> {
        let thread = chosen.len();
        if thread == self.traces.len() {
            return self.communicate(chosen);
        }
        for number in 0..self.traces[thread].traces.len() {
            if self.budget.is_over() {
                break;
            }
            chosen.push(number);
            if self.needs_can_be_met(chosen) {
                self.choose(chosen)?;
            }
            chosen.pop();
        }
        Ok(())
    }

    /// Whether every value that a read has can come from another chosen trace, or from a thread whose trace is not
    /// chosen yet.
    fn needs_can_be_met(&self, chosen: &[usize]) -> bool {
        let exchange = |thread: usize| &self.exchanges[thread][chosen[thread]];
        let later = &self.possible[chosen.len()];
        (0..chosen.len()).all(|thread| {
            exchange(thread).needs.ones().all(|need| {
                later.contains(need)
                    || (0..chosen.len()).any(|other| other != thread && exchange(other).writes.contains(need))
            })
        })
    }

    fn communicate(&mut self, chosen: &[usize]) -> Result<(), Failure> {
        let traces: Vec<&Trace> =
            chosen.iter().enumerate().map(|(thread, &number)| &self.traces[thread].traces[number]).collect();
        let strands: Vec<Strand<'_>> = traces.iter().map(|trace| trace.strand()).collect();
        let accesses = accesses(&strands);
        let model = self.model;
        let axioms = model.axioms();
        let fences: usize = traces.iter().map(|trace| trace.fences.len()).sum();
        let first_initial = axioms.has_initial_writes().then_some(accesses.len() + fences);
        let Some(ways) = self.ways(&accesses, first_initial) else { return Ok(()) };
        let structure = structure(&strands, &accesses, axioms.has_initial_writes());
        let prepared = Prepared::new(axioms, &structure, axioms.is_coherent())
            .map_err(|refusal| Failure::Refused { model: model.name().to_owned(), refusal })?;
        let mut search = Combining {
            prepared,
            has_flags: axioms.has_flags(),
            combiner: self,
            traces: &traces,
            ways: &ways,
            chosen: Vec::new(),
        };
        search.choose(&Communication::none(structure.size()))
    }

    /// For each location that is accessed, the ways in which its accesses can communicate, those with the fewest ways
    /// first; nothing if one has none. The initial writes, if they are events, are in the order of the locations.
    fn ways(&self, accesses: &[ThreadAccess<'_>], first_initial: Option<usize>) -> Option<Vec<(LocationAt, Vec<Way>)>> {
        let locations: BTreeSet<LocationAt> = accesses.iter().map(|of| of.access.location).collect();
        let is_coherent = self.model.axioms().is_coherent();
        let mut ways = Vec::new();
        for (number, location) in locations.into_iter().enumerate() {
            let here = accesses.iter().enumerate().filter(|(_, of)| of.access.location == location);
            let here = here.map(|(number, ThreadAccess { access, .. })| LocationAccess {
                event: number,
                kind: access.kind,
                value: access.value,
            });
            let found = Location {
                initial: self.compiled.initial[location.index()],
                initial_write: first_initial.map(|first| first + number),
                accesses: here.collect(),
                is_before: &|first, second| is_coherent && is_before(&accesses[first], &accesses[second]),
            }
            .ways(self.budget);
            if found.is_empty() {
                return None;
            }
            ways.push((location, found));
        }
        ways.sort_by_key(|(_, ways)| ways.len());
        Some(ways)
    }

    /// Takes note of an allowed execution.
    fn end(&mut self, traces: &[&Trace], last: impl Iterator<Item = (LocationAt, i64)>) -> Result<(), Failure> {
        let shared = self.program.num_of_locations();
        let mut values = self.compiled.initial.clone();
        last.for_each(|(location, value)| values[location.index()] = value);
        let mut locals = Vec::new();
        let mut next = shared;
        for (thread, trace) in self.program.threads.iter().zip(traces) {
            let length: usize = thread.locals.iter().map(|variable| variable.initial.len()).sum();
            values[next..next + length].copy_from_slice(&trace.values[next..next + length]);
            locals.push(values[next..next + length].to_vec());
            next += length;
        }
        for (thread, trace) in ThreadAt::all(traces.len()).zip(traces) {
            if trace.waits() {
                for step in self.compiled.thread(thread).steps_from(trace.control) {
                    let holds = step
                        .is_enabled(&values, &mut Evaluation::default())
                        .map_err(|fault| self.failure(At { thread, instruction: step.instruction }, fault))?;
                    if holds {
                        return Ok(());
                    }
                }
            }
        }
        for (thread, trace) in ThreadAt::all(traces.len()).zip(traces) {
            if let Stop::Faulty { fault, instruction } = trace.stop {
                return Err(self.failure(At { thread, instruction }, fault));
            }
        }
        self.found.executions += 1;
        values.truncate(shared);
        let controls = traces.iter().map(|trace| trace.control).collect();
        self.found.ends.insert(End { shared: values, locals, controls });
        Ok(())
    }

    fn failure(&self, at: At, fault: Fault) -> Failure {
        Failure::of(self.program, at, fault)
    }
}

fn exchange(
    trace: &Trace,
    compiled: &Compiled,
    is_coherent: bool,
    numbers: &mut FxHashMap<(LocationAt, i64), usize>,
) -> Exchange {
    let mut number = |location: LocationAt, value: i64| {
        let next = numbers.len();
        *numbers.entry((location, value)).or_insert(next)
    };
    let mut exchange = Exchange { needs: FixedBitSet::new(), writes: FixedBitSet::new() };
    // What the thread itself wrote last. A read of another value needs another thread; one of the same value may be
    // its own.
    let mut own: FxHashMap<LocationAt, i64> = FxHashMap::default();
    for access in &trace.accesses {
        match access.kind {
            AccessKind::Read => {
                let nearest = own.get(&access.location).copied().unwrap_or(compiled.initial[access.location.index()]);
                if nearest != access.value {
                    exchange.needs.grow_and_insert(number(access.location, access.value));
                }
            }
            AccessKind::Write => {
                own.insert(access.location, access.value);
                exchange.writes.grow_and_insert(number(access.location, access.value));
            }
        }
    }
    if !is_coherent {
        // Then it may read any of its own writes, and the initial value after them.
        exchange.needs.difference_with(&exchange.writes);
        for access in trace.accesses.iter().filter(|access| access.kind == AccessKind::Read) {
            let number = number(access.location, access.value);
            if compiled.initial[access.location.index()] == access.value && exchange.needs.contains(number) {
                exchange.needs.set(number, false);
            }
        }
    }
    exchange
}

/// The search over communication, for a combination of traces.
struct Combining<'s, 'a> {
    combiner: &'s mut Combiner<'a>,
    traces: &'s [&'s Trace],
    prepared: Prepared<'s>,
    has_flags: bool,
    ways: &'s [(LocationAt, Vec<Way>)],
    chosen: Vec<usize>,
}

impl Combining<'_, '_> {
    fn choose(&mut self, communication: &Communication) -> Result<(), Failure> {
        let depth = self.chosen.len();
        let Some((_, ways)) = self.ways.get(depth) else {
            if depth == 0 && !self.prepared.allows(communication) {
                return Ok(());
            }
            if self.has_flags {
                let raised = self.prepared.flags();
                self.combiner.found.flags.extend(raised.into_iter().map(str::to_owned));
            }
            let last = self.ways.iter().zip(&self.chosen).map(|((location, ways), &way)| (*location, ways[way].last));
            return self.combiner.end(self.traces, last);
        };
        let is_last = depth + 1 == self.ways.len();
        for (number, way) in ways.iter().enumerate() {
            if self.combiner.budget.is_over() {
                break;
            }
            let mut longer = communication.clone();
            way.add_to(&mut longer);
            let goes_on = match (is_last, ways.len()) {
                (true, _) => self.prepared.allows(&longer),
                // What has only one way is checked with the next location that has several.
                (false, 1) => true,
                (false, _) => !self.prepared.is_forbidden_already(&longer),
            };
            if goes_on {
                self.chosen.push(number);
                self.choose(&longer)?;
                self.chosen.pop();
            }
        }
        Ok(())
    }
}
