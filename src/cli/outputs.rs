//! Where the results of `seqcon analyse` go: files, and a text for people.
//!
//! Tables, JSON, SARIF and DOT have all models in one file. A page shows one model, so with several `--out` has one
//! for each, in a directory of the model's name; `--litmus` has such directories, too.

use super::arguments::{AnalyseArguments, Verbosity};
use super::failure::Failure;
use super::places::refuse_clashes;
use crate::analysis::Outcome;
use crate::caveat::{Caveat, Topic};
use crate::report::output::Staged;
use crate::report::style::{TITLE, styled};
use crate::report::{self, Report, streams, text};
use crate::tell;
use crate::text::excerpt::printable;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What is asked for, found to be possible.
pub struct Outputs<'a> {
    arguments: &'a AnalyseArguments,
    /// What each model was read from.
    paths: Vec<PathBuf>,
    /// For each model its directory, if there are several.
    directories: Option<Vec<PathBuf>>,
}

impl<'a> Outputs<'a> {
    /// Refuses outputs that hide each other, lie on an input, or cannot have several models in them.
    pub fn new(arguments: &'a AnalyseArguments) -> Result<Outputs<'a>, Failure> {
        let names = arguments.input.model_names(&arguments.merging);
        let directories: Vec<PathBuf> = names.iter().map(|name| directory(name)).collect();
        let directories = (names.len() > 1).then_some(directories);
        if directories.is_some() {
            refuse_for_several(arguments)?;
        }
        let outputs = Outputs { arguments, paths: arguments.input.inputs.clone(), directories };
        let in_directory = outputs.in_directory();
        let files = arguments.outputs().into_iter().chain(&in_directory).map(PathBuf::as_path);
        refuse_clashes(files, outputs.inputs())?;
        Ok(outputs)
    }

    /// The same for these models only, by position: the others could not be done.
    pub fn of(self, positions: &[usize]) -> Outputs<'a> {
        let these = |all: &Vec<PathBuf>| positions.iter().map(|&position| all[position].clone()).collect();
        Outputs { paths: these(&self.paths), directories: self.directories.as_ref().map(these), ..self }
    }

    /// Everything that is read.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let tables = self.arguments.memory_models.iter().map(Path::new);
        self.arguments.input.files().chain(tables).chain(self.arguments.cost.as_deref())
    }

    /// The files of `--out`.
    fn in_directory(&self) -> Vec<PathBuf> {
        let Some(out) = &self.arguments.out else { return Vec::new() };
        let (of_all, of_each): (Vec<_>, Vec<_>) =
            report::all().into_iter().partition(|report| self.directories.is_none() || report.takes_several());
        let of_each = of_each.iter().flat_map(|report| {
            let directories = self.directories.iter().flatten();
            directories.map(|directory| out.join(directory).join(report.file_name())).collect::<Vec<_>>()
        });
        of_all.iter().map(|report| out.join(report.file_name())).chain(of_each).collect()
    }

    /// All files are written before the first one gets its name.
    pub fn write_files(&self, outcomes: &[Outcome]) -> Result<(), Failure> {
        let arguments = self.arguments;
        let dot: &dyn Report = &report::dot::Dot { cycle: arguments.formats.cycle };
        let svg: &dyn Report = &report::svg::Svg { number: arguments.formats.cycle };
        let single: [(&Option<PathBuf>, &dyn Report); 10] = [
            (&arguments.csv, &report::csv::Fences),
            (&arguments.locks_csv, &report::csv::Locks),
            (&arguments.delays_csv, &report::csv::Delays),
            (&arguments.cycles_csv, &report::csv::Cycles),
            (&arguments.summary_csv, &report::csv::Summary),
            (&arguments.json, &report::json::Json),
            (&arguments.html, &report::html::Html),
            (&arguments.formats.dot, dot),
            (&arguments.formats.svg, svg),
            (&arguments.formats.sarif, &report::sarif::Sarif),
        ];
        if let Some(number) = arguments.formats.cycle {
            let check = |outcome: &Outcome| {
                if arguments.formats.dot.is_some() {
                    report::dot::check_cycle(outcome, number).map_err(|error| error.to_string())?;
                }
                report::svg::check(outcome, number).map_err(|error| error.to_string())
            };
            let checked = outcomes.iter().try_for_each(check);
            checked.map_err(|error| Failure::Usage(format!("--cycle {number}: {error}")))?;
        }
        let mut staged = Staged::new();
        if let Some(directory) = &arguments.out {
            make(directory, "--out")?;
        }
        for (path, report) in single {
            if let Some(path) = path {
                staged.write(path, &mut |out| self.write_report(report, outcomes, out))?;
            }
        }
        for (position, outcome) in outcomes.iter().enumerate() {
            if let Some(directory) = &arguments.formats.litmus {
                self.write_litmus_tests(&self.of_model(directory, position), outcome, &mut staged)?;
            }
        }
        if let Some(directory) = &arguments.out {
            self.write_directory(directory, outcomes, &mut staged)?;
        }
        Ok(staged.put_in_place()?)
    }

    fn write_directory(&self, directory: &Path, outcomes: &[Outcome], staged: &mut Staged) -> Result<(), Failure> {
        for report in report::all() {
            if self.directories.is_none() || report.takes_several() {
                let path = directory.join(report.file_name());
                staged.write(&path, &mut |out| self.write_report(&*report, outcomes, out))?;
                continue;
            }
            for (position, outcome) in outcomes.iter().enumerate() {
                let directory = self.of_model(directory, position);
                make(&directory, "--out")?;
                staged.write(&directory.join(report.file_name()), &mut |out| report.write(outcome, out))?;
            }
        }
        Ok(())
    }

    /// As a report of one model, or of several if that is what was asked for.
    fn write_report(&self, report: &dyn Report, outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
        match (&self.directories, outcomes) {
            (None, [outcome]) => report.write(outcome, out),
            _ => report.write_all(outcomes, out),
        }
    }

    /// Where files of one model go.
    fn of_model(&self, directory: &Path, position: usize) -> PathBuf {
        let own = self.directories.as_ref().and_then(|directories| directories.get(position));
        own.map_or_else(|| directory.to_owned(), |own| directory.join(own))
    }

    /// One file a test. What cannot be one is said on standard error.
    fn write_litmus_tests(&self, directory: &Path, outcome: &Outcome, staged: &mut Staged) -> Result<(), Failure> {
        make(directory, "--litmus")?;
        let exported = report::litmus::export(outcome);
        // Their names are known only now.
        let places: Vec<PathBuf> = exported.tests.iter().map(|test| directory.join(&test.file_name)).collect();
        let others = self.arguments.outputs().into_iter().map(PathBuf::as_path);
        refuse_clashes(others.chain(places.iter().map(PathBuf::as_path)), self.inputs())?;
        for (test, place) in exported.tests.iter().zip(&places) {
            staged.write(place, &mut |out| out.write_all(test.text.as_bytes()))?;
        }
        for line in &exported.remarks {
            tell!("seqcon: --litmus: {line}");
        }
        Ok(())
    }

    /// For people, unless they asked for a table on standard output or for quiet; then only the summary lines, and
    /// with a table on standard output those go to standard error. What must be known before the results are believed
    /// is said in any case.
    pub fn write_text(&self, outcomes: &[Outcome], verbosity: Verbosity) -> Result<(), Failure> {
        let arguments = self.arguments;
        let stdout_is_taken = arguments.outputs().into_iter().any(|path| path.as_os_str() == "-");
        let mut out: Box<dyn Write> =
            if stdout_is_taken { Box::new(streams::errors()) } else { Box::new(streams::coloured()) };
        for (position, outcome) in outcomes.iter().enumerate() {
            if verbosity == Verbosity::Quiet || stdout_is_taken {
                tell_caveats(outcome);
                continue;
            }
            let mut shown = String::new();
            if self.directories.is_some() {
                let path = self.paths[position].display();
                let name = printable(&outcome.model);
                writeln!(out, "{} ({})\n", styled(TITLE, format!("model {name}")), printable(&path.to_string()))?;
            }
            text::write_caveats(&outcome.caveats, &mut shown).map_err(io::Error::other)?;
            let write = if arguments.explain { text::write_explained } else { text::write_result };
            for result in &outcome.results {
                write(outcome, result, &mut shown).map_err(io::Error::other)?;
                shown.push('\n');
            }
            write!(out, "{shown}")?;
        }
        for outcome in outcomes {
            for result in &outcome.results {
                writeln!(out, "{}", outcome.summary_line(result))?;
            }
        }
        Ok(out.flush()?)
    }
}

/// Says on standard error what must be known, but for what the summary line says.
pub fn tell_caveats(outcome: &Outcome) {
    let in_summary = |caveat: &&Caveat| matches!(caveat.topic, Topic::Definitions | Topic::RefusalsShown);
    tell_each(&outcome.model, outcome.caveats.iter().filter(|caveat| !in_summary(caveat)));
}

/// Says on standard error what must be known of a model.
pub fn tell_each<'a>(model: &str, caveats: impl IntoIterator<Item = &'a Caveat>) {
    for caveat in caveats {
        tell!("seqcon: {}: {model}: {}", caveat.topic.level().name(), caveat.sentence);
    }
}

/// What is about one model cannot be asked for with several.
fn refuse_for_several(arguments: &AnalyseArguments) -> Result<(), Failure> {
    let asked = [
        (arguments.html.is_some(), "--html", "--out DIR writes a page for each"),
        (arguments.formats.cycle.is_some(), "--cycle", "each has its own: name one file"),
        (arguments.name.is_some(), "--name", "each has the name of its file"),
    ];
    match asked.iter().find(|(asked, ..)| *asked) {
        Some((_, option, remedy)) => Err(Failure::Usage(format!(
            "{option} is for one model, and several files are several models ({remedy}; --merge, if they are explorations of one program)"
        ))),
        None => Ok(()),
    }
}

/// The directory of a model: its name, as far as it is a plain name for a file. Names that differ only elsewhere are
/// clashes.
fn directory(name: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    PathBuf::from(if name.chars().all(|c| c == '.') { "model".to_owned() } else { name })
}

fn make(directory: &Path, option: &str) -> Result<(), Failure> {
    fs::create_dir_all(directory)
        .map_err(|error| Failure::in_file(directory, format!("{error}; {option} takes a directory")))
}
