//! Asks the axioms about executions.
//!
//! For a [`Structure`] what does not depend on communication is evaluated once, and what is then known to be empty
//! whatever the communication is (what fences order, if there are none) is left out, with all that only it needs. The
//! rest is evaluated for each [`Communication`], axiom by axiom until one is violated. All bits are in one piece of
//! memory, a node behind those that it is made of.
//!
//! `let rec` is the least solution: all names start empty and are evaluated in turn, each with what the others are by
//! then, until a round changes nothing. As definitions only grow (the text was refused otherwise), this ends after at
//! most as many rounds as there are pairs, times names.

use super::axioms::{Axioms, Refusal};
use super::execution::{Communication, Structure};
use super::graph::{Axiom, Graph, Id, Op, Step, Type};
use super::matrix::{self, Shape};
use super::names::{Base, SETS};
use super::relation::EventSet;
use super::syntax::{Demand, Postfix};

/// The axioms of a model for one structure.
#[derive(Clone, Debug)]
pub struct Prepared<'m> {
    axioms: &'m Axioms,
    bits: Bits,
    /// What is checked, the monotone axioms first, then the others, then flags: each with what is evaluated for it.
    plans: Vec<(usize, Vec<Step>)>,
    /// How many of them are monotone axioms, and how many are axioms.
    monotone: usize,
    checked: usize,
}

/// The bits of all nodes.
#[derive(Clone, Debug)]
struct Bits {
    shape: Shape,
    words: Vec<u64>,
    /// Where those of each node start, and those of the next.
    starts: Vec<usize>,
}

impl<'m> Prepared<'m> {
    /// Prepares the axioms for a structure. With `coherent`, communication is known to respect SC-per-location, and an
    /// axiom that says just that is not checked.
    ///
    /// # Errors
    /// If the text does not say what an instruction of the structure does.
    pub fn new(axioms: &'m Axioms, structure: &Structure, coherent: bool) -> Result<Prepared<'m>, Refusal> {
        axioms.refuse(structure)?;
        let graph = axioms.graph();
        let shape = Shape::new(structure.size());
        let mut starts = vec![0];
        for node in &graph.nodes {
            let length = if node.ty == Type::Set { shape.words } else { shape.words * shape.size };
            starts.push(starts.last().copied().unwrap_or(0) + length);
        }
        let words = vec![0; starts.last().copied().unwrap_or(0)];
        let mut bits = Bits { shape, words, starts };
        for step in &graph.steps {
            match step {
                Step::Node(id) if !graph.node(*id).is_dynamic => bits.fixed(graph, *id, structure),
                Step::Fixpoint(group) if !graph.groups[*group].is_dynamic => bits.fixpoint(graph, *group),
                _ => {}
            }
        }
        let is_empty = bits.known_empty(graph);
        let mut prepared = Prepared { axioms, bits, plans: Vec::new(), monotone: 0, checked: 0 };
        let mut is_planned: Vec<bool> = graph.nodes.iter().map(|node| !node.is_dynamic).collect();
        let mut groups = vec![false; graph.groups.len()];
        let rank = |axiom: &Axiom| u8::from(!axiom.is_monotone) + 2 * u8::from(axiom.is_flag);
        for wanted in 0..4 {
            for (number, axiom) in axioms.axioms().iter().enumerate().filter(|(_, axiom)| rank(axiom) == wanted) {
                let says_nothing = is_empty[axiom.operand.index()] && axiom.is_negated == axiom.is_flag;
                if says_nothing || coherent && axiom.is_sc_per_location {
                    continue;
                }
                let steps = plan(graph, axiom.operand, &is_empty, &mut is_planned, &mut groups);
                prepared.plans.push((number, steps));
                prepared.monotone += usize::from(wanted == 0);
                prepared.checked += usize::from(wanted < 2);
            }
        }
        Ok(prepared)
    }

    /// Whether an axiom is violated however the communication goes on.
    pub fn is_forbidden_already(&mut self, communication: &Communication) -> bool {
        self.load(communication);
        (0..self.monotone).any(|plan| self.is_violated(plan))
    }

    /// Whether all axioms hold for this communication.
    pub fn allows(&mut self, communication: &Communication) -> bool {
        self.load(communication);
        !(0..self.checked).any(|plan| self.is_violated(plan))
    }

    /// The names of the flags that are raised by the communication that was asked about last, and is allowed.
    pub fn flags(&mut self) -> Vec<&'m str> {
        let raised: Vec<usize> = (self.checked..self.plans.len()).filter(|plan| !self.is_violated(*plan)).collect();
        let axioms = self.axioms.axioms();
        raised.into_iter().map(|plan| axioms[self.plans[plan].0].name.as_deref().unwrap_or("flag")).collect()
    }

    fn load(&mut self, communication: &Communication) {
        let Communication { rf, co, fr } = communication;
        for (id, rows) in self.axioms.communication().into_iter().zip([rf, co, fr]) {
            if let Some(id) = id {
                self.bits.of_mut(id).copy_from_slice(rows.rows());
            }
        }
    }

    fn is_violated(&mut self, plan: usize) -> bool {
        let graph = self.axioms.graph();
        let (axiom, steps) = &self.plans[plan];
        for step in steps {
            match step {
                Step::Node(id) => self.bits.evaluate(graph, *id),
                Step::Fixpoint(group) => self.bits.fixpoint(graph, *group),
            }
        }
        let axiom = &self.axioms.axioms()[*axiom];
        let rows = self.bits.of(axiom.operand);
        let holds = match axiom.demand {
            Demand::Acyclic => matrix::is_acyclic(self.bits.shape, rows),
            Demand::Irreflexive => matrix::is_irreflexive(self.bits.shape, rows),
            Demand::Empty => rows.iter().all(|word| *word == 0),
        };
        holds == axiom.is_negated
    }
}

/// What must be evaluated for a node and is not planned yet.
fn plan(graph: &Graph, of: Id, is_empty: &[bool], is_planned: &mut [bool], groups: &mut [bool]) -> Vec<Step> {
    let mut nodes = vec![false; graph.nodes.len()];
    let mut wanted = vec![false; graph.groups.len()];
    let mut open = vec![of];
    while let Some(id) = open.pop() {
        if is_planned[id.index()] || is_empty[id.index()] {
            continue;
        }
        is_planned[id.index()] = true;
        nodes[id.index()] = true;
        let op = &graph.node(id).op;
        open.extend(op.operands());
        if let Op::Variable(group, _) = op
            && !groups[*group]
        {
            (groups[*group], wanted[*group]) = (true, true);
            for definition in &graph.groups[*group].definitions {
                open.extend([definition.variable, definition.value]);
            }
        }
    }
    let is_wanted = |step: &&Step| match step {
        Step::Node(id) => nodes[id.index()] && !matches!(graph.node(*id).op, Op::Base(_)),
        Step::Fixpoint(group) => wanted[*group],
    };
    graph.steps.iter().filter(is_wanted).copied().collect()
}

impl Bits {
    fn of(&self, id: Id) -> &[u64] {
        &self.words[self.starts[id.index()]..self.starts[id.index() + 1]]
    }

    fn of_mut(&mut self, id: Id) -> &mut [u64] {
        &mut self.words[self.starts[id.index()]..self.starts[id.index() + 1]]
    }

    /// Evaluates a node that does not depend on communication.
    fn fixed(&mut self, graph: &Graph, id: Id, structure: &Structure) {
        match &graph.node(id).op {
            Op::Universe => {
                let all = EventSet::new(self.shape.size, |_| true);
                self.of_mut(id).copy_from_slice(all.words());
            }
            Op::BaseSet(set) => {
                let events = EventSet::new(self.shape.size, |event| (SETS[*set].has)(&structure.events[event]));
                self.of_mut(id).copy_from_slice(events.words());
            }
            Op::Base(base) => {
                if let Some(relation) = base.of(structure) {
                    self.of_mut(id).copy_from_slice(relation.rows());
                }
            }
            _ => self.evaluate(graph, id),
        }
    }

    /// Evaluates a node that is made of others.
    fn evaluate(&mut self, graph: &Graph, id: Id) {
        let shape = self.shape;
        // What a node is made of stands before it.
        let (before, rest) = self.words.split_at_mut(self.starts[id.index()]);
        let result = &mut rest[..self.starts[id.index() + 1] - self.starts[id.index()]];
        let of = |id: &Id| &before[self.starts[id.index()]..self.starts[id.index() + 1]];
        match &graph.node(id).op {
            Op::Universe | Op::Empty(_) | Op::BaseSet(_) | Op::Base(_) | Op::Variable(..) => {}
            Op::Union(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    if number == 0 {
                        result.copy_from_slice(of(part));
                    } else {
                        result.iter_mut().zip(of(part)).for_each(|(to, from)| *to |= from);
                    }
                }
            }
            Op::Intersection(a, b) => {
                result.iter_mut().zip(of(a).iter().zip(of(b))).for_each(|(to, (a, b))| *to = a & b);
            }
            Op::Difference(a, b) => {
                result.iter_mut().zip(of(a).iter().zip(of(b))).for_each(|(to, (a, b))| *to = a & !b);
            }
            Op::Complement(a) => matrix::complement(shape, result, of(a)),
            Op::Sequence(a, b) => matrix::sequence(shape, result, of(a), of(b)),
            Op::StartingIn(set, a) => matrix::starting_in(shape, result, of(set), of(a)),
            Op::EndingIn(a, set) => matrix::ending_in(shape, result, of(a), of(set)),
            Op::Postfix(Postfix::Inverse, a) => matrix::invert(shape, result, of(a)),
            Op::Postfix(operator, a) => {
                result.copy_from_slice(of(a));
                if *operator != Postfix::Optional {
                    matrix::close(shape, result);
                }
                if *operator != Postfix::Plus {
                    matrix::reflect(shape, result);
                }
            }
            Op::Identity(set) => matrix::identity_on(shape, result, of(set)),
            Op::Product(a, b) => matrix::product(shape, result, of(a), of(b)),
            Op::Domain(a) => matrix::domain(shape, result, of(a)),
            Op::Range(a) => matrix::range(shape, result, of(a)),
        }
    }

    /// Evaluates what a `let rec` defines.
    fn fixpoint(&mut self, graph: &Graph, group: usize) {
        let definitions = &graph.groups[group].definitions;
        definitions.iter().for_each(|definition| self.of_mut(definition.variable).fill(0));
        loop {
            let mut changed = false;
            for definition in definitions {
                definition.nodes.iter().for_each(|node| self.evaluate(graph, *node));
                let (variable, value) = (definition.variable.index(), definition.value.index());
                let range = self.starts[value]..self.starts[value + 1];
                if self.of(definition.variable) != self.of(definition.value) {
                    changed = true;
                    self.words.copy_within(range, self.starts[variable]);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// For each node, whether it is empty whatever the communication is; of those that do not depend on communication,
    /// whether it is empty.
    fn known_empty(&self, graph: &Graph) -> Vec<bool> {
        let mut is_empty: Vec<bool> = vec![false; graph.nodes.len()];
        for (id, node) in graph.nodes.iter().enumerate().filter(|(_, node)| !node.is_dynamic) {
            is_empty[id] = !matches!(node.op, Op::Variable(..))
                && self.words[self.starts[id]..self.starts[id + 1]].iter().all(|word| *word == 0);
        }
        for step in &graph.steps {
            match step {
                Step::Node(id) if graph.node(*id).is_dynamic => {
                    is_empty[id.index()] = stays_empty(graph, *id, &is_empty);
                }
                Step::Fixpoint(group) if graph.groups[*group].is_dynamic => {
                    let definitions = &graph.groups[*group].definitions;
                    definitions.iter().for_each(|known| is_empty[known.variable.index()] = true);
                    loop {
                        let mut changed = false;
                        for definition in definitions {
                            for id in &definition.nodes {
                                is_empty[id.index()] = stays_empty(graph, *id, &is_empty);
                            }
                            let (variable, value) = (definition.variable.index(), definition.value.index());
                            changed |= is_empty[variable] != is_empty[value];
                            is_empty[variable] = is_empty[value];
                        }
                        if !changed {
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
        is_empty
    }
}

/// Whether a node is empty because of what it is made of.
fn stays_empty(graph: &Graph, id: Id, is_empty: &[bool]) -> bool {
    let of = |id: &Id| is_empty[id.index()];
    match &graph.node(id).op {
        Op::Empty(_) => true,
        Op::Universe | Op::BaseSet(_) | Op::Base(_) | Op::Complement(_) => false,
        Op::Variable(..) => of(&id),
        Op::Union(parts) => parts.iter().all(of),
        Op::Intersection(a, b) | Op::Sequence(a, b) | Op::StartingIn(a, b) | Op::EndingIn(a, b) | Op::Product(a, b) => {
            of(a) || of(b)
        }
        Op::Postfix(Postfix::Plus | Postfix::Inverse, a)
        | Op::Difference(a, _)
        | Op::Identity(a)
        | Op::Domain(a)
        | Op::Range(a) => of(a),
        Op::Postfix(Postfix::Star | Postfix::Optional, _) => false,
    }
}

/// The nodes of `rf`, `co` and `fr`, where the graph has them.
#[must_use]
pub fn communication(graph: &Graph) -> [Option<Id>; 3] {
    [Base::Rf, Base::Co, Base::Fr].map(|base| {
        graph.steps.iter().find_map(|step| match step {
            Step::Node(id) if graph.node(*id).op == Op::Base(base) => Some(*id),
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests;
