//! `seqcon facts`: from state spaces to a facts file, in one go, or in phases; and the queries for other engines.

use super::arguments::{FactsArguments, FactsCommand, InputArguments, PhaseArgument, SqlArgument, Verbosity};
use super::failure::Failure;
use super::input::{Model, open_shard};
use super::places::refuse_clashes;
use super::progress::ByteBar;
use crate::caveat;
use crate::facts::file;
use crate::facts::quotient::phases::{self, Sets};
use crate::facts::quotient::table;
use crate::facts::sql::{self, Engine};
use crate::lts::source::Bytes;
use crate::report::output::Staged;
use crate::report::streams;
use crate::tell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(arguments: &FactsArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    if let Some(engine) = arguments.sql {
        return print_queries(engine);
    }
    if let Some(FactsCommand::Merge { input, output }) = &arguments.command {
        refuse_clashes(output.as_deref(), input.files())?;
        return write_facts(&input.model_of_shards(verbosity)?, input, output.as_deref());
    }
    let input = &arguments.input;
    if let Some(phase) = arguments.phase {
        return run_phase(phase, arguments);
    }
    refuse_clashes(arguments.output.as_deref(), input.files())?;
    if input.inputs.len() > 1 && !arguments.merging.merge && !input.shards {
        return Err(Failure::Usage(
            "a facts file is of one model, and several inputs are several models; write one file for each, or say --merge if they are explorations of one program, or --shards if they are parts of one state space"
                .to_owned(),
        ));
    }
    let named = input.named(&arguments.merging)?.swap_remove(0);
    let model = input.read(&named, &input.options()?, verbosity)?;
    write_facts(&model, input, arguments.output.as_deref())
}

fn write_facts(model: &Model, input: &InputArguments, output: Option<&Path>) -> Result<ExitCode, Failure> {
    for caveat in &model.caveats {
        tell!("seqcon: {}: {}: {}", caveat.topic.level().name(), model.paths[0].display(), caveat.sentence);
    }
    let facts = model.facts(&input.limits)?;
    for caveat in caveat::unseen::caveats(&facts) {
        tell!("seqcon: {}: {}: {}", caveat.topic.level().name(), model.paths[0].display(), caveat.sentence);
    }
    write_whole(output, &mut |out| file::write(&facts, out))?;
    Ok(if facts.cut_off { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// Writes a file that appears when it is whole, or to standard output.
fn write_whole(
    output: Option<&Path>,
    contents: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut staged = Staged::new();
    staged.write(output.unwrap_or(Path::new("-")), contents)?;
    Ok(staged.put_in_place()?)
}

fn print_queries(engine: SqlArgument) -> Result<ExitCode, Failure> {
    let engine = match engine {
        SqlArgument::Duckdb => Engine::DuckDb,
        SqlArgument::Spark => Engine::Spark,
        SqlArgument::Datafusion => Engine::DataFusion,
    };
    streams::data().write_all(sql::queries(engine).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// One phase of one shard.
fn run_phase(phase: PhaseArgument, arguments: &FactsArguments) -> Result<ExitCode, Failure> {
    let input = &arguments.input;
    let [path] = &input.inputs[..] else {
        return Err(Failure::Usage("--phase is for one shard; run it for each of them".to_owned()));
    };
    let of_sets = arguments.sets.iter().map(PathBuf::as_path);
    refuse_clashes(arguments.output.as_deref(), input.files().chain(of_sets))?;
    input.refuse_specifications("is no part of a state space")?;
    let options = input.options()?;
    let source = open_shard(path, &options.budget)?;
    let bar = ByteBar::new(&format!("reading {}", path.display()));
    match (phase, &arguments.sets[..]) {
        (PhaseArgument::Sets, [_, ..]) => {
            return Err(Failure::Usage("--sets is for --phase steps; --phase sets makes them".to_owned()));
        }
        (PhaseArgument::Steps, []) => {
            return Err(Failure::Usage(
                "--phase steps needs to know what is enabled where other shards begin: --sets FILES, those of all shards"
                    .to_owned(),
            ));
        }
        (PhaseArgument::Sets, []) => {
            let sets = phases::sets(&source, &options, &bar)?;
            source.check_unchanged()?;
            write_whole(arguments.output.as_deref(), &mut |out| phases::write_sets(&sets, out))?;
        }
        (PhaseArgument::Steps, files) => {
            let read = |path: &PathBuf| -> Result<(String, Sets), Failure> {
                let source = Bytes::open_within(path, &options.budget)?;
                Ok((source.name().to_owned(), phases::read_sets(source.bytes(), source.name())?))
            };
            let all = files.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
            let table = phases::steps(&source, &all, &options, &bar)?;
            source.check_unchanged()?;
            write_whole(arguments.output.as_deref(), &mut |out| table::write(&table, out))?;
        }
    }
    bar.finish();
    Ok(ExitCode::SUCCESS)
}
