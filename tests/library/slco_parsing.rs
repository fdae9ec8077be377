//! SLCO models, right and wrong: what they become, and what is said about them.

use crate::support::corpus::corpus_dir;
use seqcon::lang::{self, Diagnostics, Parsed};
use seqcon::program::{BinaryOperator, Expression, InstructionKind, Program, Reference, Scope, Type, UnaryOperator};
use std::fs;
use std::path::Path;

fn parse(text: &str) -> Result<Parsed, Diagnostics> {
    lang::parse("test.slco", text)
}

fn parsed(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|errors| panic!("this should be accepted:\n{text}\n{errors}"))
}

/// `line:column: message` of every error.
fn errors(text: &str) -> Vec<String> {
    let found = parse(text).expect_err("this should be refused");
    let shown = |error| format!("{}:{}: ", found.place(error).line, found.place(error).column) + &error.message;
    found.errors().iter().map(shown).collect()
}

/// A model with one machine; the declarations stand on line 1, `body` begins on line 2.
fn model(variables: &str, body: &str) -> String {
    format!("model m {{ classes C {{ variables {variables} state machines t {{\n{body}\n}} }} objects o : C() }}")
}

/// A model with one transition; its statements begin at 3:1.
fn statements(variables: &str, statements: &str) -> String {
    model(variables, &format!("initial a states b transitions a -> b {{\n{statements}\n}}"))
}

const VARIABLES: &str = "Integer x y Boolean p q Byte[2] a Boolean[3] f";

/// An expression in full parentheses.
fn shown(program: &Program, expression: &Expression) -> String {
    let reference = |reference: &Reference| {
        let variables = match reference.scope {
            Scope::Shared => &program.shared,
            Scope::Local => &program.threads[0].locals,
        };
        let name = &variables[reference.variable].name;
        reference.index.as_ref().map_or(name.clone(), |index| format!("{name}[{}]", shown(program, index)))
    };
    match expression {
        Expression::Constant(value) => value.to_string(),
        Expression::Read(read) => reference(read),
        Expression::Unary(UnaryOperator::Not, operand) => format!("(not {})", shown(program, operand)),
        Expression::Unary(UnaryOperator::Indicator, _) => unreachable!("SLCO has no such operator"),
        Expression::Unary(UnaryOperator::Minus, operand) => format!("(- {})", shown(program, operand)),
        Expression::Binary(operator, left, right, _) => {
            let operator = match operator {
                BinaryOperator::Or => "or",
                BinaryOperator::Xor => "xor",
                BinaryOperator::And => "and",
                BinaryOperator::Equal => "=",
                BinaryOperator::NotEqual => "!=",
                BinaryOperator::Less => "<",
                BinaryOperator::LessEqual => "<=",
                BinaryOperator::Greater => ">",
                BinaryOperator::GreaterEqual => ">=",
                BinaryOperator::Add => "+",
                BinaryOperator::Subtract => "-",
                BinaryOperator::Multiply => "*",
                BinaryOperator::Divide => "/",
                BinaryOperator::Modulo => "%",
                BinaryOperator::Power => "**",
                BinaryOperator::BitwiseXor | BinaryOperator::BitwiseAnd | BinaryOperator::Bounded => {
                    unreachable!("SLCO has no such operator")
                }
            };
            format!("({} {operator} {})", shown(program, left), shown(program, right))
        }
    }
}

/// How an expression is read, and how many warnings it gives.
fn reading(expression: &str, statement: impl Fn(&str) -> String) -> (String, usize) {
    let text = statements(VARIABLES, &statement(expression));
    let Parsed { program, warnings, .. } = parsed(&text);
    let instruction = &program.threads[0].instructions[0];
    let found = instruction.condition.as_ref().unwrap_or_else(|| &instruction.assignments[0].value);
    (shown(&program, found), warnings.len())
}

#[test]
fn every_model_of_the_corpus_parses() {
    let Some(corpus) = corpus_dir() else { return };
    let mut models = 0;
    for entry in fs::read_dir(corpus.join("slco")).expect("the corpus has SLCO models") {
        let path = entry.expect("a readable directory").path();
        if path.extension().is_none_or(|extension| extension != "slco") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a readable model");
        let name = path.to_string_lossy();
        let Parsed { program, warnings, .. } = lang::parse(&name, &text).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(program.threads.len() >= 2, "{name}");
        assert_eq!(text.matches("initial ").count(), program.threads.len(), "{name}");
        let shown: Vec<String> = warnings.iter().map(|warning| warning.render(&name, &text)).collect();
        assert!(warnings.iter().all(|warning| !warning.message.contains("left to right")), "{}", shown.concat());
        models += 1;
    }
    assert!(models >= 27, "only {models} models");
}

#[test]
fn every_bundled_specification_parses_without_a_warning() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");
    let mut models = 0;
    for entry in fs::read_dir(directory).expect("specifications are bundled") {
        let path = entry.expect("a readable directory").path();
        if path.is_dir() {
            // Those with properties have a test of their own.
            continue;
        }
        let text = fs::read_to_string(&path).expect("a readable model");
        let name = path.to_string_lossy();
        let Parsed { program, warnings, .. } = lang::parse(&name, &text).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(warnings.is_empty() && program.threads.len() >= 2, "{name}: {warnings:?}");
        let comment = match path.extension().and_then(|extension| extension.to_str()) {
            Some("slco") => "//",
            Some("rmm") => "/*",
            _ => "#",
        };
        let expects = text.contains(&format!("\n{comment} Expect: "));
        assert!(text.starts_with(comment) && expects, "{name} says what it is and what to expect");
        models += 1;
    }
    assert!(models >= 23, "only {models} models");
}

#[test]
fn a_model_becomes_a_program() {
    let text = "model demo { // a comment
  classes
    C {
      variables
        Byte x y := 3
        Boolean[2] f := [false, true]
        Boolean up Integer[2] zero
      state machines
        P {
          variables Integer x := -7 Boolean done
          initial A states B C
          transitions
            A -> B { x := y + 1; f[1]; [up and done; y := x; f[x] := false] }
            1: from B to C
            B -> A { fence }
            2: C -> C { atomic [y = 0; y := 1] }
        }
        Q { initial only }
    }
  objects o : C(y := 4, zero := [8, 9]) /* the end */
}";
    let Parsed { program, warnings, .. } = parsed(text);
    assert_eq!(warnings, []);
    assert_eq!(program.name, "demo");
    let shared: Vec<_> =
        program.shared.iter().map(|v| (v.name.as_str(), v.ty, v.is_array, v.initial.as_slice())).collect();
    let expected: [(&str, Type, bool, &[i64]); 5] = [
        ("x", Type::Integer, false, &[0]),
        ("y", Type::Integer, false, &[4]),
        ("f", Type::Boolean, true, &[0, 1]),
        ("up", Type::Boolean, false, &[1]),
        ("zero", Type::Integer, true, &[8, 9]),
    ];
    assert_eq!(shared, expected);
    let [p, q] = program.threads.as_slice() else { panic!("two threads") };
    assert_eq!((p.name.as_str(), q.name.as_str(), q.states.as_slice()), ("P", "Q", ["only".to_owned()].as_slice()));
    assert_eq!(p.locals.iter().map(|v| (v.name.as_str(), v.initial[0])).collect::<Vec<_>>(), [("x", -7), ("done", 1)]);
    assert_eq!(p.states, ["A", "B", "C", "A->B.0", "A->B.1"]);
    let steps: Vec<_> =
        p.instructions.iter().map(|i| (i.name.as_str(), i.from.0, i.to.0, i.priority, i.kind)).collect();
    use InstructionKind::{Atomic, Fence, Plain};
    let expected = [
        ("0", 0, 3, 0, Plain),
        ("1", 3, 4, 0, Plain),
        ("2", 4, 1, 0, Plain),
        ("3", 1, 2, 1, Plain),
        ("3f", 1, 0, 0, Fence),
        ("4", 2, 2, 2, Atomic),
    ];
    assert_eq!(steps, expected);
    let sources: Vec<&str> = p.instructions.iter().map(|i| &text[i.span.start..i.span.end]).collect();
    let expected = [
        "x := y + 1",
        "f[1]",
        "[up and done; y := x; f[x] := false]",
        "1: from B to C",
        "fence",
        "atomic [y = 0; y := 1]",
    ];
    assert_eq!(sources, expected);
    let composite = &p.instructions[2];
    assert_eq!(shown(&program, composite.condition.as_ref().expect("a condition")), "(up and done)");
    let targets: Vec<_> = composite.assignments.iter().map(|a| (a.target.scope, a.target.variable)).collect();
    assert_eq!(targets, [(Scope::Shared, 1), (Scope::Shared, 2)]);
    assert_eq!(p.instructions[0].assignments[0].target.scope, Scope::Local, "a local hides a shared variable");
    assert!(p.instructions[3].condition.is_none() && p.instructions[3].assignments.is_empty());
    assert!(p.instructions[4].condition.is_none() && p.instructions[4].assignments.is_empty());
}

#[test]
fn each_object_has_variables_and_threads_of_its_own() {
    let text =
        "model m { classes C { variables Byte x state machines t { initial a transitions a -> a { x := x + 1 } } }
        D { variables Boolean[1] y state machines u { initial a transitions a -> a { y[0] } } }
        objects c : C(x := 1), d : D(), e : C() }";
    let program = parsed(text).program;
    let shared: Vec<_> = program.shared.iter().map(|v| (v.name.as_str(), v.initial[0])).collect();
    assert_eq!(shared, [("c'x", 1), ("d'y", 1), ("e'x", 0)]);
    let threads: Vec<&str> = program.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(threads, ["c't", "d'u", "e't"]);
    let assignment = &program.threads[2].instructions[0].assignments[0];
    assert_eq!((assignment.target.variable, shown(&program, &assignment.value)), (2, "(e'x + 1)".to_owned()));
    let condition = program.threads[1].instructions[0].condition.as_ref().expect("a condition");
    assert_eq!(shown(&program, condition), "d'y[0]");
}

#[test]
fn operators_bind_as_the_table_says() {
    let cases = [
        ("p or q xor p and x = y + 2 * 3 ** 2", "(p or (q xor (p and (x = (y + (2 * (3 ** 2)))))))"),
        ("x ** 2 * 3 + y < 4 and p xor q || p", "(((((((x ** 2) * 3) + y) < 4) and p) xor q) or p)"),
        ("not p and not (q && p)", "((not p) and (not (q and p)))"),
        ("-x + - 3 = +y", "(((- x) + -3) = y)"),
        ("a[x + a[1]] <> 1", "(a[(x + a[1])] != 1)"),
        ("p = q != p", "((p = q) != p)"),
        ("(((x))) >= -9223372036854775808", "(x >= -9223372036854775808)"),
        ("x + y - 1 > 0 or x * y * 2 <= 1", "((((x + y) - 1) > 0) or (((x * y) * 2) <= 1))"),
    ];
    for (text, expected) in cases {
        let (found, warnings) = reading(text, str::to_owned);
        assert_eq!((found.as_str(), warnings), (expected, 0), "{text}");
    }
}

#[test]
fn a_chain_whose_value_depends_on_the_side_is_read_from_the_left_with_a_warning() {
    let cases = [
        ("x - y - 1", "((x - y) - 1)"),
        ("x - y + 1", "((x - y) + 1)"),
        ("x / y / 2", "((x / y) / 2)"),
        ("x % y * 2", "((x % y) * 2)"),
        ("x * y / 2", "((x * y) / 2)"),
        ("2 ** x ** y", "((2 ** x) ** y)"),
    ];
    for (text, expected) in cases {
        assert_eq!(reading(text, |value| format!("x := {value}")), (expected.to_owned(), 1), "{text}");
    }
    assert_eq!(reading("x < y = p", str::to_owned), ("((x < y) = p)".to_owned(), 1));
    let text = statements(VARIABLES, "x := 1 + (x - y - 1)");
    let shown = parsed(&text).warnings[0].render("test.slco", &text);
    let expected =
        "test.slco:3:11: warning: this is read from left to right; the published tools read it from right to left
    3 | x := 1 + (x - y - 1)
      |           ^^^^^^^^^
      help: parentheses make it the same for both: `(a - b) - c`
";
    assert_eq!(shown, expected);
}

#[test]
fn doubtful_values_are_kept_with_a_warning() {
    let text = statements("Byte x := 256 Byte[2] a", "a[2] := a[-1]");
    let messages: Vec<String> = parsed(&text).warnings.iter().map(|warning| warning.message.clone()).collect();
    let expected = [
        "256 is not between 0 and 255, as a Byte is",
        "`a` has no element 2: its last one is 1",
        "`a` has no element -1: its last one is 1",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn wrong_statements_are_refused_where_they_are_wrong() {
    let cases = [
        ("x := ", "4:1: expected a value, found `}`"),
        ("x := 1 y := 2", "3:8: expected an operator, `;` or `}`, found `y`"),
        ("x == 1", "3:3: expected an operator, `;` or `}`, found `==`"),
        ("p and ! q", "3:7: expected an operand, found `!`"),
        ("(x + 1 = 2", "4:1: expected an operator or `)`, found `}`"),
        ("a[0 := 1", "3:5: expected `]`, found `:=`"),
        ("x + 1 := 2", "3:1: only a variable or an element of an array can be assigned to"),
        ("(x) := 2", "3:1: only a variable or an element of an array can be assigned to"),
        ("[p; x := 1; q]", "3:13: a condition can only stand first between `[` and `]`"),
        ("[]", "3:2: expected a condition or an assignment, found `]`"),
        ("[x := 1", "4:1: expected an operator, `;` or `]`, found `}`"),
        ("atomic x := 1", "3:8: expected `[` behind `atomic`, found `x`"),
        (
            "fence x",
            "3:7: expected `;`, `}` or a kind of fence (`lightweight`, `stores`, `loads`, `control`, `acquire`, `release`, `acq_rel`, or what is ordered before and behind it: `r`, `w` or `rw` twice, with a comma between), found `x`",
        ),
        ("fence stores x", "3:14: expected `;` or `}`, found `x`"),
        ("x := 9223372036854775808", "3:6: 9223372036854775808 does not fit into 64 bits"),
        ("x := -9223372036854775809", "3:6: -9223372036854775809 does not fit into 64 bits"),
        ("x := 1 § 2", "3:8: `§` does not belong here"),
        ("send M(x) to port", "3:1: messages (`send`) are not supported"),
        ("receive M(x | x > 1) from port", "3:1: messages (`receive`) are not supported"),
        ("after 5 ms", "3:1: delays (`after`) are not supported"),
        ("do action", "3:1: actions (`do`) are not supported"),
        ("z := 1", "3:1: there is no variable `z`"),
        ("p and flip", "3:7: there is no variable `flip`"),
        ("x", "3:1: expected a Boolean, found an Integer"),
        ("x and p", "3:1: expected a Boolean, found an Integer"),
        ("p < q", "3:1: expected an Integer, found a Boolean"),
        ("not x = 1", "3:5: expected a Boolean, found an Integer"),
        ("x = p", "3:1: an Integer is compared with a Boolean"),
        ("x := p", "3:6: expected an Integer, found a Boolean"),
        ("p := 1", "3:6: expected a Boolean, found an Integer"),
        ("f[0] := a[0]", "3:9: expected a Boolean, found an Integer"),
        ("a := 1", "3:1: `a` is an array and needs an index"),
        ("x := a + 1", "3:6: `a` is an array and needs an index"),
        ("x[0] := 1", "3:1: `x` is not an array and has no elements"),
        ("a[p] := 1", "3:3: expected an Integer, found a Boolean"),
    ];
    for (text, expected) in cases {
        let found = errors(&statements(VARIABLES, text));
        assert_eq!(found[0], expected, "{text}: {found:#?}");
    }
}

#[test]
fn wrong_declarations_are_refused_where_they_are_wrong() {
    let cases = [
        ("Byte[0] x", "1:38: an array has at least 1 element, not 0"),
        ("Byte[-1] x", "1:38: an array has at least 1 element, not -1"),
        ("Byte[70000] x", "1:38: an array has at most 65536 elements, not 70000"),
        ("Byte[99999999999999999999999] x", "1:38: an array has at most 65536 elements, not 99999999999999999999999"),
        ("Byte[n] x", "1:38: expected the size of the array, found `n`"),
        ("Byte[2] x := [1]", "1:46: `x` has 2 elements, but its initial value has 1"),
        ("Byte[2] x := 1", "1:46: `x` is an array, but its initial value is no list"),
        ("Byte x := [1]", "1:43: `x` is not an array, but its initial value is a list"),
        ("Byte x := true", "1:43: expected an Integer, found a Boolean"),
        ("Boolean x := 0", "1:46: expected a Boolean, found an Integer"),
        ("Byte x := y", "1:43: expected a value: an integer, `true` or `false`, found `y`"),
        ("Byte x := 99999999999999999999", "1:43: 99999999999999999999 does not fit into 64 bits"),
        ("x", "1:33: expected a type, found `x`"),
        ("Byte x int y", "1:40: there is no type `int`"),
        ("Byte x, y", "1:39: expected a variable, found `,`"),
        ("Byte x[2]", "1:39: expected a variable or its initial value, found `[`"),
        ("Byte x y x", "1:42: there are two variables `x`"),
        ("Byte fence", "1:38: expected the name of a variable, found the keyword `fence`"),
    ];
    for (variables, expected) in cases {
        let found = errors(&model(variables, "initial a"));
        assert_eq!(found, [expected], "{variables}");
    }
}

#[test]
fn wrong_machines_are_refused_where_they_are_wrong() {
    let cases = [
        ("states a", "1:55: the state machine `t` has no initial state"),
        ("initial", "3:1: expected the name of the initial state, found `}`"),
        ("initial a initial b", "2:11: `t` has two initial states"),
        ("initial a states b b", "2:20: there are two states `b`"),
        ("initial a states b transitions a -> c", "2:37: there is no state `c`"),
        ("initial a transitions from a -> a", "2:30: expected `to`, found `->`"),
        ("initial a transitions a to a", "2:25: expected `->`, found the keyword `to`"),
        ("initial a transitions 4294967296: a -> a", "2:23: a priority is at most 4294967295"),
        ("initial a transitions -1: a -> a", "2:23: expected a transition or `}`, found `-`"),
        ("initial a variables Byte y y", "2:28: there are two variables `y`"),
        ("initial a final b", "2:11: expected `variables`, `initial`, `states`, `transitions` or `}`, found `final`"),
    ];
    for (body, expected) in cases {
        let found = errors(&model("Byte x", body));
        assert_eq!(found[0], expected, "{body}: {found:#?}");
    }
}

#[test]
fn wrong_models_are_refused_where_they_are_wrong() {
    let cases = [
        ("", "1:1: expected `model`, found the end of the file"),
        ("// nothing", "1:1: expected `model`, found the end of the file"),
        ("des (0,0,1)", "1:1: expected `model`, found `des`"),
        ("model m {", "1:10: expected `classes`, found the end of the file"),
        ("model m { classes C { } }", "1:25: expected a class or `objects`, found `}`"),
        ("model m { classes C { } objects }", "1:33: expected the name of an object, found `}`"),
        ("model m { classes C { } objects o : D() }", "1:37: there is no class `D`"),
        ("model m { classes C { } objects o : C(x := 1) }", "1:39: there is no variable `x`"),
        ("model m { classes C { } C { } objects o : C() }", "1:25: there are two classes `C`"),
        ("model m { classes C { } objects o : C(), o : C() }", "1:42: there are two objects `o`"),
        (
            "model m { classes C { } objects o : C() } x",
            "1:43: expected the end of the file behind the model, found `x`",
        ),
        (
            "model m { classes C { } objects o : C() p : C() }",
            "1:41: expected `,` and another object, or `}`, found `p`",
        ),
        ("model m { classes C { ports P } objects o : C() }", "1:23: channels and ports are not supported"),
        ("model m { classes C { } objects o : C() channels c }", "1:41: channels and ports are not supported"),
        ("model m { actions a classes C { } objects o : C() }", "1:11: actions are not supported"),
        (
            "model m { classes C { states a } objects o : C() }",
            "1:23: expected `variables`, `state machines` or `}`, found the keyword `states`",
        ),
        ("model m { /* classes", "1:11: this comment has no end"),
    ];
    for (text, expected) in cases {
        let found = errors(text);
        assert_eq!(found[0], expected, "{text}: {found:#?}");
    }
    let unknown = lang::parse("model.md", "model").expect_err("no language has such files").to_string();
    assert!(unknown.contains("help: a specification's name ends in `.slco`"), "{unknown}");
}

#[test]
fn a_misspelt_name_is_recognised() {
    let text = model("Byte turn", "initial start states stop transitions start -> stpo { trun := 1 }");
    let shown = parse(&text).expect_err("two names are misspelt").to_string();
    let expected = "test.slco:2:48: error: there is no state `stpo`
    2 | initial start states stop transitions start -> stpo { trun := 1 }
      |                                                ^^^^
      help: did you mean `stop`?
test.slco:2:55: error: there is no variable `trun`
    2 | initial start states stop transitions start -> stpo { trun := 1 }
      |                                                       ^^^^
      help: did you mean `turn`?
test.slco: the language is described in docs/slco.md, and in short in `seqcon help slco`";
    assert_eq!(shown, expected);
}

#[test]
fn several_syntax_errors_are_reported_at_once() {
    let text = "model m { classes C { variables Byte x y := state machines
t { initial a states b transitions
    a -> b { x := ; y = = 1; x := 2 }
    a to b { x := 1 }
    1: a -> { y := 1 }
    a -> b { [x = 1; y := (2; x := 3]; x 1 }
    a -> b { x := 1
    b -> a { x := 2 }
}
u { states b initial }
v { initial a transitions a -> a { x ) } }
} objects o : C() }";
    let expected = [
        "1:45: expected a value: an integer, `true` or `false`, found the keyword `state`",
        "3:19: expected a value, found `;`",
        "3:25: expected an operand, found `=`",
        "4:7: expected `->`, found the keyword `to`",
        "5:13: expected the name of a state, found `{`",
        "6:29: expected an operator or `)`, found `;`",
        "6:42: expected an operator, `;` or `}`, found `1`",
        "8:5: expected an operator, `;` or `}`, found `b`",
        "10:22: expected the name of the initial state, found `}`",
        "11:38: expected an operator, `;` or `}`, found `)`",
    ];
    assert_eq!(errors(text), expected);
}

#[test]
fn several_wrong_names_and_types_are_reported_at_once() {
    let found = errors(&statements(VARIABLES, "z := w + p;\n[x; y := true];\na[v] := u"));
    let expected = [
        "3:1: there is no variable `z`",
        "3:6: there is no variable `w`",
        "4:2: expected a Boolean, found an Integer",
        "4:10: expected an Integer, found a Boolean",
        "5:3: there is no variable `v`",
        "5:9: there is no variable `u`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn deep_nesting_is_refused_without_overflowing_the_stack() {
    const DEEP: usize = 100_000;
    let deep = |open: &str, close: &str| format!("x := {}1{}", open.repeat(DEEP), close.repeat(DEEP));
    let cases = [
        (deep("(", ")"), "3:262: this expression nests deeper than 256 levels"),
        (deep("(", ""), "3:262: this expression nests deeper than 256 levels"),
        (deep("a[", "]"), "3:519: this expression nests deeper than 256 levels"),
        (deep("- ", ""), "3:518: this expression nests deeper than 256 levels"),
        (deep("1 + (", ")"), "3:1290: this expression nests deeper than 256 levels"),
        (deep("", "+1"), "3:6: this expression has more than 1000 levels"),
        (deep("1-", ""), "3:6: this expression has more than 1000 levels"),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(&statements(VARIABLES, &text)), [expected]);
    }
    assert!(errors(&statements(VARIABLES, &"[".repeat(DEEP)))[0].starts_with("3:2: expected a condition"));
    assert!(!errors(&"{".repeat(DEEP)).is_empty());
    // The deepest that is accepted, with an operator of every level at each.
    let levels = format!("x := {}1{}", "x+2*3**(".repeat(250), ")".repeat(250));
    parsed(&statements(VARIABLES, &levels));
    let tall = format!("x := {}1{}", "(".repeat(256), format!("{})", "+1".repeat(256)).repeat(256));
    assert_eq!(errors(&statements(VARIABLES, &tall)).len(), 1);
}
