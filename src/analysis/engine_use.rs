//! Which engine a result is from.

use std::fmt;
use std::str::FromStr;

/// The name of the main analysis among engines.
pub const CYCLES: &str = "cycles";

/// Which engine results are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineUse {
    /// The name of the engine.
    pub name: String,
    /// The abstraction, if one was used.
    pub abstraction: Option<Abstraction>,
}

/// What an engine may look at instead of the program itself: all that the program does, and perhaps more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abstraction {
    /// Of every thread but one, after its first few steps, only what it writes remains.
    Flattening(usize),
    /// All threads but one may write whatever they can write at any time.
    Environment,
    /// All threads but two may write whatever they can write at any time.
    Pairs,
}

/// The names of abstractions, as options take them.
const ENVIRONMENT: &str = "environment";
const PAIRS: &str = "pairs";

impl fmt::Display for Abstraction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abstraction::Flattening(bound) => bound.fmt(out),
            Abstraction::Environment => out.write_str(ENVIRONMENT),
            Abstraction::Pairs => out.write_str(PAIRS),
        }
    }
}

impl FromStr for Abstraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Abstraction, String> {
        match text.parse() {
            Ok(bound) => Ok(Abstraction::Flattening(bound)),
            Err(_) if text == ENVIRONMENT => Ok(Abstraction::Environment),
            Err(_) if text == PAIRS => Ok(Abstraction::Pairs),
            Err(_) => Err(format!("expected a number of steps, {ENVIRONMENT}, {PAIRS}")),
        }
    }
}

impl Default for EngineUse {
    /// The main analysis.
    fn default() -> EngineUse {
        EngineUse { name: CYCLES.to_owned(), abstraction: None }
    }
}

impl EngineUse {
    /// Whether it is the main analysis, of which reports say nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.name == CYCLES
    }
}
