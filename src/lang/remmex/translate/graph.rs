//! The control graph of a process: numbered locations, and edges with one operation each.
//!
//! Numbers are given in the order of the text. The first location is 0. A simple statement leads to a new one. `do`
//! and `if` take a number for the location behind them first; then each branch takes one for the location behind its
//! condition, and what its statements need. At the end of a branch of `do` the last step leads back to the `do`, at
//! that of `if` to the location behind it, and before `break` to the one behind the `do`: the number that the last
//! step took is used up, but nobody is ever there.
//!
//! `MFENCE` and `SFENCE` take no number: the location behind a fence has the number that the one before it would have
//! without the fence, so that numbers stay what they are when fences are put in. The one before it has none.

use super::expressions::{Guard, Tests};
use super::guards::MAX_VALUES;
use super::variables::{Context, Reported, expected};
use crate::lang::Diagnostic;
use crate::lang::remmex::syntax::{self, Action, Branch, Name, Place, Process, Statement};
use crate::program::{Assignment, Expression, Reference, Span, Type};
use std::collections::HashSet;

/// A control location.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// Its number; none before a fence.
    pub number: Option<usize>,
    /// Before a fence, the number behind it.
    pub behind_fence: Option<usize>,
    /// Its label.
    pub label: Option<Name>,
    /// The location that is meant instead, as nothing is done here.
    pub joined: Option<usize>,
    /// Where all ways into it come together in the text.
    pub entry: Option<usize>,
    /// Whether ways come back to it from behind.
    pub is_head: bool,
}

/// What an edge does.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Waits for a condition.
    Guard(Guard, Tests),
    /// Does this at once.
    Assign(Option<Assignment>),
    /// A full fence.
    Fence,
    /// A fence of stores.
    StoreFence,
    /// Takes the memory for itself.
    Lock,
    /// Gives it back.
    Unlock,
}

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it leads.
    pub to: usize,
    /// What it does.
    pub operation: Operation,
    /// Where it stands.
    pub span: Span,
    /// Where something can be put behind it.
    pub end: usize,
    /// The same, where other ways to the same location have come to it.
    pub join: usize,
}

/// A control graph; the first location is where the process begins.
#[derive(Debug, Default)]
pub struct Graph {
    /// The locations.
    pub locations: Vec<Location>,
    /// The edges, in the order of the text.
    pub edges: Vec<Edge>,
    numbers: usize,
}

impl Graph {
    /// Of a process.
    pub fn of(process: &Process, context: &Context<'_>, findings: &mut Vec<Diagnostic>) -> Graph {
        let mut builder = Builder { graph: Graph::default(), context, labels: HashSet::new(), findings };
        let begin = builder.graph.location();
        let end = builder.list(&process.body, begin, None);
        if let (Some(label), Some(end)) = (&process.end, end) {
            builder.label(label, end);
        }
        let mut graph = builder.graph;
        for position in 0..graph.edges.len() {
            let (to, entry) = graph.joined(graph.edges[position].to);
            let edge = &mut graph.edges[position];
            edge.to = to;
            edge.join = entry.unwrap_or(edge.end);
        }
        graph
    }

    /// A new location with the next number.
    fn location(&mut self) -> usize {
        self.locations.push(Location { number: Some(self.numbers), ..Location::default() });
        self.numbers += 1;
        self.locations.len() - 1
    }

    /// The location that is meant.
    pub fn meant(&self, location: usize) -> usize {
        self.joined(location).0
    }

    /// The same, and the end of the last `if` or `do` on the way there.
    fn joined(&self, mut location: usize) -> (usize, Option<usize>) {
        let mut entry = None;
        // What is joined is joined to an earlier location.
        while let Some(joined) = self.locations[location].joined {
            entry = self.locations[location].entry;
            location = joined;
        }
        (location, entry)
    }
}

struct Builder<'a, 'f> {
    graph: Graph,
    context: &'a Context<'a>,
    labels: HashSet<&'a str>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'a> Builder<'a, '_> {
    /// Statements from a location on; the location behind them, unless the last one is `break`.
    fn list(&mut self, statements: &'a [Statement], mut at: usize, exit: Option<usize>) -> Option<usize> {
        for (position, statement) in statements.iter().enumerate() {
            if let Some(label) = &statement.label {
                self.label(label, at);
            }
            if let Action::Break = statement.action {
                if let Some(next) = statements.get(position + 1) {
                    let error = Diagnostic::error(next.span, "this is never reached, as `break` stands before it");
                    self.findings.push(error.with_help("`break` is the last statement of a branch"));
                }
                if let Some(label) = &statement.label {
                    let error = Diagnostic::error(label.span, "a label stands before `break`, where nothing is done");
                    self.findings.push(error.with_help("put it behind the `od`"));
                }
                match exit {
                    Some(exit) => self.graph.locations[at].joined = Some(exit),
                    None => {
                        let error = Diagnostic::error(statement.span, "`break` stands outside of `do`");
                        self.findings.push(error.with_help("`break` leaves the innermost `do … od`"));
                    }
                }
                return None;
            }
            at = self.statement(statement, at, exit);
        }
        Some(at)
    }

    fn label(&mut self, label: &'a Name, at: usize) {
        if !self.labels.insert(&label.text) {
            let error = Diagnostic::error(label.span, format!("there are two labels `{}`", label.text));
            self.findings.push(error.with_help("a label stands once in a process"));
        }
        self.graph.locations[at].label = Some(label.clone());
    }

    fn statement(&mut self, statement: &'a Statement, at: usize, exit: Option<usize>) -> usize {
        match &statement.action {
            Action::Do(branches) => {
                let behind = self.graph.location();
                self.graph.locations[at].is_head = true;
                self.branches(branches, at, at, Some(behind));
                self.graph.locations[behind].entry = Some(statement.end);
                behind
            }
            Action::If(branches) => {
                let behind = self.graph.location();
                self.branches(branches, at, behind, exit);
                self.graph.locations[behind].entry = Some(statement.end);
                behind
            }
            Action::Fence => self.fence(Operation::Fence, statement, at),
            Action::StoreFence => self.fence(Operation::StoreFence, statement, at),
            Action::Lock => self.step(Operation::Lock, statement, at),
            Action::Unlock => self.step(Operation::Unlock, statement, at),
            Action::Skip | Action::Break => self.step(Operation::Assign(None), statement, at),
            Action::Assign(target, value) => {
                let assignment = self.assignment(target, value);
                self.step(Operation::Assign(assignment.ok()), statement, at)
            }
            Action::Load(target, from) => {
                let assignment = self.load(target, from);
                self.step(Operation::Assign(assignment.ok()), statement, at)
            }
            Action::Store(target, value) => {
                let known = self.context.shared(target, self.findings);
                let assignment = self.valued(known, value);
                self.step(Operation::Assign(assignment.ok()), statement, at)
            }
        }
    }

    fn assignment(&mut self, target: &Place, value: &syntax::Expression) -> Result<Assignment, Reported> {
        let known = self.context.local(target, self.findings);
        self.valued(known, value)
    }

    fn valued(
        &mut self,
        target: Result<(Reference, Type), Reported>,
        value: &syntax::Expression,
    ) -> Result<Assignment, Reported> {
        let (target, ty) = target?;
        let value = self.context.plain(value, ty, self.findings)?;
        Ok(Assignment { target, value })
    }

    fn load(&mut self, target: &Place, from: &Place) -> Result<Assignment, Reported> {
        let (target_at, read) = (self.context.local(target, self.findings), self.context.shared(from, self.findings));
        let ((target_at, wanted), (read, found)) = (target_at?, read?);
        if wanted != found {
            self.findings.push(expected(wanted, found, from.span));
            return Err(Reported);
        }
        Ok(Assignment { target: target_at, value: Expression::Read(read) })
    }

    fn step(&mut self, operation: Operation, statement: &Statement, at: usize) -> usize {
        let to = self.graph.location();
        self.graph.edges.push(Edge { from: at, to, operation, span: statement.span, end: statement.end, join: 0 });
        to
    }

    /// The number moves behind the fence.
    fn fence(&mut self, operation: Operation, statement: &Statement, at: usize) -> usize {
        let number = self.graph.locations[at].number.take();
        self.graph.locations[at].behind_fence = number;
        self.graph.locations.push(Location { number, ..Location::default() });
        let to = self.graph.locations.len() - 1;
        self.graph.edges.push(Edge { from: at, to, operation, span: statement.span, end: statement.end, join: 0 });
        to
    }

    fn branches(&mut self, branches: &'a [Branch], from: usize, behind: usize, exit: Option<usize>) {
        for branch in branches {
            let inside = self.graph.location();
            let span = branch.guard.span();
            let operation = match self.context.guard(&branch.guard, self.findings) {
                Ok((_, tests)) if tests.values.len() > MAX_VALUES => {
                    let message = format!("this compares a variable with more than {MAX_VALUES} values");
                    let error = Diagnostic::error(span, message);
                    self.findings.push(error.with_help("divide it into several branches"));
                    Operation::Assign(None)
                }
                Ok((guard, tests)) => Operation::Guard(guard, tests),
                Err(Reported) => Operation::Assign(None),
            };
            self.graph.edges.push(Edge { from, to: inside, operation, span, end: branch.arrow_end, join: 0 });
            if let Some(end) = self.list(&branch.body, inside, exit) {
                self.graph.locations[end].joined = Some(behind);
            }
        }
    }
}
