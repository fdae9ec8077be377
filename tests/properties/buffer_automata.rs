//! The engine buffer-automata: against all states on store buffers, against single-buffer and partial-coherence, with
//! each of its reductions and without; deadlocks against a machine of the tests' own; fences one by one.

use super::single_buffer::{Counts, SIZE, question, random_condition, random_loops, weak_condition};
use crate::support::engines::{asked, named};
use crate::support::random::{cases, random_cases};
use crate::support::random_program::{show, with_store_fences};
use crate::support::waiting::{Order, Told, deadlock, program, random, random_weak};
use rand::Rng;
use seqcon::Minimality;
use seqcon::analysis::{Inserted, Options};
use seqcon::engines::buffer_automata::{Ended, Judgement, Memory, Reductions, judge};
use seqcon::engines::partial_coherence::{self, Coherence, Reduction, View};
use seqcon::engines::single_buffer::{Rules, backwards};
use seqcon::engines::{Answer, Settings};
use seqcon::memory::MemoryModel;
use seqcon::outline::Outline;
use seqcon::placement::Method;
use seqcon::program::{InstructionKind, Program};
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use seqcon::weak::forbidden::{Forbidden, Unjudged, search};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::system::System;
use seqcon::weak::verify::Verdict;
use seqcon::weak::visited::Visited;
use seqcon::weak::{Granularity, Machine};

const MACHINES: [Machine; 2] = [Machine::Tso, Machine::Pso];

const REDUCTIONS: [Reductions; 4] = [
    Reductions::NONE,
    Reductions { persistent: true, sleep: false },
    Reductions { persistent: false, sleep: true },
    Reductions::ALL,
];

/// The most symbolic states.
const MOST: usize = 1_000;

const VIOLATED: usize = 0;
const PROVED: usize = 1;
const BEYOND: usize = 2;
const OPEN: usize = 3;
const SUSPECTED: usize = 4;
const LEFT_OUT: usize = 5;

/// What the engine says, by number; nothing may go wrong in its second look.
fn said(judged: Result<Judgement, Ended>, counts: &Counts<6>, of: &dyn Fn() -> String) -> Option<bool> {
    match judged {
        Ok(Judgement::Proved(proof)) => {
            if proof.left_out > 0 {
                counts.add(LEFT_OUT);
            }
            Some(true)
        }
        Ok(Judgement::Violated(_)) => Some(false),
        Ok(Judgement::Suspected) => {
            counts.add(SUSPECTED);
            None
        }
        Err(Ended::Limit(_)) => {
            counts.add(OPEN);
            None
        }
        other => panic!("{other:?}\n{}", of()),
    }
}

/// All that decide a property of states, on programs with loops, fences of stores among them.
#[test]
fn nobody_contradicts_buffer_automata() {
    let counts = REDUCTIONS.map(|_| Counts::<6>::new());
    let stores: Counts<6> = Counts::new();
    random_cases(cases(2_000), |rng| {
        let mut program = random_loops(rng, SIZE);
        let has_stores = rng.random_ratio(1, 3);
        if has_stores {
            program = with_store_fences(rng, &program);
        }
        let condition = random_condition(rng, &program);
        let forbidden = Forbidden::State(&condition);
        let split = SplitProgram::new(&program).unwrap();
        let outline = Outline::of_program(&program);
        let of = || format!("{condition}\n{}", show(&program));
        for machine in MACHINES {
            let forwards = match search(&split, &question(machine), forbidden) {
                Ok(Verdict::Violated(_)) => Some(false),
                Ok(Verdict::Verified(_)) => Some(true),
                Ok(_) | Err(Unjudged::Limit(_)) => None,
                Err(wrong) => panic!("{wrong:?}"),
            };
            let mut all = Vec::new();
            // Without reductions, and with some.
            let some = rng.random_range(1..REDUCTIONS.len());
            for number in [0, some] {
                let (reductions, counts) = (REDUCTIONS[number], &counts[number]);
                let judged = judge(&split, Memory::from(machine), forbidden, reductions, MOST);
                let Some(holds) = said(judged, counts, &of) else { continue };
                assert_eq!(forwards.unwrap_or(holds), holds, "{machine:?} {reductions:?}: {}", of());
                counts.add(if holds { PROVED } else { VIOLATED });
                if forwards.is_none() {
                    counts.add(BEYOND);
                }
                if has_stores && machine == Machine::Pso {
                    stores.add(if holds { PROVED } else { VIOLATED });
                }
                all.push(holds);
            }
            let Some(&holds) = all.first() else { continue };
            assert!(all.iter().all(|other| *other == holds), "{machine:?}: {}", of());
            // The others take fences of stores for nothing, and say so: what they prove holds all the same.
            match backwards(&split, machine, forbidden, 1_000, Rules::ALL) {
                Ok(Verdict::Verified(_)) => assert!(holds, "{machine:?} backwards: {}", of()),
                Ok(Verdict::Violated(_)) => assert!(!holds, "{machine:?} backwards: {}", of()),
                _ => {}
            }
            let view = View { machine, coherence: Coherence::Full(1), reduction: Reduction::Private, most: 5_000 };
            match partial_coherence::judge(&split, &outline, forbidden, view) {
                Ok(partial_coherence::Judgement::Proved(_)) => assert!(holds, "{machine:?} abstractly: {}", of()),
                Ok(partial_coherence::Judgement::Violated(_)) => assert!(!holds, "{machine:?} abstractly: {}", of()),
                _ => {}
            }
        }
    });
    for (reductions, counts) in REDUCTIONS.into_iter().zip(&counts) {
        let told = [VIOLATED, PROVED, BEYOND, OPEN, SUSPECTED, LEFT_OUT].map(|kind| counts.get(kind));
        println!("{reductions:?}: violated, proved, beyond the bound, given up, only suspected, left out: {told:?}");
        let [violated, proved, beyond, open, suspected, left_out] = told;
        assert!(violated.min(proved) > 5 * open && beyond > 10, "most are decided, and some beyond the bound");
        assert!(suspected * 100 < violated, "what is found is a run");
        assert!(reductions.sleep || left_out * 50 < proved, "what is not asleep is not left out");
    }
    assert!(stores.get(PROVED).min(stores.get(VIOLATED)) > 50, "fences of stores are among them");
}

/// Without store buffers: all states, instruction by instruction made of accesses.
#[test]
fn sequential_consistency_is_that_of_plain_states() {
    let counts: Counts<6> = Counts::new();
    random_cases(cases(600), |rng| {
        let program = random_loops(rng, SIZE);
        let condition = random_condition(rng, &program);
        let forbidden = Forbidden::State(&condition);
        let split = SplitProgram::new(&program).unwrap();
        let mut system = System::new(&split, Granularity::Accesses);
        let mut visited = Visited::new(20_000);
        visited.start(system.initial()).unwrap();
        let mut at = 0;
        let mut is_reached = false;
        while (at as usize) < visited.len() {
            let state = visited.get(at);
            let is_judged = |thread| system.thread(thread).is_judged(state.config(thread));
            if split.threads_at().all(is_judged) {
                let mut observed = state.memory.to_vec();
                let configs: Vec<_> = split
                    .threads_at()
                    .map(|thread| system.thread(thread).config(state.config(thread)).clone())
                    .collect();
                configs.iter().for_each(|config| observed.extend(&config.frame[..]));
                configs.iter().for_each(|config| observed.push(i64::from(config.control.0)));
                is_reached |= condition.which_holds(&observed).unwrap().is_some();
            }
            for (_, next) in system.steps(&state) {
                visited.insert(next, at).unwrap();
            }
            at += 1;
        }
        for reductions in [Reductions::NONE, Reductions::default()] {
            let of = || format!("{condition}\n{}", show(&program));
            let judged = judge(&split, Memory::Sc, forbidden, reductions, 20_000);
            let holds = said(judged, &counts, &of).expect("it is small");
            assert_eq!(holds, !is_reached, "{reductions:?}: {}", of());
            counts.add(if holds { PROVED } else { VIOLATED });
        }
    });
    assert!(counts.get(PROVED).min(counts.get(VIOLATED)) > 100);
}

/// Deadlocks, against a machine that shares no code with the library.
#[test]
fn deadlocks_are_those_of_another_machine() {
    let counts = REDUCTIONS.map(|_| Counts::<6>::new());
    random_cases(cases(2_000), |rng| {
        let with_some = rng.random_ratio(1, 3);
        let waiting = if rng.random() { random(rng, with_some) } else { random_weak(rng, with_some) };
        let (specification, fences) = program(&waiting);
        let mut split = SplitProgram::new(&specification.program).unwrap();
        Repair::full(fences.iter().copied()).apply(&specification.outline, &mut split);
        let orders = [(Memory::Sc, Order::Sc), (Memory::Tso, Order::Tso), (Memory::Pso, Order::Pso)];
        let (memory, order) = orders[rng.random_range(0..3)];
        let is = match deadlock(&waiting, order, 3, 6_000) {
            Told::Deadlock => Some(false),
            Told::None => Some(true),
            Told::Open => None,
        };
        let some = rng.random_range(1..REDUCTIONS.len());
        for number in [0, some] {
            let (reductions, counts) = (REDUCTIONS[number], &counts[number]);
            let of = || format!("{waiting:#?}");
            let judged = judge(&split, memory, Forbidden::Deadlock, reductions, MOST);
            let Some(holds) = said(judged, counts, &of) else { continue };
            assert_eq!(is.unwrap_or(holds), holds, "{memory:?} {reductions:?}: {}", of());
            counts.add(if holds { PROVED } else { VIOLATED });
            if is.is_none() {
                counts.add(BEYOND);
            }
        }
    });
    for (reductions, counts) in REDUCTIONS.into_iter().zip(&counts) {
        let told = [VIOLATED, PROVED, BEYOND, OPEN, SUSPECTED].map(|kind| counts.get(kind));
        println!("{reductions:?}: deadlock, none, beyond the bound, given up, only suspected: {told:?}");
        assert!(told[SUSPECTED] * 20 < told[VIOLATED], "what is found is a run");
        assert!(told[VIOLATED].min(told[PROVED]) > 50 && told[BEYOND] > 10, "this test shows nothing");
    }
}

/// Fences put in one by one are enough, none can be left out, and there are no fewer than the fewest.
#[test]
fn fences_one_by_one_are_enough() {
    let counts: Counts<6> = Counts::new();
    let more = Counts::<1>::new();
    random_cases(cases(1_500), |rng| {
        let Ok(specification) = Specification::of_program(without_composites(random_loops(rng, SIZE))) else { return };
        let (machine, model) = [(Machine::Tso, "tso"), (Machine::Pso, "pso")][rng.random_range(0..2)];
        let model = MemoryModel::named(model).unwrap();
        let Some(condition) = weak_condition(rng, &specification, machine) else { return counts.add(OPEN) };
        let property = Property::Never(condition.clone());
        let mut settings = Settings::default();
        settings.searches.states = MOST;
        asked(named("buffer-automata"), &specification, &property, &settings, |examined| {
            let place = |method| examined.place(&model, &Options { method, ..Options::default() }).unwrap();
            let fewest = place(Method::Exact);
            if fewest.inserted != Inserted::Enough || fewest.fences.is_empty() {
                return counts.add(OPEN);
            }
            let one_by_one = place(Method::Greedy);
            let of = || format!("{}: {condition}\n{}", model.name, show(&specification.program));
            match one_by_one.inserted {
                Inserted::Undecided(..) => return counts.add(OPEN),
                Inserted::Enough => {}
                other => panic!("{other:?}\n{}", of()),
            }
            assert_eq!(one_by_one.placement.minimality, Minimality::Greedy);
            assert!(one_by_one.fences.len() >= fewest.fences.len(), "{}", of());
            if one_by_one.fences.len() > fewest.fences.len() {
                more.add(0);
            }
            let fences = one_by_one.placement.fences.clone();
            let check = |fences| {
                let repair = Repair { fences, ..Repair::default() };
                examined.checker(&model).and_then(|mut checker| checker.check(&repair)).unwrap()
            };
            assert!(matches!(check(fences.clone()), Answer::Holds(_)), "{}", of());
            for site in fences.keys() {
                let mut fewer = fences.clone();
                fewer.remove(site);
                assert!(!matches!(check(fewer), Answer::Holds(_)), "{}", of());
            }
            counts.add(PROVED);
        })
        .unwrap();
    });
    let [proved, open] = [PROVED, OPEN].map(|kind| counts.get(kind));
    println!("{proved} with fences, {} of them with more than the fewest; {open} without, or open", more.get(0));
    assert!(proved > 5, "this test shows nothing");
}

/// The program with instructions of several accesses made atomic: a fence inside one has no place in a run.
fn without_composites(mut program: Program) -> Program {
    let composites = SplitProgram::new(&program).unwrap().composites();
    for at in composites {
        program.thread_mut(at.thread).instruction_mut(at.instruction).kind = InstructionKind::Atomic;
    }
    program
}
