//! What runs a memory model: a machine, axioms, or nothing.
//!
//! Machines and axioms are those of built-in models, and [`memory`](crate::memory) tells by its rules which of these
//! a table is. A table that is none of them cannot be run: there is no verdict on it.

use super::Machine;
use super::axiomatic::Model;
use crate::memory::{Known, MemoryModel, OwnAxioms, Unknown};
use std::fmt;
use std::sync::Arc;

/// What runs a memory model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// A machine with store buffers.
    Machine(Machine),
    /// Axioms on executions.
    Axioms(Model),
}

/// Nothing runs a memory model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotRun {
    /// The name of the model.
    pub model: String,
    /// Which model it is.
    pub known: Result<Known, Unknown>,
    /// What was looked for: "machines", "axioms" or both.
    pub what: &'static str,
    /// The models that have it.
    pub others: Vec<Known>,
}

impl std::error::Error for CannotRun {}

impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the memory model {} cannot be run: ", self.model)?;
        match &self.known {
            Ok(known) if known.name() == self.model => write!(f, "only its table is known")?,
            Ok(known) => write!(f, "its rules are those of {known}, of which only the table is known")?,
            Err(unknown) => write!(f, "{unknown}")?,
        }
        write!(f, "; there are {} for {}", self.what, Known::list(&self.others))
    }
}

/// Looks for something that some models have.
fn of<T>(model: &MemoryModel, what: &'static str, find: impl Fn(Known) -> Option<T>) -> Result<T, CannotRun> {
    let known = model.known();
    let found = known.as_ref().ok().and_then(|known| find(*known));
    found.ok_or_else(|| {
        let others = Known::ALL.into_iter().filter(|known| find(*known).is_some()).collect();
        CannotRun { model: model.name.clone(), known, what, others }
    })
}

impl Machine {
    /// The machine of a memory model.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(model: &MemoryModel) -> Result<Machine, CannotRun> {
        of(model, "machines", Machine::known)
    }

    fn known(known: Known) -> Option<Machine> {
        match known {
            Known::Tso => Some(Machine::Tso),
            Known::Pso => Some(Machine::Pso),
            Known::Sc
            | Known::Rmo
            | Known::Alpha
            | Known::Armv8
            | Known::Riscv
            | Known::Armv7
            | Known::Power
            | Known::Rc11 => None,
        }
    }
}

impl Model {
    /// The axioms of a memory model.
    ///
    /// # Errors
    /// If there are none.
    pub fn of(model: &MemoryModel) -> Result<Model, CannotRun> {
        if let Some(OwnAxioms(axioms)) = &model.axioms {
            return Ok(Model::new(Arc::clone(axioms)));
        }
        of(model, "axioms", Model::known)
    }

    /// The axioms of the built-in model of that name or alias.
    #[must_use]
    pub fn named(name: &str) -> Option<Model> {
        Model::of(&MemoryModel::named(name)?).ok()
    }
}

impl Semantics {
    /// What runs a memory model: its machine, if it has one, else its axioms.
    ///
    /// # Errors
    /// If nothing does.
    pub fn of(model: &MemoryModel) -> Result<Semantics, CannotRun> {
        if let Some(OwnAxioms(axioms)) = &model.axioms {
            return Ok(Semantics::Axioms(Model::new(Arc::clone(axioms))));
        }
        of(model, "machines or axioms", |known| {
            Machine::known(known).map(Semantics::Machine).or_else(|| Model::known(known).map(Semantics::Axioms))
        })
    }
}
