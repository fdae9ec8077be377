//! An array and its elements, and elements with symbolic indices: names that may mean the same memory.

use crate::support::analyse::{Told, facts_of_text, tell};
use seqcon::aeg::Profile;
use seqcon::cycles::Atomicity;
use seqcon::facts::extract::Options;
use seqcon::lts::dialect::Dialect;
use seqcon::lts::dialect::generic::Description;

/// All interleavings of two threads of two steps each.
fn interleaved(steps: [[&str; 2]; 2]) -> String {
    let mut lines = Vec::new();
    for first in 0..3 {
        for second in 0..3 {
            let state = first * 3 + second;
            if first < 2 {
                lines.push(format!("({state},\"{}\",{})\n", steps[0][first], state + 3));
            }
            if second < 2 {
                lines.push(format!("({state},\"{}\",{})\n", steps[1][second], state + 1));
            }
        }
    }
    format!("des (0,{},9)\n{}", lines.len(), lines.concat())
}

/// Store buffering over y, and over what one thread writes as `written` and the other one reads as `read`.
fn store_buffering(written: &str, read: &str) -> Told {
    let first = [format!("T0.0: {written} :="), "T0.1: ~r := y".to_owned()];
    let second = ["T1.0: y :=".to_owned(), format!("T1.1: ~r := {read}")];
    let text = interleaved([[&first[0], &first[1]], [&second[0], &second[1]]]);
    tell(facts_of_text(&text), Profile::Sound, "tso", Atomicity::Split)
}

fn said(told: &Told) -> Vec<&str> {
    told.analysis.caveats.iter().map(|caveat| caveat.sentence.as_str()).collect()
}

#[test]
fn an_array_and_its_elements_are_one_location() {
    for (written, read) in
        [("v[0]", "v"), ("v", "v[0]"), ("v[i]", "v[0]"), ("v[0]", "v[i+1]"), ("v[0][1]", "v[0]"), ("v[x]@(x)", "v[1]")]
    {
        let told = store_buffering(written, read);
        assert_eq!(told.outcome.fences.len(), 2, "{written} and {read}");
        assert_eq!(told.delays(), ["T0.0 W v -> T0.1 R y", "T1.0 W y -> T1.1 R v"], "{written} and {read}");
        assert_eq!(said(&told).len(), 1, "{:?}", said(&told));
    }
    assert_eq!(
        said(&store_buffering("v[i]", "v[0]")),
        [
            "v[0] and v[i] are taken to be one location, as they may overlap; indices that are numbers tell elements apart"
        ]
    );
}

#[test]
fn elements_with_numbers_are_told_apart() {
    let told = store_buffering("v[0]", "v[1]");
    assert_eq!((told.outcome.fences.len(), said(&told)), (0, Vec::new()));
    assert_eq!(store_buffering("v[1]", "v[1]").delays(), ["T0.0 W v[1] -> T0.1 R y", "T1.0 W y -> T1.1 R v[1]"]);
    assert_eq!(store_buffering("v", "v").delays(), ["T0.0 W v -> T0.1 R y", "T1.0 W y -> T1.1 R v"]);
    assert_eq!(store_buffering("v[1]", "vv").outcome.fences.len(), 0);
}

#[test]
fn one_name_can_be_two_elements() {
    // Store buffering within one array: i and j are two elements, though nobody says so. On one location this would
    // be in order.
    for index in ["j", "i"] {
        let (first, second) =
            (["T0.0: v[i] :=".to_owned(), format!("T0.1: ~r := v[{index}]")], ["T1.0: v[j] :=", "T1.1: ~r := v[i]"]);
        let text = interleaved([[&first[0], &first[1]], second]);
        let told = tell(facts_of_text(&text), Profile::Sound, "tso", Atomicity::Split);
        assert_eq!(told.outcome.fences.len(), 2, "{:?}", told.delays());
    }
    let text = interleaved([["T0.0: v[1] :=", "T0.1: ~r := v[1]"], ["T1.0: v[1] :=", "T1.1: ~r := v[1]"]]);
    assert_eq!(tell(facts_of_text(&text), Profile::Sound, "tso", Atomicity::Split).outcome.fences.len(), 0);
}

#[test]
fn nothing_depends_on_an_element_of_a_local_array_that_is_not_known() {
    // Load buffering on ARMv8 is in order if the written values depend on what was read; ~a[0] holds that, ~a[i] may
    // be something else.
    let fences = |written: &str, used: &str| {
        let first = [format!("T0.0: ~{written} := x"), format!("T0.1: y := ~{used}")];
        let second = [format!("T1.0: ~{written} := y"), format!("T1.1: x := ~{used}")];
        let text = interleaved([[&first[0], &first[1]], [&second[0], &second[1]]]);
        tell(facts_of_text(&text), Profile::Sound, "armv8", Atomicity::Split).outcome.fences.len()
    };
    assert_eq!([fences("a[0]", "a[0]"), fences("a", "a")], [0, 0]);
    assert_eq!([fences("a[0]", "a[i]"), fences("a[i]", "a[i]"), fences("a", "a[0]")], [2, 2, 2]);
}

#[test]
fn names_overlap_in_every_dialect() {
    let rw = |thread: &str, instr: &str, access: &str| format!("rw(o, {thread}, {instr}, [A'({access})])");
    let steps = [
        [rw("p", "0", "[], [lc'(var_o'v(0))]"), rw("p", "1", "[lc'(var_o'y)], [lc'(var_o'p'r)]")],
        [rw("q", "0", "[], [lc'(var_o'y)]"), rw("q", "1", "[lc'(var_o'v)], [lc'(var_o'q'r)]")],
    ];
    let text = interleaved([[&steps[0][0], &steps[0][1]], [&steps[1][0], &steps[1][1]]]);
    let told = tell(facts_of_text(&text), Profile::Sound, "tso", Atomicity::Split);
    assert_eq!(told.outcome.fences.len(), 2);
    assert!(said(&told)[0].starts_with("v and v[0] are taken to be one location"), "{:?}", said(&told));

    let label = r"^(?<thread>\w)(?<instr>\d) (?:w (?<writes>\S+))?(?:r (?<reads>\S+))?$";
    let description = Description::from_toml(&format!("label = '{label}'")).expect("a description");
    let options = Options { dialect: Some(Dialect::Generic(description)), ..Options::default() };
    let text = interleaved([["p0 w v[i]", "p1 r y"], ["q0 w y", "q1 r v[0]"]]);
    let facts = crate::support::facts_of(text, &options).expect("it is well formed").facts;
    let told = tell(facts, Profile::Sound, "tso", Atomicity::Split);
    assert_eq!(told.outcome.fences.len(), 2);
    assert!(said(&told).iter().any(|said| said.starts_with("v[0] and v[i] are taken")), "{:?}", said(&told));
}
