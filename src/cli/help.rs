//! `seqcon help`, `seqcon man`, `seqcon completions`: all from the clap definitions, and a few pages of text.

use super::arguments::{Cli, CompletionsArguments, HelpArguments, ManArguments};
use super::failure::Failure;
use crate::report::streams;
use clap::CommandFactory;
use std::io::Write;
use std::process::ExitCode;

/// The pages. `models` is also a command, whose help is `seqcon models --help`.
const PAGES: [(&str, &str); 5] = [
    ("slco", include_str!("../../docs/help/slco.txt")),
    ("labels", include_str!("../../docs/help/labels.txt")),
    ("models", include_str!("../../docs/help/models.txt")),
    ("method", include_str!("../../docs/help/method.txt")),
    ("formats", include_str!("../../docs/help/formats.txt")),
];

/// Prints the help of a command, or a page.
pub fn run(arguments: &HelpArguments) -> Result<ExitCode, Failure> {
    let Some(topic) = &arguments.topic else {
        let mut out = streams::coloured();
        write!(out, "{}", Cli::command().render_long_help().ansi())?;
        writeln!(out, "\nPages: seqcon help {}", PAGES.map(|(name, _)| name).join("|"))?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some((_, page)) = PAGES.iter().find(|(name, _)| name == topic) {
        streams::text().write_all(page.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(streams::coloured(), "{}", subcommand(topic)?.render_long_help().ansi())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a manual page.
pub fn man(arguments: &ManArguments) -> Result<ExitCode, Failure> {
    let command = match &arguments.command {
        None => Cli::command(),
        Some(name) => subcommand(name)?,
    };
    // Rendered whole first: it is data of another program.
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    streams::data().write_all(&page)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a completion script.
pub fn completions(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "seqcon", &mut script);
    streams::data().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// A command of that name, complete with what all commands have.
fn subcommand(name: &str) -> Result<clap::Command, Failure> {
    let mut all = Cli::command();
    all.build();
    let found = all.get_subcommands().find(|command| command.get_name_and_visible_aliases().contains(&name)).cloned();
    found.ok_or_else(|| {
        let commands: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
        let pages = PAGES.map(|(name, _)| name).join(", ");
        Failure::Usage(format!(
            "there is no command and no page {name:?}: the commands are {}; the pages {pages}",
            commands.join(", ")
        ))
    })
}
