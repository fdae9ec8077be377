//! `seqcon explore`: the state space of a specification, counted and written.

use super::arguments::ExploreArguments;
use super::failure::Failure;
use super::specification::Specification;
use crate::explore::observe::{AutObserver, Nobody};
use crate::explore::{Exploration, Stop};
use crate::lts::aut::Counts;
use crate::lts::writer;
use crate::report::output::Staged;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::process::ExitCode;

pub fn run(arguments: &ExploreArguments) -> Result<ExitCode, Failure> {
    let specification = Specification::read(&arguments.specification)?;
    let exploration = match &arguments.output {
        None => specification.explore(&arguments.limits, &mut Nobody)?.0,
        Some(path) => {
            // The header comes first and is known last: the transitions wait in a temporary file.
            let transitions =
                tempfile::tempfile().map_err(|error| Failure::Usage(format!("a temporary file: {error}")))?;
            let mut observer = AutObserver::new(&specification.program, BufWriter::new(transitions));
            let (exploration, _) = specification.explore(&arguments.limits, &mut observer)?;
            let counts =
                Counts { initial: 0, transitions: observer.transitions(), states: exploration.states.len() as u64 };
            let mut lines = observer.into_inner().into_inner().map_err(io::IntoInnerError::into_error)?;
            let mut staged = Staged::new();
            staged.write(path, &mut |mut out| {
                writer::header(&mut out, counts)?;
                lines.rewind()?;
                io::copy(&mut BufReader::with_capacity(1 << 20, &lines), out).map(drop)
            })?;
            staged.put_in_place()?;
            exploration
        }
    };
    let to_stdout = arguments.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if to_stdout {
        eprintln!("{}", summary_line(&exploration));
    } else {
        writeln!(io::stdout(), "{}", summary_line(&exploration))?;
    }
    Ok(if exploration.stop == Stop::Complete { ExitCode::SUCCESS } else { ExitCode::from(3) })
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
