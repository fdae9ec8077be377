//! Table 1 of the paper on persistence: every program that the corpus has, with the number of fences that the paper gives.
//!
//! The paper counts a fence for each control state at which it is put: several writes that lead to one state need one. seqcon puts fences after or before instructions, and so has more where several instructions lead to a state and
//! several leave it (LIFO iWSQ). So both numbers are compared, that of fences and that of control states. Flattened programs are small, so the tests take those; where they need more fences than the program itself (two of 35), that is explored.
//! Programs that are large even so are in `scripts/bench-persist table`.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod support;

use seqcon::analysis::{Abstraction, Options};
use seqcon::engines::{self, Approach, Task};
use seqcon::explore::Limits;
use seqcon::lang;
use seqcon::memory::MemoryModel;
use seqcon::program::compiled::Compiled;
use seqcon::repair::Repair;
use seqcon::safety::Place;
use seqcon::weak::split::SplitProgram;
use seqcon::weak::verify::{Property, Question, Verdict, verify};
use seqcon::weak::{Granularity, Machine};
use std::collections::BTreeSet;
use std::path::Path;
use support::corpus::corpus_dir;

/// File, fences of the paper, fences after instructions, and how it is looked at.
const TABLE: [(&str, usize, usize, How); 31] = [
    ("mutex/simple_dekker/simple_dekker", 4, 4, How::Flattened),
    ("mutex/bakery3/bakery3", 6, 6, How::Flattened),
    ("mutex/dclocking/dc_locking", 0, 0, How::Flattened),
    ("mutex/spinlock/spinlock", 0, 0, How::Explored),
    ("mutex/ticket_spin_lock/ticket_spin_lock", 0, 0, How::Explored),
    ("mutex/inline_pgsql/inline_pgsql", 0, 0, How::Explored),
    ("mutex/burns/burns", 9, 9, How::Flattened),
    ("mutex/szymanski2/szymanski2", 8, 8, How::Explored),
    ("mutex/lamport2/lamport2", 8, 8, How::Explored),
    ("mutex/lamport3/lamport3", 12, 12, How::Flattened),
    ("mutex/clhlock/clhlock", 4, 4, How::Flattened),
    ("mutex/dekker/dekker", 8, 8, How::Flattened),
    ("schedule/pgsql/pgsql", 7, 7, How::Flattened),
    ("schedule/alternating_bit_protocol/alternating_bit", 4, 4, How::Explored),
    ("schedule/increase_sequence/increase_sequence", 0, 0, How::Explored),
    ("schedule/task_scheduling/task_scheduling", 0, 0, How::Explored),
    ("nbw/nbw_w_wr/nbw_w_wr", 0, 0, How::Flattened),
    ("nbw/nbw_w_5r/nbw_w_5r", 0, 0, How::Explored),
    ("nbw/seqlock/seqlock", 0, 0, How::Explored),
    ("litmus/write+r/write+r", 0, 0, How::Explored),
    ("litmus/r+detour/r+detour", 0, 0, How::Explored),
    ("litmus/r+detours/r+detours", 0, 0, How::Explored),
    ("litmus/write+r+coherence/write+r+coherence", 0, 0, How::Explored),
    ("litmus/sb+detours/sb+detours", 2, 2, How::Explored),
    ("litmus/sb+detours+coherence/sb+detours+coherence", 0, 0, How::Explored),
    ("dynamic_struture_algorithms/cilk/cilk-the-wsq", 2, 2, How::Flattened),
    ("dynamic_struture_algorithms/chase_lev/chase-lev-wsq", 1, 1, How::Flattened),
    ("dynamic_struture_algorithms/FIFO_iWSQ/FIFO-iWSQ", 1, 1, How::Flattened),
    ("dynamic_struture_algorithms/LIFO_iWSQ/LIFO-iWSQ", 1, 2, How::Flattened),
    ("dynamic_struture_algorithms/anchor_iWSQ/Anchor-iWSQ", 1, 1, How::Explored),
    ("mutex/bakery4/bakery4", 8, 8, How::Flattened),
];

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// With `--abstraction 0`: these fences are enough.
    Flattened,
    /// As it is: these fences are the minimum.
    Explored,
}

/// More states than the machine of `verify` is asked to look at.
const LIMIT: usize = 60_000;

#[test]
fn the_fences_are_those_of_the_table() {
    let Some(corpus) = corpus_dir() else { return };
    let mut verified = Vec::new();
    for (file, published, expected, how) in TABLE {
        let path = corpus.join("persist/single").join(format!("{file}.txt"));
        if holds(&path, published, expected, how) {
            verified.push(file);
        }
    }
    println!("these reach the same states on TSO as under SC, the others have more than {LIMIT}: {verified:?}");
    assert_eq!(verified.len(), 6, "{verified:?}");
}

/// Checks one program; whether `verify` could look at all its states.
fn holds(path: &Path, published: usize, expected: usize, how: How) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.display().to_string();
    let program = lang::parse(&name, &text).unwrap_or_else(|errors| panic!("{errors}")).program;
    let compiled = Compiled::new(&program).unwrap();
    let limits = Limits::default();
    let approach = match how {
        How::Flattened => Approach::Abstract(Abstraction::Flattening(0)),
        How::Explored => Approach::Program,
    };
    let task = Task { program: &program, compiled: &compiled, limits: &limits, approach };
    let tso = MemoryModel::named("tso").unwrap();
    let evidence = engines::named("persistence").unwrap().check(&task).unwrap();
    let outcome = evidence.insert_fences(&tso, &Options::default());
    assert!(outcome.complete && outcome.recheck.enough && outcome.recheck.each_needed, "{name}");
    let repair = Repair::of(&program, evidence.analysis(), &outcome);
    let state = |&((thread, number), place): &((usize, usize), Place)| {
        let instruction = &program.threads[thread].instructions[number];
        (thread, if place == Place::Before { instruction.from } else { instruction.to })
    };
    let states: BTreeSet<(usize, usize)> = repair.fences.iter().map(state).collect();
    assert_eq!((states.len(), repair.fences.len()), (published, expected), "{name}");
    let mut split = SplitProgram::new(&program).unwrap();
    repair.apply(&mut split);
    let question = Question {
        machine: Machine::Tso,
        granularity: Granularity::Accesses,
        property: Property::States,
        bound: 4,
        limit: LIMIT,
    };
    match verify(&split, &question) {
        Verdict::Verified(_) => true,
        Verdict::Undecided => false,
        Verdict::Violated(violation) => panic!("{name}: {violation:?}"),
    }
}
