//! The language of the paper on persistence: text to the syntax tree.
//!
//! Everything is declared here, so names are looked up while reading. After an error in an instruction reading goes
//! on behind its `goto`.

mod expressions;
mod lexer;

use super::syntax::{Action, Automata, Location, Memory, Name, Thread, Transition};
use crate::lang::Diagnostic;
use crate::lang::similar::nearest;
use crate::program::Span;
use lexer::{Kind, Token, tokens};
use std::collections::HashSet;

const KEYWORDS: [&str; 13] =
    ["program", "vars", "procs", "process", "regs", "init", "begin", "end", "goto", "arw", "fence", "skip", "assume"];

/// What a program looks like.
const OUTLINE: &str =
    "a program is `program NAME vars x y procs`, then for each process `process NAME regs r init LABEL begin … end`";
/// What an instruction looks like.
const INSTRUCTION: &str = "an instruction is `LABEL : statement ; goto LABEL`";
/// What a statement is.
const STATEMENT: &str = "a statement is `VAR = expression`, `REG = VAR`, `REG = expression`, `arw (VAR, old, new)`, `fence`, `skip` or `assume expression`";

/// Whether the text is in this language: its first word tells.
pub fn is_one(text: &str) -> bool {
    tokens(text, &mut Vec::new()).first().is_some_and(|token| token.text == "program")
}

/// Reads a program.
pub fn parse(text: &str) -> Result<Automata, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = tokens(text, &mut errors);
    let end = Span { start: text.len(), end: text.len() };
    let mut parser = Parser { tokens, position: 0, end, errors, variables: Vec::new(), registers: Vec::new() };
    match parser.program() {
        Ok(source) if parser.errors.is_empty() => Ok(source),
        _ => Err(parser.errors),
    }
}

/// Something was wrong and was reported.
struct Reported;

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
    end: Span,
    errors: Vec<Diagnostic>,
    variables: Vec<Name>,
    /// Those of the process that is being read.
    registers: Vec<Name>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.position).copied()
    }

    fn is_next(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.text == text)
    }

    fn take(&mut self, text: &str) -> Option<Token<'a>> {
        let token = self.peek().filter(|token| token.text == text);
        self.position += usize::from(token.is_some());
        token
    }

    fn error(&mut self, span: Span, message: String, help: &str) -> Reported {
        self.errors.push(Diagnostic::error(span, message).with_help(help));
        Reported
    }

    fn expected(&mut self, what: &str, help: &str) -> Reported {
        let (span, found) = match self.peek() {
            Some(token) => (token.span, format!("`{}`", token.text)),
            None => (self.end, "the end of the file".to_owned()),
        };
        self.error(span, format!("expected {what}, found {found}"), help)
    }

    fn keyword(&mut self, text: &str, help: &str) -> Result<Token<'a>, Reported> {
        if let Some(token) = self.take(text) {
            return Ok(token);
        }
        let reported = self.expected(&format!("`{text}`"), help);
        // A misspelt keyword is not read as something else.
        let found = self.peek().filter(|token| nearest(token.text, [text].into_iter()).is_some());
        if let (Some(_), Some(error)) = (found, self.errors.last_mut()) {
            error.help = Some(format!("did you mean `{text}`?"));
            self.position += 1;
        }
        Err(reported)
    }

    fn name(&mut self, what: &str, help: &str) -> Result<Name, Reported> {
        match self.peek() {
            Some(token) if token.kind == Kind::Word && !KEYWORDS.contains(&token.text) => {
                self.position += 1;
                Ok(Name { text: token.text.to_owned(), span: token.span })
            }
            Some(token) if token.kind == Kind::Word => {
                Err(self.expected(what, &format!("`{}` is a word of the language and no name", token.text)))
            }
            _ => Err(self.expected(what, help)),
        }
    }

    /// Names, separated by blanks or commas.
    fn names(&mut self) -> Vec<Name> {
        let mut names = Vec::new();
        while let Some(token) = self.peek().filter(|token| token.kind == Kind::Word && !KEYWORDS.contains(&token.text))
        {
            names.push(Name { text: token.text.to_owned(), span: token.span });
            self.position += 1;
            self.take(",");
        }
        names
    }

    fn unique(&mut self, what: &str, names: &[Name]) {
        let mut known = HashSet::new();
        for name in names {
            if !known.insert(name.text.as_str()) {
                self.errors.push(Diagnostic::error(name.span, format!("there are two {what} `{}`", name.text)));
            }
        }
    }

    fn program(&mut self) -> Result<Automata, Reported> {
        self.keyword("program", OUTLINE)?;
        let name = self.name("the name of the program", OUTLINE)?;
        let _ = self.keyword("vars", OUTLINE);
        self.variables = self.names();
        self.unique("variables", &self.variables.clone());
        if self.keyword("procs", OUTLINE).is_err() {
            // A second error about the same word helps nobody.
            while self.peek().is_some() && !self.is_next("process") {
                self.position += 1;
            }
        }
        let mut threads = Vec::new();
        while self.peek().is_some() {
            match self.process() {
                Ok(thread) => threads.push(thread),
                Err(Reported) => {
                    while self.peek().is_some() && !self.is_next("process") {
                        self.position += 1;
                    }
                }
            }
        }
        if threads.is_empty() && self.errors.is_empty() {
            self.error(self.end, "there is no process".to_owned(), OUTLINE);
        }
        Ok(Automata { name: name.text, memory: Memory::Variables(self.variables.clone()), threads })
    }

    fn process(&mut self) -> Result<Thread, Reported> {
        self.keyword("process", OUTLINE)?;
        let name = self.name("the name of the process", OUTLINE)?;
        self.keyword("regs", "`regs` stands there also if there are no registers")?;
        self.registers = self.names();
        self.unique("registers", &self.registers.clone());
        for register in self.registers.clone() {
            if self.variables.iter().any(|variable| variable.text == register.text) {
                let message = format!("`{}` is a shared variable already", register.text);
                self.error(register.span, message, "a register needs a name of its own");
            }
        }
        self.keyword("init", "`init LABEL` tells where the process starts")?;
        let initial = self.name("the label where the process starts", OUTLINE)?;
        self.keyword("begin", OUTLINE)?;
        let mut transitions = Vec::new();
        loop {
            match self.peek() {
                Some(token) if token.text == "end" => {
                    self.position += 1;
                    break;
                }
                None | Some(Token { text: "process", .. }) => {
                    self.expected("an instruction or `end`", "a process ends with `end`");
                    break;
                }
                Some(_) => {
                    let start = self.position;
                    match self.instruction() {
                        Ok(transition) => transitions.push(transition),
                        Err(Reported) => self.recover(start),
                    }
                }
            }
        }
        let registers = Some(std::mem::take(&mut self.registers));
        Ok(Thread { name, count: None, registers, initial, transitions })
    }

    /// Goes on behind the next `goto` and its label, or at the end of the process; here, if an instruction begins
    /// here. Never at `start`, where the one that failed begins: it would fail there for ever.
    fn recover(&mut self, start: usize) {
        if self.position > start && self.tokens.get(self.position + 1).is_some_and(|token| token.text == ":") {
            return;
        }
        while let Some(token) = self.peek() {
            match token.text {
                "end" | "process" => return,
                "goto" => {
                    self.position += 1;
                    if self.peek().is_some_and(|token| token.kind == Kind::Word && token.text != "end") {
                        self.position += 1;
                    }
                    self.take(";");
                    return;
                }
                _ => self.position += 1,
            }
        }
    }

    fn instruction(&mut self) -> Result<Transition, Reported> {
        let from = self.name("a label or `end`", INSTRUCTION)?;
        if self.take(":").is_none() {
            return Err(self.expected("`:` behind the label", INSTRUCTION));
        }
        let action = self.statement()?;
        if self.take(";").is_none() {
            return Err(self.expected("`; goto LABEL`", INSTRUCTION));
        }
        self.keyword("goto", INSTRUCTION)?;
        let Ok(to) = self.name("a label", INSTRUCTION) else {
            // A keyword in the place of the label, unless it is the `end` of the process, for which the label was
            // forgotten.
            let behind = self.tokens.get(self.position + 1);
            let is_label = self.peek().is_some_and(|token| KEYWORDS.contains(&token.text));
            self.position += usize::from(is_label && behind.is_some_and(|token| token.text != "process"));
            return Err(Reported);
        };
        let span = Span { start: from.span.start, end: to.span.end };
        self.take(";");
        Ok(Transition { from, to, action, span })
    }

    fn statement(&mut self) -> Result<Action, Reported> {
        let Some(token) = self.peek() else { return Err(self.expected("a statement", STATEMENT)) };
        match token.text {
            "skip" => {
                self.position += 1;
                Ok(Action::Skip)
            }
            "fence" => {
                self.position += 1;
                Ok(Action::Fence)
            }
            "assume" => {
                self.position += 1;
                Ok(Action::Check(self.expression()?))
            }
            "arw" => {
                self.position += 1;
                self.exchange()
            }
            _ => self.assignment(),
        }
    }

    fn exchange(&mut self) -> Result<Action, Reported> {
        const HELP: &str = "`arw (VAR, old, new)` waits until the variable has the old value and gives it the new one";
        self.symbol("(", HELP)?;
        let name = self.name("a shared variable", HELP)?;
        let location = self.variable(&name);
        self.symbol(",", HELP)?;
        let old = self.expression()?;
        self.symbol(",", HELP)?;
        let new = self.expression()?;
        self.symbol(")", HELP)?;
        Ok(Action::Exchange(location?, old, new))
    }

    fn symbol(&mut self, symbol: &str, help: &str) -> Result<(), Reported> {
        match self.take(symbol) {
            Some(_) => Ok(()),
            None => Err(self.expected(&format!("`{symbol}`"), help)),
        }
    }

    fn assignment(&mut self) -> Result<Action, Reported> {
        let target = self.name("a statement", STATEMENT)?;
        if self.take("=").is_none() && self.take(":=").is_none() {
            let statement = nearest(&target.text, KEYWORDS[9..].iter().copied());
            let help = statement.map_or(STATEMENT.to_owned(), |meant| format!("did you mean `{meant}`?"));
            return Err(self.expected("`=`", &help));
        }
        if self.registers.iter().any(|register| register.text == target.text) {
            let is_alone = self.tokens.get(self.position + 1).is_none_or(|token| token.text == ";");
            let name = self.peek().filter(|token| token.kind == Kind::Word && is_alone);
            let variable = name.and_then(|token| {
                self.variables.iter().position(|variable| variable.text == token.text).map(|at| (at, token.span))
            });
            if let Some((variable, span)) = variable {
                self.position += 1;
                return Ok(Action::Read(target, Location::Variable(variable, span)));
            }
            return Ok(Action::Local(target, self.expression()?));
        }
        let location = self.variables.iter().position(|variable| variable.text == target.text);
        let Some(location) = location else {
            let reported = self.unknown("variable or register", &target);
            // The value is read all the same, for its own errors.
            self.expression()?;
            return Err(reported);
        };
        Ok(Action::Write(self.expression()?, Location::Variable(location, target.span)))
    }

    fn variable(&mut self, name: &Name) -> Result<Location, Reported> {
        match self.variables.iter().position(|variable| variable.text == name.text) {
            Some(position) => Ok(Location::Variable(position, name.span)),
            None => Err(self.unknown("shared variable", name)),
        }
    }

    fn unknown(&mut self, what: &str, name: &Name) -> Reported {
        let error = Diagnostic::error(name.span, format!("there is no {what} `{}`", name.text));
        let is_register = self.registers.iter().any(|register| register.text == name.text);
        let known = self.variables.iter().chain(&self.registers).map(|known| known.text.as_str());
        self.errors.push(match nearest(&name.text, known) {
            _ if is_register => error.with_help(format!("`{}` is a register", name.text)),
            Some(meant) => error.with_help(format!("did you mean `{meant}`?")),
            None => error.with_help("variables are declared behind `vars`, registers behind `regs`"),
        });
        Reported
    }
}
