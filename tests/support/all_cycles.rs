//! All critical cycles by trying all sequences of segments, straight from method §6, §7 and §8.
//!
//! Of the library this takes the vertices, the labels with their accesses, and the unsafe pairs; program order,
//! conflicts, open pairs and cycles are computed here in the plainest way.

use seqcon::aeg::{AbstractEventGraph, Profile};
use seqcon::cycles::{Atomicity, ConflictRule, SegmentVerdict};
use seqcon::ids::{InstrId, VertexId};
use seqcon::memory::{Kind, MemoryModel};
use seqcon::safety::{Synchronisation, UnsafePairs};
use std::collections::BTreeSet;

type Relation = Vec<Vec<bool>>;

/// A segment: where the cycle enters a thread and where it leaves it.
pub type Segment = (VertexId, VertexId);

/// A segment, and whether its thread takes part with two accesses: also where both are of one vertex, as an
/// instruction makes that access twice and is torn in between.
type Way = (VertexId, VertexId, bool);

/// A critical cycle with what each of its segments is; it begins with its least thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub segments: Vec<Segment>,
    pub verdicts: Vec<SegmentVerdict>,
}

/// What the definitions say about a program under one memory model.
pub struct Expected {
    pub torn: BTreeSet<InstrId>,
    pub delays: BTreeSet<Segment>,
    pub cumulative_delays: BTreeSet<Segment>,
    /// The critical cycles, those that tear an instruction first.
    pub cycles: Vec<Judged>,
}

/// A question to be answered by brute force.
pub struct Question<'a> {
    pub graph: &'a AbstractEventGraph,
    pub model: &'a MemoryModel,
    pub rule: ConflictRule,
    pub atomicity: Atomicity,
}

/// The moves of one phase, and which of them is what.
struct Moves {
    program: Relation,
    /// Against an instruction's own order, to be found.
    torn: Relation,
    /// Through an instruction that is whole.
    through: Relation,
}

impl Question<'_> {
    /// The answer.
    pub fn answer(&self) -> Expected {
        let nothing = Synchronisation::none();
        let as_is = UnsafePairs::new(self.graph, self.model, &nothing);
        let concurrent = self.concurrent_conflicts(&as_is);
        let conflicts_for = |early: Kind| match self.rule {
            ConflictRule::Reachable => self.reachable_conflicts(),
            ConflictRule::Concurrent => concurrent.clone(),
            // A read that is executed early leaves the others on a memory that SC reaches, unless the model is weaker
            // than PSO.
            ConflictRule::Auto if early == Kind::Read && self.model.keeps_reads() => concurrent.clone(),
            ConflictRule::Auto => self.reachable_conflicts(),
        };
        let conflicts = [conflicts_for(Kind::Read), conflicts_for(Kind::Write)];
        let mut cycles = Vec::new();
        if self.atomicity != Atomicity::Split {
            let moves = Moves {
                program: self.program_order(),
                torn: self.within_instructions(|evaluation| self.can_be_torn(evaluation), true),
                through: self.within_instructions(|evaluation| evaluation.barrier, false),
            };
            let judge = |a: VertexId, b: VertexId| SegmentVerdict {
                torn: moves.torn[a.index()][b.index()],
                ..SegmentVerdict::default()
            };
            cycles = self.critical_cycles(&moves, &conflicts, &judge);
        }
        let torn: BTreeSet<InstrId> =
            findings(&cycles, |verdict| verdict.torn).map(|(a, _)| self.graph.vertex(a).instr).collect();
        let in_place = Synchronisation { locked: torn.clone(), ..nothing };
        let repaired = UnsafePairs::new(self.graph, self.model, &in_place);
        let open = self.open_pairs(&in_place);
        let moves = Moves {
            program: self.program_order(),
            torn: self.none(),
            through: self.within_instructions(|evaluation| in_place.is_barrier(evaluation), false),
        };
        let judge = |a: VertexId, b: VertexId| SegmentVerdict {
            is_unsafe: repaired.contains(a, b),
            cumulative: !self.model.store_atomic && self.kind(a) == Kind::Read && open[a.index()][b.index()],
            torn: false,
        };
        let left = self.critical_cycles(&moves, &conflicts, &judge);
        let delays = findings(&left, |verdict| verdict.is_unsafe).collect();
        let cumulative_delays = findings(&left, |verdict| verdict.cumulative).collect();
        cycles.extend(left);
        Expected { torn, delays, cumulative_delays, cycles }
    }

    fn kind(&self, vertex: VertexId) -> Kind {
        self.graph.vertex(vertex).kind
    }

    fn none(&self) -> Relation {
        vec![vec![false; self.graph.vertices.len()]; self.graph.vertices.len()]
    }

    fn can_be_torn(&self, evaluation: &seqcon::aeg::Evaluation) -> bool {
        let in_scope = self.atomicity == Atomicity::Full || self.graph.instruction(evaluation.instr).update;
        !evaluation.barrier && in_scope
    }

    fn reachable_conflicts(&self) -> Relation {
        let mut conflicts = self.none();
        for (a, first) in self.graph.vertices.iter().enumerate() {
            for (b, second) in self.graph.vertices.iter().enumerate() {
                conflicts[a][b] = first.thread != second.thread
                    && first.location == second.location
                    && [first.kind, second.kind].contains(&Kind::Write);
            }
        }
        conflicts
    }

    /// Of the reachable ones, those of labels enabled together, each with what can be executed before one of its
    /// accesses.
    fn concurrent_conflicts(&self, unsafe_pairs: &UnsafePairs) -> Relation {
        let reachable = self.reachable_conflicts();
        let mut conflicts = self.none();
        let is_sound = self.graph.profile == Profile::Sound;
        let accesses = |label: &seqcon::ids::LabelId| -> Vec<VertexId> {
            let evaluations = &self.graph.evaluations;
            let whole = &self.graph.evaluation(*label).instr;
            let of_instruction = || evaluations.iter().filter(|evaluation| evaluation.instr == *whole);
            // An instruction of several accesses can be in the middle of any of its evaluations.
            let goes_on = is_sound && of_instruction().any(|evaluation| evaluation.events.len() > 1);
            let own: Vec<VertexId> = evaluations
                .iter()
                .enumerate()
                .filter(|(position, e)| *position == label.index() || (goes_on && e.instr == *whole))
                .flat_map(|(_, evaluation)| evaluation.events.iter().map(|event| event.vertex))
                .collect();
            let early = self.graph.vertex_ids().filter(|&b| own.iter().any(|&a| unsafe_pairs.contains(a, b)));
            own.iter().copied().chain(early).collect()
        };
        let mut join = |first: &[VertexId], second: &[VertexId]| {
            for &a in first {
                for &b in second {
                    if reachable[a.index()][b.index()] {
                        conflicts[a.index()][b.index()] = true;
                        conflicts[b.index()][a.index()] = true;
                    }
                }
            }
        };
        for (alpha, beta) in &self.graph.concurrent {
            join(&accesses(alpha), &accesses(beta));
        }
        conflicts
    }

    /// Which label comes after which, over one or more steps; a path neither starts, ends nor passes where `stops`.
    fn later_labels(&self, stops: impl Fn(&seqcon::aeg::Evaluation) -> bool) -> Relation {
        let labels = &self.graph.evaluations;
        let mut later = vec![vec![false; labels.len()]; labels.len()];
        for (from, evaluation) in labels.iter().enumerate() {
            for to in &evaluation.successors {
                later[from][to.index()] = !stops(evaluation) && !stops(self.graph.evaluation(*to));
            }
        }
        for over in 0..labels.len() {
            for from in 0..labels.len() {
                for to in 0..labels.len() {
                    later[from][to] |= later[from][over] && later[over][to];
                }
            }
        }
        later
    }

    /// Pairs of accesses on paths: of a label and a later one, or in the order of one label.
    fn pairs_on_paths(&self, stops: impl Fn(&seqcon::aeg::Evaluation) -> bool) -> Relation {
        let mut pairs = self.none();
        let later = self.later_labels(&stops);
        for (from, first) in self.graph.evaluations.iter().enumerate() {
            for (to, second) in self.graph.evaluations.iter().enumerate() {
                for a in first.events.iter().filter(|_| later[from][to]) {
                    second.events.iter().for_each(|b| pairs[a.vertex.index()][b.vertex.index()] = true);
                }
            }
            for b in first.events.iter().filter(|_| !stops(first)) {
                b.before.iter().for_each(|&a| pairs[first.events[a].vertex.index()][b.vertex.index()] = true);
            }
        }
        pairs
    }

    fn program_order(&self) -> Relation {
        self.pairs_on_paths(|_| false)
    }

    /// Pairs with a path that no barrier interrupts.
    fn open_pairs(&self, in_place: &Synchronisation) -> Relation {
        self.pairs_on_paths(|evaluation| in_place.is_barrier(evaluation))
    }

    /// Pairs of accesses of one label; not those in its own order, if so asked.
    fn within_instructions(&self, wanted: impl Fn(&seqcon::aeg::Evaluation) -> bool, against_order: bool) -> Relation {
        let mut pairs = self.none();
        for evaluation in self.graph.evaluations.iter().filter(|evaluation| wanted(evaluation)) {
            for (from, a) in evaluation.events.iter().enumerate() {
                for (to, b) in evaluation.events.iter().enumerate() {
                    let in_order = b.before.contains(&from);
                    pairs[a.vertex.index()][b.vertex.index()] |= from != to && !(against_order && in_order);
                }
            }
        }
        pairs
    }

    /// All cycles with a finding: `judge` says what a segment is, if the conflicts that count for it make the whole
    /// cycle.
    fn critical_cycles(
        &self,
        moves: &Moves,
        conflicts: &[Relation; 2],
        judge: &dyn Fn(VertexId, VertexId) -> SegmentVerdict,
    ) -> Vec<Judged> {
        let pairs = self.graph.vertex_ids().flat_map(|a| self.graph.vertex_ids().map(move |b| (a, b)));
        let mut segments: Vec<Way> = self.graph.vertex_ids().map(|a| (a, a, false)).collect();
        segments.extend(pairs.map(|(a, b)| (a, b, true)).filter(|&(a, b, _)| {
            let allowed = [&moves.program, &moves.torn, &moves.through];
            let has = |relation: &Relation| relation[a.index()][b.index()];
            if a == b { has(&moves.torn) } else { allowed.into_iter().any(has) }
        }));
        let mut critical = Vec::new();
        let mut visit = |cycle: &[Way]| {
            let edges: Vec<(usize, usize)> = (0..cycle.len())
                .map(|position| (cycle[position].1.index(), cycle[(position + 1) % cycle.len()].0.index()))
                .collect();
            let verdicts: Vec<SegmentVerdict> = cycle
                .iter()
                .map(|&(a, b, moves)| {
                    let counted = &conflicts[usize::from(self.kind(b) == Kind::Write)];
                    let is_one = moves && edges.iter().all(|&(from, to)| counted[from][to]);
                    if is_one { judge(a, b) } else { SegmentVerdict::default() }
                })
                .collect();
            if verdicts.iter().any(|&verdict| verdict != SegmentVerdict::default()) {
                critical.push(Judged { segments: cycle.iter().map(|&(a, b, _)| (a, b)).collect(), verdicts });
            }
        };
        for &first in &segments {
            self.extend(&mut vec![first], &segments, moves, &self.reachable_conflicts(), &mut visit);
        }
        critical
    }

    fn extend(
        &self,
        cycle: &mut Vec<Way>,
        segments: &[Way],
        moves: &Moves,
        conflicts: &Relation,
        visit: &mut dyn FnMut(&[Way]),
    ) {
        let thread = |segment: &Way| self.graph.vertex(segment.0).thread;
        let last = cycle[cycle.len() - 1].1;
        if cycle.len() >= 2 && conflicts[last.index()][cycle[0].0.index()] && self.is_allowed(cycle, moves) {
            visit(cycle);
        }
        for segment in segments {
            // Each cycle once: it begins with its least thread.
            let is_new =
                thread(segment) > thread(&cycle[0]) && cycle.iter().all(|other| thread(other) != thread(segment));
            if is_new && conflicts[last.index()][segment.0.index()] {
                cycle.push(*segment);
                self.extend(cycle, segments, moves, conflicts, visit);
                cycle.pop();
            }
        }
    }

    /// Each location is one run of at most three accesses; there are two locations at least, or an instruction is torn.
    fn is_allowed(&self, cycle: &[Way], moves: &Moves) -> bool {
        let mut locations = Vec::new();
        for &(entry, exit, goes_on) in cycle {
            locations.push(self.graph.vertex(entry).location);
            if goes_on {
                locations.push(self.graph.vertex(exit).location);
            }
        }
        let distinct: BTreeSet<_> = locations.iter().copied().collect();
        let tears = cycle.iter().any(|&(a, b, goes_on)| goes_on && moves.torn[a.index()][b.index()]);
        let before = |position: usize| locations[(position + locations.len() - 1) % locations.len()];
        (distinct.len() >= 2 || tears)
            && distinct.iter().all(|&location| {
                let visits = locations.iter().filter(|&&other| other == location).count();
                let runs = (0..locations.len()).filter(|&i| locations[i] == location && before(i) != location).count();
                visits <= 3 && runs <= 1
            })
    }
}

fn findings(cycles: &[Judged], wanted: impl Fn(&SegmentVerdict) -> bool) -> impl Iterator<Item = Segment> {
    cycles
        .iter()
        .flat_map(|cycle| cycle.segments.iter().zip(&cycle.verdicts))
        .filter(move |(_, verdict)| wanted(verdict))
        .map(|(segment, _)| *segment)
}
