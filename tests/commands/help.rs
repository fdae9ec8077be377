//! Built-in help: every command and page is there, and what the pages say is true.

use crate::support::command::run;
use seqcon::lts::dialect::Dialect;
use std::io::Write;
use std::process::{Command, Stdio};

fn printed(arguments: &[&str]) -> String {
    let (status, out, errors) = run(arguments);
    assert_eq!((status, errors.as_str()), (0, ""), "{arguments:?}");
    out
}

/// The commands that `seqcon --help` lists.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names =
        list.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next().filter(|_| !line.starts_with("   ")));
    names.map(str::to_owned).collect()
}

const PAGES: [&str; 5] = ["slco", "labels", "models", "method", "formats"];

#[test]
fn every_command_has_help_and_a_manual_page() {
    let commands = commands();
    assert!(commands.len() >= 12, "{commands:?}");
    let manual = printed(&["man"]);
    assert!(manual.contains(".TH seqcon"), "{manual}");
    for command in &commands {
        if !PAGES.contains(&command.as_str()) {
            assert!(printed(&["help", command]).contains(&format!("Usage: seqcon {command}")), "{command}");
        }
        let page = printed(&["man", command]);
        assert!(page.starts_with(".ie") && page.contains(&format!(".TH seqcon-{command}")), "{page}");
        assert!(manual.contains(&format!("seqcon\\-{command}(1)")), "the manual does not name {command}");
    }
}

#[test]
fn completions_know_every_command_and_bash_can_read_them() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "{shell} does not complete {command}");
        }
    }
    let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(printed(&["completions", "bash"]).as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn pages_fit_a_terminal_and_unknown_ones_are_refused() {
    for page in PAGES {
        let text = printed(&["help", page]);
        assert!(text.starts_with(&page.to_uppercase()) && text.ends_with('\n'), "{page}");
        let too_long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(too_long, None, "{page}");
    }
    assert!(printed(&["help"]).contains("seqcon help slco|labels|models|method|formats"));
    let (status, out, errors) = run(&["help", "lables"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(errors.contains("lables") && errors.contains("labels") && errors.contains("analyse"), "{errors}");
}

#[test]
fn the_labels_of_the_page_are_labels() {
    let page = printed(&["help", "labels"]);
    let examples: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    T0.")).collect();
    assert!(examples.len() >= 8, "{examples:?}");
    for example in examples {
        // What explains it comes after two blanks.
        let label = format!("T0.{}", example.split("  ").next().unwrap());
        Dialect::Native.parse(&label).unwrap_or_else(|error| panic!("{label}: {error:?}"));
    }
}

#[test]
fn the_models_of_the_page_are_all_there() {
    let page = printed(&["help", "models"]);
    for model in seqcon::memory::MemoryModel::builtin() {
        assert!(page.contains(&model.name), "{} is missing", model.name);
    }
}

#[test]
fn every_option_that_the_page_of_formats_names_exists() {
    let (page, help) = (printed(&["help", "formats"]), printed(&["help", "analyse"]));
    let options: Vec<&str> = page.split_whitespace().filter(|word| word.starts_with("--")).collect();
    assert!(options.len() >= 6, "{options:?}");
    for option in options {
        assert!(help.contains(option), "{option} is no option of analyse");
    }
}
