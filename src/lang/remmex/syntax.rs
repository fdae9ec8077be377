//! The syntax tree.

use crate::program::{BinaryOperator, Span, Type};

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A text.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The shared variables.
    pub shared: Vec<Declaration>,
    /// The processes.
    pub processes: Vec<Process>,
    /// The error states.
    pub nevers: Vec<Vector>,
}

/// The declaration of a variable or an array.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The type of its value, or of its elements.
    pub ty: Type,
    /// What is declared.
    pub name: Name,
    /// The sizes of an array, the first one first; a variable has none.
    pub sizes: Vec<(i64, Span)>,
    /// The value at the start.
    pub initial: Option<Initial>,
}

/// A value at the start.
#[derive(Clone, Debug)]
pub enum Initial {
    /// A value.
    Value(Literal, Span),
    /// Values in braces.
    List(Vec<Initial>, Span),
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal {
    /// An integer.
    Integer(i64),
    /// A Boolean.
    Boolean(bool),
}

impl Literal {
    /// Its type.
    pub fn ty(self) -> Type {
        match self {
            Literal::Integer(_) => Type::Integer,
            Literal::Boolean(_) => Type::Boolean,
        }
    }

    /// As programs have it.
    pub fn value(self) -> i64 {
        match self {
            Literal::Integer(value) => value,
            Literal::Boolean(truth) => i64::from(truth),
        }
    }
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name.
    pub name: Name,
    /// Its own variables.
    pub locals: Vec<Declaration>,
    /// What it does.
    pub body: Vec<Statement>,
    /// The label of its end.
    pub end: Option<Name>,
}

/// A statement, perhaps with a label.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The label.
    pub label: Option<Name>,
    /// What it does.
    pub action: Action,
    /// Where it stands, without its label and its semicolon.
    pub span: Span,
    /// Where it ends, with its semicolon.
    pub end: usize,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum Action {
    /// `r = e`.
    Assign(Place, Expression),
    /// `r = loadval(x)`.
    Load(Place, Place),
    /// `store(x, e)`.
    Store(Place, Expression),
    /// `do … od`.
    Do(Vec<Branch>),
    /// `if … fi`.
    If(Vec<Branch>),
    /// `MFENCE`.
    Fence,
    /// `SFENCE`.
    StoreFence,
    /// `LOCK`.
    Lock,
    /// `UNLOCK`.
    Unlock,
    /// `skip`.
    Skip,
    /// `break`.
    Break,
}

/// `:: guard -> statements`.
#[derive(Clone, Debug)]
pub struct Branch {
    /// What must hold.
    pub guard: Expression,
    /// What is done then.
    pub body: Vec<Statement>,
    /// Where the arrow ends.
    pub arrow_end: usize,
}

/// A variable, or an element of an array.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its name.
    pub name: Name,
    /// The indices.
    pub indices: Vec<Expression>,
    /// Where it stands.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A value.
    Literal(Literal, Span),
    /// A variable or an element.
    Read(Place),
    /// `load(x, e)`: whether the value is `e`.
    Test(Place, Box<Expression>, Span),
    /// `loadval(x)` where it may not stand.
    Load(Span),
    /// The contrary.
    Not(Box<Expression>, Span),
    /// An operator, and where it stands.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>, Span),
}

impl Expression {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Expression::Literal(_, span)
            | Expression::Test(_, _, span)
            | Expression::Load(span)
            | Expression::Not(_, span) => *span,
            Expression::Read(place) => place.span,
            Expression::Binary(_, left, right, _) => Span { start: left.span().start, end: right.span().end },
        }
    }
}

/// An error state: at least so many processes are where this says.
#[derive(Clone, Debug)]
pub struct Vector {
    /// How many, and where that is said.
    pub least: (i64, Span),
    /// A place for each process.
    pub locations: Vec<(Location, Span)>,
    /// Where it stands.
    pub span: Span,
}

/// A control location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// By its number.
    Number(i64),
    /// By its label.
    Label(String),
}
