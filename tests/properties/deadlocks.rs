//! Deadlocks: all engines that decide them against a machine of the tests' own (`support::waiting`), on random
//! programs that wait, with fences put in and without; and programs in which something is easily taken for a deadlock,
//! or missed.

use super::single_buffer::Counts;
use crate::support::engines::{asked, named};
use crate::support::random::{cases, random_cases};
use crate::support::waiting::{
    Instr, Op, Order, Told, Waiting, asks, deadlock, program, random, random_weak, reads_twice, sees_in_order, thread,
};
use rand::Rng;
use rand::seq::IndexedRandom;
use seqcon::analysis::{Inserted, Options};
use seqcon::engines::partial_coherence::{Coherence, Judgement, Reduction, View, judge};
use seqcon::engines::single_buffer::{Rules, backwards};
use seqcon::engines::{Answer, Settings};
use seqcon::memory::MemoryModel;
use seqcon::outline::Site;
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use seqcon::trial;
use seqcon::weak::forbidden::{Forbidden, search};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::verify::{Question, Verdict, robust};
use seqcon::weak::{Granularity, Machine};

const MACHINES: [(Machine, Order, &str); 2] = [(Machine::Tso, Order::Tso, "tso"), (Machine::Pso, Order::Pso, "pso")];

const COHERENCES: [Coherence; 7] = [
    Coherence::Set,
    Coherence::Full(0),
    Coherence::Full(1),
    Coherence::Full(2),
    Coherence::Partial(0),
    Coherence::Partial(1),
    Coherence::Partial(2),
];

/// The most writes in a buffer of the machines, and the most states.
const BOUND: usize = 3;
const MOST: usize = 6_000;

fn question(machine: Machine) -> Question {
    Question { machine, granularity: Granularity::Accesses, bound: BOUND, limit: 20_000 }
}

fn with_fences(specification: &Specification, fences: &[Site]) -> SplitProgram {
    let mut split = SplitProgram::new(&specification.program).unwrap();
    let repair = Repair::full(fences.iter().copied());
    repair.apply(&specification.outline, &mut split);
    split
}

/// What somebody says of a program: that it has a deadlock, that it has none, or neither.
fn of_judgement(judgement: &Judgement) -> Told {
    match judgement {
        Judgement::Proved(_) => Told::None,
        Judgement::Violated(_) => Told::Deadlock,
        Judgement::Suspected(_) => Told::Open,
        Judgement::GoesWrong(_) | Judgement::Doubtful => panic!("nothing goes wrong, and proofs are proofs"),
    }
}

fn of_verdict(verdict: &Verdict) -> Told {
    match verdict {
        Verdict::Verified(_) => Told::None,
        Verdict::Violated(_) => Told::Deadlock,
        Verdict::Bounded { .. } => Told::Open,
        Verdict::Undecided(limit) => panic!("{limit:?}"),
    }
}

fn abstracted(
    (specification, split): (&Specification, &SplitProgram),
    machine: Machine,
    coherence: Coherence,
    reduction: Reduction,
) -> Told {
    let view = View { machine, coherence, reduction, most: 60_000 };
    let judged = judge(split, &specification.outline, Forbidden::Deadlock, view);
    judged.map_or(Told::Open, |judgement| of_judgement(&judgement))
}

/// What an engine says that goes about it as a command does.
fn by_engine(
    engine: &str,
    specification: &Specification,
    fences: &[Site],
    model: &str,
    searches: trial::Limits,
) -> Told {
    let settings = Settings { searches, ..Settings::default() };
    let repair = Repair::full(fences.iter().copied());
    let answer = asked(named(engine), specification, &Property::NoDeadlock, &settings, |examined| {
        let model = MemoryModel::named(model).unwrap();
        examined.checker(&model).and_then(|mut checker| checker.check(&repair)).unwrap()
    });
    match answer.unwrap() {
        Answer::Holds(_) => Told::None,
        Answer::Fails { .. } => Told::Deadlock,
        Answer::Suspected { .. } | Answer::Bounded { .. } | Answer::UpTo { .. } | Answer::Undecided(_) => Told::Open,
    }
}

/// Nobody says what is not so, by all states of the machine of the tests, or by its run.
fn assert_agree(by: &str, said: Told, is: Told, waiting: &Waiting) {
    let contradict = matches!((said, is), (Told::None, Told::Deadlock) | (Told::Deadlock, Told::None));
    assert!(!contradict, "{by} says {said:?}, and it is {is:?}:\n{waiting:#?}");
}

const DEADLOCK: usize = 0;
const NONE: usize = 1;
const OPEN: usize = 2;
/// Said where the machine of the tests had not seen all.
const BEYOND: usize = 3;

fn kind(said: Told) -> usize {
    match said {
        Told::Deadlock => DEADLOCK,
        Told::None => NONE,
        Told::Open => OPEN,
    }
}

fn count(counts: &Counts<4>, said: Told, is: Told) {
    counts.add(kind(said));
    if is == Told::Open && said != Told::Open {
        counts.add(BEYOND);
    }
}

#[test]
fn no_engine_contradicts_another_machine() {
    let [machine, backward, auto, single] = [(); 4].map(|()| Counts::<4>::new());
    let abstraction = [(); 14].map(|()| Counts::<4>::new());
    let [truth, weak] = [Counts::<4>::new(), Counts::<4>::new()];
    random_cases(cases(2100), |rng| {
        let with_some = rng.random_ratio(1, 3);
        let waiting = if rng.random() { random(rng, with_some) } else { random_weak(rng, with_some) };
        let (specification, fences) = program(&waiting);
        let split = with_fences(&specification, &fences);
        let (model, order, name) = *MACHINES.choose(rng).unwrap();
        let is = deadlock(&waiting, order, BOUND, MOST);
        truth.add(kind(is));
        if is == Told::Deadlock && deadlock(&waiting, Order::Sc, BOUND, MOST) == Told::None {
            weak.add(DEADLOCK);
        }
        let say = |by: &str, said: Told, counts: &Counts<4>| {
            assert_agree(&format!("{by} on {name}"), said, is, &waiting);
            count(counts, said, is);
        };
        if let Ok(verdict) = search(&split, &question(model), Forbidden::Deadlock) {
            say("store buffers", of_verdict(&verdict), &machine);
        }
        for (number, coherence) in COHERENCES.into_iter().enumerate().filter(|_| rng.random_ratio(1, 2)) {
            for (reduction, first) in [(Reduction::Private, 0), (Reduction::Off, 7)] {
                let said = abstracted((&specification, &split), model, coherence, reduction);
                say(&format!("{coherence} {reduction:?}"), said, &abstraction[first + number]);
            }
        }
        if let Ok(verdict) = backwards(&split, model, Forbidden::Deadlock, 5_000, Rules::ALL) {
            say("backwards", of_verdict(&verdict), &backward);
        }
        let searches = trial::Limits { states: [40, 200, 3_000][rng.random_range(0..3)], buffer: 2, unroll: 2 };
        say("auto", by_engine("auto", &specification, &fences, name, searches), &auto);
        let searches = trial::Limits { states: 3_000, buffer: 1, unroll: 2 };
        say("single-buffer", by_engine("single-buffer", &specification, &fences, name, searches), &single);
    });
    let told = |counts: &Counts<4>| [DEADLOCK, NONE, OPEN, BEYOND].map(|kind| counts.get(kind));
    println!("deadlock, none, open, beyond the bound of the machine of the tests:");
    println!("it is          {:?}, {} of them only with buffers", told(&truth), weak.get(DEADLOCK));
    for (by, counts) in [("store buffers", &machine), ("backwards", &backward), ("auto", &auto), ("single", &single)] {
        println!("{by:14} {:?}", told(counts));
        let [deadlock, none, open, _] = told(counts);
        assert!(deadlock > 200 && none > 200 && open < (deadlock + none) / 2, "{by} shows nothing");
    }
    for (number, counts) in abstraction.iter().enumerate() {
        println!("{:14} {:?}", COHERENCES[number % 7].to_string(), told(counts));
        let [deadlock, none, ..] = told(counts);
        assert!(deadlock > 100 && none > 100, "{} shows nothing", COHERENCES[number % 7]);
    }
    assert!(truth.get(DEADLOCK).min(truth.get(NONE)) > 300 && weak.get(DEADLOCK) > 200, "this test shows nothing");
    assert!(backward.get(BEYOND) > 20, "nothing was decided that a bound leaves open");
}

/// A robust program reaches the states of sequential consistency and no others, so it deadlocks where that does.
#[test]
fn robust_programs_deadlock_where_sequential_consistency_does() {
    let counts: Counts<4> = Counts::new();
    random_cases(cases(600), |rng| {
        let with_some = rng.random_ratio(1, 3);
        let waiting = if rng.random() { random(rng, with_some) } else { random_weak(rng, with_some) };
        let (specification, fences) = program(&waiting);
        let split = with_fences(&specification, &fences);
        let (model, order, name) = *MACHINES.choose(rng).unwrap();
        if !matches!(robust(&split, &question(model)), Verdict::Verified(_)) {
            return counts.add(OPEN);
        }
        let (weak, sequential) = (deadlock(&waiting, order, BOUND, MOST), deadlock(&waiting, Order::Sc, BOUND, MOST));
        assert_agree(&format!("sequential consistency instead of {name}"), sequential, weak, &waiting);
        counts.add(kind(weak));
    });
    let [deadlock, none, not_robust] = [DEADLOCK, NONE, OPEN].map(|kind| counts.get(kind));
    println!("{deadlock} robust programs with a deadlock, {none} without; {not_robust} are not robust, or more");
    assert!(deadlock.min(none) > 30, "this test shows nothing");
}

/// The fences against deadlocks are enough, each is needed, and where they are two no single one is enough.
#[test]
fn the_fences_against_deadlocks_are_the_fewest() {
    let counts: Counts<4> = Counts::new();
    random_cases(cases(300), |rng| {
        let waiting = random_weak(rng, false);
        let (model, order, name) = *MACHINES.choose(rng).unwrap();
        let is_weak = deadlock(&waiting, order, BOUND, MOST) == Told::Deadlock
            && deadlock(&waiting, Order::Sc, BOUND, MOST) == Told::None;
        if !is_weak {
            return;
        }
        let (specification, _) = program(&waiting);
        let searches = trial::Limits { states: 20_000, buffer: BOUND, unroll: 2 };
        let settings = Settings { searches, ..Settings::default() };
        for engine in ["auto", "partial-coherence", "single-buffer", "store-buffers"] {
            let (outcome, sites) = asked(named(engine), &specification, &Property::NoDeadlock, &settings, |examined| {
                let outcome = examined.place(&MemoryModel::named(name).unwrap(), &Options::default()).unwrap();
                (outcome, examined.accesses().sites())
            })
            .unwrap();
            let told = || format!("{engine} {name} {:?}\n{waiting:#?}", outcome.fences);
            if let Inserted::Undecided(..) = outcome.inserted {
                counts.add(OPEN);
                continue;
            }
            let fences: Vec<Site> = outcome.fences.iter().map(|fence| fence.site).collect();
            let verdict = |fences: &[Site]| {
                search(&with_fences(&specification, fences), &question(model), Forbidden::Deadlock).ok()
            };
            assert_eq!(outcome.inserted, Inserted::Enough, "{}", told());
            assert!(!fences.is_empty(), "{}", told());
            assert!(!matches!(verdict(&fences), Some(Verdict::Violated(_))), "not enough: {}", told());
            let is_fewest = outcome.placement.minimality == seqcon::Minimality::Program;
            for left_out in fences.iter().filter(|_| is_fewest) {
                let fewer: Vec<Site> = fences.iter().copied().filter(|site| site != left_out).collect();
                assert!(!matches!(verdict(&fewer), Some(Verdict::Verified(_))), "{left_out:?}: {}", told());
            }
            counts.add(fences.len().min(2) - 1);
            if fences.len() == 2 && is_fewest {
                let is_enough = |site: &Site| matches!(verdict(&[*site]), Some(Verdict::Verified(_)));
                assert_eq!(sites.iter().find(|site| is_enough(site)), None, "{}", told());
            }
        }
    });
    let [one, more, open] = [0, 1, 2].map(|kind| counts.get(kind));
    println!("{one} times one fence, {more} times more; {open} open");
    assert!(one + more > 60 && more > 10 && open < one + more, "this test shows nothing");
}

/// Each of these is easily taken for what it is not.
fn traps() -> Vec<(&'static str, Waiting, [Told; 2])> {
    let ends = thread(&[(0, 1, Op::Set(2, 1))]);
    let waits_for_nothing = thread(&[(0, 1, Op::Wait(0, 1))]);
    let on_both = |told: Told| [told, told];
    let (none, some) = (on_both(Told::None), on_both(Told::Deadlock));
    let fenced = |mut instructions: Vec<Instr>, which: usize| {
        instructions[which].fenced = true;
        instructions
    };
    vec![
        (
            "a thread that goes round silently is not stuck",
            vec![thread(&[(0, 1, Op::Skip), (1, 0, Op::Skip)]), waits_for_nothing.clone()],
            none,
        ),
        (
            "nor is one that only changes its register",
            vec![thread(&[(0, 1, Op::Become(1)), (1, 0, Op::Become(0))]), waits_for_nothing.clone()],
            none,
        ),
        (
            "nor one that changes it where it is, though nobody else reads it",
            vec![thread(&[(0, 0, Op::Flip)]), waits_for_nothing.clone()],
            none,
        ),
        ("nor with a fence behind that", vec![fenced(thread(&[(0, 0, Op::Flip)]), 0), waits_for_nothing.clone()], none),
        (
            "nor one that sets it to this and that where it is, with fences behind",
            vec![
                fenced(fenced(thread(&[(0, 0, Op::Become(0)), (0, 0, Op::Become(1))]), 0), 1),
                waits_for_nothing.clone(),
            ],
            none,
        ),
        ("nor one that writes what is there", vec![thread(&[(0, 0, Op::Set(1, 0))]), waits_for_nothing.clone()], none),
        ("a step that leads back and changes nothing is none", vec![thread(&[(0, 0, Op::Skip)]), ends.clone()], some),
        (
            "behind a fence that was put in, either",
            vec![fenced(thread(&[(0, 0, Op::Wait(0, 0))]), 0), ends.clone()],
            some,
        ),
        (
            "a register that nobody else reads moves its thread, as long as it changes",
            vec![thread(&[(0, 0, Op::Load(0))]), thread(&[(0, 1, Op::Set(0, 1)), (1, 0, Op::Set(0, 0))])],
            none,
        ),
        (
            "with a fence behind it, too: it is stuck once it has the last value",
            vec![fenced(thread(&[(0, 0, Op::Load(0))]), 0), thread(&[(0, 1, Op::Set(0, 1))])],
            some,
        ),
        ("all have ended", vec![ends.clone(), thread(&[(0, 1, Op::Set(0, 1))])], none),
        ("one has ended, the other waits", vec![ends.clone(), waits_for_nothing.clone()], some),
        (
            "an end is not a place where a thread waits for what nobody writes",
            vec![thread(&[(0, 1, Op::Skip), (0, 2, Op::Skip), (2, 3, Op::Wait(0, 1))]), ends.clone()],
            some,
        ),
        (
            "and such a place is no end",
            vec![thread(&[(0, 1, Op::Skip), (0, 2, Op::Skip), (2, 3, Op::Wait(0, 0))]), ends.clone()],
            none,
        ),
        (
            "refused in the middle: the first of two values is there",
            vec![thread(&[(0, 1, Op::WaitBoth((0, 0), (1, 1)))]), ends.clone()],
            some,
        ),
        (
            "both values are there, each at its time, and not for ever",
            vec![
                thread(&[(0, 1, Op::WaitBoth((0, 1), (1, 0)))]),
                thread(&[(0, 1, Op::Set(0, 1)), (1, 2, Op::Set(1, 1))]),
            ],
            some,
        ),
        (
            "a condition that was right is left with a write",
            vec![thread(&[(0, 0, Op::WaitSet((0, 0), (1, 1)))]), ends.clone()],
            none,
        ),
        (
            "stuck only as long as a write is on its way",
            vec![thread(&[(0, 1, Op::Set(0, 1))]), thread(&[(0, 1, Op::Wait(0, 1))])],
            none,
        ),
        (
            "two locks, taken in two orders",
            vec![
                thread(&[(0, 1, Op::Take(0)), (1, 2, Op::Take(1)), (2, 3, Op::Set(1, 0)), (3, 4, Op::Set(0, 0))]),
                thread(&[(0, 1, Op::Take(1)), (1, 2, Op::Take(0)), (2, 3, Op::Set(0, 0)), (3, 4, Op::Set(1, 0))]),
            ],
            some,
        ),
        (
            "two locks, taken in one order",
            vec![
                thread(&[(0, 1, Op::Take(0)), (1, 2, Op::Take(1)), (2, 3, Op::Set(1, 0)), (3, 4, Op::Set(0, 0))]),
                thread(&[(0, 1, Op::Take(0)), (1, 2, Op::Take(1)), (2, 3, Op::Set(1, 0)), (3, 4, Op::Set(0, 0))]),
            ],
            none,
        ),
        ("only writes that wait lead there", vec![asks(0, 1), asks(1, 0)], some),
        ("and fences stop that", vec![fenced(asks(0, 1), 0), fenced(asks(1, 0), 0)], none),
        ("reading twice, without a bound on buffers", vec![reads_twice(0, 1), reads_twice(1, 0)], some),
        ("with fences, too", vec![fenced(reads_twice(0, 1), 0), fenced(reads_twice(1, 0), 0)], none),
        (
            "the order of writes, where it decides: kept on TSO, and not on PSO",
            vec![thread(&[(0, 1, Op::Set(0, 1)), (1, 2, Op::Set(1, 1))]), sees_in_order(0, 1)],
            [Told::None, Told::Deadlock],
        ),
    ]
}

#[test]
fn traps_are_seen_through() {
    for (what, waiting, expected) in traps() {
        let (specification, fences) = program(&waiting);
        let split = with_fences(&specification, &fences);
        for ((model, order, name), expected) in MACHINES.into_iter().zip(expected) {
            // Where a thread writes as often as it likes, machines with a bound prove nothing.
            let writes = |instr: &Instr| matches!(instr.op, Op::Set(..) | Op::WaitSet(..));
            let goes_back = |instructions: &Vec<Instr>| instructions.iter().any(|instr| instr.to <= instr.from);
            let in_a_loop = waiting.iter().any(|thread| goes_back(thread) && thread.iter().any(writes));
            let is = deadlock(&waiting, order, BOUND, MOST);
            assert!(is == expected || (is == Told::Open && in_a_loop), "{name}: {what}, on the machine of the tests");
            let verdict = search(&split, &question(model), Forbidden::Deadlock).unwrap();
            assert_eq!(of_verdict(&verdict), is, "{name}: {what}, by store buffers");
            let verdict = backwards(&split, model, Forbidden::Deadlock, 5_000, Rules::ALL).unwrap();
            assert_eq!(of_verdict(&verdict), expected, "{name}: {what}, backwards");
            for coherence in COHERENCES {
                for reduction in [Reduction::Off, Reduction::Private] {
                    let said = abstracted((&specification, &split), model, coherence, reduction);
                    let is_exact = coherence == Coherence::Full(2) || expected == Told::Deadlock;
                    assert!(
                        said == expected || (said == Told::Open && !is_exact),
                        "{name}: {what}, {coherence} {reduction:?}: {said:?}"
                    );
                }
            }
            for (engine, states) in [("auto", 3_000), ("auto", 10), ("single-buffer", 3_000), ("store-buffers", 3_000)]
            {
                let searches = trial::Limits { states, buffer: BOUND, unroll: 2 };
                let said = by_engine(engine, &specification, &fences, name, searches);
                assert!(
                    said == expected || (said == Told::Open && (states < 100 || in_a_loop)),
                    "{name}: {what}, {engine}: {said:?}"
                );
            }
        }
    }
}
