//! The sections of a test in C: what is where, before any of it is understood.

use crate::lang::Diagnostic;
use crate::lang::litmus::piece::Piece;
use crate::lang::litmus::sections::{begins_behind_code, braces, expected, head, outside_quotes, trimmed};
use crate::program::Span;

/// The sections of a text.
pub struct Sections<'t> {
    /// The test's name.
    pub name: Piece<'t>,
    /// The entries of the initial state.
    pub initial: Vec<Piece<'t>>,
    /// The threads.
    pub functions: Vec<Function<'t>>,
    /// What is behind the code.
    pub condition: Piece<'t>,
}

/// A thread.
pub struct Function<'t> {
    /// The names of its parameters.
    pub parameters: Vec<Piece<'t>>,
    /// What it does.
    pub body: Piece<'t>,
}

/// Finds the sections of a text without comments.
pub fn sections(text: &str) -> Result<Sections<'_>, Diagnostic> {
    let whole = trimmed(text);
    let (_, name) = head(whole)?;
    let opening = outside_quotes(whole, '{').ok_or_else(|| expected(whole, "`{`, the initial state"))?;
    let (initial, mut rest) = braces(whole.behind(opening))?;
    let initial = initial.split(';').into_iter().filter(|entry| !entry.text.is_empty()).collect();
    let mut functions = Vec::new();
    while !rest.text.is_empty() && !begins_behind_code(rest) {
        let (function, behind) = function(rest, functions.len())?;
        functions.push(function);
        rest = behind;
    }
    if functions.is_empty() {
        return Err(expected(rest, "a thread, such as `P0 (atomic_int* x) { … }`"));
    }
    Ok(Sections { name, initial, functions, condition: rest })
}

fn function(mut rest: Piece<'_>, number: usize) -> Result<(Function<'_>, Piece<'_>), Diagnostic> {
    while let ("static" | "void", behind) = (rest.word().0.text, rest.word().1) {
        rest = behind;
    }
    let (name, behind) = rest.word();
    if name.text != format!("P{number}") {
        let shown = if name.text.is_empty() { first(rest) } else { name };
        return Err(shown.error(format!("expected `P{number}`, a thread, or a final condition")));
    }
    let Some(close) = behind.text.find(')').filter(|_| behind.text.starts_with('(')) else {
        return Err(first(behind).error("expected the parameters of this thread, such as `(atomic_int* x)`"));
    };
    let list = behind.part(1, close).trimmed();
    let is_empty = list.text.is_empty() || list.text == "void";
    let listed = if is_empty { Vec::new() } else { list.split(',') };
    let parameters = listed.into_iter().map(parameter).collect::<Result<_, _>>()?;
    let body = behind.behind(close + 1).trimmed();
    if !body.text.starts_with('{') {
        return Err(first(body).error("expected `{`, the body of this thread"));
    }
    let (body, behind) = braces(body)?;
    Ok((Function { parameters, body }, behind))
}

/// `atomic_int* x`: its name.
fn parameter(text: Piece<'_>) -> Result<Piece<'_>, Diagnostic> {
    let star = text.text.rfind('*').ok_or_else(|| {
        text.error("expected a pointer").with_help("the parameters of a thread are locations: `atomic_int* x`")
    })?;
    let name = text.behind(star + 1).trimmed();
    let name = name.strip("restrict ").unwrap_or(name);
    if !name.is_name() {
        return Err(text.error("expected a type, `*` and the name of a location"));
    }
    Ok(name)
}

/// The first character, to be shown.
fn first(piece: Piece<'_>) -> Piece<'_> {
    piece.part(0, piece.text.chars().next().map_or(0, char::len_utf8))
}

/// The text with its comments turned into blanks, so that everything keeps its place: `//` and `/* … */` everywhere,
/// `(* … *)` outside of the code of threads, where `(*x)` may stand.
pub fn without_comments(text: &str) -> Result<String, Diagnostic> {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut depth, mut groups) = (0, 0_usize, 0_usize);
    while at < bytes.len() {
        let is_code = groups > 0 && depth > 0;
        let end = match &bytes[at..] {
            [b'/', b'/', ..] => Some(find(&bytes, at, b"\n").unwrap_or(bytes.len())),
            [b'/', b'*', ..] => Some(closed(find(&bytes, at + 2, b"*/"), at)? + 2),
            [b'(', b'*', ..] if !is_code => Some(closed(nested(&bytes, at), at)?),
            [b'{', ..] => {
                depth += 1;
                None
            }
            [b'}', ..] => {
                depth = depth.saturating_sub(1);
                groups += usize::from(depth == 0);
                None
            }
            _ => None,
        };
        if let Some(end) = end {
            bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        at = end.unwrap_or(at + 1);
    }
    // Comments begin and end with ASCII characters: what is left is still whole.
    String::from_utf8(bytes).map_err(|_| Diagnostic::error(Span::default(), "the text is not UTF-8"))
}

fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    bytes.get(from..)?.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}

/// Where a comment with comments in it ends.
fn nested(bytes: &[u8], begin: usize) -> Option<usize> {
    let (mut at, mut depth) = (begin, 0_usize);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'(', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b')', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

fn closed(end: Option<usize>, begin: usize) -> Result<usize, Diagnostic> {
    end.ok_or_else(|| {
        Diagnostic::error(Span { start: begin, end: begin + 2 }, "this comment has no end")
            .with_help("a comment that begins with `(*` ends with `*)`, one with `/*` with `*/`")
    })
}
