//! Is every execution sequentially consistent? Searched among the beginnings of executions, access by access.
//!
//! *Beginnings.* A beginning of an execution is one of each thread ([`tree`]) with a coherence order and a write for
//! each read ([`graph`]), such that what a read returns is in it. The axioms of the built-in models only forbid more
//! when there is more of the relations, and what a beginning has of these an execution has of which it is one. So an
//! execution has only beginnings that the model allows, and if it is not sequentially consistent it has a beginning
//! that is not. Conversely a beginning that is allowed, in which every thread is between two instructions, is one of an
//! execution: let the threads go on one after the other on the memory that coherence has left; what is read or written
//! last comes after all else in every relation and closes no cycle. So an execution that is not sequentially consistent
//! exists exactly if such a beginning exists, and loops need not end for that.
//!
//! *Search*, breadth first by the number of accesses. Beginnings that sequential consistency allows are extended by one
//! access of one thread in all ways: a read returns any write that is there, or the initial value; a write takes any
//! place in coherence. Only what sequential consistency does not allow is shown to the axioms, and what these allow is
//! a violation, as small as any. If a thread is still within an instruction, the condition of which may not come to
//! hold, the search goes on until it is not. The order of the accesses does not matter: of beginnings that are equal
//! one is kept. So there is as much to do as there are beginnings under sequential consistency, however weak the model.
//!
//! *Load buffering.* Where program order and reads-from have a cycle, no order of the accesses has the writes first.
//! Some reads are then left unbound, with any value that another thread may write ([`values`]), and bound when the
//! write comes; only reads with a later write that the model does not keep behind them need be ([`unbound`]). What is
//! on such a cycle together can be added together, behind all that comes before and is not: as long as a read is
//! unbound, whatever is added comes after an unbound read, by the order of the threads and reads-from. And as nobody
//! sees a read, one is left unbound just before the next write of its thread. All this is done in a second search, if
//! the first one, without it, has found nothing.
//!
//! *Loops.* No instruction is taken more than so many times. Where one would be, the thread stops there;
//! [`Found::Consistent`] says so, and then the answer is for all executions that go round less often.
//!
//! *Limits.* The time is the number of beginnings under sequential consistency, times what the axioms take for those
//! next to them. Load and store exclusive are not handled (whether a store fails depends on what comes later), nor
//! texts of users, which may say anything: for these [`applies`] is false.

mod graph;
mod tree;
mod unbound;
mod values;

use super::access::AccessKind;
use super::execution::{Strand, accesses, structure};
use super::trace::{Offers, TracedThread};
use super::{Failure, Model};
use crate::budget::Budget;
use crate::ids::{LocationAt, ThreadAt};
use crate::memory::Known;
use crate::memory::cat::evaluate::Prepared;
use crate::ordering::Marks;
use crate::program::compiled::Compiled;
use crate::program::{At, Program};
use crate::weak::visited::LimitReached;
use graph::{Frame, Graph, INITIAL, UNBOUND, source};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use tree::{Deed, NodeAt, Tree};
use unbound::{Kept, Status};

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Every execution is sequentially consistent.
    Consistent {
        /// Whether that is all of them; else those that take no instruction more often than was looked at.
        is_complete: bool,
        /// How many beginnings there are.
        beginnings: u64,
    },
    /// One is not.
    Violated(Beginning),
    /// A limit was reached.
    Stopped(LimitReached),
}

/// The beginning of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// Its accesses; each thread's in its order, and writes before the reads that return them as far as possible.
    pub accesses: Vec<Shown>,
    /// Positions of accesses: each comes before the next one, and the last before the first, by program order or by
    /// communication.
    pub cycle: Vec<usize>,
}

/// An access of a beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Which instruction makes it.
    pub at: At,
    /// Read or write.
    pub kind: AccessKind,
    /// Its location.
    pub location: LocationAt,
    /// The value.
    pub value: i64,
}

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How often an instruction is taken at most.
    pub rounds: usize,
    /// The most beginnings.
    pub beginnings: usize,
}

/// Whether the search is right for this program under this model.
#[must_use]
pub fn applies(program: &Program, model: &Model) -> bool {
    let is_exclusive = |marks: Marks| marks.has(Marks::EXCLUSIVE);
    Known::ALL.into_iter().filter_map(Model::known).any(|known| known == *model)
        && !program.instructions_at().any(|(_, instruction)| is_exclusive(instruction.kind.marks()))
}

/// Looks for an execution that is not sequentially consistent.
///
/// # Errors
/// If an execution goes wrong, or the program cannot be compiled.
pub fn search(program: &Program, model: &Model, bounds: Bounds, budget: &Budget) -> Result<Found, Failure> {
    let compiled = Compiled::new(program).map_err(|error| Failure::TooManyIndices { span: error.span })?;
    let source = |(position, thread)| TracedThread {
        compiled: &compiled,
        thread,
        position,
        num_of_locations: program.num_of_locations(),
        unroll: bounds.rounds,
    };
    let sources: Vec<TracedThread<'_>> = program.threads_at().map(source).collect();
    let mut kept = Kept::new(model);
    let keeps_all = kept.behind(Marks::NONE);
    let mut search = Search {
        program,
        model,
        sources: &sources,
        trees: sources.iter().map(Tree::new).collect(),
        kept,
        offers: Vec::new(),
        bounds,
        budget,
        beginnings: 0,
        is_cut_off: false,
    };
    let found = search.run()?;
    if keeps_all || !matches!(found, Found::Consistent { .. }) {
        return Ok(found);
    }
    match values::of_others_in(&sources, bounds.beginnings, budget) {
        Ok(offers) => search.offers = offers,
        Err(limit) => return Ok(Found::Stopped(limit)),
    }
    search.beginnings = 0;
    search.run()
}

/// For some beginnings of the threads, how they communicate.
type Level = BTreeMap<Box<[NodeAt]>, FxHashSet<Graph>>;

/// Why a search ends.
enum End {
    Violated(Beginning),
    Stopped(LimitReached),
    Failed(Failure),
}

struct Search<'a> {
    program: &'a Program,
    model: &'a Model,
    sources: &'a [TracedThread<'a>],
    trees: Vec<Tree<'a>>,
    kept: Kept<'a>,
    /// For each thread, what reads return that are left unbound; none are as long as there is nothing.
    offers: Vec<Offers>,
    bounds: Bounds,
    budget: &'a Budget,
    beginnings: u64,
    is_cut_off: bool,
}

/// Beginnings of the threads, for which communication is judged.
struct Judged<'a> {
    key: Box<[NodeAt]>,
    frame: Frame,
    /// The axioms, once they are asked, and the number of events.
    prepared: Option<(Prepared<'a>, usize)>,
    /// For each access, how it is as an unbound read, once that is asked.
    status: Vec<Option<Status>>,
}

impl<'a> Search<'a> {
    fn run(&mut self) -> Result<Found, Failure> {
        let start = vec![0; self.sources.len()].into_boxed_slice();
        let mut level = Level::from([(start, FxHashSet::from_iter([Graph::default()]))]);
        while !level.is_empty() {
            match self.keep(level).and_then(|kept| self.extend(&kept).map_err(End::Stopped)) {
                Ok(next) => level = next,
                Err(End::Violated(beginning)) => return Ok(Found::Violated(beginning)),
                Err(End::Stopped(limit)) => return Ok(Found::Stopped(limit)),
                Err(End::Failed(failure)) => return Err(failure),
            }
        }
        Ok(Found::Consistent { is_complete: !self.is_cut_off, beginnings: self.beginnings })
    }

    fn judged(&self, key: Box<[NodeAt]>) -> Judged<'a> {
        let frame = Frame::new(&self.nodes(&key));
        let status = vec![None; frame.cells.len()];
        Judged { key, frame, prepared: None, status }
    }

    fn nodes(&self, key: &[NodeAt]) -> Vec<&tree::Node> {
        self.trees.iter().zip(key).map(|(tree, node)| tree.node(*node)).collect()
    }

    /// Those that the model allows and that may lead to a violation.
    fn keep(&mut self, level: Level) -> Result<Level, End> {
        let mut kept = Level::new();
        for (key, graphs) in level {
            let mut judged = self.judged(key);
            let mut good = FxHashSet::default();
            for graph in graphs {
                self.budget.check().map_err(|limit| End::Stopped(LimitReached::Budget(limit)))?;
                if self.is_kept(&mut judged, &graph)? {
                    good.insert(graph);
                }
            }
            if !good.is_empty() {
                self.is_cut_off |= self.nodes(&judged.key).iter().any(|node| node.is_cut_off);
                kept.insert(judged.key, good);
            }
        }
        Ok(kept)
    }

    /// Whether the model allows it, and it may lead to a violation.
    fn is_kept(&mut self, judged: &mut Judged<'a>, graph: &Graph) -> Result<bool, End> {
        let unbound: Vec<usize> = judged.frame.unbound(graph).collect();
        let is_settled = unbound.iter().any(|read| self.status(judged, *read) == Status::Settled);
        if is_settled || !judged.frame.is_coherent(graph) {
            return Ok(false);
        }
        let is_sequential = judged.frame.is_sequential(graph);
        if !is_sequential && !self.is_allowed(judged, graph).map_err(End::Failed)? {
            return Ok(false);
        }
        if unbound.is_empty() && self.nodes(&judged.key).iter().all(|node| node.is_whole) {
            if !is_sequential {
                return Err(End::Violated(self.shown(judged, graph)));
            }
            self.refuse_faults(&judged.key).map_err(End::Failed)?;
        }
        if self.beginnings == self.bounds.beginnings as u64 {
            return Err(End::Stopped(LimitReached::States));
        }
        self.beginnings += 1;
        Ok(true)
    }

    /// How an unbound read is.
    fn status(&mut self, judged: &mut Judged<'a>, read: usize) -> Status {
        let Judged { key, frame, status, .. } = judged;
        let cell = frame.cells[read];
        let node = self.trees[cell.thread].node(key[cell.thread]);
        *status[read].get_or_insert_with(|| self.kept.status(node, cell.position))
    }

    fn is_allowed(&self, judged: &mut Judged<'a>, graph: &Graph) -> Result<bool, Failure> {
        if judged.prepared.is_none() {
            let nodes = self.nodes(&judged.key);
            let strands: Vec<Strand<'_>> = nodes.iter().map(|node| node.strand()).collect();
            let structure = structure(&strands, &accesses(&strands), false);
            let prepared = Prepared::new(self.model.axioms(), &structure, true)
                .map_err(|refusal| Failure::Refused { model: self.model.name().to_owned(), refusal })?;
            judged.prepared = Some((prepared, structure.size()));
        }
        let Some((prepared, size)) = &mut judged.prepared else { return Ok(true) };
        Ok(prepared.allows(&judged.frame.communication(graph, *size)))
    }

    /// Whether some thread's next instruction goes wrong.
    fn refuse_faults(&self, key: &[NodeAt]) -> Result<(), Failure> {
        for (thread, node) in ThreadAt::all(key.len()).zip(self.nodes(key)) {
            if let Some((fault, instruction)) = node.fault {
                return Err(Failure::of(self.program, At { thread, instruction }, fault));
            }
        }
        Ok(())
    }

    fn shown(&self, judged: &Judged<'a>, graph: &Graph) -> Beginning {
        let (frame, nodes) = (&judged.frame, self.nodes(&judged.key));
        let order = frame.in_order(graph);
        let shown = |event: &usize| {
            let cell = frame.cells[*event];
            let instruction = nodes[cell.thread].accesses[cell.position].instruction;
            let at = At { thread: ThreadAt::new(cell.thread), instruction };
            Shown { at, kind: cell.kind, location: cell.location, value: cell.value }
        };
        let place = |event: &usize| order.iter().position(|other| other == event);
        let cycle = frame.cycle(graph).iter().filter_map(place).collect();
        Beginning { accesses: order.iter().map(shown).collect(), cycle }
    }

    /// With one access more, in all ways.
    fn extend(&mut self, level: &Level) -> Result<Level, LimitReached> {
        let mut next = Level::new();
        for (key, graphs) in level {
            let mut judged = self.judged(key.clone());
            for graph in graphs {
                self.budget.check().map_err(LimitReached::Budget)?;
                let open = self.open(&mut judged, graph);
                for thread in (0..key.len()).filter(|thread| open.only.is_none_or(|only| only == *thread)) {
                    for number in 0..self.trees[thread].node(key[thread]).moves.len() {
                        self.extend_by(&judged, graph, (thread, number), &open, &mut next);
                    }
                }
            }
        }
        Ok(next)
    }

    fn open(&mut self, judged: &mut Judged<'a>, graph: &Graph) -> Open {
        let unbound: Vec<usize> = judged.frame.unbound(graph).collect();
        if unbound.is_empty() {
            return Open::default();
        }
        let fresh = unbound.iter().find(|read| self.status(judged, **read) == Status::Fresh);
        let only = fresh.map(|read| judged.frame.cells[*read].thread);
        let loose = unbound.iter().copied().filter(|read| self.status(judged, *read) == Status::Loose).collect();
        Open { only, loose, tainted: Some(judged.frame.tainted(graph)) }
    }

    /// With a thread's next access, if this is its move.
    fn extend_by(
        &mut self,
        judged: &Judged<'a>,
        graph: &Graph,
        (thread, number): (usize, usize),
        open: &Open,
        next: &mut Level,
    ) {
        let (key, frame) = (&judged.key, &judged.frame);
        let (offers, tree) = (self.offers.get(thread), &mut self.trees[thread]);
        let deed = tree.node(key[thread]).moves[number].deed;
        let mut add = |value: i64, longer: &mut dyn FnMut() -> Vec<Graph>| {
            if let Some(child) = tree.child(key[thread], number, value) {
                let mut key = key.clone();
                key[thread] = child;
                next.entry(key).or_default().extend(longer());
            }
        };
        let may_come = frame.last(thread).map_or(open.tainted.is_none(), |last| open.lets_come_behind(last));
        match deed {
            Deed::Read(location) => {
                if may_come {
                    let initial = self.sources[thread].compiled.initial[location.index()];
                    add(initial, &mut || vec![frame.with_read(graph, thread, INITIAL)]);
                }
                for write in frame.writes(graph, location) {
                    if may_come || open.lets_come_behind(write) {
                        let cell = frame.cells[write];
                        let number = source(cell.thread, cell.position);
                        add(cell.value, &mut || vec![frame.with_read(graph, thread, number)]);
                    }
                }
                for value in offers.into_iter().flat_map(|offers| &offers[location.index()]) {
                    add(*value, &mut || vec![frame.with_read(graph, thread, UNBOUND)]);
                }
            }
            Deed::Write(location, value) if may_come => {
                let places = frame.writes(graph, location).len() as u32;
                let may_read = |read: &usize| {
                    let cell = frame.cells[*read];
                    cell.thread != thread && cell.location == location && cell.value == value
                };
                let readers: Vec<usize> = open.loose.iter().copied().filter(may_read).collect();
                add(value, &mut || {
                    let ways = (0..=places).flat_map(|place| subsets(&readers).map(move |readers| (place, readers)));
                    ways.map(|(place, readers)| frame.with_write(graph, (thread, location), place, &readers)).collect()
                });
            }
            Deed::Write(..) => {}
        }
    }
}

/// What comes of the reads of a graph that are unbound.
#[derive(Default)]
struct Open {
    /// The thread that comes first, because it has left a read unbound and no write has come behind it.
    only: Option<usize>,
    /// Those that may be bound.
    loose: Vec<usize>,
    /// The accesses that come after one of them, if there are some.
    tainted: Option<Vec<bool>>,
}

impl Open {
    /// Whether what comes after this access may be added now.
    fn lets_come_behind(&self, access: usize) -> bool {
        self.tainted.as_ref().is_none_or(|tainted| tainted[access])
    }
}

fn subsets(of: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..1_usize << of.len()).map(|chosen| {
        let is_in = |position: &usize| chosen >> position & 1 == 1;
        (0..of.len()).filter(is_in).map(|position| of[position]).collect()
    })
}
