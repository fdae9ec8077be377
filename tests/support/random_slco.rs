//! Random specifications, as text: small programs over three variables and an array whose values stay 0 and 1, with
//! priorities and indices that can be out of range.

use rand::Rng;
use rand::rngs::StdRng;
use std::fmt::Write;

/// What may occur.
#[derive(Clone, Copy)]
pub struct Shape {
    /// At most so many threads, at least two.
    pub most_threads: usize,
    /// At most so many instructions a thread, at least two; one or two if there are more than three threads.
    pub most_instructions: usize,
    /// Control can go back.
    pub loops: bool,
    /// Instructions can have several accesses.
    pub composites: bool,
    /// Instructions can wait for a condition.
    pub waits: bool,
    /// Fences and atomic instructions can occur.
    pub fences: bool,
}

/// How long a thread is.
#[derive(Clone, Copy)]
struct Size {
    instructions: usize,
    /// The most assignments of an instruction.
    assignments: usize,
}

/// A random specification.
pub fn random_specification(rng: &mut StdRng, shape: &Shape) -> String {
    let mut text = String::from(
        "model random {\n  classes G {\n    variables Integer x Integer y Integer z Integer[2] a\n    state machines\n",
    );
    let threads = rng.random_range(2..=shape.most_threads);
    // The number of runs grows with the product of the threads' lengths: the more threads, the shorter.
    let (instructions, assignments) = match threads {
        2 => (2..=shape.most_instructions, 3),
        3 => (2..=shape.most_instructions, 2),
        _ => (1..=2, 1),
    };
    for thread in 0..threads {
        let count = rng.random_range(instructions.clone());
        random_thread(rng, shape, thread, Size { instructions: count, assignments }, &mut text);
    }
    text.push_str("  }\n  objects g : G()\n}\n");
    text
}

fn random_thread(rng: &mut StdRng, shape: &Shape, thread: usize, size: Size, text: &mut String) {
    let count = size.instructions;
    let states: Vec<String> = (1..=count).map(|state| format!("S{state}")).collect();
    let _ = write!(
        text,
        "    T{thread} {{\n      variables Integer r Integer s\n      initial S0 states {}\n      transitions\n",
        states.join(" ")
    );
    for from in 0..count {
        let goes_back = shape.loops && rng.random_bool(0.3);
        let to = if goes_back { rng.random_range(0..=from) } else { from + 1 };
        let _ = writeln!(text, "        S{from} -> S{to} {{ {} }}", random_statement(rng, shape, size));
        if goes_back || rng.random_bool(0.15) {
            let priority = if shape.composites && rng.random_bool(0.2) { "1: " } else { "" };
            let statement = random_statement(rng, shape, size);
            let _ = writeln!(text, "        {priority}S{from} -> S{} {{ {statement} }}", from + 1);
        }
    }
    text.push_str("    }\n");
}

fn random_statement(rng: &mut StdRng, shape: &Shape, size: Size) -> String {
    if shape.fences && rng.random_bool(0.1) {
        return "fence".to_owned();
    }
    if shape.waits && rng.random_bool(0.2) {
        return format!("{} = {}", location(rng), rng.random_range(0..2));
    }
    if shape.composites && rng.random_bool(0.4) {
        let composite = random_composite(rng, shape, size);
        return if shape.fences && rng.random_bool(0.2) { format!("atomic {composite}") } else { composite };
    }
    match rng.random_range(0..5) {
        0 | 1 => format!("{} := {}", location(rng), private_value(rng)),
        2 | 3 => format!("{} := {}", local(rng), location(rng)),
        _ if rng.random_bool(0.5) => format!("a[r] := {}", private_value(rng)),
        _ => "s := a[r]".to_owned(),
    }
}

fn random_composite(rng: &mut StdRng, shape: &Shape, size: Size) -> String {
    let mut statements = Vec::new();
    if shape.waits && rng.random_bool(0.4) {
        statements.push(format!("{} = {}", location(rng), rng.random_range(0..2)));
    }
    for _ in 0..rng.random_range(1..=size.assignments) {
        let statement = match rng.random_range(0..6) {
            0 => format!("{} := 1 - {}", location(rng), location(rng)),
            // Three accesses: where there are few threads.
            5 if size.assignments > 2 => {
                let both = location(rng);
                format!("{} := ({both} + {both}) % 2", [location(rng), local(rng)][rng.random_range(0..2)])
            }
            1 => format!("{} := a[{}]", local(rng), ["x", "y", "r", "r + s"][rng.random_range(0..4)]),
            2 => format!("a[{}] := {}", ["x", "s", "r + s"][rng.random_range(0..3)], private_value(rng)),
            3 => format!("{} := {}", location(rng), private_value(rng)),
            _ => format!("{} := {}", local(rng), location(rng)),
        };
        statements.push(statement);
    }
    format!("[{}]", statements.join("; "))
}

fn location(rng: &mut StdRng) -> &'static str {
    ["x", "y", "z", "x", "y", "a[0]", "a[1]"][rng.random_range(0..7)]
}

fn local(rng: &mut StdRng) -> &'static str {
    ["r", "s"][rng.random_range(0..2)]
}

fn private_value(rng: &mut StdRng) -> &'static str {
    ["0", "1", "1", "1 - r", "s"][rng.random_range(0..5)]
}
