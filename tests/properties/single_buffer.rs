//! The engine single-buffer: its search backwards against all states on store buffers.

use crate::support::random::{cases, random_cases};
use crate::support::random_program::{Size, random_program};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::analysis::{Inserted, Options};
use seqcon::budget::Budget;
use seqcon::engines::single_buffer::{Rule, Rules, Stop, backwards};
use seqcon::engines::{self, Settings, Subject, Task};
use seqcon::explore::Limits;
use seqcon::ids::ControlAt;
use seqcon::lang::parse_condition;
use seqcon::memory::MemoryModel;
use seqcon::outline::Site;
use seqcon::program::Program;
use seqcon::property::{Property, StateCondition};
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use seqcon::trial;
use seqcon::weak::buffers::Buffers;
use seqcon::weak::forbidden::{Forbidden, search};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::system::{State, System};
use seqcon::weak::verify::{Limit, Question, Verdict};
use seqcon::weak::visited::Visited;
use seqcon::weak::{Granularity, Machine};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// A random program in which instructions may lead back, so that buffers have no bound; values are small.
pub fn random_loops(rng: &mut StdRng, size: Size) -> Program {
    let mut program = random_program(rng, size);
    program.shared.iter_mut().for_each(|variable| variable.modulus = Some(2));
    for thread in &mut program.threads {
        thread.locals.iter_mut().for_each(|variable| variable.modulus = Some(2));
        let states = thread.states.len() as u32;
        for instruction in &mut thread.instructions {
            if rng.random_ratio(1, 5) {
                instruction.to = ControlAt(rng.random_range(0..states));
            }
        }
    }
    program
}

/// A random condition: where two threads are, sometimes with values.
pub fn random_condition(rng: &mut StdRng, program: &Program) -> StateCondition {
    let mut parts = Vec::new();
    for thread in &program.threads {
        let state = rng.random_range(0..thread.states.len());
        match rng.random_range(0..4) {
            0 => parts.push(format!("{}.r = {}", thread.name, rng.random_range(0..2))),
            _ => parts.push(format!("{}@{}", thread.name, thread.states[state])),
        }
    }
    if rng.random_ratio(1, 3) {
        parts.push(format!("{} = {}", ["x", "y"][rng.random_range(0..2)], rng.random_range(0..2)));
    }
    let text = parts.join(" and ");
    parse_condition("test", &text, program).unwrap_or_else(|wrong| panic!("{wrong}")).condition
}

pub fn question(machine: Machine) -> Question {
    Question { machine, granularity: Granularity::Accesses, bound: 4, limit: 20_000 }
}

/// How often what came about.
pub struct Counts<const N: usize>([Cell<u32>; N]);

impl<const N: usize> Counts<N> {
    pub fn new() -> Counts<N> {
        Counts([(); N].map(|()| Cell::new(0)))
    }

    pub fn add(&self, kind: usize) {
        self.0[kind].set(self.0[kind].get() + 1);
    }

    pub fn get(&self, kind: usize) -> u32 {
        self.0[kind].get()
    }
}

pub const SIZE: Size = Size { most_threads: 3, most_instructions: 4 };

/// The search backwards against all states on store buffers, as far as a buffer's bound lets these know.
#[test]
fn backwards_and_forwards_agree() {
    let counts: Counts<5> = Counts::new();
    random_cases(cases(2000), |rng| {
        let program = random_loops(rng, SIZE);
        let condition = random_condition(rng, &program);
        let split = SplitProgram::new(&program).unwrap();
        for machine in [Machine::Tso, Machine::Pso] {
            let backwards = match backwards(&split, machine, Forbidden::State(&condition), 5_000, Rules::ALL) {
                Ok(verdict) => verdict,
                Err(Stop::Limit(_)) => {
                    counts.add(4);
                    continue;
                }
                Err(stop) => panic!("{stop:?}\n{program:?}"),
            };
            let forwards = search(&split, &question(machine), Forbidden::State(&condition)).ok();
            counts.add(match (&forwards, &backwards) {
                (Some(Verdict::Violated(_)), Verdict::Violated(_)) => 0,
                (Some(Verdict::Verified(_)), Verdict::Verified(_)) => 1,
                (None | Some(Verdict::Bounded { .. }), Verdict::Verified(_)) => 2,
                // Its run was made on the machine.
                (None | Some(Verdict::Bounded { .. }), Verdict::Violated(_)) => 3,
                _ => panic!("{machine:?}: {condition}\n{forwards:?}\n{backwards:?}\n{program:#?}"),
            });
        }
    });
    let [violated, verified, beyond, further, given_up] = [0, 1, 2, 3, 4].map(|kind| counts.get(kind));
    println!(
        "violated {violated}, verified {verified}, beyond the bound: {beyond} verified, {further} violated; {given_up} given up"
    );
    assert!(violated.min(verified).min(beyond) > 10 * given_up, "most are decided");
}

/// Without any one of its rules the search does not find all that there is, and that is noticed: by the verdict, or by
/// the second look.
#[test]
fn each_rule_is_needed() {
    let of_tso = [
        Rule::MoveToMessage,
        Rule::MoveToNew,
        Rule::Write,
        Rule::WriteBehind,
        Rule::WriteBetween,
        Rule::Whole,
        Rule::WholeBehind,
    ];
    let rules = of_tso.map(|rule| (Machine::Tso, rule)).into_iter();
    let rules = rules.chain([Rule::Update, Rule::Replace, Rule::Write].map(|rule| (Machine::Pso, rule)));
    let missed: RefCell<Vec<(Machine, Rule)>> = RefCell::new(rules.collect());
    let (by_verdict, by_second_look) = (Cell::new(0), Cell::new(0));
    random_cases(6000, |rng| {
        if missed.borrow().is_empty() {
            return;
        }
        let program = random_loops(rng, SIZE);
        let condition = random_condition(rng, &program);
        let split = SplitProgram::new(&program).unwrap();
        missed.borrow_mut().retain(|&(machine, rule)| {
            let verdict = |rules: Rules| backwards(&split, machine, Forbidden::State(&condition), 2_000, rules);
            let Ok(right) = verdict(Rules::ALL) else { return true };
            match (right, verdict(Rules::without(rule))) {
                (Verdict::Verified(_), Ok(Verdict::Undecided(Limit::SecondLook))) => {
                    by_second_look.set(by_second_look.get() + 1);
                    false
                }
                (Verdict::Violated(_), Ok(Verdict::Undecided(Limit::SecondLook) | Verdict::Verified(_))) => {
                    by_verdict.set(by_verdict.get() + 1);
                    false
                }
                _ => true,
            }
        });
    });
    println!("noticed: {} by the verdict, {} by the second look", by_verdict.get(), by_second_look.get());
    assert_eq!(*missed.borrow(), [], "nobody notices that these rules are missing");
}

/// A program with fences put in, on store buffers.
pub fn with_fences(
    specification: &Specification,
    fences: &[Site],
    machine: Machine,
    condition: &StateCondition,
) -> Option<Verdict> {
    let mut split = SplitProgram::new(&specification.program).unwrap();
    let repair = Repair::full(fences.iter().copied());
    repair.apply(&specification.outline, &mut split);
    search(&split, &question(machine), Forbidden::State(condition)).ok()
}

/// Where threads are between instructions, their locals, and the memory, as a condition.
pub fn observed(specification: &Specification, system: &System<'_>, state: &State) -> Option<String> {
    let mut parts = Vec::new();
    for (thread, known) in specification.program.threads_at() {
        let config = system.thread(thread).config(state.config(thread));
        if config.running.is_some() {
            return None;
        }
        parts.push(format!("{}@{}", known.name, known.states[config.control.index()]));
        let locals = known.locals.iter().zip(&config.frame[..]);
        parts.extend(locals.map(|(local, value)| format!("{}.{} = {value}", known.name, local.name)));
    }
    let memory = system.program.locations.iter().zip(&state.memory[..]);
    parts.extend(memory.map(|(location, value)| format!("{location} = {value}")));
    Some(parts.join(" and "))
}

/// A state with empty buffers that the machine reaches and sequential consistency does not, as a condition.
pub fn weak_condition(rng: &mut StdRng, specification: &Specification, machine: Machine) -> Option<StateCondition> {
    let split = SplitProgram::new(&specification.program).unwrap();
    let mut system = System::new(&split, Granularity::Accesses);
    let consistent = system.reach(20_000).ok()?;
    let consistent =
        (0..consistent.len() as u32).filter_map(|number| observed(specification, &system, &consistent.get(number)));
    let consistent: BTreeSet<String> = consistent.collect();
    let mut buffers = Buffers::new(&split, machine, 3);
    let mut visited = Visited::new(20_000);
    visited.start(buffers.initial()).ok()?;
    let mut weak = BTreeSet::new();
    let mut at = 0;
    while (at as usize) < visited.len() {
        let state = visited.get(at);
        if state.buffers.iter().all(Vec::is_empty) {
            let text = observed(specification, &buffers.system, &state.shared);
            weak.extend(text.filter(|text| !consistent.contains(text)));
        }
        for (_, next) in buffers.steps(&state) {
            visited.insert(next, at).ok()?;
        }
        at += 1;
    }
    let weak: Vec<String> = weak.into_iter().collect();
    let text = weak.choose(rng)?;
    Some(parse_condition("test", text, &specification.program).unwrap_or_else(|wrong| panic!("{wrong}")).condition)
}

/// The fences for a property are enough, each is needed, and fewer are not, by trying all sets on store buffers.
#[test]
fn the_fences_for_a_property_are_the_fewest() {
    let (tried, several, open) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    random_cases(cases(2000), |rng| {
        let specification = Specification::of_program(random_loops(rng, SIZE)).unwrap();
        for (name, machine) in [("tso", Machine::Tso), ("pso", Machine::Pso)] {
            let Some(condition) = weak_condition(rng, &specification, machine) else { continue };
            let property = Property::Never(condition.clone());
            let settings =
                Settings { searches: trial::Limits { states: 5_000, buffer: 4, unroll: 2 }, ..Settings::default() };
            let task = Task {
                subject: Subject::Program(&specification),
                property: &property,
                models: &[],
                limits: &Limits::default(),
                rest: &Budget::default,
                settings: &settings,
            };
            let examined = engines::named("single-buffer").unwrap().examine(&task).unwrap();
            let model = MemoryModel::named(name).unwrap();
            let outcome = examined.place(&model, &Options::default()).unwrap();
            let told = || format!("{name}: {condition}\n{:#?}", specification.program);
            if let Inserted::Undecided(..) = outcome.inserted {
                count(&open);
                continue;
            }
            assert_eq!(outcome.inserted, Inserted::Enough, "{}", told());
            count(&tried);
            let fences: Vec<Site> = outcome.fences.iter().map(|fence| fence.site).collect();
            let verdict = |fences: &[Site]| with_fences(&specification, fences, machine, &condition);
            assert!(!matches!(verdict(&fences), Some(Verdict::Violated(_))), "not enough: {fences:?} {}", told());
            for left_out in &fences {
                let fewer: Vec<Site> = fences.iter().copied().filter(|site| site != left_out).collect();
                assert!(
                    !matches!(verdict(&fewer), Some(Verdict::Verified(_))),
                    "{left_out:?} is not needed {}",
                    told()
                );
            }
            if fences.len() == 2 {
                count(&several);
                for site in examined.accesses().sites() {
                    let is_enough = matches!(verdict(&[site]), Some(Verdict::Verified(_)));
                    assert!(!is_enough, "{site:?} alone is enough {}", told());
                }
            }
        }
    });
    println!("{} tried, {} with two fences, {} open", tried.get(), several.get(), open.get());
    assert!(tried.get() > 20 * open.get(), "most are decided");
}
