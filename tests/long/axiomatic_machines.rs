//! Axioms against machines: on random programs both give the same ends, and the models are ordered by strength.

use crate::support::doubles::Doubles;
use crate::support::litmus::axioms;
use crate::support::machines::{self, Machine};
use crate::support::random::random_cases;
use crate::support::random_program::{Size, random_program, show, with_store_fences};
use seqcon::ids::ControlAt;
use seqcon::program::{Instruction, InstructionKind, Program, Thread};
use seqcon::weak::axiomatic::{self, End, Model};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

const CASES: u64 = 2000;
/// The threads of the random programs go back once.
const UNROLL: usize = 2;
const SIZE: Size = Size { most_threads: 3, most_instructions: 4 };

fn axiomatic_ends(program: &Program, model: &str) -> BTreeSet<End> {
    let outcomes = axiomatic::outcomes(program, &axioms(model), UNROLL).expect("random programs do not go wrong");
    assert!(outcomes.complete, "random programs have short loops:\n{}", show(program));
    assert!(outcomes.executions >= outcomes.ends.len() as u64);
    outcomes.ends
}

fn machine_ends(program: &Program, machine: Machine) -> BTreeSet<End> {
    let ends = machines::ends(program, machine).into_iter();
    ends.map(|(shared, locals, controls)| End { shared, locals, controls }).collect()
}

#[test]
fn axioms_and_machines_end_in_the_same_states() {
    // Per model: programs that SC does not suffice for.
    let weak = RefCell::new([0; 3]);
    let doubles = Doubles::default();
    random_cases(CASES, |rng| {
        let program = random_program(rng, SIZE);
        doubles.count(&program);
        let mut sc = BTreeSet::new();
        let pairs = [("sc", Machine::Sc), ("tso", Machine::Tso), ("pso", Machine::Pso)];
        for (number, (model, machine)) in pairs.into_iter().enumerate() {
            let (by_axioms, by_machine) = (axiomatic_ends(&program, model), machine_ends(&program, machine));
            let too_many: Vec<&End> = by_axioms.difference(&by_machine).collect();
            let too_few: Vec<&End> = by_machine.difference(&by_axioms).collect();
            assert!(
                too_many.is_empty() && too_few.is_empty(),
                "{model:?}: only by axioms {too_many:#?}, only by machine {too_few:#?} in\n{}",
                show(&program)
            );
            if model == "sc" {
                sc = by_axioms;
            } else {
                weak.borrow_mut()[number] += u64::from(!by_axioms.is_subset(&sc));
            }
        }
    });
    let [_, tso, pso] = weak.into_inner();
    println!("weaker than SC: {tso} under TSO, {pso} under PSO; {doubles}");
    doubles.assert_all();
    assert!(tso > CASES / 50 && pso > tso, "the random programs tell the models apart: {tso}, {pso}");
}

#[test]
fn with_fences_of_stores_too() {
    let (ordered, weaker) = (Cell::new(0), Cell::new(0));
    random_cases(CASES, |rng| {
        let bare = random_program(rng, SIZE);
        let program = with_store_fences(rng, &bare);
        for (model, machine) in [("tso", Machine::Tso), ("pso", Machine::Pso)] {
            assert_eq!(
                axiomatic_ends(&program, model),
                machine_ends(&program, machine),
                "{model:?}:\n{}",
                show(&program)
            );
        }
        let ends = axiomatic_ends(&program, "pso");
        ordered.set(ordered.get() + u64::from(ends != axiomatic_ends(&without_partial(&program), "pso")));
        weaker.set(weaker.get() + u64::from(ends != axiomatic_ends(&program, "tso")));
    });
    println!("fences of stores forbid something in {}, PSO is not TSO in {}", ordered.get(), weaker.get());
    assert!(ordered.get() > CASES / 100 && weaker.get() > 0, "{} {}", ordered.get(), weaker.get());
}

/// The program with its partial fences taken for nothing.
fn without_partial(program: &Program) -> Program {
    let mut bare = program.clone();
    for instruction in bare.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
        if matches!(instruction.kind, InstructionKind::PartialFence(_)) {
            instruction.kind = InstructionKind::Plain;
        }
    }
    bare
}

#[test]
fn weaker_models_allow_more() {
    random_cases(CASES, |rng| {
        let program = random_program(rng, SIZE);
        let models = ["sc", "tso", "pso", "power", "armv7"];
        let ends: Vec<BTreeSet<End>> = models.iter().map(|model| axiomatic_ends(&program, model)).collect();
        for (position, pair) in ends.windows(2).enumerate() {
            assert!(
                pair[0].is_subset(&pair[1]),
                "{:?} allows more than {:?}: {:#?}\n{}",
                models[position],
                models[position + 1],
                pair[0].difference(&pair[1]).next(),
                show(&program)
            );
        }
    });
}

/// The program with a fence behind every instruction.
fn fenced(program: &Program) -> Program {
    let thread = |thread: &Thread| {
        let states = thread.states.len();
        let mut instructions = Vec::new();
        for instruction in &thread.instructions {
            let middle = states + instructions.len();
            let between = ControlAt::new(middle);
            instructions.push(Instruction { to: between, ..instruction.clone() });
            instructions.push(Instruction {
                name: format!("fence{middle}"),
                from: between,
                kind: InstructionKind::Fence,
                condition: None,
                assignments: Vec::new(),
                priority: 0,
                ..instruction.clone()
            });
        }
        let states = (0..states + instructions.len()).map(|state| format!("s{state}")).collect();
        Thread { states, instructions, ..thread.clone() }
    };
    Program { threads: program.threads.iter().map(thread).collect(), ..program.clone() }
}

/// Those that make at most one access an instruction: several of one instruction have no fence between them.
fn is_simple(program: &Program) -> bool {
    program.threads.iter().flat_map(|thread| &thread.instructions).all(|instruction| {
        let text = format!("{:?} {:?}", instruction.condition, instruction.assignments);
        instruction.priority == 0 && text.matches("Shared").count() <= 1
    })
}

#[test]
fn with_fences_everywhere_every_model_is_sequentially_consistent() {
    let tried = RefCell::new(0);
    random_cases(CASES, |rng| {
        let program = random_program(rng, SIZE);
        if !is_simple(&program) {
            return;
        }
        *tried.borrow_mut() += 1;
        let expected = axiomatic_ends(&program, "sc");
        for model in Model::builtin() {
            let name = model.name();
            assert_eq!(axiomatic_ends(&fenced(&program), name), expected, "{name}:\n{}", show(&program));
        }
    });
    assert!(tried.into_inner() > CASES / 20);
}
