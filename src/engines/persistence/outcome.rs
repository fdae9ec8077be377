//! The findings in the terms of the reports: delays with their cycles, fences, a second look.
//!
//! The pattern is a cycle: the pivot's write of y is before its read of x in program order, that read is before the
//! fringe's write of x, as it sees the value from before, and that write is stored before the write of y. So a
//! pattern is a [`Delay`] from the write to the read, and its witness a [`Cycle`] of two threads whose last edge is
//! the store order.

use super::Checked;
use super::hitting::{Cuts, Paths, minimal_sets, minimum};
use super::local::{Node, Pattern, Patterns};
use super::machine::{Machine, Role};
use super::needed::num_of_fences;
use super::record::{Fringe, Seen};
use super::run::witness;
use super::values::written;
use crate::aeg::Conflicts;
use crate::analysis::{Abstraction, Analysis, Confirmation, Fence, ModelOutcome, Options, Recheck};
use crate::cycles::{Cycle, CycleList, Delay, Findings, JudgedCycle, Listing, Segment, Verdict};
use crate::engines::{Evidence, Run};
use crate::explore::Stop;
use crate::facts::{Facts, Follows};
use crate::ids::{InstrAt, InstrId, LabelId, LocationAt, ThreadAt, VertexId};
use crate::lts::label::{Access, Label, LabelKind, Step};
use crate::memory::{FenceStrength, Kind, MemoryModel};
use crate::outline::{Place, Site};
use crate::placement::exact::unreadability;
use crate::placement::{MinimalSets, Minimality, Placement};
use crate::program::{At, InstructionKind, Program};
use crate::safety::Synchronisation;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;
use std::time::Instant;

/// A pair that the pattern makes, with one occurrence of it.
struct Pair<'c> {
    delay: Delay,
    pattern: &'c Pattern,
    /// The instruction that reads, and the location.
    read: (InstrAt, LocationAt),
    fringe: Fringe,
}

impl Pair<'_> {
    /// Whether some run of the program has it.
    fn is_certain(&self) -> bool {
        self.pattern.is_exact && self.fringe.is_certain()
    }
}

impl Evidence for Checked {
    fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    fn holds(&self, _: &MemoryModel) -> bool {
        self.patterns.is_empty()
    }

    fn abstraction(&self) -> Option<Abstraction> {
        self.abstraction
    }

    fn out_of_range(&self) -> u64 {
        self.parts.iter().map(|part| part.exploration.out_of_range).sum()
    }

    fn insert_fences(&self, model: &MemoryModel, options: &Options) -> ModelOutcome {
        let started = Instant::now();
        let budget = &self.analysis.graph.budget;
        let pairs = self.pairs();
        let delays: Vec<Delay> = pairs.iter().map(|pair| pair.delay.clone()).collect();
        let names = Names::new(self);
        let mut sites: BTreeMap<Site, FenceStrength> = BTreeMap::new();
        let mut prices: BTreeMap<Site, u64> = BTreeMap::new();
        let mut served: BTreeMap<Site, Vec<usize>> = BTreeMap::new();
        let mut recheck = Recheck { done: true, enough: true, each_needed: true };
        for thread in ThreadAt::all(self.program.threads.len()) {
            let paths = Paths::of(&self.patterns, thread, &names.machine);
            let cost = |site: Site| options.costs.of(site, FenceStrength::Plain);
            let readability = |site: Site| unreadability(&self.analysis.graph, site);
            let fences = if paths.patterns.is_empty() {
                Cuts::new()
            } else {
                let chosen = minimum(&paths, [&cost, &readability], budget);
                recheck.enough &= !is_open(&paths, &chosen);
                recheck.each_needed &= chosen.iter().all(|fence| {
                    let less = chosen.iter().copied().filter(|other| other != fence).collect();
                    is_open(&paths, &less)
                });
                chosen
            };
            for &fence in &fences {
                sites.insert(fence, FenceStrength::Plain);
                prices.insert(fence, cost(fence));
                let mut delays: BTreeSet<usize> = BTreeSet::new();
                for pattern in &paths.patterns {
                    let reads = paths.served(pattern, &fences, fence);
                    let ids = reads.iter().filter_map(|&read| names.delay(pattern, read));
                    delays.extend(ids.filter_map(|pair| self.position(&pairs, pair)));
                }
                served.insert(fence, delays.into_iter().collect());
            }
        }
        let cost = prices.values().sum();
        let mut minimality = self.minimality(cost, &names, options);
        let minimal_sets = self.minimal_sets(options.minimal_sets);
        if budget.exhausted().is_some() {
            // Nobody had the time to find fewer.
            recheck = Recheck { done: false, enough: false, each_needed: false };
            minimality = Minimality::AtLeast(0);
        }
        let placement = Placement { cost, fences: sites, minimality };
        let findings = self.findings(delays, options);
        let confirmation = |pair: &Pair<'_>| if pair.is_certain() { Confirmation::Yes } else { Confirmation::Unknown };
        let confirmations = pairs.iter().map(confirmation).collect();
        let fences = placement.fences.keys().map(|&site| {
            let delays = served.remove(&site).unwrap_or_default();
            Fence {
                site,
                strength: FenceStrength::Plain,
                mnemonic: model.mnemonic(&[(Kind::Write, Kind::Read)], FenceStrength::Plain).to_owned(),
                cost: prices[&site],
                delays,
            }
        });
        let fences: Vec<Fence> = fences.collect();
        let outcome = self.analysis.with_placement(model, options, findings, placement, recheck);
        ModelOutcome {
            fences,
            confirmations,
            composites: names.split_instructions(),
            minimal_sets,
            elapsed: started.elapsed(),
            ..outcome
        }
    }

    fn runs(&self, _: &MemoryModel) -> Vec<Run> {
        let machine = self.machine();
        let run = |pair: &Pair<'_>| {
            let Seen::In(part, state) = pair.fringe.seen else { return None };
            if !pair.is_certain() {
                return None;
            }
            let paths = Paths::of(&self.patterns, pair.pattern.thread, &machine);
            let path = paths.open_path(pair.pattern, &Cuts::new(), |read| *read == pair.read)?;
            let part = &self.parts[part];
            let prefix = part.exploration.run_to(&part.compiled, state);
            Some(witness(&machine, &prefix, pair.pattern, &path.instructions, pair.read, pair.fringe))
        };
        self.pairs().iter().filter_map(run).collect()
    }
}

impl Checked {
    /// One occurrence of every pair, in the order of the program.
    fn pairs(&self) -> Vec<Pair<'_>> {
        let names = Names::new(self);
        let mut pairs: BTreeMap<(VertexId, VertexId), Pair<'_>> = BTreeMap::new();
        for (pattern, hot) in &self.patterns {
            let reads: BTreeSet<(InstrAt, LocationAt)> =
                pattern.nodes.iter().flat_map(|node| node.reads.clone()).collect();
            for read in reads {
                let fringe = hot[&read.1];
                let Some((from, to)) = names.delay(pattern, read) else { continue };
                let preference = (!pattern.is_exact, fringe);
                if pairs.get(&(from, to)).is_some_and(|known| (!known.pattern.is_exact, known.fringe) <= preference) {
                    continue;
                }
                let Some(changes) = names.vertex(names.machine.origin(fringe.at), Kind::Write, read.1) else {
                    continue;
                };
                let segments = vec![Segment { entry: from, exit: to }, Segment { entry: changes, exit: changes }];
                let witness = Cycle { segments };
                let delay = Delay { from, to, is_unsafe: true, cumulative: false, witness };
                pairs.insert((from, to), Pair { delay, pattern, read, fringe });
            }
        }
        pairs.into_values().collect()
    }

    /// Whether less than this cost would do: patterns that are perhaps not in the program may ask for too much,
    /// unless the others ask for as much.
    fn minimality(&self, cost: u64, names: &Names<'_>, options: &Options) -> Minimality {
        let Some(certain) = &self.certain else { return Minimality::Program };
        let mut least = 0;
        for thread in ThreadAt::all(self.program.threads.len()) {
            let paths = Paths::of(certain, thread, &names.machine);
            let cost = |site: Site| options.costs.of(site, FenceStrength::Plain);
            least += minimum(&paths, [&cost, &cost], &self.analysis.graph.budget).into_iter().map(cost).sum::<u64>();
        }
        if least == cost {
            return Minimality::Program;
        }
        Minimality::AtLeast(num_of_fences(&names.machine, certain))
    }

    fn position(&self, pairs: &[Pair<'_>], (from, to): (VertexId, VertexId)) -> Option<usize> {
        pairs.binary_search_by_key(&(from, to), |pair| (pair.delay.from, pair.delay.to)).ok()
    }

    fn findings(&self, delays: Vec<Delay>, options: &Options) -> Findings {
        let conflicts = Conflicts::reachable(&self.analysis.graph).num_of_pairs();
        let most = match options.listing {
            Listing::None => 0,
            Listing::First(most) => most,
            Listing::All => usize::MAX,
        };
        let judged = |delay: &Delay| JudgedCycle {
            cycle: delay.witness.clone(),
            verdicts: vec![Verdict { is_unsafe: true, ..Verdict::default() }, Verdict::default()],
        };
        let cycles =
            CycleList { cycles: delays.iter().take(most).map(judged).collect(), complete: delays.len() <= most };
        Findings {
            torn: Vec::new(),
            in_place: Synchronisation::none(),
            cycles: (options.listing != Listing::None).then_some(cycles),
            num_of_unsafe_pairs: delays.len(),
            num_of_concurrent_conflicts: conflicts,
            num_of_reachable_conflicts: conflicts,
            delays,
        }
    }

    fn minimal_sets(&self, listing: Listing) -> Option<MinimalSets> {
        let most = match listing {
            Listing::None => return None,
            Listing::First(most) => most,
            Listing::All => usize::MAX,
        };
        let machine = self.machine();
        let mut sets = MinimalSets { threads: Vec::new(), complete: true };
        for thread in ThreadAt::all(self.program.threads.len()) {
            let paths = Paths::of(&self.patterns, thread, &machine);
            if paths.patterns.is_empty() {
                continue;
            }
            let (found, complete) = minimal_sets(&paths, most, &self.analysis.graph.budget);
            sets.complete &= complete;
            let instrs = |set: &Cuts| set.iter().map(|site| site.instr).collect();
            sets.threads.push(found.iter().map(instrs).collect());
        }
        Some(sets)
    }
}

/// The dumb way to see whether some path is left open: from every read back to the write, one pair of steps after the
/// other, and each fence asked whether it stands between the two.
fn is_open(paths: &Paths<'_>, fences: &Cuts) -> bool {
    let target = |instr: InstrId| paths.outline.instruction(instr).way.map(|way| way.to);
    let stands_between = |site: &Site, first: InstrAt, then: InstrAt| match site.place {
        Place::Before => paths.instr(then) == site.instr,
        Place::After => paths.instr(first) == site.instr,
        Place::State => target(paths.instr(first)) == target(site.instr),
        Place::Inside(_) => false,
    };
    let passes = |first: InstrAt, then: InstrAt| {
        // Within an instruction that is performed in parts stands none.
        !paths.origin(first).completes || !fences.iter().any(|fence| stands_between(fence, first, then))
    };
    paths.patterns.iter().any(|pattern| {
        // Where the thread may be, and by which instruction it came.
        let edges = pattern.nodes.iter().flat_map(|node| node.edges.iter().map(|&(by, to)| (to, by)));
        let places: BTreeSet<(usize, InstrAt)> = edges.chain([(0, pattern.write)]).collect();
        let mut leads: BTreeSet<(usize, InstrAt)> = BTreeSet::new();
        loop {
            let is_new = |&(at, by): &(usize, InstrAt)| {
                let node = &pattern.nodes[at];
                let reads = node.reads.iter().any(|&(read, _)| passes(by, read));
                reads || node.edges.iter().any(|&(next, to)| leads.contains(&(to, next)) && passes(by, next))
            };
            let more: Vec<(usize, InstrAt)> = places.difference(&leads).copied().filter(is_new).collect();
            if more.is_empty() {
                break;
            }
            leads.extend(more);
        }
        leads.contains(&(0, pattern.write))
    })
}

/// Instructions and accesses of the program in the analysis.
struct Names<'a> {
    machine: Machine<'a>,
    analysis: &'a Analysis,
    vertices: BTreeMap<(InstrId, Kind, String), VertexId>,
    locations: Vec<String>,
}

impl<'a> Names<'a> {
    fn new(checked: &'a Checked) -> Names<'a> {
        let Checked { program, analysis, .. } = checked;
        let (machine, graph) = (checked.machine(), &analysis.graph);
        let vertices = graph.vertex_ids().map(|id| {
            let vertex = graph.vertex(id);
            ((vertex.instr, vertex.kind, graph.locations[vertex.location.index()].clone()), id)
        });
        Names { machine, analysis, vertices: vertices.collect(), locations: locations(program) }
    }

    fn vertex(&self, at: At, kind: Kind, location: LocationAt) -> Option<VertexId> {
        let name = self.analysis.graph.shown(&self.locations[location.index()]);
        self.vertices.get(&(self.machine.outline.instr(at), kind, name)).copied()
    }

    /// The vertices of a pattern's write and of one of its reads.
    fn delay(&self, pattern: &Pattern, (read, location): (InstrAt, LocationAt)) -> Option<(VertexId, VertexId)> {
        let from = self.machine.origin(pattern.at(pattern.write));
        let some = || some_written(&self.machine, pattern).into_iter().find(|&other| other != location);
        let written = pattern.written.or_else(some);
        let to = self.machine.origin(pattern.at(read));
        Some((self.vertex(from, Kind::Write, written?)?, self.vertex(to, Kind::Read, location)?))
    }

    /// Instructions with several accesses: that they are not torn is presumed.
    fn split_instructions(&self) -> Vec<InstrId> {
        let Machine { single, outline, .. } = &self.machine;
        let parts = single.program.instructions_at().filter(|(at, _)| !single.origin(*at).completes);
        let several: BTreeSet<InstrId> = parts.map(|(at, _)| outline.instr(self.machine.origin(at))).collect();
        several.into_iter().collect()
    }
}

/// The locations that the write of a pattern may go to.
fn some_written(machine: &Machine<'_>, pattern: &Pattern) -> Vec<LocationAt> {
    let write = pattern.at(pattern.write);
    let Role::Write(position) = machine.role(write) else { return Vec::new() };
    let nothing = vec![None; machine.compiled.initial.len()];
    let slots = written(&machine.step(write).assignments[position].0, &nothing).slots;
    slots.into_iter().filter_map(|slot| slot.location(machine.shared)).collect()
}

/// The names of all locations.
fn locations(program: &Program) -> Vec<String> {
    let mut names = Vec::new();
    for variable in &program.shared {
        if variable.is_array {
            names.extend((0..variable.initial.len()).map(|element| format!("{}[{element}]", variable.name)));
        } else {
            names.push(variable.name.clone());
        }
    }
    names
}

/// The size of what was explored.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    pub states: u64,
    pub transitions: u64,
    /// Why there may be more, if there may.
    pub stop: Option<Stop>,
}

impl Size {
    /// Whether a limit has left something out.
    pub(super) fn is_cut_off(&self) -> bool {
        self.stop.is_some()
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        self.states += other.states;
        self.transitions += other.transitions;
        self.stop = self.stop.or(other.stop);
    }
}

/// Facts for reports: these labels, and of program order what the paths of the patterns show.
pub(super) fn facts(machine: &Machine<'_>, patterns: &Patterns, labels: BTreeSet<Label>, size: Size) -> Facts {
    let labels: Vec<Label> = labels.into_iter().collect();
    let mut of_instruction: BTreeMap<At, Vec<LabelId>> = BTreeMap::new();
    for (number, label) in labels.iter().enumerate() {
        if let Some(at) = machine.outline.find(&label.thread, &label.instr).and_then(|instr| machine.outline.at(instr))
        {
            of_instruction.entry(at).or_default().push(LabelId::new(number));
        }
    }
    let mut follows = BTreeSet::new();
    for pattern in patterns.keys() {
        let origin = |instruction| machine.single.origin(pattern.at(instruction));
        let mut add = |first: InstrAt, then: &Node| {
            let next = then.edges.iter().map(|&(next, _)| next).chain(then.reads.iter().map(|&(next, _)| next));
            for next in next.filter(|&next| origin(first).completes || origin(next) != origin(first)) {
                let labels_of = |instruction| {
                    let at = machine.origin(pattern.at(instruction));
                    of_instruction.get(&at).into_iter().flatten().copied()
                };
                let is_taken = |label: &LabelId| !labels[label.index()].refused;
                let firsts = labels_of(first).filter(is_taken);
                follows.extend(firsts.flat_map(|from| labels_of(next).map(move |to| (from, to))));
            }
        };
        add(pattern.write, &pattern.nodes[0]);
        for node in &pattern.nodes {
            node.edges.iter().for_each(|&(instruction, to)| add(instruction, &pattern.nodes[to]));
        }
    }
    let follows = follows.into_iter().map(|(from, to)| Follows { from, to, newly: true });
    let facts = Facts::canonical(&labels, follows, [], (size.states, size.transitions));
    Facts { cut_off: size.is_cut_off(), outline: Some(machine.outline.clone()), ..facts }
}

/// Labels where the program itself was not explored: of each instruction one, and those of the accesses of the
/// patterns.
pub(super) fn labels_of_patterns(program: &Program, machine: &Machine<'_>, patterns: &Patterns) -> BTreeSet<Label> {
    let locations = locations(program);
    let mut labels: BTreeSet<Label> = BTreeSet::new();
    let mut label = |at: At, steps: Vec<Step>| {
        let instruction = program.instruction(at);
        let kind = match instruction.kind {
            InstructionKind::Plain | InstructionKind::PartialFence(_) => LabelKind::Plain,
            InstructionKind::Fence => LabelKind::Fence,
            InstructionKind::Atomic => LabelKind::Atomic,
        };
        let (thread, instr) = (program.thread(at.thread).name.clone(), instruction.name.clone());
        labels.insert(Label { thread, instr, kind, refused: false, steps });
    };
    program.instructions_at().for_each(|(at, _)| label(at, Vec::new()));
    let access = |location: LocationAt| {
        let name = locations[location.index()].clone();
        Access { name, local: false, address: Vec::new() }
    };
    for (pattern, hot) in patterns {
        let written = pattern.written.map_or_else(|| some_written(machine, pattern), |location| vec![location]);
        for location in written {
            let step = Step::Assignment { writes: vec![access(location)], reads: Vec::new() };
            label(machine.origin(pattern.at(pattern.write)), vec![step]);
        }
        for &(read, location) in pattern.nodes.iter().flat_map(|node| &node.reads) {
            let step = Step::Assignment { writes: Vec::new(), reads: vec![access(location)] };
            label(machine.origin(pattern.at(read)), vec![step]);
        }
        for (&location, fringe) in hot {
            let step = Step::Assignment { writes: vec![access(location)], reads: Vec::new() };
            label(machine.origin(fringe.at), vec![step]);
        }
    }
    labels
}
