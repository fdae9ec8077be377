//! The final condition of a litmus test: its grammar and its truth.
//!
//! ```text
//! condition   = ("exists" | "~exists" | "forall" | "final") proposition [";"]
//! proposition = conjunction {"\/" conjunction}
//! conjunction = negation {"/\" negation}
//! negation    = ("not" | "~") negation | "(" proposition ")" | "true" | "false" | place "=" integer
//! place       = ["P"] thread ":" register | location | "[" location "]"
//! ```
//!
//! `final` is how older tests ask whether a state can be reached, with a list of what their authors expect behind it;
//! it is read as `exists`, and the list is left alone.

use super::piece::Piece;
use crate::ids::{LocationAt, ThreadAt};
use crate::lang::Diagnostic;

/// How deep parentheses and negations nest.
const MAX_DEPTH: usize = 200;

/// Of which final states the proposition is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Of some.
    Exists,
    /// Of none.
    NotExists,
    /// Of all.
    Forall,
}

/// What a final state is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// A location.
    Shared(LocationAt),
    /// A local, by its position among those of its thread.
    Local(ThreadAt, usize),
}

/// What is said of a final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposition {
    /// Always or never.
    Constant(bool),
    /// Something has this value.
    Is(Observed, i64),
    /// The contrary.
    Not(Box<Proposition>),
    /// All of them.
    All(Vec<Proposition>),
    /// One of them.
    Any(Vec<Proposition>),
}

/// A final condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Of which final states.
    pub quantifier: Quantifier,
    /// What.
    pub proposition: Proposition,
}

/// A final state: the values of the shared variables, and for each thread those of its locals.
pub type FinalState<'s> = (&'s [i64], &'s [Vec<i64>]);

impl Condition {
    /// Whether it holds, if these are all final states.
    pub fn holds<'s>(&self, mut states: impl Iterator<Item = FinalState<'s>>) -> bool {
        match self.quantifier {
            Quantifier::Exists => states.any(|state| self.proposition.holds(state)),
            Quantifier::NotExists => !states.any(|state| self.proposition.holds(state)),
            Quantifier::Forall => states.all(|state| self.proposition.holds(state)),
        }
    }
}

impl Proposition {
    /// Whether it holds in a final state.
    #[must_use]
    pub fn holds(&self, state: FinalState<'_>) -> bool {
        match self {
            Proposition::Constant(truth) => *truth,
            Proposition::Is(Observed::Shared(location), value) => state.0[location.index()] == *value,
            Proposition::Is(Observed::Local(thread, local), value) => state.1[thread.index()][*local] == *value,
            Proposition::Not(inner) => !inner.holds(state),
            Proposition::All(parts) => parts.iter().all(|part| part.holds(state)),
            Proposition::Any(parts) => parts.iter().any(|part| part.holds(state)),
        }
    }
}

/// Who knows the names in a condition.
pub trait Lookup {
    /// The register of a thread, by its number.
    fn register(&mut self, thread: Piece<'_>, register: Piece<'_>) -> Result<Observed, Diagnostic>;

    /// A location.
    fn location(&mut self, name: Piece<'_>) -> Result<Observed, Diagnostic>;
}

/// Reads a condition and looks at what follows; there is none if the text is empty.
pub fn condition(text: Piece<'_>, places: &mut impl Lookup) -> Result<Option<Condition>, Diagnostic> {
    let text = text.trimmed();
    if text.text.is_empty() || text.text.starts_with("<<") {
        return Ok(None);
    }
    let negated = text.strip("~");
    let (word, rest) = negated.unwrap_or(text).word();
    let quantifier = match (word.text, negated.is_some()) {
        ("exists", false) | ("final", false) => Quantifier::Exists,
        ("exists", true) => Quantifier::NotExists,
        ("forall", false) => Quantifier::Forall,
        _ => {
            let help = "a final condition begins with `exists`, `~exists` or `forall`; filters are not supported";
            let shown = if word.text.is_empty() { text.part(0, first_char(text)) } else { word };
            return Err(shown.error("expected a final condition").with_help(help));
        }
    };
    let mut reader = Reader { rest, places };
    let proposition = reader.proposition(0)?;
    let rest = reader.rest;
    let rest = rest.strip(";").unwrap_or(rest);
    let is_end =
        rest.text.is_empty() || rest.text.starts_with("<<") || word.text == "final" && rest.word().0.text == "with";
    if !is_end {
        let line = rest.part(0, rest.text.find('\n').unwrap_or(rest.text.len())).trimmed();
        return Err(line.error("expected the end of the test, `/\\` or `\\/`"));
    }
    Ok(Some(Condition { quantifier, proposition }))
}

struct Reader<'t, 'p, P> {
    rest: Piece<'t>,
    places: &'p mut P,
}

impl<P: Lookup> Reader<'_, '_, P> {
    fn proposition(&mut self, depth: usize) -> Result<Proposition, Diagnostic> {
        let mut parts = vec![self.conjunction(depth)?];
        while self.skip("\\/") {
            parts.push(self.conjunction(depth)?);
        }
        Ok(single_or(parts, Proposition::Any))
    }

    fn conjunction(&mut self, depth: usize) -> Result<Proposition, Diagnostic> {
        let mut parts = vec![self.negation(depth)?];
        while self.skip("/\\") {
            parts.push(self.negation(depth)?);
        }
        Ok(single_or(parts, Proposition::All))
    }

    fn negation(&mut self, depth: usize) -> Result<Proposition, Diagnostic> {
        let here = self.rest;
        if depth > MAX_DEPTH {
            return Err(here.part(0, first_char(here)).error(format!("conditions nest at most {MAX_DEPTH} deep")));
        }
        let (word, behind) = here.word();
        if self.skip("~") {
            return Ok(Proposition::Not(Box::new(self.negation(depth + 1)?)));
        }
        if self.skip("(") {
            let inner = self.proposition(depth + 1)?;
            return if self.skip(")") { Ok(inner) } else { Err(self.expected("`)`, `/\\` or `\\/`")) };
        }
        match word.text {
            "not" => {
                self.rest = behind;
                Ok(Proposition::Not(Box::new(self.negation(depth + 1)?)))
            }
            "true" | "false" => {
                self.rest = behind;
                Ok(Proposition::Constant(word.text == "true"))
            }
            _ => self.equation(),
        }
    }

    fn equation(&mut self) -> Result<Proposition, Diagnostic> {
        let bracket = self.skip("[");
        let (first, behind) = self.rest.word();
        if first.text.is_empty() {
            return Err(self.expected("a register such as `0:r1`, or a location"));
        }
        self.rest = behind;
        let place = if bracket {
            if !self.skip("]") {
                return Err(self.expected("`]`"));
            }
            self.places.location(first)?
        } else if self.skip(":") {
            let (register, behind) = self.rest.word();
            self.rest = behind;
            self.places.register(first, register)?
        } else {
            self.places.location(first)?
        };
        if !self.skip("=") {
            return Err(self.expected("`=`"));
        }
        let end = self.rest.text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(self.rest.text.len());
        let number = self.rest.part(0, end);
        let value = number.integer().ok_or_else(|| self.expected("an integer"))?;
        self.rest = self.rest.behind(end).trimmed();
        Ok(Proposition::Is(place, value))
    }

    fn skip(&mut self, symbol: &str) -> bool {
        match self.rest.strip(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let (word, _) = self.rest.word();
        let shown = if word.text.is_empty() { self.rest.part(0, first_char(self.rest)) } else { word };
        shown.error(format!("expected {what}"))
    }
}

/// How many bytes the first character has.
fn first_char(piece: Piece<'_>) -> usize {
    piece.text.chars().next().map_or(0, char::len_utf8)
}

fn single_or(mut parts: Vec<Proposition>, several: fn(Vec<Proposition>) -> Proposition) -> Proposition {
    match parts.len() {
        1 => parts.remove(0),
        _ => several(parts),
    }
}
