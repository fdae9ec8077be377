//! `seqcon check`: findings in inputs, as lines that editors jump to, or as JSON.
//!
//! The first line of a finding is `FILE:LINE:COLUMN: error|warning|note: MESSAGE`, which the problem matcher in
//! `editors/` takes; what is about no place in particular stands at the beginning of its file there, and nowhere in
//! JSON. A bad input does not keep the others from being looked at.

use super::arguments::{CheckArguments, InputArguments, Verbosity};
use super::documents::Document;
use super::failure::Failure;
use super::input::name_of_input;
use super::places::refuse_clashes;
use super::progress::ByteBar;
use super::specification::within;
use crate::check::{self, Checked, Finding, Place, Severity};
use crate::facts;
use crate::lang::diagnostic::{Diagnostic, Severity as Degree};
use crate::lts::source::Bytes;
use crate::report::streams;
use crate::text::LineColumn;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Files {
    files: Vec<FileObject>,
}

#[derive(Serialize)]
struct FileObject {
    file: String,
    language: Option<&'static str>,
    reference: Option<&'static str>,
    errors: usize,
    warnings: usize,
    complete: bool,
    limit: Option<&'static str>,
    findings: Vec<FindingObject>,
}

#[derive(Serialize)]
struct FindingObject {
    severity: Severity,
    topic: &'static str,
    message: String,
    help: Option<String>,
    begin: Option<PlaceObject>,
    end: Option<PlaceObject>,
}

#[derive(Serialize)]
struct PlaceObject {
    line: usize,
    column: usize,
}

/// An input that was looked at.
struct Input {
    name: String,
    /// The text of a specification.
    text: String,
    checked: Checked,
}

pub fn run(arguments: &CheckArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.document.path(), arguments.input.files())?;
    let options = arguments.input.options()?;
    arguments.input.language.refuse_for(&arguments.input.inputs)?;
    let look = |path: &Path| match arguments.input.language.is_specification(path) {
        true => Ok(of_specification(path, arguments)),
        false => of_state_space(path, &arguments.input, &options),
    };
    let inputs = arguments.input.inputs.iter().map(|path| look(path)).collect::<Result<Vec<Input>, Failure>>()?;
    let document = || Document::new(SCHEMA_VERSION, Files { files: inputs.iter().map(Input::object).collect() });
    arguments.document.write(document)?;
    if !arguments.document.takes_stdout() {
        let text: String = inputs.iter().map(|input| input.shown(verbosity)).collect();
        let mut out = streams::text();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    }
    let is_wrong = inputs.iter().any(|input| input.checked.count(Severity::Error) > 0);
    let is_limited = inputs.iter().any(|input| input.checked.limit.is_some());
    Ok(ExitCode::from(match (is_wrong, is_limited) {
        (true, _) => 2,
        (false, true) => 3,
        (false, false) => 0,
    }))
}

fn of_specification(path: &Path, arguments: &CheckArguments) -> Input {
    let name = arguments.input.language.name_of(path);
    let unreadable = |message: String| Checked::unreadable(message, Place::Whole);
    let bytes = match arguments.input.language.bytes_of(path) {
        Ok(bytes) => bytes,
        Err(error) => return Input { name, text: String::new(), checked: unreadable(error.to_string()) },
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            let place = Place::Begins(LineColumn::of(&text, valid));
            let checked = Checked::unreadable("this is not UTF-8; save the file as UTF-8".to_owned(), place);
            return Input { name, text, checked };
        }
    };
    let limits = &arguments.input.limits;
    let checked = if arguments.text_only {
        check::specification(&name, &text, None)
    } else {
        within(limits, &[], |bounds| check::specification(&name, &text, Some(bounds)))
    };
    Input { name, text, checked: strict(checked, limits.strict) }
}

/// With `--strict` an index that is out of range is an error.
fn strict(mut checked: Checked, is_strict: bool) -> Checked {
    for finding in &mut checked.findings {
        if is_strict && finding.topic == check::INDEX {
            finding.severity = Severity::Error;
        }
    }
    checked
}

fn of_state_space(path: &Path, input: &InputArguments, options: &facts::extract::Options) -> Result<Input, Failure> {
    let name = name_of_input(path);
    let bar = ByteBar::new(&format!("reading {name}"));
    let read = Bytes::open_within(path, &options.budget)
        .and_then(|source| facts::read(std::slice::from_ref(&source), options, &bar));
    bar.finish();
    let checked = match read {
        Err(error) if error.exhausted().is_some() => return Err(Failure::Input(error)),
        Err(error) => {
            let place = error.place().map_or(Place::Whole, |place| {
                let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                Place::Begins(LineColumn { line: number(place.line), column: number(place.column) })
            });
            let at = error.place().map_or(format!("{name}: "), |place| format!("{name}:{place}: "));
            let message = error.to_string();
            Checked::unreadable(message.strip_prefix(&at).unwrap_or(&message).to_owned(), place)
        }
        Ok(extraction) => {
            let odd = extraction.warnings.into_iter().chain(extraction.part);
            let odd: Vec<Finding> = odd.map(check::odd).collect();
            let mut checked = check::state_space(extraction.facts, &input.limits.budget.heeding());
            checked.findings.splice(0..0, odd);
            checked
        }
    };
    Ok(Input { name, text: String::new(), checked })
}

impl Input {
    fn object(&self) -> FileObject {
        let place = |LineColumn { line, column }| PlaceObject { line, column };
        let finding = |finding: &Finding| FindingObject {
            severity: finding.severity,
            topic: finding.topic,
            message: finding.message.clone(),
            help: finding.help.clone(),
            begin: self.begin(finding).map(place),
            end: match finding.place {
                Place::Span(span) => Some(place(LineColumn::of(&self.text, span.end))),
                Place::Whole | Place::Begins(_) => None,
            },
        };
        FileObject {
            file: self.name.clone(),
            language: check::language_of(&self.name).map(|language| language.name),
            reference: check::language_of(&self.name).map(|language| language.reference),
            errors: self.checked.count(Severity::Error),
            warnings: self.checked.count(Severity::Warning),
            complete: self.checked.is_complete,
            limit: self.checked.limit,
            findings: self.checked.findings.iter().map(finding).collect(),
        }
    }

    fn begin(&self, finding: &Finding) -> Option<LineColumn> {
        match finding.place {
            Place::Whole => None,
            Place::Begins(place) => Some(place),
            Place::Span(span) => Some(LineColumn::of(&self.text, span.start)),
        }
    }

    /// For people, and for editors that read lines.
    fn shown(&self, verbosity: Verbosity) -> String {
        let mut shown: String = self.checked.findings.iter().map(|finding| self.finding(finding, verbosity)).collect();
        let (errors, warnings) = (self.checked.count(Severity::Error), self.checked.count(Severity::Warning));
        let is_misread = |finding: &Finding| finding.topic == check::TEXT && matches!(finding.place, Place::Span(_));
        if let Some(language) = check::language_of(&self.name)
            && errors > 0
            && verbosity > Verbosity::Quiet
            && self.checked.findings.iter().any(is_misread)
        {
            let _ = writeln!(shown, "{}: the language is described in {}", self.name, language.reference);
        }
        let complete = if self.checked.is_complete { "yes" } else { "no" };
        let _ = writeln!(shown, "file={} errors={errors} warnings={warnings} complete={complete}", self.name);
        shown
    }

    fn finding(&self, finding: &Finding, verbosity: Verbosity) -> String {
        if let Place::Span(span) = finding.place
            && finding.severity != Severity::Note
            && verbosity > Verbosity::Quiet
        {
            let severity = if finding.severity == Severity::Error { Degree::Error } else { Degree::Warning };
            let (message, help) = (finding.message.clone(), finding.help.clone());
            return Diagnostic { severity, span, message, help }.render(&self.name, &self.text);
        }
        let LineColumn { line, column } = self.begin(finding).unwrap_or(LineColumn { line: 1, column: 1 });
        let mut shown = format!("{}:{line}:{column}: {}: {}\n", self.name, finding.severity.word(), finding.message);
        if let Some(help) = finding.help.as_ref().filter(|_| verbosity > Verbosity::Quiet) {
            let _ = writeln!(shown, "      help: {help}");
        }
        shown
    }
}
