//! The sections of a litmus test: what is where, before any of it is understood.

use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::Span;

/// The sections of a text.
pub struct Sections<'t> {
    /// The test's name.
    pub name: Piece<'t>,
    /// The entries of the initial state.
    pub initial: Vec<Piece<'t>>,
    /// The names of the threads.
    pub threads: Vec<Piece<'t>>,
    /// For each row of the code, its cells.
    pub rows: Vec<Vec<Piece<'t>>>,
    /// What is behind the code: locations to be printed, a filter, the final condition.
    pub condition: Piece<'t>,
}

/// What a section behind the code may begin with.
const BEHIND_CODE: [&str; 6] = ["exists", "forall", "final", "locations", "filter", "with"];

/// The text without what is around it.
pub fn trimmed(text: &str) -> Piece<'_> {
    let whole = Piece { text: text.strip_prefix('\u{feff}').unwrap_or(text), start: 0 };
    Piece { start: text.len() - whole.text.len(), ..whole }.trimmed()
}

/// The architecture and the name of the test.
pub fn head(whole: Piece<'_>) -> Result<(Piece<'_>, Piece<'_>), Diagnostic> {
    let head = whole.part(0, whole.text.find('\n').unwrap_or(whole.text.len()));
    let (architecture, rest) = head.word();
    let name_end = rest.text.find(char::is_whitespace).unwrap_or(rest.text.len());
    let name = rest.part(0, name_end);
    if architecture.text.is_empty() || name.text.is_empty() {
        return Err(head
            .error("expected the architecture and the name of the test")
            .with_help("a litmus test begins with a line such as `X86 SB`"));
    }
    Ok((architecture, name))
}

/// Finds the sections of a text without comments.
pub fn sections(text: &str) -> Result<Sections<'_>, Diagnostic> {
    let whole = trimmed(text);
    let (_, name) = head(whole)?;
    let opening = outside_quotes(whole, '{').ok_or_else(|| expected(whole, "`{`, the initial state"))?;
    let (initial, mut rest) = braces(whole.behind(opening))?;
    let initial = initial.split(';');
    rest = rest.strip(";").unwrap_or(rest);
    let mut rows = Vec::new();
    while !rest.text.is_empty() && !begins_behind_code(rest) {
        let end = rest.text.find(';').ok_or_else(|| {
            let line = rest.part(0, rest.text.find('\n').unwrap_or(rest.text.len())).trimmed();
            line.error("expected `;` at the end of this row of code")
        })?;
        rows.push(rest.part(0, end).split('|'));
        rest = rest.behind(end + 1).trimmed();
    }
    if rows.is_empty() {
        return Err(expected(rest, "the names of the threads, such as `P0 | P1 ;`"));
    }
    let threads = rows.remove(0);
    let initial = initial.into_iter().filter(|entry| !entry.text.is_empty()).collect();
    Ok(Sections { name, initial, threads, rows, condition: rest })
}

/// Whether this is no more code.
pub fn begins_behind_code(rest: Piece<'_>) -> bool {
    let (word, _) = rest.word();
    BEHIND_CODE.contains(&word.text) || rest.text.starts_with('~') || rest.text.starts_with("<<")
}

/// What is between a brace and the one that closes it, and what is behind that.
pub fn braces(from: Piece<'_>) -> Result<(Piece<'_>, Piece<'_>), Diagnostic> {
    let mut depth = 0_usize;
    for (at, character) in from.text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth <= 1 => return Ok((from.part(1, at).trimmed(), from.behind(at + 1).trimmed())),
            '}' => depth -= 1,
            _ => {}
        }
    }
    Err(from.part(0, 1).error("this `{` is not closed"))
}

/// Where a character is, outside of quoted texts.
pub fn outside_quotes(piece: Piece<'_>, wanted: char) -> Option<usize> {
    let mut quoted = false;
    for (at, character) in piece.text.char_indices() {
        match character {
            // A quoted text does not go on in the next line: an apostrophe too many does no harm.
            '"' => quoted = !quoted,
            '\n' => quoted = false,
            character if character == wanted && !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// An error at the end of what was read.
pub fn expected(piece: Piece<'_>, what: &str) -> Diagnostic {
    let end = piece.span().end;
    Diagnostic::error(Span { start: end, end }, format!("expected {what}"))
}
