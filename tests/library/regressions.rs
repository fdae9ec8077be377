//! The smallest examples of mistakes that the property tests once found.

use crate::support::analyse::{bundled_facts, facts_of, model, tell};
use crate::support::mini::{Program, Thread, local, set, shared};
use seqcon::aeg::{AbstractEventGraph, Profile};
use seqcon::analysis::{Analysis, Options};
use seqcon::confirm::Limits;
use seqcon::cycles::{Atomicity, ConflictRule};
use seqcon::facts::{Facts, Follows};
use seqcon::ids::LabelId;
use seqcon::lts::dialect::native;
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::safety::{Synchronisation, UnsafePairs};
use seqcon::weak::verify::Verdict;

/// Labels, and which follows which, by position.
fn facts(labels: &[&str], follows: &[(usize, usize)]) -> Facts {
    let parsed: Vec<_> = labels.iter().map(|text| native::parse(text).expect("labels are native")).collect();
    let (from, to) = (|pair: &(usize, usize)| LabelId::new(pair.0), |pair: &(usize, usize)| LabelId::new(pair.1));
    let follows = follows.iter().map(|pair| Follows { from: from(pair), to: to(pair), newly: true });
    Facts::canonical(&parsed, follows, [], (1, 1))
}

/// `0 R x -> 1 W y` for every unsafe pair of labels that follow one after the other.
fn unsafe_pairs(labels: &[&str], memory_model: &str) -> Vec<String> {
    let follows: Vec<(usize, usize)> = (1..labels.len()).map(|next| (next - 1, next)).collect();
    let graph = AbstractEventGraph::build(&facts(labels, &follows), Profile::Sound);
    let pairs = UnsafePairs::new(&graph, model(memory_model), &Synchronisation::none());
    let name = |id| {
        let vertex = graph.vertex(id);
        let location = &graph.locations[vertex.location.index()];
        format!("{} {} {location}", graph.names_of(vertex.instr).1, vertex.kind)
    };
    let all = graph.vertex_ids().flat_map(|a| graph.vertex_ids().map(move |b| (a, b)));
    all.filter(|&(a, b)| pairs.contains(a, b)).map(|(a, b)| format!("{} -> {}", name(a), name(b))).collect()
}

#[test]
fn write_that_is_mentioned_again_stays_behind_the_read_that_it_needs() {
    assert!(unsafe_pairs(&["T0.0: x :=; x := y"], "sc").is_empty());
}

#[test]
fn what_an_address_in_a_condition_needs_is_used_in_the_condition() {
    // A condition on v[i] is a condition on i: the write must not be executed before i is known. (Alpha keeps no
    // address dependencies between reads, so that the order follows from the condition alone.)
    let kept = "0 R i -> 1 W y".to_owned();
    assert!(!unsafe_pairs(&["T0.0: ? v[0]@(i)", "T0.1: y :="], "alpha").contains(&kept));
}

#[test]
fn element_that_is_also_read_by_a_constant_index_has_no_address_dependency() {
    // `v[i] + v[0]` where i is 0: one of the two reads does not wait for i, whichever is mentioned first.
    let overtakes = "0 R i -> 1 R v[0]".to_owned();
    for second in ["T0.1: ~s := v[0]@(~i), v[0]", "T0.1: ~s := v[0], v[0]@(~i)"] {
        assert!(unsafe_pairs(&["T0.0: ~i := i", second], "armv7").contains(&overtakes), "{second}");
    }
}

#[test]
fn instruction_is_torn_by_an_atomic_one() {
    // The reader can see x before and y after the atomic writes of both.
    let writer = Thread::default().then(set(shared("x"), 1).and_set(shared("y"), 1).atomic());
    let reader = Thread::default().then(set(local("r0"), shared("x")).and_set(local("r1"), shared("y")));
    let facts = facts_of(&Program::new(vec![writer, reader]));
    assert_eq!(tell(facts, Profile::Sound, "sc", Atomicity::Full).torn(), ["T1.0"]);
}

#[test]
fn fence_inside_an_instruction_does_nothing_where_the_instruction_has_no_such_place() {
    // T0.1 is `v[i] := v[j]`. With j out of range it makes no read, and there is no place between read and write: a
    // fence there, which is needed for the other case, does not stand between x and y.
    let labels = [
        "T0.0: x :=",
        "T0.1: v[1] := v[2]",
        "T0.1: v[4] :=",
        "T0.2: ~r := y",
        "T1.0: y :=",
        "T1.1: ~r := x",
        "T2.0: ~r := v[1]",
        "T2.1: v[2] :=",
    ];
    let facts = facts(&labels, &[(0, 1), (0, 2), (1, 3), (2, 3), (4, 5), (6, 7)]);
    let options = Options { conflicts: ConflictRule::Reachable, ..Options::default() };
    let outcome = Analysis::new(facts, Profile::Sound).run(model("power"), &options);
    assert!(outcome.recheck.enough, "{:?}", outcome.placement);
}

#[test]
fn program_order_goes_through_a_wait_that_is_never_over_at_once() {
    // T0: x := 1; await f; r := y. T1: await x; f := 1. T2: y := 1; r := x. In no state does `await f` succeed right
    // after `x := 1`, and still it comes after it: T0 and T2 are store buffering.
    let told = tell(bundled_facts("handshake"), Profile::Sound, "tso", Atomicity::Split);
    assert_eq!(told.delays(), ["T0.0 W x -> T0.2 R y", "T2.0 W y -> T2.1 R x"]);
}

#[test]
fn program_order_goes_through_a_wait_without_a_label() {
    // The same program from a tool that shows no refused conditions: while T0 waits it has nothing enabled.
    let text = include_str!("../../lts/handshake.aut");
    let (header, lines) = text.split_once('\n').expect("the file has a header");
    let kept: Vec<&str> = lines.lines().filter(|line| !line.contains("?!")).collect();
    let states = header.rsplit_once(',').expect("the header has counts").1;
    let silent = format!("des (0,{},{states}\n{}\n", kept.len(), kept.join("\n"));
    let extraction = crate::support::facts_of(silent, &Default::default()).expect("the state space is well formed");
    let told = tell(extraction.facts, Profile::Sound, "tso", Atomicity::Split);
    let said = &told.analysis.caveats;
    assert!(said[0].sentence.contains("does not show where the condition of T0.1 and T1.0 is refused"), "{said:?}");
    // Where T0 and T1 have ended they may as well wait for f and x again, without end: so T1 may read x after `f :=
    // 1`, and T0 f after `x := 1`.
    let presumed = ["T0.0 W x -> T0.1 R f", "T1.1 W f -> T1.0 R x"];
    let shown = ["T0.0 W x -> T0.2 R y", "T2.0 W y -> T2.1 R x"];
    assert_eq!(told.delays(), [presumed[0], shown[0], presumed[1], shown[1]]);
}

#[test]
fn branches_do_not_multiply_the_search_under_tso() {
    // Sixteen diamonds, each writing one of two locations: 65,536 sets of writes, between which TSO makes no
    // difference. Without knowing that, this test does not end.
    let mut labels = vec!["T0.0: a :=".to_owned()];
    let mut follows = Vec::new();
    let mut last = vec![0];
    for diamond in 0..16 {
        let branches = [labels.len(), labels.len() + 1];
        labels.extend(["l", "r"].map(|side| format!("T0.{}{side}: {side}{diamond} :=", diamond + 1)));
        follows.extend(last.iter().flat_map(|&from| branches.map(|to| (from, to))));
        last = branches.to_vec();
    }
    follows.extend(last.iter().map(|&from| (from, labels.len())));
    labels.extend(["T0.99: ~s := b", "T1.0: b :=", "T1.1: ~s := a"].map(str::to_owned));
    follows.push((labels.len() - 2, labels.len() - 1));
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let options = Options { conflicts: ConflictRule::Reachable, ..Options::default() };
    let outcome = Analysis::new(facts(&labels, &follows), Profile::Sound).run(model("tso"), &options);
    assert_eq!((outcome.num_of_delays(), outcome.fences.len()), (2, 2));
}

#[test]
fn an_instruction_goes_on_after_its_condition_has_changed() {
    // T0: [y = 0; x := 1]; r := z. T1: y := 1; fence; z := 1; fence; s := x. Where T1 reads x, y is 1: no state
    // enables that read together with T0's write of x. But T0 may have seen y = 0 before and write x after it: T0.0
    // is torn, and even if it is not, its write can be overtaken by the read of z.
    let text = "model go { classes G { variables Integer x Integer y Integer z state machines
        T0 { variables Integer r initial A states B C transitions A -> B { [y = 0; x := 1] } B -> C { r := z } }
        T1 { variables Integer s initial A states B C D
             transitions A -> B { y := 1; fence } B -> C { z := 1; fence } C -> D { s := x } } } objects g : G() }";
    let analysis = crate::support::trust::analysis(&crate::support::trust::program(text), Profile::Sound);
    let outcome = |atomicity| crate::support::trust::outcome(&analysis, "tso", atomicity);
    assert_eq!((outcome(Atomicity::Split).fences.len(), outcome(Atomicity::Split).locks.len()), (1, 0));
    assert_eq!((outcome(Atomicity::Full).fences.len(), outcome(Atomicity::Full).locks.len()), (0, 1));
}

#[test]
fn an_update_whose_condition_holds_only_if_it_is_torn_is_an_update() {
    // T1.1 needs y = 0 and that T1.0 cannot be taken, which is y <> 0: as a whole it never happens, read by read it
    // may, and then it writes x.
    let text = "model torn { classes G { variables Integer x Integer y state machines
        T0 { initial A states B C transitions A -> B { x := 1 } B -> C { y := 1 } }
        T1 { initial A states B transitions A -> A { y = 0 } 1: A -> B { [y = 0; x := 2] } } } objects g : G() }";
    let program = crate::support::trust::program(text);
    let limits = Limits { states: 10_000, buffer: 4 };
    let analysis = crate::support::trust::analysis_for(&program, Atomicity::Updates, limits);
    let outcome = crate::support::trust::outcome(&analysis, "pso", Atomicity::Updates);
    let torn: Vec<&str> = outcome.findings.torn.iter().map(|torn| analysis.graph.names_of(torn.instr).1).collect();
    assert!(!analysis.cut_off && torn == ["1"], "{torn:?}");
    for property in [&Property::Robust, &Property::SameStates] {
        let judge = |repair: &Repair| {
            crate::support::trust::judge(&program, repair, "pso", Atomicity::Updates, property, limits)
        };
        assert!(matches!(judge(&Repair::of(&outcome)), Verdict::Verified(_)), "{property:?}");
        assert!(matches!(judge(&Repair::default()), Verdict::Violated(_)), "{property:?}");
    }
}

#[test]
fn an_index_out_of_range_is_still_read() {
    // Store buffering, where T0 reads y only to compute an index that is never in range.
    let text = "model out { classes G { variables Integer x Integer y Integer[2] a state machines
        T0 { variables Integer r initial A states B C transitions A -> B { x := 1 } B -> C { r := a[y + 2] } }
        T1 { variables Integer s initial A states B C transitions A -> B { y := 1 } B -> C { s := x } } } objects g : G() }";
    let analysis = crate::support::trust::analysis(&crate::support::trust::program(text), Profile::Sound);
    assert_eq!(crate::support::trust::outcome(&analysis, "tso", Atomicity::Split).fences.len(), 2);
}
