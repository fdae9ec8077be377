//! How engines go about it: what a command, or who uses the library, may ask for.

use super::buffer_automata::Reductions;
use super::partial_coherence::Abstracting;
use crate::aeg::Profile;
use crate::analysis::Abstraction;
use crate::cycles::Atomicity;
use crate::trial;
use std::str::FromStr;

/// How an engine goes about it; each takes of this what it [knows](super::Description::takes).
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whose definitions apply.
    pub profile: Profile,
    /// How instructions with several accesses are read, if that was said.
    pub atomicity: Option<Atomicity>,
    /// What is looked at.
    pub approach: Approach,
    /// What is done about delays that no run may need.
    pub confirm: Confirm,
    /// How far searches under weak memory go.
    pub searches: trial::Limits,
    /// How store buffers are abstracted.
    pub abstracting: Abstracting,
    /// Which reductions are used where store buffers are automata.
    pub reductions: Reductions,
    /// Whether runs are told that no report shows.
    pub tells_runs: bool,
    /// Whether it is told what other readings of instructions with several accesses would answer.
    pub tells_readings: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            profile: Profile::Sound,
            atomicity: None,
            approach: Approach::Auto,
            confirm: Confirm::Auto,
            searches: trial::Limits { states: 2_000_000, buffer: 4, unroll: 2 },
            abstracting: Abstracting::default(),
            reductions: Reductions::default(),
            tells_runs: false,
            tells_readings: false,
        }
    }
}

/// What is done about delays that no run may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    /// They are searched for with a budget of states; what is proved infeasible gets no fence.
    Auto,
    /// The event graph is trusted.
    Off,
    /// As `Auto`, with all the states for each search.
    Full,
    /// They are searched for, and fences are for all.
    Mark,
}

/// What an engine looks at: the program, or an abstraction that has all its runs, and perhaps more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approach {
    /// Whatever is enough for an answer.
    #[default]
    Auto,
    /// The program itself.
    Program,
    /// This abstraction.
    Abstract(Abstraction),
}

impl FromStr for Approach {
    type Err = String;

    fn from_str(text: &str) -> Result<Approach, String> {
        match text {
            "auto" => Ok(Approach::Auto),
            "none" => Ok(Approach::Program),
            _ => match text.parse() {
                Ok(abstraction) => Ok(Approach::Abstract(abstraction)),
                Err(expected) => Err(format!("{expected}, auto, or none")),
            },
        }
    }
}
