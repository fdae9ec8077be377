//! The grammar of C, as far as tests have it.
//!
//! ```text
//! statement  = ";" | "{" {statement} "}" | "if" "(" expression ")" statement ["else" statement]
//!            | "while" "(" expression ")" statement | "do" statement "while" "(" expression ")" ";"
//!            | type declared {"," declared} ";" | expression [("=" | "+=" | …) expression] ";"
//! declared   = name ["=" expression]
//! expression = unary {operator unary}         with the precedences of C, from `||` to `*`
//! unary      = ("-" | "+" | "!" | "~" | "*" | "&") unary | primary {"[" expression "]"}
//! primary    = number | name | name "(" [expression {"," expression}] ")" | "(" expression ")" | "(" type ")" unary
//! ```

use super::tokens::{Kind, Token, tokens};
use crate::lang::Diagnostic;
use crate::lang::litmus::piece::Piece;
use crate::program::Span;

/// How deep statements and expressions nest.
const MAX_DEPTH: usize = 50;
/// How many operators an expression has.
const MAX_OPERATORS: usize = 200;

/// A statement.
pub enum Statement<'t> {
    /// In order.
    Block(Vec<Statement<'t>>),
    /// A variable, with a value or without.
    Declaration(Piece<'t>, Option<Expr<'t>>),
    /// A value for something; with an operator, it is combined with the old one.
    Assignment(Expr<'t>, Option<&'t str>, Expr<'t>),
    /// An expression for what it does.
    Expression(Expr<'t>),
    /// One of two.
    If(Expr<'t>, Box<Statement<'t>>, Option<Box<Statement<'t>>>),
    /// As long as something holds; it is asked first, or last.
    While {
        /// What.
        condition: Expr<'t>,
        /// What is done.
        body: Box<Statement<'t>>,
        /// Whether it is done once in any case.
        body_first: bool,
    },
}

/// An expression.
pub enum Expr<'t> {
    /// A number.
    Number(i64, Span),
    /// A name.
    Name(Piece<'t>),
    /// An operator before its operand.
    Unary(Piece<'t>, Box<Expr<'t>>),
    /// An operator between its operands.
    Binary(Piece<'t>, Box<Expr<'t>>, Box<Expr<'t>>),
    /// An element of an array.
    Element(Box<Expr<'t>>, Box<Expr<'t>>, Span),
    /// A call.
    Call(Piece<'t>, Vec<Expr<'t>>),
}

impl Expr<'_> {
    /// A place of it in the text.
    pub fn span(&self) -> Span {
        match self {
            Expr::Number(_, span) => *span,
            Expr::Name(piece) | Expr::Unary(piece, _) | Expr::Binary(piece, _, _) | Expr::Call(piece, _) => {
                piece.span()
            }
            Expr::Element(_, _, span) => *span,
        }
    }
}

/// Reads the body of a thread.
pub fn statements(body: Piece<'_>) -> Result<Vec<Statement<'_>>, Diagnostic> {
    let mut parser = Parser { tokens: tokens(body)?, at: 0, operators: 0 };
    let mut statements = Vec::new();
    while parser.token().kind != Kind::End {
        parser.statement(&mut statements, 0)?;
    }
    Ok(statements)
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// The operators of this expression.
    operators: usize,
}

const TYPES: [&str; 20] = [
    "int",
    "long",
    "short",
    "char",
    "unsigned",
    "signed",
    "volatile",
    "const",
    "atomic_int",
    "atomic_long",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "bool",
    "_Bool",
];

/// The operators between operands, those that bind least first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'t> Parser<'t> {
    fn token(&self) -> Token<'t> {
        // The last one is the end, which is never passed.
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn is(&self, word: &str) -> bool {
        let token = self.token();
        token.piece.text == word && matches!(token.kind, Kind::Name | Kind::Symbol)
    }

    fn skip(&mut self, word: &str) -> bool {
        let is = self.is(word);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, word: &str) -> Result<(), Diagnostic> {
        if self.skip(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let token = self.token();
        match token.kind {
            Kind::End => token.piece.error(format!("expected {what}, but here the thread ends")),
            _ => token.piece.error(format!("expected {what}")),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, Diagnostic> {
        if depth < MAX_DEPTH {
            return Ok(depth + 1);
        }
        Err(self.token().piece.error(format!("statements and expressions nest at most {MAX_DEPTH} deep")))
    }

    fn is_type(&self) -> bool {
        self.token().kind == Kind::Name && TYPES.contains(&self.token().piece.text)
    }

    fn statement(&mut self, to: &mut Vec<Statement<'t>>, depth: usize) -> Result<(), Diagnostic> {
        let depth = self.deeper(depth)?;
        self.operators = 0;
        if self.skip(";") {
            return Ok(());
        }
        if self.skip("{") {
            let mut inner = Vec::new();
            while !self.skip("}") {
                if self.token().kind == Kind::End {
                    return Err(self.expected("`}`"));
                }
                self.statement(&mut inner, depth)?;
            }
            to.push(Statement::Block(inner));
            return Ok(());
        }
        if self.is_type() {
            return self.declarations(to);
        }
        if self.skip("if") {
            let condition = self.in_parentheses(depth)?;
            let then = self.single(depth)?;
            let otherwise = if self.skip("else") { Some(Box::new(self.single(depth)?)) } else { None };
            to.push(Statement::If(condition, Box::new(then), otherwise));
            return Ok(());
        }
        if self.skip("while") {
            let condition = self.in_parentheses(depth)?;
            let body = Box::new(self.single(depth)?);
            to.push(Statement::While { condition, body, body_first: false });
            return Ok(());
        }
        if self.skip("do") {
            let body = Box::new(self.single(depth)?);
            self.expect("while")?;
            let condition = self.in_parentheses(depth)?;
            self.expect(";")?;
            to.push(Statement::While { condition, body, body_first: true });
            return Ok(());
        }
        if let "for" | "switch" | "goto" | "return" | "break" | "continue" = self.token().piece.text {
            let word = self.token().piece;
            return Err(word
                .error(format!("`{}` is not supported", word.text))
                .with_help("supported: declarations, assignments, calls of stdatomic.h, if, while, do"));
        }
        to.push(self.simple(depth)?);
        Ok(())
    }

    fn single(&mut self, depth: usize) -> Result<Statement<'t>, Diagnostic> {
        let mut inner = Vec::new();
        self.statement(&mut inner, depth)?;
        Ok(Statement::Block(inner))
    }

    fn in_parentheses(&mut self, depth: usize) -> Result<Expr<'t>, Diagnostic> {
        self.expect("(")?;
        let inner = self.expression(0, depth)?;
        self.expect(")")?;
        Ok(inner)
    }

    fn declarations(&mut self, to: &mut Vec<Statement<'t>>) -> Result<(), Diagnostic> {
        while self.is_type() {
            self.at += 1;
        }
        loop {
            if self.is("*") {
                return Err(self
                    .token()
                    .piece
                    .error("pointers in variables are not supported")
                    .with_help("locations are the parameters of a thread: `P0 (int* x)`, and are accessed as `*x`"));
            }
            let name = self.token();
            if name.kind != Kind::Name {
                return Err(self.expected("the name of a variable"));
            }
            self.at += 1;
            self.operators = 0;
            let value = if self.skip("=") { Some(self.expression(0, 0)?) } else { None };
            to.push(Statement::Declaration(name.piece, value));
            if !self.skip(",") {
                return self.expect(";");
            }
        }
    }

    /// An assignment, or an expression for what it does.
    fn simple(&mut self, depth: usize) -> Result<Statement<'t>, Diagnostic> {
        let target = self.expression(0, depth)?;
        let symbol = self.token().piece;
        let operator = match symbol.text {
            "=" => Some(None),
            "++" | "--" => {
                self.at += 1;
                self.expect(";")?;
                return Ok(Statement::Assignment(target, Some(&symbol.text[..1]), Expr::Number(1, symbol.span())));
            }
            "+=" | "-=" | "*=" | "&=" | "|=" | "^=" => Some(Some(&symbol.text[..1])),
            _ => None,
        };
        let Some(operator) = operator else {
            self.expect(";")?;
            return Ok(Statement::Expression(target));
        };
        self.at += 1;
        let value = self.expression(0, depth)?;
        self.expect(";")?;
        Ok(Statement::Assignment(target, operator, value))
    }

    fn count(&mut self) -> Result<(), Diagnostic> {
        self.operators += 1;
        if self.operators <= MAX_OPERATORS {
            return Ok(());
        }
        Err(self.token().piece.error(format!("an expression has at most {MAX_OPERATORS} operators")))
    }

    /// An expression of operators that bind at least so much.
    fn expression(&mut self, level: usize, depth: usize) -> Result<Expr<'t>, Diagnostic> {
        let mut left = self.unary(depth)?;
        loop {
            let symbol = self.token();
            let own = LEVELS.iter().position(|operators| operators.contains(&symbol.piece.text));
            let Some(own) = own.filter(|&own| symbol.kind == Kind::Symbol && own >= level) else { return Ok(left) };
            self.count()?;
            self.at += 1;
            let right = self.expression(own + 1, depth)?;
            left = Expr::Binary(symbol.piece, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Expr<'t>, Diagnostic> {
        let depth = self.deeper(depth)?;
        let token = self.token();
        if token.kind == Kind::Symbol && matches!(token.piece.text, "-" | "+" | "!" | "~" | "*" | "&") {
            self.count()?;
            self.at += 1;
            return Ok(Expr::Unary(token.piece, Box::new(self.unary(depth)?)));
        }
        let mut operand = self.primary(depth)?;
        while self.is("[") {
            let span = self.token().piece.span();
            self.count()?;
            self.at += 1;
            let index = self.expression(0, depth)?;
            self.expect("]")?;
            operand = Expr::Element(Box::new(operand), Box::new(index), span);
        }
        Ok(operand)
    }

    fn primary(&mut self, depth: usize) -> Result<Expr<'t>, Diagnostic> {
        let token = self.token();
        match token.kind {
            Kind::Number(number) => {
                self.at += 1;
                Ok(Expr::Number(number, token.piece.span()))
            }
            Kind::Name => {
                self.at += 1;
                if !self.skip("(") {
                    return Ok(Expr::Name(token.piece));
                }
                let mut arguments = Vec::new();
                while !self.skip(")") {
                    if !arguments.is_empty() {
                        self.expect(",")?;
                    }
                    self.count()?;
                    arguments.push(self.expression(0, depth)?);
                }
                Ok(Expr::Call(token.piece, arguments))
            }
            Kind::Symbol if self.skip("(") => {
                if self.is_type() {
                    // A conversion: integers are integers.
                    while self.is_type() || self.is("*") {
                        self.at += 1;
                    }
                    self.expect(")")?;
                    return self.unary(depth);
                }
                let inner = self.expression(0, depth)?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Symbol | Kind::End => Err(self.expected("an expression")),
        }
    }
}
