//! Conditions in programs in the language of Remmex: those of branches, which read once, those of locked regions, and
//! error states.

use crate::remmex_parsing::{errors, instructions, parse, parsed, process, said, shown};
use crate::support::random::{cases, random_cases};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::ids::ControlAt;
use seqcon::program::single_access::SingleAccess;
use seqcon::program::{BinaryOperator, Expression, Instruction, InstructionKind, Scope, UnaryOperator};
use seqcon::property::Property;
use seqcon::specification::Specification;

#[test]
fn error_states() {
    let text = "int x; never 2 3 in; proctype P { do :: true -> store(x, 1); store(x, 0); od; } never 1 100 in;
        proctype Q { skip; in: skip; } never 1 4 in;";
    let read = parsed(text);
    let texts: Vec<String> = read.properties.iter().map(Property::to_string).collect();
    assert_eq!(texts, ["never P@3 and Q@in", "never Q@in", "never Q@in"]);
    let warnings: Vec<String> = read.warnings.iter().map(|warning| said(text, warning)).collect();
    assert_eq!(warnings, ["2:48: P is never here: this is where a branch ends, and that is location 0"]);
    let (specification, _) = Specification::parse("t.rmx".to_owned(), text.to_owned()).unwrap();
    let never = |text: &str| specification.never("--never", text).map(|(property, _)| property);
    let told = |text: &str| never(text).unwrap().to_string();
    // By numbers, with the flag of the tool, several at once, and expressions.
    assert_eq!(never("2 3 1").unwrap(), read.properties[0]);
    assert_eq!(never("-e 2 3 in").unwrap(), read.properties[0]);
    assert_eq!(told("-e 2 3 1 -e 1 0 0"), "never P@3 and Q@in; never P@0 or Q@0");
    let Property::Never(by_number) = never("Q@1 and P@3").unwrap() else { panic!("no condition") };
    let Property::Never(by_label) = never("P@3 and Q@in").unwrap() else { panic!("no condition") };
    for state in [0, 1, 2, 3, 4, 5, 6].map(|place| 1 << place).into_iter().chain([0, 0b101000, 0b100100]) {
        let observed = |variable: usize| state >> variable & 1;
        assert_eq!(truth(&by_number.expression, &observed), truth(&by_label.expression, &observed), "{state:b}");
        assert_eq!(truth(&by_number.expression, &observed), state == 0b101000, "{state:b}");
    }
    assert_eq!(told("2 100 in"), "never false");
    for (text, expected) in [
        ("2 3", "--never:1:1: error: 1 location for 2 processes"),
        ("3 3 1", "--never:1:1: error: expected a number of processes from 1 to 2, found 3"),
        ("0 3 1", "--never:1:1: error: expected a number of processes from 1 to 2, found 0"),
        ("1 3 inn", "--never:1:5: error: Q has no label `inn`"),
        ("-e", "--never:1:3: error: expected a number of processes, found its end"),
        ("-e 1 3 1 x = 1", "--never:1:12: error: expected a location or `-e`, found `=`"),
        ("P@9", "--never:1:1: error: there is no control state `P@9`"),
    ] {
        let found = never(text).map(|property| property.to_string()).unwrap_err().to_string();
        assert!(found.starts_with(expected), "{text}: {found}");
    }
    // Many processes.
    let process = |number: usize| format!("proctype P{number} {{ skip; c: skip; }} ");
    let many = |processes: usize, least: usize| -> Property {
        let text: String = (0..processes).map(process).collect();
        let read = parsed(&format!("{text} never {least}{};", " c".repeat(processes)));
        read.properties.into_iter().next().unwrap()
    };
    assert_eq!(many(3, 2).to_string(), "never (P0@c and P1@c) or (P0@c and P2@c) or (P1@c and P2@c)");
    assert_eq!(many(4, 2).to_string(), "never at least 2 of P0@c, P1@c, P2@c, P3@c");
    for (processes, least) in [(2, 1), (3, 2), (4, 2), (6, 3), (7, 3), (9, 2), (8, 8)] {
        let Property::Never(condition) = many(processes, least) else { panic!("no condition") };
        for bits in 0..1_u32 << processes {
            let holds = truth(&condition.expression, &|variable| {
                // Three control states for each process, in the order of their names.
                i64::from(variable % 3 == 1 && bits >> (variable / 3) & 1 == 1)
            });
            assert_eq!(holds, bits.count_ones() as usize >= least, "{processes} {least} {bits:b}");
        }
    }
}

/// The value of an expression, given those of variables.
fn value(expression: &Expression, of: &dyn Fn(Scope, usize) -> i64) -> i64 {
    match expression {
        Expression::Constant(value) => *value,
        Expression::Read(reference) => of(reference.scope, reference.variable),
        Expression::Unary(UnaryOperator::Not, operand) => i64::from(value(operand, of) == 0),
        Expression::Unary(UnaryOperator::Indicator, operand) => i64::from(value(operand, of) != 0),
        Expression::Unary(UnaryOperator::Minus, operand) => -value(operand, of),
        Expression::Binary(operator, left, right, _) => {
            let (left, right) = (value(left, of), value(right, of));
            match operator {
                BinaryOperator::Or => i64::from(left != 0 || right != 0),
                BinaryOperator::And => i64::from(left != 0 && right != 0),
                BinaryOperator::Equal => i64::from(left == right),
                BinaryOperator::NotEqual => i64::from(left != right),
                BinaryOperator::Less => i64::from(left < right),
                BinaryOperator::LessEqual => i64::from(left <= right),
                BinaryOperator::Greater => i64::from(left > right),
                BinaryOperator::GreaterEqual => i64::from(left >= right),
                BinaryOperator::Add => left + right,
                BinaryOperator::Subtract => left - right,
                BinaryOperator::Multiply => left * right,
                BinaryOperator::Divide => left.div_euclid(right),
                other => panic!("{other:?}"),
            }
        }
    }
}

fn truth(expression: &Expression, of: &dyn Fn(usize) -> i64) -> bool {
    value(expression, &|_, variable| of(variable)) != 0
}

#[test]
fn conditions_read_once() {
    let conditions = |guard: &str| instructions(&format!("if :: {guard} -> skip; fi;")).len() - 1;
    for (guard, ways) in [
        ("load(y, 1) || load(y, 2)", 1),
        ("load(y, 0) || load(y, 1) || load(y, 4)", 2),
        ("!load(y, 0) && !load(y, 1)", 1),
        ("!load(y, 3 - r)", 1),
        ("s == 1 && load(a[0], 0)", 1),
        ("s == 2 && (load(a[r], 0) || load(a[r], 1))", 1),
        ("load(y, r) || load(y, s)", 2),
        ("load(b, true) || load(b, false)", 1),
        ("load(y, 1) && load(y, 2)", 1),
        ("false", 1),
    ] {
        assert_eq!(conditions(guard), ways, "{guard}");
        let program = parsed(&process(&format!("if :: {guard} -> skip; fi;"))).program;
        assert_eq!(SingleAccess::of(&program).program, program, "{guard}");
    }
    assert_eq!(
        errors(&process("if :: !load(y, r) && !load(y, s) -> skip; fi;")),
        [
            "3:7: this cannot be asked with one read of `y` (it may hold where `y` differs from values that are computed; read it first: `r = loadval(y);`)"
        ]
    );
}

/// Whether a condition holds for values of `y`, `r` and `s`.
type Holds = Box<dyn Fn(i64, i64, i64) -> bool>;

/// A random condition, as text and as a function.
fn condition(rng: &mut StdRng, depth: usize, computed: bool) -> (String, Holds) {
    if depth == 0 || rng.random_range(0..4) == 0 {
        let constant = rng.random_range(0..5);
        return match rng.random_range(0..if computed { 5 } else { 4 }) {
            0 => (format!("r == {constant}"), Box::new(move |_, r, _| r == constant)),
            1 => (format!("s < {constant}"), Box::new(move |_, _, s| s < constant)),
            2 if !computed => (format!("!load(y, {constant})"), Box::new(move |y, _, _| y != constant)),
            4 => ("load(y, s - 1)".to_owned(), Box::new(|y, _, s| y == s - 1)),
            _ => (format!("load(y, {constant})"), Box::new(move |y, _, _| y == constant)),
        };
    }
    let (left, left_holds) = condition(rng, depth - 1, computed);
    let (right, right_holds) = condition(rng, depth - 1, computed);
    match rng.random_range(0..2) {
        0 => (format!("({left} && {right})"), Box::new(move |y, r, s| left_holds(y, r, s) && right_holds(y, r, s))),
        _ => (format!("({left} || {right})"), Box::new(move |y, r, s| left_holds(y, r, s) || right_holds(y, r, s))),
    }
}

/// A condition holds if one of its instructions can be taken, whatever the values, and each reads once.
#[test]
fn conditions_keep_their_meaning() {
    random_cases(cases(300), |rng| {
        let computed = rng.random_bool(0.5);
        let (guard, holds) = condition(rng, 3, computed);
        let text = process(&format!("if :: {guard} -> skip; fi;"));
        let read = match parse(&text) {
            Ok(read) => read,
            Err(wrong) => {
                assert!(computed && wrong.to_string().contains("with one read"), "{guard}: {wrong}");
                return;
            }
        };
        let program = read.program;
        assert_eq!(SingleAccess::of(&program).program, program, "{guard}");
        let ways: Vec<_> = program.threads[0].instructions.iter().filter(|known| known.from == ControlAt(0)).collect();
        for (y, r, s) in (-2..7).flat_map(|y| (0..5).flat_map(move |r| (0..5).map(move |s| (y, r, s)))) {
            let of = |scope: Scope, variable: usize| match (scope, variable) {
                (Scope::Shared, 1) => y,
                (Scope::Local, 0) => r,
                (Scope::Local, 1) => s,
                other => panic!("{other:?}"),
            };
            let is_taken =
                |way: &&&Instruction| way.condition.as_ref().is_none_or(|condition| value(condition, &of) != 0);
            let taken = ways.iter().filter(is_taken).count();
            assert_eq!(taken > 0, holds(y, r, s), "{guard} at y={y} r={r} s={s}");
            assert!(computed || taken <= 1, "{guard} at y={y} r={r} s={s}");
        }
    });
}

#[test]
fn regions_are_atomic() {
    let atomic = |statements: &str| {
        let program = parsed(&process(statements)).program;
        let all = &program.threads[0].instructions;
        assert!(all.iter().all(|known| known.kind == InstructionKind::Atomic), "{statements}");
        shown(&program)
    };
    let exchange =
        "do :: true -> LOCK if :: load(x, r) -> store(x, s); UNLOCK break; :: !load(x, r) -> UNLOCK fi; od; skip;";
    assert_eq!(
        instructions(exchange),
        ["0 to 2: ", "2 to 1: atomic ? x, ~r; x := ~s", "2 to 0: atomic ? x, ~r", "1 to 10: "]
    );
    // What is asked behind an assignment is asked before it.
    assert_eq!(atomic("LOCK; store(x, 1); if :: load(x, 1) -> skip; fi; UNLOCK;").len(), 1);
    let program = parsed(&process("LOCK store(x, r); if :: load(x, 1) -> skip; fi; UNLOCK")).program;
    let condition = program.threads[0].instructions[0].condition.as_ref().unwrap();
    assert!((0..3).all(|r| (value(condition, &|_, _| r) != 0) == (r == 1)), "{condition:?}");
    // Nothing but a fence.
    let kinds: Vec<InstructionKind> =
        parsed(&process("LOCK MFENCE UNLOCK")).program.threads[0].instructions.iter().map(|known| known.kind).collect();
    assert_eq!(kinds, [InstructionKind::Fence]);
    for (statements, expected) in [
        (
            "LOCK do :: r == 0 -> skip; :: r == 1 -> break; od; UNLOCK",
            "3:1: there is a loop between `LOCK` and `UNLOCK`",
        ),
        (
            "LOCK if :: r == 0 -> UNLOCK :: r == 1 -> skip; fi;",
            "3:1: there is a way behind this `LOCK` without `UNLOCK`",
        ),
        ("LOCK LOCK UNLOCK", "3:6: `LOCK` stands behind a `LOCK` without `UNLOCK`"),
        ("UNLOCK", "3:1: `UNLOCK` without `LOCK` waits for ever"),
        ("LOCK here: skip; UNLOCK", "3:6: a label stands between `LOCK` and `UNLOCK`"),
    ] {
        let found = errors(&process(statements));
        assert!(found.iter().any(|error| error.starts_with(expected)), "{statements}: {found:?}");
    }
    let inside = process("LOCK store(x, 1); UNLOCK") + " never 1 2;";
    let found = errors(&inside);
    assert!(found[0].starts_with("4:11: this location of P is between `LOCK` and `UNLOCK`"), "{found:?}");
}
