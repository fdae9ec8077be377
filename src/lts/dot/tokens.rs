//! The words and signs of the DOT language: no grammar.
//!
//! Names are words of letters, digits and `_`, numbers, or strings in quotation marks, which may stand on several
//! lines. Comments (`/* */`, `//`, and lines that begin with `#`) and blanks lie between.

#![forbid(unsafe_code)]

use std::borrow::Cow;

/// A word or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name, without its quotation marks; whether it had some.
    Name(Cow<'a, [u8]>, Quotes),
    /// `->`.
    Arrow,
    /// `--`, which only graphs without directions have.
    Line,
    /// One of `{ } [ ] ; , = :`.
    Sign(u8),
    /// Nothing is left.
    End,
}

/// Whether a name was written as a string. Keywords are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    With,
    Without,
}

/// Something that is not in the language.
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) expected: &'static str,
}

/// A position in a text.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Tokens { bytes, at: 0 }
    }

    /// The next token, where it stands, and where what a name says begins: behind its quotation mark, if it has one.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, usize), Fault> {
        self.skip_blanks()?;
        let start = self.at;
        let rest = &self.bytes[start..];
        let token = match rest {
            [] => return Ok((Token::End, start)),
            [b'-', b'>', ..] => self.take(2, Token::Arrow),
            [b'-', b'-', ..] => self.take(2, Token::Line),
            [sign @ (b'{' | b'}' | b'[' | b']' | b';' | b',' | b'=' | b':'), ..] => self.take(1, Token::Sign(*sign)),
            [b'"', ..] => {
                let text = self.string(start)?;
                return Ok((Token::Name(text, Quotes::With), start + 1));
            }
            [b'<', ..] => return Err(Fault { offset: start, expected: "a text that is not HTML" }),
            _ => {
                let sign = usize::from(rest[0] == b'-');
                let length = rest[sign..].iter().take_while(|&&byte| is_word(byte)).count();
                if length == 0 {
                    return Err(Fault {
                        offset: start,
                        expected: "a name, a string in quotation marks, or a sign of DOT",
                    });
                }
                self.take(sign + length, Token::Name(Cow::Borrowed(&rest[..sign + length]), Quotes::Without))
            }
        };
        Ok((token, start))
    }

    fn take(&mut self, length: usize, token: Token<'a>) -> Token<'a> {
        self.at += length;
        token
    }

    fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            let rest = &self.bytes[self.at..];
            let at_line_start = self.at == 0 || self.bytes[self.at - 1] == b'\n';
            let length = match rest {
                [b'#', ..] if at_line_start => line_length(rest),
                [b'/', b'/', ..] => line_length(rest),
                [b'/', b'*', ..] => match memchr::memmem::find(&rest[2..], b"*/") {
                    Some(length) => length + 4,
                    None => return Err(Fault { offset: self.at, expected: "a comment with its end `*/`" }),
                },
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                _ => return Ok(()),
            };
            self.at += length;
        }
    }

    /// A string with its escapes resolved: what a picture would show in one line.
    fn string(&mut self, start: usize) -> Result<Cow<'a, [u8]>, Fault> {
        let inner = &self.bytes[start + 1..];
        let mut resolved: Option<Vec<u8>> = None;
        let mut from = 0;
        loop {
            let Some(length) = memchr::memchr3(b'"', b'\\', b'\n', &inner[from..]) else {
                return Err(Fault { offset: start, expected: "a string with its closing quotation mark" });
            };
            let at = from + length;
            let (replacement, length): (&[u8], usize) = match (inner[at], inner.get(at + 1)) {
                (b'"', _) => {
                    self.at = start + 1 + at + 1;
                    return Ok(match resolved {
                        None => Cow::Borrowed(&inner[..at]),
                        Some(text) => Cow::Owned([&text, &inner[from..at]].concat()),
                    });
                }
                (b'\n', _) | (_, Some(b'n' | b'l' | b'r')) => (b" ", if inner[at] == b'\n' { 1 } else { 2 }),
                // The line goes on in the next one.
                (_, Some(b'\n')) => (b"", 2),
                (_, Some(quoted @ (b'"' | b'\\'))) => (std::slice::from_ref(quoted), 2),
                _ => (b"\\", 1),
            };
            let text = resolved.get_or_insert_default();
            text.extend_from_slice(&inner[from..at]);
            text.extend_from_slice(replacement);
            from = at + length;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || byte >= 0x80
}

fn line_length(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).unwrap_or(text.len())
}
