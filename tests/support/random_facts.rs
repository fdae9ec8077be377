//! Random labels and random facts: small programs as the analysis sees them, with no program behind them.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::facts::{Facts, Follows};
use seqcon::ids::{ControlAt, LabelId};
use seqcon::lts::label::{Access, Label, LabelKind, Step};
use seqcon::outline::Outline;
use seqcon::program::{Instruction, InstructionKind, Program, Span, Thread};
use std::collections::{BTreeMap, BTreeSet};

/// How large and how wild.
#[derive(Clone, Copy)]
pub struct Shape {
    pub most_threads: usize,
    pub most_instrs: usize,
    pub most_locations: usize,
    /// The most shared accesses of one thread, all labels together.
    pub most_accesses: usize,
    /// Whether control flow goes back.
    pub loops: bool,
    /// Whether locals, conditions and computed addresses occur: what dependencies are made of.
    pub dependencies: bool,
}

const LOCALS: [&str; 2] = ["r", "s"];
const LOCATIONS: [&str; 6] = ["x", "y", "z", "v[0]", "v[1]", "v[2]"];

/// The same facts, with control states that instructions begin at and lead to at random.
pub fn with_control_states(rng: &mut StdRng, facts: Facts) -> Facts {
    let mut threads: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for label in &facts.labels {
        threads.entry(&label.thread).or_default().insert(&label.instr);
    }
    let thread = |(name, instrs): (&str, BTreeSet<&str>)| {
        let mut instruction = |name: &str| Instruction {
            name: name.to_owned(),
            from: ControlAt::new(rng.random_range(0..2)),
            to: ControlAt::new(rng.random_range(0..2)),
            priority: 0,
            condition: None,
            assignments: Vec::new(),
            kind: InstructionKind::Plain,
            span: Span::default(),
        };
        Thread {
            name: name.to_owned(),
            locals: Vec::new(),
            states: vec!["p".to_owned(), "q".to_owned()],
            initial: ControlAt(0),
            instructions: instrs.into_iter().map(&mut instruction).collect(),
        }
    };
    let mut threads: Vec<Thread> = threads.into_iter().map(thread).collect();
    threads.reverse();
    let program = Program { name: "m".to_owned(), shared: Vec::new(), threads };
    Facts { outline: Some(Outline::of_program(&program)), ..facts }
}

/// Random facts; every relation that the format allows can occur, so more than state spaces have.
pub fn random_facts(rng: &mut StdRng, shape: &Shape) -> Facts {
    let locations = &LOCATIONS[..rng.random_range(1..=shape.most_locations)];
    let mut labels: Vec<Label> = Vec::new();
    let mut follows = Vec::new();
    for thread in 0..rng.random_range(2..=shape.most_threads) {
        let first = labels.len();
        let mut accesses = 0;
        let instrs = rng.random_range(1..=shape.most_instrs);
        for instr in 0..instrs {
            // An index that resolves differently, or a condition that is false, gives an instruction several labels.
            for _ in 0..if rng.random_ratio(1, 5) { 2 } else { 1 } {
                let label = random_label(rng, shape, locations, &format!("T{thread}"), &instr.to_string());
                let made = mentioned(&label);
                if labels[first..].contains(&label) || accesses + made > shape.most_accesses {
                    continue;
                }
                accesses += made;
                labels.push(label);
            }
        }
        follows.extend(random_follows(rng, shape, first..labels.len()));
    }
    let mut concurrent = Vec::new();
    let share = *[0, 1, 2, 4].choose(rng).expect("not empty");
    for a in 0..labels.len() {
        for b in a + 1..labels.len() {
            if labels[a].thread != labels[b].thread && rng.random_ratio(share, 4) {
                concurrent.push((LabelId::new(a), LabelId::new(b)));
            }
        }
    }
    Facts::canonical(&labels, follows, concurrent, (1, 1))
}

/// Mostly from one label to the next, sometimes past it, and back if loops are allowed.
fn random_follows(rng: &mut StdRng, shape: &Shape, labels: std::ops::Range<usize>) -> Vec<Follows> {
    let mut follows = Vec::new();
    for from in labels.clone() {
        for to in labels.clone() {
            let chance = match to.checked_sub(from) {
                Some(1) => 17,
                Some(0) | None if !shape.loops => 0,
                Some(0) => 2,
                Some(_) => 6,
                None => 4,
            };
            if rng.random_ratio(chance, 20) {
                follows.push(Follows { from: LabelId::new(from), to: LabelId::new(to), newly: rng.random_ratio(3, 4) });
            }
        }
    }
    follows
}

/// One label: an optional condition, then assignments; or a fence; atomic now and then.
fn random_label(rng: &mut StdRng, shape: &Shape, locations: &[&str], thread: &str, instr: &str) -> Label {
    let kind = match rng.random_range(0..20) {
        0 => LabelKind::Fence,
        1 | 2 => LabelKind::Atomic,
        _ => LabelKind::Plain,
    };
    let mut steps = Vec::new();
    if kind != LabelKind::Fence {
        if shape.dependencies && rng.random_ratio(1, 4) {
            let count = rng.random_range(1..=2);
            steps.push(Step::Condition { reads: random_accesses(rng, shape, locations, count) });
        }
        let assignments = match rng.random_range(0..8) {
            0 if !steps.is_empty() => 0,
            1..=3 => 2,
            _ => 1,
        };
        for _ in 0..assignments {
            let reads = rng.random_range(0..=1) + rng.random_range(0..=1) * rng.random_range(0..=1);
            let reads = random_accesses(rng, shape, locations, reads);
            let writes = 1 + usize::from(rng.random_ratio(1, 8));
            let writes = (0..writes).map(|_| random_target(rng, shape, locations)).collect();
            steps.push(Step::Assignment { writes, reads });
        }
    }
    let only_condition = steps.iter().all(|step| matches!(step, Step::Condition { .. }));
    let refused = only_condition && !steps.is_empty() && rng.random_bool(0.5);
    Label { thread: thread.to_owned(), instr: instr.to_owned(), kind, refused, steps }
}

fn random_accesses(rng: &mut StdRng, shape: &Shape, locations: &[&str], count: usize) -> Vec<Access> {
    (0..count).map(|_| random_read(rng, shape, locations, 0)).collect()
}

fn random_read(rng: &mut StdRng, shape: &Shape, locations: &[&str], depth: usize) -> Access {
    let local = shape.dependencies && rng.random_ratio(1, 3);
    if local {
        return Access { name: random_name(rng, &LOCALS), local, address: Vec::new() };
    }
    Access { name: random_name(rng, locations), local, address: random_address(rng, shape, locations, depth) }
}

fn random_target(rng: &mut StdRng, shape: &Shape, locations: &[&str]) -> Access {
    // Without dependencies a local still makes an instruction that only reads.
    let local = rng.random_ratio(2, 5);
    if local {
        return Access { name: random_name(rng, &LOCALS), local, address: Vec::new() };
    }
    Access { name: random_name(rng, locations), local, address: random_address(rng, shape, locations, 0) }
}

fn random_address(rng: &mut StdRng, shape: &Shape, locations: &[&str], depth: usize) -> Vec<Access> {
    if shape.dependencies && depth < 2 && rng.random_ratio(1, 6) {
        vec![random_read(rng, shape, locations, depth + 1)]
    } else {
        Vec::new()
    }
}

fn random_name(rng: &mut StdRng, names: &[&str]) -> String {
    (*names.choose(rng).expect("there are names")).to_owned()
}

/// How many shared accesses the label mentions.
fn mentioned(label: &Label) -> usize {
    fn count(access: &Access) -> usize {
        usize::from(!access.local) + access.address.iter().map(count).sum::<usize>()
    }
    let of_step = |step: &Step| -> usize {
        match step {
            Step::Condition { reads } => reads.iter().map(count).sum(),
            Step::Assignment { writes, reads } => writes.iter().chain(reads).map(count).sum(),
        }
    };
    label.steps.iter().map(of_step).sum()
}
