//! The words of C.

use crate::lang::Diagnostic;
use crate::lang::litmus::piece::Piece;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a keyword.
    Name,
    /// A number.
    Number(i64),
    /// Anything else.
    Symbol,
    /// The end of the code.
    End,
}

/// A word, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    /// What it is.
    pub kind: Kind,
    /// The word.
    pub piece: Piece<'t>,
}

/// Symbols of several characters; longer ones come first.
const SYMBOLS: [&str; 19] = [
    "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=", "&=", "|=", "^=", "++", "--", "->",
];

/// Takes a text apart; the last token is the end.
pub fn tokens(text: Piece<'_>) -> Result<Vec<Token<'_>>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut rest = text.trimmed();
    while let Some(character) = rest.text.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (kind, length) = if is_word(character) {
            let length = rest.text.find(|c: char| !is_word(c)).unwrap_or(rest.text.len());
            let word = rest.part(0, length);
            (if character.is_ascii_digit() { Kind::Number(number(word)?) } else { Kind::Name }, length)
        } else {
            let known = SYMBOLS.iter().find(|symbol| rest.text.starts_with(**symbol));
            (Kind::Symbol, known.map_or(character.len_utf8(), |symbol| symbol.len()))
        };
        let piece = rest.part(0, length);
        if kind == Kind::Symbol && length == 1 && !"(){}[];,=<>+-*/%&|^~!?:.".contains(character)
            || !character.is_ascii()
        {
            return Err(piece.error(format!("`{}` has no meaning in C", character.escape_default())));
        }
        tokens.push(Token { kind, piece });
        rest = rest.behind(length).trimmed();
    }
    tokens.push(Token { kind: Kind::End, piece: rest });
    Ok(tokens)
}

fn number(word: Piece<'_>) -> Result<i64, Diagnostic> {
    let digits = word.text.trim_end_matches(['u', 'U', 'l', 'L']);
    let digits = word.part(0, digits.len());
    digits.integer().ok_or_else(|| word.error("expected an integer of at most 63 bits"))
}
