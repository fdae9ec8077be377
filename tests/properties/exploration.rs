//! The exploration against a naive interpreter, on random programs; and its facts against those of the state space it
//! writes.

use crate::support::random::random_cases;
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::explore::observe::{AutObserver, FactsObserver, Forgetting, Nobody, facts};
use seqcon::explore::{Limits, Stop, explore};
use seqcon::facts::Facts;
use seqcon::facts::extract::{self, NoProgress};
use seqcon::ids::ControlAt;
use seqcon::lts::aut::Counts;
use seqcon::lts::source::Bytes;
use seqcon::lts::writer;
use seqcon::program::compiled::Compiled;
use seqcon::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread,
    Type, UnaryOperator, Variable,
};
use seqcon::property::{Observables, StateCondition};
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};

/// The `.aut` text of the program's state space.
fn aut_text(program: &Program, compiled: &Compiled) -> String {
    let mut observer = AutObserver::new(program, Vec::new());
    let (exploration, _) =
        explore(compiled, &Limits::default(), &mut observer).expect("random programs do not go wrong");
    let counts = Counts { initial: 0, transitions: observer.transitions(), states: exploration.states.len() as u64 };
    let mut text = Vec::new();
    writer::header(&mut text, counts).unwrap();
    text.extend(observer.into_inner());
    String::from_utf8(text).unwrap()
}

fn with_threads<R: Send>(threads: usize, task: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(task)
}

#[test]
fn exploration_agrees_with_a_naive_interpreter() {
    random_cases(1000, |rng| {
        let program = random_program(rng);
        let compiled = Compiled::new(&program).expect("few indices");
        let naive = Naive::explore(&program);
        let (exploration, _) =
            explore(&compiled, &Limits::default(), &mut Nobody).expect("random programs do not go wrong");
        assert_eq!(exploration.stop, Stop::Complete);
        assert_eq!(exploration.states.len(), naive.states, "{program:?}");
        assert_eq!(exploration.transitions, naive.transitions, "{program:?}");
        assert_eq!(exploration.deadlocks, naive.deadlocks, "{program:?}");
        assert_eq!(exploration.out_of_range > 0, naive.out_of_range, "{program:?}");
    });
}

#[test]
fn facts_on_the_fly_are_those_of_the_written_state_space_for_any_number_of_threads() {
    random_cases(1000, |rng| {
        let program = random_program(rng);
        let compiled = Compiled::new(&program).expect("few indices");
        let text = with_threads(1, || aut_text(&program, &compiled));
        assert_eq!(with_threads(2, || aut_text(&program, &compiled)), text, "numbering depends on the threads");
        let source = Bytes::from_bytes("random", text.clone().into_bytes()).unwrap();
        // The writer writes every refused evaluation.
        let options = extract::Options { refusals: extract::Refusals::Shown, ..extract::Options::default() };
        let expected = match extract::extract(&source, &options, &NoProgress) {
            Ok(extraction) => extraction.facts,
            // Without a transition there is no label to tell the dialect by.
            Err(error) => panic!("{error}\n{text}"),
        };
        for threads in [1, 2] {
            let found = with_threads(threads, || {
                let (exploration, watchers) = explore(&compiled, &Limits::default(), &mut FactsObserver)
                    .expect("random programs do not go wrong");
                let size = (exploration.states.len() as u64, exploration.transitions);
                // A file has no control states.
                Facts { outline: None, ..facts(&program, &watchers, size) }
            });
            assert_eq!(found, expected, "{threads} threads\n{text}");
        }
    });
}

/// Dead locals make no label, so forgetting them changes no table, only how many states there are.
#[test]
fn what_is_forgotten_changes_no_fact() {
    let fewer = Cell::new(0);
    random_cases(1500, |rng| {
        let program = random_program(rng);
        let compiled = Compiled::new(&program).expect("few indices");
        let (all, watchers) = explore(&compiled, &Limits::default(), &mut FactsObserver).expect("nothing goes wrong");
        let (few, forgetful) =
            explore(&compiled, &Limits::default(), &mut Forgetting(FactsObserver)).expect("nothing goes wrong");
        assert!(few.states.len() <= all.states.len(), "{program:?}");
        assert_eq!(few.deadlocks > 0, all.deadlocks > 0, "{program:?}");
        fewer.set(fewer.get() + usize::from(few.states.len() < all.states.len()));
        assert_eq!(facts(&program, &forgetful, (0, 0)), facts(&program, &watchers, (0, 0)), "{program:?}");
        // A run to a state is one of the program.
        let last = few.states.len() - 1;
        assert_eq!(few.run_to(&compiled, last).is_empty(), last == 0, "{program:?}");
    });
    assert!(fewer.get() > 20, "only {} of 1500 programs forget anything", fewer.get());
}

#[test]
fn a_violated_invariant_has_a_shortest_run_for_any_number_of_threads() {
    let violated = Cell::new(0);
    random_cases(1000, |rng| {
        let program = random_program(rng);
        let compiled = Compiled::new(&program).expect("few indices");
        let observables = Observables::of(&program);
        let property = random_invariant(rng, &program);
        let mut nearest: Option<usize> = None;
        let _ = Naive::explore_with(&program, |naive, state, distance| {
            if naive.value(&observed(&program, state), 0, &property) == 0 {
                nearest = Some(nearest.map_or(distance, |found| found.min(distance)));
            }
        });
        let invariants = [StateCondition::new("", &observables, property.clone())];
        let limits = Limits { invariants: &invariants, ..Limits::default() };
        let violation = |threads| {
            with_threads(threads, || explore(&compiled, &limits, &mut Nobody).expect("nothing goes wrong").0.violation)
        };
        let found = violation(1);
        // It may look at locals that no step reads.
        let forgetting = explore(&compiled, &limits, &mut Forgetting(Nobody)).expect("nothing goes wrong").0.violation;
        assert_eq!(forgetting, found, "{program:?}");
        assert_eq!(violation(2), found, "the counterexample depends on the threads");
        assert_eq!(found.as_ref().map(|violation| violation.run.len()), nearest, "{program:?} {property:?}");
        let Some(violation) = found else { return };
        violated.set(violated.get() + 1);
        let mut naive = Naive::new();
        let mut state = Naive::start(&program);
        for step in &violation.run {
            let (thread, position) = (program.thread(step.at.thread), step.at.thread.index());
            let instruction = program.instruction(step.at);
            assert_eq!(state.0[position], instruction.from);
            state = naive.successor(thread, position, instruction, &state).expect("a step that can be taken");
        }
        assert_eq!(naive.value(&observed(&program, &state), 0, &property), 0, "{program:?} {property:?}");
        let values: Vec<i64> = state.1.iter().chain(state.2.iter().flatten()).flatten().copied().collect();
        assert_eq!((violation.control, violation.values), (state.0, values));
    });
    assert!(violated.get() > 200, "only {} invariants were violated", violated.get());
}

/// What an invariant sees: all variables, then a Boolean for each control state of each thread.
fn observed(program: &Program, state: &State) -> State {
    let places = program.threads.iter().zip(&state.0);
    let places =
        places.flat_map(|(thread, &at)| (0..thread.states.len()).map(move |s| vec![i64::from(s == at.index())]));
    let variables = state.1.iter().chain(state.2.iter().flatten()).cloned();
    (Vec::new(), variables.chain(places).collect(), Vec::new())
}

/// A condition, or a thread that is not in some control state.
fn random_invariant(rng: &mut StdRng, program: &Program) -> Expression {
    let num_of_threads = program.threads.len();
    let condition = random_condition(rng);
    let condition = seen_from(rng.random_range(0..num_of_threads), &condition);
    let places: usize = program.threads.iter().map(|thread| thread.states.len()).sum();
    let mut place = || {
        let position = 3 + num_of_threads + rng.random_range(0..places);
        let place = Box::new(Expression::Read(reference(Scope::Shared, position, None)));
        Expression::Unary(UnaryOperator::Not, place)
    };
    let elsewhere = binary(BinaryOperator::Or, place(), place());
    binary(BinaryOperator::Or, condition, elsewhere)
}

/// A thread's expression in the list of what can be observed: its one local stands behind the three shared variables.
fn seen_from(thread: usize, expression: &Expression) -> Expression {
    match expression {
        Expression::Constant(value) => Expression::Constant(*value),
        Expression::Read(read) => {
            let index = read.index.as_ref().map(|index| seen_from(thread, index));
            let position = if read.scope == Scope::Local { 3 + thread } else { read.variable };
            Expression::Read(reference(Scope::Shared, position, index))
        }
        Expression::Unary(operator, operand) => Expression::Unary(*operator, Box::new(seen_from(thread, operand))),
        Expression::Binary(operator, left, right, _) => {
            binary(*operator, seen_from(thread, left), seen_from(thread, right))
        }
    }
}

#[test]
fn a_limit_on_states_stops_cleanly() {
    let program = counter_to(100_000);
    let compiled = Compiled::new(&program).unwrap();
    let limits = Limits { states: Some(1000), ..Limits::default() };
    let (exploration, _) = explore(&compiled, &limits, &mut Nobody).unwrap();
    assert_eq!(exploration.stop, Stop::States);
    assert!(exploration.expanded < exploration.states.len());
    // Without a limit the field of the counter is widened several times on the way.
    let (exploration, _) = explore(&compiled, &Limits::default(), &mut Nobody).unwrap();
    assert_eq!((exploration.stop, exploration.states.len()), (Stop::Complete, 100_001));
}

/// One thread that counts up.
fn counter_to(last: i64) -> Program {
    let x = || Expression::Read(reference(Scope::Shared, 0, None));
    let condition = binary(BinaryOperator::Less, x(), Expression::Constant(last));
    let value = binary(BinaryOperator::Add, x(), Expression::Constant(1));
    let assignments = vec![Assignment { target: reference(Scope::Shared, 0, None), value }];
    let count = Instruction {
        name: "0".to_owned(),
        from: ControlAt(0),
        to: ControlAt(0),
        priority: 0,
        condition: Some(condition),
        assignments,
        kind: InstructionKind::Plain,
        span: Span::default(),
    };
    Program {
        name: "counter".to_owned(),
        shared: vec![variable("x", Type::Integer, vec![0])],
        threads: vec![Thread {
            name: "T0".to_owned(),
            locals: Vec::new(),
            states: vec!["loop".to_owned()],
            initial: ControlAt(0),
            instructions: vec![count],
        }],
    }
}

fn variable(name: &str, ty: Type, initial: Vec<i64>) -> Variable {
    Variable { name: name.to_owned(), ty, modulus: None, is_array: initial.len() > 1, initial, span: Span::default() }
}

fn reference(scope: Scope, variable: usize, index: Option<Expression>) -> Reference {
    Reference { scope, variable, index: index.map(Box::new), span: Span::default() }
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), Span::default())
}

/// Two or three threads over x, a Boolean b, an array v of three elements, and a local r; all values stay between -3
/// and 5, so that the state space is finite.
fn random_program(rng: &mut StdRng) -> Program {
    let shared = vec![
        variable("x", Type::Integer, vec![rng.random_range(-1..3)]),
        variable("b", Type::Boolean, vec![rng.random_range(0..2)]),
        variable("v", Type::Integer, vec![0, 1, 2]),
    ];
    let threads = (0..rng.random_range(2..4))
        .map(|number| {
            let states = rng.random_range(1..4);
            let instructions = (0..rng.random_range(1..5)).map(|name| random_instruction(rng, name, states)).collect();
            Thread {
                name: format!("T{number}"),
                locals: vec![variable("r", Type::Integer, vec![0])],
                states: (0..states).map(|state| format!("s{state}")).collect(),
                initial: ControlAt(0),
                instructions,
            }
        })
        .collect();
    Program { name: "random".to_owned(), shared, threads }
}

fn random_instruction(rng: &mut StdRng, name: usize, states: usize) -> Instruction {
    let condition = rng.random_bool(0.5).then(|| random_condition(rng));
    let assignments = (0..rng.random_range(0..3)).map(|_| random_assignment(rng)).collect();
    Instruction {
        name: name.to_string(),
        // The first instruction leaves the first state, so that there is at least one label.
        from: ControlAt::new(if name == 0 { 0 } else { rng.random_range(0..states) }),
        to: ControlAt::new(rng.random_range(0..states)),
        priority: rng.random_range(0..3),
        condition,
        assignments,
        kind: if rng.random_bool(0.1) { InstructionKind::Atomic } else { InstructionKind::Plain },
        span: Span::default(),
    }
}

fn random_integer(rng: &mut StdRng) -> Expression {
    match rng.random_range(0..6) {
        0 => Expression::Constant(rng.random_range(-1..4)),
        1 => Expression::Read(reference(Scope::Shared, 0, None)),
        2 => Expression::Read(reference(Scope::Local, 0, None)),
        3 => {
            let index = random_integer(rng);
            Expression::Read(reference(Scope::Shared, 2, Some(index)))
        }
        4 => Expression::Unary(UnaryOperator::Minus, Box::new(Expression::Read(reference(Scope::Local, 0, None)))),
        _ => {
            let operators = [BinaryOperator::Add, BinaryOperator::Subtract, BinaryOperator::Multiply];
            let (left, right) = (random_integer(rng), random_integer(rng));
            binary(operators[rng.random_range(0..3)], left, right)
        }
    }
}

fn random_condition(rng: &mut StdRng) -> Expression {
    let compare = |rng: &mut StdRng| {
        let operators =
            [BinaryOperator::Less, BinaryOperator::Equal, BinaryOperator::NotEqual, BinaryOperator::GreaterEqual];
        let (left, right) = (random_integer(rng), random_integer(rng));
        binary(operators[rng.random_range(0..4)], left, right)
    };
    match rng.random_range(0..3) {
        0 => Expression::Read(reference(Scope::Shared, 1, None)),
        1 => compare(rng),
        _ => {
            let operators = [BinaryOperator::And, BinaryOperator::Or, BinaryOperator::Xor];
            let (left, right) = (compare(rng), compare(rng));
            binary(operators[rng.random_range(0..3)], left, right)
        }
    }
}

fn random_assignment(rng: &mut StdRng) -> Assignment {
    // The remainder keeps values small whatever the expression is.
    let value = |rng: &mut StdRng| binary(BinaryOperator::Modulo, random_integer(rng), Expression::Constant(3));
    match rng.random_range(0..4) {
        0 => Assignment { target: reference(Scope::Shared, 0, None), value: value(rng) },
        1 => Assignment { target: reference(Scope::Shared, 1, None), value: random_condition(rng) },
        2 => {
            let index = random_integer(rng);
            Assignment { target: reference(Scope::Shared, 2, Some(index)), value: value(rng) }
        }
        _ => Assignment { target: reference(Scope::Local, 0, None), value: value(rng) },
    }
}

/// The slow and obvious way: states in a map, expressions evaluated on the program as it is.
struct Naive {
    states: usize,
    transitions: u64,
    deadlocks: u64,
    out_of_range: bool,
}

/// Control states, shared variables, locals of each thread.
type State = (Vec<ControlAt>, Vec<Vec<i64>>, Vec<Vec<Vec<i64>>>);

impl Naive {
    fn new() -> Naive {
        Naive { states: 0, transitions: 0, deadlocks: 0, out_of_range: false }
    }

    fn explore(program: &Program) -> Naive {
        Naive::explore_with(program, |_, _, _| {})
    }

    /// Explores, and tells every state with its distance from the initial one.
    fn explore_with(program: &Program, mut visit: impl FnMut(&mut Naive, &State, usize)) -> Naive {
        let mut result = Naive::new();
        let start = Naive::start(program);
        let mut seen = HashMap::from([(start.clone(), ())]);
        let mut queue = VecDeque::from([(start, 0)]);
        while let Some((state, distance)) = queue.pop_front() {
            result.states += 1;
            visit(&mut result, &state, distance);
            let mut stuck = true;
            for (position, thread) in program.threads.iter().enumerate() {
                for instruction in thread.instructions.iter().filter(|i| i.from == state.0[position]) {
                    result.transitions += 1;
                    let Some(next) = result.successor(thread, position, instruction, &state) else { continue };
                    stuck = false;
                    if seen.insert(next.clone(), ()).is_none() {
                        queue.push_back((next, distance + 1));
                    }
                }
            }
            result.deadlocks += u64::from(stuck);
        }
        result
    }

    fn start(program: &Program) -> State {
        let initial = |variables: &[Variable]| variables.iter().map(|variable| variable.initial.clone()).collect();
        (
            program.threads.iter().map(|thread| thread.initial).collect(),
            initial(&program.shared),
            program.threads.iter().map(|thread| initial(&thread.locals)).collect(),
        )
    }

    /// The state after an instruction from the thread's control state, if it can be taken.
    fn successor(
        &mut self,
        thread: &Thread,
        position: usize,
        instruction: &Instruction,
        state: &State,
    ) -> Option<State> {
        let holds = |i: &Instruction, naive: &mut Naive| {
            i.condition.as_ref().is_none_or(|c| naive.value(state, position, c) != 0)
        };
        let mut enabled = holds(instruction, self);
        for other in &thread.instructions {
            if other.from == instruction.from && other.priority < instruction.priority {
                enabled &= !holds(other, self);
            }
        }
        if !enabled {
            return None;
        }
        let mut next = state.clone();
        next.0[position] = instruction.to;
        for assignment in &instruction.assignments {
            let value = self.value(&next, position, &assignment.value);
            let index = assignment.target.index.as_ref().map_or(0, |i| self.value(&next, position, i));
            let elements = match assignment.target.scope {
                Scope::Shared => &mut next.1[assignment.target.variable],
                Scope::Local => &mut next.2[position][assignment.target.variable],
            };
            match usize::try_from(index).ok().and_then(|i| elements.get_mut(i)) {
                Some(element) => *element = value,
                None => self.out_of_range = true,
            }
        }
        Some(next)
    }

    fn value(&mut self, state: &State, thread: usize, expression: &Expression) -> i64 {
        match expression {
            Expression::Constant(value) => *value,
            Expression::Read(reference) => {
                let index = reference.index.as_ref().map_or(0, |index| self.value(state, thread, index));
                let elements = match reference.scope {
                    Scope::Shared => &state.1[reference.variable],
                    Scope::Local => &state.2[thread][reference.variable],
                };
                let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
                self.out_of_range |= element.is_none();
                element.copied().unwrap_or(0)
            }
            Expression::Unary(UnaryOperator::Not, inner) => i64::from(self.value(state, thread, inner) == 0),
            Expression::Unary(UnaryOperator::Indicator, inner) => i64::from(self.value(state, thread, inner) != 0),
            Expression::Unary(UnaryOperator::Minus, inner) => -self.value(state, thread, inner),
            Expression::Binary(operator, left, right, _) => {
                let (a, b) = (self.value(state, thread, left), self.value(state, thread, right));
                match operator {
                    BinaryOperator::Or => a | b,
                    BinaryOperator::Xor => a ^ b,
                    BinaryOperator::And => a & b,
                    BinaryOperator::Equal => i64::from(a == b),
                    BinaryOperator::NotEqual => i64::from(a != b),
                    BinaryOperator::Less => i64::from(a < b),
                    BinaryOperator::GreaterEqual => i64::from(a >= b),
                    BinaryOperator::Add => a + b,
                    BinaryOperator::Subtract => a - b,
                    BinaryOperator::Multiply => a * b,
                    BinaryOperator::Modulo => a.rem_euclid(b),
                    other => panic!("random programs have no {other:?}"),
                }
            }
        }
    }
}
