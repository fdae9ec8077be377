//! From statements to a graph: names are looked up, types are checked, functions are applied.
//!
//! A name means what was defined last before its use, as in herd; in a function, before the function's definition.
//! Names that the prelude defines may also name a base set (`sync` is a set of fences, and what they stand between):
//! then the one is meant that fits. Functions are applied where they are used, so they need no types of their own.
//! The number of expressions that are looked at is bounded by [`MOST_STEPS`], and their nesting by [`MOST_NESTED`].

use super::error::{CatError, Place};
use super::graph::{Axiom, Graph, Id, Op, Type};
use super::names::{ATOMIC_OF_C11, Base, SETS, base_set};
use super::syntax::{Binding, Check, Demand, Expression, ExpressionKind, Statement};
use std::sync::Arc;

/// How many expressions are looked at.
const MOST_STEPS: usize = 200_000;
/// How deep, also through functions.
const MOST_NESTED: usize = 200;

/// What a name stands for.
#[derive(Clone)]
enum Value {
    Set(Id),
    Relation(Id),
    /// The first where a set is wanted, else the second.
    Either(Id, Id),
    /// `0`, of either type.
    Empty,
    Function(Arc<Function>),
}

struct Function {
    name: String,
    parameters: Vec<String>,
    body: Expression,
    /// How many names were known where it was defined.
    known: usize,
}

/// The names that can be used.
struct Scope<'a> {
    arguments: &'a [(String, Value)],
    known: usize,
}

/// Makes a graph.
#[derive(Default)]
pub struct Compiler {
    graph: Graph,
    names: Vec<(String, Value)>,
    /// How many of the names the prelude defines.
    prelude: usize,
    is_of_c11: bool,
    axioms: Vec<Axiom>,
    steps: usize,
    depth: usize,
}

impl Compiler {
    /// For a text of C11, or of another language.
    #[must_use]
    pub fn new(is_of_c11: bool) -> Compiler {
        Compiler { is_of_c11, ..Compiler::default() }
    }

    /// What was defined so far is the prelude.
    pub fn end_prelude(&mut self) {
        self.prelude = self.names.len();
    }

    /// The graph and the axioms, without all that is not needed.
    #[must_use]
    pub fn finish(mut self) -> (Graph, Vec<Axiom>) {
        let graph = self.graph.needed(&mut self.axioms);
        (graph, self.axioms)
    }

    /// Takes a statement; includes have been put in place before.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn statement(&mut self, statement: &Statement) -> Result<(), CatError> {
        match statement {
            Statement::Include { .. } => Ok(()),
            Statement::Check(check) => self.check(check),
            Statement::Let { recursive: true, bindings } => self.recursive(bindings),
            Statement::Let { recursive: false, bindings } => {
                let known = self.names.len();
                for Binding { name, parameters, body, .. } in bindings {
                    let value = match parameters {
                        Some(parameters) => Value::Function(Arc::new(Function {
                            name: name.clone(),
                            parameters: parameters.clone(),
                            body: body.clone(),
                            known,
                        })),
                        None => self.value(body, &Scope { arguments: &[], known })?,
                    };
                    self.names.push((name.clone(), value));
                }
                Ok(())
            }
        }
    }

    fn recursive(&mut self, bindings: &[Binding]) -> Result<(), CatError> {
        if let Some(function) = bindings.iter().find(|binding| binding.parameters.is_some()) {
            let message = format!("`{}` is a function and cannot be recursive", function.name);
            return Err(CatError::new(&function.place, message).with_help("define it with `let`, without `rec`"));
        }
        let variables = self.graph.open_group(bindings.len());
        self.names.extend(bindings.iter().zip(&variables).map(|(b, id)| (b.name.clone(), Value::Relation(*id))));
        let known = self.names.len();
        for (binding, variable) in bindings.iter().zip(variables) {
            let value = self.relation(&binding.body, &Scope { arguments: &[], known })?;
            if !self.graph.define(variable, value) {
                let message =
                    format!("`{}` shrinks when what is defined here grows: it has no least solution", binding.name);
                let help = "a name of a `let rec` must not stand behind `\\` or `~` in its definitions";
                return Err(CatError::new(&binding.body.place, message).with_help(help));
            }
        }
        self.graph.close_group();
        Ok(())
    }

    fn check(&mut self, check: &Check) -> Result<(), CatError> {
        let scope = Scope { arguments: &[], known: self.names.len() };
        let operand = match (check.demand, self.value(&check.operand, &scope)?) {
            (Demand::Empty, Value::Set(set)) => set,
            (_, value) => self.as_relation(value, &check.operand.place)?,
        };
        let polarity = self.graph.node(operand).polarity;
        let parts = self.graph.parts(operand);
        let ops: Vec<&Op> = parts.iter().map(|part| &self.graph.node(*part).op).collect();
        let is_po_loc = |op: &&Op| match op {
            Op::Intersection(a, b) => {
                let both = [&self.graph.node(*a).op, &self.graph.node(*b).op];
                both.contains(&&Op::Base(Base::Po)) && both.contains(&&Op::Base(Base::Loc))
            }
            _ => false,
        };
        let is_po = |op: &&Op| match op {
            // [M]; po; [M]
            Op::EndingIn(a, _) => match &self.graph.node(*a).op {
                Op::StartingIn(_, po) => self.is_accesses(op) && self.graph.node(*po).op == Op::Base(Base::Po),
                _ => false,
            },
            op => **op == Op::Base(Base::Po),
        };
        let is_acyclic = check.demand == Demand::Acyclic && !check.is_negated && !check.is_flag;
        let communicates = [Base::Rf, Base::Co, Base::Fr].iter().all(|base| ops.contains(&&Op::Base(*base)));
        let has_po_loc = ops.iter().any(is_po_loc);
        let axiom = Axiom {
            name: check.name.clone(),
            demand: check.demand,
            is_negated: check.is_negated,
            operand,
            is_flag: check.is_flag,
            is_monotone: if check.is_negated { !polarity.grows } else { !polarity.shrinks },
            is_sc_per_location: is_acyclic && communicates && has_po_loc && ops.len() == 4,
            says_sc_per_location: is_acyclic && communicates && (has_po_loc || ops.iter().any(is_po)),
        };
        self.axioms.push(axiom);
        Ok(())
    }

    /// Whether it is `[M]; r; [M]`.
    fn is_accesses(&self, op: &Op) -> bool {
        let is_access = |set: Id| matches!(&self.graph.node(set).op, Op::BaseSet(set) if SETS[*set].names == ["M"]);
        match op {
            Op::EndingIn(a, to) => {
                matches!(&self.graph.node(*a).op, Op::StartingIn(from, _) if is_access(*from) && is_access(*to))
            }
            _ => false,
        }
    }

    fn as_relation(&mut self, value: Value, place: &Place) -> Result<Id, CatError> {
        match value {
            Value::Relation(id) | Value::Either(_, id) => Ok(id),
            Value::Empty => Ok(self.graph.add(Op::Empty(Type::Relation))),
            Value::Set(_) => Err(CatError::new(place, "this is a set, and a relation is expected")
                .with_help("`[S]` is the identity on a set, `S*T` are all pairs of two sets")),
            Value::Function(function) => Err(not_applied(&function, place)),
        }
    }

    fn as_set(&mut self, value: Value, place: &Place) -> Result<Id, CatError> {
        match value {
            Value::Set(id) | Value::Either(id, _) => Ok(id),
            Value::Empty => Ok(self.graph.add(Op::Empty(Type::Set))),
            Value::Relation(_) => Err(CatError::new(place, "this is a relation, and a set is expected")
                .with_help("`domain(r)` and `range(r)` are sets")),
            Value::Function(function) => Err(not_applied(&function, place)),
        }
    }

    fn relation(&mut self, expression: &Expression, scope: &Scope<'_>) -> Result<Id, CatError> {
        let value = self.value(expression, scope)?;
        self.as_relation(value, &expression.place)
    }

    fn set(&mut self, expression: &Expression, scope: &Scope<'_>) -> Result<Id, CatError> {
        let value = self.value(expression, scope)?;
        self.as_set(value, &expression.place)
    }

    /// Several operands of one type; none if all are empty.
    fn alike(&mut self, parts: &[&Expression], scope: &Scope<'_>) -> Result<Option<(Type, Vec<Id>)>, CatError> {
        let mut values = Vec::with_capacity(parts.len());
        for part in parts {
            values.push(self.value(part, scope)?);
        }
        let is_set = values.iter().any(|value| matches!(value, Value::Set(_)));
        if values.iter().all(|value| matches!(value, Value::Empty)) {
            return Ok(None);
        }
        let mut ids = Vec::with_capacity(parts.len());
        for (value, part) in values.into_iter().zip(parts) {
            let id = if is_set { self.as_set(value, &part.place) } else { self.as_relation(value, &part.place) };
            ids.push(id?);
        }
        Ok(Some((if is_set { Type::Set } else { Type::Relation }, ids)))
    }

    fn value(&mut self, expression: &Expression, scope: &Scope<'_>) -> Result<Value, CatError> {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.depth > MOST_NESTED {
            let message = "with its functions applied this text is too large, or nested too deeply";
            return Err(CatError::new(&expression.place, message).with_help("let functions call fewer functions"));
        }
        self.depth += 1;
        let value = self.value_of_kind(expression, scope);
        self.depth -= 1;
        value
    }

    fn value_of_kind(&mut self, expression: &Expression, scope: &Scope<'_>) -> Result<Value, CatError> {
        let typed = |(ty, id): (Type, Id)| if ty == Type::Set { Value::Set(id) } else { Value::Relation(id) };
        match &expression.kind {
            ExpressionKind::Empty => Ok(Value::Empty),
            ExpressionKind::Universe => Ok(Value::Set(self.graph.add(Op::Universe))),
            ExpressionKind::Name(name) => self.look_up(name, &expression.place, scope),
            ExpressionKind::Union(parts) => {
                let parts = self.alike(&parts.iter().collect::<Vec<_>>(), scope)?;
                Ok(parts.map_or(Value::Empty, |(ty, ids)| typed((ty, self.graph.union(ids)))))
            }
            ExpressionKind::Intersection(parts) => {
                let parts = self.alike(&parts.iter().collect::<Vec<_>>(), scope)?;
                Ok(parts.map_or(Value::Empty, |(ty, ids)| typed((ty, self.folded(ids, Graph::intersection)))))
            }
            ExpressionKind::Difference(a, b) => {
                let parts = self.alike(&[&**a, &**b], scope)?;
                let difference = |graph: &mut Graph, a: Id, b: Id| graph.add(Op::Difference(a, b));
                Ok(parts.map_or(Value::Empty, |(ty, ids)| typed((ty, self.folded(ids, difference)))))
            }
            ExpressionKind::Sequence(parts) => {
                let mut ids = Vec::with_capacity(parts.len());
                for part in parts {
                    ids.push(self.relation(part, scope)?);
                }
                Ok(Value::Relation(self.folded(ids, Graph::sequence)))
            }
            ExpressionKind::Product(a, b) => {
                let (a, b) = (self.set(a, scope)?, self.set(b, scope)?);
                Ok(Value::Relation(self.graph.add(Op::Product(a, b))))
            }
            ExpressionKind::Complement(a) => {
                let value = match self.value(a, scope)? {
                    Value::Set(id) => (Type::Set, id),
                    value => (Type::Relation, self.as_relation(value, &a.place)?),
                };
                Ok(typed((value.0, self.graph.add(Op::Complement(value.1)))))
            }
            ExpressionKind::Identity(a) => {
                let set = self.set(a, scope)?;
                Ok(Value::Relation(self.graph.add(Op::Identity(set))))
            }
            ExpressionKind::Postfix(operator, a) => {
                let relation = self.relation(a, scope)?;
                Ok(Value::Relation(self.graph.add(Op::Postfix(*operator, relation))))
            }
            ExpressionKind::Application(name, arguments) => self.apply(name, arguments, &expression.place, scope),
        }
    }

    /// From the left; a restriction of what comes behind it first, as that costs least.
    fn folded(&mut self, ids: Vec<Id>, operation: impl Fn(&mut Graph, Id, Id) -> Id) -> Id {
        let mut ids = ids.into_iter();
        match ids.next() {
            Some(first) => ids.fold(first, |left, right| operation(&mut self.graph, left, right)),
            None => self.graph.add(Op::Empty(Type::Relation)),
        }
    }

    fn apply(
        &mut self,
        name: &str,
        arguments: &[Expression],
        place: &Place,
        scope: &Scope<'_>,
    ) -> Result<Value, CatError> {
        if let ("domain" | "range", [argument]) = (name, arguments) {
            let relation = self.relation(argument, scope)?;
            let op = if name == "domain" { Op::Domain(relation) } else { Op::Range(relation) };
            return Ok(Value::Set(self.graph.add(op)));
        }
        if let "domain" | "range" = name {
            return Err(CatError::new(place, format!("`{name}` takes one relation")));
        }
        let Value::Function(function) = self.look_up(name, place, scope)? else {
            let help = "an operator between two operands is missing, or the name of a function is wrong";
            return Err(CatError::new(place, format!("`{name}` is no function")).with_help(help));
        };
        if function.parameters.len() != arguments.len() {
            let (has, gets) = (function.parameters.len(), arguments.len());
            let message = format!("`{name}` takes {has} arguments, here are {gets}");
            let help = format!("it is defined with ({})", function.parameters.join(", "));
            return Err(CatError::new(place, message).with_help(help));
        }
        let mut values = Vec::with_capacity(arguments.len());
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            values.push((parameter.clone(), self.value(argument, scope)?));
        }
        self.value(&function.body, &Scope { arguments: &values, known: function.known })
    }

    fn look_up(&mut self, name: &str, place: &Place, scope: &Scope<'_>) -> Result<Value, CatError> {
        if let Some((_, value)) = scope.arguments.iter().find(|(known, _)| known == name) {
            return Ok(value.clone());
        }
        let known = self.names[..scope.known].iter().rposition(|(known, _)| known == name);
        let wanted = if name == "A" && self.is_of_c11 { ATOMIC_OF_C11 } else { name };
        let set = base_set(wanted);
        if let Some(position) = known {
            let value = self.names[position].1.clone();
            return Ok(match (value, set) {
                (Value::Relation(id), Some(set)) if position < self.prelude => {
                    Value::Either(self.graph.add(Op::BaseSet(set)), id)
                }
                (value, _) => value,
            });
        }
        if let Some((_, base)) = Base::ALL.iter().find(|(known, _)| *known == name) {
            return Ok(Value::Relation(self.graph.add(Op::Base(*base))));
        }
        if let Some(set) = set {
            return Ok(Value::Set(self.graph.add(Op::BaseSet(set))));
        }
        let error = CatError::new(place, format!("there is no set or relation `{name}`"));
        let near = self.near(name, scope);
        Err(error.with_help(if near.is_empty() {
            "define it with `let` before it is used, or include the file that does".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        }))
    }

    /// Names that differ little.
    fn near(&self, name: &str, scope: &Scope<'_>) -> Vec<String> {
        let known = self.names[..scope.known].iter().map(|(known, _)| known.as_str());
        let bases = Base::ALL.iter().map(|(known, _)| *known);
        let sets = SETS.iter().flat_map(|set| set.names).copied().filter(|known| *known != ATOMIC_OF_C11);
        let arguments = scope.arguments.iter().map(|(known, _)| known.as_str());
        let all = known.chain(bases).chain(sets).chain(arguments);
        let mut near: Vec<(usize, &str)> = all.map(|known| (distance(name, known), known)).collect();
        near.retain(|(distance, known)| *distance <= 1 + known.len().min(name.len()) / 4);
        near.sort_unstable();
        near.dedup();
        near.into_iter().take(3).map(|(_, known)| format!("`{known}`")).collect()
    }
}

fn not_applied(function: &Function, place: &Place) -> CatError {
    CatError::new(place, format!("`{}` is a function", function.name)).with_help(format!(
        "apply it: {}({})",
        function.name,
        function.parameters.join(", ")
    ))
}

/// How many letters must be changed, put in or taken out; upper and lower case are alike.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let cost = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}
