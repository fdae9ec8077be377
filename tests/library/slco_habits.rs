//! What people write who come from other languages: one error, which says what SLCO has instead.

use seqcon::lang::{self, Diagnostics, Parsed};

fn parse(text: &str) -> Result<Parsed, Diagnostics> {
    lang::parse("test.slco", text)
}

/// A model with a machine whose statements begin at 3:1, and another one behind it.
fn statements(variables: &str, statements: &str) -> String {
    format!(
        "model m {{ classes C {{ variables {variables} state machines t {{\n\
         initial a states b c transitions a -> b {{\n{statements}\n}} b -> c {{ x := 1 }} }}\n\
         u {{ initial a states b transitions a -> b {{ x := 1 }} }} }} objects o : C() }}"
    )
}

#[test]
fn statements_of_other_languages_get_advice() {
    let cases = [
        ("x += 1", "`x += 1` is written `x := x + 1`"),
        ("y := 1; x -= 1", "`x -= 1` is written `x := x - 1`"),
        ("x++", "`x++` is written `x := x + 1`"),
        ("x--; y := 1", "`x--` is written `x := x - 1`"),
        ("if x = 1 { x := 2 }", "a branch is two transitions"),
        ("if (p) { x := 2; y := 1 } else { x := 3 }; y := 2", "a branch is two transitions"),
        ("while p { x := 2 }", "a loop is a transition that leads back"),
        ("x := 1, y := 1", "`[x := 1; y := 1]` is one step"),
        ("Integer z = 1", "variables are declared at the beginning of a class"),
        ("x := 0x10", "`0x10` is written `16`"),
        ("cas(x, 0, 1)", "a compare-and-swap is `atomic [x = 0; x := 1]`"),
        ("p := cas(x, 0, 1)", "a compare-and-swap is `atomic [x = 0; x := 1]`"),
        ("atomic { x := 1; y := 2 }", "`atomic [x = 0; x := 1]`"),
        ("skip", "a step that does nothing is a transition without"),
        ("wait x = 1", "a condition waits until it holds"),
        ("await(x = 1)", "a condition waits until it holds"),
        ("lock(x)", "there are no procedures"),
    ];
    for (statement, advice) in cases {
        let found = parse(&statements("Integer x y Boolean p", statement)).expect_err("this should be refused");
        let [error] = found.errors() else { panic!("{statement}: one error is expected:\n{found}") };
        assert!((3..=4).contains(&found.place(error).line), "{statement}: {found}");
        assert!(error.help.as_ref().is_some_and(|help| help.contains(advice)), "{statement}: {found}");
    }
}

/// Words of other languages are names here.
#[test]
fn words_of_other_languages_can_be_names() {
    let names = "Integer x if wait cas Boolean skip while";
    let text = statements(names, "if := 1; if = 1; wait + 1 = cas; skip; while; while := skip");
    assert!(parse(&text).is_ok(), "{:?}", parse(&text));
}

#[test]
fn declarations_of_other_languages_get_advice() {
    let found = parse(&statements("Integer x = 1 y", "x := 1; y := x")).expect_err("this should be refused");
    assert_eq!(found.errors().len(), 1, "{found}");
    assert!(found.to_string().contains("expected `:=` before an initial value, found `=`"), "{found}");
    let text = "model m { classes C { variables Integer x\nstatemachines\nt { initial a states b transitions a -> b { x := 1 } } }\nobjects o : C() }";
    let found = parse(text).expect_err("this should be refused").to_string();
    assert!(found.starts_with("test.slco:2:1: error: expected `state machines`, found `statemachines`"), "{found}");
    assert_eq!(found.matches("error: ").count(), 1, "{found}");
}
