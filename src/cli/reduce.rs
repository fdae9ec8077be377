//! `seqcon reduce`: the smallest state space with the same facts.

use super::arguments::ReduceArguments;
use super::failure::Failure;
use super::input::part;
use super::places::refuse_clashes;
use super::progress::ByteBar;
use crate::facts;
use crate::facts::extract::shard;
use crate::facts::quotient::{Quotient, Reached, space, table};
use crate::lts::error::Error;
use crate::lts::is_facts;
use crate::report::output::Staged;
use crate::tell;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &ReduceArguments) -> Result<ExitCode, Failure> {
    let input = &arguments.input;
    refuse_clashes(arguments.output.as_deref(), input.files())?;
    let [path, others @ ..] = &input.inputs[..] else { return Ok(ExitCode::SUCCESS) };
    if !others.is_empty() && !input.shards {
        return Err(Failure::Usage(
            "a state space is reduced by itself; reduce one after the other, or say --shards if they are parts of one"
                .to_owned(),
        ));
    }
    input.refuse_specifications("is not reduced")?;
    let options = input.options()?;
    let sources = input.sources(&input.inputs, &options)?;
    if is_facts(sources[0].bytes()) {
        let problem =
            "a facts file does not tell the states and steps that a state space has; reduce the state space itself";
        return Err(Failure::in_file(path, problem));
    }
    let bar = ByteBar::new(&format!("reading {}", path.display()));
    let mut quotient = if table::is_table(sources[0].bytes()) {
        facts::merged(&sources, &options.budget)?
    } else {
        shard::quotient(&sources, &options, &bar)?
    };
    sources.iter().try_for_each(|source| source.check_unchanged())?;
    if quotient.labels.iter().all(Option::is_none) && quotient.transitions > 0 {
        return Err(Failure::in_file(path, input.all_internal(quotient.transitions)));
    }
    bar.finish();
    if input.whole && matches!(quotient.reached, Reached::Unknown(_)) {
        quotient = Quotient { reached: Reached::All, ..quotient };
    }
    match &quotient.reached {
        Reached::All => {}
        Reached::NotAll(reason) | Reached::Unknown(reason) if !input.lenient && !input.recover => {
            return Err(Failure::in_file(path, part(reason)));
        }
        Reached::NotAll(reason) | Reached::Unknown(reason) => tell!("seqcon: warning: {}: {reason}", path.display()),
    }
    options.budget.check_now().map_err(|limit| Error::at_limit(&path.display().to_string(), limit))?;
    let mut staged = Staged::new();
    let output = arguments.output.as_deref().unwrap_or(Path::new("-"));
    staged.write(output, &mut |out| space::write(&quotient, out))?;
    staged.put_in_place()?;
    Ok(if quotient.reached == Reached::All { ExitCode::SUCCESS } else { ExitCode::from(3) })
}
