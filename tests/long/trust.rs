//! What the analysis suggests is right, and needed: every model of `specs/` and random programs, run under TSO and
//! PSO (method §10).

use crate::support::doubles::Doubles;
use crate::support::litmus::axioms;
use crate::support::random::{cases, is_long_run, random_cases};
use crate::support::random_slco::{Shape, random_specification};
use crate::support::trust::{analysis, analysis_for, confirmed, judge, judge_states, outcome, program};
use seqcon::aeg::Profile;
use seqcon::confirm::Limits;
use seqcon::cycles::Atomicity;
use seqcon::lang::slco::edit::edited;
use seqcon::placement::Minimality;
use seqcon::program::Program;
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::weak::axiomatic::{self, End, Model};
use seqcon::weak::buffers::Buffers;
use seqcon::weak::split::SplitProgram;
use seqcon::weak::verify::{Ground, Verdict};
use seqcon::weak::visited::Visited;
use seqcon::weak::{Granularity, Machine};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;

const WEAK: [&str; 2] = ["tso", "pso"];

const LIMITS: Limits = Limits { states: 300_000, buffer: 4 };

/// The SLCO models of `specs/`: name and text. (The automata are verified in `trencher_counts.rs`.)
fn specifications() -> Vec<(String, String)> {
    let mut paths: Vec<_> = fs::read_dir("specs").unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "slco"));
    paths.sort();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn is_verified(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Verified(_))
}

#[test]
fn every_specification_is_verified_with_its_suggestions() {
    for (name, text) in specifications() {
        let program = program(&text);
        for model in WEAK {
            for atomicity in Atomicity::ALL {
                let analysis = analysis_for(&program, atomicity, LIMITS);
                let repair = Repair::of(&outcome(&analysis, model, atomicity));
                let traces = judge(&program, &repair, model, atomicity, &Property::Robust, LIMITS);
                let Verdict::Verified(ground) = &traces else { panic!("{name} {model} {atomicity:?}: {traces:?}") };
                let is_exact = match model {
                    "tso" => matches!(ground, Ground::Attacks { .. }),
                    _ => matches!(ground, Ground::Attacks { .. } | Ground::AllRuns { .. }),
                };
                assert!(is_exact, "{name} {model}: {ground:?} is not exact");
                println!("{name} {model} {atomicity:?}: {ground:?}");
                let states = judge(&program, &repair, model, atomicity, &Property::SameStates, LIMITS);
                assert!(is_verified(&states), "{name} {model} {atomicity:?}: {states:?}");
            }
        }
    }
}

/// Places fences only where a run needs them; each is then needed: without it there is a run again.
fn each_confirmed_fence_is_needed(text: &str, model: &str, atomicity: Atomicity, limits: Limits) -> Option<usize> {
    let program = program(text);
    let analysis = analysis(&program, Profile::Sound);
    let outcome = confirmed(&program, &analysis, model, atomicity, limits);
    if outcome.placement.minimality != Minimality::Program {
        return None; // Fences were placed for what is not decided.
    }
    let repair = Repair::of(&outcome);
    match judge(&program, &repair, model, atomicity, &Property::Robust, limits) {
        Verdict::Verified(_) | Verdict::Bounded { .. } => {}
        Verdict::Undecided(_) => return None,
        Verdict::Violated(violation) => {
            panic!("{model} {atomicity:?}: {repair:?} is not enough: {violation:?}\n{text}")
        }
    }
    for fence in repair.fences.keys() {
        let mut without = repair.clone();
        without.fences.remove(fence);
        let verdict = judge(&program, &without, model, atomicity, &Property::Robust, limits);
        assert!(matches!(verdict, Verdict::Violated(_)), "{model}: {fence:?} is not needed: {verdict:?}\n{text}");
    }
    Some(repair.fences.len())
}

#[test]
fn every_specification_needs_each_fence_for_a_confirmed_delay() {
    for (name, text) in specifications() {
        for model in WEAK {
            let fences = each_confirmed_fence_is_needed(&text, model, Atomicity::Split, LIMITS);
            println!("{name} {model}: {fences:?} fences");
            assert!(fences.is_some(), "{name} {model} is not decided");
        }
    }
}

/// Removes all that the repair of a text can have put in.
fn stripped(text: &str) -> String {
    text.replace("; fence", "").replace("fence; ", "").replace("atomic ", "").replace(['[', ']'], "")
}

#[test]
fn a_repaired_text_is_clean_and_verified_and_otherwise_the_same() {
    for (name, text) in specifications() {
        for model in ["tso", "pso", "armv7", "power"] {
            let mut current = text.clone();
            for _ in 0..5 {
                let program = program(&current);
                let analysis = analysis(&program, Profile::Sound);
                let outcome = outcome(&analysis, model, Atomicity::Split);
                if outcome.is_clean() {
                    break;
                }
                let repair = Repair::of(&outcome);
                current = edited(&current, &program, &repair.changes(&analysis.graph.outline)).unwrap();
            }
            let program = program(&current);
            let outcome = outcome(&analysis(&program, Profile::Sound), model, Atomicity::Split);
            assert!(outcome.is_clean(), "{name} {model}: {:?} remain\n{current}", outcome.fences);
            assert_eq!(stripped(&current), stripped(&text), "{name} {model}");
            if WEAK.contains(&model) {
                let verdict = judge(&program, &Repair::default(), model, Atomicity::Split, &Property::Robust, LIMITS);
                assert!(is_verified(&verdict), "{name} {model}: {verdict:?}\n{current}");
            }
        }
    }
}

const RANDOM_LIMITS: Limits = Limits { states: 10_000, buffer: 4 };

const SHAPE: Shape =
    Shape { most_threads: 4, most_instructions: 3, loops: true, composites: true, waits: true, fences: true };

/// Suggestions for random programs hold under every machine, in the reading that they are for: no miss, and no
/// program is left out but those too large for the judge.
fn no_miss(usual: u64, shape: &Shape, model: &str, atomicity: Atomicity) {
    let (repaired, clean, skipped, split) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let doubles = Doubles::default();
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    // Access by access there are more states. Most of the time goes to programs that turn out too large: only a long
    // run tries the larger ones.
    let limits = match atomicity {
        Atomicity::Split if is_long_run() => Limits { states: 3 * RANDOM_LIMITS.states, ..RANDOM_LIMITS },
        _ => RANDOM_LIMITS,
    };
    random_cases(cases(usual), |rng| {
        let text = random_specification(rng, shape);
        let program = program(&text);
        let analysis = analysis_for(&program, atomicity, limits);
        if analysis.cut_off {
            return count(&skipped);
        }
        let outcome = outcome(&analysis, model, atomicity);
        let repair = Repair::of(&outcome);
        let says = |property| judge(&program, &repair, model, atomicity, property, limits);
        let is_wrong = |verdict| -> bool { panic!("{model} {atomicity:?}: {verdict:?} with {repair:?} in\n{text}") };
        let is_judged = match says(&Property::Robust) {
            Verdict::Undecided(_) => false,
            Verdict::Bounded { .. } => match judge_states(&program, &repair, model, atomicity, limits) {
                Verdict::Verified(_) | Verdict::Bounded { .. } => true,
                Verdict::Undecided(_) => false,
                violated => is_wrong(violated),
            },
            Verdict::Verified(_) => match says(&Property::SameStates) {
                Verdict::Verified(_) | Verdict::Bounded { .. } => true,
                Verdict::Undecided(_) => false,
                violated => is_wrong(violated),
            },
            violated => is_wrong(violated),
        };
        if !is_judged {
            return count(&skipped);
        }
        doubles.count(&program);
        count(if outcome.is_clean() { &clean } else { &repaired });
        let can_be_torn = !crate::support::trust::outcome(&analysis, "sc", Atomicity::Full).locks.is_empty();
        split.set(split.get() + u32::from(can_be_torn));
    });
    let (repaired, clean, skipped) = (repaired.get(), clean.get(), skipped.get());
    println!(
        "{repaired} repaired, {clean} clean, {skipped} skipped; {} with torn instructions; {doubles}",
        split.get()
    );
    assert!(repaired > 0 && split.get() > 0, "no program needed a repair, or none was torn: this test shows nothing");
    assert!(skipped * 4 < repaired + clean, "too many programs were skipped");
    doubles.assert_all();
}

#[test]
fn nothing_is_missed_on_tso() {
    no_miss(2000, &SHAPE, "tso", Atomicity::Full);
}

#[test]
fn nothing_is_missed_on_pso() {
    no_miss(2000, &SHAPE, "pso", Atomicity::Full);
}

#[test]
fn nothing_is_missed_on_tso_where_instructions_are_split() {
    no_miss(2000, &SHAPE, "tso", Atomicity::Split);
}

#[test]
fn nothing_is_missed_on_pso_where_instructions_are_split() {
    no_miss(1000, &SHAPE, "pso", Atomicity::Split);
}

#[test]
fn nothing_is_missed_on_tso_where_instructions_are_presumed_to_be_atomic() {
    no_miss(2000, &SHAPE, "tso", Atomicity::Presumed);
}

#[test]
fn nothing_is_missed_on_pso_where_instructions_are_presumed_to_be_atomic() {
    no_miss(1000, &SHAPE, "pso", Atomicity::Presumed);
}

#[test]
fn nothing_is_missed_where_only_updates_are_whole() {
    no_miss(500, &SHAPE, "tso", Atomicity::Updates);
    no_miss(500, &SHAPE, "pso", Atomicity::Updates);
}

/// Where a machine with store buffers ends: nothing waits, and nothing changes any more.
fn machine_ends(program: &Program, machine: Machine) -> BTreeSet<End> {
    let split = SplitProgram::new(program).unwrap();
    let mut buffers = Buffers::new(&split, machine, 16);
    let mut visited = Visited::new(1_000_000);
    visited.start(buffers.initial()).unwrap();
    let mut ends = BTreeSet::new();
    let mut at = 0;
    while (at as usize) < visited.len() {
        let state = visited.get(at);
        let steps = buffers.steps(&state);
        // With empty buffers, what a thread can still do shows when it performs whole instructions.
        buffers.system.granularity = Granularity::Instructions;
        let mut whole = buffers.system.steps(&state.shared).into_iter();
        let is_over = whole.all(|(_, next)| next == state.shared);
        buffers.system.granularity = Granularity::Accesses;
        if buffers.is_at_boundary(&state) && is_over {
            let threads = state.shared.threads.iter().zip(&buffers.system.threads);
            let (locals, controls) = threads
                .map(|(&config, thread)| (thread.config(config).frame.to_vec(), thread.config(config).control))
                .unzip();
            ends.insert(End { shared: state.shared.memory.to_vec(), locals, controls });
        }
        for (_, next) in steps {
            visited.insert(next, at).unwrap();
        }
        at += 1;
    }
    assert!(!buffers.is_cut_off, "loop-free programs fit");
    ends
}

#[test]
fn machines_end_where_the_axioms_allow() {
    let shape = Shape { loops: false, ..SHAPE };
    let (weak, doubles) = (Cell::new(0), Doubles::default());
    random_cases(cases(2500), |rng| {
        let text = random_specification(rng, &shape);
        let program = program(&text);
        doubles.count(&program);
        for (machine, model) in MACHINES {
            let by_axioms = axiomatic::outcomes(&program, &axioms(model), 1).unwrap();
            assert!(by_axioms.complete);
            assert_eq!(machine_ends(&program, machine), by_axioms.ends, "{model:?}\n{text}");
            let consistent = axiomatic::outcomes(&program, &Model::sc(), 1).unwrap();
            weak.set(weak.get() + u32::from(by_axioms.ends != consistent.ends));
        }
    });
    println!("{} times more ends than under SC; {doubles}", weak.get());
    assert!(weak.get() > 0, "the programs do not tell the models apart");
    doubles.assert_all();
}

/// What the threads' first locals can be at the end, with one machine; the axioms have to agree.
fn first_locals(shared: &str, threads: &[&str], machine: Machine, model: &str) -> BTreeSet<Vec<i64>> {
    let thread = |(number, steps): (usize, &&str)| {
        let names: Vec<String> = (0..=steps.matches("->").count()).map(|state| format!("S{state}")).collect();
        let (first, others) = names.split_first().unwrap();
        format!(
            "T{number} {{ variables Integer r Integer s initial {first} states {} transitions {steps} }}",
            others.join(" ")
        )
    };
    let threads: Vec<String> = threads.iter().enumerate().map(thread).collect();
    let text = format!(
        "model small {{ classes G {{ variables {shared} state machines {} }} objects g : G() }}",
        threads.join(" ")
    );
    let program = program(&text);
    let ends = machine_ends(&program, machine);
    assert_eq!(ends, axiomatic::outcomes(&program, &axioms(model), 1).unwrap().ends, "{model:?}\n{text}");
    ends.iter().map(|end| end.locals.iter().map(|locals| locals[0]).collect()).collect()
}

const MACHINES: [(Machine, &str); 2] = [(Machine::Tso, "tso"), (Machine::Pso, "pso")];

#[test]
fn a_write_does_not_wait_for_the_index_of_a_read_elsewhere() {
    // T1 changes the index when it has seen the write; the write then was not to the element that T0 reads.
    for (machine, model) in MACHINES {
        let ends = first_locals(
            "Integer x := 1 Integer[2] a := [5, 0]",
            &["S0 -> S1 { [r := a[x]; a[1] := 1] }", "S0 -> S1 { a[1] = 1 } S1 -> S2 { x := 0 }"],
            machine,
            model,
        );
        assert_eq!(ends, BTreeSet::from([vec![0, 0], vec![5, 0]]), "{model:?}");
    }
}

#[test]
fn a_read_does_not_wait_for_the_index_of_a_write_elsewhere() {
    for (machine, model) in MACHINES {
        let ends = first_locals(
            "Integer x Integer y Integer[2] a",
            // T0 reads the element before T1 writes it, and the index after that.
            &["S0 -> S1 { [a[x] := 7; r := a[0]] }", "S0 -> S1 { atomic [a[0] := 1; x := 1] }"],
            machine,
            model,
        );
        assert_eq!(ends, BTreeSet::from([vec![0, 0], vec![1, 0], vec![7, 0]]), "{model:?}");
    }
}

#[test]
fn no_index_comes_out_of_thin_air() {
    // Only if x is 1 does T0 write 1 to y, and only if it does, T1 writes 1 to x.
    for (machine, model) in MACHINES {
        let ends = first_locals(
            "Integer x Integer y Integer[2] a",
            &["S0 -> S1 { [a[x] := 1; y := 1 - a[0]; r := x] }", "S0 -> S1 { y = 1 } S1 -> S2 { x := 1 }"],
            machine,
            model,
        );
        assert_eq!(ends, BTreeSet::from([vec![0, 0]]), "{model:?}");
    }
}

#[test]
fn every_mention_of_a_location_is_an_access() {
    for (machine, model) in MACHINES {
        let locals = |threads: &[&str]| first_locals("Integer x Integer y", threads, machine, model);
        // Both reads before the other's write, one of them, or none.
        let ends = locals(&["S0 -> S1 { r := x + x }", "S0 -> S1 { x := 1 }"]);
        assert_eq!(ends, BTreeSet::from([vec![0, 0], vec![1, 0], vec![2, 0]]), "{model:?}");
        // Two reads have no order: the second one of the text can come first.
        let ends = locals(&["S0 -> S1 { [s := x; r := s - x] }", "S0 -> S1 { x := 1 }"]);
        assert_eq!(ends, BTreeSet::from([vec![-1, 0], vec![0, 0], vec![1, 0]]), "{model:?}");
        // Both writes are there to be seen, and in order.
        let ends = locals(&["S0 -> S1 { [x := 1; x := 2] }", "S0 -> S1 { r := x }"]);
        assert_eq!(ends, BTreeSet::from([vec![0, 0], vec![0, 1], vec![0, 2]]), "{model:?}");
        let ends = locals(&["S0 -> S1 { [x := 1; x := 2] }", "S0 -> S1 { r := x } S1 -> S2 { r := 3 * r + x }"]);
        let allowed = [0, 1, 2, 4, 5, 8].map(|both| vec![0, both]);
        assert_eq!(ends, BTreeSet::from(allowed), "{model:?}");
        // What was written can be another's when it is read.
        let ends = locals(&["S0 -> S1 { [x := 1; r := x] }", "S0 -> S1 { x := 2 }"]);
        assert_eq!(ends, BTreeSet::from([vec![1, 0], vec![2, 0]]), "{model:?}");
        let ends = locals(&["S0 -> S1 { [r := x; x := 2; s := x] }"]);
        assert_eq!(ends, BTreeSet::from([vec![0]]), "{model:?}: what is written later is not read");
        // In one piece none of that is seen.
        let ends = locals(&["S0 -> S1 { atomic [r := x + x; x := 2] }", "S0 -> S1 { x := 1 }"]);
        assert_eq!(ends, BTreeSet::from([vec![0, 0], vec![2, 0]]), "{model:?}");
    }
}

/// T0 can be torn only if it writes before it reads the index, and that only if the index is not 1 in the end.
#[test]
fn what_is_presumed_must_come_true() {
    for (index, is_torn) in [(1, false), (0, true)] {
        let text = format!(
            "model presumed {{ classes G {{ variables Integer x := 1 Integer[2] a state machines
                T0 {{ variables Integer r initial A states B transitions A -> B {{ [r := a[x]; a[1] := 1] }} }}
                T1 {{ initial A states B C transitions A -> B {{ a[1] = 1 }} B -> C {{ x := {index} }} }} }} objects g : G() }}"
        );
        let program = program(&text);
        for model in WEAK {
            let verdict = judge(&program, &Repair::default(), model, Atomicity::Full, &Property::Robust, LIMITS);
            assert_eq!(matches!(verdict, Verdict::Violated(_)), is_torn, "{model}: {verdict:?}\n{text}");
            assert_eq!(is_verified(&verdict), !is_torn, "{model}: {verdict:?}\n{text}");
        }
    }
}

/// Programs in which the published definitions miss what a machine does; `docs/trust.md` shows the runs.
#[test]
fn the_published_definitions_miss_these() {
    let loop_of_one = "model loop { classes G { variables Integer x Integer y state machines
        T0 { variables Integer r initial A transitions A -> A { x := 1 } A -> A { r := y } }
        T1 { variables Integer r initial A transitions A -> A { y := 1 } A -> A { r := x } } } objects g : G() }";
    let message_passing = fs::read_to_string("specs/mp.slco").unwrap().replace("r := f", "f = 1");
    for (text, model) in [(message_passing.as_str(), "pso"), (loop_of_one, "tso")] {
        let program = program(text);
        let repair = |profile| {
            let analysis = analysis(&program, profile);
            Repair::of(&outcome(&analysis, model, Atomicity::Split))
        };
        let judge = |repair: &Repair| judge(&program, repair, model, Atomicity::Split, &Property::Robust, LIMITS);
        assert!(matches!(judge(&repair(Profile::Published)), Verdict::Violated(_)), "{model}\n{text}");
        assert!(is_verified(&judge(&repair(Profile::Sound))), "{model}\n{text}");
    }
}

/// With fences only for confirmed delays, each fence is needed.
fn no_waste(usual: u64, model: &str, atomicity: Atomicity) {
    let (fences, skipped) = (Cell::new(0), Cell::new(0));
    random_cases(cases(usual), |rng| {
        let shape = Shape { composites: atomicity == Atomicity::Full, ..SHAPE };
        let text = random_specification(rng, &shape);
        match each_confirmed_fence_is_needed(&text, model, atomicity, RANDOM_LIMITS) {
            Some(placed) => fences.set(fences.get() + placed),
            None => skipped.set(skipped.get() + 1),
        }
    });
    println!("{} fences, each needed; {} programs skipped", fences.get(), skipped.get());
    assert!(fences.get() > 0, "no fence was placed: this test shows nothing");
}

#[test]
fn no_confirmed_fence_is_wasted_on_tso() {
    no_waste(1000, "tso", Atomicity::Split);
}

#[test]
fn no_confirmed_fence_is_wasted_on_pso() {
    no_waste(500, "pso", Atomicity::Split);
}
