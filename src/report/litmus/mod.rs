//! `--litmus DIR`: each witness as a litmus test, to be run by herd7, on hardware by litmus7, or by `seqcon litmus`.
//!
//! A test has the accesses of the cycle and nothing else of the program: a thread for each segment, and between its
//! two accesses what keeps them in order in the program ([`links`]): a fence that is in place, a dependency that the
//! memory model counts, or nothing.
//!
//! *The architecture* is that of the built-in model whose rules the memory model has, whatever it is called
//! ([`target`]). Any other model is written for POWER, which may exchange what the model keeps in order. So that the
//! cycle comes about only by what the model may exchange, whatever it keeps gets a `sync` there; but if the model
//! lets threads see a write at different times, a `sync` behind a read would forbid that, too, and a dependency
//! stands in its place.
//!
//! *The condition* holds exactly if the cycle has come about. Along the cycle the accesses to a location are
//! consecutive, joined by conflict edges; their writes are to come in this order, and get the values 1, 2 (initially
//! it is 0). A read on the way reads from the write before it, if there is one (Rfe), and comes before the one behind
//! it (Fre): it reads as many as there are writes before it. With two writes to a location (Coe) the second must have
//! the last word: the location is 2 at the end. Three writes in a row could not be told apart by that; no shortest
//! cycle over reachable conflicts has them.
//!
//! *Names.* A test is called after its cycle in diy's vocabulary, so that two delays with one cycle, up to renaming,
//! give one test. Of the rotations of a cycle that start with a thread's first access of two, the one whose name is
//! last in the alphabet is taken: `PodWW Rfe PodRR Fre`. Names of files differ in more than upper and lower case,
//! over all memory models of a run; where they would not, a number is put behind.
//!
//! *What is no test:* a cycle that moves within an instruction, torn or as one atomic step (assembly has no such
//! instructions), one of a thread with a partial fence, with marks on accesses or with an atomic instruction that is
//! no fence, which the analysis does not take into account and the test would, too, and one with an order that only
//! accesses in between keep. These are listed, never dropped silently. A test for a pair that needs a *cumulative*
//! fence although the pair itself is in order can come out forbidden: the analysis asks for such a fence wherever the
//! shape is there (method §7). The comment of such a test says so, and how many there are is told, too.

pub mod assembly;
pub mod links;
pub mod target;

use super::edges::{self, Edges};
use super::names;
use crate::analysis::{ModelOutcome, Outcome};
use crate::cycles::{Cycle, Edge, Segment, SegmentVerdict};
use crate::ids::{InstrId, LocationId, ThreadId, VertexId};
use crate::lts::label::LabelKind;
use crate::memory::Kind;
use crate::provenance::Provenance;
use crate::text::counted;
use assembly::{Access, Assembly, Column, assembly};
use links::Link;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use target::Target;

/// A litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The name of its file.
    pub file_name: String,
    /// The memory model that it is for.
    pub memory_model: String,
    /// The cycle that it is made from, as reports name it.
    pub cycle: String,
    /// What is in the file.
    pub text: String,
    /// Each thread keeps its own accesses in order: the architecture may forbid the cycle.
    pub may_be_forbidden: bool,
}

/// The tests of all memory models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The tests, by the names of their files.
    pub tests: Vec<Test>,
    /// What could be no test, and why, and how many tests may be forbidden where they are to be run: a line each, for
    /// people.
    pub remarks: Vec<String>,
}

/// The witnesses of all delays as litmus tests.
#[must_use]
pub fn export(outcome: &Outcome) -> Exported {
    let mut exported = Exported::default();
    let mut names = FileNames::default();
    for result in &outcome.results {
        let writer = Writer::new(outcome, result);
        let mut tests: BTreeMap<Vec<String>, Test> = BTreeMap::new();
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        let torn = [SegmentVerdict { torn: true, ..SegmentVerdict::default() }];
        let delays = result.all_delays().map(|delay| (&delay.witness, &[][..]));
        let locks = result.findings.torn.iter().map(|found| (&found.witness, &torn[..]));
        for (cycle, verdicts) in delays.chain(locks) {
            match writer.test(cycle, verdicts) {
                Ok((key, test)) => drop(tests.entry(key).or_insert(test)),
                Err(reason) => {
                    let line = format!("{}: {}: {reason}", result.model.name, writer.edges.diy_name(cycle, verdicts));
                    *left_out.entry(line).or_default() += 1;
                }
            }
        }
        for test in tests.into_values() {
            let file_name = names.next(&format!("{}-{}", test.memory_model, test.file_name));
            exported.tests.push(Test { file_name, ..test });
        }
        let more = |count: usize| if count == 1 { String::new() } else { format!(" ({count} times)") };
        exported.remarks.extend(left_out.into_iter().map(|(line, count)| format!("left out: {line}{}", more(count))));
    }
    let all = exported.tests.len();
    let forbidden = exported.tests.iter().filter(|test| test.may_be_forbidden).count();
    if forbidden > 0 {
        exported.remarks.push(format!(
            "{forbidden} of {} may be forbidden on their architecture: each of their threads keeps its own accesses in order; their comments say so",
            counted(all, "test")
        ));
    }
    exported
}

/// The names of files that are given away, in lower case: some file systems do not tell the cases apart.
#[derive(Default)]
struct FileNames {
    taken: BTreeSet<String>,
}

impl FileNames {
    /// The name with plain characters, short enough for a file system, and with a number behind it if another file
    /// has it.
    fn next(&mut self, name: &str) -> String {
        const LONGEST: usize = 120;
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._+-".contains(c) { c } else { '_' };
        let name: String = name.chars().map(plain).take(LONGEST).collect();
        let mut candidate = name.clone();
        let mut number = 2;
        while !self.taken.insert(candidate.to_ascii_lowercase()) {
            candidate = format!("{name}-{number}");
            number += 1;
        }
        candidate + ".litmus"
    }
}

struct Writer<'a> {
    outcome: &'a Outcome,
    result: &'a ModelOutcome,
    edges: Edges<'a>,
    assembly: &'static dyn Assembly,
    target: Target,
}

impl<'a> Writer<'a> {
    fn new(outcome: &'a Outcome, result: &'a ModelOutcome) -> Writer<'a> {
        let target = Target::of(&result.model);
        Writer { outcome, result, edges: Edges::new(outcome, result), assembly: assembly(target.architecture), target }
    }

    /// The test, with what tells it from others; or why there is none. Its file has the plain name of the cycle.
    fn test(&self, cycle: &Cycle, verdicts: &[SegmentVerdict]) -> Result<(Vec<String>, Test), String> {
        if self.edges.steps(cycle, verdicts).iter().any(|step| step.edge == Edge::Sideways) {
            return Err("it moves within an instruction, which a litmus test cannot have as one step".to_owned());
        }
        self.refuse_what_is_not_counted(cycle)?;
        let links: Vec<Option<Link>> =
            cycle.segments.iter().map(|segment| self.link(segment)).collect::<Result<_, _>>()?;
        let edges = self.named_edges(cycle, &links);
        let (name, start) = (0..edges.len())
            .filter(|&start| links[start].is_some())
            .map(|start| (edges[start..].iter().chain(&edges[..start]).flatten().cloned().collect::<Vec<_>>(), start))
            .max_by_key(|(name, start)| (name.clone(), Reverse(*start)))
            .ok_or("no thread has two accesses")?;
        let rotated = |position: usize| (start + position) % edges.len();
        let segments: Vec<Segment> = (0..edges.len()).map(|position| cycle.segments[rotated(position)]).collect();
        let links: Vec<Option<Link>> = (0..edges.len()).map(|position| links[rotated(position)]).collect();
        let values = self.values(&segments)?;
        let text = self.text(&name, &segments, &links, &values);
        let test = Test {
            file_name: name.join("+"),
            memory_model: self.result.model.name.clone(),
            cycle: self.edges.diy_name(cycle, verdicts),
            text,
            may_be_forbidden: is_in_order(&links),
        };
        Ok((name, test))
    }

    fn link(&self, segment: &Segment) -> Result<Option<Link>, String> {
        if segment.entry == segment.exit {
            return Ok(None);
        }
        let Some(links) = self.edges.links() else {
            // Without an event graph nothing is known to be in between.
            return match self.outcome.analysis {
                None => Ok(Some(Link::Plain)),
                Some(_) => Err("a limit was reached before it was known what keeps its accesses in order".to_owned()),
            };
        };
        let (a, b) = (segment.entry, segment.exit);
        match links.between(a, b) {
            Some(link) if link == Link::Fence || self.target.is_own || links.can_be_exchanged(a, b) => Ok(Some(link)),
            Some(_) => Ok(Some(self.kept(a, b))),
            None => Err("only accesses in between keep the order of two of its accesses".to_owned()),
        }
    }

    /// What keeps an order of the model on an architecture that is not its own.
    fn kept(&self, a: VertexId, b: VertexId) -> Link {
        let kind = |vertex| self.outcome.accesses.vertex(vertex).kind;
        match (kind(a), kind(b)) {
            _ if self.result.model.store_atomic => Link::Fence,
            (Kind::Write, _) => Link::Fence,
            (Kind::Read, Kind::Read) => Link::Address,
            (Kind::Read, Kind::Write) => Link::Data,
        }
    }

    /// Refuses a cycle of a thread that has what the analysis does not take into account, and hardware does.
    fn refuse_what_is_not_counted(&self, cycle: &Cycle) -> Result<(), String> {
        for segment in &cycle.segments {
            let vertex = self.outcome.accesses.vertex(segment.entry);
            let has = |is_it: fn(LabelKind) -> bool| self.kinds(vertex.thread, vertex.instr).into_iter().any(is_it);
            let what = match () {
                () if has(|kind| matches!(kind, LabelKind::PartialFence(_))) => "a partial fence, which",
                () if has(|kind| matches!(kind, LabelKind::Rmw(_))) => {
                    "an atomic instruction that is no fence, whose own order"
                }
                () if has(|kind| matches!(kind, LabelKind::Marked(_))) => "marks on accesses, which",
                () => continue,
            };
            let name = &self.outcome.accesses.threads[vertex.thread.index()];
            return Err(format!("{name} has {what} the analysis does not take into account"));
        }
        Ok(())
    }

    /// The kinds of the instructions of the thread to which this one belongs.
    fn kinds(&self, thread: ThreadId, instr: InstrId) -> Vec<LabelKind> {
        match (&self.outcome.source, &self.outcome.analysis) {
            (Some(source), _) => source.at(instr).map_or_else(Vec::new, |at| {
                source.program.thread(at.thread).instructions.iter().map(|known| known.kind.into()).collect()
            }),
            (None, Some(analysis)) => {
                let own = analysis.graph.evaluations.iter().filter(|evaluation| evaluation.thread == thread);
                own.map(|evaluation| evaluation.kind).collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// For each segment, the names of its edges in diy's vocabulary: that between its accesses, if it has two, and
    /// the conflict edge.
    fn named_edges(&self, cycle: &Cycle, links: &[Option<Link>]) -> Vec<Vec<String>> {
        let mut steps = self.edges.steps(cycle, &[]).into_iter();
        let accesses = &self.outcome.accesses;
        let mut named = Vec::new();
        for (segment, link) in cycle.segments.iter().zip(links) {
            let (from, to) = (accesses.vertex(segment.entry).kind, accesses.vertex(segment.exit).kind);
            let mut both = Vec::new();
            if let Some(link) = link {
                let plain = steps.next().map(|step| step.name).unwrap_or_default();
                both.push(edges::name(*link, (from, to), &plain, self.assembly.fence_name()));
            }
            both.extend(steps.next().map(|step| step.name));
            named.push(both);
        }
        named
    }

    /// What each access writes, or reads if the cycle comes about, and the locations that are written twice.
    fn values(&self, segments: &[Segment]) -> Result<Values, String> {
        let accesses = &self.outcome.accesses;
        let mut values = Values::default();
        let mut next: BTreeMap<LocationId, i64> = BTreeMap::new();
        // From the exit of the first segment round to its entry, the accesses to a location come one after the other.
        let visited = segments.iter().flat_map(|segment| {
            let both = [segment.entry, segment.exit];
            if segment.entry == segment.exit { both[..1].to_vec() } else { both.to_vec() }
        });
        let mut visited: Vec<VertexId> = visited.collect();
        visited.rotate_left(1);
        for access in visited {
            let vertex = accesses.vertex(access);
            let written = next.entry(vertex.location).or_default();
            if vertex.kind == Kind::Write {
                *written += 1;
            }
            values.of.insert(access, *written);
        }
        for (location, written) in next {
            match written {
                0 | 1 => {}
                2 => values.twice.push(location),
                _ => return Err("three writes to one location, whose order the end does not tell".to_owned()),
            }
        }
        Ok(values)
    }

    fn text(&self, name: &[String], segments: &[Segment], links: &[Option<Link>], values: &Values) -> String {
        let accesses = &self.outcome.accesses;
        let mut locations: Vec<LocationId> = Vec::new();
        for vertex in segments.iter().flat_map(|segment| [segment.entry, segment.exit]) {
            let location = accesses.vertex(vertex).location;
            if !locations.contains(&location) {
                locations.push(location);
            }
        }
        let short = |location: LocationId| location_name(locations.iter().position(|&known| known == location));
        let access = |vertex: VertexId| {
            let found = accesses.vertex(vertex);
            Access { kind: found.kind, location: short(found.location), value: values.of[&vertex] }
        };
        let columns: Vec<Column> = segments
            .iter()
            .zip(links)
            .map(|(segment, link)| Column {
                first: access(segment.entry),
                second: link.map(|link| (link, access(segment.exit))),
            })
            .collect();
        let mut text =
            format!("{} {}\n\"{}\"\nCycle={}\n", self.assembly.name(), name.join("+"), name.join(" "), name.join(" "));
        let mut comment = format!(
            "seqcon {}: a critical cycle of {} under {}",
            Provenance::VERSION,
            self.outcome.model,
            self.result.model.name
        );
        comment.extend(self.target.remark.iter().map(|remark| format!("\n{remark}")));
        if is_in_order(links) {
            comment += "\neach thread keeps its own accesses in order: this needs a write that threads see at different times, and the architecture may forbid it";
        }
        for &location in &locations {
            comment += &format!("\n{} is {}", short(location), names::location(accesses, location));
        }
        for (position, segment) in segments.iter().enumerate() {
            let shown = |vertex| {
                format!(
                    "{} of {}",
                    names::access(accesses, vertex),
                    names::instruction(accesses, accesses.vertex(vertex).instr)
                )
            };
            comment += &format!("\nP{position}: {}", shown(segment.entry));
            if segment.entry != segment.exit {
                comment += &format!(", then {}", shown(segment.exit));
            }
        }
        text += &format!("(* {} *)\n{{\n", harmless(&comment));
        for (position, column) in columns.iter().enumerate() {
            let initial = self.assembly.initial(position, column);
            if !initial.is_empty() {
                text += &format!("{initial}\n");
            }
        }
        text += "}\n";
        text += &self.code(&columns);
        let registers = columns.iter().enumerate().flat_map(|(thread, column)| {
            let accesses = std::iter::once(&column.first).chain(column.second.iter().map(|(_, access)| access));
            let reads = accesses.enumerate().filter(|(_, access)| access.kind == Kind::Read);
            reads.map(move |(position, access)| {
                format!("{thread}:{}={}", self.assembly.register(position), access.value)
            })
        });
        let twice = locations.iter().filter(|location| values.twice.contains(location));
        let ends = twice.map(|&location| format!("{}=2", short(location)));
        let condition: Vec<String> = registers.chain(ends).collect();
        text + &format!("exists ({})\n", condition.join(" /\\ "))
    }

    /// The threads side by side.
    fn code(&self, columns: &[Column]) -> String {
        let mut cells: Vec<Vec<String>> =
            columns.iter().enumerate().map(|(thread, column)| self.assembly.code(thread, column)).collect();
        for (position, column) in cells.iter_mut().enumerate() {
            column.insert(0, format!("P{position}"));
        }
        let rows = cells.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: &Vec<String>| column.iter().map(String::len).max().unwrap_or(0);
        let row = |row: usize| {
            let cell = |column: &Vec<String>| {
                format!("{:width$}", column.get(row).map_or("", String::as_str), width = width(column))
            };
            format!(" {} ;\n", cells.iter().map(cell).collect::<Vec<_>>().join(" | "))
        };
        (0..rows).map(row).collect()
    }
}

/// Whether every thread has something between its accesses.
fn is_in_order(links: &[Option<Link>]) -> bool {
    links.iter().flatten().all(|link| *link != Link::Plain)
}

#[derive(Default)]
struct Values {
    of: BTreeMap<VertexId, i64>,
    twice: Vec<LocationId>,
}

/// x, y, z, a, b, …
fn location_name(position: Option<usize>) -> String {
    const LETTERS: [&str; 11] = ["x", "y", "z", "a", "b", "c", "d", "e", "f", "g", "h"];
    let position = position.unwrap_or(0);
    LETTERS.get(position).map_or_else(|| format!("x{position}"), |letter| (*letter).to_owned())
}

/// A text that can stand in a comment: names may have anything in them, and herd takes a brace for the initial state
/// even there.
fn harmless(text: &str) -> String {
    let plain = |c: char| match c {
        '{' => '(',
        '}' => ')',
        c if c.is_control() && c != '\n' => ' ',
        c => c,
    };
    let plain: String = text.chars().map(plain).collect();
    plain.replace("(*", "( *").replace("*)", "* )").replace('\n', "\n   ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_short_plain_and_all_different() {
        let mut names = FileNames::default();
        assert_eq!(names.next("../my model-PodWR+Fre"), ".._my_model-PodWR+Fre.litmus");
        assert_eq!(names.next("../my_model-PodWR+Fre"), ".._my_model-PodWR+Fre-2.litmus");
        assert_eq!(names.next("../MY_model-PodWR+Fre"), ".._MY_model-PodWR+Fre-3.litmus");
        // A name that looks like one with a number does not take another one's.
        assert_eq!(names.next("x"), "x.litmus");
        assert_eq!(names.next("x-2"), "x-2.litmus");
        assert_eq!(names.next("X"), "X-3.litmus");
        let long = "PodWR+Fre+".repeat(40);
        let [first, second] = [names.next(&long), names.next(&long)];
        assert!(first.len() < 140 && first != second && second.ends_with("-2.litmus"), "{first} {second}");
    }
}
