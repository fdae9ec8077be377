//! The sections of a litmus test: what is where, before any of it is understood.

use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::Span;

/// The sections of a text.
pub struct Sections<'t> {
    /// The architecture.
    pub architecture: Piece<'t>,
    /// The test's name.
    pub name: Piece<'t>,
    /// The entries of the initial state.
    pub initial: Vec<Piece<'t>>,
    /// The names of the threads.
    pub threads: Vec<Piece<'t>>,
    /// For each row of the code, its cells.
    pub rows: Vec<Vec<Piece<'t>>>,
    /// The final condition and what follows it.
    pub condition: Piece<'t>,
}

/// What a section behind the code may begin with.
const BEHIND_CODE: [&str; 6] = ["exists", "forall", "final", "locations", "filter", "with"];

/// Finds the sections of a text without comments.
pub fn sections(text: &str) -> Result<Sections<'_>, Diagnostic> {
    let whole = Piece { text: text.strip_prefix('\u{feff}').unwrap_or(text), start: 0 };
    let whole = Piece { start: text.len() - whole.text.len(), ..whole }.trimmed();
    let head = whole.part(0, whole.text.find('\n').unwrap_or(whole.text.len()));
    let (architecture, rest) = head.word();
    let name_end = rest.text.find(char::is_whitespace).unwrap_or(rest.text.len());
    let name = rest.part(0, name_end);
    if architecture.text.is_empty() || name.text.is_empty() {
        return Err(head
            .error("expected the architecture and the name of the test")
            .with_help("a litmus test begins with a line such as `X86 SB`"));
    }
    let opening = outside_quotes(whole, '{').ok_or_else(|| expected(whole, "`{`, the initial state"))?;
    let closing = whole.behind(opening).text.find('}').map(|at| opening + at);
    let closing = closing.ok_or_else(|| whole.part(opening, opening + 1).error("this `{` is not closed"))?;
    let initial = whole.part(opening + 1, closing).split(';');
    let mut rest = whole.behind(closing + 1).trimmed();
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
    let condition = behind_locations(rest)?;
    let initial = initial.into_iter().filter(|entry| !entry.text.is_empty()).collect();
    Ok(Sections { architecture, name, initial, threads, rows, condition })
}

fn begins_behind_code(rest: Piece<'_>) -> bool {
    let (word, _) = rest.word();
    BEHIND_CODE.contains(&word.text) || rest.text.starts_with('~') || rest.text.starts_with("<<")
}

/// Behind the list of locations that other tools are to print, if there is one.
fn behind_locations(rest: Piece<'_>) -> Result<Piece<'_>, Diagnostic> {
    if rest.word().0.text != "locations" {
        return Ok(rest);
    }
    let end = rest.text.find(']').ok_or_else(|| rest.word().0.error("this list of locations has no `]`"))?;
    let rest = rest.behind(end + 1).trimmed();
    Ok(rest.strip(";").unwrap_or(rest))
}

fn outside_quotes(piece: Piece<'_>, wanted: char) -> Option<usize> {
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
fn expected(piece: Piece<'_>, what: &str) -> Diagnostic {
    let end = piece.span().end;
    Diagnostic::error(Span { start: end, end }, format!("expected {what}"))
}
