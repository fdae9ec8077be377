//! `seqcon completions` and `seqcon man`, both from the definitions of the command line.

use super::arguments::{Cli, CompletionsArguments, ShellArgument};
use super::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};
use std::process::ExitCode;

const NAME: &str = "seqcon";

pub fn run(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    let shell = match arguments.shell {
        ShellArgument::Bash => Shell::Bash,
        ShellArgument::Elvish => Shell::Elvish,
        ShellArgument::Fish => Shell::Fish,
        ShellArgument::PowerShell => Shell::PowerShell,
        ShellArgument::Zsh => Shell::Zsh,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// The page of the command, then those of its subcommands as sections of the same page.
pub fn man() -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    command.build();
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let title = subcommand.get_bin_name().unwrap_or(subcommand.get_name()).to_uppercase();
        writeln!(text, ".SH \"{title}\"")?;
        let own = clap_mangen::Man::new(subcommand.clone());
        own.render_description_section(&mut text)?;
        own.render_synopsis_section(&mut text)?;
        own.render_options_section(&mut text)?;
    }
    io::stdout().lock().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}
