//! Programs in the language of Remmex, right and wrong: what they become, and what is said about them. The bundled
//! ones are in `remmex_programs.rs`.

use crate::support::mutation::{Guard, mutate};
use crate::support::random::{cases, random_cases};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::ids::{ControlAt, ThreadAt};
use seqcon::lang::edit::{CannotWrite, Change, edited};
use seqcon::lang::{self, Diagnostic, Diagnostics, Parsed};
use seqcon::program::labels::{Decision, label};
use seqcon::program::single_access::SingleAccess;
use seqcon::program::{BinaryOperator, Expression, InstructionKind, Program, Scope, Type, UnaryOperator};
use seqcon::property::Property;
use seqcon::specification::Specification;

pub fn parse(text: &str) -> Result<Parsed, Diagnostics> {
    lang::parse("folder/test.rmx", text)
}

pub fn parsed(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|errors| panic!("this should be accepted:\n{text}\n{errors}"))
}

/// `line:column: message` and, if there is some, ` (help)`.
fn said(text: &str, diagnostic: &Diagnostic) -> String {
    let place = seqcon::text::LineColumn::of(text, diagnostic.span.start);
    let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
    format!("{}:{}: {}{help}", place.line, place.column, diagnostic.message)
}

fn errors(text: &str) -> Vec<String> {
    match parse(text) {
        Ok(parsed) => panic!("this should be refused:\n{text}\n{:?}", parsed.program),
        Err(found) => found.errors().iter().map(|error| said(text, error)).collect(),
    }
}

/// The instructions of the first thread: where they lead from and to, and their labels.
fn shown(program: &Program) -> Vec<String> {
    let mut shown = Vec::new();
    for (at, instruction) in program.instructions_at().filter(|(at, _)| at.thread == ThreadAt(0)) {
        let state = |control: ControlAt| &program.thread(at.thread).states[control.index()];
        let label = label(program, at, Decision::Taken, 0).to_string();
        let what = label.split_once(": ").map_or("", |(_, what)| what);
        shown.push(format!("{} to {}: {what}", state(instruction.from), state(instruction.to)));
    }
    shown
}

/// A process with some variables; its statements stand on line 3.
fn process(statements: &str) -> String {
    format!(
        "int x, y = 3, a[2] = {{4, 5}}, m[2][3]; bool b = true;\nproctype P {{ int r, s = 1, v[2]; bool f;\n{statements}\n}}"
    )
}

fn instructions(statements: &str) -> Vec<String> {
    shown(&parsed(&process(statements)).program)
}

#[test]
fn a_text_becomes_a_program() {
    let text = "/* shared */ int x = 7, a[2] = {1, 2}; bool b[2][2] = {{true, false}, {false, true}}, c[2][2] = {true, false, false, true};
        // a process
        proctype P { bool done; int r; r = load_val(x); } proctype Q { int r; r = loadVal(a[1]); r = loadval(a[r]); }";
    let Parsed { program, properties, warnings } = parsed(text);
    assert!(properties.is_empty() && warnings.is_empty());
    assert_eq!(program.name, "test");
    let shared: Vec<_> =
        program.shared.iter().map(|known| (known.name.as_str(), known.ty, known.is_array, &known.initial)).collect();
    let diagonal = vec![1, 0, 0, 1];
    assert_eq!(
        shared,
        [
            ("x", Type::Integer, false, &vec![7]),
            ("a", Type::Integer, true, &vec![1, 2]),
            ("b", Type::Boolean, true, &diagonal),
            ("c", Type::Boolean, true, &diagonal)
        ]
    );
    let names: Vec<&str> = program.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["P", "Q"]);
    assert_eq!(program.threads[0].locals[0].initial, [0]);
    assert_eq!(lang::parse("t.remmex", text).unwrap().program.threads.len(), 2);
}

#[test]
fn statements_are_single_instructions() {
    let kinds = |statements: &str| -> Vec<InstructionKind> {
        parsed(&process(statements)).program.threads[0].instructions.iter().map(|known| known.kind).collect()
    };
    assert_eq!(
        instructions("store(x, r + 1); r = loadval(a[1]); r = s; skip; v[1] = 2; f = r == s;"),
        ["0 to 1: x := ", "1 to 2:  := a[1]", "2 to 3:  := ", "3 to 4: ", "4 to 5:  := ", "5 to 6:  := "]
            .map(|line| line.to_owned())
            .to_vec(),
        "{:?}",
        instructions("store(x, r + 1); r = loadval(a[1]); r = s; skip; v[1] = 2; f = r == s;")
    );
    use seqcon::program::PartialFence::Stores;
    let fences = [InstructionKind::Fence, InstructionKind::PartialFence(Stores), InstructionKind::Fence];
    assert_eq!(kinds("MFENCE SFENCE; MFENCE;"), fences);
    // The element of an array of two dimensions.
    let program = parsed(&process("store(m[1][2], 1); store(m[r][2], 1);")).program;
    let index = |instruction: usize| {
        let target = &program.threads[0].instructions[instruction].assignments[0].target;
        target.index.as_deref().expect("an element").clone()
    };
    assert_eq!(index(0), Expression::Constant(5));
    let Expression::Binary(BinaryOperator::Add, row, two, _) = index(1) else { panic!("{:?}", index(1)) };
    assert_eq!(*two, Expression::Constant(2));
    let Expression::Binary(BinaryOperator::Multiply, row, three, _) = *row else { panic!("{row:?}") };
    assert_eq!(*three, Expression::Constant(3));
    assert!(matches!(*row, Expression::Binary(BinaryOperator::Bounded, ..)), "{row:?}");
}

/// The states of the first thread, sorted.
fn states(statements: &str) -> Vec<String> {
    let mut states = parsed(&process(statements)).program.threads[0].states.clone();
    states.sort_by_key(|state| (state.parse::<usize>().unwrap_or(usize::MAX), state.clone()));
    states
}

#[test]
fn locations_are_numbered_as_by_remmex() {
    // The example of the digest: 2, 3 and 4 are statements of the loop, 5 is behind the `if`, 6 and 8 in its branches.
    let text = "do :: true -> store(x, 1); r = loadval(y);
        if :: r == 0 -> inside: store(x, 0); :: r != 0 -> store(x, 0); if :: load(y, 0) -> skip; fi; fi; od;";
    let found = instructions(text);
    let ends: Vec<&str> = found.iter().filter_map(|line| line.split_once(':')).map(|(ends, _)| ends).collect();
    assert_eq!(
        ends,
        ["0 to 2", "2 to 3", "3 to 4", "4 to inside", "inside to 0", "4 to 8", "8 to 9", "9 to 11", "11 to 0"]
    );
    // A loop that is never left: nobody is behind it.
    assert_eq!(states("do :: true -> skip; od;"), ["0", "2"]);
    // An empty branch, and one that only leaves the loop.
    assert_eq!(instructions("do :: r == 0 -> :: r == 1 -> break; od; skip;"), ["0 to 0: ? ", "0 to 1: ? ", "1 to 4: "]);
    // Labels name what has a number; the end of a process may have one.
    assert_eq!(states("first: store(x, 1); skip; end:"), ["1", "end", "first"]);
    // Fences take no number.
    assert_eq!(states("store(x, 1); MFENCE store(y, 1); SFENCE"), ["0", "1", "2", "fence_1", "fence_2"]);
    let plain = "do :: true -> store(x, 1); if :: load(y, 0) -> skip; :: true -> break; fi; od; store(y, 1);";
    let numbers = |text: &str| states(text).into_iter().filter(|state| state.parse::<usize>().is_ok()).collect();
    let expected: Vec<String> = numbers(plain);
    let fenced = plain.replace("; ", "; MFENCE ").replace("-> ", "-> SFENCE ");
    assert_eq!(numbers(&fenced), expected, "{fenced}");
}

#[test]
fn error_states() {
    let text = "int x; never 2 3 in; proctype P { do :: true -> store(x, 1); store(x, 0); od; } never 1 100 in;
        proctype Q { skip; in: skip; } never 1 4 in;";
    let read = parsed(text);
    let texts: Vec<String> = read.properties.iter().map(Property::to_string).collect();
    assert_eq!(texts, ["never P@3 and Q@in", "never Q@in", "never Q@in"]);
    let warnings: Vec<String> = read.warnings.iter().map(|warning| said(text, warning)).collect();
    assert_eq!(warnings, ["2:47: P is never here: this is where a branch ends, and that is location 0"]);
    let (specification, _) = Specification::parse("t.rmx".to_owned(), text.to_owned()).unwrap();
    let never = |text: &str| specification.never("--never", text).map(|(property, _)| property);
    let said = |text: &str| never(text).unwrap().to_string();
    // By numbers, with the flag of the tool, several at once, and expressions.
    assert_eq!(never("2 3 1").unwrap(), read.properties[0]);
    assert_eq!(never("-e 2 3 in").unwrap(), read.properties[0]);
    assert_eq!(said("-e 2 3 1 -e 1 0 0"), "never P@3 and Q@in; never P@0 or Q@0");
    let Property::Never(by_number) = never("P@3 and Q@1").unwrap() else { panic!("no condition") };
    let Property::Never(by_label) = never("P@3 and Q@in").unwrap() else { panic!("no condition") };
    assert_eq!(by_number.expression, by_label.expression);
    assert_eq!(said("2 100 in"), "never false");
    for (text, expected) in [
        ("2 3", "--never:1:1: error: there are 1 locations for 2 processes"),
        ("3 3 1", "--never:1:1: error: expected a number of processes from 1 to 2, found 3"),
        ("0 3 1", "--never:1:1: error: expected a number of processes from 1 to 2, found 0"),
        ("1 3 inn", "--never:1:5: error: Q has no label `inn`"),
        ("-e", "--never:1:3: error: expected a number of processes, found its end"),
        ("-e 1 3 1 x = 1", "--never:1:5: error: there are"),
        ("P@9", "--never:1:1: error: there is no control state `P@9`"),
    ] {
        let found = never(text).map(|property| property.to_string()).unwrap_err().to_string();
        assert!(found.starts_with(expected) || text.contains('='), "{text}: {found}");
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

/// A random condition on `y`, `r` and `s`, as text and as a function of their values.
fn condition(rng: &mut StdRng, depth: usize, computed: bool) -> (String, Box<dyn Fn(i64, i64, i64) -> bool>) {
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
            let is_taken = |way: &&&seqcon::program::Instruction| {
                way.condition.as_ref().is_none_or(|condition| value(condition, &of) != 0)
            };
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
    assert_eq!(instructions(exchange), ["0 to 2: ", "2 to 1: [? x; x := ]", "2 to 0: ? x", "1 to 10: "]);
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

#[test]
fn what_is_wrong_is_told() {
    for (statements, expected) in [
        (
            "r = x;",
            "3:5: `x` is shared and cannot be used like this (`store(x, 1)` writes it, `r = loadval(x)` reads it, `load(x, 1)` tests it)",
        ),
        (
            "x = 1;",
            "3:1: `x` is shared and cannot be used like this (`store(x, 1)` writes it, `r = loadval(x)` reads it, `load(x, 1)` tests it)",
        ),
        ("store(r, 1);", "3:7: `r` is not shared (a variable of the process is used by its name alone: `r = 1`)"),
        (
            "if :: load(x, 1) && load(y, 1) -> skip; fi;",
            "3:21: this condition reads two shared variables (a condition reads one variable or element; put a second `if` into the branch, or read one of them before: `r = loadval(x);`)",
        ),
        (
            "if :: load(a[0], 1) && load(a[1], 1) -> skip; fi;",
            "3:24: this condition reads two shared variables (a condition reads one variable or element; put a second `if` into the branch, or read one of them before: `r = loadval(x);`)",
        ),
        (
            "if :: !(load(x, 1) || load(x, 2)) -> skip; fi;",
            "3:7: `!` cannot stand before an expression with a `load` (it stands directly before a `load`: `!load(x, 0)`)",
        ),
        (
            "if :: r -> skip; fi;",
            "3:7: expected a bool, found an int (Boolean values are `true` and `false`, `load(x, 1)` and comparisons)",
        ),
        (
            "store(b, 1);",
            "3:10: expected a bool, found an int (Boolean values are `true` and `false`, `load(x, 1)` and comparisons)",
        ),
        (
            "r = true + 1;",
            "3:5: expected an int, found a bool (integers are `0`, `1`, …; they are not `true` and `false`)",
        ),
        (
            "r = loadval(b);",
            "3:13: expected an int, found a bool (integers are `0`, `1`, …; they are not `true` and `false`)",
        ),
        ("store(a, 1);", "3:7: `a` is an array (an element is written `a[0]`)"),
        ("store(x[0], 1);", "3:7: `x` is no array (write `x`)"),
        ("store(m[0], 1);", "3:7: `m` has 2 indices, found 1 (an element is written `m[0][0]`)"),
        ("store(a[3 - 1], 1);", "3:9: the index 2 is out of range (indices are from 0 to 1)"),
        ("v[2] = 1;", "3:3: the index 2 is out of range (indices are from 0 to 1)"),
        (
            "store(xx, 1);",
            "3:7: there is no shared variable `xx` (shared variables are declared before the first `proctype`: `int x = 0;`)",
        ),
        (
            "count = 1;",
            "3:1: there is no variable `count` (the variables of a process are declared at its beginning: `int r;`)",
        ),
        ("break;", "3:1: `break` stands outside of `do` (`break` leaves the innermost `do … od`)"),
        (
            "do :: true -> break; skip; od;",
            "3:22: this is never reached, as `break` stands before it (`break` is the last statement of a branch)",
        ),
        (
            "store(x, load(y, 1));",
            "3:10: `load` can only stand in the condition of a branch (read the variable into one of the process: `r = loadval(x);`)",
        ),
        (
            "store(x, loadval(y));",
            "3:10: a shared variable cannot be read within an expression (read it into a variable of the process: `r = loadval(x);`)",
        ),
        (
            "r = loadval(y) + 1;",
            "3:5: a shared variable cannot be read within an expression (read it into a variable of the process: `r = loadval(x);`)",
        ),
        ("l: skip; l: skip;", "3:10: there are two labels `l` (a label stands once in a process)"),
        ("l: k: skip;", "3:4: there are two labels before one statement (a control location has one name)"),
        (
            "if :: true -> l: fi;",
            "3:15: nothing stands behind the label `l` (a label stands before a statement, or at the end of the process; here nothing is done)",
        ),
        (
            "do :: true -> l: break; od;",
            "3:15: a label stands before `break`, where nothing is done (put it behind the `od`)",
        ),
        ("if :: r = 1 -> skip; fi;", "3:9: `=` is no operator (values are compared with `==`)"),
        ("r = -1;", "3:5: expected an expression, found `-` (there is no negation: write `0 - x`)"),
        ("skip", "4:1: expected `;`, found `}` (statements end with `;`, `od` and `fi` included)"),
        (
            "int q;",
            "3:1: this variable is declared too late (the variables of a process are declared before its first statement)",
        ),
        ("stor(x, 1);", "3:1: expected a statement, found `stor` (did you mean `store`?)"),
        (
            "r = 99999999999999999999;",
            "3:5: this integer does not fit into 64 bits (the largest number is 9223372036854775807)",
        ),
        (
            "if :: true -> skip; od;",
            "3:21: expected a statement, `::` or `fi`, found `od` (`do` and `if` have branches `:: condition -> statements`, and end with `od` and `fi`)",
        ),
        ("r = r & 1;", "3:7: `&` means nothing here (conjunction is `&&`)"),
    ] {
        let found = errors(&process(statements));
        assert!(found.iter().any(|error| error == expected), "{statements}:\n{}\n{expected}", found.join("\n"));
    }
    let whole = [
        (
            "",
            "1:1: there is no process (a program is shared variables, `int x = 0;`, and processes, `proctype P { … }`)",
        ),
        ("int x; int x; proctype P { }", "1:12: there are two variables `x`"),
        (
            "int x; proctype P { bool x; }",
            "1:26: there is a shared variable `x` (give the variable of the process another name)",
        ),
        ("proctype P { } proctype P { }", "1:25: there are two processes `P`"),
        ("int a[0]; proctype P { }", "1:7: an array has at least one element"),
        ("int a[300][300]; proctype P { }", "1:12: the arrays have more than 65536 elements"),
        ("int a[2] = {1}; proctype P { }", "1:12: expected 2 values, found 1"),
        ("int a[2] = 1; proctype P { }", "1:12: `a` is an array (it has a value for each element: `{0, 0}`)"),
        ("int a = {1}; proctype P { }", "1:9: `a` is no array"),
        (
            "int a = true; proctype P { }",
            "1:9: expected an int, found a bool (integers are `0`, `1`, …; they are not `true` and `false`)",
        ),
        (
            "proctype P { } int x;",
            "1:16: this variable is declared too late (shared variables are declared before the first `proctype`)",
        ),
        (
            "proctyp P { }",
            "1:1: expected a declaration, `proctype` or `never`, found `proctyp` (did you mean `proctype`?)",
        ),
        (
            "proctype P { /*",
            "1:14: this comment has no end (a comment that begins with `/*` ends with `*/`; comments do not nest)",
        ),
        (
            "proctype P { skip; } never 1 5 6;",
            "1:28: there are 2 locations for 1 processes (an error state has the least number of processes first, then a location for each process)",
        ),
    ];
    for (text, expected) in whole {
        let found = errors(text);
        assert!(found.iter().any(|error| error == expected), "{text}:\n{}\n{expected}", found.join("\n"));
    }
    // All at once.
    let several = errors(&process("store(z, 1); r = q; if :: x -> store(y, true); fi; break;"));
    assert_eq!(several.len(), 5, "{several:?}");
    // What nobody reaches.
    let text = process("do :: true -> skip; od; store(x, 1);");
    let warnings: Vec<String> = parsed(&text).warnings.iter().map(|warning| said(&text, warning)).collect();
    assert_eq!(warnings, ["3:25: this is never reached, and is left out"]);
}

/// The statements with a fence.
fn fenced(statements: &str, name: &str, change: fn(seqcon::program::At) -> Change) -> String {
    let text = process(statements);
    let program = parsed(&text).program;
    let changes: Vec<Change> =
        program.instructions_at().filter(|(_, known)| known.name == name).map(|(at, _)| change(at)).collect();
    assert!(!changes.is_empty(), "{name}: {:?}", shown(&program));
    let result = edited("test.rmx", &text, &program, &changes).expect("it can be written");
    parsed(&result);
    result.lines().nth(2).unwrap().to_owned()
}

#[test]
fn fences_are_written() {
    let two = "store(x, 1);store(y, 1);";
    assert_eq!(fenced(two, "0-1", Change::FenceAfter), "store(x, 1); MFENCE store(y, 1);");
    assert_eq!(fenced(two, "1-2", Change::FenceBefore), "store(x, 1); MFENCE store(y, 1);");
    assert_eq!(fenced(two, "0-1", Change::FenceAtTarget), "store(x, 1); MFENCE store(y, 1);");
    let branch = "if ::load(x, 1)->skip; :: load(y, 1) -> fi; l: store(x, 1);";
    assert_eq!(fenced(branch, "0-2", Change::FenceAfter), branch.replace("->skip", "-> MFENCE skip"));
    // All ways come together behind the `if`, and before the label.
    assert_eq!(fenced(branch, "0-l", Change::FenceAtTarget), branch.replace("fi;", "fi; MFENCE"));
    // Every way into a loop.
    let around = "store(x, 1); do :: r == 0 -> store(y, 1); :: r == 1 -> if :: load(x, 1) -> skip; :: true -> skip; fi; :: r == 2 -> break; od;";
    assert_eq!(
        fenced(around, "1-3", Change::FenceBefore),
        around.replace("x, 1); do", "x, 1); MFENCE do").replace("y, 1);", "y, 1); MFENCE").replace("fi;", "fi; MFENCE")
    );
    let locked = "LOCK store(x, 1); UNLOCK skip;";
    assert_eq!(fenced(locked, "0-3", Change::FenceAfter), locked.replace("UNLOCK", "UNLOCK MFENCE"));
    let text = process(two);
    let program = parsed(&text).program;
    let (at, _) = program.instructions_at().next().unwrap();
    assert_eq!(edited("t.rmx", &text, &program, &[Change::Atomic(at)]), Err(CannotWrite::Atomic));
}

/// Every prefix of a right text, and every text with a few random edits, is read or refused, and errors are in the
/// text; and so is what fences are put into.
#[test]
fn mutilated_texts_are_read_or_refused() {
    let first = process(
        "l: do :: load(y, 1) || load(y, 2) && r < 3 -> store(m[r][s], 1); MFENCE :: true -> LOCK if :: !load(x, r) -> UNLOCK break; :: load(x, r) -> store(x, s); UNLOCK fi; od; SFENCE v[r] = loadval(a[1]); e:",
    ) + " never 1 l; // end";
    let second = std::fs::read_to_string("specs/remmex/fast-mutex.rmx").unwrap();
    let guard = Guard::new("Remmex");
    let check = |text: &str| match guard.watched(text, parse) {
        Err(found) => {
            assert!(found.errors().iter().all(|error| error.span.start <= error.span.end), "{text}");
            assert!(found.errors().iter().all(|error| error.span.end <= text.len()), "{text}");
        }
        Ok(Parsed { program, .. }) => {
            let after = program.instructions_at().map(|(at, _)| Change::FenceAfter(at));
            let changes: Vec<Change> =
                after.chain(program.instructions_at().map(|(at, _)| Change::FenceAtTarget(at))).collect();
            if let Ok(result) = edited("test.rmx", text, &program, &changes) {
                assert!(parse(&result).is_ok(), "{text}\n{result}\n{}", parse(&result).unwrap_err());
            }
        }
    };
    let texts = [first, second];
    parsed(&texts[0]);
    texts[0].char_indices().for_each(|(at, _)| check(&texts[0][..at]));
    let fragments = [
        "do",
        "od",
        "if",
        "fi",
        "::",
        "->",
        ";",
        ":",
        "l:",
        "LOCK",
        "UNLOCK",
        "MFENCE",
        "break;",
        "skip;",
        "[",
        "]",
        "{",
        "}",
        "load(x, 1)",
        "!",
        "||",
        "never 1 l;",
        "proctype Q {",
        "int",
        "99999999999999999999",
        "é",
        "\0",
        "/*",
    ];
    random_cases(cases(1000), |rng| check(&mutate(&texts[rng.random_range(0..texts.len())], &fragments, rng)));
}
