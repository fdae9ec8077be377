//! What an SLCO model says of its states: `never` behind the objects, and `assert` as a statement.

use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, Stop, explore};
use seqcon::lang::{self, Diagnostics};
use seqcon::program::{Expression, InstructionKind, UnaryOperator};
use seqcon::property::Property;
use seqcon::specification::Specification;

/// Two threads, `body` begins on line 4; the properties on line 6.
fn model(body: &str, properties: &str) -> String {
    format!(
        "model m {{ classes C {{ variables Integer x y Boolean[2] f\nstate machines\nT {{ variables Integer r initial A states B CS transitions\n{body}\n}} U {{ initial A states B transitions A -> B {{ x := 1 }} }} }} objects o : C()\n{properties}\n}}"
    )
}

fn specification(text: &str) -> Specification {
    let (specification, warnings) = Specification::parse("test.slco".to_owned(), text.to_owned())
        .unwrap_or_else(|wrong| panic!("this should be accepted:\n{text}\n{wrong}"));
    assert!(warnings.is_empty(), "{warnings:?}");
    specification
}

fn wrong(text: &str) -> Diagnostics {
    lang::parse("test.slco", text).expect_err("this should be refused")
}

/// The errors, with their places and without the lines that are shown.
fn errors(found: &Diagnostics) -> Vec<String> {
    let shown = |error| format!("{}:{}: ", found.place(error).line, found.place(error).column) + &error.message;
    found.errors().iter().map(shown).collect()
}

fn texts(specification: &Specification) -> Vec<String> {
    specification.properties.iter().map(Property::to_string).collect()
}

/// Whether some state under sequential consistency satisfies what the property says that none does.
fn fails(specification: &Specification, property: &Property) -> bool {
    let Property::Never(condition) = property else { panic!("{property} is about single states") };
    let invariants = [condition.negated()];
    let limits = Limits { invariants: &invariants, ..Limits::default() };
    let (exploration, _) = explore(&specification.compiled, &limits, &mut Nobody).expect("nothing goes wrong");
    exploration.stop == Stop::Violated
}

#[test]
fn a_never_is_a_property_with_its_name_and_text() {
    let properties = "never both: T@B and\n  U@B // a comment\nnever value: T.r = 1 or f[0] and x > 1";
    let found = specification(&model("A -> B { r := x }", properties));
    assert_eq!(texts(&found), ["never both: T@B and U@B", "never value: T.r = 1 or f[0] and x > 1"]);
    assert!(found.properties.iter().all(|property| fails(&found, property)));
    let without = specification(&model("A -> B { r := x }", "never far: T@CS or x = 2"));
    assert!(!fails(&without, &without.properties[0]));
}

#[test]
fn objects_are_named_as_in_other_conditions() {
    let text = "model m { classes C { variables Integer x state machines T { initial A states B transitions
                A -> B { assert x = 0 } } } objects left : C(), right : C(x := 5)
                never dot: left.T@B and left.x = 0 never apostrophe: right'x = 5 and right'T@failed_1 }";
    let found = specification(text);
    let expected = [
        "never dot: left.T@B and left.x = 0",
        "never apostrophe: right'x = 5 and right'T@failed_1",
        "assert x = 0 in left'T, A -> B",
        "assert x = 0 in right'T, A -> B",
    ];
    assert_eq!(texts(&found), expected);
    let failing: Vec<bool> = found.properties.iter().map(|property| fails(&found, property)).collect();
    assert_eq!(failing, [true, true, false, true]);
}

#[test]
fn an_assertion_is_two_instructions_and_a_property() {
    let found =
        specification(&model("A -> B { r := x; assert r = 0 or /* a comment */ y = 0; atomic assert(x = r) }", ""));
    let thread = &found.program.threads[0];
    assert_eq!(thread.states, ["A", "B", "CS", "A->B.0", "A->B.1", "failed_1", "failed_2"]);
    let names: Vec<&str> = thread.instructions.iter().map(|instruction| instruction.name.as_str()).collect();
    assert_eq!(names, ["0", "1", "2", "3", "4"]);
    for (holds, fails, failed) in [(1, 2, 5), (3, 4, 6)] {
        let [holds, fails] = [holds, fails].map(|at: usize| &thread.instructions[at]);
        assert_eq!((holds.from, holds.span, holds.kind), (fails.from, fails.span, fails.kind));
        let condition = holds.condition.clone().expect("an assertion has a condition");
        assert_eq!(fails.condition, Some(Expression::Unary(UnaryOperator::Not, Box::new(condition))));
        assert_eq!(fails.to.index(), failed);
        assert!(thread.instructions.iter().all(|other| other.from != fails.to));
    }
    assert_eq!(thread.instructions[3].kind, InstructionKind::Atomic);
    assert_eq!(texts(&found), ["assert r = 0 or y = 0 in T, A -> B", "assert (x = r) in T, A -> B"]);
    // Nobody writes y; x may change after it was read.
    let failing: Vec<bool> = found.properties.iter().map(|property| fails(&found, property)).collect();
    assert_eq!(failing, [false, true]);
}

#[test]
fn wrong_properties_are_refused_where_they_are_wrong() {
    for (properties, expected) in [
        ("never T@B", "6:7: expected the name of the property"),
        ("never both T@B", "6:12: expected `:` behind `never both`"),
        ("never a.b: T@B", "6:7: expected the name of the property"),
        ("never a: ", "7:1: expected a condition, found `}`"),
        ("never a: x", "6:10: expected a Boolean, found an Integer"),
        ("never a: x = 1, b : C()", "6:15: expected an operator, `never` or `}`, found `,`"),
        ("never a: x = 0 never a: x = 1", "6:22: there are two properties `a`"),
        ("never a: x == 1 never b: never c: T@B", "6:12: expected an operator, `never` or `}`, found `==`"),
        ("never a: T@b", "6:10: there is no control state `T@b`"),
    ] {
        let found = errors(&wrong(&model("A -> B", properties)));
        assert_eq!(found[0], expected, "{properties}");
    }
    for (body, expected) in [
        ("A -> B { assert }", "4:17: expected the condition that must hold, found `}`"),
        ("A -> B { assert x }", "4:17: expected a Boolean, found an Integer"),
        ("A -> B { assert x := 1 }", "4:19: expected `;` or `}`, found `:=`"),
        ("A -> B { atomic assert x = 1 y }", "4:30: expected an operator, `;` or `}`, found `y`"),
        ("A -> B { assert z = 1 }", "4:17: there is no variable `z`"),
        ("A -> B { assert := 1 }", "4:17: expected the condition that must hold, found `:=`"),
    ] {
        assert_eq!(errors(&wrong(&model(body, ""))), [expected], "{body}");
    }
    let clash = model("A -> B { assert x = 1 }", "").replace("states B CS", "states B failed_1");
    assert_eq!(errors(&wrong(&clash)), ["3:44: `failed_1` is where `T` is if an assertion fails"]);
    let fine = model("A -> failed_1 { x = 1 }", "").replace("states B CS", "states B failed_1");
    assert!(specification(&fine).properties.is_empty());
}

#[test]
fn a_name_that_means_nothing_lists_what_there_is() {
    let found = specification(&model("A -> B { r := x; assert r = 0 }", ""));
    for (condition, message, help) in [
        ("V@A", "there is no thread `V`", "the threads are `T`, `U`"),
        ("V.r = 1", "there is no thread `V`", "the threads are `T`, `U`"),
        ("T@XX", "there is no control state `T@XX`", "the control states of `T` are `A`, `B`, `CS`, `failed_1`"),
        ("T@CR", "there is no control state `T@CR`", "did you mean `T@CS`? The control states of `T` are `A`,"),
        ("T.q = 1", "there is no variable `T.q`", "the variables of `T` are `r`"),
        ("U.q = 1", "there is no variable `U.q`", "there are no variables of `U`"),
        ("z = 1", "there is no variable `z`", "the shared variables are `x`, `y`, `f`"),
        ("r = 1", "there is no variable `r`", "a variable of a thread or an object is written with its owner: `T.r`"),
        ("T", "there is no variable `T`", "`T` is a thread: write `T@STATE` or `T.VARIABLE`"),
    ] {
        let wrong = found.never("--never", condition).expect_err("this should be refused").to_string();
        assert!(wrong.contains(&format!("--never:1:1: error: {message}\n")), "{condition}: {wrong}");
        assert!(wrong.contains(&format!("help: {help}")), "{condition}: {wrong}");
    }
    let many: String = (0..12).map(|number| format!(" v{number}x{number}")).collect();
    let text = model("A -> B", "never a: nothing = 1")
        .replace("Integer x y", &format!("Integer{many}"))
        .replace("x := 1", "v0x0 := 1");
    let shown = wrong(&text).to_string();
    assert!(shown.contains("the shared variables are `v0x0`, `v1x1`,") && shown.contains("`v7x7`, …"), "{shown}");
}
