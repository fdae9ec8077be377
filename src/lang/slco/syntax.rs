//! The syntax tree: what the text says, names not yet looked up.

use crate::program::{BinaryOperator, InstructionKind, Span, UnaryOperator};

/// A name where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A whole model.
#[derive(Debug)]
pub struct Model {
    /// Its name.
    pub name: Name,
    /// Its classes.
    pub classes: Vec<Class>,
    /// Its objects.
    pub objects: Vec<Object>,
    /// What no state satisfies.
    pub nevers: Vec<Never>,
}

/// A property of ours: `never name: condition`.
#[derive(Debug)]
pub struct Never {
    /// Its name.
    pub name: Name,
    /// The condition.
    pub condition: Expression,
    /// The condition as it is written, on one line.
    pub text: String,
}

/// A class.
#[derive(Debug)]
pub struct Class {
    /// Its name.
    pub name: Name,
    /// What its machines share.
    pub variables: Vec<Declaration>,
    /// Its state machines.
    pub machines: Vec<Machine>,
}

/// An object: `name : class(variable := value, …)`.
#[derive(Debug)]
pub struct Object {
    /// Its name.
    pub name: Name,
    /// The name of its class.
    pub class: Name,
    /// The variables that start with another value than the class gives them.
    pub initialisations: Vec<(Name, Initial)>,
    /// The whole of it.
    pub span: Span,
}

/// The declaration of a variable.
#[derive(Debug)]
pub struct Declaration {
    /// Its type, its own or that of the variable before it.
    pub ty: DeclaredType,
    /// Its name.
    pub name: Name,
    /// Its value at the start, if it is given.
    pub initial: Option<Initial>,
}

/// A type.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredType {
    /// The type of the value, or of each element.
    pub base: BaseType,
    /// The number of elements, if it is an array; at least 1.
    pub size: Option<usize>,
}

/// The type of a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseType {
    /// `Integer`
    Integer,
    /// `Boolean`
    Boolean,
    /// `Byte`: what is assigned is taken modulo 256.
    Byte,
}

/// The value of a variable at the start.
#[derive(Debug)]
pub struct Initial {
    /// One value, or a list in brackets.
    pub form: InitialForm,
    /// The values.
    pub values: Vec<(Value, Span)>,
    /// Where it stands.
    pub span: Span,
}

/// How an initial value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialForm {
    /// `1`
    Single,
    /// `[1, 2]`
    List,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// `-1`
    Integer(i64),
    /// `true`
    Boolean(bool),
}

/// A state machine.
#[derive(Debug)]
pub struct Machine {
    /// Its name.
    pub name: Name,
    /// Its own variables.
    pub variables: Vec<Declaration>,
    /// Where it starts.
    pub initial: Name,
    /// Its other states.
    pub states: Vec<Name>,
    /// Its transitions.
    pub transitions: Vec<Transition>,
}

/// A transition.
#[derive(Debug)]
pub struct Transition {
    /// Smaller numbers come first; 0 if none is given.
    pub priority: u32,
    /// Where it begins.
    pub from: Name,
    /// Where it leads.
    pub to: Name,
    /// What it does, one instruction each.
    pub statements: Vec<Statement>,
    /// Where it stands.
    pub span: Span,
}

/// A statement; a condition alone has no assignments, an assignment alone no condition.
#[derive(Debug)]
pub struct Statement {
    /// Plain, or one of our additions.
    pub kind: InstructionKind,
    /// What must hold.
    pub condition: Option<Expression>,
    /// What it does, in order.
    pub assignments: Vec<Assignment>,
    /// If it is an assertion: its condition as it is written, on one line.
    pub assertion: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// An assignment.
#[derive(Debug)]
pub struct Assignment {
    /// What is written.
    pub target: Reference,
    /// The value.
    pub value: Expression,
}

/// A variable or an element of an array.
#[derive(Debug)]
pub struct Reference {
    /// The name of the variable.
    pub name: Name,
    /// The index.
    pub index: Option<Box<Expression>>,
    /// Where it stands, with its index.
    pub span: Span,
}

/// An expression.
#[derive(Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands, with its parentheses.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug)]
pub enum ExpressionKind {
    /// A constant.
    Constant(Value),
    /// The value of a variable.
    Read(Reference),
    /// An operator with one operand; without an operator it is a unary plus.
    Unary(Option<UnaryOperator>, Box<Expression>),
    /// Operands with operators of one level between them, not yet read from either side.
    Chain(Box<Expression>, Vec<(BinaryOperator, Expression)>),
}
