//! What a step may do where some values are not known: every way in which it can go, one after the other.
//!
//! A location that the environment may change has one of several values whenever a step looks at it; within a step,
//! which is atomic, it keeps that value. A value that is none of those that are told apart is *any* value (`None`):
//! then a condition may hold or not, and an index may be each in range or out of it. All these are *choices*. A way
//! is the list of choices that were made; the next way has the last choice made differently that can be.
//!
//! Where everything is known this is the evaluator of [`compiled`](crate::program::compiled), with the same results.
//! What would go wrong has any value: with unknown values around nobody can say that it really happens.

use super::scene::{Place, Scene};
use crate::ids::{LocationAt, Slot};
use crate::program::BinaryOperator;
use crate::program::arithmetic::{apply, apply_unary};
use crate::program::compiled::{Code, Step, Target};
use crate::program::labels::Decision;

/// A value, or any.
pub type Value = Option<i64>;

/// The most ways of a step that are looked at.
const MOST_WAYS: usize = 4096;

/// There are more ways than anybody wants to look at.
#[derive(Debug)]
pub(super) struct TooManyWays;

/// Whose steps may change how a step goes, while its thread stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Depends {
    /// Nobody's: it looked at no shared location.
    Nobody,
    /// Those of the other threads that are followed, if these write what it looked at.
    Group,
    /// Those of the environment, too.
    Environment,
}

/// What a step has seen or written of a shared location, and a thread keeps in mind if it runs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Look {
    pub slot: Slot,
    /// The value; that of a location which is held is in the state.
    pub value: Value,
    /// It has written it.
    pub is_own: bool,
}

/// One way in which a step may go.
pub(super) struct Way {
    pub verdict: Decision,
    /// The digits of its computed indices.
    pub key: u64,
    /// Whose steps may change how it goes.
    pub depends: Depends,
    /// The values that are held, afterwards.
    pub after: Box<[Value]>,
    /// What it wrote that is shared.
    pub written: Vec<(LocationAt, Value)>,
    /// It wrote something, shared or not.
    pub has_written: bool,
    /// What is in mind afterwards.
    pub mind: Vec<Look>,
    /// The locations that it read, but for those that it had written.
    pub read: Vec<LocationAt>,
}

/// Calls `visit` for every way in which a step may go from a state with these values; what is in mind already does not
/// change.
pub(super) fn ways(
    scene: &Scene<'_>,
    step: &Step,
    (values, mind): (&[Value], &[Look]),
    mut visit: impl FnMut(Way),
) -> Result<(), TooManyWays> {
    let mut choices = Choices::default();
    for _ in 0..MOST_WAYS {
        let mut evaluation = Evaluation {
            scene,
            choices: &mut choices,
            way: Way {
                verdict: Decision::Taken,
                key: 0,
                depends: Depends::Nobody,
                after: values.into(),
                written: Vec::new(),
                has_written: false,
                mind: mind.to_vec(),
                read: Vec::new(),
            },
        };
        evaluation.step(step);
        visit(evaluation.way);
        if !choices.advance() {
            return Ok(());
        }
    }
    Err(TooManyWays)
}

/// The choices of a way.
#[derive(Default)]
struct Choices {
    /// What was chosen, of how many.
    made: Vec<(usize, usize)>,
    /// How many were made again on the way at hand.
    position: usize,
}

impl Choices {
    /// One of so many.
    fn choose(&mut self, among: usize) -> usize {
        if self.position == self.made.len() {
            self.made.push((0, among));
        }
        self.position += 1;
        self.made[self.position - 1].0
    }

    /// On to the next way, if there is one.
    fn advance(&mut self) -> bool {
        self.position = 0;
        while let Some((chosen, among)) = self.made.pop() {
            if chosen + 1 < among {
                self.made.push((chosen + 1, among));
                return true;
            }
        }
        false
    }
}

struct Evaluation<'e, 's> {
    scene: &'e Scene<'s>,
    choices: &'e mut Choices,
    way: Way,
}

impl Evaluation<'_, '_> {
    fn step(&mut self, step: &Step) {
        let mut is_taken = true;
        for condition in &step.outranked {
            is_taken &= !self.holds(condition);
        }
        if let Some(condition) = &step.condition {
            is_taken &= self.holds(condition);
        }
        if !is_taken {
            self.way.verdict = Decision::Refused;
            return;
        }
        for (target, value) in &step.assignments {
            let value = self.value(value).filter(|value| self.scene.distinguished.contains(value));
            let slot = match target {
                Target::Slot(slot) => Some(*slot),
                Target::Element(base, length, index) => self.index(index, *length).map(|position| base.plus(position)),
            };
            if let Some(slot) = slot {
                self.write(slot, value);
            }
        }
    }

    fn holds(&mut self, condition: &Code) -> bool {
        match self.value(condition) {
            Some(value) => value != 0,
            None => self.choices.choose(2) == 1,
        }
    }

    /// The position of an element, if the index is in range.
    fn index(&mut self, index: &Code, length: usize) -> Option<usize> {
        let position = match self.value(index) {
            Some(index) => usize::try_from(index).ok().filter(|&position| position < length),
            None => self.choices.choose(length + 1).checked_sub(1),
        };
        let digit = position.map_or(0, |position| position as u64 + 1);
        self.way.key = self.way.key * (length as u64 + 1) + digit;
        position
    }

    fn value(&mut self, code: &Code) -> Value {
        match code {
            Code::Constant(value) => Some(*value),
            Code::Slot(slot) => self.read(*slot),
            Code::Element(base, length, index) => {
                self.index(index, *length).map_or(Some(0), |position| self.read(base.plus(position)))
            }
            Code::Unary(operator, operand) => {
                self.value(operand).and_then(|operand| apply_unary(*operator, operand).ok())
            }
            Code::Binary(operator, left, right, _) => {
                let (left, right) = (self.value(left), self.value(right));
                match (operator, left, right) {
                    (BinaryOperator::And | BinaryOperator::Multiply, Some(0), _)
                    | (BinaryOperator::And | BinaryOperator::Multiply, _, Some(0)) => Some(0),
                    (BinaryOperator::Or, Some(known), _) | (BinaryOperator::Or, _, Some(known)) if known != 0 => {
                        Some(1)
                    }
                    (_, Some(left), Some(right)) => apply(*operator, left, right).ok(),
                    _ => None,
                }
            }
        }
    }

    fn read(&mut self, slot: Slot) -> Value {
        let known = self.way.mind.iter().find(|look| look.slot == slot).copied();
        if let Some(location) = slot.location(self.scene.shared)
            && !known.is_some_and(|look| look.is_own)
        {
            self.way.read.push(location);
        }
        let among = match &self.scene.places[slot.index()] {
            Place::Held(position) => {
                if slot.location(self.scene.shared).is_some() {
                    self.way.depends = self.way.depends.max(Depends::Group);
                }
                return self.way.after[*position];
            }
            Place::Free(among) => among,
            Place::Unread => return None,
        };
        if let Some(look) = known {
            return look.value;
        }
        self.way.depends = Depends::Environment;
        let value = if among.len() == 1 { among[0] } else { among[self.choices.choose(among.len())] };
        self.way.mind.push(Look { slot, value, is_own: false });
        value
    }

    fn write(&mut self, slot: Slot, value: Value) {
        self.way.has_written = true;
        let value_in_mind = match &self.scene.places[slot.index()] {
            Place::Held(position) => {
                self.way.after[*position] = value;
                None
            }
            Place::Free(_) => value,
            Place::Unread => None,
        };
        if let Some(location) = slot.location(self.scene.shared) {
            self.way.written.push((location, value));
            self.way.mind.retain(|look| look.slot != slot);
            self.way.mind.push(Look { slot, value: value_in_mind, is_own: true });
        }
    }
}
