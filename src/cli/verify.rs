//! `seqcon verify`: is the program right under a memory model, with the suggestions in place?

use super::analyse::atomicity;
use super::arguments::{AtomicityArgument, ConfirmArgument, ConfirmationArguments, Verbosity, VerifyArguments};
use super::documents::{Document, summary_lines};
use super::engine::{self, Chosen, Wanted};
use super::failure::Failure;
use super::input::{memory_model_or_axioms, refuse_repeated_models, stem};
use super::outputs::tell_each;
use super::places::refuse_clashes;
use super::progress::Spinner;
use crate::analysis::{ModelOutcome, Options, Verification};
use crate::caveat::Caveat;
use crate::engines::words::Words;
use crate::engines::{self, Answer, Confirm, Engine, Examined, Settings, Subject, Task};
use crate::kinds::outcome as kinds;
use crate::memory::MemoryModel;
use crate::property::{Property, PropertyKind};
use crate::repair::{Repair, Reported};
use crate::report::json::{caveat_object, run_object};
use crate::report::output::Staged;
use crate::report::reading;
use crate::report::rows::word;
use crate::report::runs::{self, Style};
use crate::report::streams::{self, harmless};
use crate::report::svg::Verdicts;
use crate::report::text::write_caveats;
use crate::specification::Specification;
use crate::tell;
use crate::text::counted;
use crate::trial;
use crate::weak::Machine;
use crate::weak::split::SplitProgram;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &VerifyArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let models: Vec<MemoryModel> =
        arguments.memory_models.iter().map(|name| memory_model_or_axioms(name)).collect::<Result<_, _>>()?;
    // Before anything is read or explored.
    refuse_repeated_models(&models)?;
    let wanted = arguments.engine.wanted()?;
    let puts_nothing_in = is_judged_as_it_stands(arguments, &wanted) || arguments.with.is_some();
    if let Some(model) = models.iter().find(|model| model.axioms.is_some() && !puts_nothing_in) {
        return Err(Failure::Usage(format!(
            "{} has axioms and no table, and suggestions come from a table; give --as-is, to judge the program as it stands",
            model.name
        )));
    }
    for model in &models {
        let judging = arguments.engine.judging(model)?;
        engine::refuse_options(judging.engine, &arguments.engine.of_engine())?;
        // Suggestions are those of another engine, which takes more.
        if puts_nothing_in {
            engine::refuse_options(judging.engine, &asked(arguments.atomicity, &arguments.confirmation))?;
        } else if arguments.atomicity.is_some() {
            engine::refuse_options(judging.engine, &[(true, "--atomicity")])?;
        }
    }
    let read = [arguments.specification.path.as_path()].into_iter().chain(arguments.with.as_deref());
    let written = arguments.document.path().into_iter().chain(arguments.svg.as_deref());
    refuse_clashes(written, read.chain(arguments.memory_models.iter().map(Path::new)))?;
    let specification = arguments.specification.read()?;
    let command = Command { arguments, specification: &specification, settings: settings(arguments)?, verbosity };
    if puts_nothing_in {
        return command.verify(&models, None);
    }
    let (subject, limits) = (Subject::Program(&specification), &arguments.limits);
    engine::examine(&suggesting(&wanted), (subject, &models), &command.settings, limits, |task, examined| {
        command.verify(&models, Some((task, examined)))
    })
}

/// The options of a command that not all engines take.
pub fn asked(atomicity: Option<AtomicityArgument>, confirmation: &ConfirmationArguments) -> [(bool, &'static str); 3] {
    let confirms = matches!(confirmation.confirm, Some(ConfirmArgument::Full | ConfirmArgument::Mark));
    [(atomicity.is_some(), "--atomicity"), (confirms, "--confirm"), (confirmation.only_confirmed, "--only-confirmed")]
}

/// How engines go about it.
fn settings(arguments: &VerifyArguments) -> Result<Settings, Failure> {
    Ok(Settings {
        atomicity: arguments.atomicity.map(atomicity),
        confirm: arguments.confirmation.how()?,
        searches: trial::Limits { unroll: arguments.unroll, ..arguments.confirmation.searches() },
        abstracting: arguments.engine.abstracting(),
        reductions: arguments.engine.reductions(),
        approach: arguments.limits.approach(None)?,
        ..Settings::default()
    })
}

/// Whose fences are put in: those that are enough for what is next to the property and above it on the ladder.
fn suggesting(wanted: &Wanted) -> Chosen {
    let property = match wanted.kind() {
        PropertyKind::Persistent => Property::Persistent,
        _ => Property::Robust,
    };
    let engine = engines::finding(property.kind()).expect("the engines of both properties find fences");
    Chosen { engine, wanted: Wanted::Named(property) }
}

/// Whether nothing is put in: that was asked for, or the property is one of states, which is judged of the program as
/// it stands.
fn is_judged_as_it_stands(arguments: &VerifyArguments, wanted: &Wanted) -> bool {
    let of_states = [PropertyKind::Never, PropertyKind::Final, PropertyKind::NoDeadlock];
    arguments.as_is || of_states.contains(&wanted.kind())
}

/// Who judges whether a program has a property, or what is next to it on the ladder.
pub fn judged(property: PropertyKind, model: &MemoryModel) -> Result<(&'static dyn Engine, PropertyKind), Failure> {
    let property = engines::judged_property(property);
    match engines::judging(property, model).filter(|engine| engine.description().judges()) {
        Some(engine) => Ok((engine, property)),
        None => Err(engine::not_run(model).unwrap_or_else(|| engine::nobody(property, "judges"))),
    }
}

/// The schema of what `--json` writes.
const SCHEMA_VERSION: u32 = 1;

/// The verdicts as data.
#[derive(Serialize)]
struct VerdictsObject<'a> {
    file: &'a str,
    property: &'static str,
    caveats: Vec<Value>,
    results: Vec<Verdict>,
}

/// The verdict under one memory model.
#[derive(Serialize)]
struct Verdict {
    memory_model: String,
    /// `verified`, `violated`, `up to a bound` or `not decided`.
    verdict: &'static str,
    /// What was put in.
    fences: usize,
    atomic_instructions: usize,
    /// Only a part of the state space was known when it was found what is to be put in.
    put_in_for_a_part: bool,
    /// What holds, and what that rests on.
    claim: Option<&'static str>,
    rests_on: Option<String>,
    /// What left it open.
    limit: Option<String>,
    /// How instructions with several accesses were read, if there are such.
    reading: Option<String>,
    /// A run that shows a violation.
    run: Option<Value>,
}

impl Verdict {
    fn of(model: &MemoryModel, repair: &Repair, answer: &Answer, specification: &Specification) -> Verdict {
        let (verdict, claim, rests_on, limit, run) = match answer {
            Answer::Holds(ground) => ("verified", Some(ground.claim), Some(ground.rests_on.clone()), None, None),
            Answer::Fails { told, .. } => {
                ("violated", None, None, None, Some(json!(run_object(Some(&specification.source()), told))))
            }
            open => match open.clone().verification() {
                Verification::Bounded(limit) => ("up to a bound", None, None, Some(limit), None),
                Verification::Undecided(limit) => ("not decided", None, None, Some(limit), None),
                Verification::NotAsked | Verification::Verified(_) | Verification::Violated => {
                    ("not decided", None, None, None, None)
                }
            },
        };
        Verdict {
            memory_model: model.name.clone(),
            verdict,
            fences: repair.fences.len(),
            atomic_instructions: repair.locked.len(),
            put_in_for_a_part: false,
            claim,
            rests_on,
            limit,
            reading: None,
            run,
        }
    }

    /// For `grep`.
    fn summary_line(&self, model: &str) -> String {
        format!(
            "model={} memory_model={} verdict={} fences={} atomic_instructions={}",
            word(model),
            word(&self.memory_model),
            self.verdict.replace(' ', "-"),
            self.fences,
            self.atomic_instructions
        )
    }
}

/// The verdict under one memory model, in words and as data, and the exit status.
struct Verified {
    text: String,
    verdict: Verdict,
    answer: Answer,
    status: u8,
}

/// What is asked.
struct Command<'a> {
    arguments: &'a VerifyArguments,
    specification: &'a Specification,
    settings: Settings,
    verbosity: Verbosity,
}

/// An analysis that suggests fences.
type Suggesting<'s> = Option<(&'s Task<'s>, &'s dyn Examined)>;

impl Command<'_> {
    fn verify(&self, models: &[MemoryModel], suggesting: Suggesting<'_>) -> Result<ExitCode, Failure> {
        let mut worst = 0;
        let mut document = VerdictsObject {
            file: &self.specification.name,
            property: self.arguments.engine.wanted()?.kind().name(),
            caveats: Vec::new(),
            results: Vec::new(),
        };
        let mut pictures = Verdicts::default();
        let taken = self.takes_stdout();
        for (position, model) in models.iter().enumerate() {
            let judging = self.arguments.engine.judging(model)?;
            let (subject, limits) = (Subject::Program(self.specification), &self.arguments.limits);
            let subject = (subject, std::slice::from_ref(model));
            let (caveats, verified) = engine::examine(&judging, subject, &self.settings, limits, |_, examined| {
                let caveats = match (position, suggesting) {
                    (0, None) => examined.caveats(),
                    (0, Some((_, known))) => known.caveats(),
                    _ => Vec::new(),
                };
                self.tell_caveats(&caveats)?;
                Ok((caveats, self.verify_under(examined, suggesting, model)?))
            })?;
            let Verified { text, verdict, answer, status } = verified;
            let name = stem(Path::new(&self.specification.name));
            let told = match &answer {
                Answer::Fails { told, .. } => Some(told),
                _ => None,
            };
            pictures.add(&name, &model.name, verdict.verdict, told);
            if taken || self.verbosity == Verbosity::Quiet {
                let mut out = summary_lines(taken);
                writeln!(out, "{}", verdict.summary_line(&name)).and_then(|()| out.flush())?;
            } else {
                let mut out = streams::coloured();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
            }
            let source = self.specification.source();
            let objects = caveats.iter().map(|caveat| json!(caveat_object(Some(&source), caveat)));
            document.caveats.extend(objects);
            document.results.push(verdict);
            // A violation is known even if something else was not decided.
            worst = if worst == 1 || status == 1 { 1 } else { worst.max(status) };
        }
        self.arguments.document.write(|| Document::new(SCHEMA_VERSION, document))?;
        if let Some(path) = &self.arguments.svg {
            let mut staged = Staged::new();
            staged.write(path, &mut |out| pictures.write(out))?;
            staged.put_in_place()?;
        }
        Ok(ExitCode::from(worst))
    }

    /// Whether data go to standard output.
    fn takes_stdout(&self) -> bool {
        self.arguments.document.takes_stdout() || self.arguments.svg.as_deref() == Some(Path::new("-"))
    }

    /// What must be known before the verdicts are believed.
    fn tell_caveats(&self, caveats: &[Caveat]) -> Result<(), Failure> {
        if self.verbosity == Verbosity::Quiet || self.takes_stdout() {
            tell_each(&self.specification.name, caveats);
            return Ok(());
        }
        let mut text = String::new();
        write_caveats(caveats, &mut text).map_err(io::Error::other)?;
        let mut out = streams::coloured();
        Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
    }

    /// The verdict under one memory model.
    fn verify_under(
        &self,
        examined: &dyn Examined,
        suggesting: Suggesting<'_>,
        model: &MemoryModel,
    ) -> Result<Verified, Failure> {
        let specification = self.specification;
        let (repair, is_partial) = self.suggestions(suggesting, model)?;
        let failure = |trouble| engine::failure(Subject::Program(specification), trouble);
        let spinner = Spinner::under(model, "verifying", &specification.name);
        let answer = examined.checker(model).and_then(|mut checker| checker.check(&repair)).map_err(failure)?;
        drop(spinner);
        let mut text = String::new();
        let status = write_answer(model, &repair, &answer, &mut text).map_err(io::Error::other)?;
        let mut verdict = Verdict::of(model, &repair, &answer, specification);
        verdict.put_in_for_a_part = is_partial;
        let split = SplitProgram::new(&specification.program).map_err(|error| failure(error.into()))?;
        let composites = split.composites();
        if let Some(&first) = composites.first() {
            let words = Words { specification, locations: &split.locations };
            let named = reading::and_more(words.instruction(first), composites.len());
            let sentence = reading::in_words(examined.atomicity(), &named);
            writeln!(text, "  {}", harmless(&sentence)).map_err(io::Error::other)?;
            verdict.reading = Some(sentence);
        }
        if is_partial {
            text += "  only a part of the state space was explored, so what was put in may lack something: allow the exploration more\n";
        }
        Ok(Verified { text, verdict, answer, status })
    }

    /// What is put in, and whether it is what a part of the state space asks for.
    fn suggestions(&self, suggesting: Suggesting<'_>, model: &MemoryModel) -> Result<(Repair, bool), Failure> {
        if let Some(path) = &self.arguments.with {
            let Reported { repair, is_complete } = reported(path, self.specification, model)?;
            return Ok((repair, !is_complete));
        }
        let Some((task, examined)) = suggesting else { return Ok((Repair::default(), false)) };
        tell_if_unconfirmable(model, &self.arguments.confirmation);
        let _spinner = Spinner::under(model, "analysing", &self.specification.name);
        let kinds = self.arguments.confirmation.kinds.offered();
        let options = Options { atomicity: examined.atomicity(), kinds, ..Options::default() };
        let outcome: ModelOutcome =
            examined.place(model, &options).map_err(|trouble| engine::failure(task.subject, trouble))?;
        let is_partial = examined.explored().cut_off || outcome.stopped.is_some();
        Ok((Repair::of(&outcome), is_partial))
    }
}

/// Writes the verdict and what it rests on, without commands to a terminal but colours; gives the exit status.
fn write_answer(model: &MemoryModel, repair: &Repair, answer: &Answer, out: &mut String) -> Result<u8, fmt::Error> {
    let in_place = format!(
        "{} and {} put in",
        counted(repair.fences.len(), "fence"),
        counted(repair.locked.len(), "atomic instruction")
    );
    let name = harmless(&model.name);
    match answer {
        Answer::Holds(ground) => {
            let rests_on = harmless(&ground.rests_on);
            writeln!(out, "{name}: verified: {} ({in_place})\n  rests on: {rests_on}", ground.claim)?;
            Ok(0)
        }
        Answer::Bounded { bound, states } => {
            writeln!(out, "{name}: no violation with at most {} ({in_place})", counted(*bound, "waiting write"))?;
            writeln!(
                out,
                "  not decided: a store buffer was full (--buffer-bound), and of runs with more waiting writes nothing is known; looked at: {}",
                counted(*states, "state")
            )?;
            Ok(3)
        }
        Answer::UpTo { rounds, because } => {
            writeln!(out, "{name}: verified up to {} of loops ({in_place})", counted(*rounds, "round"))?;
            writeln!(out, "  not decided beyond: {}", harmless(because))?;
            Ok(3)
        }
        Answer::Undecided(limit) | Answer::Suspected { advice: limit, .. } => {
            writeln!(out, "{name}: not decided ({in_place})\n  {}", harmless(limit))?;
            Ok(3)
        }
        Answer::Fails { told, .. } => {
            writeln!(out, "{name}: violated ({in_place}):")?;
            runs::write(told, Style::Drawing, out)?;
            Ok(1)
        }
    }
}

/// What a `report.json` suggests.
pub fn reported(path: &Path, specification: &Specification, model: &MemoryModel) -> Result<Reported, Failure> {
    let json = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
    Repair::from_json(&json, model, &specification.outline).map_err(|error| Failure::in_file(path, error))
}

/// Says it if only confirmed delays are to get fences, and there is no machine on which delays could be tried: then
/// they stay unknown, and all get fences.
pub fn tell_if_unconfirmable(model: &MemoryModel, arguments: &ConfirmationArguments) {
    if arguments.how().is_ok_and(|how| how == Confirm::Full) {
        tell_if_without_machine(model);
    }
}

/// Says it if there is no machine on which delays could be tried.
pub fn tell_if_without_machine(model: &MemoryModel) {
    if let Err(cannot) = Machine::of(model)
        && !kinds::are_asked(model)
    {
        tell!("seqcon: warning: {cannot}; no delay is confirmed, and none is left out");
    }
}

impl ConfirmationArguments {
    /// How far searches go.
    pub fn searches(&self) -> trial::Limits {
        let Settings { searches, .. } = Settings::default();
        trial::Limits { states: self.max_weak_states, buffer: self.buffer_bound, ..searches }
    }

    /// What is asked for.
    pub fn how(&self) -> Result<Confirm, Failure> {
        match (self.only_confirmed, self.confirm) {
            (true, Some(ConfirmArgument::Auto | ConfirmArgument::Off)) => {
                Err(Failure::Usage("--only-confirmed is --confirm=full; give one of them".to_owned()))
            }
            (true, _) | (false, Some(ConfirmArgument::Full)) => Ok(Confirm::Full),
            (false, Some(ConfirmArgument::Off)) => Ok(Confirm::Off),
            (false, Some(ConfirmArgument::Mark)) => Ok(Confirm::Mark),
            (false, None | Some(ConfirmArgument::Auto)) => Ok(Confirm::Auto),
        }
    }
}
