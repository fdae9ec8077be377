//! What a text says, in either language: one tree for both.

use crate::program::{BinaryOperator, Span};

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Automata {
    /// Its name.
    pub name: String,
    /// Its memory.
    pub memory: Memory,
    /// Its threads.
    pub threads: Vec<Thread>,
}

/// The shared memory.
#[derive(Clone, Debug)]
pub enum Memory {
    /// Addressed by integers; the declared size, if there is one.
    Addresses(Option<(usize, Span)>),
    /// Variables with names.
    Variables(Vec<Name>),
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name.
    pub name: Name,
    /// How many copies of it there are, if the text says so, and where.
    pub count: Option<(usize, Span)>,
    /// Its registers, if the language declares them.
    pub registers: Option<Vec<Name>>,
    /// Where it starts.
    pub initial: Name,
    /// Its transitions.
    pub transitions: Vec<Transition>,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where it starts.
    pub from: Name,
    /// Where it leads.
    pub to: Name,
    /// What it does.
    pub action: Action,
    /// The whole of it.
    pub span: Span,
}

/// What a transition does.
#[derive(Clone, Debug)]
pub enum Action {
    /// A value goes to memory.
    Write(Expression, Location),
    /// What is in memory goes to a register.
    Read(Name, Location),
    /// A value goes to a register.
    Local(Name, Expression),
    /// Taken only if the value is not 0.
    Check(Expression),
    /// If the memory has the first value, it gets the second, in one step; waits otherwise.
    Exchange(Location, Expression, Expression),
    /// A full fence.
    Fence,
    /// The beginning of a region.
    Lock,
    /// The end of a region.
    Unlock,
    /// Nothing.
    Skip,
}

/// A place in memory.
#[derive(Clone, Debug)]
pub enum Location {
    /// By its address.
    Address(Expression),
    /// By its position among the variables, and where it stands.
    Variable(usize, Span),
}

/// An expression over registers.
#[derive(Clone, Debug)]
pub enum Expression {
    /// An integer.
    Constant(i64, Span),
    /// A register.
    Register(Name),
    /// 1 if the operand is 0, else 0.
    Not(Box<Expression>, Span),
    /// An operator with two operands; the span is the whole expression.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>, Span),
}

impl Expression {
    /// The whole of it.
    pub fn span(&self) -> Span {
        match self {
            Expression::Constant(_, span) | Expression::Not(_, span) | Expression::Binary(_, _, _, span) => *span,
            Expression::Register(name) => name.span,
        }
    }

    /// Calls `visit` for every register.
    pub fn for_each_register<'a>(&'a self, visit: &mut impl FnMut(&'a Name)) {
        match self {
            Expression::Constant(..) => {}
            Expression::Register(name) => visit(name),
            Expression::Not(operand, _) => operand.for_each_register(visit),
            Expression::Binary(_, left, right, _) => {
                left.for_each_register(visit);
                right.for_each_register(visit);
            }
        }
    }
}

impl Action {
    /// The register that is assigned.
    pub fn assigned(&self) -> Option<&Name> {
        match self {
            Action::Read(register, _) | Action::Local(register, _) => Some(register),
            _ => None,
        }
    }

    /// The place in memory that is accessed.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Action::Write(_, location) | Action::Read(_, location) | Action::Exchange(location, ..) => Some(location),
            _ => None,
        }
    }

    /// Its expressions, in the order of the text.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Action::Write(value, Location::Address(address)) => vec![value, address],
            Action::Write(value, _) | Action::Local(_, value) | Action::Check(value) => vec![value],
            Action::Read(_, Location::Address(address)) => vec![address],
            Action::Exchange(Location::Address(address), expected, new) => vec![address, expected, new],
            Action::Exchange(_, expected, new) => vec![expected, new],
            Action::Read(..) | Action::Fence | Action::Lock | Action::Unlock | Action::Skip => Vec::new(),
        }
    }
}
