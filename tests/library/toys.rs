//! An engine and a language of a test's own: what each takes, and that everything behind them works with it.
//!
//! In the source each would be a folder, and the lines that `docs/architecture.md` names; here they are not in the
//! lists, so that nobody else meets them.

use crate::support::outcomes::hostile;
use seqcon::aeg::Accesses;
use seqcon::analysis::{Evidence, Explored, Inserted, ModelOutcome, Options, Outcome, Told};
use seqcon::budget::Budget;
use seqcon::caveat::Caveat;
use seqcon::cycles::Atomicity;
use seqcon::engines::{
    self, Answer, Checker, Description, Engine, Examined, Ground, Purpose, Settings, Subject, Task, Trouble,
};
use seqcon::explore::Limits;
use seqcon::insertion::Demand;
use seqcon::lang::{Diagnostic, Language, Parsed};
use seqcon::memory::{FenceStrength, MemoryModel};
use seqcon::outline::Site;
use seqcon::program::{
    Assignment, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread, Type, Variable,
};
use seqcon::property::PropertyKind;
use seqcon::repair::Repair;
use seqcon::report::{self, text};
use seqcon::specification::Specification;
use std::collections::BTreeSet;
use std::time::Duration;

/// A language: a line for each thread, of words `x=1` (a write) and `x` (a read into the thread's only register).
const TOY: Language = Language {
    name: "toy",
    extensions: &["toy"],
    reference: "the tests",
    parse: parse_toy,
    edit: None,
    insertions: None,
    instances: None,
    writes_store_fences: false,
    writes_kinds: false,
    condition: None,
};

fn variable(name: &str) -> Variable {
    let (ty, span) = (Type::Integer, Span::default());
    Variable { name: name.to_owned(), ty, modulus: None, is_array: false, initial: vec![0], span }
}

fn parse_toy(stem: &str, text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let mut names: Vec<&str> = text.split_whitespace().map(|word| word.split('=').next().unwrap_or(word)).collect();
    names.sort_unstable();
    names.dedup();
    let mut errors = Vec::new();
    let mut offset = 0;
    let mut threads = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut instructions = Vec::new();
        for (position, word) in line.split_whitespace().enumerate() {
            let start = offset + line.find(word).unwrap_or(0);
            let span = Span { start, end: start + word.len() };
            let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let shared = names.binary_search(&name).expect("all names were collected");
            let reference = |scope, variable| Reference { scope, variable, index: None, span };
            let assignment = match value.map(str::parse) {
                None => Assignment {
                    target: reference(Scope::Local, 0),
                    value: Expression::Read(reference(Scope::Shared, shared)),
                },
                Some(Ok(value)) => {
                    Assignment { target: reference(Scope::Shared, shared), value: Expression::Constant(value) }
                }
                Some(Err(_)) => {
                    errors.push(Diagnostic::error(span, "expected a number behind `=`"));
                    continue;
                }
            };
            instructions.push(Instruction {
                name: position.to_string(),
                from: seqcon::ids::ControlAt::new(position),
                to: seqcon::ids::ControlAt::new(position + 1),
                priority: 0,
                condition: None,
                assignments: vec![assignment],
                kind: InstructionKind::Plain,
                span,
            });
        }
        threads.push(Thread {
            name: format!("T{number}"),
            locals: vec![variable("r")],
            states: (0..=instructions.len()).map(|state| format!("s{state}")).collect(),
            initial: seqcon::ids::ControlAt::new(0),
            instructions,
        });
        offset += line.len() + 1;
    }
    let shared = names.into_iter().map(variable).collect();
    let program = Program { name: stem.to_owned(), shared, threads };
    if errors.is_empty() { Ok(Parsed { program, properties: Vec::new(), warnings: Vec::new() }) } else { Err(errors) }
}

pub fn toy(text: &str) -> Specification {
    let parsed = TOY.read("sb.toy", text).unwrap_or_else(|errors| panic!("{errors}"));
    Specification::new("sb.toy".to_owned(), text.to_owned(), parsed).expect("few indices").0
}

#[test]
fn a_language_is_a_function_and_a_name() {
    let wrong = TOY.read("sb.toy", "x=1 y\ny=one x").expect_err("one is no number");
    assert!(wrong.to_string().starts_with("sb.toy:2:1: error: expected a number behind `=`"), "{wrong}");
    let specification = toy("x=1 y\ny=1 x");
    for engine in ["cycles", "persistence", "store-buffers"] {
        let outcome = outcome(engines::named(engine).unwrap(), &specification);
        assert_eq!(outcome.results[0].fences.len(), 2, "{engine}");
        assert_eq!(outcome.results[0].inserted, Inserted::Enough, "{engine}");
    }
}

/// An engine: between two instructions of a thread, the first of which writes, there must be a fence; a thread that
/// writes `x` twice is hopeless, and of one that writes `z` nothing is known.
struct Toy;

struct Found<'a> {
    specification: &'a Specification,
    accesses: Accesses,
    budget: Budget,
}

impl Engine for Toy {
    fn description(&self) -> Description {
        const PROPERTIES: &[PropertyKind] = &[PropertyKind::NoDeadlock];
        Description {
            name: "toy",
            properties: PROPERTIES,
            models: &[],
            input: "specifications",
            after: "nobody",
            purpose: Purpose::Finds,
            takes: &[],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        let specification = task.program("toy")?;
        let accesses = Accesses::of(specification.outline.clone(), &BTreeSet::new(), |_| 0);
        Ok(Box::new(Found { specification, accesses, budget: (task.rest)() }))
    }
}

impl Found<'_> {
    fn writes(&self, name: &str) -> usize {
        self.specification.text.split_whitespace().filter(|word| word.starts_with(&format!("{name}="))).count()
    }
}

impl Examined for Found<'_> {
    fn accesses(&self) -> &Accesses {
        &self.accesses
    }

    fn explored(&self) -> Explored {
        Explored::default()
    }

    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }

    fn atomicity(&self) -> Atomicity {
        Atomicity::Full
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn checker<'c>(&'c self, _: &'c MemoryModel) -> Result<Box<dyn Checker + 'c>, Trouble> {
        Ok(Box::new(Asked(self)))
    }

    fn place(&self, model: &MemoryModel, options: &Options) -> Result<ModelOutcome, Trouble> {
        engines::insert(self, model, options)
    }
}

struct Asked<'c>(&'c Found<'c>);

impl Checker for Asked<'_> {
    fn check(&mut self, repair: &Repair) -> Result<Answer, Trouble> {
        let Specification { program, outline, .. } = self.0.specification;
        let told = || Told { evidence: Evidence::Text("    a step\n".to_owned()), because: "  It is so.\n".to_owned() };
        let fails = |sites| {
            let demands = BTreeSet::from([Demand::of(sites, FenceStrength::Plain)]);
            Ok(Answer::Fails { told: told(), demands: Some(demands), latest: None })
        };
        if self.0.writes("x") > 1 {
            return fails(BTreeSet::new());
        }
        for (at, instruction) in program.instructions_at() {
            let writes = instruction.assignments[0].target.scope == Scope::Shared;
            let next = program.thread(at.thread).instructions_at().find(|(_, next)| next.from == instruction.to);
            let Some((next, _)) = next.filter(|_| writes) else { continue };
            let next = seqcon::program::At { instruction: next, ..at };
            let sites = BTreeSet::from([Site::after(outline.instr(at)), Site::before(outline.instr(next))]);
            if sites.is_disjoint(&repair.sites()) {
                return fails(sites);
            }
        }
        if self.0.writes("z") > 0 {
            return Ok(Answer::Undecided("z is a mystery".to_owned()));
        }
        Ok(Answer::Holds(Ground { claim: "it holds", rests_on: "a look".to_owned() }))
    }
}

pub fn outcome(engine: &dyn Engine, specification: &Specification) -> Outcome {
    let description = engine.description();
    let settings = Settings::default();
    let task = Task {
        subject: Subject::Program(specification),
        property: &description.properties[0].without_condition().unwrap(),
        models: &[],
        limits: &Limits::default(),
        rest: &Budget::default,
        settings: &settings,
    };
    let examined = engine.examine(&task).unwrap_or_else(|trouble| panic!("{trouble:?}"));
    let model = MemoryModel::named("tso").expect("built in");
    let options = Options { atomicity: examined.atomicity(), ..Options::default() };
    let result = examined.place(&model, &options).unwrap_or_else(|trouble| panic!("{trouble:?}"));
    engines::outcome(engine, &task, &*examined, options, vec![result], Duration::ZERO)
}

fn written(outcome: &Outcome) -> String {
    let mut shown = String::new();
    text::write_result(outcome, &outcome.results[0], &mut shown).expect("a string takes everything");
    text::write_explained(outcome, &outcome.results[0], &mut String::new()).expect("a string takes everything");
    for report in report::all() {
        // Every format takes it, also with hostile names.
        for outcome in [outcome.clone(), hostile(outcome.clone())] {
            report.write(&outcome, &mut Vec::new()).unwrap_or_else(|error| panic!("{}: {error}", report.file_name()));
        }
    }
    shown
}

#[test]
fn an_engine_is_a_checker_and_a_description() {
    let outcome = outcome(&Toy, &toy("x=1 y=1 y\ny=1 x"));
    let result = &outcome.results[0];
    assert_eq!((result.fences.len(), result.complete), (3, true));
    let first = outcome.minimal_in_words(result);
    assert_eq!(first, "fewest: each is needed by a run");
    let shown = written(&outcome);
    assert!(shown.contains("engine toy, which guarantees no state between instructions"), "{shown}");
    assert!(shown.contains("without F0, this run is possible:\n    a step\n  It is so.\n"), "{shown}");
}

#[test]
fn what_cannot_be_fixed_is_not_clean() {
    let outcome = outcome(&Toy, &toy("x=1 x=2"));
    let result = &outcome.results[0];
    assert_eq!((&result.inserted, result.is_clean(), result.complete), (&Inserted::Unfixable, false, false));
    let shown = written(&outcome);
    assert!(shown.lines().next().is_some_and(|title| title.ends_with(": no fences are enough")), "{shown}");
    assert!(shown.contains("no fence stops this run:\n    a step\n"), "{shown}");
    assert!(!shown.contains("no fence and no lock is needed"), "{shown}");
    assert!(outcome.summary_line(result).contains(" minimal=no complete=no "), "{}", outcome.summary_line(result));
    let mut json = Vec::new();
    report::Report::write(&report::json::Json, &outcome, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["results"][0]["inserted"]["verdict"], "unfixable");
    // An engine that has a text only is not said to have a run.
    let run = &json["results"][0]["runs"][0];
    assert_eq!(*run, serde_json::json!({ "steps": ["a step"], "because": "It is so." }));
    assert_eq!(json["results"][0]["limit"], "no fences are enough");
    let mut sarif = Vec::new();
    report::Report::write(&report::sarif::Sarif, &outcome, &mut sarif).unwrap();
    let sarif: serde_json::Value = serde_json::from_slice(&sarif).unwrap();
    let found = &sarif["runs"][0]["results"][0];
    assert_eq!((&found["ruleId"], &found["level"]), (&"no-fences-are-enough".into(), &"error".into()));
    assert_eq!(found.get("codeFlows"), None);
}

#[test]
fn what_is_not_decided_is_told_with_a_bound() {
    let outcome = outcome(&Toy, &toy("z=1 y=1 y\ny=1 z"));
    let result = &outcome.results[0];
    assert_eq!(result.inserted, Inserted::Undecided(3, "z is a mystery".to_owned()));
    assert!(!result.is_clean() && !result.complete && result.fences.is_empty());
    let shown = written(&outcome);
    assert!(shown.contains("it is not known which fences are enough: z is a mystery"), "{shown}");
    assert!(shown.contains("fewest: not known (at least 3 needed)"), "{shown}");
}
