//! Facts by brute force, straight from the definitions of method §2, and random state spaces to try them on.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use seqcon::facts::{Facts, Follows, Presumed, Waits};
use seqcon::ids::LabelId;
use seqcon::lts::dialect::native;
use seqcon::lts::label::{Label, LabelKind, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A small state space.
#[derive(Clone, Debug)]
pub struct Lts {
    pub states: u64,
    pub transitions: Vec<(u64, String, u64)>,
}

/// What a random state space looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Few states, threads and labels, many self-loops.
    Small,
    /// Many threads with many local sets: the packed table needs several words a state and is laid out anew many times.
    Wide,
}

impl Lts {
    /// As mCRL2 writes it.
    pub fn to_aut(&self) -> String {
        let mut text = format!("des (0,{},{})\n", self.transitions.len(), self.states);
        for (from, label, to) in &self.transitions {
            writeln!(text, "({from},\"{label}\",{to})").expect("writing to a string");
        }
        text
    }

    /// The same transitions in another order.
    pub fn shuffled(&self, rng: &mut StdRng) -> Lts {
        let mut shuffled = self.clone();
        shuffled.transitions.shuffle(rng);
        shuffled
    }

    /// A random state space in the native dialect: now small with many self-loops and internal steps, now with many
    /// threads.
    pub fn random(rng: &mut StdRng) -> Lts {
        let wide = rng.random_bool(0.1);
        Lts::random_of(rng, if wide { Shape::Wide } else { Shape::Small })
    }

    /// A random state space of a shape.
    pub fn random_of(rng: &mut StdRng, shape: Shape) -> Lts {
        let wide = shape == Shape::Wide;
        let threads = if wide { rng.random_range(5..20) } else { rng.random_range(1..4) };
        let instrs = if wide { rng.random_range(1..12) } else { rng.random_range(1..4) };
        let states = if wide { rng.random_range(1..40) } else { rng.random_range(1..9) };
        let internal = *[0.0, 0.1, 0.5].choose(rng).expect("not empty");
        let count = rng.random_range(0..if wide { 400 } else { 25 });
        let mut transitions: Vec<_> = (0..count)
            .map(|_| {
                let from = rng.random_range(0..states);
                let to = if rng.random_bool(0.2) { from } else { rng.random_range(0..states) };
                let label =
                    if rng.random_bool(internal) { "tau".to_owned() } else { random_label(rng, threads, instrs) };
                (from, label, to)
            })
            .collect();
        if rng.random_bool(0.8) {
            transitions.sort_by_key(|transition| transition.0);
        }
        Lts { states, transitions }
    }

    /// The facts, slowly.
    pub fn facts(&self) -> Facts {
        let steps = Steps::of(self);
        let shown = steps.tables(&steps.enabled, &BTreeSet::new());
        let all = steps.tables(&steps.with_unseen_refusals(), &steps.threads_that_wait_for_internal_steps());
        let presumed = if all == shown { Presumed::Nothing } else { Presumed::More(Box::new(all)) };
        Facts { presumed, cut_off: !self.is_whole(), ..shown }
    }

    /// Whether the initial state leads to all states: else this is a part of a state space.
    pub fn is_whole(&self) -> bool {
        let mut reached = BTreeSet::from([0]);
        while let Some((_, _, to)) =
            self.transitions.iter().find(|(from, _, to)| reached.contains(from) && !reached.contains(to))
        {
            reached.insert(*to);
        }
        reached.len() as u64 == self.states
    }

    /// The pairs of `follows` when internal steps are followed from state to state, as far as each changes what the
    /// thread has enabled: what no extraction may miss.
    pub fn follows_from_state_to_state(&self) -> BTreeSet<(Label, Label)> {
        let parse = |text: &str| native::parse(text).expect("it is native");
        let local = |state: u64, thread: &str| -> BTreeSet<Label> {
            let visible = self.transitions.iter().filter(|(from, text, _)| *from == state && text != "tau");
            visible.map(|(_, text, _)| parse(text)).filter(|label| label.thread == thread).collect()
        };
        let mut pairs = BTreeSet::new();
        for (from, text, to) in self.transitions.iter().filter(|(_, text, _)| text != "tau") {
            let step = parse(text);
            if from == to && step.is_only_a_condition() {
                continue;
            }
            let mut reached = vec![*to];
            let mut position = 0;
            while let Some(&state) = reached.get(position) {
                position += 1;
                let here = local(state, &step.thread);
                for (before, text, after) in &self.transitions {
                    let moves = *before == state && text == "tau" && local(*after, &step.thread) != here;
                    if moves && !reached.contains(after) {
                        reached.push(*after);
                    }
                }
                pairs.extend(here.into_iter().map(|next| (step.clone(), next)));
            }
        }
        pairs
    }
}

/// What every thread has enabled in each state.
type Enabled = BTreeMap<String, BTreeMap<u64, BTreeSet<Label>>>;

/// An instruction of a thread, by name.
type Instruction = (String, String);

fn instruction(label: &Label) -> Instruction {
    (label.thread.clone(), label.instr.clone())
}

fn is_of(label: &Label, instruction: &Instruction) -> bool {
    label.thread == instruction.0 && label.instr == instruction.1
}

fn has(labels: &BTreeSet<Label>, instruction: &Instruction) -> bool {
    labels.iter().any(|label| is_of(label, instruction))
}

/// A state space, understood.
struct Steps {
    size: (u64, u64),
    transitions: Vec<(u64, Option<Label>, u64)>,
    enabled: Enabled,
    /// The states with an internal step to another one.
    internal: BTreeSet<u64>,
}

impl Steps {
    fn of(lts: &Lts) -> Steps {
        let parse = |text: &str| (text != "tau").then(|| native::parse(text).expect("it is native"));
        let transitions: Vec<(u64, Option<Label>, u64)> =
            lts.transitions.iter().map(|(from, text, to)| (*from, parse(text), *to)).collect();
        let labels = transitions.iter().filter_map(|(from, label, _)| Some((*from, label.as_ref()?)));
        let nothing: BTreeMap<u64, BTreeSet<Label>> = (0..lts.states).map(|state| (state, BTreeSet::new())).collect();
        let mut enabled = Enabled::new();
        for (state, label) in labels {
            let of_thread = enabled.entry(label.thread.clone()).or_insert_with(|| nothing.clone());
            of_thread.entry(state).or_default().insert(label.clone());
        }
        let internal = transitions.iter().filter(|(from, label, to)| label.is_none() && to != from);
        let internal = internal.map(|(from, _, _)| *from).collect();
        Steps { size: (lts.states, lts.transitions.len() as u64), transitions, enabled, internal }
    }

    /// The steps of threads that are not blocked evaluations.
    fn taken(&self) -> impl Iterator<Item = (u64, &Label, u64)> {
        let visible = self.transitions.iter().filter_map(|(from, label, to)| Some((*from, label.as_ref()?, *to)));
        visible.filter(|(from, label, to)| from != to || !label.is_only_a_condition())
    }

    fn has_internal(&self, state: u64) -> bool {
        self.internal.contains(&state)
    }

    /// The tables if this is what is enabled; these threads go on across steps of others.
    fn tables(&self, enabled: &Enabled, across_waits: &BTreeSet<&str>) -> Facts {
        let labels: BTreeSet<Label> = enabled.values().flat_map(BTreeMap::values).flatten().cloned().collect();
        let labels: Vec<Label> = labels.into_iter().collect();
        let id = |label: &Label| LabelId::new(labels.binary_search(label).expect("it is one of the labels"));
        let mut concurrent = Vec::new();
        for (thread, of_thread) in enabled {
            for (other, of_other) in enabled.iter().filter(|(other, _)| other > &thread) {
                for state in of_thread.keys() {
                    let others = || of_other.get(state).into_iter().flatten().map(id);
                    concurrent.extend(of_thread[state].iter().flat_map(|a| others().map(move |b| (id(a), b))));
                }
                assert_ne!(thread, other);
            }
        }
        let (mut follows, mut waits) = (Vec::new(), Waits::default());
        for (thread, local) in enabled {
            let shown = &self.enabled[thread];
            // A thread sees of a state what it has enabled, and whether there is an internal step to another state.
            let view = |state: u64| (&shown[&state], self.has_internal(state));
            let state_with: BTreeMap<&BTreeSet<Label>, u64> = shown.iter().map(|(&state, set)| (set, state)).collect();
            let mut moves = BTreeSet::new();
            for (from, label, to) in &self.transitions {
                let (before, after) = (view(*from), view(*to));
                let others = label.as_ref().is_some_and(|label| &label.thread != thread);
                if label.is_none() && before.0 != after.0 || others && across_waits.contains(thread.as_str()) {
                    moves.insert((before, after));
                }
            }
            for (from, label, to) in self.taken().filter(|(_, label, _)| &label.thread == thread) {
                if shown[&to].is_empty() {
                    waits.without.begin.push(id(label));
                }
                // What the thread has enabled after the step and after internal steps of the thread: those that
                // change what it has enabled, taken in any state that looks the same to it.
                let mut reached = vec![view(to)];
                let mut position = 0;
                while position < reached.len() {
                    let here = reached[position];
                    let next = moves.iter().filter(|(before, _)| *before == here).map(|(_, after)| *after);
                    // An internal step of another thread may have been the last one.
                    let alone = across_waits.contains(thread.as_str()).then_some((here.0, false));
                    for after in next.chain(alone) {
                        if !reached.contains(&after) {
                            reached.push(after);
                        }
                    }
                    position += 1;
                }
                let sets: BTreeSet<&BTreeSet<Label>> = reached.into_iter().map(|(set, _)| set).collect();
                let states = sets.into_iter().filter_map(|set| state_with.get(set));
                for next in states.flat_map(|state| &local[state]) {
                    follows.push(Follows { from: id(label), to: id(next), newly: !local[&from].contains(next) });
                }
            }
            // Steps of other threads: what was enabled before them, and what is new after them.
            for (from, _, to) in self.taken().filter(|(_, label, _)| &label.thread != thread) {
                let new = local[&to].difference(&local[&from]);
                waits.with_labels.extend(new.flat_map(|new| local[&from].iter().map(move |old| (id(old), id(new)))));
                if shown[&from].is_empty() && !shown[&to].is_empty() {
                    waits.without.end.extend(local[&to].iter().map(id));
                }
                if shown[&to].is_empty() && !shown[&from].is_empty() {
                    waits.without.lapse.extend(local[&from].iter().map(id));
                }
            }
        }
        Facts::canonical_with_waits(&labels, follows, waits, concurrent, self.size)
    }

    /// What is enabled, with the refused evaluations that may be there unseen.
    fn with_unseen_refusals(&self) -> Enabled {
        let mut all = self.enabled.clone();
        for (thread, local) in &self.enabled {
            let labels: BTreeSet<&Label> = local.values().flatten().collect();
            let own: BTreeSet<Instruction> = labels.iter().map(|&label| instruction(label)).collect();
            let shown: BTreeSet<&Instruction> = own.iter().filter(|of| self.shows_itself(of, local)).collect();
            for unseen in own.iter().filter(|of| !shown.contains(of)) {
                let shown_in = |state: &u64| -> BTreeSet<&Instruction> {
                    shown.iter().copied().filter(|of| has(&local[state], of)).collect()
                };
                let is_there = |state: &u64| has(&local[state], unseen);
                let companions: BTreeSet<&Instruction> =
                    local.keys().filter(|&s| is_there(s)).flat_map(shown_in).collect();
                let refused: Vec<Label> =
                    labels.iter().filter(|label| is_of(label, unseen)).flat_map(|label| self.refused(label)).collect();
                let conditional =
                    |of: &Instruction| labels.iter().any(|label| is_of(label, of) && has_condition(label));
                if !conditional(unseen) && companions.iter().any(|of| conditional(of)) {
                    continue;
                }
                for state in local.keys().filter(|&state| !is_there(state)) {
                    let here = shown_in(state);
                    if companions.is_empty() && here.is_empty() || !companions.is_disjoint(&here) {
                        all.get_mut(thread).and_then(|of| of.get_mut(state)).expect("a state").extend(refused.clone());
                    }
                }
            }
        }
        all
    }

    /// Whether the instruction is seen wherever its thread is about to evaluate it.
    fn shows_itself(&self, of: &Instruction, local: &BTreeMap<u64, BTreeSet<Label>>) -> bool {
        let labels = || local.values().flatten().filter(|label| is_of(label, of));
        let has_condition = labels().any(has_condition);
        let is_blocked = self.transitions.iter().any(|(from, label, to)| {
            from == to && label.as_ref().is_some_and(|label| is_of(label, of) && label.is_only_a_condition())
        });
        let is_taken = self.taken().any(|(_, label, _)| is_of(label, of));
        let is_refused = labels().any(|label| label.refused) || is_blocked && is_taken;
        let is_in = |state: u64| has(&local[&state], of);
        let comes_and_goes = self.taken().any(|(from, label, to)| label.thread != of.0 && is_in(from) != is_in(to));
        (!has_condition || is_refused) && !comes_and_goes
    }

    /// The labels of refused evaluations of the instruction of this label.
    fn refused(&self, label: &Label) -> Option<Label> {
        let own: BTreeSet<&Label> =
            self.enabled[&label.thread].values().flatten().filter(|other| other.instr == label.instr).collect();
        let reads = if own.iter().any(|label| has_condition(label)) {
            // Conditions stand in front here, and read what is shared.
            label.steps.iter().find_map(|step| match step {
                Step::Condition { reads } => Some(reads.clone()),
                Step::Assignment { .. } => None,
            })?
        } else {
            let others = self.enabled.iter().filter(|(thread, _)| **thread != label.thread);
            let steps = others.flat_map(|(_, local)| local.values().flatten()).flat_map(|label| &label.steps);
            let writes = steps.filter_map(|step| match step {
                Step::Assignment { writes, .. } => Some(writes),
                Step::Condition { .. } => None,
            });
            writes.flatten().filter(|write| !write.local).cloned().collect::<BTreeSet<_>>().into_iter().collect()
        };
        let instr = if own.iter().any(|label| has_condition(label)) { String::new() } else { "-wait".to_owned() };
        let instr = format!("{}{instr}", label.instr);
        let kind = if label.kind == LabelKind::Fence { LabelKind::Plain } else { label.kind };
        (!reads.is_empty()).then(|| Label {
            instr,
            kind,
            refused: true,
            steps: vec![Step::Condition { reads }],
            ..label.clone()
        })
    }

    /// Threads that another one lets go on with an internal step of theirs, as it seems to them.
    fn threads_that_wait_for_internal_steps(&self) -> BTreeSet<&str> {
        let waits = |(thread, local): &(&String, &BTreeMap<u64, BTreeSet<Label>>)| {
            let internal = self.transitions.iter().filter(|(_, label, _)| label.is_none());
            let own: BTreeSet<_> =
                internal.filter(|(from, _, to)| local[from] != local[to]).map(|(from, _, _)| &local[from]).collect();
            self.taken().any(|(from, label, to)| {
                label.thread != **thread
                    && !self.has_internal(from)
                    && self.has_internal(to)
                    && own.contains(&local[&to])
            })
        };
        self.enabled.iter().filter(waits).map(|(thread, _)| thread.as_str()).collect()
    }
}

fn has_condition(label: &Label) -> bool {
    label.steps.iter().any(|step| matches!(step, Step::Condition { .. }))
}

/// A random label text; the same label may come in two spellings.
fn random_label(rng: &mut StdRng, threads: usize, instrs: usize) -> String {
    let (thread, instr) = (rng.random_range(0..threads), rng.random_range(0..instrs));
    let steps = ["x :=", "? y", "?! y", "?", "y := x", "? x; ~r := x@(~i)", "fence", "atomic x := x", ""];
    let steps = *steps.choose(rng).expect("not empty");
    let spelling = if rng.random_bool(0.5) { steps.replace(' ', "  ").replace("  :=", ":=") } else { steps.to_owned() };
    format!("T{thread}.{instr}: {spelling}")
}
