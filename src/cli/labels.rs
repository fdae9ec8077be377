//! `seqcon labels`: the labels of a state space as a table.

use super::arguments::LabelsArguments;
use super::failure::Failure;
use super::places::refuse_clashes;
use super::progress::ByteBar;
use crate::facts::labels;
use crate::facts::quotient::table::is_table;
use crate::lts::source::Bytes;
use crate::report::output::Staged;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &LabelsArguments) -> Result<ExitCode, Failure> {
    let input = &arguments.input;
    refuse_clashes(arguments.output.as_deref(), input.files())?;
    if !arguments.list {
        input.refuse_specifications("has no labels yet")?;
    }
    let options = input.options()?;
    let labels = if arguments.list {
        let lists = input.inputs.iter().map(|path| Bytes::open_within(path, &options.budget));
        labels::of_lists(&lists.collect::<Result<Vec<_>, _>>()?, &options)?
    } else {
        let sources = input.sources(&input.inputs, &options)?;
        if let Some(table) = sources.iter().find(|source| is_table(source.bytes())) {
            return Err(Failure::in_file(
                Path::new(table.name()),
                "this is a table of steps, which has labels of its own",
            ));
        }
        let bar = ByteBar::new(&format!("reading {}", input.inputs[0].display()));
        labels::of_state_spaces(&sources, &options, &bar)?
    };
    let mut staged = Staged::new();
    let path = arguments.output.as_deref().unwrap_or(Path::new("-"));
    staged.write(path, &mut |out| labels::write(&labels, out))?;
    staged.put_in_place()?;
    Ok(ExitCode::SUCCESS)
}
