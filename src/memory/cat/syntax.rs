//! The syntax of cat, as far as it is read here: statements and expressions, each with its place.
//!
//! Chains of `|`, `;` and `&` are one node each, however long; so what is deep is only what was nested, and the
//! parser bounds that.

use super::error::Place;

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `let` or `let rec … and …`.
    Let {
        /// Whether the names may stand in their own definitions.
        recursive: bool,
        /// What is defined.
        bindings: Vec<Binding>,
    },
    /// An axiom, or with `flag` something to be told.
    Check(Check),
    /// `include "…"`.
    Include {
        /// Where.
        place: Place,
        /// The name between the quotes.
        file: String,
    },
}

/// A name and what it stands for.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub place: Place,
    /// The parameters, if it is a function.
    pub parameters: Option<Vec<String>>,
    /// What it stands for.
    pub body: Expression,
}

/// What an axiom demands of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// No cycle.
    Acyclic,
    /// No event related to itself.
    Irreflexive,
    /// Nothing at all; also of a set.
    Empty,
}

/// An axiom.
#[derive(Clone, Debug)]
pub struct Check {
    /// Whether it forbids nothing and is only told.
    pub is_flag: bool,
    /// Whether the contrary is demanded.
    pub is_negated: bool,
    /// What is demanded.
    pub demand: Demand,
    /// Of what.
    pub operand: Expression,
    /// Its name, if it has one.
    pub name: Option<String>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub kind: ExpressionKind,
    /// How deeply it is nested.
    pub depth: usize,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A name.
    Name(String),
    /// `0` or `{}`.
    Empty,
    /// `_`.
    Universe,
    /// `a | b | …`.
    Union(Vec<Expression>),
    /// `a ; b ; …`.
    Sequence(Vec<Expression>),
    /// `a & b & …`.
    Intersection(Vec<Expression>),
    /// `a \ b`.
    Difference(Box<Expression>, Box<Expression>),
    /// `S * T`.
    Product(Box<Expression>, Box<Expression>),
    /// `~a`.
    Complement(Box<Expression>),
    /// `[S]`.
    Identity(Box<Expression>),
    /// `a*`, `a+`, `a?`, `a^-1`.
    Postfix(Postfix, Box<Expression>),
    /// `f(a, b)` or `f a`.
    Application(String, Vec<Expression>),
}

/// The operators that stand behind their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Postfix {
    /// `*`.
    Star,
    /// `+`.
    Plus,
    /// `?`.
    Optional,
    /// `^-1`.
    Inverse,
}
