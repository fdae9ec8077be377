//! Programs in the language of Remmex, right and wrong: what they become, and what is said about them. Their
//! conditions are in `remmex_conditions.rs`, the bundled ones in `remmex_programs.rs`.

use crate::support::mutation::{Guard, mutate};
use crate::support::random::{cases, random_cases};
use rand::Rng;
use seqcon::ids::{ControlAt, ThreadAt};
use seqcon::lang::edit::{CannotWrite, Change, edited};
use seqcon::lang::{self, Diagnostic, Diagnostics, Parsed};
use seqcon::program::labels::{Decision, label};
use seqcon::program::{BinaryOperator, Expression, InstructionKind, Program, Type};

pub fn parse(text: &str) -> Result<Parsed, Diagnostics> {
    lang::parse("folder/test.rmx", text)
}

pub fn parsed(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|errors| panic!("this should be accepted:\n{text}\n{errors}"))
}

/// `line:column: message` and, if there is some, ` (help)`.
pub fn said(text: &str, diagnostic: &Diagnostic) -> String {
    let place = seqcon::text::LineColumn::of(text, diagnostic.span.start);
    let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
    format!("{}:{}: {}{help}", place.line, place.column, diagnostic.message)
}

pub fn errors(text: &str) -> Vec<String> {
    match parse(text) {
        Ok(parsed) => panic!("this should be refused:\n{text}\n{:?}", parsed.program),
        Err(found) => found.errors().iter().map(|error| said(text, error)).collect(),
    }
}

/// The instructions of the first thread: where they lead from and to, and their labels.
pub fn shown(program: &Program) -> Vec<String> {
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
pub fn process(statements: &str) -> String {
    format!(
        "int x, y = 3, a[2] = {{4, 5}}, m[2][3]; bool b = true;\nproctype P {{ int r, s = 1, v[2]; bool f;\n{statements}\n}}"
    )
}

pub fn instructions(statements: &str) -> Vec<String> {
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
        [
            "0 to 1: x := ~r",
            "1 to 2: ~r := a[1]",
            "2 to 3: ~r := ~s",
            "3 to 4: ",
            "4 to 5: ~v[1] :=",
            "5 to 6: ~f := ~r, ~s"
        ]
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
    assert_eq!(
        instructions("do :: r == 0 -> :: r == 1 -> break; od; skip;"),
        ["0 to 0: ? ~r", "0 to 1: ? ~r", "1 to 4: "]
    );
    // Labels name what has a number; the end of a process may have one.
    assert_eq!(states("first: store(x, 1); skip; end:"), ["1", "end", "first"]);
    // Fences take no number.
    assert_eq!(states("store(x, 1); MFENCE store(y, 1); SFENCE"), ["0", "1", "2", "fence_1", "fence_2"]);
    let plain = "do :: true -> store(x, 1); if :: load(y, 0) -> skip; :: true -> break; fi; od; store(y, 1);";
    let numbers = |text: &str| states(text).into_iter().filter(|state| state.parse::<usize>().is_ok()).collect();
    let expected: Vec<String> = numbers(plain);
    let fenced = plain.replace("; ", "; MFENCE ").replace("break; MFENCE", "break;").replace("-> ", "-> SFENCE ");
    assert_eq!(numbers(&fenced), expected, "{fenced}");
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
            "skip; int q;",
            "3:7: this variable is declared too late (the variables of a process are declared before its first statement)",
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
            "1:28: 2 locations for 1 process (an error state has the least number of processes first, then a location for each process)",
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
