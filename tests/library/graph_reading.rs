//! State spaces as graphs in DOT: as tools write them, what the language allows, and what is refused.

use crate::support::random::random_cases;
use rand::Rng;
use rand::seq::SliceRandom;
use seqcon::facts::extract::{Extraction, NoProgress, Options};
use seqcon::facts::{self, Facts};
use seqcon::lts::dialect::Dialect;
use seqcon::lts::dialect::generic::Description;
use seqcon::lts::error::Error;
use seqcon::lts::source::Bytes;
use std::fmt::Write as _;

fn read_with(text: &str, options: &Options) -> Result<Extraction, Error> {
    facts::read(&[Bytes::from_bytes("test", text.as_bytes().to_vec())?], options, &NoProgress)
}

fn read(text: &str) -> Extraction {
    read_with(text, &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn message(text: &str) -> String {
    match read_with(text, &Options::default()) {
        Ok(extraction) => panic!("this should be refused, but gave {extraction:?}"),
        Err(error) => error.to_string(),
    }
}

fn counts(facts: &Facts) -> (u64, u64) {
    (facts.states, facts.transitions)
}

/// Written after TLC's DotStateWriter (version 1.8): TLC itself is in no registry that tests can reach.
const TLC: &str = r#"strict digraph DiskGraph {
edge [colorscheme="paired12"]
node [shape=box,style=rounded]
nodesep=0.35;
subgraph cluster_graph {
color="white";
-7618329811352184 [label="/\\ x = 0\n/\\ pc = \"a\"",style = filled]
-7618329811352184 -> 301284 [label="T0.0: x :=",color="2",fontcolor="2"];
301284 [label="/\\ x = 1",tooltip="/\\ x = 1"];
-7618329811352184 -> 301285 [label="T1.0: y :=",color="3",fontcolor="3"];
301285 [label="/\\ x = 1",tooltip="/\\ x = 1"];
301284 -> -44 [label="T1.0: y :=",color="3",fontcolor="3"];
-44 [label="/\\ x = 1",tooltip="/\\ x = 1"];
301285 -> -44 [label="T0.0: x :=",color="2",fontcolor="2"];
301285 -> -44 [label="T0.0: x :=",color="2",fontcolor="2"];
-44 -> -44 [style="dashed",color="lightgray"];
{rank = same; -7618329811352184;}
{rank = same; 301284;301285;}
{rank = same; -44;}
}
subgraph cluster_legend {graph[style=bold];label = "Next State Actions" style="solid"
node [ labeljust="l",colorscheme="paired12",style=filled,shape=record ]
Write [label="Write",fillcolor=2]
}}"#;

/// The same state space as `.aut`; the step that TLC wrote twice is there once.
const SQUARE: &str =
    "des (0,4,4)\n(0,\"T0.0: x :=\",1)\n(0,\"T1.0: y :=\",2)\n(1,\"T1.0: y :=\",3)\n(2,\"T0.0: x :=\",3)\n";

#[test]
fn reads_what_tlc_writes() {
    let found = read(TLC);
    assert_eq!(found.warnings, [] as [String; 0]);
    assert_eq!(counts(&found.facts), (4, 5));
    let expected = read(SQUARE).facts;
    assert_eq!(Facts { transitions: 4, ..found.facts }, expected);
}

#[test]
fn reads_what_umaudemc_tla_checker_and_mcrl2_write() {
    let umaudemc = "digraph {\n\t0 [label=\"< 0 >\"];\n\t0 -> 1 [label=\"T0.0: x :=\"];\n\t1 [label=\"< 1 >\"];\n\t1 -> 3 [label=\"T1.0: y :=\"];\n\t3 [label=\"< 3 >\"];\n\t0 -> 2 [label=\"T1.0: y :=\"];\n\t2 [label=\"< 2 >\"];\n\t2 -> 3 [label=\"T0.0: x :=\"];\n}\n";
    let checker = "digraph StateGraph {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n  s0 [label=\"pc=(0 :> \\\"ncs\\\")\"];\n  s1 [label=\"x\", color=red, penwidth=2, style=filled, fillcolor=\"#ffcccc\"];\n  s2 [label=\"\"];\n  s3 [label=\"\"];\n  s0 -> s1 [label=\"T0.0: x :=\", color=red, penwidth=2];\n  s0 -> s2 [label=\"T1.0: y :=\"];\n  s1 -> s3 [label=\"T1.0: y :=\"];\n  s2 -> s3 [label=\"T0.0: x :=\"];\n}\n";
    let mcrl2 = "digraph G {\ncenter = TRUE;\nmclimit = 10.0;\nnodesep = 0.05;\nnode [ width=0.25, height=0.25, label=\"\" ];\nS1 [ peripheries=2 ];\nS0\nS1\nS2\nS3\nS2->S0[label=\"T0.0: x :=\"];\nS1->S3[label=\"T0.0: x :=\"];\nS1->S2[label=\"T1.0: y :=\"];\nS3->S0[label=\"T1.0: y :=\"];\n}\n";
    let expected = read(SQUARE).facts;
    for text in [umaudemc, checker, mcrl2] {
        let found = read(text);
        assert_eq!(found.facts, expected, "{text}");
        assert_eq!(found.part, None, "the wrong state is taken for the initial one:\n{text}");
        assert!(found.warnings.iter().any(|warning| warning.contains("no two edges from one state")), "{text}");
    }
}

#[test]
fn reads_what_the_language_allows() {
    let text = "# a line of the preprocessor\n/* digraph { */ StRiCt // and\nDIGRAPH \"a graph\" { graph [label=x]; rankdir=LR node [style=filled,bold] \
        a:port:n -> \"b c\" -> é:s [bold; label = \"T0.0:\\\n x :=\" color=red,][weight=2] subgraph { a; subgraph s { 7.5 } } \
        é -> é\n\"b c\" -> a [label=\"T1.0: v[\\\"] :=\nz\"]; }";
    let found = read(text).facts;
    assert_eq!(counts(&found), (3, 3));
    let labels: Vec<String> = found.labels.iter().map(ToString::to_string).collect();
    assert_eq!(labels, ["T0.0: x :=", "T1.0: v[\"] := z"]);
}

#[test]
fn what_is_no_state_space_is_refused_where_it_stands() {
    let cases = [
        ("graph { a -- b }", "test:1:1: expected `digraph`"),
        ("digraph { a -- b }", "test:1:13: expected `->`"),
        (
            "digraph { a -> b }",
            "test:1:11: expected an edge with a label, which tells the instruction, found one without; TLC writes labels with -dump dot,actionlabels",
        ),
        ("digraph {\n a -> b [label=\"\"] }", "test:2:2: expected an edge with a label"),
        ("digraph { a -> {b c} [label=x] }", "test:1:16: expected the node to which the edge leads"),
        ("digraph { {a b} -> c [label=x] }", "test:1:17: expected no edge from a subgraph"),
        ("digraph { edge [label=x] a -> b }", "test:1:23: expected no default label"),
        ("digraph { a -> b [label=<x>] }", "test:1:25: expected a text that is not HTML"),
        ("digraph { a -> b [label=\"x] }", "test:1:25: expected a string with its closing quotation mark"),
        ("digraph { a /* b }", "test:1:13: expected a comment with its end"),
        (
            "digraph { a -> b [label=x]\n",
            "test:2:1: expected a node, an edge, or `}`, found the end of the file; the file may be cut off",
        ),
        ("digraph { a -> b [label=x] } }", "test:1:30: expected the end of the file after the graph"),
        ("digraph { a ? b }", "test:1:13: expected a name, a string"),
        ("digraph G H { }", "test:1:11: expected `{`"),
        ("digraph { a -> b [label=\"x\"; ,=] }", "test:1:31: expected an attribute"),
        // Labels are read later, but their places are those of the graph.
        (
            "digraph {\n  a -> b [color=red,label=\"T0.0: x :=\"]; b -> c [label=\"T0.1 x\"] }",
            "test:2:61: expected an instruction name",
        ),
        ("digraph { a -> b [label=\"T0.0: x :=\"]; b -> c [label=huh] }", "test:1:54: expected `thread.instruction`"),
        (
            "digraph { a -> b [label=\"T0.0: x :=\"]; a -> b [label=\"T0.0: x :=\"] }",
            "test:1:55: expected every edge once, found the same edge with the same label again",
        ),
    ];
    for (text, expected) in cases {
        let message = message(text);
        assert!(message.starts_with(expected), "{text}\n{message}");
    }
    assert!(message(&format!("digraph {{ {}", "{".repeat(100_000))).contains("expected a node, an edge, or `}`"));
}

#[test]
fn a_lost_label_leaves_no_complete_answer() {
    let text = "digraph { a -> b [label=\"T0.0: x :=\"]; a -> b [label=\"T0.0: x :=\"] }";
    let found = read_with(text, &Options { lenient: true, ..Options::default() }).expect("lenient takes it");
    assert!(found.facts.cut_off && found.warnings[0].contains("another label is probably lost"), "{found:?}");
    // In a strict graph an edge twice is the same edge.
    let found = read(&text.replace("digraph", "strict digraph"));
    assert!(!found.facts.cut_off && found.warnings.is_empty(), "{found:?}");
}

/// A second initial state must not look like a part that is missing, nor change what follows what.
#[test]
fn several_initial_states_have_the_facts_of_all() {
    let one = |start: &str| {
        format!(
            "strict digraph {{ {start} [style=filled] {start} -> m [label=\"T0.0: x :=\"] m -> m2 [label=\"T1.0: x :=\"] }}"
        )
    };
    let both = "strict digraph { a [style=filled] b [style=filled] a -> m [label=\"T0.0: x :=\"] b -> m [label=\"T0.0: x :=\"] m -> m2 [label=\"T1.0: x :=\"] }";
    let found = read(both);
    assert_eq!((found.part, counts(&found.facts)), (None, (5, 5)));
    let merged = Facts::merge(&[read(&one("a")).facts, read(&one("b")).facts]);
    let tables =
        |facts: &Facts| (facts.labels.clone(), facts.follows.clone(), facts.concurrent.clone(), facts.waits.clone());
    assert_eq!(tables(&found.facts), tables(&merged));
    let without_internal = Options { tau: Vec::new(), ..Options::default() };
    let error = read_with(both, &without_internal).expect_err("there is no name for the internal steps").to_string();
    assert!(error.contains("expected one initial state, found 2 of them"), "{error}");
    // Not marked, the second one is not reached.
    let unmarked = read(&both.replace("[style=filled]", ""));
    assert!(unmarked.part.is_some_and(|part| part.contains("nothing leads from the initial state")));
}

/// Random state spaces, written as `.aut` and as a graph whose nodes have random names in a random order.
#[test]
fn a_graph_has_the_facts_of_its_aut_whatever_its_nodes_are_called() {
    random_cases(200, |rng| {
        let states = rng.random_range(1..12_usize);
        let mut edges: Vec<(usize, String, usize)> =
            (1..states).map(|to| (rng.random_range(0..to), String::new(), to)).collect();
        edges.extend(
            (0..rng.random_range(0..20))
                .map(|_| (rng.random_range(0..states), String::new(), rng.random_range(0..states))),
        );
        for edge in &mut edges {
            let (thread, instr) = (rng.random_range(0..3), rng.random_range(0..4));
            edge.1 = format!("T{thread}.{instr}: {} :=", if instr % 2 == 0 { "x" } else { "y" });
        }
        edges.sort();
        edges.dedup();
        let mut aut = format!("des (0,{},{states})\n", edges.len());
        for (from, label, to) in &edges {
            writeln!(aut, "({from},\"{label}\",{to})").unwrap();
        }
        let mut names: Vec<String> = (0..states).map(|state| format!("\"n {state}\"")).collect();
        names.shuffle(rng);
        edges.shuffle(rng);
        let mut graph = format!("digraph G {{\n{} [peripheries=2]\n", names[0]);
        for (from, label, to) in &edges {
            writeln!(
                graph,
                "  {} -> {} [label=\"{label}\"{}",
                names[*from],
                names[*to],
                ["];", "]", ", color=red]"][rng.random_range(0..3)]
            )
            .unwrap();
        }
        graph.push_str("}\n");
        assert_eq!(read(&graph).facts, read(&aut).facts, "{graph}");
    });
}

#[test]
fn rules_make_labels_of_actions() {
    let rules = r#"
        [[rule]]
        match = 'enter\((\d)\)'
        label = 'P$1.2: ~r := wants[$1]'

        [[rule]]
        match = '(?<who>\w+): (?<what>read|write) (?<where>\w+)(?<more>!)?'
        label = '${who}.$what: $where := $$more$more'
        "#;
    let description = Description::from_toml(rules).expect("these are rules");
    let label = description.parse("enter(1)").expect("the first rule matches");
    assert_eq!(label.to_string(), "P1.2: ~r := wants[1]");
    // `$$` is a dollar sign, and a group that took no part is nothing.
    assert_eq!(description.parse("T: read x").unwrap().to_string(), "T.read: x := $more");
    // All of the label must match.
    for text in ["reenter(1)", "enter(1) again", "enter(12)"] {
        let expected = description.parse(text).expect_err(text).expected;
        assert_eq!(
            expected, "a label that one of the 2 rules of the dialect file (lines 3, 7) matches as a whole",
            "{text}"
        );
    }
    assert_eq!(Dialect::Generic(description).name(), "generic");
    let first = Description::from_toml(
        "[[rule]]\nmatch = 'a.*'\nlabel = 'T.1: x :='\n[[rule]]\nmatch = 'ab'\nlabel = 'T.2: x :='",
    )
    .unwrap();
    assert_eq!(first.parse("ab").unwrap().to_string(), "T.1: x :=", "the first rule that matches is taken");
    let both = Description::from_toml(
        "label = '^(?<thread>\\w)(?<instr>\\d)(?<reads>.)$'\n[[rule]]\nmatch = 'tick'\nlabel = 'T.9:'",
    )
    .unwrap();
    assert_eq!(both.parse("tick").unwrap().to_string(), "T.9");
    assert_eq!(both.parse("A1x").unwrap().to_string(), "A.1: ? x");
    assert!(
        both.parse("tock")
            .expect_err("nothing matches")
            .expected
            .ends_with(", or a label that the rule in line 3 of the dialect file matches as a whole")
    );
}

#[test]
fn a_wrong_rule_is_explained() {
    let made =
        Description::from_toml("[[rule]]\nmatch = 'enter(\\d)'\nlabel = 'P$1.2: r = wants[$1]'").expect("a rule");
    let error = made.parse("enter1").expect_err("it makes no label");
    assert_eq!(
        error.expected,
        "a label that its rule can make a label of: the rule in line 2 of the dialect file makes `P1.2: r = wants[1]` of it, which is none: `:=` was expected there instead of `= wants[1]`"
    );
    let cut = Description::from_toml("[[rule]]\nmatch = 'x'\nlabel = 'P1.2: ? x[1'").expect("a rule");
    assert!(cut.parse("x").expect_err("it makes no label").expected.contains("instead of `[1`"));
    let cases = [
        ("\n\n[[rule]]\nmatch = '('\nlabel = ''", "line 4: `match` of the rule is not a regular expression"),
        ("[[rule]]\nmatch = ')|('\nlabel = ''", "line 2: `match` of the rule is not a regular expression"),
        ("[[rule]]\nmatch = 'a'\nlabel = 'P$1.0:'", "line 3: `label` of the rule has `$1`, and `match` has no groups"),
        ("[[rule]]\nmatch = '(a)'\nlabel = 'P$2.0:'", "has `$2`, and `match` has one group"),
        ("[[rule]]\nmatch = '(?<a>a)(b)'\nlabel = 'P$b.0:'", "has `$b`, and `match` has 2 groups (`a`)"),
        ("[[rule]]\nmatch = 'a'\nlabel = 'P$.0:'", "line 3: in `label` of the rule a `$` stands before `.`"),
        ("[[rule]]\nmatch = 'a'\nlabel = 'P$'", "a `$` stands before the end"),
        ("[[rule]]\nmatch = 'a'\nlabel = 'P${'", "a `$` stands before `{`"),
        ("[[rule]]\nmatch = 'a'", "missing field `label`"),
        ("[[rule]]\nmatch = 'a'\nlabel = 'a'\nlabels = 'b'", "unknown field `labels`"),
        ("separator = ','", "there is neither `label`, an expression for labels, nor a `[[rule]]`"),
    ];
    for (text, expected) in cases {
        let message = Description::from_toml(text).expect_err(text).to_string();
        assert!(message.contains(expected), "{text:?}: {message}");
    }
}

/// It leads nowhere, so the rest is another part; it is not passed over for the first node of an edge.
#[test]
fn an_initial_state_that_no_edge_touches_is_one() {
    let text = "digraph { z [style=filled]; b -> a [label=\"T0.0: x :=\"]; }";
    let source = Bytes::from_bytes("g.dot", text.as_bytes().to_vec()).expect("not empty");
    let read = facts::of_state_space(&source, &Options::default(), &NoProgress).expect("a graph");
    assert!(read.part.is_some_and(|reason| reason.contains("nothing leads from the initial state")));
}
