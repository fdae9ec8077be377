//! `seqcon models`: the memory models and their tables.

use super::arguments::{ModelsArguments, ModelsCommand};
use super::failure::Failure;
use super::input::memory_model;
use crate::litmus;
use crate::memory::{FenceStrength, MemoryModel, Pair};
use crate::report::streams;
use crate::weak::axiomatic::{Model, probe};
use std::io::Write;
use std::process::ExitCode;

pub fn run(arguments: &ModelsArguments) -> Result<ExitCode, Failure> {
    let mut out = streams::text();
    match &arguments.command {
        None => {
            for model in MemoryModel::builtin() {
                let aliases = if model.aliases.is_empty() {
                    String::new()
                } else {
                    format!(" [also {}]", model.aliases.join(", "))
                };
                writeln!(out, "{:<6} {}{aliases}", model.name, model.title)?;
            }
        }
        Some(ModelsCommand::Show { model }) => show(&memory_model(model)?, &mut out)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
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

fn show(model: &MemoryModel, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "{} ({})", model.name, model.title)?;
    writeln!(out)?;
    writeln!(out, "in program order     kept?")?;
    for pair in Pair::all() {
        writeln!(out, "  {pair}         {}", model.preserved.guarantee(pair))?;
    }
    let atomic = if model.store_atomic { "yes" } else { "no: another thread may see a write before everybody does" };
    writeln!(out, "store-atomic         {atomic}")?;
    let fences: Vec<&str> = model.fences.iter().map(|fence| fence.mnemonic.as_str()).collect();
    writeln!(out, "fences               {}", if fences.is_empty() { "none".to_owned() } else { fences.join(", ") })?;
    write_axioms(model, out)?;
    writeln!(out)?;
    writeln!(out, "litmus  non-SC outcome  fences that forbid it")?;
    for (name, outcome) in litmus::verdicts(model)? {
        let verdict = if outcome.is_clean() { "forbidden" } else { "allowed" };
        let (plain, cumulative) =
            (outcome.num_of_fences(FenceStrength::Plain), outcome.num_of_fences(FenceStrength::Cumulative));
        let fences = match (plain, cumulative) {
            (0, 0) => String::new(),
            (plain, 0) => format!("{plain} plain"),
            (0, cumulative) => format!("{cumulative} cumulative"),
            (plain, cumulative) => format!("{plain} plain, {cumulative} cumulative"),
        };
        writeln!(out, "{}", format!("{name:<7} {verdict:<15} {fences}").trim_end())?;
    }
    Ok(())
}
