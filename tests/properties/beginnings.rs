//! Is every execution sequentially consistent? The search among beginnings of executions, against the enumeration of
//! all executions, on programs without loops and on programs whose loops are written out, under all models; and against
//! the exact search on store buffers, which knows loops.

use crate::support::random::{cases, random_cases};
use crate::support::random_slco::{Shape, random_specification};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::budget::Budget;
use seqcon::ids::ControlAt;
use seqcon::lang;
use seqcon::ordering::{Marks, PartialFence};
use seqcon::program::{Instruction, InstructionKind, Program, Thread};
use seqcon::weak::axiomatic::Model;
use seqcon::weak::axiomatic::beginnings::{Beginning, Bounds, Found, applies, search};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::verify::{Compared, Limit, Question, Verdict, robust};
use seqcon::weak::{Granularity, Machine};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

const MODELS: [&str; 8] = ["sc", "tso", "pso", "armv7", "power", "armv8", "riscv", "rc11"];
const BEGINNINGS: usize = 200_000;

const SIMPLE: Shape =
    Shape { most_threads: 2, most_instructions: 4, loops: false, composites: false, waits: true, fences: true };
const THREE: Shape = Shape { most_threads: 3, most_instructions: 3, ..SIMPLE };
const COMPOSITE: Shape = Shape { composites: true, most_instructions: 2, ..SIMPLE };
const LOOPS: Shape = Shape { loops: true, most_instructions: 3, ..SIMPLE };
const COMPOSITE_LOOPS: Shape = Shape { composites: true, most_instructions: 2, ..LOOPS };

/// A random specification, often with few locations, so that the threads have to do with each other.
fn random_text(rng: &mut StdRng, shape: &Shape) -> String {
    let text = random_specification(rng, shape);
    if rng.random_bool(0.2) {
        return text;
    }
    let line = |line: &str| match line.contains("->") {
        true => line.replace('z', "x").replace("a[0]", "y").replace("a[1]", "x") + "\n",
        false => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn parse(text: &str) -> Program {
    lang::parse("random.slco", text).unwrap_or_else(|errors| panic!("{errors}\n{text}")).program
}

/// The program with marks on some accesses, and with fences and atomic instructions that order less.
fn with_marks(rng: &mut StdRng, program: &Program) -> Program {
    let mut marked = program.clone();
    for instruction in marked.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
        let marks = [Marks::ACQUIRE, Marks::RELEASE, Marks::ACQUIRE.and(Marks::RELEASE), Marks::SC, Marks::RELAXED];
        let fences = [
            PartialFence::Lightweight,
            PartialFence::Stores,
            PartialFence::Loads,
            PartialFence::Control,
            PartialFence::Acquire,
            PartialFence::Release,
        ];
        let mark = marks[rng.random_range(0..marks.len())];
        instruction.kind = match instruction.kind {
            InstructionKind::Plain if rng.random_bool(0.3) => InstructionKind::Marked(mark),
            InstructionKind::Fence if rng.random_bool(0.6) => {
                InstructionKind::PartialFence(fences[rng.random_range(0..fences.len())])
            }
            InstructionKind::Atomic if rng.random_bool(0.5) => InstructionKind::Rmw(mark),
            kind => kind,
        };
    }
    marked
}

fn found(program: &Program, model: &Model, rounds: usize) -> Option<Found> {
    assert!(applies(program, model));
    search(program, model, Bounds { rounds, beginnings: BEGINNINGS }, &Budget::default()).ok()
}

/// How long the enumeration of all executions may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why the enumeration has no answer.
enum Unknown {
    GoesWrong,
    TooLarge,
}

/// Whether all executions of a program without loops are sequentially consistent.
fn by_all_executions(program: &Program, model: &Model) -> Result<bool, Unknown> {
    let budget = Budget::new(Some(PATIENCE), None);
    let compared = Compared::new(program, model, 1, &budget).map_err(|_| Unknown::GoesWrong)?;
    match compared.robust() {
        Verdict::Verified(_) => Ok(true),
        Verdict::Violated(_) => Ok(false),
        Verdict::Undecided(Limit::Budget(_)) => Err(Unknown::TooLarge),
        other => panic!("loops are written out: {other:?}"),
    }
}

/// Whether the accesses are those of a cycle: neighbours are of one thread, in its order, or conflict.
fn check_cycle(Beginning { accesses, cycle }: &Beginning, text: &str) {
    assert!(cycle.len() > 1, "{cycle:?}\n{text}");
    for (position, &from) in cycle.iter().enumerate() {
        let (a, b) = (&accesses[from], &accesses[cycle[(position + 1) % cycle.len()]]);
        assert!(a.at.thread == b.at.thread || a.location == b.location, "{a:?}, {b:?}\n{text}");
    }
}

/// The thread with its loops written out: a control state for each state and number of times that each instruction has
/// been taken. An instruction that has been taken as often as it may be is left out.
fn written_out(thread: &Thread, rounds: usize) -> Thread {
    let most = |instruction: &Instruction| match instruction.kind {
        InstructionKind::Fence | InstructionKind::PartialFence(_) => {
            rounds * thread.ways_into(instruction.from).count().max(1)
        }
        _ => rounds,
    };
    let start = (thread.initial, vec![0; thread.instructions.len()]);
    let mut numbers = BTreeMap::from([(start.clone(), 0)]);
    let (mut open, mut instructions) = (vec![start], Vec::new());
    while let Some((control, taken)) = open.pop() {
        let from = ControlAt::new(numbers[&(control, taken.clone())]);
        for (position, instruction) in thread.instructions_at().filter(|(_, known)| known.from == control) {
            if taken[position.index()] == most(instruction) {
                continue;
            }
            let mut longer = taken.clone();
            longer[position.index()] += 1;
            let next = (instruction.to, longer);
            let fresh = numbers.len();
            let to = *numbers.entry(next.clone()).or_insert_with(|| {
                open.push(next);
                fresh
            });
            let name = format!("{}_{}", instruction.name, instructions.len());
            instructions.push(Instruction { name, from, to: ControlAt::new(to), ..instruction.clone() });
        }
    }
    let states = (0..numbers.len()).map(|state| format!("s{state}")).collect();
    Thread { states, initial: ControlAt::new(0), instructions, ..thread.clone() }
}

/// Whether some instruction is taken only if the condition of another one does not hold: then it matters if that one is
/// left out.
fn has_priorities(program: &Program) -> bool {
    let mut priorities = program.instructions_at().map(|(_, instruction)| instruction.priority);
    let first = priorities.next();
    priorities.any(|priority| Some(priority) != first)
}

/// Both ways on random programs, under all models.
fn agree(usual: u64, shape: &Shape, rounds: usize) {
    let counts = RefCell::new([[0; 2]; MODELS.len()]);
    let (faults, skipped) = (Cell::new(0), Cell::new(0));
    random_cases(cases(usual), |rng| {
        let text = random_text(rng, shape);
        let program = with_marks(rng, &parse(&text));
        if shape.loops && has_priorities(&program) {
            return skipped.set(skipped.get() + 1);
        }
        let threads = program.threads.iter().map(|thread| written_out(thread, rounds)).collect();
        let flat = Program { threads, ..program.clone() };
        for (number, name) in MODELS.iter().enumerate() {
            let model = Model::named(name).unwrap();
            let expected = match by_all_executions(&flat, &model) {
                Ok(expected) => expected,
                Err(Unknown::GoesWrong) => {
                    faults.set(faults.get() + 1);
                    continue;
                }
                // Under the other models, too.
                Err(Unknown::TooLarge) => return skipped.set(skipped.get() + 1),
            };
            match found(&program, &model, rounds).expect("no execution goes wrong") {
                Found::Consistent { is_complete, .. } => {
                    assert!(
                        expected,
                        "{name}: not all executions of {rounds} rounds are consistent\n{program:#?}\n{text}"
                    );
                    assert!(is_complete || shape.loops, "{name}\n{text}");
                }
                Found::Violated(beginning) => {
                    assert!(!expected, "{name}: all executions are consistent, and not {beginning:#?}\n{text}");
                    check_cycle(&beginning, &text);
                }
                // A few have more beginnings than are looked at.
                Found::Stopped(_) => return skipped.set(skipped.get() + 1),
            }
            counts.borrow_mut()[number][usize::from(expected)] += 1;
        }
    });
    let counts = counts.into_inner();
    let shown: Vec<_> = MODELS.iter().zip(&counts).map(|(name, [no, yes])| format!("{name} {no}/{yes}")).collect();
    println!("not consistent/consistent: {}; {} go wrong, {} skipped", shown.join(", "), faults.get(), skipped.get());
    assert!(skipped.get() * 2 < cases(usual), "{} were skipped", skipped.get());
    assert_eq!(counts[0][0], 0, "under sequential consistency all executions are");
    for ([no, yes], name) in counts.iter().zip(MODELS).skip(1) {
        assert!(*no > 0 && *yes > 0 || cases(usual) < 60, "{name}: this test shows nothing");
    }
}

#[test]
fn programs_without_loops_are_judged_as_by_all_executions() {
    agree(150, &SIMPLE, 1);
    agree(40, &THREE, 1);
}

#[test]
fn instructions_with_several_accesses_are_judged_as_by_all_executions() {
    agree(80, &COMPOSITE, 1);
}

#[test]
fn loops_are_judged_as_if_they_were_written_out() {
    agree(60, &LOOPS, 2);
    agree(25, &COMPOSITE_LOOPS, 2);
}

/// What is found with three rounds is a run of the machine, and most of what the machine finds is found. The rest needs
/// more rounds, or is told by what a condition reads that does not hold: that is no access of an execution.
#[test]
fn on_tso_what_is_found_with_loops_is_a_run_on_store_buffers() {
    let (both, only_there, none, skipped) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let tso = Model::named("tso").unwrap();
    random_cases(cases(150), |rng| {
        let shape = if rng.random_bool(0.5) { LOOPS } else { COMPOSITE_LOOPS };
        let text = random_text(rng, &shape);
        let program = parse(&text);
        let split = SplitProgram::new(&program).unwrap();
        let question = Question { machine: Machine::Tso, granularity: Granularity::Accesses, bound: 4, limit: 30_000 };
        let skip = || skipped.set(skipped.get() + 1);
        let is_robust = match robust(&split, &question) {
            Verdict::Verified(_) => true,
            Verdict::Violated(_) => false,
            _ => return skip(),
        };
        match found(&program, &tso, 3) {
            Some(Found::Violated(beginning)) => {
                assert!(!is_robust, "the machine has no such run: {beginning:#?}\n{text}");
                both.set(both.get() + 1);
            }
            Some(Found::Consistent { .. }) => {
                let count = if is_robust { &none } else { &only_there };
                count.set(count.get() + 1);
            }
            _ => skip(),
        }
    });
    let [both, only_there, none, skipped] = [both, only_there, none, skipped].map(Cell::into_inner);
    println!("{both} not consistent, {only_there} only by the machine, {none} consistent, {skipped} skipped");
    assert!(both > 0 && none > 0 && only_there <= both && skipped < both + none || cases(150) < 300);
}
