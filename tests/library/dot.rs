//! `aeg.dot`: read back by a small parser of the DOT language, it is the graph, whatever the names; Graphviz itself
//! draws it where it is installed.

use crate::support::command::run;
use crate::support::outcomes::{
    automata, hostile, of_automata, of_specification, of_state_space, specifications, state_spaces,
};
use seqcon::analysis::{ModelOutcome, Options, Outcome};
use seqcon::cycles::{Atomicity, Listing};
use seqcon::ids::VertexId;
use seqcon::memory::Kind;
use seqcon::outline::Place;
use seqcon::placement::cost::place_name;
use seqcon::report::Report;
use seqcon::report::dot::{Dot, check_cycle};
use seqcon::report::edges::Edges;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A node by its cluster and its text; the letter in front of an access is taken off.
type Name = (String, String);

#[derive(Default, Debug)]
struct Digraph {
    title: String,
    /// By identifier: name and attributes.
    nodes: BTreeMap<String, (Name, BTreeMap<String, String>)>,
    edges: Vec<(String, String, BTreeMap<String, String>)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Id(String),
    Symbol(char),
    Arrow,
}

/// The tokens of the DOT language as far as identifiers and double-quoted strings go.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '"' => {
                let mut id = String::new();
                loop {
                    match rest.next().expect("the string is closed") {
                        '"' => break,
                        // The only escape of the language itself; labels have their own, which stay.
                        '\\' if rest.peek() == Some(&'"') => id.push(rest.next().unwrap()),
                        '\\' => id.extend(['\\', rest.next().expect("the string is closed")]),
                        '\n' => panic!("a line break in a string"),
                        other => id.push(other),
                    }
                }
                tokens.push(Token::Id(id));
            }
            '-' if rest.peek() == Some(&'>') => {
                rest.next();
                tokens.push(Token::Arrow);
            }
            '{' | '}' | '[' | ']' | '=' | ',' | ';' => tokens.push(Token::Symbol(character)),
            c if c.is_whitespace() => {}
            c if c.is_ascii_alphanumeric() || c == '_' => {
                let mut id = c.to_string();
                while let Some(&next) = rest.peek().filter(|c| c.is_ascii_alphanumeric() || **c == '_') {
                    id.push(next);
                    rest.next();
                }
                tokens.push(Token::Id(id));
            }
            other => panic!("{other:?} outside of a string in {text}"),
        }
    }
    tokens
}

/// What Graphviz shows for a label.
fn shown(label: &str) -> String {
    let mut text = String::new();
    let mut rest = label.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next().expect("an escape") {
                'n' => text.push('\n'),
                '\\' => text.push('\\'),
                other => panic!("\\{other} means something else in a label: {label}"),
            },
            other => text.push(other),
        }
    }
    assert!(!text.replace("&amp;", "").contains('&'), "a bare & in {label}");
    text.replace("&amp;", "&")
}

struct Parser {
    tokens: std::vec::IntoIter<Token>,
}

impl Parser {
    fn id(&mut self) -> String {
        match self.tokens.next() {
            Some(Token::Id(id)) => id,
            other => panic!("an identifier is expected, not {other:?}"),
        }
    }

    fn symbol(&mut self, wanted: char) {
        assert_eq!(self.tokens.next(), Some(Token::Symbol(wanted)));
    }

    fn attributes(&mut self) -> BTreeMap<String, String> {
        let mut attributes = BTreeMap::new();
        loop {
            let key = self.id();
            self.symbol('=');
            let value = shown(&self.id());
            assert!(attributes.insert(key, value).is_none(), "an attribute twice");
            match self.tokens.next() {
                Some(Token::Symbol(',')) => {}
                Some(Token::Symbol(']')) => return attributes,
                other => panic!("{other:?} in attributes"),
            }
        }
    }

    fn statements(&mut self, digraph: &mut Digraph, cluster: &mut Option<String>) {
        loop {
            let id = match self.tokens.next() {
                Some(Token::Symbol('}')) => return,
                Some(Token::Id(id)) => id,
                other => panic!("a statement is expected, not {other:?}"),
            };
            if id == "subgraph" {
                assert!(self.id().starts_with("cluster_"));
                self.symbol('{');
                self.statements(digraph, &mut Some(String::new()));
                continue;
            }
            match self.tokens.next().expect("the graph goes on") {
                Token::Symbol('=') => {
                    assert_eq!(id, "label");
                    *cluster = Some(shown(&self.id()));
                }
                Token::Symbol('[') => {
                    let attributes = self.attributes();
                    if !["graph", "node", "edge"].contains(&&*id) {
                        let label = attributes["label"].clone();
                        let is_access = !attributes.contains_key("shape");
                        let text = if is_access { label.split_once(": ").unwrap().1.to_owned() } else { label };
                        let name = (cluster.clone().expect("nodes are in clusters"), text);
                        assert!(digraph.nodes.insert(id, (name, attributes)).is_none(), "a node twice");
                    }
                }
                Token::Arrow => {
                    let to = self.id();
                    self.symbol('[');
                    let attributes = self.attributes();
                    digraph.edges.push((id, to, attributes));
                }
                other => panic!("{other:?} in a statement"),
            }
            self.symbol(';');
        }
    }
}

fn parse(text: &str) -> Vec<Digraph> {
    let mut parser = Parser { tokens: tokens(text).into_iter() };
    let mut digraphs = Vec::new();
    while let Some(token) = parser.tokens.next() {
        assert_eq!(token, Token::Id("digraph".to_owned()));
        let mut digraph = Digraph { title: shown(&parser.id()), ..Digraph::default() };
        parser.symbol('{');
        parser.statements(&mut digraph, &mut None);
        for (from, to, _) in &digraph.edges {
            assert!(digraph.nodes.contains_key(from) && digraph.nodes.contains_key(to), "{from} -> {to}");
        }
        digraphs.push(digraph);
    }
    digraphs
}

impl Digraph {
    fn name(&self, id: &str) -> &Name {
        &self.nodes[id].0
    }

    fn of_class(&self, class: &str) -> impl Iterator<Item = &(String, String, BTreeMap<String, String>)> {
        self.edges.iter().filter(move |edge| edge.2["class"] == class)
    }

    fn pairs(&self, class: &str) -> BTreeSet<(Name, Name)> {
        self.of_class(class).map(|(from, to, _)| (self.name(from).clone(), self.name(to).clone())).collect()
    }

    fn accesses(&self) -> BTreeSet<Name> {
        self.nodes.values().filter(|node| !node.1.contains_key("shape")).map(|node| node.0.clone()).collect()
    }

    /// Everything that program order leads to.
    fn after(&self, id: &str) -> BTreeSet<Name> {
        let (mut seen, mut stack) = (BTreeSet::new(), vec![id.to_owned()]);
        while let Some(current) = stack.pop() {
            for (_, to, _) in self.of_class("po").filter(|edge| edge.0 == current) {
                if seen.insert(to.clone()) {
                    stack.push(to.clone());
                }
            }
        }
        seen.iter().map(|id| self.name(id).clone()).collect()
    }
}

struct Expected<'a> {
    outcome: &'a Outcome,
}

impl Expected<'_> {
    fn instr(&self, instr: seqcon::ids::InstrId) -> String {
        let graph = &self.outcome.accesses;
        let (thread, name) = graph.names_of(instr);
        format!("{thread}.{name}")
    }

    /// Control characters are shown as what they are.
    fn printable(text: &str) -> String {
        let escaped =
            |c: char| if c.is_control() && c != '\n' { c.escape_unicode().to_string() } else { c.to_string() };
        text.chars().map(escaped).collect()
    }

    fn vertex(&self, vertex: VertexId) -> Name {
        let graph = &self.outcome.accesses;
        let found = graph.vertex(vertex);
        let location = &graph.locations[found.location.index()];
        let text = format!("{}[{location}]\n{}", found.kind, self.instr(found.instr));
        (Self::printable(&graph.threads[found.thread.index()]), Self::printable(&text))
    }

    fn fence(&self, fence: &seqcon::analysis::Fence) -> Name {
        let graph = &self.outcome.accesses;
        let (thread, _) = graph.names_of(fence.site.instr);
        let place = match fence.site.place {
            Place::State => "at the state behind".to_owned(),
            place => place_name(place),
        };
        let text = format!("{}\n{} {}", fence.mnemonic, place, self.instr(fence.site.instr));
        (Self::printable(thread), Self::printable(&text))
    }
}

fn written(outcome: &Outcome, cycle: Option<usize>) -> String {
    let mut text = Vec::new();
    Dot { cycle }.write(outcome, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The digraph is the graph of the outcome.
fn check(outcome: &Outcome, result: &ModelOutcome, digraph: &Digraph) {
    let expected = Expected { outcome };
    let graph = &outcome.accesses;
    let context = format!("{}: {digraph:#?}", digraph.title);
    let vertices: Vec<VertexId> = graph.vertex_ids().collect();
    let by_name: BTreeMap<Name, VertexId> = vertices.iter().map(|&vertex| (expected.vertex(vertex), vertex)).collect();
    assert_eq!(by_name.len(), vertices.len(), "names tell vertices apart");
    assert_eq!(digraph.accesses(), by_name.keys().cloned().collect(), "{context}");
    let dashed = digraph.nodes.values().filter(|node| node.1.get("style").is_some_and(|style| style == "dashed"));
    let fences: BTreeSet<Name> = result.fences.iter().map(|fence| expected.fence(fence)).collect();
    assert_eq!(dashed.map(|node| node.0.clone()).collect::<BTreeSet<_>>(), fences);
    // Program order stays in its thread; what is drawn is program order, and all of it.
    let order = &outcome.analysis.as_ref().unwrap().order;
    for (from, to, _) in digraph.of_class("po") {
        let (from, to) = (digraph.name(from), digraph.name(to));
        assert_eq!(from.0, to.0);
        if let (Some(&a), Some(&b)) = (by_name.get(from), by_name.get(to)) {
            assert!(order.contains(a, b), "{from:?} -> {to:?}");
        }
    }
    for (id, (name, _)) in digraph.nodes.iter().filter(|(_, node)| by_name.contains_key(&node.0)) {
        let drawn = digraph.after(id);
        for later in order.after(by_name[name]) {
            assert!(drawn.contains(&expected.vertex(later)), "{name:?} before {later:?}");
        }
    }
    check_fences(&expected, result, digraph, &by_name);
    let delays = result.findings.delays.iter();
    let delays: BTreeSet<_> = delays.map(|delay| (expected.vertex(delay.from), expected.vertex(delay.to))).collect();
    assert_eq!(digraph.pairs("delay"), delays);
    // Every conflict is there, with an arrow if the witness of a fence has it.
    let unordered = |(a, b): (Name, Name)| if a < b { (a, b) } else { (b, a) };
    let drawn: BTreeSet<_> =
        digraph.pairs("conflict").into_iter().chain(digraph.pairs("cycle")).map(unordered).collect();
    let pairs = vertices.iter().flat_map(|&a| vertices.iter().map(move |&b| (a, b)));
    let conflicts = pairs.filter(|&(a, b)| graph.vertex(a).conflicts_with(graph.vertex(b)));
    assert_eq!(drawn, conflicts.map(|(a, b)| unordered((expected.vertex(a), expected.vertex(b)))).collect());
    let mut on_witnesses = BTreeSet::new();
    // Of each fence the shortest one, the first of several.
    let witnesses = result.fences.iter().map(|fence| {
        let mut served: Vec<_> = fence.delays.iter().map(|&delay| &result.findings.delays[delay].witness).collect();
        served.sort_by_key(|witness| witness.num_of_accesses());
        served[0]
    });
    for cycle in witnesses.chain(result.findings.torn.iter().map(|torn| &torn.witness)) {
        on_witnesses.extend(cycle.conflict_edges().map(|(a, b)| (expected.vertex(a), expected.vertex(b))));
    }
    assert_eq!(digraph.pairs("cycle"), on_witnesses);
    for (from, to, attributes) in digraph.of_class("cycle") {
        let kind = |id: &String| graph.vertex(by_name[digraph.name(id)]).kind;
        let name = match (kind(from), kind(to)) {
            (Kind::Write, Kind::Read) => "Rfe",
            (Kind::Read, _) => "Fre",
            (Kind::Write, Kind::Write) => "Coe",
        };
        assert_eq!((&*attributes["xlabel"], &*attributes["color"], &*attributes["style"]), (name, "red", "bold"));
    }
}

/// What leaves an instruction goes through the fence after it, what enters one through the fence before it.
fn check_fences(expected: &Expected<'_>, result: &ModelOutcome, digraph: &Digraph, by_name: &BTreeMap<Name, VertexId>) {
    let graph = &expected.outcome.accesses;
    let instr = |name: &Name| by_name.get(name).map(|&vertex| graph.vertex(vertex).instr);
    for fence in &result.fences {
        let name = expected.fence(fence);
        let (mut entered, mut left) = (false, false);
        for (from, to, _) in digraph.of_class("po") {
            let (from, to) = (digraph.name(from), digraph.name(to));
            entered |= *to == name;
            left |= *from == name;
            let (inside_from, inside_to) = (instr(from) == Some(fence.site.instr), instr(to) == Some(fence.site.instr));
            match fence.site.place {
                Place::After => assert!(!inside_from || inside_to || *to == name, "{from:?} {to:?}"),
                Place::Before => assert!(!inside_to || inside_from || *from == name, "{from:?} {to:?}"),
                Place::State => {
                    let ways_in = &graph.outline.target(fence.site.instr).unwrap().ways_in;
                    let leads = instr(from).is_some_and(|instr| ways_in.contains(&instr));
                    assert!(!leads || instr(from) == instr(to) || *to == name, "{from:?} {to:?}");
                }
                Place::Inside(_) | Place::On => {}
            }
        }
        assert!(entered && left, "{name:?} is on a way");
    }
}

fn check_all(outcome: &Outcome) {
    let text = written(outcome, None);
    let digraphs = parse(&text);
    assert_eq!(digraphs.len(), outcome.results.len());
    for (result, digraph) in outcome.results.iter().zip(&digraphs) {
        check(outcome, result, digraph);
    }
    draw(&text, digraphs.len());
}

/// Graphviz reads it, lays it out and draws it. Without an end in sight it is stopped: a picture that nobody sees is
/// none.
fn draw(text: &str, digraphs: usize) {
    const PATIENCE: Duration = Duration::from_secs(120);
    let directory = tempfile::TempDir::new().unwrap();
    let [read, drawn] = ["aeg.dot", "aeg.svg"].map(|name| directory.path().join(name));
    fs::write(&read, text).unwrap();
    let started = Command::new("dot").arg("-Tsvg").arg(&read).stdout(File::create(&drawn).unwrap()).spawn();
    let Ok(mut dot) = started else { return };
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = dot.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            dot.kill().unwrap();
            dot.wait().unwrap();
            panic!("dot does not come to an end with\n{text}");
        }
        sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{text}");
    assert_eq!(fs::read_to_string(&drawn).unwrap().matches("<svg ").count(), digraphs);
}

const MODELS: [&str; 5] = ["sc", "tso", "pso", "armv7", "power"];

#[test]
fn bundled_specifications_are_drawn_as_they_are() {
    if Command::new("dot").arg("-V").stderr(Stdio::null()).status().is_err() {
        eprintln!("skipped: Graphviz's dot is not installed, only the own parser reads the pictures");
    }
    for name in specifications() {
        check_all(&of_specification(&name, &MODELS, &Options::default()));
    }
    for name in automata() {
        check_all(&of_automata(&name, &MODELS, &Options::default()));
    }
}

#[test]
fn bundled_state_spaces_are_drawn_as_they_are_with_torn_instructions_too() {
    for name in state_spaces() {
        let options = Options { atomicity: Atomicity::Full, ..Options::default() };
        check_all(&of_state_space(&name, &MODELS, &options));
    }
}

#[test]
fn hostile_names_are_text() {
    for name in ["peterson", "mcs", "iriw", "treiber"] {
        check_all(&hostile(of_specification(name, &MODELS, &Options::default())));
    }
}

#[test]
fn one_cycle_is_drawn_alone() {
    let outcome = of_specification("peterson", &["tso", "power"], &Options::default());
    let count = outcome.results.iter().map(|result| result.findings.delays.len()).min().unwrap();
    let expected = Expected { outcome: &outcome };
    for number in 0..count {
        check_cycle(&outcome, number).unwrap();
        let text = written(&outcome, Some(number));
        draw(&text, outcome.results.len());
        for (result, digraph) in outcome.results.iter().zip(parse(&text)) {
            let delay = &result.findings.delays[number];
            let segments = &delay.witness.segments;
            let accesses = segments.iter().flat_map(|segment| [segment.entry, segment.exit]);
            assert_eq!(digraph.accesses(), accesses.map(|vertex| expected.vertex(vertex)).collect());
            let red = digraph.edges.iter().filter(|edge| edge.2["color"] == "red").count();
            assert_eq!(red, delay.witness.num_of_accesses());
            assert!(digraph.pairs("delay").contains(&(expected.vertex(delay.from), expected.vertex(delay.to))));
            let name = Edges::new(&outcome, result).diy_name(&delay.witness, &[]);
            assert!(digraph.title.ends_with(&format!("delay {number} ({name})")));
            let serving = result.fences.iter().filter(|fence| fence.delays.contains(&number));
            let boxes: BTreeSet<Name> = digraph.nodes.values().map(|node| node.0.clone()).collect();
            assert!(serving.count() > 0 && boxes.len() > digraph.accesses().len(), "its fence is drawn");
        }
    }
    let listed = Options { listing: Listing::First(3), ..Options::default() };
    let outcome = of_specification("peterson", &["tso"], &listed);
    let list = &outcome.results[0].findings.cycles.as_ref().unwrap().cycles;
    let text = written(&outcome, Some(2));
    draw(&text, 1);
    let digraph = &parse(&text)[0];
    let name = Edges::new(&outcome, &outcome.results[0]).diy_name(&list[2].cycle, &list[2].verdicts);
    assert!(digraph.title.contains(&format!("cycle 2 ({name})")));
    assert!(check_cycle(&outcome, 3).unwrap_err().to_string().contains("3 listed cycles, numbered from 0 to 2"));
}

#[test]
fn a_cycle_that_is_not_there_is_refused() {
    let directory = tempfile::TempDir::new().unwrap();
    let dot = directory.path().join("x.dot");
    let run = |arguments: &[&str]| {
        let (status, _, message) = run(&[&["-q", "analyse", "lts/sb.aut"], arguments].concat());
        (status, message)
    };
    let path = dot.to_str().unwrap();
    let (status, message) = run(&["--mm", "tso", "--dot", path, "--cycle", "2"]);
    assert_eq!(status, 2);
    assert!(message.contains("--cycle 2: under tso there are 2 delays, numbered from 0 to 1"), "{message}");
    assert!(!dot.exists());
    let (status, message) = run(&["--mm", "sc", "--dot", path, "--cycle", "0"]);
    assert_eq!(status, 2);
    assert!(message.contains("under sc there is no delay"), "{message}");
    assert_eq!(run(&["--cycle", "0"]).0, 2, "--cycle needs --dot");
    assert_eq!(run(&["--mm", "tso", "--dot", path, "--cycle", "1"]).0, 0);
    assert_eq!(parse(&fs::read_to_string(dot).unwrap()).len(), 1);
    let out = directory.path().join("out");
    assert_eq!(run(&["--mm", "tso,pso", "--out", out.to_str().unwrap()]).0, 0);
    assert_eq!(parse(&fs::read_to_string(out.join("aeg.dot")).unwrap()).len(), 2);
}
