//! The programs whose state spaces are bundled in `lts/`: litmus tests, mutual exclusion algorithms, the paper's
//! examples.

use super::mini::{Expr, Program, Thread, Var, apply, element, is, local, or, set, shared, wait};

/// The bundled programs by the name of their file.
pub fn bundled() -> Vec<(String, Program)> {
    let mut programs: Vec<(String, Program)> = [
        ("sb", sb_ring(2)),
        ("mp", message_passing(true)),
        ("mp-poll", message_passing(false)),
        ("lb", program([thread().reads("x").writes("y", 1), thread().reads("y").writes("x", 1)])),
        ("iriw", iriw()),
        ("2+2w", program([thread().writes("x", 1).writes("y", 2), thread().writes("y", 1).writes("x", 2)])),
        ("s", program([thread().writes("x", 2).writes("y", 1), thread().reads("y").writes("x", 1)])),
        ("r", program([thread().writes("x", 1).writes("y", 1), thread().writes("y", 2).reads("x")])),
        ("wrc", wrc()),
        ("isa2", isa2()),
        ("handshake", handshake()),
        ("peterson", peterson()),
        ("dekker", dekker()),
        ("example1-different", example1(1)),
        ("example1-equal", example1(0)),
        ("counter", counter()),
        ("snapshot", snapshot()),
        ("one-instruction-loop", one_instruction_loop()),
    ]
    .map(|(name, program)| (name.to_owned(), program))
    .into();
    // Longer rings are generated where they are tested: their files would be large.
    programs.extend((3..=6).map(|n| (format!("sb-ring-{n}"), sb_ring(n))));
    programs
}

fn program<const N: usize>(threads: [Thread; N]) -> Program {
    Program::new(threads.into())
}

fn thread() -> Thread {
    Thread::default()
}

impl Thread {
    fn writes(self, name: &str, value: i64) -> Thread {
        self.then(set(shared(name), value))
    }

    /// Reads into a local of its own, `r0`, `r1`, …
    fn reads(self, name: &str) -> Thread {
        let register = format!("r{}", self.instrs.len());
        self.then(set(local(&register), shared(name)))
    }
}

/// Store buffering, n threads in a ring: each writes its own flag and reads the next one's.
pub fn sb_ring(n: usize) -> Program {
    let flag = |i: usize| match n {
        2 => ["x", "y"][i % n].to_owned(),
        _ => format!("x{}", i % n),
    };
    Program::new((0..n).map(|i| thread().writes(&flag(i), 1).reads(&flag(i + 1))).collect())
}

/// Message passing; the reader awaits the flag, or reads it once.
fn message_passing(awaits: bool) -> Program {
    let reader = if awaits { thread().then(wait(is(shared("f"), 1))) } else { thread().reads("f") };
    program([thread().writes("x", 1).writes("f", 1), reader.reads("x")])
}

/// Independent reads of independent writes.
fn iriw() -> Program {
    program([
        thread().writes("x", 1),
        thread().writes("y", 1),
        thread().reads("x").reads("y"),
        thread().reads("y").reads("x"),
    ])
}

/// Write to read causality.
fn wrc() -> Program {
    program([thread().writes("x", 1), thread().reads("x").writes("y", 1), thread().reads("y").reads("x")])
}

/// Message passing over a third thread.
fn isa2() -> Program {
    program([
        thread().writes("x", 1).writes("y", 1),
        thread().reads("y").writes("z", 1),
        thread().reads("z").reads("x"),
    ])
}

/// Store buffering between T0 and T2, but T0 waits in between for an answer of T1 to its own write.
pub fn handshake() -> Program {
    program([
        thread().writes("x", 1).then(wait(is(shared("f"), 1))).reads("y"),
        thread().then(wait(is(shared("x"), 1))).writes("f", 1),
        thread().writes("y", 1).reads("x"),
    ])
}

/// Peterson's algorithm: entry protocol (0 to 2), critical section (3, no shared access), exit (4), in a loop.
fn peterson() -> Program {
    let participant = |me: i64| {
        let other = 1 - me;
        thread()
            .writes(&format!("flag{me}"), 1)
            .writes("turn", other)
            .then(wait(or(is(shared(&format!("flag{other}")), 0), is(shared("turn"), me))))
            .then(set(local("work"), 0))
            .again(set(shared(&format!("flag{me}")), 0))
    };
    program([participant(0), participant(1)])
}

/// Dekker's algorithm, in a loop. While the other one wants to enter (1), and it is the other one's turn (3), step
/// back (5), wait (6) and claim again (7).
fn dekker() -> Program {
    let participant = |me: i64| {
        let other = 1 - me;
        let (mine, others) = (format!("flag{me}"), format!("flag{other}"));
        thread()
            .jump(0, 1, set(shared(&mine), 1))
            .jump(1, 2, wait(is(shared(&others), 1)))
            .jump(1, 6, wait(is(shared(&others), 0)))
            .jump(2, 3, wait(is(shared("turn"), other)))
            .jump(2, 1, wait(is(shared("turn"), me)))
            .jump(3, 4, set(shared(&mine), 0))
            .jump(4, 5, wait(is(shared("turn"), me)))
            .jump(5, 1, set(shared(&mine), 1))
            .jump(6, 7, set(local("work"), 0))
            .jump(7, 8, set(shared("turn"), other))
            .jump(8, 0, set(shared(&mine), 0))
    };
    program([participant(0), participant(1)])
}

/// Example 1 of the paper (Fig. 5): `f()` is 0, `g()` is given; the elements of v start at 2.
fn example1(g: i64) -> Program {
    let element = || -> Var { element("v", local("x")) };
    let less_one = || -> Expr { apply(|a, b| a - b, element(), 1) };
    let participant = |me: i64, index: i64| {
        let (mine, others) = (format!("b{me}"), format!("b{}", 1 - me));
        thread()
            .local("x", index)
            .writes(&mine, 1)
            .then(wait(is(shared(&others), 1)))
            .writes(&mine, 0)
            .then(set(element(), less_one()))
            .again(wait(apply(|a, b| i64::from(a > b), element(), 0)))
    };
    program([participant(0, 0), participant(1, g)]).initially("v[0]", 2).initially("v[1]", 2)
}

/// Fig. 4 (i) of the paper: an increment against a plain write.
fn counter() -> Program {
    program([thread().then(set(shared("x"), apply(|a, b| a + b, shared("x"), 1))), thread().writes("x", 5)])
}

/// Fig. 4 (ii) of the paper: two writes in one instruction against two reads in one instruction.
fn snapshot() -> Program {
    program([
        thread().then(set(shared("x"), 1).and_set(shared("y"), 1)),
        thread().then(set(local("r0"), shared("x")).and_set(local("r1"), shared("y"))),
    ])
}

/// Two threads that copy for ever, in one instruction each.
fn one_instruction_loop() -> Program {
    program([thread().again(set(shared("y"), shared("x"))), thread().again(set(shared("x"), shared("y")))])
        .initially("y", 1)
}
