//! The tools' language: words to the syntax tree.
//!
//! The language is a stream of words; lines mean nothing to the tools. Errors go by lines all the same: a word at the
//! beginning of a line that begins a statement ends the statement before it, so that a missing operand is reported
//! where it is missing, and the next statement is read as if nothing had happened.

use super::syntax::{Action, Automata, Expression, Location, Memory, Name, Thread, Transition};
use crate::lang::Diagnostic;
use crate::lang::similar::nearest;
use crate::program::{BinaryOperator, Span};

/// What a program looks like.
pub const OUTLINE: &str =
    "a program is `thread NAME`, `initial STATE`, transitions `transition FROM TO INSTRUCTION`, `end`, for each thread";

const STATEMENTS: [&str; 5] = ["memory_size", "thread", "initial", "transition", "end"];
const INSTRUCTIONS: [&str; 8] = ["write", "read", "local", "check", "mfence", "lock", "unlock", "noop"];

const OPERATORS: [(&str, BinaryOperator); 12] = [
    ("==", BinaryOperator::Equal),
    ("!=", BinaryOperator::NotEqual),
    ("<", BinaryOperator::Less),
    ("<=", BinaryOperator::LessEqual),
    (">", BinaryOperator::Greater),
    (">=", BinaryOperator::GreaterEqual),
    ("&&", BinaryOperator::And),
    ("||", BinaryOperator::Or),
    ("+", BinaryOperator::Add),
    ("-", BinaryOperator::Subtract),
    ("*", BinaryOperator::Multiply),
    ("&", BinaryOperator::BitwiseAnd),
];
const NOT: &str = "!";

/// How deep expressions may be.
const MAX_DEPTH: usize = 100;
/// How large a memory may be.
pub(super) const MAX_MEMORY: usize = 1 << 16;
/// How many copies of a thread there may be.
const MAX_COPIES: usize = 1000;

/// Reads a program.
pub fn parse(name: &str, text: &str) -> Result<Automata, Vec<Diagnostic>> {
    let mut parser = Parser { words: words(text), position: 0, end: text.len(), errors: Vec::new() };
    let mut source = Automata { name: name.to_owned(), memory: Memory::Addresses(None), threads: Vec::new() };
    parser.program(&mut source);
    if parser.errors.is_empty() { Ok(source) } else { Err(parser.errors) }
}

#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    span: Span,
    begins_line: bool,
}

impl Word<'_> {
    fn name(self) -> Name {
        Name { text: self.text.to_owned(), span: self.span }
    }

    fn begins_statement(self) -> bool {
        self.begins_line && STATEMENTS.contains(&self.text)
    }
}

/// The words of a text, without comments.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let mut begins_line = true;
        let mut at = 0;
        let blank = |character: char| character.is_whitespace() || character == '\u{feff}';
        while let Some(skipped) = line[at..].find(|character| !blank(character)) {
            let start = at + skipped;
            if line[start..].starts_with('#') {
                break;
            }
            at = line[start..].find(blank).map_or(line.len(), |length| start + length);
            let span = Span { start: line_start + start, end: line_start + at };
            words.push(Word { text: &line[start..at], span, begins_line });
            begins_line = false;
        }
        line_start += line.len();
    }
    words
}

/// Something was wrong and was reported.
struct Reported;

struct Parser<'a> {
    words: Vec<Word<'a>>,
    position: usize,
    end: usize,
    errors: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Word<'a>> {
        self.words.get(self.position).copied()
    }

    fn next(&mut self) -> Option<Word<'a>> {
        let word = self.peek();
        self.position += 1;
        word
    }

    /// The next word, unless it begins a statement.
    fn operand(&mut self) -> Option<Word<'a>> {
        let word = self.peek().filter(|word| !word.begins_statement());
        self.position += usize::from(word.is_some());
        word
    }

    /// Where the next word stands; if it belongs to another statement, behind the last word.
    fn here(&self) -> Span {
        match self.peek() {
            Some(word) if !word.begins_statement() => word.span,
            _ => {
                let last = self.position.checked_sub(1).and_then(|last| self.words.get(last));
                let end = last.map_or(self.end, |word| word.span.end);
                Span { start: end, end }
            }
        }
    }

    fn found(&self) -> String {
        match self.peek() {
            Some(word) if word.begins_statement() => "the end of the line".to_owned(),
            Some(word) => format!("`{}`", word.text),
            None => "the end of the file".to_owned(),
        }
    }

    fn expected(&mut self, what: &str) -> Reported {
        let message = format!("expected {what}, found {}", self.found());
        self.errors.push(Diagnostic::error(self.here(), message));
        Reported
    }

    fn name(&mut self, what: &str) -> Result<Name, Reported> {
        match self.operand() {
            Some(word) => Ok(word.name()),
            None => Err(self.expected(what)),
        }
    }

    /// Goes on at the next statement.
    fn recover(&mut self) {
        while self.peek().is_some_and(|word| !word.begins_statement()) {
            self.position += 1;
        }
    }

    fn program(&mut self, source: &mut Automata) {
        while let Some(word) = self.next() {
            match word.text {
                "memory_size" => {
                    if self.memory_size(word, source).is_err() {
                        self.recover();
                    }
                }
                "thread" => {
                    if let Some(thread) = self.thread(word) {
                        source.threads.push(thread);
                    }
                }
                _ => {
                    let what = if source.threads.is_empty() && source.memory_is_open() && self.position == 1 {
                        "this is no program: expected `memory_size`, `thread` or `program`"
                    } else {
                        "expected `memory_size` or `thread`"
                    };
                    let error = Diagnostic::error(word.span, format!("{what}, found `{}`", word.text));
                    self.errors.push(match nearest(word.text, STATEMENTS.into_iter()) {
                        Some("memory_size") => error.with_help("did you mean `memory_size`?"),
                        Some("thread") => error.with_help("did you mean `thread`?"),
                        _ if STATEMENTS.contains(&word.text) => {
                            error.with_help(format!("`{}` belongs between `thread` and `end`", word.text))
                        }
                        _ => error.with_help(OUTLINE),
                    });
                    // What is no program has no statements that could be read.
                    while self
                        .peek()
                        .is_some_and(|word| !(word.begins_line && matches!(word.text, "thread" | "memory_size")))
                    {
                        self.position += 1;
                    }
                }
            }
        }
        if source.threads.is_empty() && self.errors.is_empty() {
            let end = Span { start: self.end, end: self.end };
            self.errors.push(Diagnostic::error(end, "there is no thread").with_help(OUTLINE));
        }
    }

    fn memory_size(&mut self, keyword: Word<'a>, source: &mut Automata) -> Result<(), Reported> {
        let Some(word) = self.operand() else { return Err(self.expected("the number of addresses")) };
        let size = word.text.parse().ok().filter(|size| (1..=MAX_MEMORY).contains(size));
        let Some(size) = size else {
            let message = format!("expected a number of addresses from 1 to {MAX_MEMORY}, found `{}`", word.text);
            self.errors.push(Diagnostic::error(word.span, message));
            return Ok(());
        };
        let span = Span { start: keyword.span.start, end: word.span.end };
        if let Memory::Addresses(declared @ Some(_)) = &source.memory {
            let error = Diagnostic::error(span, "there are two `memory_size`");
            let first = declared.map_or(0, |(size, _)| size);
            self.errors.push(error.with_help(format!("the first one says {first}; keep one")));
        } else {
            source.memory = Memory::Addresses(Some((size, span)));
        }
        Ok(())
    }

    fn thread(&mut self, keyword: Word<'a>) -> Option<Thread> {
        let errors_before = self.errors.len();
        let name = self.name("the name of a thread").ok();
        let count = self.count();
        let mut initial: Option<Name> = None;
        let mut transitions = Vec::new();
        loop {
            let Some(word) = self.peek() else {
                let error = self.expected("`initial`, `transition` or `end`");
                self.help(error, "a thread ends with `end`");
                break;
            };
            if word.begins_line && matches!(word.text, "thread" | "memory_size") {
                let message = format!("expected `end` before `{}`", word.text);
                self.errors.push(Diagnostic::error(word.span, message).with_help("a thread ends with `end`"));
                break;
            }
            self.position += 1;
            match word.text {
                "end" => break,
                "initial" => match self.name("a state") {
                    Ok(state) if initial.is_some() => {
                        let span = Span { start: word.span.start, end: state.span.end };
                        let error = Diagnostic::error(span, "the thread has an initial state already");
                        self.errors.push(error.with_help("a thread starts in one state; keep one `initial`"));
                    }
                    Ok(state) => initial = Some(state),
                    Err(Reported) => self.recover(),
                },
                "transition" => match self.transition(word) {
                    Ok(transition) => transitions.push(transition),
                    Err(Reported) => self.recover(),
                },
                _ => {
                    self.position -= 1;
                    let error = self.expected("`initial`, `transition` or `end`");
                    if let Some(meant) = nearest(word.text, STATEMENTS[2..].iter().copied()) {
                        self.help(error, &format!("did you mean `{meant}`?"));
                    }
                    self.position += 1;
                    self.recover();
                }
            }
        }
        let name = name?;
        let Some(initial) = initial else {
            // An earlier error in this thread may be the reason.
            if self.errors.len() == errors_before {
                let span = Span { start: keyword.span.start, end: name.span.end };
                let error = Diagnostic::error(span, format!("thread `{}` has no initial state", name.text));
                self.errors.push(error.with_help("add `initial STATE`"));
            }
            return None;
        };
        Some(Thread { name, count, registers: None, initial, transitions })
    }

    /// The number of copies, if there is one.
    fn count(&mut self) -> Option<(usize, Span)> {
        let word = self.peek().filter(|word| is_integer(word.text) && !word.begins_line)?;
        self.position += 1;
        let count = word.text.parse().ok().filter(|count| (1..=MAX_COPIES).contains(count));
        if count.is_none() {
            let message = format!("expected a number of copies from 1 to {MAX_COPIES}, found `{}`", word.text);
            self.errors.push(Diagnostic::error(word.span, message));
        }
        count.map(|count| (count, word.span))
    }

    /// Adds advice to the error that was just reported.
    fn help(&mut self, _: Reported, help: &str) {
        if let Some(last) = self.errors.last_mut() {
            last.help = Some(help.to_owned());
        }
    }

    fn transition(&mut self, keyword: Word<'a>) -> Result<Transition, Reported> {
        let from = self.name("the state that the transition leaves")?;
        let to = self.name("the state that the transition leads to")?;
        let action = self.action()?;
        let end = self.words[self.position - 1].span.end;
        Ok(Transition { from, to, action, span: Span { start: keyword.span.start, end } })
    }

    fn action(&mut self) -> Result<Action, Reported> {
        let Some(word) = self.operand() else { return Err(self.expected("an instruction")) };
        Ok(match word.text {
            "write" => {
                let value = self.expression("the value that is written", 0)?;
                Action::Write(value, Location::Address(self.expression("the address that is written", 0)?))
            }
            "read" => {
                let register = self.register()?;
                Action::Read(register, Location::Address(self.expression("the address that is read", 0)?))
            }
            "local" => Action::Local(self.register()?, self.expression("the value of the register", 0)?),
            "check" => Action::Check(self.expression("the value that is checked", 0)?),
            "mfence" => Action::Fence,
            "lock" => Action::Lock,
            "unlock" => Action::Unlock,
            "noop" => Action::Skip,
            unknown => {
                let error = Diagnostic::error(word.span, format!("there is no instruction `{unknown}`"));
                self.errors.push(match nearest(unknown, INSTRUCTIONS.into_iter()) {
                    Some(meant) => error.with_help(format!("did you mean `{meant}`?")),
                    None => error.with_help(format!("the instructions are {}", listed(&INSTRUCTIONS))),
                });
                return Err(Reported);
            }
        })
    }

    fn register(&mut self) -> Result<Name, Reported> {
        let name = self.name("a register")?;
        if is_register(&name.text) {
            return Ok(name);
        }
        let error = Diagnostic::error(name.span, format!("expected a register, found `{}`", name.text));
        self.errors.push(error.with_help("the register comes first: `read REGISTER ADDRESS`, `local REGISTER VALUE`"));
        Err(Reported)
    }

    fn expression(&mut self, what: &str, depth: usize) -> Result<Expression, Reported> {
        let Some(word) = self.operand() else { return Err(self.expected(what)) };
        if depth > MAX_DEPTH {
            let message = format!("this expression is more than {MAX_DEPTH} operators deep");
            self.errors.push(Diagnostic::error(word.span, message));
            return Err(Reported);
        }
        if is_integer(word.text) {
            return match word.text.parse() {
                Ok(value) => Ok(Expression::Constant(value, word.span)),
                Err(_) => {
                    self.errors.push(Diagnostic::error(word.span, "this integer does not fit into 64 bits"));
                    Err(Reported)
                }
            };
        }
        let spanned = |end: usize| Span { start: word.span.start, end };
        if word.text == NOT {
            let operand = self.expression("the operand of `!`", depth + 1)?;
            let end = operand.span().end;
            return Ok(Expression::Not(Box::new(operand), spanned(end)));
        }
        if let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| *sign == word.text) {
            let left = self.expression(&format!("the first operand of `{sign}`"), depth + 1)?;
            let right = self.expression(&format!("the second operand of `{sign}`"), depth + 1)?;
            let end = right.span().end;
            return Ok(Expression::Binary(*operator, Box::new(left), Box::new(right), spanned(end)));
        }
        if is_register(word.text) {
            return Ok(Expression::Register(word.name()));
        }
        let error = Diagnostic::error(word.span, format!("expected {what}, found `{}`", word.text));
        self.errors.push(match word.text {
            "=" => error.with_help("equality is `==`"),
            "|" | "/" | "%" | "^" | "~" => error.with_help(format!("the operators are {}", listed(&signs()))),
            _ => {
                error.with_help("an expression is an integer, a register, or an operator before its operands: `+ r 1`")
            }
        });
        Err(Reported)
    }
}

impl Automata {
    fn memory_is_open(&self) -> bool {
        matches!(self.memory, Memory::Addresses(None))
    }
}

fn signs() -> Vec<&'static str> {
    OPERATORS.iter().map(|(sign, _)| *sign).chain([NOT]).collect()
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn is_integer(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Anything that is no number and no operator: the tools are generous.
fn is_register(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_' || first == '$')
}
