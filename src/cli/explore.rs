//! `seqcon explore`: the state space of a specification, counted and written.

use super::arguments::{ExploreArguments, LimitArguments, Verbosity};
use super::failure::Failure;
use super::places::refuse_clashes;
use crate::explore::observe::{AutObserver, Nobody};
use crate::explore::{Exploration, Stop};
use crate::lts::aut::Counts;
use crate::lts::writer;
use crate::report::output::Staged;
use crate::report::streams;
use crate::specification::Specification;
use crate::tell;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &ExploreArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.output.as_deref(), [arguments.specification.as_path()])?;
    let specification = Specification::read(&arguments.specification)?
        .with_invariants(&arguments.invariants)?
        .with_nevers(&arguments.nevers)?;
    let specification = if arguments.no_properties { specification } else { specification.with_own_properties() };
    let exploration = match &arguments.output {
        None => specification.explore(&arguments.limits, &mut Nobody)?.0,
        Some(path) => write_aut(&specification, &arguments.limits, path)?,
    };
    let to_stdout = arguments.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    let mut out: Box<dyn Write> = if to_stdout { Box::new(streams::errors()) } else { Box::new(streams::text()) };
    write_result(&specification, &exploration, verbosity, &mut out)?;
    Ok(match exploration.stop {
        Stop::Complete => ExitCode::SUCCESS,
        Stop::Violated => ExitCode::from(1),
        _ => ExitCode::from(3),
    })
}

/// Explores the specification and writes its state space. If that is not complete, its header has no numbers.
fn write_aut(specification: &Specification, limits: &LimitArguments, path: &Path) -> Result<Exploration, Failure> {
    // The header comes first and is known last: the transitions wait in a temporary file.
    let transitions = tempfile::tempfile().map_err(|error| Failure::Usage(format!("a temporary file: {error}")))?;
    let mut observer = AutObserver::new(&specification.program, BufWriter::new(transitions));
    let (exploration, _) = specification.explore(limits, &mut observer)?;
    let counts = Counts { initial: 0, transitions: observer.transitions(), states: exploration.states.len() as u64 };
    let mut lines = observer.into_inner().into_inner().map_err(io::IntoInnerError::into_error)?;
    let mut staged = Staged::new();
    staged.write(path, &mut |mut out| {
        if exploration.stop == Stop::Complete {
            writer::header(&mut out, counts)?;
        } else {
            writer::unfinished_header(&mut out)?;
        }
        lines.rewind()?;
        io::copy(&mut BufReader::with_capacity(1 << 20, &lines), out).map(drop)
    })?;
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
