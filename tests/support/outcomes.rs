//! Outcomes of the bundled programs, as `seqcon analyse` makes them.

use super::analyse::{bundled_facts, model};
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Deed, Evidence, Options, Outcome, Run};
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits, explore};
use seqcon::facts::Facts;
use seqcon::lang;
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::provenance::{Input, Provenance, sha256};
use seqcon::source::Source;
use std::fs;
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn names(folder: &str, extension: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    let mut names: Vec<String> =
        paths.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The names of the specifications in SLCO in `specs/`.
pub fn specifications() -> Vec<String> {
    names("specs", "slco")
}

/// The names of the programs as automata in `specs/`.
pub fn automata() -> Vec<String> {
    names("specs", "txt")
}

/// The names of the files in `lts/`.
pub fn state_spaces() -> Vec<String> {
    names("lts", "aut")
}

/// A specification of `specs/`, analysed.
pub fn of_specification(name: &str, models: &[&str], options: &Options) -> Outcome {
    of_file(&format!("specs/{name}.slco"), models, options)
}

/// A program as automata of `specs/`, analysed.
pub fn of_automata(name: &str, models: &[&str], options: &Options) -> Outcome {
    of_file(&format!("specs/{name}.txt"), models, options)
}

fn of_file(path: &str, models: &[&str], options: &Options) -> Outcome {
    let text = fs::read_to_string(root().join(path)).expect("the specification is readable");
    of_text(path, &text, models, options)
}

/// The facts of a program.
pub fn facts_of_program(program: &Program) -> Facts {
    let compiled = Compiled::new(program).expect("few indices");
    let (exploration, watchers) = explore(&compiled, &Limits::default(), &mut FactsObserver).expect("no fault");
    facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions))
}

/// A specification that is a text, analysed; its path says the language.
pub fn of_text(path: &str, text: &str, models: &[&str], options: &Options) -> Outcome {
    let program = lang::parse(path, text).unwrap_or_else(|errors| panic!("{errors}")).program;
    let analysis = Analysis::new(facts_of_program(&program), Profile::Sound);
    let source = Source::new(path.to_owned(), text.to_owned(), program);
    let command = ["seqcon", "analyse", path].map(str::to_owned);
    let input = Input { path: path.to_owned(), sha256: Some(sha256(text.as_bytes())) };
    let provenance = Provenance::of(command, vec![input]);
    Outcome { source: Some(source), provenance, ..outcome(path, analysis, models, options) }
}

/// A state space of `lts/`, analysed.
pub fn of_state_space(name: &str, models: &[&str], options: &Options) -> Outcome {
    outcome(name, Analysis::new(bundled_facts(name), Profile::Sound), models, options)
}

fn outcome(name: &str, analysis: Analysis, models: &[&str], options: &Options) -> Outcome {
    let results = models.iter().map(|name| analysis.run(model(name), options)).collect();
    Outcome::of_analysis(name, analysis, options.clone(), results)
}

/// Names that every format must take as they are.
pub const HOSTILE: [&str; 8] = [
    "\"quoted\" \\",
    "<script>alert(1)</script>",
    "back\\slash\\n\\N\\\\",
    "a -> b [label=\"x\"]; }",
    "line\nbreak\ttab\u{1}",
    "&lt;&amp;*) (* { } ; | %00",
    "日本語 é \u{202e}rtl",
    "C:\\dir\\",
];

/// The same with hostile names of threads, instructions and locations, still all different.
pub fn hostile(mut outcome: Outcome) -> Outcome {
    let accesses = &mut outcome.accesses;
    let name =
        |position: usize| format!("{}{}", HOSTILE[position % HOSTILE.len()], "~".repeat(position / HOSTILE.len()));
    accesses.threads.iter_mut().enumerate().for_each(|(position, thread)| *thread = name(position));
    accesses.locations.iter_mut().enumerate().for_each(|(position, location)| *location = name(position + 3));
    for (position, instruction) in accesses.outline.instructions.iter_mut().enumerate() {
        instruction.name = name(position + 5);
    }
    if let Some(analysis) = &mut outcome.analysis {
        analysis.graph.accesses = accesses.clone();
    }
    outcome.model = name(1);
    for told in outcome.results.iter_mut().flat_map(|result| &mut result.runs) {
        if let Evidence::Run(run) = &mut told.evidence {
            make_hostile(run, &outcome.accesses.threads);
        }
    }
    outcome
}

/// The same of a run: its threads get these names, and everything else in it names of its own.
fn make_hostile(run: &mut Run, threads: &[String]) {
    run.threads.iter_mut().zip(threads).for_each(|(name, hostile)| name.clone_from(hostile));
    for (position, step) in run.steps.iter_mut().enumerate() {
        let hostile = |shift: usize| HOSTILE[(position + shift) % HOSTILE.len()].to_owned();
        match &mut step.deed {
            Deed::Executes { name, text, accesses, .. } => {
                (*name, *text) = (hostile(0), hostile(1));
                accesses.iter_mut().for_each(|access| access.location = hostile(2));
            }
            Deed::BecomesVisible { write, .. } => write.location = hostile(3),
        }
        step.buffers.iter_mut().flatten().for_each(|write| write.location = hostile(4));
    }
}
