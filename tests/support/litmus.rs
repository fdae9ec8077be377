//! Litmus tests by axioms.

use seqcon::program::Program;
use seqcon::property::FinalCondition;
use seqcon::weak::axiomatic::litmus::Judgement;
use seqcon::weak::axiomatic::{Failure, Model, outcomes};

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
