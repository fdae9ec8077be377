//! The persistence engine against all traces of small programs on store buffers and without.

use crate::support::engines::{answer, examined, named, placed};
use crate::support::random::{cases, random_cases};
use crate::support::random_slco;
use crate::support::traces::{
    Exp, Mini, ONE, Op, Shape, Transition, X, Y, ZERO, fenced, fenced_at, fenced_before, is_persistent, program,
    random_junction, random_mini, sequences,
};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::analysis::{Abstraction, ModelOutcome, Options};
use seqcon::cycles::Listing;
use seqcon::engines::{Answer, Approach, Confirm, Settings, Trouble};
use seqcon::ids::{ControlAt, InstrAt, ThreadAt};
use seqcon::lang;
use seqcon::outline::{Outline, Place, Site};
use seqcon::placement::Minimality;
use seqcon::program::single_access::SingleAccess;
use seqcon::program::{At, Program};
use seqcon::repair::Repair;
use seqcon::report::runs::list;
use seqcon::weak::split::SplitProgram;
use seqcon::weak::system::System;
use seqcon::weak::verify::{Question, Verdict, same_states};
use seqcon::weak::{Granularity, Machine};
use std::cell::Cell;
use std::collections::BTreeSet;

/// What the engine says of the program as it stands.
fn try_holds(program: &Program, abstraction: Option<Abstraction>) -> Result<bool, Trouble> {
    let settings = settings(abstraction);
    examined(named("persistence"), program, &settings, None, |examined| {
        matches!(answer(examined, "tso", &Repair::default()), Answer::Holds(_))
    })
}

fn settings(abstraction: Option<Abstraction>) -> Settings {
    let approach = abstraction.map_or(Approach::Program, Approach::Abstract);
    Settings { approach, tells_runs: true, ..Settings::default() }
}

fn holds(program: &Program, abstraction: Option<Abstraction>) -> bool {
    try_holds(program, abstraction).unwrap()
}

fn outcome(program: &Program, abstraction: Option<Abstraction>) -> (ModelOutcome, Repair) {
    let options = Options { minimal_sets: Listing::All, ..Options::default() };
    let settings = settings(abstraction);
    let outcome =
        examined(named("persistence"), program, &settings, None, |examined| placed(examined, "tso", &options));
    let outcome = outcome.unwrap();
    let repair = Repair::of(&outcome);
    (outcome, repair)
}

#[test]
fn the_verdict_is_that_of_all_traces() {
    let (persistent, fragile) = (Cell::new(0), Cell::new(0));
    random_cases(cases(2000), |rng| {
        let shape = match rng.random_range(0..3) {
            0 => Shape { most_threads: 2, most_instructions: 4, variables: 2 },
            1 => Shape { most_threads: 2, most_instructions: 4, variables: 3 },
            _ => Shape { most_threads: 3, most_instructions: 3, variables: 3 },
        };
        let mini = random_mini(rng, &shape);
        let expected = is_persistent(&mini);
        let found = holds(&program(&mini), None);
        assert_eq!(found, expected, "persistent? {mini:#?}");
        let count = if expected { &persistent } else { &fragile };
        count.set(count.get() + 1);
    });
    println!("{} persistent, {} fragile", persistent.get(), fragile.get());
    assert!(persistent.get() > 0 && fragile.get() > 0, "only one kind of program: this test shows nothing");
}

/// All sets of fences from which none can be left out, by trying every set on the program that really has them.
fn minimal_sets_by_trying(mini: &Mini) -> BTreeSet<BTreeSet<(usize, usize)>> {
    let points: Vec<(usize, usize)> =
        mini.iter().enumerate().flat_map(|(thread, ops)| (0..ops.len()).map(move |number| (thread, number))).collect();
    let mut minimal: Vec<BTreeSet<(usize, usize)>> = Vec::new();
    let mut sets: Vec<u32> = (0..1 << points.len()).collect();
    sets.sort_by_key(|set| set.count_ones());
    for set in sets {
        let set: BTreeSet<(usize, usize)> =
            (0..points.len()).filter(|bit| set & 1 << bit != 0).map(|bit| points[bit]).collect();
        if !minimal.iter().any(|smaller| smaller.is_subset(&set)) && is_persistent(&fenced(mini, &set)) {
            minimal.push(set);
        }
    }
    minimal.into_iter().collect()
}

/// Where a transition stands in the program.
fn at((thread, number): (usize, usize)) -> At {
    At { thread: ThreadAt::new(thread), instruction: InstrAt::new(number) }
}

/// The transition of an instruction.
fn transition(at: At) -> (usize, usize) {
    (at.thread.index(), at.instruction.index())
}

/// Where fences stand, in the terms of the program.
fn places(program: &Program, repair: &Repair) -> BTreeSet<((usize, usize), Place)> {
    let outline = Outline::of_program(program);
    repair.fences.keys().map(|site| (transition(outline.at(site.instr).unwrap()), site.place)).collect()
}

/// Fences at these places.
fn repair_at<const N: usize>(program: &Program, places: [((usize, usize), Place); N]) -> Repair {
    let outline = Outline::of_program(program);
    let site = |(transition, place)| match place {
        Place::State => outline.site_behind(outline.instr(at(transition))).unwrap(),
        _ => Site { instr: outline.instr(at(transition)), place },
    };
    Repair::full(places.map(site))
}

/// The program with fences in place, at control states, and after and before transitions.
fn with_fences(mini: &Mini, fences: &BTreeSet<((usize, usize), Place)>) -> Mini {
    let at = |wanted: Place| -> BTreeSet<(usize, usize)> {
        fences.iter().filter(|(_, place)| *place == wanted).map(|&(at, _)| at).collect()
    };
    let states = at(Place::State).into_iter().map(|(thread, number)| (thread, mini[thread][number].to)).collect();
    fenced_before(&fenced(&fenced_at(mini, &states), &at(Place::After)), &at(Place::Before))
}

/// Threads as they come, or one with a state that several transitions lead to and several leave.
fn random_program(rng: &mut StdRng, shape: &Shape) -> Mini {
    if rng.random_bool(0.3) { random_mini(rng, shape) } else { random_junction(rng, shape) }
}

/// Calls `visit` with every set of fewer than `size` of these.
fn for_each_smaller<T: Copy + Ord>(of: &[T], size: usize, visit: &mut dyn FnMut(&BTreeSet<T>)) {
    let mut sets = vec![BTreeSet::new()];
    for _ in 0..size {
        let bigger: BTreeSet<BTreeSet<T>> = sets
            .iter()
            .flat_map(|set| {
                visit(set);
                let with = |&more: &T| set.iter().copied().chain([more]).collect::<BTreeSet<T>>();
                of.iter().filter(|more| !set.contains(more)).map(with).collect::<Vec<BTreeSet<T>>>()
            })
            .collect();
        sets = bigger.into_iter().collect();
    }
}

#[test]
fn all_minimal_sets_are_those_that_trying_every_set_finds() {
    let (tried, at_states) = (Cell::new(0), Cell::new(0));
    random_cases(cases(2000) / 4, |rng| {
        let mini = random_program(rng, &Shape { most_threads: 2, most_instructions: 4, variables: 2 });
        let text = program(&mini);
        if holds(&text, None) || tried.get() >= 40 {
            return;
        }
        tried.set(tried.get() + 1);
        let (outcome, _) = outcome(&text, None);
        let outline = Outline::of_program(&text);
        let sets = outcome.minimal_sets.as_ref().unwrap();
        assert!(sets.complete);
        // One set of each thread, combined.
        let mut combined: BTreeSet<BTreeSet<(usize, usize)>> = BTreeSet::from([BTreeSet::new()]);
        for thread in &sets.parts {
            let mut next = BTreeSet::new();
            for (set, more) in combined.iter().flat_map(|set| thread.iter().map(move |more| (set, more))) {
                let more = more.iter().map(|site| transition(outline.at(site.instr).unwrap()));
                next.insert(set.iter().copied().chain(more).collect());
            }
            combined = next;
        }
        let expected = minimal_sets_by_trying(&mini);
        assert_eq!(combined, expected, "{mini:#?}");
        // The chosen fences may also stand before instructions and at states: they are enough, and no fewer are.
        let chosen = places(&text, &Repair::of(&outcome));
        let has_state = |fences: &BTreeSet<((usize, usize), Place)>| fences.iter().any(|(_, at)| *at == Place::State);
        at_states.set(at_states.get() + usize::from(has_state(&chosen)));
        assert!(is_persistent(&with_fences(&mini, &chosen)), "{chosen:?} {mini:#?}");
        // Of the names of a state one is enough.
        let is_new = |(thread, n): (usize, usize)| mini[thread][..n].iter().all(|other| other.to != mini[thread][n].to);
        let places_of = |at: (usize, usize)| {
            [(at, Place::After), (at, Place::Before)].into_iter().chain(is_new(at).then_some((at, Place::State)))
        };
        let all: Vec<((usize, usize), Place)> = mini
            .iter()
            .enumerate()
            .flat_map(|(thread, ops)| (0..ops.len()).map(move |n| (thread, n)))
            .flat_map(places_of)
            .collect();
        for_each_smaller(&all, chosen.len(), &mut |fewer| {
            assert!(!is_persistent(&with_fences(&mini, fewer)), "{fewer:?} is enough, not {chosen:?} {mini:#?}");
        });
        // Where as many do without, none stands at a state.
        for_each_smaller(&all, chosen.len() + 1, &mut |others| {
            let is_simpler = has_state(&chosen) && others.len() == chosen.len() && !has_state(others);
            assert!(!is_simpler || !is_persistent(&with_fences(&mini, others)), "{others:?}, not {chosen:?} {mini:#?}");
        });
        assert!(
            (outcome.placement.minimality == Minimality::Program)
                && outcome.recheck.enough
                && outcome.recheck.each_needed
        );
    });
    println!("{} fragile programs, every set of fences tried; {} with one at a state", tried.get(), at_states.get());
    assert!(tried.get() > 0 && at_states.get() > 0);
}

#[test]
fn fences_make_programs_persistent_and_the_states_those_of_sc() {
    let repaired = Cell::new(0);
    random_cases(cases(2000) / 4, |rng| {
        let mini = random_program(rng, &Shape { most_threads: 3, most_instructions: 4, variables: 3 });
        let text = program(&mini);
        let (outcome, repair) = outcome(&text, None);
        if outcome.is_clean() {
            return;
        }
        repaired.set(repaired.get() + 1);
        // The one-exploration argument, on the program that really has the fences.
        assert!(holds(&repair.put_into(&text), None), "{mini:#?}");
        for left_out in repair.fences.keys() {
            let mut less = repair.clone();
            less.fences.remove(left_out);
            assert!(!holds(&less.put_into(&text), None), "{left_out:?} is not needed in {mini:#?}");
        }
        assert_same_states(&text, &repair);
    });
    println!("{} programs repaired", repaired.get());
    assert!(repaired.get() > 0);
}

/// Two writes lead to a state, two reads leave it: after the writes or before the reads it takes two fences, at the
/// state one.
#[test]
fn one_fence_at_a_state_does_for_all_ways_through_it() {
    let transition = |(from, to, op)| Transition { from, to, op };
    let pivot = [(0, 1, Op::Write(Y, ONE)), (0, 1, Op::Write(2, ONE)), (1, 2, Op::Read(0, X)), (1, 3, Op::Read(1, X))];
    let other = vec![Transition { from: 0, to: 1, op: Op::Write(X, ONE) }];
    let mini = vec![pivot.map(transition).to_vec(), other];
    let text = program(&mini);
    let (outcome, repair) = outcome(&text, None);
    assert_eq!(places(&text, &repair), BTreeSet::from([((0, 0), Place::State)]));
    assert!(outcome.recheck.enough && outcome.recheck.each_needed);
    assert_eq!(outcome.placement.minimality, Minimality::Program);
    assert_eq!((outcome.placement.cost, outcome.fences[0].delays.len()), (1, 4));
    // All minimal sets are of fences after instructions, as in the paper.
    let sets = outcome.minimal_sets.unwrap();
    assert!(sets.parts.len() == 1 && sets.parts[0].len() == 1 && sets.parts[0][0].len() == 2, "{sets:?}");
    assert!(is_persistent(&with_fences(&mini, &places(&text, &repair))));
    // Any of the instructions that lead there names the state; none of the other places is enough.
    for number in 0..4 {
        for place in [Place::After, Place::Before, Place::State] {
            let fence = ((0, number), place);
            let repair = repair_at(&text, [fence]);
            let is_it = place == Place::State && number < 2;
            assert_eq!(is_persistent(&with_fences(&mini, &BTreeSet::from([fence]))), is_it, "{repair:?}");
            if place == Place::State {
                assert_eq!(holds(&repair.put_into(&text), None), is_it, "{repair:?}");
            }
        }
    }
    let mut split = SplitProgram::new(&text).unwrap();
    repair.apply(&Outline::of_program(&text), &mut split);
    // A fence after an instruction stands before the one at the state, whichever is put in first.
    let mut with_more = SplitProgram::new(&text).unwrap();
    let more = repair_at(&text, [((0, 0), Place::After), ((0, 1), Place::State)]);
    more.apply(&Outline::of_program(&text), &mut with_more);
    for split in [split, with_more] {
        let (machine, granularity) = (Machine::Tso, Granularity::Accesses);
        let question = Question { machine, granularity, bound: 8, limit: 100_000 };
        assert!(matches!(same_states(&split, &question), Verdict::Verified(_)));
    }
}

/// The state is one of the program as it is written, also where instructions are performed in parts and a condition
/// that is refused leads back to it.
#[test]
fn a_state_with_a_fence_is_none_within_an_instruction() {
    let text = "model m { classes C { variables Integer x Integer y Integer z
        state machines
        T0 { variables Integer r initial w states t u transitions
             w -> t { y := z + 1 } w -> t { z := y + 1 } t -> u { [x = 1 and z < 3; r := x] } t -> u { r := x + y } }
        T1 { initial s states t transitions s -> t { x := 1 } }
      } objects o : C() }";
    let program = lang::parse("m.slco", text).unwrap_or_else(|errors| panic!("{errors}")).program;
    assert_ne!(SingleAccess::of(&program).program, program);
    let (outcome, repair) = outcome(&program, None);
    assert_eq!(places(&program, &repair), BTreeSet::from([((0, 0), Place::State)]), "{program:#?}");
    assert!(outcome.recheck.enough && outcome.recheck.each_needed);
    let fenced = repair.put_into(&program);
    assert!(holds(&fenced, None));
    assert_same_states(&SingleAccess::of(&fenced).program, &Repair::default());
}

#[track_caller]
fn assert_same_states(program: &Program, repair: &Repair) {
    let mut split = SplitProgram::new(program).unwrap();
    repair.apply(&Outline::of_program(program), &mut split);
    let question = Question { machine: Machine::Tso, granularity: Granularity::Accesses, bound: 8, limit: 400_000 };
    let verdict = same_states(&split, &question);
    assert!(
        matches!(verdict, Verdict::Verified(_) | Verdict::Bounded { .. } | Verdict::Undecided(_)),
        "{verdict:?}\n{program:#?}"
    );
}

/// What a line of a run tells: the thread, and accesses with their values. The programs of these tests have no texts,
/// so all other words are of what happens.
fn told(line: &str) -> (&str, Vec<(&str, &str, i64)>) {
    let (line, _) = line.split_once("  | ").unwrap_or((line, ""));
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let thread = words[0].split('.').next().unwrap();
    let mut accesses = Vec::new();
    for four in words.windows(4) {
        match *four {
            [kind @ ("R" | "W"), location, "=", value] => {
                accesses.push((kind, location, value.trim_end_matches(',').parse().unwrap()));
            }
            [location, "=", value, "becomes"] => accesses.push(("visible", location, value.parse().unwrap())),
            _ => {}
        }
    }
    (thread, accesses)
}

/// A run is one of the machine: the events of the pattern in their order, and nothing else in the buffers.
fn assert_is_witness(steps: &str) {
    assert_eq!(steps.matches("becomes visible").count(), 1);
    let lines: Vec<_> = steps.lines().map(told).collect();
    let [.., (reader, read), (writer, written), (_, visible)] = &lines[..] else {
        panic!("a read, a write, and what waited: {steps}");
    };
    let &(kind, location, value) = read.last().unwrap();
    assert_eq!(kind, "R", "{steps}");
    let changed = written.iter().any(|&(kind, at, to)| kind == "W" && at == location && to != value);
    assert!(changed, "{steps}");
    assert!(reader != writer && visible[0].0 == "visible" && visible[0].1 != location, "{steps}");
}

#[test]
fn every_delay_has_a_run() {
    random_cases(cases(2000) / 4, |rng| {
        let mini = random_mini(rng, &Shape { most_threads: 3, most_instructions: 4, variables: 3 });
        let (outcome, _) = outcome(&program(&mini), None);
        assert_eq!(outcome.runs.len(), outcome.findings.delays.len());
        outcome.runs.iter().for_each(|run| assert_is_witness(&list(&run.evidence)));
    });
}

#[test]
fn an_atomic_instruction_of_the_fringe_counts() {
    // The printed pattern asks for a write.
    let mini = sequences(&[&[Op::Write(Y, ONE), Op::Read(0, X)], &[Op::Arw(X, ZERO, ONE)]]);
    assert!(!is_persistent(&mini));
    assert!(!holds(&program(&mini), None));
    // One that changes nothing does not, and neither does one that never acts.
    for harmless in [Op::Arw(X, ZERO, ZERO), Op::Arw(X, ONE, ONE)] {
        let mini = sequences(&[&[Op::Write(Y, ONE), Op::Read(0, X)], &[harmless]]);
        assert!(is_persistent(&mini));
        assert!(holds(&program(&mini), None));
    }
}

#[test]
fn the_pivot_may_read_back_what_it_wrote() {
    // The printed reduction overwrites y with a mark, and the assumption fails.
    let pivot = [Op::Write(Y, ONE), Op::Read(0, Y), Op::Assume(Exp::Equals(0, 1)), Op::Read(1, X)];
    let mini = sequences(&[&pivot, &[Op::Write(X, ONE)]]);
    assert!(!is_persistent(&mini));
    assert!(!holds(&program(&mini), None));
    let (outcome, _) = outcome(&program(&mini), None);
    assert_eq!(outcome.fences.len(), 1);
    // A fence after the write, the read of y, or the assumption.
    assert_eq!(outcome.minimal_sets.unwrap().parts[0].len(), 3);
}

#[test]
fn nobody_need_look_at_what_was_written() {
    // Robust, as no thread reads y, but fragile: the two incomparable criteria.
    let mini = sequences(&[&[Op::Write(Y, ONE), Op::Read(0, X)], &[Op::Write(X, ONE)]]);
    let text = program(&mini);
    assert!(!holds(&text, None));
    let is_robust = |text: &Program| {
        let settings = Settings { confirm: Confirm::Off, ..Settings::default() };
        let placed = examined(named("cycles"), text, &settings, None, |examined| {
            placed(examined, "tso", &Options::default()).is_clean()
        });
        placed.unwrap()
    };
    assert!(is_robust(&text));
    // And the other way round: critical cycles, but of writes that change nothing.
    let mini = sequences(&[&[Op::Write(Y, ZERO), Op::Read(0, X)], &[Op::Write(X, ZERO), Op::Read(0, Y)]]);
    let text = program(&mini);
    assert!(holds(&text, None));
    assert!(!is_robust(&text));
}

/// Memory, and for each thread control state and locals: what the program and the split one have in common.
type Boundary = (Vec<i64>, Vec<(ControlAt, Vec<i64>)>);

/// The states between instructions under SC, access by access; none if there are too many.
fn boundaries(program: &Program, original: &Program) -> Option<BTreeSet<Boundary>> {
    let split = SplitProgram::new(program).unwrap();
    let mut system = System::new(&split, Granularity::Accesses);
    let reached = system.reach(60_000).ok()?;
    let slots = |thread: &seqcon::program::Thread| thread.locals.iter().map(|local| local.initial.len()).sum::<usize>();
    let mut found = BTreeSet::new();
    for number in 0..reached.len() as u32 {
        let state = reached.get(number);
        let config = |(thread, &id): (usize, &u32)| {
            let (config, own) = (system.threads[thread].config(id), &original.threads[thread]);
            let is_between = config.running.is_none() && config.control.index() < own.states.len();
            is_between.then(|| (config.control, config.frame[..slots(own)].to_vec()))
        };
        if let Some(threads) = state.threads.iter().enumerate().map(config).collect() {
            found.insert((state.memory.to_vec(), threads));
        }
    }
    Some(found)
}

#[test]
fn instructions_with_several_accesses_are_split_and_repaired() {
    let (split, repaired, skipped, inside) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let shape = random_slco::Shape {
        most_threads: 2,
        most_instructions: 3,
        loops: false,
        composites: true,
        waits: true,
        fences: true,
    };
    random_cases(cases(2000) / 2, |rng| {
        let text = random_slco::random_specification(rng, &shape);
        let program = lang::parse("random.slco", &text).unwrap_or_else(|errors| panic!("{errors}")).program;
        let single = SingleAccess::of(&program).program;
        if single == program {
            return;
        }
        split.set(split.get() + 1);
        // Reads before writes is one of the orders that dependencies allow.
        match (boundaries(&single, &program), boundaries(&program, &program)) {
            (Some(one), Some(any)) => assert!(one.is_subset(&any), "{:?}\n{text}", one.difference(&any).next()),
            _ => skipped.set(skipped.get() + 1),
        }
        if let Err(trouble) = try_holds(&program, None) {
            let Trouble::Inside(at) = trouble else { panic!("{trouble:?}\n{text}") };
            let instruction = program.instruction(at);
            assert!(!instruction.is_atomic() && instruction.assignments.len() > 1, "{text}");
            return inside.set(inside.get() + 1);
        }
        let (outcome, repair) = outcome(&program, None);
        repaired.set(repaired.get() + u32::from(!outcome.is_clean()));
        let fenced = repair.put_into(&program);
        assert!(holds(&fenced, None), "{text}");
        assert_same_states(&SingleAccess::of(&fenced).program, &Repair::default());
    });
    let (split, repaired, skipped, inside) = (split.get(), repaired.get(), skipped.get(), inside.get());
    println!(
        "{split} programs split, {repaired} repaired, {skipped} not compared, {inside} with a pattern inside an instruction"
    );
    assert!(repaired > 0 && skipped < split / 4 && inside < split / 4);
}

#[test]
fn a_pattern_inside_an_instruction_is_refused() {
    let text = |first: &str| {
        format!(
            "model m {{ classes C {{ variables Integer x Integer y state machines
                T0 {{ variables Integer r Integer s initial A states B transitions A -> B {{ {first} }} }}
                T1 {{ variables Integer r initial A states B C transitions A -> B {{ y := 1; fence }} B -> C {{ r := x }} }}
              }} objects o : C() }}"
        )
    };
    let parsed = |first: &str| lang::parse("m.slco", &text(first)).unwrap_or_else(|errors| panic!("{errors}")).program;
    // x is written before it is read again, and y may be read before that write is visible: only a fence inside would
    // help.
    let trouble = try_holds(&parsed("[x := 1; r := x; s := y]"), None).err();
    assert!(matches!(trouble, Some(Trouble::Inside(inside)) if inside == at((0, 0))), "{trouble:?}");
    // Reads that need not come after the write are made before it.
    assert!(holds(&parsed("[x := 1; s := y]"), None));
    assert!(holds(&parsed("atomic [x := 1; r := x; s := y]"), None));
}

/// The theorem of the paper is about updates of one location. An atomic instruction that looks at another one may
/// see, on TSO, what it was before several writes of the pivot; the state before the last of these does not show
/// that.
#[test]
fn an_atomic_instruction_that_looks_elsewhere_counts() {
    let text = "model m { classes C { variables Integer x Integer y Integer a
        state machines
        T0 { initial s states t transitions s -> t { atomic [true; a := 1 - y] } }
        T1 { variables Integer r initial s states t u v transitions s -> t { y := 1 } t -> u { x := 0 } u -> v { r := a } }
      } objects o : C() }";
    let program = lang::parse("m.slco", text).unwrap_or_else(|errors| panic!("{errors}")).program;
    assert!(!holds(&program, None), "r = 0 with y = 1 and a = 1 is not reached under SC");
    assert!(!holds(&program, Some(Abstraction::Flattening(0))));
    let (outcome, repair) = outcome(&program, None);
    assert_eq!(outcome.fences.len(), 1);
    // That it is needed is presumed.
    assert_eq!(outcome.placement.minimality, Minimality::AtLeast(0));
    assert_same_states(&program, &repair);
}
