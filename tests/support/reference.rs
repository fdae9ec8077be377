//! Facts by brute force, straight from the definitions of method §2, and random state spaces to try them on.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use seqcon::facts::{Facts, Follows, Waits};
use seqcon::ids::LabelId;
use seqcon::lts::dialect::native;
use seqcon::lts::label::Label;
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

    /// A random state space in the native dialect: now small with many self-loops and internal steps, now with many threads.
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
        let parsed: Vec<(u64, Option<Label>, u64)> = self
            .transitions
            .iter()
            .map(|(from, text, to)| (*from, (text != "tau").then(|| native::parse(text).expect("it is native")), *to))
            .collect();
        let labels: BTreeSet<Label> = parsed.iter().filter_map(|(_, label, _)| label.clone()).collect();
        let labels: Vec<Label> = labels.into_iter().collect();
        let id = |label: &Label| LabelId::new(labels.binary_search(label).expect("it is one of the labels"));
        let thread = |id: LabelId| &labels[id.index()].thread;
        let mut out: BTreeMap<u64, BTreeSet<LabelId>> =
            (0..self.states).map(|state| (state, BTreeSet::new())).collect();
        for (from, label, _) in &parsed {
            out.entry(*from).or_default().extend(label.iter().map(id));
        }
        let mut concurrent = Vec::new();
        for enabled in out.values() {
            for &a in enabled {
                concurrent.extend(enabled.iter().filter(|&&b| thread(a) != thread(b)).map(|&b| (a, b)));
            }
        }
        let threads: BTreeSet<&String> = labels.iter().map(|label| &label.thread).collect();
        let mut follows = Vec::new();
        let mut waits = Waits::default();
        for of in threads {
            let local: BTreeMap<u64, BTreeSet<LabelId>> = out
                .iter()
                .map(|(&state, enabled)| (state, enabled.iter().copied().filter(|&id| thread(id) == of).collect()))
                .collect();
            // A thread sees of a state what it has enabled, and whether there is an internal step to another state.
            let view = |state: &u64| {
                let has_internal =
                    parsed.iter().any(|(from, label, to)| from == state && label.is_none() && to != from);
                (&local[state], has_internal)
            };
            let internal: BTreeSet<_> =
                parsed.iter().filter(|step| step.1.is_none()).map(|(from, _, to)| (view(from), view(to))).collect();
            let changes = internal.iter().filter(|(before, after)| before.0 != after.0);
            for (from, label, to) in &parsed {
                let Some(label) = label.as_ref().filter(|label| &label.thread == of) else { continue };
                if from == to && label.is_only_a_condition() {
                    continue;
                }
                if local[to].is_empty() {
                    waits.without.begin.push(id(label));
                }
                // What the thread has enabled after the step and after internal steps of the thread: those that change what
                // it has enabled, taken in any state that looks the same to it.
                let mut reached = vec![view(to)];
                let mut position = 0;
                while position < reached.len() {
                    for &(before, after) in changes.clone() {
                        if before == reached[position] && !reached.contains(&after) {
                            reached.push(after);
                        }
                    }
                    position += 1;
                }
                for &next in reached.into_iter().flat_map(|(local, _)| local) {
                    follows.push(Follows { from: id(label), to: next, newly: !out[from].contains(&next) });
                }
            }
            // Steps of other threads: what was enabled before them, and what is new after them.
            for (from, label, to) in &parsed {
                if label.as_ref().is_some_and(|label| &label.thread != of) {
                    let new = local[to].iter().filter(|label| !local[from].contains(label));
                    waits.with_labels.extend(new.flat_map(|&new| local[from].iter().map(move |&old| (old, new))));
                    if local[from].is_empty() {
                        waits.without.end.extend(&local[to]);
                    }
                    if local[to].is_empty() {
                        waits.without.lapse.extend(&local[from]);
                    }
                }
            }
        }
        let size = (self.states, self.transitions.len() as u64);
        let facts = Facts::canonical_with_waits(&labels, follows, waits, concurrent, size);
        Facts { cut_off: !self.is_whole(), ..facts }
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

    /// The pairs of `follows` when internal steps are followed from state to state, as far as each changes what the thread has
    /// enabled: what no extraction may miss.
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

/// A random label text; the same label may come in two spellings.
fn random_label(rng: &mut StdRng, threads: usize, instrs: usize) -> String {
    let (thread, instr) = (rng.random_range(0..threads), rng.random_range(0..instrs));
    let steps = ["x :=", "? y", "?! y", "?", "y := x", "? x; ~r := x@(~i)", "fence", "atomic x := x", ""];
    let steps = *steps.choose(rng).expect("not empty");
    let spelling = if rng.random_bool(0.5) { steps.replace(' ', "  ").replace("  :=", ":=") } else { steps.to_owned() };
    format!("T{thread}.{instr}: {spelling}")
}
