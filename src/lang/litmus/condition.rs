//! The final condition of a litmus test: its grammar. What it means is [`FinalCondition`]'s affair.
//!
//! ```text
//! end         = {"locations" "[" … "]" [";"] | "filter" proposition [";"]} [condition]
//! condition   = ("exists" | "~exists" | "forall" | "final") proposition [";"]
//! proposition = disjunction ["=>" proposition]
//! disjunction = conjunction {"\/" conjunction}
//! conjunction = negation {"/\" negation}
//! negation    = ("not" | "~") negation | "(" proposition ")" | "true" | "false" | place "=" value
//! place       = ["P"] thread ":" register | element | "[" element "]"
//! element     = location ["[" index "]"]
//! value       = integer | ["&"] location
//! ```
//!
//! The locations that other tools are to print are left alone. A filter says which final states are asked at all: an
//! outcome that is looked for is looked for among them, and `forall` is of them.
//!
//! `final` is how older tests ask whether a state can be reached, with a list of what their authors expect behind it;
//! it is read as `exists`, and the list is left alone.

use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::property::{FinalCondition, Observed, Proposition, Quantifier};

/// How deep parentheses and negations nest.
const MAX_DEPTH: usize = 200;

/// Who knows the names in a condition.
pub trait Lookup {
    /// The register of a thread, by its number.
    fn register(&mut self, thread: Piece<'_>, register: Piece<'_>) -> Result<Observed, Diagnostic>;

    /// A location, or an element of it.
    fn location(&mut self, name: Piece<'_>, element: Option<Piece<'_>>) -> Result<Observed, Diagnostic>;

    /// The address of a location.
    fn address(&mut self, name: Piece<'_>) -> Result<i64, Diagnostic>;
}

/// Reads a condition and looks at what follows; there is none if the text is empty.
pub fn condition(text: Piece<'_>, places: &mut impl Lookup) -> Result<Option<FinalCondition>, Diagnostic> {
    let (text, filters) = before_condition(text.trimmed(), places)?;
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
            let help = "a final condition begins with `exists`, `~exists` or `forall`";
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
    Ok(Some(FinalCondition { quantifier, proposition: filtered(quantifier, proposition, filters) }))
}

/// Reads what comes before the condition: locations, which are left alone, and filters.
fn before_condition<'t>(
    mut text: Piece<'t>,
    places: &mut impl Lookup,
) -> Result<(Piece<'t>, Vec<Proposition>), Diagnostic> {
    let mut filters = Vec::new();
    loop {
        let (word, rest) = text.word();
        text = match word.text {
            "locations" => {
                let end = rest.text.find(']').filter(|_| rest.text.starts_with('['));
                let end = end.ok_or_else(|| word.error("this list of locations has no `]`"))?;
                rest.behind(matching(rest).unwrap_or(end) + 1).trimmed()
            }
            "filter" => {
                let mut reader = Reader { rest, places: &mut *places };
                filters.push(reader.proposition(0)?);
                reader.rest
            }
            _ => return Ok((text, filters)),
        };
        text = text.strip(";").unwrap_or(text);
    }
}

/// Where the bracket is that closes the first one.
fn matching(text: Piece<'_>) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' if depth <= 1 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What is asked of the states that pass the filters, as a question about all.
fn filtered(quantifier: Quantifier, proposition: Proposition, mut filters: Vec<Proposition>) -> Proposition {
    if filters.is_empty() {
        return proposition;
    }
    match quantifier {
        Quantifier::Exists | Quantifier::NotExists => {
            filters.push(proposition);
            Proposition::All(filters)
        }
        Quantifier::Forall => {
            Proposition::Any(vec![Proposition::Not(Box::new(Proposition::All(filters))), proposition])
        }
    }
}

struct Reader<'t, 'p, P> {
    rest: Piece<'t>,
    places: &'p mut P,
}

impl<P: Lookup> Reader<'_, '_, P> {
    fn proposition(&mut self, depth: usize) -> Result<Proposition, Diagnostic> {
        self.check(depth)?;
        let before = self.disjunction(depth)?;
        if !self.skip("=>") {
            return Ok(before);
        }
        Ok(Proposition::Any(vec![Proposition::Not(Box::new(before)), self.proposition(depth + 1)?]))
    }

    fn check(&self, depth: usize) -> Result<(), Diagnostic> {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(self.rest.part(0, first_char(self.rest)).error(format!("conditions nest at most {MAX_DEPTH} deep")))
    }

    fn disjunction(&mut self, depth: usize) -> Result<Proposition, Diagnostic> {
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
        self.check(depth)?;
        let here = self.rest;
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
            let place = self.element(first)?;
            if !self.skip("]") {
                return Err(self.expected("`]`"));
            }
            place
        } else if self.skip(":") {
            let register = self.rest.part(0, register_end(self.rest));
            self.rest = self.rest.behind(register.text.len()).trimmed();
            self.places.register(first, register)?
        } else {
            self.element(first)?
        };
        if !self.skip("=") {
            return Err(self.expected("`=`"));
        }
        let value = self.value()?;
        Ok(Proposition::Is(place, value))
    }

    fn element(&mut self, name: Piece<'_>) -> Result<Observed, Diagnostic> {
        if !self.skip("[") {
            return self.places.location(name, None);
        }
        let (index, behind) = self.rest.word();
        self.rest = behind;
        if !self.skip("]") {
            return Err(self.expected("`]`"));
        }
        self.places.location(name, Some(index))
    }

    fn value(&mut self) -> Result<i64, Diagnostic> {
        let is_address = self.skip("&");
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let end = self.rest.text.find(|c: char| !is_part(c)).unwrap_or(self.rest.text.len());
        let written = self.rest.part(0, end);
        let value = match written.integer() {
            Some(value) if !is_address => value,
            None if written.is_name() => self.places.address(written)?,
            _ => return Err(self.expected("an integer")),
        };
        self.rest = self.rest.behind(end).trimmed();
        Ok(value)
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

/// Where the name of a register ends, which may begin with `%`.
fn register_end(piece: Piece<'_>) -> usize {
    let percent = usize::from(piece.text.starts_with('%'));
    percent + piece.behind(percent).word().0.text.len()
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
