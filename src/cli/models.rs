//! `seqcon models`: the memory models and their tables.

use super::arguments::{JsonArgument, ModelsArguments, ModelsCommand, Verbosity};
use super::documents::Document;
use super::failure::Failure;
use super::input::memory_model;
use super::places::refuse_clashes;
use crate::analysis::ModelOutcome;
use crate::litmus;
use crate::memory::{FenceStrength, MemoryModel, Pair};
use crate::report::streams;
use crate::weak::axiomatic::{Model, probe};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &ModelsArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    match &arguments.command {
        None => {
            refuse_model_as_file(&arguments.document)?;
            list(&arguments.document, verbosity)?;
        }
        Some(ModelsCommand::Show { model, toml: true, .. }) => {
            let mut out = streams::data();
            write!(out, "{}", memory_model(model)?.to_toml()).and_then(|()| out.flush())?;
        }
        Some(ModelsCommand::Show { model, document, .. }) => {
            refuse_clashes(document.path(), [Path::new(model)])?;
            show(&memory_model(model)?, document, verbosity)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `--json tso` is meant to show the model, and must not write a file of that name.
fn refuse_model_as_file(document: &JsonArgument) -> Result<(), Failure> {
    let name = document.path().and_then(Path::to_str).filter(|name| MemoryModel::named(name).is_some());
    match name {
        None => Ok(()),
        Some(name) => Err(Failure::Usage(format!(
            "--json takes a file, and {name} is a memory model: seqcon models show {name} --json shows it (./{name}, if the file is to be called so)"
        ))),
    }
}

fn list(document: &JsonArgument, verbosity: Verbosity) -> Result<(), Failure> {
    let models = MemoryModel::builtin();
    let objects = || models.iter().map(|model| model_object(model, None)).collect();
    document.write(|| Document::new(SCHEMA_VERSION, Models { models: objects() }))?;
    if document.takes_stdout() {
        return Ok(());
    }
    let mut out = streams::text();
    for model in &models {
        if verbosity == Verbosity::Quiet {
            writeln!(out, "{}", model.name)?;
            continue;
        }
        let aliases = match &model.aliases[..] {
            [] => String::new(),
            aliases => format!(" [also {}]", aliases.join(", ")),
        };
        writeln!(out, "{:<6} {}{aliases}", model.name, model.title)?;
    }
    Ok(out.flush()?)
}

fn show(model: &MemoryModel, document: &JsonArgument, verbosity: Verbosity) -> Result<(), Failure> {
    let verdicts = litmus::verdicts(model)?;
    document.write(|| Document::new(SCHEMA_VERSION, model_object(model, Some(&verdicts))))?;
    if document.takes_stdout() {
        return Ok(());
    }
    let mut out = streams::text();
    match verbosity {
        Verbosity::Quiet => writeln!(out, "{}", model.name)?,
        _ => write_table(model, &verdicts, &mut out)?,
    }
    Ok(out.flush()?)
}

/// The schema of what `--json` writes.
const SCHEMA_VERSION: u32 = 1;

/// A litmus program, and what the analysis says of it.
type LitmusVerdict = (&'static str, ModelOutcome);

/// The models as data.
#[derive(Serialize)]
struct Models {
    models: Vec<ModelObject>,
}

#[derive(Serialize)]
struct ModelObject {
    name: String,
    title: String,
    aliases: Vec<String>,
    /// The rows of the table, and store atomicity, as in report.json.
    rules: BTreeMap<String, String>,
    /// The fence instructions, the cheapest first.
    fences: Vec<InstructionObject>,
    /// The instructions whose accesses carry marks, the cheapest first.
    marks: Vec<InstructionObject>,
    /// Whether axioms are known, too: then programs are run, and litmus tests judged.
    has_axioms: bool,
    /// Of a model that is shown: what it does to the litmus programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    litmus: Option<Vec<LitmusObject>>,
}

#[derive(Serialize)]
struct InstructionObject {
    mnemonic: String,
    /// The orders that a fence keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cumulative: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marks: Option<String>,
    cost: u64,
}

#[derive(Serialize)]
struct LitmusObject {
    program: &'static str,
    /// Whether the outcome that is not sequentially consistent is allowed.
    allowed: bool,
    plain_fences: usize,
    cumulative_fences: usize,
    /// What forbids it, all of it.
    instructions: Vec<String>,
}

fn model_object(model: &MemoryModel, verdicts: Option<&[LitmusVerdict]>) -> ModelObject {
    let fences = model.fences.iter().map(|fence| InstructionObject {
        mnemonic: fence.mnemonic.clone(),
        orders: Some(fence.orders.iter().map(|(first, second)| format!("{first}{second}")).collect()),
        cumulative: Some(fence.cumulative),
        marks: None,
        cost: fence.cost,
    });
    let marks = model.marks.iter().map(|instruction| InstructionObject {
        mnemonic: instruction.mnemonic.clone(),
        orders: None,
        cumulative: None,
        marks: Some(instruction.marks.to_string()),
        cost: instruction.cost,
    });
    let litmus = |(program, outcome): &LitmusVerdict| LitmusObject {
        program,
        allowed: !outcome.is_clean(),
        plain_fences: outcome.num_of_fences(FenceStrength::Plain),
        cumulative_fences: outcome.num_of_fences(FenceStrength::Cumulative),
        instructions: outcome.fences.iter().map(|fence| fence.mnemonic.clone()).collect(),
    };
    ModelObject {
        name: model.name.clone(),
        title: model.title.clone(),
        aliases: model.aliases.clone(),
        rules: model.rules(),
        fences: fences.collect(),
        marks: marks.collect(),
        has_axioms: Model::of(model).is_ok(),
        litmus: verdicts.map(|verdicts| verdicts.iter().map(litmus).collect()),
    }
}

/// Where the axioms come from, and what they keep that the table does not.
fn write_axioms(table: &MemoryModel, out: &mut impl Write) -> Result<(), Failure> {
    let Ok(model) = Model::of(table) else {
        writeln!(out, "axioms               none")?;
        return Ok(());
    };
    let beyond = match probe::beyond(table, &model) {
        more if more.is_empty() => String::new(),
        more => format!("; beyond the table they keep: {}", more.join(", ")),
    };
    writeln!(out, "axioms               src/memory/cat/models/{}.cat{beyond}", model.name())?;
    Ok(())
}

fn write_table(model: &MemoryModel, verdicts: &[LitmusVerdict], out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "{} ({})", model.name, model.title)?;
    writeln!(out)?;
    writeln!(out, "in program order     kept?")?;
    for pair in Pair::all() {
        writeln!(out, "  {pair}         {}", model.preserved.guarantee(pair))?;
    }
    let atomic = if model.store_atomic { "yes" } else { "no: another thread may see a write before everybody does" };
    writeln!(out, "store-atomic         {atomic}")?;
    let costs = |instructions: Vec<(&str, u64)>| -> String {
        let each = |(mnemonic, cost): (&str, u64)| {
            if cost == 1 { mnemonic.to_owned() } else { format!("{mnemonic} (cost {cost})") }
        };
        let all: Vec<String> = instructions.into_iter().map(each).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    };
    let fences = model.fences.iter().map(|fence| (fence.mnemonic.as_str(), fence.cost)).collect();
    writeln!(out, "fences               {}", costs(fences))?;
    if !model.marks.is_empty() {
        let marks = model.marks.iter().map(|mark| (mark.mnemonic.as_str(), mark.cost)).collect();
        writeln!(out, "marks                {}", costs(marks))?;
    }
    write_axioms(model, out)?;
    writeln!(out)?;
    writeln!(out, "litmus  non-SC outcome  what forbids it")?;
    for (name, outcome) in verdicts {
        let verdict = if outcome.is_clean() { "forbidden" } else { "allowed" };
        let mut number: BTreeMap<&str, usize> = BTreeMap::new();
        outcome.fences.iter().for_each(|fence| *number.entry(&fence.mnemonic).or_default() += 1);
        let fences: Vec<String> = number.iter().map(|(mnemonic, number)| format!("{number} {mnemonic}")).collect();
        let fences = fences.join(", ");
        writeln!(out, "{}", format!("{name:<7} {verdict:<15} {fences}").trim_end())?;
    }
    Ok(())
}
