//! `seqcon facts`: from state spaces to a facts file.

use super::arguments::{FactsArguments, Verbosity};
use super::failure::Failure;
use super::places::refuse_clashes;
use crate::caveat;
use crate::facts::file;
use crate::report::output::Staged;
use crate::tell;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &FactsArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.output.as_deref(), arguments.input.files())?;
    if arguments.input.inputs.len() > 1 && !arguments.merging.merge {
        return Err(Failure::Usage(
            "a facts file is of one model, and several inputs are several models; write one file for each, or say --merge if they are explorations of one program"
                .to_owned(),
        ));
    }
    let model = arguments.input.models(&arguments.merging, verbosity)?.swap_remove(0);
    for caveat in &model.caveats {
        tell!("seqcon: {}: {}: {}", caveat.topic.level().name(), model.paths[0].display(), caveat.sentence);
    }
    let facts = model.facts(&arguments.input.limits)?;
    for caveat in caveat::unseen::caveats(&facts) {
        tell!("seqcon: {}: {}: {}", caveat.topic.level().name(), model.paths[0].display(), caveat.sentence);
    }
    let path = arguments.output.as_deref().unwrap_or(Path::new("-"));
    let mut staged = Staged::new();
    staged.write(path, &mut |out| file::write(&facts, out))?;
    staged.put_in_place()?;
    Ok(if facts.cut_off { ExitCode::from(3) } else { ExitCode::SUCCESS })
}
