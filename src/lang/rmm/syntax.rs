//! The syntax tree.

use crate::program::{BinaryOperator, Span};

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name; that of a register has its `$`.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A text.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// From `forbidden` to the end of its vectors, if it is there.
    pub forbidden_span: Option<Span>,
    /// The forbidden vectors: of each process a label, or any state.
    pub forbidden: Vec<Vector>,
    /// Where predicates are given, if they are.
    pub predicates: Option<Span>,
    /// The global variables.
    pub globals: Vec<Declaration>,
    /// The processes.
    pub processes: Vec<Process>,
}

/// A forbidden vector.
#[derive(Clone, Debug)]
pub struct Vector {
    /// A label for each process; none is `*`.
    pub labels: Vec<Option<Name>>,
    /// Where it stands.
    pub span: Span,
}

/// The declaration of a variable or a register.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// What is declared.
    pub name: Name,
    /// Its value at the start; none is `*`.
    pub initial: Option<i64>,
    /// Its least and its greatest value; none is all integers.
    pub range: Option<(i64, i64)>,
    /// Where it stands.
    pub span: Span,
}

/// A process, or several.
#[derive(Clone, Debug)]
pub struct Process {
    /// Where `process` stands.
    pub span: Span,
    /// How many there are, if that is said.
    pub count: Option<(usize, Span)>,
    /// Its variables.
    pub data: Vec<Declaration>,
    /// Its registers.
    pub registers: Vec<Declaration>,
    /// What it does.
    pub body: Vec<Labelled>,
}

/// Where something stands, for those who change the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where it stands.
    pub span: Span,
    /// Whether that is all of it, and nothing else: macros can make it otherwise.
    pub is_whole: bool,
}

/// A statement, perhaps with a label.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// The label.
    pub label: Option<Name>,
    /// The statement.
    pub statement: Statement,
    /// Where both stand.
    pub extent: Extent,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub action: Action,
    /// Where it stands, without its label.
    pub extent: Extent,
    /// Its beginning up to what is nested in it: all of it, or the condition of `if` and `while`.
    pub head: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Nothing.
    Nop,
    /// A fence.
    Fence,
    /// `read: x = e`.
    Expect(Location, Expression),
    /// `read: $r := x`.
    Load(Name, Location),
    /// `write: x := e`.
    Write(Location, Expression),
    /// `locked write: x := e`, and `syncwr`.
    LockedWrite(Location, Expression),
    /// `cas(x, old, new)`.
    Exchange(Location, Expression, Expression),
    /// `$r := e`.
    Assign(Name, Expression),
    /// `assume: b`.
    Assume(Condition),
    /// `if b then s else t`.
    If(Condition, Box<Labelled>, Option<Box<Labelled>>),
    /// `while b do s`.
    While(Condition, Box<Labelled>),
    /// `goto L`.
    Goto(Name),
    /// `either{ … or … }`.
    Either(Vec<Vec<Labelled>>),
    /// `locked{ … or … }`.
    Locked(Vec<Vec<Labelled>>),
    /// `{ … }`.
    Block(Vec<Labelled>),
}

/// A place in memory.
#[derive(Clone, Debug)]
pub enum Location {
    /// `x`, a global variable.
    Global(Name),
    /// `x[my]`, that of the process itself.
    Own(Name),
    /// `x[n]`, that of the n-th other process.
    Other(Name, usize),
    /// `[e]`, the global variable in that place.
    Computed(Expression, Span),
}

/// An integer.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A number.
    Number(i64),
    /// A register.
    Register(Name),
    /// `me`: the number of the process itself.
    Me,
    /// `other n`: the number of the n-th other process.
    Other(usize, Span),
    /// `@n`: process n.
    Process(usize, Span),
    /// The negation.
    Minus(Box<Expression>),
    /// A sum or a difference.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>, Span),
}

/// A condition on registers.
#[derive(Clone, Debug)]
pub enum Condition {
    /// `true`, `false`.
    Constant(bool),
    /// A comparison.
    Compare(BinaryOperator, Expression, Expression, Span),
    /// The contrary.
    Not(Box<Condition>),
    /// Conjunction or disjunction.
    Binary(BinaryOperator, Box<Condition>, Box<Condition>, Span),
}
