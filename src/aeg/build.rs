//! From labels to evaluations: which access depends on which (method §3).
//!
//! Inside one instruction, `a pr b` exactly when b depends on a by addr or data, or a is a read of its condition and
//! b is one of its assignments' accesses, or both access one location, a stands first and one of them writes.
//! Dependencies through locals that the same instruction wrote are resolved here, so that what is left are
//! dependencies on events of the evaluation and on locals as they were before it.
//!
//! Every mention of a location is an event of its own: `x + x` reads x twice, and both events have one vertex. (In
//! the published profile an access that is mentioned twice is one event, and only dependencies order events.)
//!
//! *Levels* must be those of [`weak::split`](crate::weak::split), which knows no locations but the elements of arrays
//! with a constant index. So for them, and only for them, accesses to one array are ordered as those to one location
//! are, unless both have a constant index and these differ.

use super::accesses::{Accesses, Tried};
use super::arrays::vague_names;
use super::{AbstractEventGraph, Evaluation, Event, Instruction, LocalUpdate, Profile, Sources, Vertex};
use crate::budget::Budget;
use crate::facts::Facts;
use crate::ids::{InstrId, LabelId, LocalId, LocationId, ThreadId, VertexId};
use crate::lts::label::{Access, Label, LabelKind, Step};
use crate::memory::Kind;
use crate::natural::natural_order;
use crate::outline::Outline;
use std::collections::{BTreeMap, BTreeSet};

impl AbstractEventGraph {
    /// Builds the graph from the facts.
    #[must_use]
    pub fn build(facts: &Facts, profile: Profile) -> AbstractEventGraph {
        AbstractEventGraph::build_within(facts, profile, &Budget::default())
    }

    /// The same; when the budget is exhausted, program order across waits is left out from there on.
    #[must_use]
    pub fn build_within(facts: &Facts, profile: Profile, budget: &Budget) -> AbstractEventGraph {
        budget.enter("building the event graph");
        let mut names = Names::collect(facts);
        let mut evaluations: Vec<Evaluation> =
            facts.labels.iter().map(|label| Compiler::new(&mut names, label, profile).compile(label)).collect();
        for pair in facts.follows.iter().filter(|pair| profile != Profile::Published || pair.newly) {
            evaluations[pair.from.index()].successors.push(pair.to);
        }
        if profile == Profile::Sound {
            for (position, evaluation) in evaluations.iter_mut().enumerate().take_while(|_| !budget.is_over()) {
                wait(LabelId::new(position), &mut evaluation.successors, facts);
            }
        }
        let mut instructions = vec![Instruction::default(); names.outline.instructions.len()];
        let mut occurrences = vec![Vec::new(); names.vertices.len()];
        for (position, evaluation) in evaluations.iter().enumerate() {
            let label = LabelId::new(position);
            let instruction = &mut instructions[evaluation.instr.index()];
            instruction.labels.push(label);
            instruction.update |= facts.labels[position].has_write();
            instruction.composite |= evaluation.events.len() > 1 && !evaluation.is_whole();
            for (event_position, event) in evaluation.events.iter().enumerate() {
                occurrences[event.vertex.index()].push((label, event_position));
            }
        }
        let mut tried: Vec<Option<Tried>> = vec![None; instructions.len()];
        for evaluation in &evaluations {
            let level = evaluation.last_level_inside();
            let known = tried[evaluation.instr.index()].get_or_insert(Tried { last_level: 0, is_quiet: true });
            known.last_level = known.last_level.max(level);
            known.is_quiet &= evaluation.events.is_empty();
        }
        let accesses = Accesses::named(names.outline, &names.locations, names.vertices, tried);
        let shown = |names: Vec<String>| names.iter().map(|name| accesses.shown(name)).collect();
        let mut taken_together: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, known_as) in names.vague {
            taken_together.entry(known_as).or_default().insert(name);
        }
        let taken_together = taken_together.into_iter().filter(|(_, names)| names.len() > 1);
        let taken_together =
            taken_together.map(|(array, names)| (accesses.shown(&array), shown(in_natural_order(names))));
        AbstractEventGraph {
            taken_together: taken_together.collect(),
            accesses,
            instructions,
            evaluations,
            concurrent: facts.concurrent.clone(),
            profile,
            budget: budget.clone(),
            occurrences,
            num_of_locals: names.locals.len(),
        }
    }
}

/// Adds what a thread can go on with after it has waited: a wait that is never over at once (`await f`, where another
/// thread sets f in answer to this one) is passed all the same. A thread that waits without a label may go on with
/// whatever ends such a wait of it.
fn wait(label: LabelId, successors: &mut Vec<LabelId>, facts: &Facts) {
    let thread = |label: LabelId| &facts.labels[label.index()].thread;
    let contains = |labels: &[LabelId], label: LabelId| labels.binary_search(&label).is_ok();
    let mut is_silent = contains(&facts.silences.begin, label);
    let mut position = 0;
    loop {
        if is_silent {
            let ends = facts.silences.end.iter().copied().filter(|&end| thread(end) == thread(label));
            for end in ends.collect::<Vec<_>>() {
                if !successors.contains(&end) {
                    successors.push(end);
                }
            }
        }
        let Some(&enabled) = successors.get(position) else { break };
        let first = facts.waits.partition_point(|&(before, _)| before < enabled);
        for &(_, later) in facts.waits[first..].iter().take_while(|&&(before, _)| before == enabled) {
            if !successors.contains(&later) {
                successors.push(later);
            }
        }
        is_silent = contains(&facts.silences.lapse, enabled);
        position += 1;
    }
    successors.sort_unstable();
}

/// The numbering of everything that has a name, in natural order: it is the order of every report.
struct Names {
    outline: Outline,
    locations: Vec<String>,
    vertices: Vec<Vertex>,
    locals: BTreeMap<(ThreadId, String), LocalId>,
    /// Names of shared locations that may overlap others, and what each is known as.
    vague: BTreeMap<String, String>,
    /// Names of locals that may overlap others.
    vague_locals: BTreeSet<(ThreadId, String)>,
}

impl Names {
    fn collect(facts: &Facts) -> Names {
        let labels = &facts.labels;
        let mut shared: BTreeSet<&str> = BTreeSet::new();
        let mut locals: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for label in labels {
            for access in label.steps.iter().flat_map(step_accesses) {
                visit(access, &mut |access| {
                    let names = if access.local { locals.entry(&label.thread).or_default() } else { &mut shared };
                    names.insert(&access.name);
                });
            }
        }
        let vague = vague_names(shared.iter().copied());
        let known_as = |&name: &&str| vague.get(name).map_or(name, String::as_str).to_owned();
        let locations: BTreeSet<String> = shared.iter().map(known_as).collect();
        let mut names = Names {
            outline: facts.outline.clone().unwrap_or_else(|| Outline::of_labels(labels)),
            locations: in_natural_order(locations),
            vertices: Vec::new(),
            locals: BTreeMap::new(),
            vague,
            vague_locals: BTreeSet::new(),
        };
        for (thread, locals) in locals {
            let thread = names.thread(thread);
            names.vague_locals.extend(vague_names(locals).into_keys().map(|name| (thread, name)));
        }
        let mut vertices = BTreeSet::new();
        for label in labels {
            let (thread, instr) = names.instruction(label);
            let mut add = |kind: Kind, name: &str| {
                let (location, is_vague) = names.location(name);
                vertices.insert(Vertex { instr, thread, kind, location, is_vague });
            };
            for step in &label.steps {
                let (writes, reads) = match step {
                    Step::Condition { reads } => (&[][..], reads),
                    Step::Assignment { writes, reads } => (&writes[..], reads),
                };
                for write in writes {
                    if !write.local {
                        add(Kind::Write, &write.name);
                    }
                    write.address.iter().for_each(|read| visit_shared(read, &mut |name| add(Kind::Read, name)));
                }
                reads.iter().for_each(|read| visit_shared(read, &mut |name| add(Kind::Read, name)));
            }
        }
        names.vertices = vertices.into_iter().collect();
        names
    }

    fn thread(&self, name: &str) -> ThreadId {
        self.outline.thread(name).expect("the outline has the threads of all labels")
    }

    /// The location of that name, and whether it is vague.
    fn location(&self, name: &str) -> (LocationId, bool) {
        let known_as = self.vague.get(name);
        let name = known_as.map_or(name, String::as_str);
        let position = self.locations.binary_search_by(|known| natural_order(known, name));
        (LocationId::new(position.expect("all locations were collected")), known_as.is_some())
    }

    fn vertex(&self, vertex: Vertex) -> VertexId {
        VertexId::new(self.vertices.binary_search(&vertex).expect("all vertices were collected"))
    }

    fn instruction(&self, label: &Label) -> (ThreadId, InstrId) {
        let instr = self.outline.find(&label.thread, &label.instr);
        (self.thread(&label.thread), instr.expect("the outline has the instructions of all labels"))
    }

    /// The local of that name; none, if nobody can tell which element of a local array it is: what such a name
    /// carries is not known, so nothing depends on it.
    fn local(&mut self, thread: ThreadId, name: &str) -> Option<LocalId> {
        let key = (thread, name.to_owned());
        if self.vague_locals.contains(&key) {
            return None;
        }
        let next = LocalId::new(self.locals.len());
        Some(*self.locals.entry(key).or_insert(next))
    }
}

fn in_natural_order(names: BTreeSet<String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by(|a, b| natural_order(a, b));
    names
}

fn step_accesses(step: &Step) -> impl Iterator<Item = &Access> {
    let (writes, reads) = match step {
        Step::Condition { reads } => (&[][..], reads),
        Step::Assignment { writes, reads } => (&writes[..], reads),
    };
    writes.iter().chain(reads)
}

/// Calls `see` for the access and everything its address needs.
fn visit<'l>(access: &'l Access, see: &mut dyn FnMut(&'l Access)) {
    see(access);
    access.address.iter().for_each(|inner| visit(inner, see));
}

/// Calls `shared` for the access and everything its address needs, unless local.
fn visit_shared(access: &Access, shared: &mut dyn FnMut(&str)) {
    visit(access, &mut |access| {
        if !access.local {
            shared(&access.name);
        }
    });
}

/// The array of an element: `v` of `v[0]`.
fn array_of(location: &str) -> Option<&str> {
    location.split_once('[').map(|(array, _)| array)
}

/// Compiles one label.
struct Compiler<'a> {
    names: &'a mut Names,
    profile: Profile,
    thread: ThreadId,
    instr: InstrId,
    events: Vec<Event>,
    /// Of each event, whether its address is a constant.
    is_fixed: Vec<bool>,
    condition: Sources,
    /// What addresses needed since the present step began.
    for_addresses: Sources,
    /// Reads of the condition, with those that its addresses needed: they come before the assignments' accesses.
    condition_reads: Vec<usize>,
    /// Locals already written by this evaluation.
    written: BTreeMap<LocalId, Sources>,
}

impl<'a> Compiler<'a> {
    fn new(names: &'a mut Names, label: &Label, profile: Profile) -> Self {
        let (thread, instr) = names.instruction(label);
        Compiler {
            names,
            profile,
            thread,
            instr,
            events: Vec::new(),
            is_fixed: Vec::new(),
            condition: Sources::default(),
            for_addresses: Sources::default(),
            condition_reads: Vec::new(),
            written: BTreeMap::new(),
        }
    }

    fn compile(mut self, label: &Label) -> Evaluation {
        for step in &label.steps {
            self.for_addresses = Sources::default();
            match step {
                Step::Condition { reads } => {
                    let used = self.values(reads);
                    self.condition.extend(&used);
                    // What an address in the condition needs is used in the condition, too.
                    self.condition.extend(&self.for_addresses);
                    self.condition_reads = (0..self.events.len()).filter(|&i| self.kind(i) == Kind::Read).collect();
                }
                Step::Assignment { writes, reads } => {
                    let value = self.values(reads);
                    let addresses: Vec<Sources> = writes.iter().map(|write| self.values(&write.address)).collect();
                    for (write, address) in writes.iter().zip(addresses) {
                        if write.local {
                            let local = self.names.local(self.thread, &write.name);
                            self.written.extend(local.map(|local| (local, value.clone())));
                        } else {
                            self.event(Kind::Write, write, address, value.clone());
                        }
                    }
                }
            }
        }
        self.settle();
        Evaluation {
            thread: self.thread,
            instr: self.instr,
            barrier: matches!(label.kind, LabelKind::Fence | LabelKind::Atomic),
            kind: label.kind,
            events: self.events,
            condition: self.condition,
            locals: self.written.into_iter().map(|(local, value)| LocalUpdate { local, value }).collect(),
            successors: Vec::new(),
        }
    }

    fn kind(&self, event: usize) -> Kind {
        self.names.vertices[self.events[event].vertex.index()].kind
    }

    /// Where the values of these reads come from; makes the events that read shared locations.
    fn values(&mut self, reads: &[Access]) -> Sources {
        let mut sources = Sources::default();
        for read in reads {
            let address = self.values(&read.address);
            self.for_addresses.extend(&address);
            if read.local {
                // An element of a local array depends on its index as much as on what it holds.
                sources.extend(&address);
                let Some(local) = self.names.local(self.thread, &read.name) else { continue };
                match self.written.get(&local) {
                    Some(value) => sources.extend(value),
                    None => sources.extend(&Sources { events: Vec::new(), locals: vec![local] }),
                }
            } else {
                let event = self.event(Kind::Read, read, address, Sources::default());
                sources.extend(&Sources { events: vec![event], locals: Vec::new() });
            }
        }
        sources
    }

    /// The position of the event that this mention of an access makes. In the published profile only the first
    /// mention makes one; a later one adds the data of a write, and takes away what only one of the addresses depends
    /// on (`v[i]` and `v[0]` can be one location); if the location is vague, so that these may be two accesses, also
    /// what only one of the values depends on.
    fn event(&mut self, kind: Kind, access: &Access, address: Sources, data: Sources) -> usize {
        let (location, is_vague) = self.names.location(&access.name);
        let vertex = self.names.vertex(Vertex { instr: self.instr, thread: self.thread, kind, location, is_vague });
        let known = self.events.iter().position(|event| event.vertex == vertex);
        if let (Profile::Published, Some(position)) = (self.profile, known) {
            let event = &mut self.events[position];
            event.address.retain(&address);
            if is_vague {
                event.data.retain(&data);
            } else {
                event.data.extend(&data);
            }
            return position;
        }
        let control = Sources { events: self.condition_reads.clone(), locals: self.condition.locals.clone() };
        self.events.push(Event { vertex, address, data, control, before: Vec::new(), level: 0 });
        self.is_fixed.push(access.address.is_empty());
        self.events.len() - 1
    }

    fn vertex(&self, event: usize) -> &Vertex {
        &self.names.vertices[self.events[event].vertex.index()]
    }

    /// Whether the text orders two events, of which the first stands first: one location, and one of them writes.
    fn is_coherent(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.vertex(first), self.vertex(second));
        self.profile != Profile::Published && a.is_at_location_of(b) && [a.kind, b.kind].contains(&Kind::Write)
    }

    /// Whether two events are on different levels, as far as [`Compiler::is_coherent`] could say without knowing what
    /// indices evaluate to.
    fn may_be_coherent(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.vertex(first), self.vertex(second));
        let array = |vertex: &Vertex| array_of(&self.names.locations[vertex.location.index()]);
        let may_be_one =
            || array(a).is_some() && array(a) == array(b) && !(self.is_fixed[first] && self.is_fixed[second]);
        let writes = [a.kind, b.kind].contains(&Kind::Write);
        self.profile != Profile::Published && writes && (a.location == b.location || may_be_one())
    }

    /// Computes what is before each event, and puts every event after those that it depends on.
    fn settle(&mut self) {
        let mut order: Vec<usize> = (0..self.events.len()).collect();
        if self.profile == Profile::Published {
            // A write that is mentioned again can depend on a read that was made after it. Only reads are sources,
            // and a read is made after its sources.
            order.sort_by_key(|&position| self.kind(position));
        }
        for &position in &order {
            let event = &self.events[position];
            let sources = [&event.address, &event.data, &event.control].into_iter().flat_map(|sources| &sources.events);
            let coherent = (0..position).filter(|&earlier| self.is_coherent(earlier, position));
            let direct: BTreeSet<usize> = sources.copied().chain(coherent).collect();
            let lower = (0..position).filter(|&earlier| self.may_be_coherent(earlier, position));
            let lower = lower.chain(direct.iter().copied());
            let level = lower.map(|earlier| self.events[earlier].level + 1).max().unwrap_or(0);
            let mut before = direct.clone();
            before.extend(direct.iter().flat_map(|&earlier| &self.events[earlier].before));
            let event = &mut self.events[position];
            event.before = before.into_iter().collect();
            event.level = level;
        }
        order.sort_by_key(|&position| self.events[position].level);
        self.renumber(&order);
    }

    /// Brings the events into this order.
    fn renumber(&mut self, order: &[usize]) {
        let mut now_at = vec![0; order.len()];
        for (position, &before) in order.iter().enumerate() {
            now_at[before] = position;
        }
        let renumber = |events: &mut Vec<usize>| events.iter_mut().for_each(|event| *event = now_at[*event]);
        for event in &mut self.events {
            for sources in [&mut event.address, &mut event.data, &mut event.control] {
                renumber(&mut sources.events);
            }
            renumber(&mut event.before);
            event.before.sort_unstable();
        }
        renumber(&mut self.condition.events);
        self.written.values_mut().for_each(|value| renumber(&mut value.events));
        self.events = order.iter().map(|&position| self.events[position].clone()).collect();
    }
}

impl Sources {
    /// Keeps what is in both.
    fn retain(&mut self, other: &Sources) {
        self.events.retain(|source| other.events.contains(source));
        self.locals.retain(|source| other.locals.contains(source));
    }

    fn extend(&mut self, other: &Sources) {
        for event in &other.events {
            if !self.events.contains(event) {
                self.events.push(*event);
            }
        }
        for local in &other.locals {
            if !self.locals.contains(local) {
                self.locals.push(*local);
            }
        }
    }
}
