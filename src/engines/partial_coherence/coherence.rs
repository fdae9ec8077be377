//! How much of a store buffer is kept: which writes wait, and in what order.

use std::fmt;
use std::str::FromStr;

/// The longest head that can be asked for.
pub const LONGEST_HEAD: usize = 16;

/// What an abstract buffer keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coherence {
    /// Only which writes wait: the paper's baseline, for comparison.
    Set,
    /// The oldest writes, so many, in order; which others wait; and the newest. States with different sets are told
    /// apart (fully disjunctive).
    Full(usize),
    /// The same; states that differ only in what is in a set are one (partially disjunctive).
    Partial(usize),
}

impl Coherence {
    /// How many of the oldest writes are kept in order.
    #[must_use]
    pub fn head(self) -> usize {
        match self {
            Coherence::Set => 0,
            Coherence::Full(head) | Coherence::Partial(head) => head,
        }
    }

    /// The same with a longer head, if there is one.
    #[must_use]
    pub fn with_longer_head(self) -> Option<Coherence> {
        let longer = match self {
            Coherence::Set => Coherence::Full(1),
            Coherence::Full(head) => Coherence::Full(head + 1),
            Coherence::Partial(head) => Coherence::Partial(head + 1),
        };
        (longer.head() <= LONGEST_HEAD).then_some(longer)
    }
}

impl fmt::Display for Coherence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coherence::Set => out.write_str("set"),
            Coherence::Full(head) => write!(out, "full:{head}"),
            Coherence::Partial(head) => write!(out, "partial:{head}"),
        }
    }
}

impl FromStr for Coherence {
    type Err = String;

    fn from_str(text: &str) -> Result<Coherence, String> {
        let head = |digits: &str| digits.parse().ok().filter(|&head: &usize| head <= LONGEST_HEAD);
        let found = match text.split_once(':') {
            None if text == "set" => Some(Coherence::Set),
            Some(("full", digits)) => head(digits).map(Coherence::Full),
            Some(("partial", digits)) => head(digits).map(Coherence::Partial),
            _ => None,
        };
        found.ok_or_else(|| format!("set, full:K or partial:K is expected, with K from 0 to {LONGEST_HEAD}"))
    }
}
