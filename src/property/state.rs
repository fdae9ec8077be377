//! Conditions on single states: what can be observed of a state, and expressions over it.
//!
//! A condition sees more than a thread does: the shared variables, every thread's own variables, and where every
//! thread is. All of these are [`Observables`], a flat list, so that a condition is an ordinary [`Expression`] whose
//! references count in that list, and its compiled form the ordinary [`Code`]: variables have the slots that they
//! have in the program, and behind those stands a slot for each thread's control state. Evaluating allocates nothing.
//! The expression itself is kept, too, for searches that ask what a state must look like before they have one.

use crate::ids::{ControlAt, Slot, ThreadAt};
use crate::program::arithmetic::{apply, apply_unary};
use crate::program::compiled::{Code, Fault, FaultKind, Slots, Trace, Values};
use crate::program::{BinaryOperator, Expression, Program, Reference, Scope, Span, Type, UnaryOperator, Variable};
use std::fmt;

/// All that can be observed of a program's states.
#[derive(Clone, Debug)]
pub struct Observables {
    /// Their names and types: shared variables, `thread.variable`, and, as Booleans, `thread@state`. Where the
    /// program has several objects, the object comes first: `object.variable`, `object.thread@state`.
    pub variables: Vec<Variable>,
    /// Thread and control state of those at the end of the list.
    places: Vec<(ThreadAt, ControlAt)>,
    num_of_slots: usize,
}

impl Observables {
    /// What can be observed of this program.
    #[must_use]
    pub fn of(program: &Program) -> Observables {
        // The object's mark is an apostrophe, which shells take for a quotation.
        let dotted = |name: &str| name.replace('\'', ".");
        let mut variables: Vec<Variable> = program.shared.clone();
        for thread in &program.threads {
            let of_thread = |variable: &Variable| Variable {
                name: format!("{}.{}", thread.name, variable.name),
                ..variable.clone()
            };
            variables.extend(thread.locals.iter().map(of_thread));
        }
        let num_of_slots = variables.iter().map(|variable| variable.initial.len()).sum();
        let mut places = Vec::new();
        for (position, thread) in program.threads_at() {
            for (state, name) in ControlAt::all(thread.states.len()).zip(&thread.states) {
                places.push((position, state));
                variables.push(Variable {
                    name: format!("{}@{name}", thread.name),
                    ty: Type::Boolean,
                    modulus: None,
                    is_array: false,
                    initial: vec![i64::from(state == thread.initial)],
                    span: Span::default(),
                });
            }
        }
        for variable in &mut variables {
            variable.name = dotted(&variable.name);
        }
        Observables { variables, places, num_of_slots }
    }

    /// That a thread is in a control state, as an expression over them; none if it has no such state.
    #[must_use]
    pub fn place(&self, thread: ThreadAt, state: ControlAt) -> Option<Expression> {
        let position = self.places.iter().position(|place| *place == (thread, state))?;
        let variable = self.variables.len() - self.places.len() + position;
        let reference = Reference { scope: Scope::Shared, variable, index: None, span: Span::default() };
        Some(Expression::Read(reference))
    }
}

/// A condition on states.
#[derive(Clone, Debug)]
pub struct StateCondition {
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// As it was written; of an assertion, the statement and where it stands.
    pub text: String,
    /// Whether it says that an assertion has failed.
    pub is_assertion: bool,
    /// Over the [observables](Observables) of the program, which all count as shared.
    pub expression: Expression,
    /// Apart, since properties are handed round as errors are.
    code: Box<Code>,
    /// Of which it is that one of them holds; none if it is not made of others.
    parts: Vec<StateCondition>,
}

impl StateCondition {
    /// Compiles a Boolean expression over the observables.
    #[must_use]
    pub fn new(text: &str, observables: &Observables, expression: Expression) -> StateCondition {
        let flat = Program { name: String::new(), shared: observables.variables.clone(), threads: Vec::new() };
        let mut code = Slots::of(&flat).code(ThreadAt(0), &expression);
        observe_places(&mut code, observables);
        let (name, text, code) = (None, text.to_owned(), Box::new(code));
        StateCondition { name, text, is_assertion: false, expression, code, parts: Vec::new() }
    }

    /// The same, with a name.
    #[must_use]
    pub fn named(self, name: &str) -> StateCondition {
        StateCondition { name: Some(name.to_owned()), ..self }
    }

    /// The condition that an assertion has failed: its thread is in a control state which is there for that alone.
    /// `text` is the statement and where it stands.
    #[must_use]
    pub fn failed_assertion(text: &str, observables: &Observables, place: Expression) -> StateCondition {
        StateCondition { is_assertion: true, ..StateCondition::new(text, observables, place) }
    }

    /// The condition that one of these holds; none if there are none.
    #[must_use]
    pub fn any_of(parts: Vec<StateCondition>) -> Option<StateCondition> {
        let or = |one: Expression, other: Expression| {
            Expression::Binary(BinaryOperator::Or, Box::new(one), Box::new(other), Span::default())
        };
        let code_or =
            |one: Box<Code>, other: Box<Code>| Box::new(Code::Binary(BinaryOperator::Or, one, other, Span::default()));
        if parts.len() < 2 {
            return parts.into_iter().next();
        }
        let texts: Vec<String> = parts.iter().map(|part| format!("({})", part.text)).collect();
        Some(StateCondition {
            name: None,
            text: texts.join(" or "),
            is_assertion: false,
            expression: parts.iter().map(|part| part.expression.clone()).reduce(or)?,
            code: parts.iter().map(|part| part.code.clone()).reduce(code_or)?,
            parts,
        })
    }

    /// The conditions that it is made of; itself if it is made of none.
    #[must_use]
    pub fn parts(&self) -> &[StateCondition] {
        if self.parts.is_empty() { std::slice::from_ref(self) } else { &self.parts }
    }

    /// Of those that it is made of the first that holds in a state, if one does.
    ///
    /// # Errors
    /// If the evaluation goes wrong, or looks outside of an array.
    pub fn which_holds(&self, observed: &Values) -> Result<Option<&StateCondition>, ConditionFault> {
        for (number, part) in self.parts().iter().enumerate() {
            let mut trace = Trace::default();
            let holds = part.holds(observed, &mut trace).map_err(|fault| ConditionFault { part: number, fault })?;
            if trace.out_of_range > 0 {
                let fault = Fault { kind: FaultKind::IndexOutOfRange, span: Span::default() };
                return Err(ConditionFault { part: number, fault });
            }
            if holds {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    /// The condition that holds where this one does not; it is called the same.
    #[must_use]
    pub fn negated(&self) -> StateCondition {
        StateCondition {
            expression: Expression::Unary(UnaryOperator::Not, Box::new(self.expression.clone())),
            code: Box::new(Code::Unary(UnaryOperator::Not, self.code.clone())),
            ..self.clone()
        }
    }

    /// Whether it holds in a state: the values of all slots, and behind them the control state of each thread.
    ///
    /// # Errors
    /// If its evaluation goes wrong.
    #[inline]
    pub fn holds(&self, observed: &Values, trace: &mut Trace) -> Result<bool, Fault> {
        Ok(self.code.evaluate(observed, trace)? != 0)
    }

    /// Whether it may hold in a state of which only some slots are known: false only if it holds in none of these, and
    /// nothing goes wrong in its evaluation.
    pub fn may_hold(&self, known: &impl Fn(Slot) -> Option<i64>) -> bool {
        possible(&self.code, known) != Some(0)
    }

    /// The slots that it reads: values in the order of the program, and behind them the threads' control states.
    pub fn for_each_slot(&self, visit: &mut impl FnMut(Slot)) {
        self.code.for_each_slot(visit);
    }

    /// The control states that it asks for: the slot of the thread, and the number of the state.
    pub fn for_each_place(&self, visit: &mut impl FnMut(Slot, i64)) {
        self.code.for_each_comparison(visit);
    }
}

/// The value of an expression if it is the same whatever the slots are that are not known, and nothing can go wrong.
fn possible(code: &Code, known: &impl Fn(Slot) -> Option<i64>) -> Option<i64> {
    match code {
        Code::Constant(value) => Some(*value),
        Code::Slot(slot) => known(*slot),
        Code::Element(..) => None,
        Code::Unary(operator, operand) => apply_unary(*operator, possible(operand, known)?).ok(),
        Code::Binary(operator, left, right, _) => {
            let is_certain = |side: &Code| possible(side, known);
            match (operator, is_certain(left), is_certain(right)) {
                (BinaryOperator::And, Some(0), _) if is_total(right) => Some(0),
                (BinaryOperator::And, _, Some(0)) if is_total(left) => Some(0),
                (BinaryOperator::Or, Some(1), _) if is_total(right) => Some(1),
                (BinaryOperator::Or, _, Some(1)) if is_total(left) => Some(1),
                (_, left, right) => apply(*operator, left?, right?).ok(),
            }
        }
    }
}

/// Whether nothing can go wrong in the evaluation of an expression, by its operators alone.
fn is_total(code: &Code) -> bool {
    use BinaryOperator::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or, Xor};
    match code {
        Code::Constant(_) | Code::Slot(_) => true,
        Code::Element(..) => false,
        Code::Unary(operator, operand) => *operator != UnaryOperator::Minus && is_total(operand),
        Code::Binary(operator, left, right, _) => {
            matches!(operator, And | Or | Xor | Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
                && is_total(left)
                && is_total(right)
        }
    }
}

/// A condition cannot be evaluated in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConditionFault {
    /// Which of those that it is made of.
    pub part: usize,
    /// What goes wrong.
    pub fault: Fault,
}

/// Two conditions on the states of one program are the same if they say the same.
impl PartialEq for StateCondition {
    fn eq(&self, other: &StateCondition) -> bool {
        (&self.name, &self.text, self.is_assertion) == (&other.name, &other.text, other.is_assertion)
            && self.expression == other.expression
    }
}

impl Eq for StateCondition {}

/// As the property that no state satisfies it.
impl fmt::Display for StateCondition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            _ if !self.parts.is_empty() => {
                let parts: Vec<String> = self.parts.iter().map(StateCondition::to_string).collect();
                out.write_str(&parts.join("; "))
            }
            _ if self.is_assertion => out.write_str(&self.text),
            Some(name) => write!(out, "never {name}: {}", self.text),
            None => write!(out, "never {}", self.text),
        }
    }
}

/// Turns a read of `thread@state` into a comparison with the thread's control state.
fn observe_places(code: &mut Code, observables: &Observables) {
    match code {
        Code::Constant(_) => {}
        Code::Slot(slot) => {
            if let Some(place) = slot.index().checked_sub(observables.num_of_slots) {
                let (thread, state) = observables.places[place];
                let control = Box::new(Code::Slot(Slot::new(observables.num_of_slots + thread.index())));
                let state = Box::new(Code::Constant(i64::from(state.0)));
                *code = Code::Binary(BinaryOperator::Equal, control, state, Span::default());
            }
        }
        Code::Element(_, _, index) => observe_places(index, observables),
        Code::Unary(_, operand) => observe_places(operand, observables),
        Code::Binary(_, left, right, _) => {
            observe_places(left, observables);
            observe_places(right, observables);
        }
    }
}
