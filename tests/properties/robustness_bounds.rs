//! Robustness by an abstraction and by few threads, against the whole state space: the abstraction's facts include the
//! real ones, its fences are enough, its bounds enclose the minimum, and what it says is the minimum is.

use crate::support::engines::{answer, examined, named, placed};
use crate::support::random::{cases, random_cases};
use crate::support::random_programs::random_program;
use crate::support::random_slco::{Shape, random_specification};
use crate::support::trust::{judge, program, whole_facts};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::analysis::{Abstraction, Analysis, ModelOutcome, Options};
use seqcon::confirm::Limits;
use seqcon::confirm::alike::renamed;
use seqcon::cycles::Atomicity;
use seqcon::engines::{Answer, Approach, Confirm, Settings};
use seqcon::environment::{self, Interference, Overtaking, View};
use seqcon::explore;
use seqcon::facts::Facts;
use seqcon::ids::{LabelId, LocationAt, ThreadAt};
use seqcon::lts::label::Label;
use seqcon::memory::MemoryModel;
use seqcon::placement::Minimality;
use seqcon::program::alike;
use seqcon::program::compiled::Compiled;
use seqcon::program::{
    Assignment, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread, Variable,
};
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::weak::attack::{Attack, Pair, Witness};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::verify::Verdict;
use seqcon::weak::{Granularity, Machine};
use std::cell::Cell;
use std::collections::BTreeSet;

const SHAPE: Shape =
    Shape { most_threads: 4, most_instructions: 4, loops: true, composites: true, waits: true, fences: true };

/// The tables with labels for their numbers.
#[derive(Debug, PartialEq, Eq)]
struct Tables<'f> {
    labels: BTreeSet<&'f Label>,
    pairs: [BTreeSet<(&'f Label, &'f Label)>; 3],
    last: BTreeSet<&'f Label>,
}

fn tables(facts: &Facts) -> Tables<'_> {
    let label = |id: LabelId| &facts.labels[id.index()];
    let pair = |(a, b): (LabelId, LabelId)| (label(a), label(b));
    Tables {
        labels: facts.labels.iter().collect(),
        pairs: [
            facts.follows.iter().map(|follows| pair((follows.from, follows.to))).collect(),
            facts.waits.iter().copied().map(pair).collect(),
            facts.concurrent.iter().copied().map(pair).collect(),
        ],
        last: facts.silences.begin.iter().copied().map(label).collect(),
    }
}

/// What of the first tables is not in the second.
fn missing(real: &Facts, view: &Facts) -> Option<String> {
    let (real, view) = (tables(real), tables(view));
    if let Some(label) = real.labels.difference(&view.labels).next() {
        return Some(format!("label {label}"));
    }
    for (name, (real, view)) in ["follows", "waits", "concurrent"].iter().zip(real.pairs.iter().zip(&view.pairs)) {
        if let Some((a, b)) = real.difference(view).next() {
            return Some(format!("{name}({a}, {b})"));
        }
    }
    real.last.difference(&view.last).next().map(|label| format!("nothing after {label}"))
}

fn abstracted(program: &Program, view: View) -> Facts {
    let compiled = Compiled::new(program).unwrap();
    environment::facts(program, &compiled, view, &explore::Limits::default()).unwrap()
}

/// A program with everything that programs can have, or one with two to four threads.
fn any_program(rng: &mut StdRng) -> Program {
    if rng.random() { random_program(rng) } else { program(&random_specification(rng, &SHAPE)) }
}

#[test]
fn facts_of_abstractions_include_those_of_the_state_space() {
    let [equal, more] = [0, 0].map(Cell::new);
    random_cases(cases(400), |rng| {
        let program = any_program(rng);
        let real = whole_facts(&program);
        for view in [View::Each, View::Pairs] {
            let view_facts = abstracted(&program, view);
            assert_eq!(missing(&real, &view_facts), None, "{view:?} {program:#?}");
            let counter = if tables(&view_facts) == tables(&real) { &equal } else { &more };
            counter.set(counter.get() + 1);
        }
        let (each, pairs) = (abstracted(&program, View::Each), abstracted(&program, View::Pairs));
        assert_eq!(missing(&pairs, &each), None, "pairs are never less exact: {program:#?}");
    });
    println!("equal in {} cases, more in {}", equal.get(), more.get());
    assert!(equal.get() > 0 && more.get() > 0, "this test shows nothing");
}

/// The same with one of the values forgotten that threads write: the test above would notice.
#[test]
fn a_written_value_that_is_forgotten_is_missed() {
    let [noticed, tried] = [0, 0].map(Cell::new);
    random_cases(cases(500) / 5, |rng| {
        let program = program(&random_specification(rng, &SHAPE));
        let compiled = Compiled::new(&program).unwrap();
        let all = environment::interference(&program, &compiled, &explore::Limits::default()).unwrap();
        let written: Vec<(usize, (LocationAt, Option<i64>))> = all
            .written
            .iter()
            .enumerate()
            .flat_map(|(thread, own)| own.iter().map(move |&write| (thread, write)))
            .collect();
        if written.is_empty() {
            return;
        }
        let (thread, write) = written[rng.random_range(0..written.len())];
        let mut less: Interference = all.clone();
        less.written[thread].remove(&write);
        let real = whole_facts(&program);
        let among = |interference: &Interference| {
            environment::facts_among(&program, &compiled, interference, View::Each).unwrap()
        };
        assert_eq!(missing(&real, &among(&all)), None, "{program:#?}");
        tried.set(tried.get() + 1);
        noticed.set(noticed.get() + u32::from(missing(&real, &among(&less)).is_some()));
    });
    println!("{} of {} noticed", noticed.get(), tried.get());
    assert!(10 * noticed.get() > tried.get(), "{} of {}", noticed.get(), tried.get());
}

fn settings(approach: Approach) -> Settings {
    Settings { approach, confirm: Confirm::Full, ..Settings::default() }
}

fn told(program: &Program, approach: Approach, model: &str) -> ModelOutcome {
    let found = examined(named("cycles"), program, &settings(approach), None, |examined| {
        placed(examined, model, &Options { atomicity: examined.atomicity(), ..Options::default() })
    });
    found.unwrap()
}

fn locked(outcome: &ModelOutcome) -> BTreeSet<u32> {
    outcome.findings.torn.iter().map(|torn| torn.instr.0).collect()
}

/// Whether the state space's own event graph leaves nothing open with these fences, and no machine finds a run.
fn check_enough(program: &Program, model: &str, outcome: &ModelOutcome) {
    let repair = Repair::of(outcome);
    let second = examined(named("cycles"), program, &settings(Approach::Program), None, |examined| {
        answer(examined, model, &repair)
    });
    let second = second.unwrap();
    let is_machine = Machine::of(&MemoryModel::named(model).unwrap()).is_ok();
    if !is_machine {
        assert!(matches!(second, Answer::Holds(_)), "{model}: {second:?} with {repair:?}\n{program:#?}");
        return;
    }
    let limits = Limits { states: 20_000, buffer: 4 };
    let verdict = judge(program, &repair, model, Atomicity::Full, &Property::Robust, limits);
    assert!(!matches!(verdict, Verdict::Violated(_)), "{model}: {verdict:?} with {repair:?}\n{program:#?}");
}

fn bounds_enclose(usual: u64, model: &str) {
    let [proved, event_graph, open] = [0, 0, 0].map(Cell::new);
    random_cases(cases(usual), |rng| {
        let program = program(&random_specification(rng, &SHAPE));
        let exact = told(&program, Approach::Program, model);
        let graph = Analysis::new(whole_facts(&program), seqcon::aeg::Profile::Sound)
            .run(&MemoryModel::named(model).unwrap(), &Options::default());
        for abstraction in [Abstraction::Environment, Abstraction::Pairs] {
            let told = told(&program, Approach::Abstract(abstraction), model);
            let shown = || format!("{abstraction} {model}: {:?}\n{program:#?}", told.placement);
            assert!(told.complete && locked(&told).is_superset(&locked(&exact)), "{}", shown());
            check_enough(&program, model, &told);
            let is_exact = exact.placement.minimality == Minimality::Program;
            let count = match told.placement.minimality {
                Minimality::Program => {
                    assert_eq!(locked(&told), locked(&exact), "{}", shown());
                    assert!(told.fences.len() <= exact.fences.len(), "{}", shown());
                    assert!(!is_exact || told.fences.len() == exact.fences.len(), "{}", shown());
                    &proved
                }
                Minimality::EventGraph => {
                    assert_eq!(locked(&told), locked(&graph), "{}", shown());
                    assert_eq!(told.fences.len(), graph.fences.len(), "{}", shown());
                    &event_graph
                }
                Minimality::AtLeast(needed) => {
                    assert!(needed <= exact.fences.len(), "{}", shown());
                    let is_comparable = is_exact && locked(&told) == locked(&exact);
                    assert!(!is_comparable || exact.fences.len() <= told.fences.len(), "{}", shown());
                    &open
                }
                Minimality::Abstraction | Minimality::Greedy => panic!("{}", shown()),
            };
            count.set(count.get() + 1);
        }
    });
    println!("{model}: proved {}, for the event graph {}, open {}", proved.get(), event_graph.get(), open.get());
    assert!(proved.get() > open.get() && proved.get() > 0, "this test shows nothing");
}

#[test]
fn bounds_enclose_the_minimum_on_tso() {
    bounds_enclose(150, "tso");
}

#[test]
fn bounds_enclose_the_minimum_on_pso() {
    bounds_enclose(50, "pso");
}

#[test]
fn bounds_enclose_the_minimum_on_armv7() {
    bounds_enclose(150, "armv7");
}

/// What no thread can reorder alone is in no attack.
#[test]
fn a_thread_alone_reorders_at_least_what_attacks_do() {
    let [same, more] = [0, 0].map(Cell::new);
    random_cases(cases(600) / 2, |rng| {
        let program = program(&random_specification(rng, &Shape { composites: false, ..SHAPE }));
        let split = SplitProgram::new(&program).unwrap();
        if !split.composites().is_empty() {
            return;
        }
        let attack = Attack::new(&split, Machine::Tso, Granularity::Instructions, 100_000).unwrap();
        let overtaking = |pair: Pair| Overtaking {
            thread: pair.thread,
            write: (pair.from.instruction, pair.from.location),
            read: (pair.to.instruction, pair.to.location),
        };
        let real: BTreeSet<Overtaking> = attack.pairs().into_iter().map(overtaking).collect();
        let compiled = Compiled::new(&program).unwrap();
        let threads: BTreeSet<ThreadAt> = ThreadAt::all(program.threads.len()).collect();
        let alone = environment::overtakings(&program, &compiled, &threads, &explore::Limits::default()).unwrap();
        assert!(real.is_subset(&alone), "{:?}\n{program:#?}", real.difference(&alone).next());
        let counter = if real == alone { &same } else { &more };
        counter.set(counter.get() + u32::from(!real.is_empty()));
    });
    println!("the same in {}, more in {}", same.get(), more.get());
    assert!(same.get() > 0, "this test shows nothing");
}

/// Whether twins are told apart or not, the same pairs are feasible.
#[test]
fn twins_need_not_be_told_apart() {
    let [feasible, infeasible] = [0, 0].map(Cell::new);
    random_cases(cases(300) / 2, |rng| {
        let mut program =
            program(&random_specification(rng, &Shape { most_threads: 2, most_instructions: 3, ..SHAPE }));
        let twin = rng.random_range(0..2);
        let copies = rng.random_range(1..3);
        for copy in 0..copies {
            let mut thread = program.threads[twin].clone();
            thread.name = format!("twin{copy}");
            program.threads.push(thread);
        }
        let split = SplitProgram::new(&program).unwrap();
        assert_eq!(split.twins().last(), Some(&ThreadAt::new(twin.min(split.twins()[twin].index()))));
        let granularity = if rng.random() { Granularity::Instructions } else { Granularity::Accesses };
        for machine in [Machine::Tso, Machine::Pso] {
            let Ok(mut apart) = Attack::new(&split, machine, granularity, 20_000) else { continue };
            let mut merged = Attack::merging_twins(&split, machine, granularity, 20_000).unwrap();
            assert!(merged.num_of_states() <= apart.num_of_states());
            for pair in apart.pairs() {
                let (Ok(run), Ok(merged)) = (apart.confirm(pair), merged.is_feasible(pair)) else { continue };
                assert_eq!(run.is_some(), merged, "{machine:?} {pair:?}\n{program:#?}");
                let counter = if merged { &feasible } else { &infeasible };
                counter.set(counter.get() + 1);
            }
        }
    });
    println!("{} feasible, {} not", feasible.get(), infeasible.get());
    assert!(feasible.get() > 0 && infeasible.get() > 0, "this test shows nothing");
}

/// What is found in one of two groups that are alike is, renamed, what is found in the other one.
#[test]
fn groups_that_are_alike_have_the_same_runs() {
    let [runs, unlike] = [0, 0].map(Cell::new);
    random_cases(cases(300) / 2, |rng| {
        let shape = Shape { most_threads: 2, most_instructions: 3, ..SHAPE };
        let mut program = program(&random_specification(rng, &shape));
        // The same threads again, over other variables, in another order.
        let (shared, threads) = (program.shared.len(), program.threads.len());
        for variable in program.shared.clone() {
            program.shared.push(Variable { name: format!("{}2", variable.name), ..variable });
        }
        for thread in program.threads.clone().into_iter().rev() {
            let mut thread = Thread { name: format!("{}2", thread.name), ..thread };
            thread.instructions.iter_mut().for_each(|instruction| shift(instruction, shared));
            program.threads.push(thread);
        }
        let compiled = Compiled::new(&program).unwrap();
        let split = SplitProgram::new(&program).unwrap();
        let groups = [0, threads].map(|first| [first, first + 1].map(ThreadAt::new));
        let [one, other] = groups.map(|group| alike::Shape::of(&program, &compiled, &group, |_| false));
        assert_eq!(one.key(), other.key(), "{program:#?}");
        let crossed = alike::Shape::of(&program, &compiled, &[ThreadAt::new(0), ThreadAt::new(threads)], |_| false);
        unlike.set(unlike.get() + u32::from(crossed.key() != one.key()));
        for machine in [Machine::Tso, Machine::Pso] {
            let found = groups.map(|group| {
                let split = split.moving(&group);
                let mut attack = Attack::in_part(&split, machine, Granularity::Instructions, 20_000).unwrap();
                let witnesses = attack.pairs().into_iter().filter_map(|pair| attack.confirm(pair).unwrap());
                witnesses.collect::<Vec<Witness>>()
            });
            let pairs = |witnesses: &[Witness]| -> BTreeSet<Pair> { witnesses.iter().map(|run| run.pair).collect() };
            let copies: Vec<Witness> = found[0].iter().map(|run| renamed(run, &one, &other).unwrap()).collect();
            assert_eq!(pairs(&copies), pairs(&found[1]), "{machine:?}\n{program:#?}");
            let back: Vec<Witness> = copies.iter().map(|run| renamed(run, &other, &one).unwrap()).collect();
            assert_eq!(back, found[0]);
            runs.set(runs.get() + copies.len() as u32);
        }
    });
    println!("{} runs, {} groups that are not alike", runs.get(), unlike.get());
    assert!(runs.get() > 0 && unlike.get() > 0, "this test shows nothing");
}

/// The instruction with other shared variables.
fn shift(instruction: &mut Instruction, by: usize) {
    instruction.condition.iter_mut().for_each(|condition| shift_expression(condition, by));
    for assignment in &mut instruction.assignments {
        shift_reference(&mut assignment.target, by);
        shift_expression(&mut assignment.value, by);
    }
}

fn shift_reference(reference: &mut Reference, by: usize) {
    reference.variable += if reference.scope == Scope::Shared { by } else { 0 };
    reference.index.iter_mut().for_each(|index| shift_expression(index, by));
}

fn shift_expression(expression: &mut Expression, by: usize) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Read(reference) => shift_reference(reference, by),
        Expression::Unary(_, operand) => shift_expression(operand, by),
        Expression::Binary(_, left, right, _) => {
            shift_expression(left, by);
            shift_expression(right, by);
        }
    }
}

/// Whether dead locals are forgotten or not, the same pairs are feasible.
#[test]
fn dead_locals_make_no_difference() {
    let [feasible, infeasible, fewer] = [0, 0, 0].map(Cell::new);
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    random_cases(cases(400), |rng| {
        let mut program = any_program(rng);
        // Conditions that lead back and assign a local: whether these have had an effect is seen in the local.
        for thread in &mut program.threads {
            if let Some(looping) = thread.instructions.iter().position(|known| known.condition.is_some())
                && rng.random()
            {
                let looping = &mut thread.instructions[looping];
                looping.to = looping.from;
                looping.kind = InstructionKind::Plain;
                let target = Reference { scope: Scope::Local, variable: 0, index: None, span: Span::default() };
                looping.assignments = vec![Assignment { target, value: Expression::Constant(rng.random_range(0..2)) }];
            }
        }
        let Ok(split) = SplitProgram::new(&program) else { return };
        let granularity = if rng.random() { Granularity::Instructions } else { Granularity::Accesses };
        for machine in [Machine::Tso, Machine::Pso] {
            let Ok(mut all) = Attack::remembering(&split, machine, granularity, 5_000) else { continue };
            let mut less = Attack::new(&split, machine, granularity, 5_000).unwrap();
            fewer.set(fewer.get() + u32::from(less.num_of_states() < all.num_of_states()));
            assert_eq!(all.pairs(), less.pairs(), "{program:#?}");
            for pair in all.pairs() {
                let (Ok(all), Ok(less)) = (all.confirm(pair), less.confirm(pair)) else { continue };
                assert_eq!(all.is_some(), less.is_some(), "{machine:?} {granularity:?} {pair:?}\n{program:#?}");
                count(if all.is_some() { &feasible } else { &infeasible });
            }
        }
    });
    println!("{} feasible, {} not; fewer states in {}", feasible.get(), infeasible.get(), fewer.get());
    assert!(feasible.get() > 0 && infeasible.get() > 0 && fewer.get() > 0, "this test shows nothing");
}
