//! `seqcon explore`: the state space of a specification, counted and written.

use super::arguments::{ExploreArguments, LimitArguments, Verbosity};
use super::convert::format_of;
use super::documents::{Document, summary_lines};
use super::failure::Failure;
use super::places::refuse_clashes;
use super::runs::{ShownState, ShownStep};
use crate::explore::observe::{AutObserver, Nobody};
use crate::explore::{Exploration, Stop, Violation};
use crate::lts::aut::Counts;
use crate::lts::output::Output;
use crate::report::output::Staged;
use crate::specification::Specification;
use crate::tell;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// The schema of what `--json` writes.
const SCHEMA_VERSION: u32 = 1;

pub fn run(arguments: &ExploreArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let outputs = arguments.output.as_deref().into_iter().chain(arguments.document.path());
    refuse_clashes(outputs, [arguments.specification.path.as_path()])?;
    let specification =
        arguments.specification.read()?.with_invariants(&arguments.invariants)?.with_nevers(&arguments.nevers)?;
    let specification = if arguments.no_properties { specification } else { specification.with_own_properties() };
    let exploration = match &arguments.output {
        None => specification.explore(&arguments.limits, &mut Nobody)?.0,
        Some(path) => write_aut(&specification, &arguments.limits, path)?,
    };
    arguments.document.write(|| Document::new(SCHEMA_VERSION, explored(&specification, &exploration)))?;
    let json_is_shown = arguments.document.takes_stdout();
    let taken = json_is_shown || arguments.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    let verbosity = if json_is_shown { Verbosity::Quiet } else { verbosity };
    write_result(&specification, &exploration, verbosity, &mut *summary_lines(taken))?;
    Ok(match exploration.stop {
        Stop::Complete => ExitCode::SUCCESS,
        Stop::Violated => ExitCode::from(1),
        _ => ExitCode::from(3),
    })
}

/// Explores the specification and writes its state space. If that is not complete, its header has no numbers.
fn write_aut(specification: &Specification, limits: &LimitArguments, path: &Path) -> Result<Exploration, Failure> {
    let waiting = |error: io::Error| Failure::Usage(format!("a temporary file: {error}"));
    let mut observer = AutObserver::new(&specification.program, Output::new(format_of(path)?).map_err(waiting)?);
    let (exploration, _) = specification.explore(limits, &mut observer)?;
    let counts = Counts { initial: 0, transitions: observer.transitions(), states: exploration.states.len() as u64 };
    let counts = (exploration.stop == Stop::Complete).then_some(counts);
    let mut finished = observer.into_inner().finish(counts).map_err(waiting)?;
    let mut staged = Staged::new();
    staged.write(path, &mut |out| finished.write(out))?;
    staged.put_in_place()?;
    if exploration.stop != Stop::Complete {
        tell!(
            "seqcon: warning: {}: only a part of the state space, so its header has no numbers; `seqcon analyse --recover` reads it as such",
            path.display()
        );
    }
    Ok(exploration)
}

fn write_result(
    specification: &Specification,
    exploration: &Exploration,
    verbosity: Verbosity,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(violation) = &exploration.violation {
        writeln!(out, "{}", specification.violated(violation))?;
        if verbosity > Verbosity::Quiet {
            write!(out, "{}", specification.counterexample(violation))?;
        }
    }
    writeln!(out, "{}", summary_line(exploration))?;
    out.flush()
}

/// The result as data.
#[derive(Serialize)]
struct Explored<'a> {
    file: &'a str,
    model: &'a str,
    states: u64,
    transitions: u64,
    deadlocks: u64,
    out_of_range: u64,
    /// Whether these are all.
    complete: bool,
    /// What ended it before.
    limit: Option<&'static str>,
    /// The condition that does not hold, with a shortest run.
    violated: Option<Violated<'a>>,
}

#[derive(Serialize)]
struct Violated<'a> {
    /// `invariant` or `property`.
    what: &'static str,
    condition: String,
    steps: Vec<ShownStep<'a>>,
    state: ShownState<'a>,
}

fn explored<'a>(specification: &'a Specification, exploration: &Exploration) -> Explored<'a> {
    let violated = |violation: &Violation| {
        let (what, condition) = specification.what_is_violated(violation);
        let shown = specification.shown();
        Violated {
            what,
            condition,
            steps: shown.steps(&violation.run),
            state: shown.data(&violation.control, &violation.values),
        }
    };
    Explored {
        file: &specification.name,
        model: &specification.program.name,
        states: exploration.states.len() as u64,
        transitions: exploration.transitions,
        deadlocks: exploration.deadlocks,
        out_of_range: exploration.out_of_range,
        complete: exploration.stop == Stop::Complete,
        limit: exploration.stop.limit(),
        violated: exploration.violation.as_ref().map(violated),
    }
}

fn summary_line(exploration: &Exploration) -> String {
    let states = exploration.states.len();
    let seconds = exploration.elapsed.as_secs_f64();
    format!(
        "states={states} transitions={} deadlocks={} seconds={seconds:.2} states_per_second={:.0} bytes_per_state={:.1}",
        exploration.transitions,
        exploration.deadlocks,
        exploration.expanded as f64 / seconds.max(1e-9),
        exploration.bytes as f64 / states as f64,
    )
}
