//! `aeg.dot`: the event graph as Graphviz draws it, after herd's conventions.
//!
//! One digraph for each memory model, one after the other in the file (`dot -Tsvg -O aeg.dot` draws each): the
//! accesses and their program order are the same in all of them, fences, delays and cycles are not. In a digraph
//! there is
//!
//! - a cluster for each thread, with a node for each access, `a: W[x]`, and its instruction below, program order
//!   downwards ([`mod@flow`]);
//! - a solid box for each fence of the program, a dashed one for each fence that is to be put in, at its place in
//!   program order;
//! - a bold indigo edge for each dependency that keeps a witness in order where the delay is not, `DpAddrdR`;
//! - a bold red edge for each delay, and for each conflict edge of the shortest witness of each fence (the one that
//!   the terminal and `report.html` show) and of each torn instruction, with its name in diy's vocabulary;
//! - a thin edge without arrows for each other pair that conflicts: all reachable conflicts, also where the analysis
//!   needs only the concurrent ones.
//!
//! The `class` of an edge says what it is: `po`, `delay`, `torn`, `dependency`, `cycle` (another edge of a witness) or
//! `conflict`.
//! With [`Dot::cycle`] only one cycle is drawn: its accesses, its edges, all red, and the fences that serve its
//! delays.
//!
//! *Size:* vertices, program order and delays, and as many conflicts as there are; no access, delay or conflict is
//! left out. Of the witnesses of the other delays the directions are: with an arrow for each direction of each
//! conflict, Graphviz takes minutes for three threads. Their cycles are drawn one by one with [`Dot::cycle`].
//!
//! *petgraph* gives the conflicts ([`Analysis::event_graph`](crate::analysis::Analysis::event_graph)); the text is
//! written here, as its `Dot` knows no clusters, no nodes that are not of the graph (fences), and no line for two
//! edges.
//!
//! *Names of edges* that do not rank are external labels (`xlabel`): Graphviz 2.43 gives up (`trouble in init_rank`)
//! or crashes if `label` and `constraint="false"` meet on edges inside clusters. Edges of a thread that no program
//! order ranks, those of torn instructions and of a single cycle, rank themselves: with all accesses on one rank it
//! does not come to an end.

pub mod flow;

use super::edges::Edges;
use super::{Report, limits, names, program_order};
use crate::aeg::Relation;
use crate::analysis::{ModelOutcome, Outcome};
use crate::cycles::{Cycle, Edge, SegmentVerdict, Step};
use crate::ids::{ThreadId, VertexId};
use crate::memory::Kind;
use crate::outline::Site;
use crate::placement::cost::place_name;
use flow::{Node, flow};
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// `aeg.dot`
pub struct Dot {
    /// Only this cycle: a listed one if cycles were listed, else the witness of the delay of this number.
    pub cycle: Option<usize>,
}

/// There is no cycle of that number.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("under {memory_model} there {}; choose another number, or other memory models with --mm", known(*count, what))]
pub struct NoSuchCycle {
    memory_model: String,
    what: &'static str,
    count: usize,
}

fn known(count: usize, what: &str) -> String {
    match count {
        0 => format!("is no {what}"),
        1 => format!("is one {what}, number 0"),
        more => format!("are {more} {what}s, numbered from 0 to {}", more - 1),
    }
}

/// Whether every memory model has a cycle of that number.
///
/// # Errors
/// The first one that has not.
pub fn check_cycle(outcome: &Outcome, number: usize) -> Result<(), NoSuchCycle> {
    outcome.results.iter().try_for_each(|result| {
        let (what, count) = match &result.findings.cycles {
            Some(list) => ("listed cycle", list.cycles.len()),
            None => ("delay", result.all_delays().count()),
        };
        let memory_model = result.model.name.clone();
        if number < count { Ok(()) } else { Err(NoSuchCycle { memory_model, what, count }) }
    })
}

impl Report for Dot {
    fn file_name(&self) -> &'static str {
        "aeg.dot"
    }

    fn write(&self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        for result in &outcome.results {
            let picture = match self.cycle {
                None => whole(outcome, result),
                Some(number) => one_cycle(outcome, result, number),
            };
            let limit = limits::in_words(outcome, result);
            let note = limit.map_or(String::new(), |limit| format!(" (not complete: {limit})"));
            Picture { title: picture.title + &note, ..picture }.write(outcome, result, out)?;
        }
        Ok(())
    }
}

/// What is drawn.
struct Picture {
    title: String,
    nodes: BTreeSet<Node>,
    order: BTreeSet<(Node, Node)>,
    red: BTreeMap<(VertexId, VertexId), Red>,
    conflicts: BTreeSet<(VertexId, VertexId)>,
}

/// A bold edge.
struct Red {
    class: &'static str,
    name: String,
    /// Whether it puts one access below the other.
    ranks: bool,
}

impl Picture {
    /// Adds the edges of a cycle that are wanted.
    fn draw_cycle(
        &mut self,
        edges: &Edges<'_>,
        cycle: &Cycle,
        verdicts: &[SegmentVerdict],
        wanted: &dyn Fn(&Step) -> bool,
    ) {
        let steps = edges.steps(cycle, verdicts);
        for (position, step) in steps.iter().enumerate().filter(|(_, step)| wanted(step)) {
            let next = steps[(position + 1) % steps.len()].vertex;
            let class = match step.edge {
                Edge::Sideways => "torn",
                Edge::Program if step.is_dependency() => "dependency",
                Edge::Program | Edge::Conflict | Edge::Store => "cycle",
            };
            let ranks = matches!(step.edge, Edge::Program | Edge::Sideways);
            self.red.insert((step.vertex, next), Red { class, name: step.name.clone(), ranks });
        }
    }
}

fn whole(outcome: &Outcome, result: &ModelOutcome) -> Picture {
    let accesses = &outcome.accesses;
    let fences: BTreeSet<Site> = result.fences.iter().map(|fence| fence.site).collect();
    let (nodes, order) = flow(accesses, &program_order::evaluations(outcome), &fences);
    let title = format!("{} under {}", outcome.model, result.model.name);
    let mut picture = Picture { title, nodes, order, red: BTreeMap::new(), conflicts: BTreeSet::new() };
    let edges = Edges::new(outcome, result);
    for torn in &result.findings.torn {
        let verdicts = [SegmentVerdict { torn: true, ..SegmentVerdict::default() }];
        picture.draw_cycle(&edges, &torn.witness, &verdicts, &|step| step.edge != Edge::Program);
    }
    for fence in &result.fences {
        let served = fence.delays.iter().map(|&delay| &result.findings.delays[delay]);
        let Some(delay) = served.min_by_key(|delay| delay.witness.num_of_accesses()) else { continue };
        picture.draw_cycle(&edges, &delay.witness, &[], &|step| match step.edge {
            Edge::Conflict | Edge::Store => true,
            // Program order is drawn anyway; that a dependency keeps it is not.
            Edge::Program | Edge::Sideways => step.is_dependency(),
        });
    }
    for delay in &result.findings.delays {
        let first = &edges.steps(&delay.witness, &[])[0];
        // Program order has put them in their places.
        let edge = Red { class: "delay", name: first.name.clone(), ranks: false };
        picture.red.insert((delay.from, delay.to), edge);
    }
    for (a, b) in conflicts(outcome) {
        let is_red = picture.red.contains_key(&(a, b)) || picture.red.contains_key(&(b, a));
        // There is an edge in each direction, and one line for both.
        if a < b && !is_red {
            picture.conflicts.insert((a, b));
        }
    }
    picture
}

/// The pairs that conflict, as the event graph has them; without one, all that may.
fn conflicts(outcome: &Outcome) -> Vec<(VertexId, VertexId)> {
    let Some(analysis) = &outcome.analysis else {
        let accesses = &outcome.accesses;
        let conflict = |a, b| accesses.vertex(a).conflicts_with(accesses.vertex(b));
        let with = |a| accesses.vertex_ids().filter(move |&b| conflict(a, b)).map(move |b| (a, b));
        return accesses.vertex_ids().flat_map(with).collect();
    };
    let graph = analysis.event_graph();
    let edges = graph.edge_references().filter(|edge| *edge.weight() == Relation::Conflict);
    let vertices = edges.map(|edge| [edge.source(), edge.target()].map(|node| VertexId::new(node.index())));
    vertices.map(|[a, b]| (a, b)).collect()
}

fn one_cycle(outcome: &Outcome, result: &ModelOutcome, number: usize) -> Picture {
    let (what, cycle, verdicts): (_, Option<&Cycle>, &[SegmentVerdict]) = match &result.findings.cycles {
        Some(list) => {
            let judged = list.cycles.get(number);
            ("cycle", judged.map(|judged| &judged.cycle), judged.map_or(&[], |judged| &judged.verdicts))
        }
        None => ("delay", result.all_delays().nth(number).map(|delay| &delay.witness), &[]),
    };
    let mut picture = Picture {
        title: format!("{} under {}: {what} {number}", outcome.model, result.model.name),
        nodes: BTreeSet::new(),
        order: BTreeSet::new(),
        red: BTreeMap::new(),
        conflicts: BTreeSet::new(),
    };
    let Some(cycle) = cycle else { return picture };
    let edges = Edges::new(outcome, result);
    picture.title += &format!(" ({})", edges.diy_name(cycle, verdicts));
    picture.draw_cycle(&edges, cycle, verdicts, &|_| true);
    for segment in &cycle.segments {
        picture.nodes.extend([segment.entry, segment.exit].map(Node::Access));
        let pair = (segment.entry, segment.exit);
        let served = result.findings.delays.iter().position(|delay| (delay.from, delay.to) == pair);
        if let (Some(_), Some(edge)) = (served, picture.red.get_mut(&pair)) {
            edge.class = "delay";
        }
        for fence in result.fences.iter().filter(|fence| served.is_some_and(|delay| fence.delays.contains(&delay))) {
            let fence = Node::Suggested(fence.site);
            picture.nodes.insert(fence);
            picture.order.insert((Node::Access(segment.entry), fence));
            picture.order.insert((fence, Node::Access(segment.exit)));
        }
    }
    picture
}

impl Picture {
    fn write(&self, outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> io::Result<()> {
        let accesses = &outcome.accesses;
        writeln!(out, "digraph {} {{", quoted(&self.title))?;
        writeln!(out, "  graph [label={}, labelloc=\"t\", rankdir=\"TB\"];", quoted(&self.title))?;
        writeln!(out, "  node [shape=\"none\", fontsize=\"10\"];\n  edge [fontsize=\"9\"];")?;
        let letters: BTreeMap<Node, String> = self.nodes.iter().enumerate().map(|(i, &n)| (n, letters(i))).collect();
        for (position, thread) in accesses.threads.iter().enumerate() {
            let own: Vec<Node> = (self.nodes.iter().copied())
                .filter(|node| accesses.thread_of(node.instr(accesses)) == ThreadId::new(position))
                .collect();
            if own.is_empty() {
                continue;
            }
            writeln!(out, "  subgraph \"cluster_{position}\" {{\n    label={};", quoted(thread))?;
            for node in own {
                writeln!(out, "    {} [{}];", id(node), appearance(outcome, result, node, &letters[&node]))?;
            }
            writeln!(out, "  }}")?;
        }
        for &(from, to) in &self.order {
            writeln!(out, "  {} -> {} [class=\"po\", label=\"po\", color=\"black\"];", id(from), id(to))?;
        }
        for (&(from, to), Red { class, name, ranks }) in &self.red {
            let (from, to) = (id(Node::Access(from)), id(Node::Access(to)));
            let style = match *class {
                "dependency" => "color=\"indigo\", fontcolor=\"indigo\", style=\"bold\"",
                _ => "color=\"red\", fontcolor=\"red\", style=\"bold\"",
            };
            let style = format!("{style}{}", if *ranks { "" } else { ", constraint=\"false\"" });
            writeln!(out, "  {from} -> {to} [class=\"{class}\", xlabel={}, {style}];", quoted(name))?;
        }
        for &(a, b) in &self.conflicts {
            // A read can come before or after the write; from the write it is Rfe.
            let (name, color) = match (accesses.vertex(a).kind, accesses.vertex(b).kind) {
                (Kind::Write, Kind::Write) => ("Coe", "blue"),
                _ => ("Rfe/Fre", "orange"),
            };
            let (a, b) = (id(Node::Access(a)), id(Node::Access(b)));
            let style = format!("color=\"{color}\", fontcolor=\"{color}\", dir=\"none\", constraint=\"false\"");
            writeln!(out, "  {a} -> {b} [class=\"conflict\", xlabel=\"{name}\", {style}];")?;
        }
        writeln!(out, "}}")
    }
}

fn appearance(outcome: &Outcome, result: &ModelOutcome, node: Node, letters: &str) -> String {
    let accesses = &outcome.accesses;
    let instr = names::instruction(accesses, node.instr(accesses));
    match node {
        Node::Access(vertex) => {
            let vertex = accesses.vertex(vertex);
            let text = format!("{letters}: {}[{}]\n{instr}", vertex.kind, names::location(accesses, vertex.location));
            format!("label={}", quoted(&text))
        }
        Node::InPlace(_) => format!("label={}, shape=\"box\"", quoted(&format!("fence\n{instr}"))),
        Node::Suggested(point) => {
            let fence = result.fences.iter().find(|fence| fence.site == point);
            let mnemonic = fence.map_or("fence", |fence| &fence.mnemonic);
            let text = format!("{mnemonic}\n{} {instr}", names::place(point.place));
            format!("label={}, shape=\"box\", style=\"dashed\"", quoted(&text))
        }
    }
}

fn id(node: Node) -> String {
    match node {
        Node::Access(vertex) => format!("v{}", vertex.index()),
        Node::InPlace(instr) => format!("i{}", instr.index()),
        Node::Suggested(point) => format!("f{}_{}", point.instr.index(), place_name(point.place).replace(' ', "")),
    }
}

/// a, b, …, z, aa, ab, …
fn letters(position: usize) -> String {
    let last = char::from(b'a' + (position % 26) as u8);
    if position < 26 { last.to_string() } else { letters(position / 26 - 1) + &last.to_string() }
}

/// A text as it must be written to be shown as it is: Graphviz takes backslashes and references to characters in
/// labels for more than that.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '&' => quoted.push_str("&amp;"),
            '\n' => quoted.push_str("\\n"),
            control if control.is_control() => quoted.extend(control.escape_unicode().flat_map(|c| match c {
                '\\' => vec!['\\', '\\'],
                c => vec![c],
            })),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
