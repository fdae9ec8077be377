//! The findings in the terms of the reports: delays with their cycles, fences, a second look.
//!
//! The pattern is a cycle: the pivot's write of y is before its read of x in program order, that read is before the
//! fringe's write of x, as it sees the value from before, and that write is stored before the write of y. So a
//! pattern is a [`Delay`] from the write to the read, and its witness a [`Cycle`] of two threads whose last edge is
//! the store order.

use super::Checked;
use super::hitting::{Cuts, Paths, minimal_sets, minimum};
use super::local::Pattern;
use super::machine::Machine;
use super::named::{locations, some_written};
use super::needed::num_of_fences;
use super::record::{Fringe, Seen};
use super::run::{Run, witness};
use crate::aeg::Accesses;
use crate::analysis::{Abstraction, Confirmation, Evidence, Explored, Fence, ModelOutcome, Options, Recheck, Told};
use crate::budget::Budget;
use crate::caveat::Caveat;
use crate::cycles::{Atomicity, Cycle, CycleList, Delay, Findings, JudgedCycle, Listing, Segment, SegmentVerdict};
use crate::engines::words::Words;
use crate::engines::{Answer, Checker, Examined, Ground, Trouble};
use crate::explore::Stop;
use crate::ids::{InstrAt, InstrId, LocationAt, ThreadAt, VertexId};
use crate::insertion::Demand;
use crate::memory::{FenceStrength, Kind, MemoryModel};
use crate::outline::{Place, Site};
use crate::placement::exact::unreadability;
use crate::placement::{MinimalSets, Minimality, Placement};
use crate::program::At;
use crate::repair::Repair;
use crate::text::counted;
use crate::weak::split::SplitProgram;
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

impl Examined for Checked<'_> {
    fn accesses(&self) -> &Accesses {
        &self.accesses
    }

    fn explored(&self) -> Explored {
        self.explored.clone()
    }

    fn caveats(&self) -> Vec<Caveat> {
        self.caveats.clone()
    }

    /// Programs are performed access by access.
    fn atomicity(&self) -> Atomicity {
        Atomicity::Split
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn checker<'c>(&'c self, model: &'c MemoryModel) -> Result<Box<dyn Checker + 'c>, Trouble> {
        Ok(Box::new(Open { checked: self, model }))
    }

    fn abstraction(&self) -> Option<Abstraction> {
        self.abstraction
    }

    fn out_of_range(&self) -> u64 {
        self.parts.iter().map(|part| part.exploration.out_of_range).sum()
    }

    fn place(&self, model: &MemoryModel, options: &Options) -> Result<ModelOutcome, Trouble> {
        let started = Instant::now();
        let budget = &self.budget;
        let pairs = self.pairs();
        let delays: Vec<Delay> = pairs.iter().map(|pair| pair.delay.clone()).collect();
        let names = Names::new(self);
        let mut sites: BTreeMap<Site, FenceStrength> = BTreeMap::new();
        let mut prices: BTreeMap<Site, u64> = BTreeMap::new();
        let mut served: BTreeMap<Site, Vec<usize>> = BTreeMap::new();
        let mut recheck = Recheck { done: true, enough: true, each_needed: true };
        for thread in ThreadAt::all(self.specification.program.threads.len()) {
            let paths = Paths::of(&self.patterns, thread, &names.machine);
            let cost = |site: Site| options.costs.of(site, FenceStrength::Plain);
            let readability = |site: Site| unreadability(&self.accesses, site);
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
                runs: Vec::new(),
            }
        });
        let fences: Vec<Fence> = fences.collect();
        let stopped = budget.exhausted();
        let listed = findings.cycles.as_ref().is_none_or(|list| list.complete);
        Ok(ModelOutcome {
            fences,
            runs: if self.tells_runs { self.runs(model, &Cuts::new(), |_| true)? } else { Vec::new() },
            confirmations,
            composites: names.split_instructions(),
            minimal_sets,
            complete: !self.explored.cut_off && listed && stopped.is_none(),
            stopped,
            findings,
            elapsed: started.elapsed(),
            ..ModelOutcome::new(model, placement, recheck)
        })
    }
}

/// The patterns with fences in place.
struct Open<'c> {
    checked: &'c Checked<'c>,
    model: &'c MemoryModel,
}

impl Checker for Open<'_> {
    fn check(&mut self, repair: &Repair) -> Result<Answer, Trouble> {
        let Open { checked, model } = *self;
        let machine = checked.machine();
        let fences = &repair.full_sites();
        for thread in machine.threads() {
            let paths = Paths::of(&checked.patterns, thread, &machine);
            if !is_open(&paths, fences) {
                continue;
            }
            let certain = Paths::of(checked.certain.as_ref().unwrap_or(&checked.patterns), thread, &machine);
            if !is_open(&certain, fences) {
                return Ok(Answer::Undecided("what is left open is perhaps not in the program".to_owned()));
            }
            let mut runs = checked.runs(model, fences, |pattern| pattern.thread == thread)?.into_iter();
            let told = runs.next().map(|told| Told { because: format!("  This is {}.\n", told.because), ..told });
            let nothing = || Told { evidence: Evidence::none(), because: "  A pattern is left open.\n".to_owned() };
            let sites = certain.open(fences).into_iter();
            let demands = sites.map(|sites| Demand::of(sites, FenceStrength::Plain)).collect();
            return Ok(Answer::Fails { told: told.unwrap_or_else(nothing), demands: Some(demands), latest: None });
        }
        if let Some(limit) = checked.budget.exhausted() {
            return Ok(Answer::Undecided(format!("stopped at {limit}")));
        }
        if checked.explored.cut_off {
            let missing = checked.explored.missing.as_deref().unwrap_or("a limit");
            return Ok(Answer::Undecided(format!("only a part of the state space is known: {missing}")));
        }
        Ok(Answer::Holds(Ground {
            claim: "every run has the program order and the store order of a sequentially consistent run",
            rests_on: format!("no pattern is left open in {}", counted(checked.explored.states, "state")),
        }))
    }
}

impl Checked<'_> {
    /// A run for each pair of some patterns that is certain and that these fences leave open, in the program's words.
    fn runs(
        &self,
        model: &MemoryModel,
        fences: &Cuts,
        wanted: impl Fn(&Pattern) -> bool,
    ) -> Result<Vec<Told>, Trouble> {
        let machine = self.machine();
        let run = |pair: &Pair<'_>| {
            let Seen::In(part, state) = pair.fringe.seen else { return None };
            if !pair.is_certain() || !wanted(pair.pattern) {
                return None;
            }
            let paths = Paths::of(&self.patterns, pair.pattern.thread, &machine);
            let path = paths.open_path(pair.pattern, fences, |read| *read == pair.read)?;
            let part = &self.parts[part];
            let prefix = part.exploration.run_to(&part.compiled, state);
            Some(witness(&machine, &prefix, pair.pattern, &path.instructions, pair.read, pair.fringe))
        };
        let specification = self.specification;
        let locations = SplitProgram::new(&specification.program)?.locations;
        let words = Words { specification, locations: &locations };
        let told = |run: Run| {
            let name = &model.name;
            let because = format!("a run of {name} whose program and store orders no sequentially consistent run has");
            Told { evidence: words.run(&run), because }
        };
        Ok(self.pairs().iter().filter_map(run).map(told).collect())
    }

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
        for thread in ThreadAt::all(self.specification.program.threads.len()) {
            let paths = Paths::of(certain, thread, &names.machine);
            let cost = |site: Site| options.costs.of(site, FenceStrength::Plain);
            least += minimum(&paths, [&cost, &cost], &self.budget).into_iter().map(cost).sum::<u64>();
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
        let most = match options.listing {
            Listing::None => 0,
            Listing::First(most) => most,
            Listing::All => usize::MAX,
        };
        let judged = |delay: &Delay| JudgedCycle {
            cycle: delay.witness.clone(),
            verdicts: vec![SegmentVerdict { is_unsafe: true, ..SegmentVerdict::default() }, SegmentVerdict::default()],
        };
        let cycles =
            CycleList { cycles: delays.iter().take(most).map(judged).collect(), complete: delays.len() <= most };
        Findings { cycles: (options.listing != Listing::None).then_some(cycles), delays, ..Findings::default() }
    }

    fn minimal_sets(&self, listing: Listing) -> Option<MinimalSets> {
        let most = match listing {
            Listing::None => return None,
            Listing::First(most) => most,
            Listing::All => usize::MAX,
        };
        let machine = self.machine();
        let mut sets = MinimalSets { parts: Vec::new(), complete: true };
        for thread in ThreadAt::all(self.specification.program.threads.len()) {
            let paths = Paths::of(&self.patterns, thread, &machine);
            if paths.patterns.is_empty() {
                continue;
            }
            let (found, complete) = minimal_sets(&paths, most, &self.budget);
            sets.complete &= complete;
            sets.parts.push(found.iter().map(|set| set.iter().copied().collect()).collect());
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
        Place::Inside(_) | Place::On => false,
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
    vertices: BTreeMap<(InstrId, Kind, &'a str), VertexId>,
    locations: Vec<String>,
}

impl<'a> Names<'a> {
    fn new(checked: &'a Checked<'_>) -> Names<'a> {
        let Checked { specification, accesses, .. } = checked;
        let vertices = accesses.vertex_ids().map(|id| {
            let vertex = accesses.vertex(id);
            ((vertex.instr, vertex.kind, &*accesses.locations[vertex.location.index()]), id)
        });
        let locations = locations(&specification.program).iter().map(|name| accesses.shown(name)).collect();
        Names { machine: checked.machine(), vertices: vertices.collect(), locations }
    }

    fn vertex(&self, at: At, kind: Kind, location: LocationAt) -> Option<VertexId> {
        self.vertices.get(&(self.machine.outline.instr(at), kind, &*self.locations[location.index()])).copied()
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
