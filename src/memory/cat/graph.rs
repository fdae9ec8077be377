//! The relations of a model as a graph: equal expressions are one node, and every node is behind those that it is made
//! of.
//!
//! A node knows its type, whether it depends on communication, and its *polarity*: whether it can grow, or shrink,
//! when communication grows. `a \ b` and `~b` turn the polarity of `b` round. An axiom whose operand can only grow
//! stays violated once it is, and may be asked before all communication is known. In the same way it is seen whether
//! what is defined by `let rec` can only grow with itself; else it would have no least solution.
//!
//! *Restrictions.* `[S]; r`, `r; [S]` and `S*T & r` become restrictions of `r`, which cost no sequence.

use super::names::Base;
use super::syntax::{Demand, Postfix};
use rustc_hash::FxHashMap;

/// A node, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u32);

impl Id {
    /// Its number.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn new(index: usize) -> Id {
        Id(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// Set or relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A set of events.
    Set,
    /// A relation.
    Relation,
}

/// What a node is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// All events.
    Universe,
    /// Nothing.
    Empty(Type),
    /// A base set.
    BaseSet(usize),
    /// A base relation.
    Base(Base),
    /// What `let rec` defines: of a group, its position there.
    Variable(usize, usize),
    /// `a | b | …`.
    Union(Vec<Id>),
    /// `a & b`.
    Intersection(Id, Id),
    /// `a \ b`.
    Difference(Id, Id),
    /// `~a`.
    Complement(Id),
    /// `a ; b`.
    Sequence(Id, Id),
    /// `[S] ; a`.
    StartingIn(Id, Id),
    /// `a ; [S]`.
    EndingIn(Id, Id),
    /// `a*` and so on.
    Postfix(Postfix, Id),
    /// `[S]`.
    Identity(Id),
    /// `S * T`.
    Product(Id, Id),
    /// `domain(a)`.
    Domain(Id),
    /// `range(a)`.
    Range(Id),
}

impl Op {
    /// What it is made of.
    #[must_use]
    pub fn operands(&self) -> Vec<Id> {
        match self {
            Op::Universe | Op::Empty(_) | Op::BaseSet(_) | Op::Base(_) | Op::Variable(..) => Vec::new(),
            Op::Union(parts) => parts.clone(),
            Op::Intersection(a, b)
            | Op::Difference(a, b)
            | Op::Sequence(a, b)
            | Op::StartingIn(a, b)
            | Op::EndingIn(a, b)
            | Op::Product(a, b) => vec![*a, *b],
            Op::Complement(a) | Op::Postfix(_, a) | Op::Identity(a) | Op::Domain(a) | Op::Range(a) => vec![*a],
        }
    }

    fn map(&self, new: impl Fn(Id) -> Id) -> Op {
        match self {
            Op::Universe | Op::Empty(_) | Op::BaseSet(_) | Op::Base(_) | Op::Variable(..) => self.clone(),
            Op::Union(parts) => Op::Union(parts.iter().map(|part| new(*part)).collect()),
            Op::Intersection(a, b) => Op::Intersection(new(*a), new(*b)),
            Op::Difference(a, b) => Op::Difference(new(*a), new(*b)),
            Op::Sequence(a, b) => Op::Sequence(new(*a), new(*b)),
            Op::StartingIn(a, b) => Op::StartingIn(new(*a), new(*b)),
            Op::EndingIn(a, b) => Op::EndingIn(new(*a), new(*b)),
            Op::Product(a, b) => Op::Product(new(*a), new(*b)),
            Op::Complement(a) => Op::Complement(new(*a)),
            Op::Postfix(operator, a) => Op::Postfix(*operator, new(*a)),
            Op::Identity(a) => Op::Identity(new(*a)),
            Op::Domain(a) => Op::Domain(new(*a)),
            Op::Range(a) => Op::Range(new(*a)),
        }
    }
}

/// How a node changes when something else grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polarity {
    /// It may grow.
    pub grows: bool,
    /// It may shrink.
    pub shrinks: bool,
}

impl Polarity {
    fn and(self, other: Polarity) -> Polarity {
        Polarity { grows: self.grows || other.grows, shrinks: self.shrinks || other.shrinks }
    }

    fn turned(self) -> Polarity {
        Polarity { grows: self.shrinks, shrinks: self.grows }
    }
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is made of.
    pub op: Op,
    /// Set or relation.
    pub ty: Type,
    /// Whether it depends on communication.
    pub is_dynamic: bool,
    /// How it changes with communication.
    pub polarity: Polarity,
    /// How it changes with what is being defined by `let rec`.
    recursion: Polarity,
}

/// What is evaluated, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A node.
    Node(Id),
    /// A group of nodes that depend on each other, until nothing changes.
    Fixpoint(usize),
}

/// What one `let rec` defines.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// For each name, the node that stands for it, the node of its definition, and the nodes to evaluate for that.
    pub definitions: Vec<Definition>,
    /// Whether it depends on communication.
    pub is_dynamic: bool,
}

/// A name of a `let rec`.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What stands for it.
    pub variable: Id,
    /// What it is.
    pub value: Id,
    /// The nodes that change with the names of the group.
    pub nodes: Vec<Id>,
}

/// An axiom or a flag.
#[derive(Clone, Debug)]
pub struct Axiom {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What is demanded.
    pub demand: Demand,
    /// Whether the contrary is demanded.
    pub is_negated: bool,
    /// Of what.
    pub operand: Id,
    /// Whether it only tells.
    pub is_flag: bool,
    /// Whether it stays violated when communication grows.
    pub is_monotone: bool,
    /// Whether it is SC-per-location and nothing else.
    pub is_sc_per_location: bool,
    /// Whether SC-per-location follows from it.
    pub says_sc_per_location: bool,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The order in which they are evaluated.
    pub steps: Vec<Step>,
    /// The definitions by `let rec`.
    pub groups: Vec<Group>,
    known: FxHashMap<Op, Id>,
    /// Whether the last group is being defined, and the nodes for its next definition.
    open: Option<Vec<Id>>,
}

impl Graph {
    /// The node.
    #[must_use]
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node that is made like this, which may be there already.
    pub fn add(&mut self, op: Op) -> Id {
        if let Some(known) = self.known.get(&op) {
            return *known;
        }
        let ty = match &op {
            Op::Universe | Op::BaseSet(_) | Op::Domain(_) | Op::Range(_) => Type::Set,
            Op::Empty(ty) => *ty,
            Op::Union(parts) => parts.first().map_or(Type::Relation, |part| self.node(*part).ty),
            Op::Intersection(a, _) | Op::Difference(a, _) | Op::Complement(a) => self.node(*a).ty,
            _ => Type::Relation,
        };
        let operands = op.operands();
        let polarity = |of: &dyn Fn(&Node) -> Polarity| match &op {
            Op::Complement(a) => of(self.node(*a)).turned(),
            Op::Difference(a, b) => of(self.node(*a)).and(of(self.node(*b)).turned()),
            Op::Base(base) if base.is_communication() => of(&Node {
                op: op.clone(),
                ty,
                is_dynamic: true,
                polarity: Polarity { grows: true, shrinks: false },
                recursion: Polarity::default(),
            }),
            _ => operands.iter().map(|part| of(self.node(*part))).fold(Polarity::default(), Polarity::and),
        };
        let node = Node {
            ty,
            is_dynamic: matches!(&op, Op::Base(base) if base.is_communication())
                || operands.iter().any(|part| self.node(*part).is_dynamic),
            polarity: polarity(&|node| node.polarity),
            recursion: match op {
                Op::Variable(..) => Polarity { grows: true, shrinks: false },
                _ => polarity(&|node| node.recursion),
            },
            op: op.clone(),
        };
        let id = Id::new(self.nodes.len());
        match &mut self.open {
            _ if matches!(op, Op::Variable(..)) => {}
            Some(nodes) if node.recursion != Polarity::default() => nodes.push(id),
            _ => self.steps.push(Step::Node(id)),
        }
        self.nodes.push(node);
        self.known.insert(op, id);
        id
    }

    /// `a ; b`.
    pub fn sequence(&mut self, a: Id, b: Id) -> Id {
        match (&self.node(a).op, &self.node(b).op) {
            (Op::Identity(set), _) => self.add(Op::StartingIn(*set, b)),
            (_, Op::Identity(set)) => self.add(Op::EndingIn(a, *set)),
            _ => self.add(Op::Sequence(a, b)),
        }
    }

    /// `a & b`.
    pub fn intersection(&mut self, a: Id, b: Id) -> Id {
        match (&self.node(a).op, &self.node(b).op) {
            (Op::Product(from, to), _) => self.restriction(*from, b, *to),
            (_, Op::Product(from, to)) => self.restriction(*from, a, *to),
            _ => self.add(Op::Intersection(a, b)),
        }
    }

    fn restriction(&mut self, from: Id, a: Id, to: Id) -> Id {
        let starting = self.add(Op::StartingIn(from, a));
        self.add(Op::EndingIn(starting, to))
    }

    /// `a | b | …`.
    pub fn union(&mut self, mut parts: Vec<Id>) -> Id {
        parts.sort_unstable();
        parts.dedup();
        match parts[..] {
            [only] => only,
            _ => self.add(Op::Union(parts)),
        }
    }

    /// Begins a `let rec` of so many names; gives the nodes that stand for them.
    pub fn open_group(&mut self, names: usize) -> Vec<Id> {
        let group = self.groups.len();
        self.groups.push(Group::default());
        let variables = (0..names).map(|name| self.add(Op::Variable(group, name))).collect();
        self.open = Some(Vec::new());
        variables
    }

    /// Defines the next name; false if the definition can shrink when what is defined grows.
    #[must_use]
    pub fn define(&mut self, variable: Id, value: Id) -> bool {
        let nodes = self.open.as_mut().map(std::mem::take).unwrap_or_default();
        let is_fine = !self.node(value).recursion.shrinks;
        if let Some(group) = self.groups.last_mut() {
            group.definitions.push(Definition { variable, value, nodes });
        }
        is_fine
    }

    /// Ends the `let rec`.
    pub fn close_group(&mut self) {
        self.open = None;
        let number = self.groups.len() - 1;
        let group = &mut self.groups[number];
        let mut polarity = Polarity::default();
        for definition in &group.definitions {
            group.is_dynamic |= self.nodes[definition.value.index()].is_dynamic;
            polarity = polarity.and(self.nodes[definition.value.index()].polarity);
        }
        for definition in &group.definitions {
            for id in definition.nodes.iter().chain([&definition.variable]) {
                let node = &mut self.nodes[id.index()];
                node.is_dynamic |= group.is_dynamic;
                node.polarity = node.polarity.and(polarity);
            }
        }
        for node in &mut self.nodes {
            node.recursion = Polarity::default();
        }
        self.steps.push(Step::Fixpoint(number));
    }

    /// The parts of a union, also of unions in it.
    #[must_use]
    pub fn parts(&self, id: Id) -> Vec<Id> {
        match &self.node(id).op {
            Op::Union(parts) => parts.iter().flat_map(|part| self.parts(*part)).collect(),
            _ => vec![id],
        }
    }

    /// Leaves out all that no axiom needs, and numbers the rest anew.
    #[must_use]
    pub fn needed(self, axioms: &mut [Axiom]) -> Graph {
        let mut is_needed = vec![false; self.nodes.len()];
        let mut groups = vec![false; self.groups.len()];
        let mut open: Vec<Id> = axioms.iter().map(|axiom| axiom.operand).collect();
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut is_needed[id.index()], true) {
                continue;
            }
            let op = &self.node(id).op;
            open.extend(op.operands());
            if let Op::Variable(group, _) = op
                && !std::mem::replace(&mut groups[*group], true)
            {
                let definitions = &self.groups[*group].definitions;
                open.extend(definitions.iter().flat_map(|known| [known.variable, known.value]));
            }
        }
        let mut numbers = vec![Id::new(0); self.nodes.len()];
        let mut nodes = Vec::new();
        for (node, number) in
            self.nodes.into_iter().zip(&mut numbers).zip(&is_needed).filter(|(_, is)| **is).map(|(n, _)| n)
        {
            *number = Id::new(nodes.len());
            nodes.push(node);
        }
        let new = |id: Id| numbers[id.index()];
        nodes.iter_mut().for_each(|node| node.op = node.op.map(new));
        axioms.iter_mut().for_each(|axiom| axiom.operand = new(axiom.operand));
        let is_kept = |step: &Step| match step {
            Step::Node(id) => is_needed[id.index()],
            Step::Fixpoint(group) => groups[*group],
        };
        let renumber = |step: Step| match step {
            Step::Node(id) => Step::Node(new(id)),
            Step::Fixpoint(group) => Step::Fixpoint(group),
        };
        let definition = |known: Definition| Definition {
            variable: new(known.variable),
            value: new(known.value),
            nodes: known.nodes.into_iter().filter(|id| is_needed[id.index()]).map(new).collect(),
        };
        let group = |(group, is_kept): (Group, &bool)| Group {
            definitions: if *is_kept { group.definitions.into_iter().map(definition).collect() } else { Vec::new() },
            ..group
        };
        Graph {
            steps: self.steps.into_iter().filter(is_kept).map(renumber).collect(),
            groups: self.groups.into_iter().zip(&groups).map(group).collect(),
            nodes,
            known: FxHashMap::default(),
            open: None,
        }
    }
}
