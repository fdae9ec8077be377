//! Random specifications with all that orders memory: marks, partial fences, atomic instructions that are no fences
//! and access several locations, locals that are overwritten on one branch, computed indices, branches that join.
//! Two to four threads; without loops unless asked for.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use std::fmt::Write;

/// What may occur.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The memory model whose fences and marks occur.
    pub model: &'static str,
    /// Control can go back.
    pub loops: bool,
    /// Instructions that are not one step can have several accesses.
    pub composites: bool,
    /// Instructions can wait for a condition.
    pub waits: bool,
}

impl Shape {
    fn fences(self) -> &'static [&'static str] {
        match self.model {
            "power" => &["fence lightweight", "fence stores", "fence control", "fence"],
            "armv7" => &["fence stores", "fence control", "fence"],
            "armv8" => &["fence stores", "fence loads", "fence control", "fence"],
            "riscv" => &["fence stores", "fence loads", "fence r,r", "fence rw,w", "fence w,r", "fence lightweight"],
            _ => &["fence acquire", "fence release", "fence acq_rel", "fence"],
        }
    }

    /// The marks of an instruction that reads, or of one that only writes.
    fn marks(self, reads: bool) -> &'static [&'static str] {
        match (self.model, reads) {
            ("armv8", true) => &["acquire ", "acquire_pc "],
            ("armv8", false) => &["release "],
            ("rc11", true) => &["relaxed ", "acquire ", "seq_cst "],
            ("rc11", false) => &["relaxed ", "release ", "seq_cst "],
            _ => &[""],
        }
    }

    fn atomics(self, reads: bool) -> &'static [&'static str] {
        match (self.model, reads) {
            ("power" | "armv7", _) => &["atomic", "atomic relaxed", "atomic relaxed"],
            (_, true) => &["atomic", "atomic relaxed", "atomic acquire", "atomic release", "atomic acq_rel"],
            (_, false) => &["atomic", "atomic relaxed", "atomic release"],
        }
    }
}

/// A program in the making.
struct Text<'r> {
    rng: &'r mut StdRng,
    shape: Shape,
    locations: usize,
    value: usize,
}

/// A random specification.
pub fn random_ordered(rng: &mut StdRng, shape: Shape) -> String {
    let mut text = String::from(
        "model random { classes G { variables Integer x Integer y Integer z Integer[2] v state machines\n",
    );
    let threads = *[2, 2, 3, 3, 3, 4].choose(rng).unwrap();
    let locations = *[2, 2, 3, 4].choose(rng).unwrap();
    let mut program = Text { rng, shape, locations, value: 0 };
    for thread in 0..threads {
        let (least, most) = match threads {
            2 => (2, 5),
            3 => (2, 3),
            _ => (1, 2),
        };
        let count = program.rng.random_range(least..=most);
        program.thread(thread, count, &mut text);
    }
    text.push_str("} objects g : G() }\n");
    text
}

impl Text<'_> {
    fn thread(&mut self, number: usize, count: usize, text: &mut String) {
        let states: Vec<String> = (1..=count).map(|state| format!("S{state}")).collect();
        let states = states.join(" ");
        writeln!(text, " T{number} {{ variables Integer r Integer s initial S0 states {states} transitions").unwrap();
        for from in 0..count {
            let mut step = |from: usize, to: usize, statement: &str| {
                writeln!(text, "  S{from} -> S{to} {{ {statement} }}").unwrap();
            };
            let to = from + 1;
            let local = self.local();
            if self.shape.waits && self.rng.random_bool(0.15) {
                let awaited = format!("{} = {}", self.location(), self.rng.random_range(0..2));
                step(from, to, &awaited);
            } else if to < count && self.rng.random_bool(0.15) {
                // A branch that joins, with work on one side.
                step(from, self.rng.random_range(to..=to + 1), &format!("{local} = 0"));
                let (work, _) = self.plain();
                step(from, to, &format!("[{local} <> 0; {work}]"));
            } else {
                let statement = self.statement();
                step(from, to, &statement);
                if self.rng.random_bool(0.1) {
                    let other = self.statement();
                    step(from, to, &other);
                }
            }
            if self.shape.loops && self.rng.random_bool(0.25) {
                step(to, self.rng.random_range(0..=from), &format!("{local} = 0"));
            }
        }
        text.push_str(" }\n");
    }

    fn local(&mut self) -> &'static str {
        ["r", "s"][self.rng.random_range(0..2)]
    }

    fn location(&mut self) -> &'static str {
        ["x", "y", "v[0]", "z"][self.rng.random_range(0..self.locations)]
    }

    fn next_value(&mut self) -> usize {
        self.value += 1;
        self.value % 3 + 1
    }

    fn value(&mut self) -> String {
        match self.rng.random_range(0..5) {
            0 => "(r - r) + 1".to_owned(),
            1 => "s".to_owned(),
            _ => self.next_value().to_string(),
        }
    }

    /// A statement with one access, and whether it reads.
    fn plain(&mut self) -> (String, bool) {
        match self.rng.random_range(0..12) {
            0..=3 => (format!("{} := {}", self.location(), self.value()), false),
            8 if self.locations > 2 => (format!("v[r * 0] := {}", self.value()), false),
            9 if self.locations > 2 => ("s := v[r * 0]".to_owned(), true),
            10 if self.locations > 2 => ("r := v[s * 0]".to_owned(), true),
            8 => (format!("{} := s * 0 + 2", self.location()), false),
            _ => (format!("{} := {}", self.local(), self.location()), true),
        }
    }

    fn statement(&mut self) -> String {
        if self.rng.random_bool(0.1) {
            return (*self.shape.fences().choose(self.rng).unwrap()).to_owned();
        }
        if self.rng.random_bool(0.08) {
            return (*["r := 0", "s := r", "r := s", "r := r + s"].choose(self.rng).unwrap()).to_owned();
        }
        if self.rng.random_bool(0.12) {
            let (first, second, value) = (self.location(), self.location(), self.next_value());
            let inner = match self.rng.random_range(0..4) {
                0 => format!("[s := {first}; {second} := {value}]"),
                1 => format!("[{first} := {value}; {second} := {value}]"),
                2 => format!("[s := {first}; {first} := s + 1]"),
                _ => format!("[s := {first}; {first} := {value}]"),
            };
            return format!("{} {inner}", self.shape.atomics(inner.contains("s :=")).choose(self.rng).unwrap());
        }
        let (text, reads) = self.plain();
        if self.shape.composites && self.rng.random_bool(0.3) {
            return format!("[{text}; {}]", self.plain().0);
        }
        if self.rng.random_bool(0.25) {
            return format!("{}{text}", self.shape.marks(reads).choose(self.rng).unwrap());
        }
        text
    }
}
