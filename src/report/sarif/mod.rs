//! `report.sarif`: SARIF 2.1.0 (OASIS standard), which code-hosting sites and editors show beside the source.
//!
//! A result for each fence and for each lock, under each memory model. Its rule says what is missing; its level is
//! `warning`, or `error` where a run was found that goes wrong (`--confirm`). It stands at the instruction: in the
//! source, where that is known (columns count characters), and always by thread and instruction. The code flow is the
//! witness cycle, one thread flow a thread; `executionOrder` is the order in which the accesses are performed when
//! the cycle comes about: the delayed access last, the one that overtook it first. Where the reason is a run, it is
//! that run, and `executionOrder` its order. Where the specification is SLCO,
//! the fix is what `seqcon fix` would write for this result alone, and says so: two results can have the same
//! insertion, which `seqcon fix` makes once. Several models are several runs, told apart by `automationDetails`.
//!
//! The output depends on the inputs and on the command alone: there are no times in it. The fingerprint of a result
//! is made from what the instruction is ([`identity`]), not from lines and numbers, so it survives edits elsewhere,
//! fences that are put in among them.

mod flow;
mod schema;

use super::edges::Edges;
use super::minimal::Minimal;
use super::{Report, identity, limits, names, runs};
use crate::analysis::{Confirmation, Fence, ModelOutcome, Outcome};
use crate::caveat::Caveat;
use crate::cycles::SegmentVerdict;
use crate::ids::{InstrId, VertexId};
use crate::lang::Language;
use crate::memory::FenceStrength;
use crate::outline::{self, Site};
use crate::placement::cost::place_name;
use crate::placement::locks::{Lock, Role};
use crate::program::Span;
use crate::provenance::{Input, Provenance};
use crate::repair::Repair;
use crate::source::Source;
use crate::text::LineColumn;
use schema::{
    Artifact, ArtifactChange, ArtifactLocation, AutomationDetails, Configuration, Descriptor, Driver, Fix, Invocation,
    Location, Log, LogicalLocation, Message, Notification, PhysicalLocation, Region, Replacement, ResultObject, Rule,
    Run, Tool,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// `report.sarif`
pub struct Sarif;

/// What can be missing; the position is the rule's index.
const RULES: [(&str, &str, &str, &str); 4] = [
    (
        "missing-fence",
        "MissingFence",
        "A fence is missing.",
        "Without a fence here, the memory model lets a later access of this thread be executed before an earlier one, and other threads can tell: the program is not sequentially consistent.",
    ),
    (
        "missing-cumulative-fence",
        "MissingCumulativeFence",
        "A cumulative fence is missing.",
        "This thread may read a write before all threads can see it. Without a cumulative fence here, what it does next can be seen before that write: the program is not sequentially consistent.",
    ),
    (
        "missing-lock",
        "MissingLock",
        "A lock is missing.",
        "An instruction that is specified as one step has several accesses, and other threads can tell that it is not one step. It and those that conflict with it must take a lock.",
    ),
    (
        "no-fences-are-enough",
        "NoFencesAreEnough",
        "No fences are enough.",
        "The property does not hold, and a run that shows it is possible whatever fences are put in.",
    ),
];

impl Report for Sarif {
    fn file_name(&self) -> &'static str {
        "report.sarif"
    }

    fn write(&self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        write_runs(vec![run(outcome, None)], out)
    }

    /// A run a model.
    fn write_all(&self, outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
        let details = |outcome: &Outcome| AutomationDetails { id: format!("seqcon/{}", outcome.model) };
        write_runs(outcomes.iter().map(|outcome| run(outcome, Some(details(outcome)))).collect(), out)
    }
}

fn write_runs(runs: Vec<Run<'_>>, out: &mut dyn Write) -> io::Result<()> {
    let log = Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn run(outcome: &Outcome, automation_details: Option<AutomationDetails>) -> Run<'_> {
    let writer = Writer { outcome, identities: identity::identities(outcome) };
    Run {
        tool: Tool { driver: driver() },
        automation_details,
        invocations: vec![writer.invocation()],
        artifacts: outcome.provenance.inputs.iter().map(artifact).collect(),
        column_kind: "unicodeCodePoints",
        results: outcome.results.iter().flat_map(|result| writer.results(result)).collect(),
    }
}

fn driver() -> Driver {
    let rule = |(id, name, short, full): (&'static str, &'static str, &str, &str)| Rule {
        id,
        name,
        short_description: Message::new(short),
        full_description: Message::new(full),
        help: Message::new(format!(
            "{full} The code flow shows a shortest cycle of accesses that comes about without it, or a run; 'seqcon fix' repairs a specification."
        )),
        default_configuration: Configuration { level: "warning" },
    };
    Driver {
        name: "seqcon",
        version: Provenance::VERSION,
        semantic_version: Provenance::VERSION,
        information_uri: information_uri(),
        rules: RULES.into_iter().map(rule).collect(),
    }
}

/// The address that Cargo.toml gives as the homepage, or the repository.
fn information_uri() -> Option<&'static str> {
    let given = [env!("CARGO_PKG_HOMEPAGE"), env!("CARGO_PKG_REPOSITORY")];
    given.into_iter().find(|address| !address.is_empty())
}

fn artifact(input: &Input) -> Artifact<'_> {
    let hashes = input.sha256.as_deref().map(|hash| ("sha-256", hash)).into_iter().collect();
    let is_file = input.path != "-";
    Artifact {
        location: is_file.then(|| ArtifactLocation { uri: uri(&input.path), index: None }),
        description: (!is_file).then(|| Message::new("standard input")),
        roles: ["analysisTarget"],
        hashes,
    }
}

/// A file name as a URI reference: relative names stay so.
fn uri(path: &str) -> String {
    let path = if std::path::MAIN_SEPARATOR == '\\' { path.replace('\\', "/") } else { path.to_owned() };
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

struct Writer<'a> {
    outcome: &'a Outcome,
    /// What the instructions are, by number.
    identities: Vec<String>,
}

impl<'a> Writer<'a> {
    fn invocation(&self) -> Invocation<'a> {
        let caveats = self.outcome.caveats.iter().map(|caveat| self.notification(caveat));
        let limited = |result: &ModelOutcome| {
            let limit = limits::in_words(self.outcome, result).filter(|_| !result.inserted.is_hopeless())?;
            let name = &result.model.name;
            Some(Notification {
                descriptor: None,
                level: "warning",
                locations: Vec::new(),
                message: Message::new(format!(
                    "Under {name} a limit left something out, and there may be more to find: {limit}."
                )),
            })
        };
        let incomplete = self.outcome.results.iter().filter_map(limited);
        let refused = &self.outcome.provenance.refused;
        let other = |problem: &String| Notification {
            descriptor: None,
            level: "error",
            locations: Vec::new(),
            message: Message::new(format!("Another input of the command could not be done: {problem}.")),
        };
        Invocation {
            command_line: &self.outcome.provenance.command,
            execution_successful: refused.is_empty(),
            tool_execution_notifications: caveats.chain(incomplete).chain(refused.iter().map(other)).collect(),
        }
    }

    fn notification(&self, caveat: &Caveat) -> Notification {
        let location = self.outcome.source.as_ref().zip(caveat.span).map(|(source, span)| Location {
            id: None,
            physical_location: Some(PhysicalLocation {
                artifact_location: self.artifact_of(source),
                region: region(source, span),
            }),
            logical_locations: Vec::new(),
            message: None,
        });
        Notification {
            descriptor: Some(Descriptor { id: caveat.topic.name() }),
            level: caveat.topic.level().name(),
            message: Message::new(format!("{}.", capitalised(&caveat.sentence))),
            locations: location.into_iter().collect(),
        }
    }

    fn results(&self, result: &ModelOutcome) -> Vec<ResultObject> {
        let edges = Edges::new(self.outcome, result);
        let fences = result.fences.iter().map(|fence| self.fence(result, &edges, fence));
        let locks = result.locks.iter().enumerate().map(|(number, lock)| self.lock(result, &edges, number, lock));
        let unfixable = result.inserted.is_hopeless().then(|| self.unfixable(result));
        fences.chain(locks).chain(unfixable).collect()
    }

    /// What no fence repairs is an error, not nothing.
    fn unfixable(&self, result: &ModelOutcome) -> ResultObject {
        const RULE: usize = 3;
        let name = &result.model.name;
        let told = result.runs.first();
        let run = told.map_or(String::new(), |run| format!(" {}{}", runs::list(&run.evidence), run.because));
        let run = run.split_whitespace().collect::<Vec<_>>().join(" ");
        ResultObject {
            rule_id: RULES[RULE].0,
            rule_index: RULE,
            level: "error",
            message: Message::new(format!("Under {name}, no fences are enough for {}. {run}", self.outcome.property)),
            locations: Vec::new(),
            related_locations: Vec::new(),
            code_flows: told.and_then(|told| self.run_flow(told)).into_iter().collect(),
            fixes: Vec::new(),
            partial_fingerprints: fingerprint(&[RULES[RULE].0, name]),
            properties: BTreeMap::from([("memoryModel", name.clone())]),
        }
    }

    fn fence(&self, result: &ModelOutcome, edges: &Edges<'_>, fence: &Fence) -> ResultObject {
        let accesses = &self.outcome.accesses;
        let instr = names::instruction(accesses, fence.site.instr);
        let (position, place) = (place_name(fence.site.place), names::place(fence.site.place));
        let reason = fence.delays.iter().map(|&delay| &result.findings.delays[delay]);
        let reason = reason.min_by_key(|delay| delay.witness.num_of_accesses());
        let why = reason.map_or(String::new(), |delay| {
            let (from, to) = (self.access(delay.from), self.access(delay.to));
            if delay.is_unsafe {
                format!(": without it, {to} may be executed before {from}")
            } else {
                format!(": without it, {to} may be seen before the write that {from} has read")
            }
        });
        let run = fence.runs.first().and_then(|&run| self.run_flow(&result.runs[run])).filter(|_| reason.is_none());
        let why = if run.is_some() { ": without it, the run of the code flow is possible".to_owned() } else { why };
        let flow = reason.map(|delay| self.cycle_flow(edges, &delay.witness, &[])).or(run);
        let minimal = self.outcome.minimal(result);
        let asked = if minimal == Minimal::Program { "needed" } else { "asked for" };
        let what = format!(
            "Under {}, {} ({}) is {asked} {place} {instr} ({}){why}.",
            result.model.name,
            fence.mnemonic,
            fence.strength,
            identity::text(self.outcome, fence.site.instr)
        );
        let is_confirmed = |delay: &usize| result.confirmations.get(*delay) == Some(&Confirmation::Yes);
        let repair = Repair { fences: [(fence.site, fence.strength)].into(), ..Repair::default() };
        let rule = match fence.strength {
            FenceStrength::Cumulative => 1,
            _ => 0,
        };
        ResultObject {
            rule_id: RULES[rule].0,
            rule_index: rule,
            level: if fence.delays.iter().any(is_confirmed) { "error" } else { "warning" },
            message: Message::new(what),
            locations: vec![self.location(fence.site.instr)],
            related_locations: self.other_ways(fence.site),
            code_flows: flow.into_iter().collect(),
            fixes: self.fix(&repair, &format!("Put a fence {place} {instr}.")).into_iter().collect(),
            partial_fingerprints: fingerprint(&[
                RULES[rule].0,
                &result.model.name,
                &self.identities[fence.site.instr.index()],
                &position,
            ]),
            properties: BTreeMap::from([
                ("memoryModel", result.model.name.clone()),
                ("minimal", minimal.to_string()),
                ("mnemonic", fence.mnemonic.clone()),
                ("position", position),
                ("servedDelays", fence.delays.len().to_string()),
            ]),
        }
    }

    fn lock(&self, result: &ModelOutcome, edges: &Edges<'_>, number: usize, lock: &Lock) -> ResultObject {
        let accesses = &self.outcome.accesses;
        let users = |partners: bool| lock.users.iter().filter(move |(_, role)| (**role == Role::Partner) == partners);
        let torn: Vec<InstrId> = users(false).map(|(&instr, _)| instr).collect();
        let names_of = |instrs: &[InstrId]| -> String {
            instrs.iter().map(|&instr| names::instruction(accesses, instr)).collect::<Vec<_>>().join(", ")
        };
        let locations: Vec<&str> = lock.locations.iter().map(|&location| names::location(accesses, location)).collect();
        let others = match users(true).count() {
            0 => String::new(),
            more => format!(", and by {more} more that conflict"),
        };
        let what = format!(
            "Under {}, a lock for {} is needed by {}{others}: without it, other threads can tell that this is not one step.",
            result.model.name,
            locations.join(", "),
            names_of(&torn),
        );
        let witnesses = result.findings.torn.iter().filter(|found| torn.contains(&found.instr));
        let reason = witnesses.min_by_key(|found| found.witness.num_of_accesses());
        let repair = Repair { locked: torn.iter().copied().collect(), ..Repair::default() };
        let related = users(true).enumerate().map(|(position, (&instr, _))| Location {
            id: Some(position + 1),
            message: Some(Message::new("This must take the lock, too.")),
            ..self.location(instr)
        });
        let torn_names = names_of(&torn);
        let identities: Vec<&str> = torn.iter().map(|instr| self.identities[instr.index()].as_str()).collect();
        ResultObject {
            rule_id: RULES[2].0,
            rule_index: 2,
            level: "warning",
            message: Message::new(what),
            locations: torn.iter().take(1).map(|&instr| self.location(instr)).collect(),
            related_locations: related.collect(),
            code_flows: reason
                .map(|found| {
                    self.cycle_flow(
                        edges,
                        &found.witness,
                        &[SegmentVerdict { torn: true, ..SegmentVerdict::default() }],
                    )
                })
                .into_iter()
                .collect(),
            fixes: self.fix(&repair, &format!("Make {torn_names} atomic.")).into_iter().collect(),
            partial_fingerprints: fingerprint(&[RULES[2].0, &result.model.name, &identities.join(", ")]),
            properties: BTreeMap::from([
                ("lock", number.to_string()),
                ("memoryModel", result.model.name.clone()),
                ("locations", locations.join(" ")),
            ]),
        }
    }

    /// Of a fence at a control state, the other instructions that lead there.
    fn other_ways(&self, point: Site) -> Vec<Location> {
        if point.place != outline::Place::State {
            return Vec::new();
        }
        let others = self.outcome.leading_along(point.instr).into_iter().filter(|&other| other != point.instr);
        let location = |(position, other): (usize, InstrId)| Location {
            id: Some(position + 1),
            message: Some(Message::new("This leads to the state, too.")),
            ..self.location(other)
        };
        others.enumerate().map(location).collect()
    }

    fn access(&self, vertex: VertexId) -> String {
        let accesses = &self.outcome.accesses;
        format!("{} {}", names::instruction(accesses, accesses.vertex(vertex).instr), names::access(accesses, vertex))
    }

    fn location(&self, instr: InstrId) -> Location {
        let accesses = &self.outcome.accesses;
        let (thread, name) = accesses.names_of(instr);
        let logical = |name: &str, full: String, kind| LogicalLocation {
            name: name.to_owned(),
            fully_qualified_name: full,
            kind,
        };
        let physical = self.outcome.source.as_ref().and_then(|source| {
            let region = region(source, source.span(instr)?);
            Some(PhysicalLocation { artifact_location: self.artifact_of(source), region })
        });
        Location {
            id: None,
            physical_location: physical,
            logical_locations: vec![
                logical(name, names::instruction(accesses, instr), "instruction"),
                logical(thread, thread.to_owned(), "thread"),
            ],
            message: None,
        }
    }

    fn artifact_of(&self, source: &Source) -> ArtifactLocation {
        let index = self.outcome.provenance.inputs.iter().position(|input| input.path == source.path);
        ArtifactLocation { uri: uri(&source.path), index }
    }

    /// The change of the text, where the language has words for it.
    fn fix(&self, repair: &Repair, description: &str) -> Option<Fix> {
        let source = self.outcome.source.as_ref()?;
        let insertions = Language::of(&source.path)?.insertions?;
        let insertions = insertions(&source.text, &source.program, &repair.changes(&source.outline)).ok()?;
        let replacements = insertions.into_iter().map(|(at, what)| Replacement {
            deleted_region: region(source, Span { start: at, end: at }),
            inserted_content: Message::new(what),
        });
        let change =
            ArtifactChange { artifact_location: self.artifact_of(source), replacements: replacements.collect() };
        let description =
            format!("{description} For this result alone: 'seqcon fix' makes the changes for all results, each once.");
        Some(Fix { description: Message::new(description), artifact_changes: [change] })
    }
}

/// The sentence with its first letter in upper case.
fn capitalised(sentence: &str) -> String {
    let mut rest = sentence.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

fn region(source: &Source, span: Span) -> Region {
    let (start, end) = (LineColumn::of(&source.text, span.start), LineColumn::of(&source.text, span.end));
    Region { start_line: start.line, start_column: start.column, end_line: end.line, end_column: end.column }
}

/// The hash of what a result is about.
fn fingerprint(parts: &[&str]) -> BTreeMap<&'static str, String> {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let hash: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    BTreeMap::from([("seqconResult/v2", hash)])
}
