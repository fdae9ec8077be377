//! Facts by brute force, straight from the definitions of method §2, and random state spaces to try them on.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use seqcon::facts::{Facts, Follows};
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
        let label = |text: &str| native::parse(text).expect("the labels are native");
        let is_internal = |text: &str| text == "tau";
        let mut out: BTreeMap<u64, BTreeSet<Label>> = BTreeMap::new();
        for (from, text, _) in self.transitions.iter().filter(|(_, text, _)| !is_internal(text)) {
            out.entry(*from).or_default().insert(label(text));
        }
        let out = |state: u64| out.get(&state).cloned().unwrap_or_default();
        let of_thread = |state: u64, thread: &str| -> BTreeSet<Label> {
            out(state).into_iter().filter(|label| label.thread == thread).collect()
        };
        let labels: Vec<Label> = (0..self.states).flat_map(out).collect::<BTreeSet<Label>>().into_iter().collect();
        let id = |label: &Label| LabelId::new(labels.binary_search(label).expect("it is one of the labels"));
        let mut concurrent = Vec::new();
        for state in 0..self.states {
            for a in &out(state) {
                for b in out(state).iter().filter(|b| b.thread != a.thread) {
                    concurrent.push((id(a), id(b)));
                }
            }
        }
        let mut follows = Vec::new();
        for (from, text, to) in self.transitions.iter().filter(|(_, text, _)| !is_internal(text)) {
            let step = label(text);
            if from == to && step.is_only_a_condition() {
                continue;
            }
            // What the thread has enabled after the step and after internal steps of the thread: those that change what it
            // has enabled, taken in any state that looks the same to it.
            let mut reached = vec![of_thread(*to, &step.thread)];
            let mut position = 0;
            while position < reached.len() {
                for (before, _, after) in self.transitions.iter().filter(|(_, text, _)| is_internal(text)) {
                    let after = of_thread(*after, &step.thread);
                    if of_thread(*before, &step.thread) == reached[position] && !reached.contains(&after) {
                        reached.push(after);
                    }
                }
                position += 1;
            }
            for next in reached.iter().flatten() {
                let newly = !out(*from).contains(next);
                follows.push(Follows { from: id(&step), to: id(next), newly });
            }
        }
        Facts::canonical(&labels, follows, concurrent, (self.states, self.transitions.len() as u64))
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
