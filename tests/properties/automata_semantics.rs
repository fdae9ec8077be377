//! Random programs as automata, against an interpreter that follows the text's own words: one step for each
//! transition, and a real lock.
//!
//! The interpreter knows nothing of the translation: `lock` takes the lock, `unlock` gives it back, and while a
//! thread has it the others do nothing. Its states in which nobody has the lock, and the steps between them (one
//! transition, or all from a `lock` to its `unlock`), are those of the translated program.

use crate::support::random::{cases, random_cases};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, explore};
use seqcon::ids::ControlAt;
use seqcon::lang;
use seqcon::program::Program;
use seqcon::program::compiled::{Compiled, Trace};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

const REGISTERS: usize = 2;
const ADDRESSES: usize = 3;

#[derive(Clone, Debug)]
enum Value {
    Constant(i64),
    Register(usize),
    Not(Box<Value>),
    Binary(&'static str, Box<Value>, Box<Value>),
}

impl Value {
    fn evaluate(&self, registers: &[i64]) -> i64 {
        match self {
            Value::Constant(value) => *value,
            Value::Register(register) => registers[*register],
            Value::Not(operand) => i64::from(operand.evaluate(registers) == 0),
            Value::Binary(operator, left, right) => {
                let (a, b) = (left.evaluate(registers), right.evaluate(registers));
                match *operator {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "&" => a & b,
                    "==" => i64::from(a == b),
                    "!=" => i64::from(a != b),
                    "<" => i64::from(a < b),
                    "<=" => i64::from(a <= b),
                    ">" => i64::from(a > b),
                    ">=" => i64::from(a >= b),
                    "&&" => i64::from(a != 0 && b != 0),
                    "||" => i64::from(a != 0 || b != 0),
                    other => unreachable!("{other}"),
                }
            }
        }
    }

    fn prefix(&self) -> String {
        match self {
            Value::Constant(value) => value.to_string(),
            Value::Register(register) => format!("r{register}"),
            Value::Not(operand) => format!("! {}", operand.prefix()),
            Value::Binary(operator, left, right) => format!("{operator} {} {}", left.prefix(), right.prefix()),
        }
    }

    fn infix(&self) -> String {
        match self {
            Value::Constant(value) => value.to_string(),
            Value::Register(register) => format!("r{register}"),
            Value::Not(operand) => format!("!({})", operand.infix()),
            Value::Binary(operator, left, right) => format!("({}) {operator} ({})", left.infix(), right.infix()),
        }
    }
}

#[derive(Clone, Debug)]
enum Action {
    Write(Value, Value),
    Read(usize, Value),
    Local(usize, Value),
    Check(Value),
    /// Of the paper's language alone.
    Exchange(usize, Value, Value),
    Fence,
    Lock,
    Unlock,
    Skip,
}

type Transition = (usize, usize, Action);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Tools,
    Paper,
}

fn value(rng: &mut StdRng, depth: usize) -> Value {
    const OPERATORS: [&str; 12] = ["+", "-", "*", "&", "==", "!=", "<", "<=", ">", ">=", "&&", "||"];
    match rng.random_range(0..if depth == 0 { 2 } else { 5 }) {
        0 => Value::Constant(rng.random_range(-1..3)),
        1 => Value::Register(rng.random_range(0..REGISTERS)),
        2 => Value::Not(Box::new(value(rng, depth - 1))),
        _ => {
            let operator = OPERATORS[rng.random_range(0..OPERATORS.len())];
            Value::Binary(operator, Box::new(value(rng, depth - 1)), Box::new(value(rng, depth - 1)))
        }
    }
}

/// A value that is 0 to 3, so that there are finitely many states.
fn small(rng: &mut StdRng) -> Value {
    Value::Binary("&", Box::new(value(rng, 2)), Box::new(Value::Constant(3)))
}

fn address(rng: &mut StdRng, language: Language) -> Value {
    match language {
        Language::Tools if rng.random_bool(0.3) => {
            Value::Binary("&", Box::new(value(rng, 1)), Box::new(Value::Constant(1)))
        }
        _ => Value::Constant(rng.random_range(0..ADDRESSES as i64)),
    }
}

fn action(rng: &mut StdRng, language: Language) -> Action {
    let register = rng.random_range(0..REGISTERS);
    match rng.random_range(0..12) {
        0 | 1 => Action::Write(small(rng), address(rng, language)),
        2 | 3 => Action::Read(register, address(rng, language)),
        4 => Action::Local(register, small(rng)),
        5 | 6 => Action::Check(value(rng, 2)),
        7 => Action::Fence,
        8 => Action::Skip,
        9 | 10 if language == Language::Tools => Action::Lock,
        9 | 10 => Action::Exchange(rng.random_range(0..ADDRESSES), small(rng), small(rng)),
        _ if language == Language::Tools => Action::Unlock,
        _ => Action::Check(value(rng, 2)),
    }
}

/// What stands between `lock` and `unlock`.
fn action_inside(rng: &mut StdRng) -> Action {
    let register = rng.random_range(0..REGISTERS);
    match rng.random_range(0..7) {
        0 | 1 => Action::Write(small(rng), address(rng, Language::Tools)),
        2 | 3 => Action::Read(register, address(rng, Language::Tools)),
        4 => Action::Local(register, small(rng)),
        _ => Action::Check(value(rng, 2)),
    }
}

/// A chain of transitions with a few more across it; most have a region, of which some have more than one way through.
fn thread(rng: &mut StdRng, language: Language) -> Vec<Transition> {
    let length = rng.random_range(2..7);
    let mut transitions: Vec<Transition> = (0..length).map(|at| (at, at + 1, action(rng, language))).collect();
    if language == Language::Tools && rng.random_bool(0.8) {
        let first = rng.random_range(0..length - 1);
        let last = rng.random_range(first + 1..length);
        transitions[first].2 = Action::Lock;
        transitions[last].2 = Action::Unlock;
        for transition in &mut transitions[first + 1..last] {
            transition.2 = action_inside(rng);
        }
        for _ in 0..rng.random_range(0..3) {
            let (one, other) = (rng.random_range(first + 1..=last), rng.random_range(first + 1..=last));
            // Many loops have no end that can be told from the text, and are refused.
            let (from, to) = if rng.random_bool(0.1) { (one, other) } else { (one.min(other), one.max(other)) };
            let is_loop = from == to && rng.random_bool(0.8);
            transitions.push((from, if is_loop { to + 1 } else { to }, action_inside(rng)));
        }
    }
    for _ in 0..rng.random_range(0..3) {
        let (from, to) = (rng.random_range(0..=length), rng.random_range(0..=length));
        transitions.push((from, to, action(rng, language)));
    }
    transitions
}

fn text(threads: &[Vec<Transition>], language: Language) -> String {
    let mut text = match language {
        Language::Tools => format!("memory_size {ADDRESSES}\n"),
        Language::Paper => "program test vars x0 x1 x2 procs\n".to_owned(),
    };
    for (number, transitions) in threads.iter().enumerate() {
        match language {
            Language::Tools => writeln!(text, "thread t{number}\ninitial q0").unwrap(),
            Language::Paper => writeln!(text, "process t{number} regs r0, r1 init q0 begin").unwrap(),
        }
        for (from, to, action) in transitions {
            let variable = |address: &Value| match address {
                Value::Constant(address) => format!("x{address}"),
                computed => unreachable!("{computed:?}"),
            };
            let words = match (language, action) {
                (Language::Tools, Action::Write(value, address)) => {
                    format!("write {} {}", value.prefix(), address.prefix())
                }
                (Language::Tools, Action::Read(register, address)) => format!("read r{register} {}", address.prefix()),
                (Language::Tools, Action::Local(register, value)) => format!("local r{register} {}", value.prefix()),
                (Language::Tools, Action::Check(value)) => format!("check {}", value.prefix()),
                (Language::Tools, Action::Fence) => "mfence".to_owned(),
                (Language::Tools, Action::Skip) => "noop".to_owned(),
                (Language::Tools, Action::Exchange(..)) => unreachable!("the tools have no such instruction"),
                (_, Action::Lock) => "lock".to_owned(),
                (_, Action::Unlock) => "unlock".to_owned(),
                (Language::Paper, Action::Write(value, address)) => {
                    format!("{} = {}", variable(address), value.infix())
                }
                (Language::Paper, Action::Read(register, address)) => format!("r{register} = {}", variable(address)),
                (Language::Paper, Action::Local(register, value)) => format!("r{register} = {}", value.infix()),
                (Language::Paper, Action::Check(value)) => format!("assume {}", value.infix()),
                (Language::Paper, Action::Exchange(address, old, new)) => {
                    format!("arw(x{address}, {}, {})", old.infix(), new.infix())
                }
                (Language::Paper, Action::Fence) => "fence".to_owned(),
                (Language::Paper, Action::Skip) => "skip".to_owned(),
            };
            match language {
                Language::Tools => writeln!(text, "transition q{from} q{to} {words}").unwrap(),
                Language::Paper => writeln!(text, "q{from} : {words} ; goto q{to}").unwrap(),
            }
        }
        text.push_str("end\n");
    }
    text
}

/// Where the threads are, their registers, and the memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    places: Vec<String>,
    registers: Vec<[i64; REGISTERS]>,
    memory: Vec<i64>,
}

/// States, and which lead to which.
type Graph = BTreeMap<State, BTreeSet<State>>;

/// A state of the interpreter: who has the lock, if someone has it.
type Locked = (State, Option<usize>);

/// All that a thread can do next.
fn steps(threads: &[Vec<Transition>], (state, owner): &Locked, thread: usize) -> Vec<Locked> {
    let mut steps = Vec::new();
    if owner.is_some_and(|owner| owner != thread) {
        return steps;
    }
    for (from, to, action) in &threads[thread] {
        if state.places[thread] != format!("q{from}") {
            continue;
        }
        let (mut next, mut next_owner) = (state.clone(), *owner);
        let registers = state.registers[thread];
        let taken = match action {
            Action::Write(value, address) => {
                next.memory[address.evaluate(&registers) as usize] = value.evaluate(&registers);
                true
            }
            Action::Read(register, address) => {
                next.registers[thread][*register] = state.memory[address.evaluate(&registers) as usize];
                true
            }
            Action::Local(register, value) => {
                next.registers[thread][*register] = value.evaluate(&registers);
                true
            }
            Action::Check(value) => value.evaluate(&registers) != 0,
            Action::Exchange(address, old, new) => {
                next.memory[*address] = new.evaluate(&registers);
                state.memory[*address] == old.evaluate(&registers)
            }
            Action::Fence | Action::Skip => true,
            Action::Lock => {
                next_owner = Some(thread);
                owner.is_none()
            }
            Action::Unlock => {
                next_owner = None;
                owner.is_some()
            }
        };
        if taken {
            next.places[thread] = format!("q{to}");
            steps.push((next, next_owner));
        }
    }
    steps
}

/// The states in which nobody has the lock, and the steps between them.
fn interpreted(threads: &[Vec<Transition>]) -> Graph {
    let initial = State {
        places: vec!["q0".to_owned(); threads.len()],
        registers: vec![[0; REGISTERS]; threads.len()],
        memory: vec![0; ADDRESSES],
    };
    let mut graph = Graph::from([(initial.clone(), BTreeSet::new())]);
    let mut open = vec![initial];
    while let Some(state) = open.pop() {
        let mut targets = BTreeSet::new();
        for thread in 0..threads.len() {
            let mut seen: BTreeSet<Locked> = BTreeSet::new();
            let mut inside = steps(threads, &(state.clone(), None), thread);
            while let Some(next) = inside.pop() {
                match next.1 {
                    None => {
                        targets.insert(next.0);
                    }
                    Some(owner) => {
                        if seen.insert(next.clone()) {
                            inside.extend(steps(threads, &next, owner));
                        }
                    }
                }
            }
        }
        for target in &targets {
            if !graph.contains_key(target) {
                graph.insert(target.clone(), BTreeSet::new());
                open.push(target.clone());
            }
        }
        graph.insert(state, targets);
    }
    graph
}

/// The states of the translated program, and the steps between them.
fn translated(program: &Program, compiled: &Compiled) -> Graph {
    let mut positions: HashMap<(usize, String), usize> = HashMap::new();
    let mut slot = program.shared.iter().map(|variable| variable.initial.len()).sum::<usize>();
    for (number, thread) in program.threads.iter().enumerate() {
        for local in &thread.locals {
            positions.insert((number, local.name.clone()), slot);
            slot += local.initial.len();
        }
    }
    let shown = |controls: &[usize], values: &[i64]| State {
        places: program.threads.iter().zip(controls).map(|(thread, control)| thread.states[*control].clone()).collect(),
        registers: (0..program.threads.len())
            .map(|thread| {
                [0, 1].map(|register| {
                    positions.get(&(thread, format!("r{register}"))).map_or(0, |position| values[*position])
                })
            })
            .collect(),
        memory: values[..ADDRESSES].to_vec(),
    };
    let initial: Vec<usize> = compiled.threads.iter().map(|thread| thread.initial.index()).collect();
    let mut graph = Graph::from([(shown(&initial, &compiled.initial), BTreeSet::new())]);
    let mut open = vec![(initial, compiled.initial.clone())];
    while let Some((controls, values)) = open.pop() {
        let mut targets = BTreeSet::new();
        for (number, thread) in compiled.threads.iter().enumerate() {
            for step in &thread.steps[controls[number]] {
                let mut trace = Trace::default();
                if !step.is_enabled(&values, &mut trace).unwrap() {
                    continue;
                }
                let (mut next_controls, mut next) = (controls.clone(), values.clone());
                step.execute(&mut next, &mut trace).unwrap();
                next_controls[number] = step.to.index();
                let target = shown(&next_controls, &next);
                if !graph.contains_key(&target) {
                    graph.insert(target.clone(), BTreeSet::new());
                    open.push((next_controls, next));
                }
                targets.insert(target);
            }
        }
        graph.insert(shown(&controls, &values), targets);
    }
    graph
}

/// Whether the program was compared, and not refused for its regions.
fn compare(rng: &mut StdRng, language: Language) -> bool {
    let num_of_threads = rng.random_range(1..4);
    let threads: Vec<Vec<Transition>> = (0..num_of_threads).map(|_| thread(rng, language)).collect();
    let text = text(&threads, language);
    let program = match lang::parse("test.txt", &text) {
        Ok(parsed) => parsed.program,
        Err(errors) => {
            assert!(errors.to_string().contains("each way through"), "{errors}\n{text}");
            return false;
        }
    };
    let compiled = Compiled::new(&program).expect("few indices");
    let (expected, found) = (interpreted(&threads), translated(&program, &compiled));
    assert_eq!(found.len(), expected.len(), "states of\n{text}");
    for (state, targets) in &expected {
        assert_eq!(found.get(state), Some(targets), "steps from {state:?} in\n{text}");
    }
    let (exploration, _) = explore(&compiled, &Limits::default(), &mut Nobody).expect("nothing goes wrong");
    assert_eq!(exploration.states.len(), expected.len(), "explored states of\n{text}");
    true
}

/// Most cases are compared.
fn compare_many(language: Language) {
    let compared = std::cell::Cell::new(0_u64);
    let all = cases(3000);
    random_cases(all, |rng| compared.set(compared.get() + u64::from(compare(rng, language))));
    println!("{} of {all} compared", compared.get());
    assert!(compared.get() * 10 >= all * 9, "only {} of {all} were compared", compared.get());
}

#[test]
fn programs_with_locks_are_what_an_interpreter_with_a_lock_makes_of_them() {
    compare_many(Language::Tools);
}

#[test]
fn programs_of_the_paper_are_what_an_interpreter_makes_of_them() {
    compare_many(Language::Paper);
}

/// The generator reaches what it is for.
#[test]
fn random_programs_have_regions_with_checks_and_several_ways() {
    let (regions, ways) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    random_cases(300, |rng| {
        let text = text(&[thread(rng, Language::Tools)], Language::Tools);
        let Ok(parsed) = lang::parse("test.txt", &text) else { return };
        let atomic = parsed.program.threads[0].instructions.iter().filter(|instruction| {
            instruction.kind == seqcon::program::InstructionKind::Atomic && instruction.condition.is_some()
        });
        let starts: Vec<ControlAt> = atomic.map(|instruction| instruction.from).collect();
        regions.set(regions.get() + usize::from(!starts.is_empty()));
        ways.set(ways.get() + usize::from(starts.len() > 1));
    });
    assert!(regions.get() >= 10 && ways.get() >= 3, "{} {}", regions.get(), ways.get());
}
