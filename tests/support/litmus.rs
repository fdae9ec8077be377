//! Litmus tests: where they are, what the axioms say of them, and what is where in their final states.

use super::interleavings::Final;
use seqcon::lang::litmus::Test;
use seqcon::program::Program;
use seqcon::property::FinalCondition;
use seqcon::weak::axiomatic::litmus::Judgement;
use seqcon::weak::axiomatic::{Failure, Model, outcomes};
use std::fs;
use std::path::{Path, PathBuf};

/// What a memory model says of a test; loops go round at most `unroll` times.
pub fn verdict(
    program: &Program,
    condition: Option<&FinalCondition>,
    model: &Model,
    unroll: usize,
) -> Result<Judgement, Failure> {
    Ok(Judgement::of(condition, outcomes(program, model, unroll)?))
}

/// The axioms of a built-in model.
pub fn axioms(name: &str) -> Model {
    Model::named(name).unwrap_or_else(|| panic!("{name} has axioms"))
}

/// The litmus tests in a folder, in order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "litmus")).collect();
    files.sort();
    files
}

/// The value of a register or a location that herd names, in one of our final states.
pub fn value_of(test: &Test, (shared, locals): &Final, place: &str) -> i64 {
    let program = &test.program;
    if let Some((thread, register)) = place.split_once(':') {
        let thread: usize = thread.parse().unwrap();
        let wanted = register.trim_start_matches('%');
        let is_it = |name: &str| name.eq_ignore_ascii_case(wanted) || name.strip_prefix("sym_") == Some(wanted);
        let position = program.threads[thread].locals.iter().position(|local| is_it(&local.name));
        // A register that the test never mentions but in its list of locations.
        return position.map_or(0, |position| locals[thread][position]);
    }
    let name = place.trim_start_matches('[').trim_end_matches(']');
    shared[program.shared.iter().position(|variable| variable.name == name).unwrap()]
}
