//! Runs programs, access by access, on machines with store buffers: an operational model of TSO and PSO, and without
//! buffers of SC.
//!
//! It shares nothing with the library but the program representation. A plain instruction is a graph of accesses: its
//! expressions are evaluated symbolically, locals by substitution, so that an access waits for exactly those that its
//! address or value needs, for the reads of the condition, and for accesses of the same instruction to the same
//! variable. (An array is accessed once in an instruction, at most: whether two elements are the same is not known
//! here.) Each mention of a location is an access of its own. A condition that does not hold takes the thread back to
//! where it was.

use rustc_hash::FxHashSet;
use seqcon::ids::ControlAt;
use seqcon::program::{
    BinaryOperator, Expression, Instruction, InstructionKind, PartialFence, Program, Reference, Scope, UnaryOperator,
};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    Sc,
    Tso,
    Pso,
}

/// The location of a fence of stores, in a buffer: what stands behind it waits for what stands before it.
const STAR: usize = usize::MAX;

/// Shared values, the locals of each thread, its control state.
pub type End = (Vec<i64>, Vec<Vec<i64>>, Vec<ControlAt>);

/// A value over the locals before the instruction and the reads of the instruction.
#[derive(Clone, Debug)]
enum Symbolic {
    Constant(i64),
    Local(usize),
    Node(usize),
    Unary(UnaryOperator, Box<Symbolic>),
    Binary(BinaryOperator, Box<Symbolic>, Box<Symbolic>),
}

#[derive(Debug)]
enum Action {
    Read,
    Write(Symbolic),
}

/// One access: variable, index, and which come before it.
#[derive(Debug)]
struct Node {
    variable: usize,
    index: Option<Symbolic>,
    action: Action,
    after: BTreeSet<usize>,
}

/// An instruction as a graph.
#[derive(Debug)]
struct Graph {
    nodes: Vec<Node>,
    /// How many nodes are reads of the condition; they come first.
    condition_nodes: usize,
    condition: Symbolic,
    /// The locals afterwards.
    locals: Vec<Symbolic>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Doing {
    instruction: usize,
    /// For each node, the value that was read, or anything for a write that was made.
    done: Vec<Option<i64>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration {
    memory: Vec<i64>,
    locals: Vec<Vec<i64>>,
    controls: Vec<ControlAt>,
    doing: Vec<Option<Doing>>,
    buffers: Vec<Vec<(usize, i64)>>,
}

struct Runner<'p> {
    program: &'p Program,
    machine: Machine,
    graphs: Vec<Vec<Graph>>,
    /// For each variable, its first element and its length.
    places: Vec<(usize, usize)>,
}

pub fn ends(program: &Program, machine: Machine) -> BTreeSet<End> {
    let mut places = Vec::new();
    let mut memory = Vec::new();
    for variable in &program.shared {
        places.push((memory.len(), variable.initial.len()));
        memory.extend(&variable.initial);
    }
    let graphs = program
        .threads
        .iter()
        .map(|thread| thread.instructions.iter().map(|i| graph(i, &thread.instructions, thread.locals.len())).collect())
        .collect();
    let runner = Runner { program, machine, graphs, places };
    let start = Configuration {
        memory,
        locals: program.threads.iter().map(|t| t.locals.iter().map(|l| l.initial[0]).collect()).collect(),
        controls: program.threads.iter().map(|t| t.initial).collect(),
        doing: vec![None; program.threads.len()],
        buffers: vec![Vec::new(); program.threads.len()],
    };
    let mut seen = FxHashSet::from_iter([start.clone()]);
    let mut stack = vec![start];
    let mut ends = BTreeSet::new();
    while let Some(configuration) = stack.pop() {
        let next = runner.next(&configuration);
        if runner.is_end(&configuration) {
            ends.insert((configuration.memory.clone(), configuration.locals.clone(), configuration.controls.clone()));
        }
        stack.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
    }
    ends
}

/// The condition of an instruction, with those that it outranks.
fn condition(instruction: &Instruction, all: &[Instruction]) -> Expression {
    let mut whole = instruction.condition.clone().unwrap_or(Expression::Constant(1));
    for other in all.iter().filter(|other| other.from == instruction.from && other.priority < instruction.priority) {
        let own = other.condition.clone().unwrap_or(Expression::Constant(1));
        let not = Expression::Unary(UnaryOperator::Not, Box::new(own));
        whole = Expression::Binary(BinaryOperator::And, Box::new(whole), Box::new(not), instruction.span);
    }
    whole
}

fn graph(instruction: &Instruction, all: &[Instruction], num_of_locals: usize) -> Graph {
    let locals = (0..num_of_locals).map(Symbolic::Local).collect();
    let mut graph = Graph { nodes: Vec::new(), condition_nodes: 0, condition: Symbolic::Constant(1), locals };
    graph.condition = graph.symbolic(&condition(instruction, all));
    graph.condition_nodes = graph.nodes.len();
    for assignment in &instruction.assignments {
        let value = graph.symbolic(&assignment.value);
        match assignment.target.scope {
            Scope::Local => graph.locals[assignment.target.variable] = value,
            Scope::Shared => {
                let index = assignment.target.index.as_ref().map(|index| graph.symbolic(index));
                graph.add(assignment.target.variable, index, Action::Write(value));
            }
        }
    }
    graph
}

impl Graph {
    fn symbolic(&mut self, expression: &Expression) -> Symbolic {
        match expression {
            Expression::Constant(value) => Symbolic::Constant(*value),
            Expression::Read(Reference { scope: Scope::Local, variable, .. }) => self.locals[*variable].clone(),
            Expression::Read(Reference { scope: Scope::Shared, variable, index, .. }) => {
                let index = index.as_ref().map(|index| self.symbolic(index));
                Symbolic::Node(self.add(*variable, index, Action::Read))
            }
            Expression::Unary(operator, operand) => Symbolic::Unary(*operator, Box::new(self.symbolic(operand))),
            Expression::Binary(operator, left, right, _) => {
                let left = Box::new(self.symbolic(left));
                Symbolic::Binary(*operator, left, Box::new(self.symbolic(right)))
            }
        }
    }

    fn add(&mut self, variable: usize, index: Option<Symbolic>, action: Action) -> usize {
        let mut after: BTreeSet<usize> = (0..self.condition_nodes).collect();
        index.iter().for_each(|index| index.nodes(&mut after));
        if let Action::Write(value) = &action {
            value.nodes(&mut after);
        }
        let is_write = |action: &Action| matches!(action, Action::Write(_));
        for (earlier, node) in self.nodes.iter().enumerate() {
            if node.variable == variable && (is_write(&action) || is_write(&node.action)) {
                after.insert(earlier);
            }
        }
        self.nodes.push(Node { variable, index, action, after });
        self.nodes.len() - 1
    }
}

impl Symbolic {
    fn nodes(&self, nodes: &mut BTreeSet<usize>) {
        match self {
            Symbolic::Constant(_) | Symbolic::Local(_) => {}
            Symbolic::Node(node) => {
                nodes.insert(*node);
            }
            Symbolic::Unary(_, operand) => operand.nodes(nodes),
            Symbolic::Binary(_, left, right) => {
                left.nodes(nodes);
                right.nodes(nodes);
            }
        }
    }

    fn value(&self, locals: &[i64], done: &[Option<i64>]) -> i64 {
        match self {
            Symbolic::Constant(value) => *value,
            Symbolic::Local(local) => locals[*local],
            Symbolic::Node(node) => done[*node].expect("it was read before"),
            Symbolic::Unary(UnaryOperator::Not, operand) => i64::from(operand.value(locals, done) == 0),
            Symbolic::Unary(UnaryOperator::Indicator, operand) => i64::from(operand.value(locals, done) != 0),
            Symbolic::Unary(UnaryOperator::Minus, operand) => -operand.value(locals, done),
            Symbolic::Binary(operator, left, right) => {
                let (left, right) = (left.value(locals, done), right.value(locals, done));
                match operator {
                    BinaryOperator::And => i64::from(left != 0 && right != 0),
                    BinaryOperator::Equal => i64::from(left == right),
                    BinaryOperator::Less => i64::from(left < right),
                    BinaryOperator::Add => left + right,
                    BinaryOperator::Subtract => left - right,
                    other => unreachable!("random programs have no {other:?}"),
                }
            }
        }
    }
}

impl Runner<'_> {
    fn next(&self, configuration: &Configuration) -> Vec<Configuration> {
        let mut next = Vec::new();
        for thread in 0..self.program.threads.len() {
            self.flush(configuration, thread, &mut next);
            match &configuration.doing[thread] {
                None => {
                    let instructions = &self.program.threads[thread].instructions;
                    for (number, instruction) in instructions.iter().enumerate() {
                        if instruction.from == configuration.controls[thread] {
                            self.begin(configuration, thread, number, &mut next);
                        }
                    }
                }
                Some(doing) => self.go_on(configuration, thread, doing, &mut next),
            }
        }
        next
    }

    fn flush(&self, configuration: &Configuration, thread: usize, next: &mut Vec<Configuration>) {
        let buffer = &configuration.buffers[thread];
        for (position, &(location, value)) in buffer.iter().enumerate() {
            if location == STAR {
                break;
            }
            let may_leave = match self.machine {
                Machine::Sc | Machine::Tso => position == 0,
                Machine::Pso => buffer[..position].iter().all(|(earlier, _)| *earlier != location),
            };
            if may_leave {
                let mut after = configuration.clone();
                after.buffers[thread].remove(position);
                after.memory[location] = value;
                while after.buffers[thread].first().is_some_and(|(location, _)| *location == STAR) {
                    after.buffers[thread].remove(0);
                }
                next.push(after);
            }
        }
    }

    fn begin(&self, configuration: &Configuration, thread: usize, number: usize, next: &mut Vec<Configuration>) {
        let kind = self.program.threads[thread].instructions[number].kind;
        let nodes = self.graphs[thread][number].nodes.len();
        let mut after = configuration.clone();
        after.doing[thread] = Some(Doing { instruction: number, done: vec![None; nodes] });
        match kind {
            InstructionKind::Fence | InstructionKind::Atomic if !configuration.buffers[thread].is_empty() => {}
            InstructionKind::Atomic => {
                // All at once, in the order of the graph, straight to memory.
                for node in 0..nodes {
                    if node == self.graphs[thread][number].condition_nodes && !self.condition_holds(&after, thread) {
                        return;
                    }
                    self.perform(&mut after, thread, node);
                    for (location, value) in std::mem::take(&mut after.buffers[thread]) {
                        after.memory[location] = value;
                    }
                }
                if self.condition_holds(&after, thread) {
                    self.finish(&mut after, thread);
                    next.push(after);
                }
            }
            _ => {
                if nodes > 0 {
                    // Its first access at once; nothing is seen of a beginning alone.
                    if let Some(doing) = after.doing[thread].clone() {
                        self.go_on(&after, thread, &doing, next);
                    }
                } else if self.condition_holds(&after, thread) {
                    self.finish(&mut after, thread);
                    let is_of_stores = |kind| matches!(kind, PartialFence::Stores | PartialFence::Lightweight);
                    let is_star = matches!(kind, InstructionKind::PartialFence(kind) if is_of_stores(kind));
                    if is_star && self.machine != Machine::Sc && !after.buffers[thread].is_empty() {
                        after.buffers[thread].push((STAR, 0));
                    }
                    next.push(after);
                }
            }
        }
    }

    /// Another access of the instruction at hand.
    fn go_on(&self, configuration: &Configuration, thread: usize, doing: &Doing, next: &mut Vec<Configuration>) {
        let graph = &self.graphs[thread][doing.instruction];
        let condition_is_read = doing.done[..graph.condition_nodes].iter().all(Option::is_some);
        if condition_is_read && !self.condition_holds(configuration, thread) {
            let mut after = configuration.clone();
            after.doing[thread] = None;
            next.push(after);
            return;
        }
        for (node, Node { after: before, .. }) in graph.nodes.iter().enumerate() {
            let is_next = doing.done[node].is_none() && before.iter().all(|earlier| doing.done[*earlier].is_some());
            if is_next {
                let mut after = configuration.clone();
                self.perform(&mut after, thread, node);
                let is_done = |after: &Configuration| {
                    after.doing[thread].as_ref().is_some_and(|doing| doing.done.iter().all(Option::is_some))
                };
                if is_done(&after) && self.condition_holds(&after, thread) {
                    self.finish(&mut after, thread);
                }
                next.push(after);
            }
        }
    }

    fn perform(&self, configuration: &mut Configuration, thread: usize, node: usize) {
        let doing = configuration.doing[thread].as_ref().expect("it is doing something");
        let Node { variable, index, action, .. } = &self.graphs[thread][doing.instruction].nodes[node];
        let value = |symbolic: &Symbolic| symbolic.value(&configuration.locals[thread], &doing.done);
        let (first, length) = self.places[*variable];
        let index = index.as_ref().map_or(0, value);
        let location = usize::try_from(index).ok().filter(|index| *index < length).map(|index| first + index);
        let (result, written) = match (action, location) {
            (Action::Read, None) => (0, None),
            (Action::Read, Some(location)) => {
                let own = configuration.buffers[thread].iter().rev().find(|(known, _)| *known == location);
                (own.map_or(configuration.memory[location], |(_, value)| *value), None)
            }
            (Action::Write(_), None) => (0, None),
            (Action::Write(written), Some(location)) => (0, Some((location, value(written)))),
        };
        if let Some((location, value)) = written {
            match self.machine {
                Machine::Sc => configuration.memory[location] = value,
                Machine::Tso | Machine::Pso => configuration.buffers[thread].push((location, value)),
            }
        }
        configuration.doing[thread].as_mut().expect("it is doing something").done[node] = Some(result);
    }

    /// Whether the condition of the instruction at hand holds; its reads have been made.
    fn condition_holds(&self, configuration: &Configuration, thread: usize) -> bool {
        let doing = configuration.doing[thread].as_ref().expect("it is doing something");
        self.graphs[thread][doing.instruction].condition.value(&configuration.locals[thread], &doing.done) != 0
    }

    fn finish(&self, configuration: &mut Configuration, thread: usize) {
        let doing = configuration.doing[thread].take().expect("it is doing something");
        let graph = &self.graphs[thread][doing.instruction];
        configuration.locals[thread] =
            graph.locals.iter().map(|local| local.value(&configuration.locals[thread], &doing.done)).collect();
        configuration.controls[thread] = self.program.threads[thread].instructions[doing.instruction].to;
    }

    /// Whether nobody does anything, all is in memory, and every condition would be refused.
    fn is_end(&self, configuration: &Configuration) -> bool {
        let is_quiet =
            configuration.doing.iter().all(Option::is_none) && configuration.buffers.iter().all(Vec::is_empty);
        let refuses = |thread: usize, number: usize| {
            let graph = &self.graphs[thread][number];
            let mut trial = configuration.clone();
            trial.doing[thread] = Some(Doing { instruction: number, done: vec![None; graph.nodes.len()] });
            (0..graph.condition_nodes).for_each(|node| self.perform(&mut trial, thread, node));
            !self.condition_holds(&trial, thread)
        };
        is_quiet
            && self.program.threads.iter().enumerate().all(|(thread, automaton)| {
                let here = automaton.instructions.iter().enumerate();
                here.filter(|(_, i)| i.from == configuration.controls[thread])
                    .all(|(number, _)| refuses(thread, number))
            })
    }
}
