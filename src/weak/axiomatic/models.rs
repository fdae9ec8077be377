//! Memory models by their axioms: handles to texts in the language cat ([`memory::cat`](crate::memory::cat)), which
//! say what each model allows. The built-in ones are in `src/memory/cat/models/`.
//!
//! *Atomic instructions* are indivisible under every built-in model: no chain of the model's ordering and of
//! communication between threads leaves such an instruction by one access and comes back to another one (`torn` in
//! `prelude.cat`). For SC, TSO and PSO that is to contract the instruction to one event.

use super::execution::{Communication, Structure};
use crate::memory::Known;
use crate::memory::cat::{self, Axioms, CatError};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A memory model; copies share its text.
#[derive(Clone)]
pub struct Model(Arc<Axioms>);

impl Model {
    /// The model that has these axioms.
    #[must_use]
    pub fn new(axioms: Arc<Axioms>) -> Model {
        Model(axioms)
    }

    /// The models of this library that have axioms, from strong to weak.
    #[must_use]
    pub fn builtin() -> Vec<Model> {
        Known::ALL.into_iter().filter_map(Model::known).collect()
    }

    /// Sequential consistency.
    ///
    /// # Panics
    /// Never: it is built in.
    #[must_use]
    pub fn sc() -> Model {
        Model::known(Known::Sc).expect("built in")
    }

    /// The axioms of a built-in model, if it has some.
    #[must_use]
    pub fn known(known: Known) -> Option<Model> {
        cat::builtin(known).map(Model)
    }

    /// A model of the user's.
    ///
    /// # Errors
    /// If the file cannot be read, or what is wrong with its text.
    pub fn from_file(path: &Path) -> Result<Model, CatError> {
        Axioms::from_file(path).map(|axioms| Model(Arc::new(axioms)))
    }

    /// A model of the user's; the name is the one that errors show.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn from_text(name: &str, text: &str) -> Result<Model, CatError> {
        Axioms::from_text(name, text).map(|axioms| Model(Arc::new(axioms)))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Its axioms.
    #[must_use]
    pub fn axioms(&self) -> &Axioms {
        &self.0
    }

    /// Whether the model allows the execution; not if the execution has an instruction of which its text says nothing
    /// ([`Axioms::refuse`]).
    #[must_use]
    pub fn allows(&self, structure: &Structure, communication: &Communication) -> bool {
        self.0.allows(structure, communication) == Ok(true)
    }
}

/// Equal if they are the same text.
impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Model {}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({})", self.name())
    }
}
