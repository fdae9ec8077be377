//! Macros: tokens to tokens, before anything is parsed.
//!
//! `macro NAME(a, b) … endmacro` gives the tokens in between a name; behind it, `NAME(x, y)` stands for them, with the
//! tokens of `x` for every `a` and those of `y` for every `b`. A macro may call those before it.

use super::lexer::{Kind, Token};
use crate::lang::Diagnostic;
use crate::program::Span;
use crate::text::counted;
use std::collections::HashMap;

/// How many tokens all macros together may give.
const MAX_TOKENS: usize = 200_000;
/// How deep calls of macros may nest.
const MAX_DEPTH: usize = 100;

const DEFINITION: &str = "a macro is `macro NAME(parameter, …)`, what it stands for, and `endmacro`";
const CALL: &str = "a macro is called `NAME(argument, …)`";

struct Macro<'t> {
    parameters: Vec<&'t str>,
    body: Vec<Token<'t>>,
}

struct Expander<'t, 'e> {
    macros: HashMap<&'t str, Macro<'t>>,
    given: Vec<Token<'t>>,
    frames: u32,
    end: Span,
    errors: &'e mut Vec<Diagnostic>,
}

/// Something was wrong and was reported.
struct Reported;

/// The tokens without macros; `end` is where the text ends.
pub fn expanded<'t>(tokens: &[Token<'t>], end: Span, errors: &mut Vec<Diagnostic>) -> Vec<Token<'t>> {
    let mut expander = Expander { macros: HashMap::new(), given: Vec::new(), frames: 0, end, errors };
    // What follows an error in a macro would be read without it, and give errors that are none.
    let _ = expander.read(tokens, 0);
    expander.given
}

impl<'t> Expander<'t, '_> {
    fn error(&mut self, span: Span, message: String, help: &str) -> Reported {
        self.errors.push(Diagnostic::error(span, message).with_help(help));
        Reported
    }

    fn read(&mut self, tokens: &[Token<'t>], depth: usize) -> Result<(), Reported> {
        let mut rest = tokens;
        while let [first, behind @ ..] = rest {
            let is_word = first.kind == Kind::Word;
            rest = match first.text {
                "macro" if is_word => self.define(first, behind, depth)?,
                name if is_word && self.macros.contains_key(name) => self.call(first, behind, depth)?,
                "endmacro" if is_word => {
                    return Err(self.error(first.span, "there is no macro that ends here".to_owned(), DEFINITION));
                }
                _ => {
                    if depth > 0 && self.given.len() >= MAX_TOKENS {
                        let message = format!("the macros stand for more than {MAX_TOKENS} words");
                        return Err(self.error(first.span, message, "call fewer of them"));
                    }
                    self.given.push(*first);
                    behind
                }
            };
        }
        Ok(())
    }

    fn expected(&mut self, what: &str, found: Option<&Token<'t>>, help: &str) -> Reported {
        let (span, found) = found
            .map_or((self.end, "the end of the file".to_owned()), |token| (token.span, format!("`{}`", token.text)));
        self.error(span, format!("expected {what}, found {found}"), help)
    }

    fn symbol<'s>(&mut self, symbol: &str, rest: &'s [Token<'t>], help: &str) -> Result<&'s [Token<'t>], Reported> {
        match rest {
            [first, behind @ ..] if first.text == symbol => Ok(behind),
            _ => Err(self.expected(&format!("`{symbol}`"), rest.first(), help)),
        }
    }

    fn define<'s>(
        &mut self,
        keyword: &Token<'t>,
        rest: &'s [Token<'t>],
        depth: usize,
    ) -> Result<&'s [Token<'t>], Reported> {
        if depth > 0 {
            return Err(self.error(keyword.span, "a macro is defined in a macro".to_owned(), DEFINITION));
        }
        let [name, behind @ ..] = rest else { return Err(self.expected("the name of a macro", None, DEFINITION)) };
        if name.kind != Kind::Word {
            return Err(self.expected("the name of a macro", Some(name), DEFINITION));
        }
        if self.macros.contains_key(name.text) {
            let message = format!("there are two macros `{}`", name.text);
            return Err(self.error(name.span, message, "every macro has a name of its own"));
        }
        let mut rest = self.symbol("(", behind, DEFINITION)?;
        let mut parameters: Vec<&str> = Vec::new();
        while rest.first().is_some_and(|token| token.text != ")") || !parameters.is_empty() {
            let [parameter, behind @ ..] = rest else { return Err(self.expected("a parameter", None, DEFINITION)) };
            if parameter.kind != Kind::Word {
                return Err(self.expected("a parameter", Some(parameter), DEFINITION));
            }
            if parameters.contains(&parameter.text) {
                let message = format!("there are two parameters `{}`", parameter.text);
                return Err(self.error(parameter.span, message, DEFINITION));
            }
            parameters.push(parameter.text);
            rest = behind;
            match rest {
                [comma, behind @ ..] if comma.text == "," => rest = behind,
                _ => break,
            }
        }
        let rest = self.symbol(")", rest, DEFINITION)?;
        let length = rest.iter().position(|token| token.kind == Kind::Word && token.text == "endmacro");
        let Some(length) = length else {
            let message = format!("the macro `{}` has no end", name.text);
            return Err(self.error(name.span, message, DEFINITION));
        };
        let body = rest[..length].to_vec();
        if let Some(inner) = body.iter().find(|token| token.kind == Kind::Word && token.text == "macro") {
            return Err(self.error(inner.span, "a macro is defined in a macro".to_owned(), DEFINITION));
        }
        self.macros.insert(name.text, Macro { parameters, body });
        Ok(&rest[length + 1..])
    }

    fn call<'s>(&mut self, name: &Token<'t>, rest: &'s [Token<'t>], depth: usize) -> Result<&'s [Token<'t>], Reported> {
        if depth == MAX_DEPTH {
            let message = format!("calls of macros nest more than {MAX_DEPTH} deep");
            return Err(self.error(name.span, message, "a macro must not call itself"));
        }
        let rest = self.symbol("(", rest, CALL)?;
        let mut arguments: Vec<&[Token<'t>]> = Vec::new();
        let (mut nesting, mut begin, mut end) = (0_usize, 0, None);
        for (position, token) in rest.iter().enumerate() {
            match token.text {
                ")" if nesting == 0 => {
                    end = Some(position);
                    break;
                }
                "(" => nesting += 1,
                ")" => nesting -= 1,
                "," if nesting == 0 => {
                    arguments.push(&rest[begin..position]);
                    begin = position + 1;
                }
                _ => {}
            }
        }
        let Some(end) = end else { return Err(self.expected("`)`", None, CALL)) };
        if begin < end || !arguments.is_empty() {
            arguments.push(&rest[begin..end]);
        }
        let known = &self.macros[name.text];
        if arguments.len() != known.parameters.len() || arguments.iter().any(|argument| argument.is_empty()) {
            let expected = known.parameters.len();
            let message = match arguments.iter().position(|argument| argument.is_empty()) {
                Some(empty) => format!("argument {} of `{}` is empty", empty + 1, name.text),
                None => format!("`{}` has {}, found {}", name.text, counted(expected, "parameter"), arguments.len()),
            };
            return Err(self.error(name.span, message, CALL));
        }
        let size: usize = arguments.iter().map(|argument| argument.len()).sum::<usize>().saturating_add(1);
        if known.body.len().saturating_mul(size) > MAX_TOKENS {
            let message = format!("the macros stand for more than {MAX_TOKENS} words");
            return Err(self.error(name.span, message, "call fewer of them"));
        }
        self.frames += 1;
        let frame = self.frames;
        let mut body = Vec::new();
        for token in &known.body {
            let parameter =
                known.parameters.iter().position(|parameter| token.kind == Kind::Word && *parameter == token.text);
            let Some(parameter) = parameter else {
                body.push(Token { frame, ..*token });
                continue;
            };
            let argument = arguments[parameter];
            for (position, given) in argument.iter().enumerate() {
                let (opens, closes) = (position == 0, position + 1 == argument.len());
                body.push(Token { span: token.span, frame, opens, closes, ..*given });
            }
        }
        self.read(&body, depth + 1)?;
        Ok(&rest[end + 1..])
    }
}
