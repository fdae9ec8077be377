//! The soundness claim at small scale (method §10): with the suggested fences, a machine with store buffers ends only
//! where SC ends.

use crate::support::analyse::{facts_of, model};
use crate::support::mini::{Program, state_space};
use crate::support::programs::{handshake, sb_ring};
use crate::support::random::{cases, random_cases};
use crate::support::random_mini::{Shape, accesses_twice, random_program};
use crate::support::repair::repaired_program;
use crate::support::split::{TEMPORARY, split};
use crate::support::store_buffers::{End, Machine, drained_states, ends};
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::cycles::Atomicity;
use seqcon::readings;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

const WEAK: [(Machine, &str); 2] = [(Machine::Tso, "tso"), (Machine::Pso, "pso")];
const ALL: [(Machine, &str); 3] = [(Machine::Sc, "sc"), WEAK[0], WEAK[1]];

/// How instructions with several accesses are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instructions {
    /// There are none: each makes one access.
    Single,
    /// Each is to be one step: they are split, unless the analysis had them locked, and SC is that of whole
    /// instructions.
    Whole,
    /// Each is atomic by other means.
    Presumed,
    /// They are split, and SC is that of the split program.
    Split,
}

/// What came of one program on one machine.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It needed nothing, or could be repaired, and ends only where SC ends.
    Right {
        /// Without fences and locks it ends elsewhere, too.
        needed: bool,
    },
    /// A fence would stand where the test language has no place for it.
    NotTried,
}

/// Repairs the program for each machine and holds its ends against those of SC.
fn judge(program: &Program, machines: &[(Machine, &str)], instructions: Instructions) -> Vec<Verdict> {
    let (atomicity, performed): (_, fn(&Program) -> Program) = match instructions {
        Instructions::Single => (Atomicity::Split, Program::clone),
        Instructions::Whole => (Atomicity::Full, split),
        Instructions::Presumed => (Atomicity::Presumed, split),
        Instructions::Split => (Atomicity::Split, split),
    };
    let whole = Analysis::new(facts_of(program), Profile::Sound);
    let analysis = readings::analysis(whole, atomicity, None).expect("there is nothing to split");
    if analysis.cut_off {
        // A state space of whole instructions does not show what follows when one is interrupted; `trust.rs` has the
        // program itself.
        return vec![Verdict::NotTried];
    }
    let expected = match instructions {
        Instructions::Split => without_temporaries(ends(&split(program), Machine::Sc)),
        _ => ends(program, Machine::Sc),
    };
    let ends_on = |program: &Program, machine| without_temporaries(ends(&performed(program), machine));
    let judge_on = |&(machine, memory_model): &(Machine, &str)| {
        let outcome = analysis.run(model(memory_model), &Options { atomicity, ..Options::default() });
        let Some(repaired) = repaired_program(program, &analysis, &outcome) else { return Verdict::NotTried };
        if let Some(wrong) = ends_on(&repaired.program, machine).difference(&expected).next() {
            let text = state_space(&repaired.program);
            panic!("{machine:?} ends in {wrong:?}, which SC does not reach, with fences and locks in\n{text}");
        }
        Verdict::Right { needed: !ends_on(program, machine).is_subset(&expected) }
    };
    machines.iter().map(judge_on).collect()
}

fn without_temporaries(ends: BTreeSet<End>) -> BTreeSet<End> {
    let strip = |mut end: End| {
        end.locals.iter_mut().for_each(|locals| locals.retain(|name, _| !name.starts_with(TEMPORARY)));
        end
    };
    ends.into_iter().map(strip).collect()
}

/// The same for programs with loops: whatever the machine reaches, with buffers of two entries, SC reaches when they
/// are empty.
fn judge_states(program: &Program) -> Vec<Verdict> {
    const CAPACITY: usize = 2;
    let analysis = Analysis::new(facts_of(program), Profile::Sound);
    let expected = drained_states(program, Machine::Sc, 0);
    let judge_on = |&(machine, memory_model): &(Machine, &str)| {
        let outcome = analysis.run(model(memory_model), &Options::default());
        let Some(repaired) = repaired_program(program, &analysis, &outcome) else { return Verdict::NotTried };
        for state in drained_states(&repaired.program, machine, CAPACITY) {
            let state = repaired.without_fences(state);
            if !expected.contains(&state) {
                let text = state_space(&repaired.program);
                panic!("{machine:?} reaches {state:?}, which SC does not, with fences in\n{text}");
            }
        }
        Verdict::Right { needed: !drained_states(program, machine, CAPACITY).is_subset(&expected) }
    };
    WEAK.iter().map(judge_on).collect()
}

fn hold(usual: u64, shape: &Shape, judge: impl Fn(&Program) -> Vec<Verdict>) {
    let (verdicts, twice) = (RefCell::new(Vec::new()), Cell::new(0));
    random_cases(cases(usual), |rng| {
        let program = random_program(rng, shape);
        twice.set(twice.get() + u32::from(accesses_twice(&program)));
        verdicts.borrow_mut().extend(judge(&program));
    });
    let count = |wanted| verdicts.borrow().iter().filter(|&verdict| *verdict == wanted).count();
    let (needed, clean) = (count(Verdict::Right { needed: true }), count(Verdict::Right { needed: false }));
    let not_tried = count(Verdict::NotTried);
    println!(
        "{needed} repaired and {clean} right as they are; {not_tried} not tried; {} programs access a location twice in an instruction",
        twice.get()
    );
    assert!(twice.get() > 0 || !shape.composite, "no instruction accesses a location twice");
    assert!(needed > 0, "the machines did nothing that SC does not do: this test shows nothing");
}

#[test]
fn straight_line_programs_end_where_sc_ends() {
    let shape = Shape { most_threads: 3, most_instrs: 4, loops: false, composite: false, waits: false };
    hold(2000, &shape, |program| judge(program, &WEAK, Instructions::Single));
}

#[test]
fn programs_that_wait_end_where_sc_ends() {
    let shape = Shape { most_threads: 3, most_instrs: 4, loops: false, composite: false, waits: true };
    hold(2000, &shape, |program| judge(program, &WEAK, Instructions::Single));
}

#[test]
fn programs_with_loops_reach_what_sc_reaches() {
    let shape = Shape { most_threads: 3, most_instrs: 3, loops: true, composite: false, waits: true };
    hold(2000, &shape, judge_states);
}

#[test]
fn programs_with_composite_instructions_and_locks_end_where_sc_ends() {
    let shape = Shape { most_threads: 2, most_instrs: 3, loops: false, composite: true, waits: false };
    hold(2000, &shape, |program| judge(program, &ALL, Instructions::Whole));
}

#[test]
fn programs_with_instructions_presumed_to_be_atomic_end_where_sc_ends() {
    let shape = Shape { most_threads: 2, most_instrs: 3, loops: false, composite: true, waits: false };
    hold(2000, &shape, |program| judge(program, &WEAK, Instructions::Presumed));
}

#[test]
fn programs_with_split_instructions_end_where_sc_ends() {
    let shape = Shape { most_threads: 2, most_instrs: 3, loops: false, composite: true, waits: false };
    hold(2000, &shape, |program| judge(program, &WEAK, Instructions::Split));
}

#[test]
fn machines_do_what_the_literature_says() {
    let ends_elsewhere = |program: &Program, machine| !ends(program, machine).is_subset(&ends(program, Machine::Sc));
    let sb = sb_ring(2);
    assert!(ends_elsewhere(&sb, Machine::Tso) && ends_elsewhere(&sb, Machine::Pso));
    let named = |wanted: &str| {
        let bundled = crate::support::programs::bundled();
        bundled.into_iter().find(|(name, _)| name == wanted).map(|(_, program)| program).expect("it is bundled")
    };
    for (name, tso, pso) in [("mp", false, true), ("mp-poll", false, true), ("lb", false, false), ("2+2w", false, true)]
    {
        assert_eq!(ends_elsewhere(&named(name), Machine::Tso), tso, "{name} under TSO");
        assert_eq!(ends_elsewhere(&named(name), Machine::Pso), pso, "{name} under PSO");
    }
}

#[test]
fn program_order_goes_through_a_wait_that_is_never_over_at_once() {
    // `await f` follows `x := 1`, although f is never set when x has just been written.
    let verdicts = judge(&handshake(), &WEAK, Instructions::Single);
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Right { needed: true }), "{verdicts:?}");
}
