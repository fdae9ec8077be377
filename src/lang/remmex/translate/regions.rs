//! From `LOCK` to `UNLOCK`: one atomic instruction for each way through.
//!
//! *Translation.* While a process has the lock nobody else reads memory or writes to it, and its own buffers are
//! empty when it gives the lock back. Others may only put stores into their own buffers and do what is theirs alone;
//! they can do that before as well. So all that happens inside is one step from the state before `LOCK` to the state
//! behind `UNLOCK`. An atomic instruction finds the buffers empty; `LOCK` does not ask for that, but what is in the
//! buffers goes to memory before `UNLOCK` in any case, nobody sees when, and the process itself reads its own stores.
//! So it makes no difference that they go first.
//!
//! The condition of such an instruction is what all guards on the way ask for, in terms of the state before it:
//! variables are replaced by what was assigned to them. (If two computed indices may or may not be the same, the value
//! is made of both possibilities.) Fences inside do nothing.
//!
//! *What is not kept.* A process whose guards inside all fail has the lock for ever in Remmex. Here it waits before
//! the region, and others go on, as they could before the process took the lock. So the control locations outside of
//! regions that are reached are the same; a deadlock inside a region is not seen.
//!
//! *Limits.* A loop inside a region, a second `LOCK`, a way that ends without `UNLOCK`, more than [`MAX_WAYS`] ways, a
//! way of more than [`MAX_STEPS`] steps or conditions larger than [`MAX_SIZE`] are errors.

use super::expressions::{bare, bare_reference, folded, not};
use super::graph::{Edge, Graph, Operation};
use super::guards::{self, NotWithOneRead};
use super::variables::Known;
use crate::lang::Diagnostic;
use crate::program::{
    Assignment, BinaryOperator, Expression, InstructionKind, PartialFence, Reference, Scope, Span, Type, UnaryOperator,
};
use std::collections::HashSet;

/// How many ways through a region there may be.
const MAX_WAYS: usize = 200;
/// How long a way through a region may be.
const MAX_STEPS: usize = 500;
/// How many steps all ways together may have, those that lead nowhere included.
const MAX_ALL_STEPS: usize = 10_000;
/// How large the expressions of a way may become.
const MAX_SIZE: usize = 2000;

/// An instruction.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Where it begins.
    pub from: usize,
    /// Where it leads.
    pub to: usize,
    /// What must hold.
    pub condition: Option<Expression>,
    /// What it does.
    pub assignments: Vec<Assignment>,
    /// How it takes part in the ordering.
    pub kind: InstructionKind,
    /// Where it stands.
    pub span: Span,
    /// Where something can be put behind it.
    pub end: usize,
    /// The same, where other ways to the same location have come to it.
    pub join: usize,
}

/// The instructions of a graph, and the locations that are inside of regions.
pub fn drafts(
    graph: &Graph,
    shared: &[Known],
    locals: &[Known],
    findings: &mut Vec<Diagnostic>,
) -> (Vec<Draft>, HashSet<usize>) {
    let mut outgoing: Vec<Vec<&Edge>> = vec![Vec::new(); graph.locations.len()];
    graph.edges.iter().for_each(|edge| outgoing[edge.from].push(edge));
    // Only what can be reached outside of regions is an instruction of its own.
    let mut inside = HashSet::new();
    let mut drafts = Vec::new();
    let mut outside = vec![false; graph.locations.len()];
    let mut open: Vec<usize> = vec![0];
    outside[0] = true;
    let mut targets_of = |edge: &Edge, findings: &mut Vec<Diagnostic>| {
        let found = match edge.operation {
            Operation::Lock => {
                let known = Variables { shared, locals };
                let mut search = Search {
                    outgoing: &outgoing,
                    known,
                    lock: edge,
                    inside: &mut inside,
                    findings,
                    found: Vec::new(),
                    steps: 0,
                };
                let _ = search.from(edge.to, &Way::default(), &mut Vec::new());
                let mut found = search.found;
                if found.is_empty() {
                    // It waits for ever.
                    let never = Some(Expression::Constant(0));
                    found.push(Draft { to: edge.from, condition: never, ..plain(edge) });
                }
                found
            }
            Operation::Unlock => {
                let error = Diagnostic::error(edge.span, "`UNLOCK` without `LOCK` waits for ever");
                findings.push(error.with_help("on every way to an `UNLOCK` there is a `LOCK` before it"));
                Vec::new()
            }
            _ => steps(edge, findings),
        };
        let targets: Vec<usize> = found.iter().map(|draft| draft.to).collect();
        drafts.extend(found);
        targets
    };
    while let Some(location) = open.pop() {
        for edge in &outgoing[location] {
            for target in targets_of(edge, findings) {
                if !std::mem::replace(&mut outside[target], true) {
                    open.push(target);
                }
            }
        }
    }
    let leaves = |edge: &&Edge| !outside[edge.from] && !inside.contains(&edge.from);
    let is_entered: HashSet<usize> = graph.edges.iter().map(|edge| edge.to).collect();
    for edge in graph.edges.iter().filter(leaves) {
        // What is wrong there is told, too.
        if let Operation::Guard(..) = edge.operation {
            steps(edge, findings);
        }
        if !is_entered.contains(&edge.from) {
            findings.push(Diagnostic::warning(edge.span, "this is never reached, and is left out"));
        }
    }
    // The order of the text.
    drafts.sort_by_key(|draft| (draft.span.start, draft.end));
    (drafts, inside)
}

fn plain(edge: &Edge) -> Draft {
    let Edge { from, to, span, end, join, .. } = *edge;
    Draft { from, to, condition: None, assignments: Vec::new(), kind: InstructionKind::Plain, span, end, join }
}

/// The instructions of an edge outside of regions.
fn steps(edge: &Edge, findings: &mut Vec<Diagnostic>) -> Vec<Draft> {
    let plain = plain(edge);
    match &edge.operation {
        Operation::Assign(assignment) => vec![Draft { assignments: assignment.iter().cloned().collect(), ..plain }],
        Operation::Fence => vec![Draft { kind: InstructionKind::Fence, ..plain }],
        Operation::StoreFence => {
            vec![Draft { kind: InstructionKind::PartialFence(PartialFence::Stores), ..plain }]
        }
        Operation::Lock | Operation::Unlock => vec![plain],
        Operation::Guard(guard, tests) => match guards::ways(guard, tests) {
            // What never holds is still waited for.
            Ok(ways) if ways.is_empty() => vec![Draft { condition: Some(Expression::Constant(0)), ..plain }],
            Ok(ways) => {
                let way = |way| Draft { condition: (way != Expression::Constant(1)).then_some(way), ..plain.clone() };
                ways.into_iter().map(way).collect()
            }
            Err(NotWithOneRead) => {
                let name = tests.tested.as_ref().map_or("x", |(_, _, name)| name);
                let message = format!("this cannot be asked with one read of `{name}`");
                let help = format!(
                    "it may hold where `{name}` differs from values that are computed; read it first: `r = loadval({name});`"
                );
                findings.push(Diagnostic::error(edge.span, message).with_help(help));
                vec![plain]
            }
        },
    }
}

/// What is known of variables.
#[derive(Clone, Copy)]
struct Variables<'a> {
    shared: &'a [Known],
    locals: &'a [Known],
}

impl Variables<'_> {
    fn ty(self, reference: &Reference) -> Type {
        let known = if reference.scope == Scope::Shared { self.shared } else { self.locals };
        known[reference.variable].variable.ty
    }
}

/// What happened since the `LOCK`; expressions are in terms of the state before it.
#[derive(Clone, Default)]
struct Way {
    /// The last one is the latest.
    stores: Vec<(Reference, Expression)>,
    condition: Option<Expression>,
    assignments: Vec<Assignment>,
}

/// The search came to an error.
struct Failed;

struct Search<'s, 'a> {
    outgoing: &'s [Vec<&'a Edge>],
    known: Variables<'s>,
    lock: &'a Edge,
    inside: &'s mut HashSet<usize>,
    findings: &'s mut Vec<Diagnostic>,
    found: Vec<Draft>,
    steps: usize,
}

impl Search<'_, '_> {
    fn from(&mut self, location: usize, way: &Way, path: &mut Vec<usize>) -> Result<(), Failed> {
        const HELP: &str = "from `LOCK` to `UNLOCK` is one step here";
        self.inside.insert(location);
        if path.contains(&location) {
            let help = format!("{HELP}: put the loop around it");
            return Err(self.fail(self.lock.span, "there is a loop between `LOCK` and `UNLOCK`", &help));
        }
        self.steps += 1;
        if path.len() >= MAX_STEPS || self.steps > MAX_ALL_STEPS {
            let message = "there are too many steps between `LOCK` and `UNLOCK`";
            return Err(self.fail(self.lock.span, message, &format!("{HELP}: do less between them")));
        }
        let outgoing = self.outgoing;
        let edges = &outgoing[location];
        if edges.is_empty() {
            let help = format!("{HELP}: every way through it ends with `UNLOCK`");
            return Err(self.fail(self.lock.span, "there is a way behind this `LOCK` without `UNLOCK`", &help));
        }
        path.push(location);
        for edge in edges {
            let mut way = way.clone();
            match &edge.operation {
                Operation::Lock => {
                    let message = "`LOCK` stands behind a `LOCK` without `UNLOCK`";
                    return Err(self.fail(edge.span, message, &format!("{HELP}: locks do not nest")));
                }
                Operation::Unlock => {
                    self.leave(edge, way)?;
                    continue;
                }
                Operation::Fence | Operation::StoreFence | Operation::Assign(None) => {}
                Operation::Guard(guard, tests) => {
                    let condition = self.before(&guards::literally(guard, tests), &way);
                    let known = way.condition.take().unwrap_or(Expression::Constant(1));
                    match folded(BinaryOperator::And, known, condition, Span::default()) {
                        Expression::Constant(0) => continue,
                        Expression::Constant(_) => {}
                        both => way.condition = Some(both),
                    }
                }
                Operation::Assign(Some(assignment)) => {
                    let value = self.before(&assignment.value, &way);
                    let stored = self.before_reference(&assignment.target, &way);
                    way.stores.retain(|(earlier, _)| *earlier != stored);
                    way.stores.push((stored, value));
                    way.assignments.push(assignment.clone());
                }
            }
            let values = way.stores.iter().map(|(_, value)| value).chain(&way.condition);
            if values.map(size).sum::<usize>() > MAX_SIZE {
                let message = "the conditions between `LOCK` and `UNLOCK` become too large";
                return Err(self.fail(self.lock.span, message, "do less between them"));
            }
            self.from(edge.to, &way, path)?;
        }
        path.pop();
        Ok(())
    }

    fn leave(&mut self, unlock: &Edge, way: Way) -> Result<(), Failed> {
        if self.found.len() >= MAX_WAYS {
            let message = format!("there are more than {MAX_WAYS} ways from `LOCK` to `UNLOCK`");
            return Err(self.fail(self.lock.span, &message, "do less between them"));
        }
        // A region that does nothing still empties the buffer.
        let is_fence = way.condition.is_none() && way.assignments.is_empty();
        self.found.push(Draft {
            from: self.lock.from,
            to: unlock.to,
            condition: way.condition,
            assignments: way.assignments,
            kind: if is_fence { InstructionKind::Fence } else { InstructionKind::Atomic },
            span: Span { end: unlock.span.end.max(self.lock.span.end), ..self.lock.span },
            end: unlock.end,
            join: unlock.join,
        });
        Ok(())
    }

    fn fail(&mut self, span: Span, message: &str, help: &str) -> Failed {
        self.findings.push(Diagnostic::error(span, message).with_help(help));
        Failed
    }

    /// An expression in terms of the state before the region.
    fn before(&self, expression: &Expression, way: &Way) -> Expression {
        match expression {
            Expression::Constant(_) => expression.clone(),
            Expression::Read(reference) => self.value(&way.stores, &self.before_reference(reference, way)),
            Expression::Unary(UnaryOperator::Not, operand) => not(self.before(operand, way)),
            Expression::Unary(operator, operand) => Expression::Unary(*operator, Box::new(self.before(operand, way))),
            Expression::Binary(operator, left, right, _) => {
                folded(*operator, self.before(left, way), self.before(right, way), Span::default())
            }
        }
    }

    fn before_reference(&self, reference: &Reference, way: &Way) -> Reference {
        let index = reference.index.as_ref().map(|index| Box::new(self.before(index, way)));
        bare_reference(&Reference { index, ..reference.clone() })
    }

    /// What a variable holds after these stores.
    fn value(&self, stores: &[(Reference, Expression)], target: &Reference) -> Expression {
        let Some(((stored, value), earlier)) = stores.split_last() else { return Expression::Read(target.clone()) };
        if stored == target {
            return value.clone();
        }
        let before = self.value(earlier, target);
        let (Some(left), Some(right)) = (&stored.index, &target.index) else { return before };
        if (stored.scope, stored.variable) != (target.scope, target.variable) {
            return before;
        }
        let same = folded(BinaryOperator::Equal, bare(left), bare(right), Span::default());
        let other = not(same.clone());
        let binary = |operator, left, right| folded(operator, left, right, Span::default());
        match (same, self.known.ty(target)) {
            (Expression::Constant(0), _) => before,
            (Expression::Constant(_), _) => value.clone(),
            (same, Type::Boolean) => binary(
                BinaryOperator::Or,
                binary(BinaryOperator::And, same, value.clone()),
                binary(BinaryOperator::And, other, before),
            ),
            (same, Type::Integer) => {
                let indicator = |truth| Expression::Unary(UnaryOperator::Indicator, Box::new(truth));
                binary(
                    BinaryOperator::Add,
                    binary(BinaryOperator::Multiply, indicator(same), value.clone()),
                    binary(BinaryOperator::Multiply, indicator(other), before),
                )
            }
        }
    }
}

fn size(expression: &Expression) -> usize {
    match expression {
        Expression::Constant(_) => 1,
        Expression::Read(reference) => 1 + reference.index.as_ref().map_or(0, |index| size(index)),
        Expression::Unary(_, operand) => 1 + size(operand),
        Expression::Binary(_, left, right, _) => 1 + size(left) + size(right),
    }
}
