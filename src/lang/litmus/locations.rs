//! The locations of a test: their names, initial values and sizes.
//!
//! A location is a shared variable. It is an array if the initial state says so (`int x[2]`) or if it is accessed
//! with an offset: then it has one element, the offset is its index, which keeps the address dependency, and any
//! offset but 0 is out of range.
//!
//! *Addresses* are numbers, one for each location, far from each other and from what tests compute with. So a
//! location can hold the address of another, and a condition can compare with it.

use super::piece::Piece;
use crate::ids::LocationAt;
use crate::program::{Expression, Reference, Scope, Span, Thread, Type, Variable};
use std::collections::BTreeSet;

/// What lies between the addresses of two locations.
const DISTANCE: i64 = 1_000_000_000;

/// How many bytes an `int` has.
pub const INT_SIZE: i64 = 4;

struct Location {
    name: String,
    span: Span,
    initial: Vec<i64>,
    /// How many bytes an element has.
    size: i64,
    is_indexed: bool,
}

/// The locations of a test.
#[derive(Default)]
pub struct Locations {
    all: Vec<Location>,
    /// Those whose addresses the initial state knows.
    pointed: BTreeSet<LocationAt>,
}

impl Locations {
    /// The position of a location; a new one if it was not mentioned before.
    pub fn position(&mut self, name: Piece<'_>) -> LocationAt {
        let position = self.all.iter().position(|known| known.name == name.text).unwrap_or_else(|| {
            let name_and_place = (name.text.to_owned(), name.span());
            let (name, span) = name_and_place;
            self.all.push(Location { name, span, initial: vec![0], size: INT_SIZE, is_indexed: false });
            self.all.len() - 1
        });
        LocationAt::new(position)
    }

    /// Gives a location its initial values, one for each element, and the size of an element.
    pub fn initialise(&mut self, location: LocationAt, values: Vec<i64>, size: i64) {
        let known = &mut self.all[location.index()];
        known.initial = values;
        known.size = size;
    }

    /// The number of elements and the size of each, in bytes.
    pub fn shape(&self, location: LocationAt) -> (usize, i64) {
        let known = &self.all[location.index()];
        (known.initial.len(), known.size)
    }

    /// The location is accessed with an offset.
    pub fn index(&mut self, location: LocationAt) {
        self.all[location.index()].is_indexed = true;
    }

    /// The address of a location, which the initial state gives to somebody.
    pub fn point(&mut self, location: LocationAt) -> i64 {
        self.pointed.insert(location);
        address_of(location)
    }

    /// The locations whose addresses the initial state gives to somebody.
    pub fn pointed(&self) -> Vec<LocationAt> {
        self.pointed.iter().copied().collect()
    }

    /// Where an element stands among the elements of all locations.
    pub fn flat(&self, location: LocationAt, element: usize) -> LocationAt {
        let before: usize = self.all[..location.index()].iter().map(|known| known.initial.len()).sum();
        LocationAt::new(before + element)
    }

    fn is_array(&self, location: LocationAt) -> bool {
        let known = &self.all[location.index()];
        known.is_indexed || known.initial.len() > 1
    }

    /// As shared variables.
    pub fn variables(&self) -> Vec<Variable> {
        let variable = |(location, known): (LocationAt, &Location)| Variable {
            is_array: self.is_array(location),
            initial: known.initial.clone(),
            ..integer(&known.name, 0, known.span)
        };
        LocationAt::all(self.all.len()).zip(&self.all).map(variable).collect()
    }

    /// Gives every access to an array an index, as all accesses to an array have one.
    pub fn index_all(&self, thread: &mut Thread) {
        for instruction in &mut thread.instructions {
            instruction.condition.iter_mut().for_each(|condition| self.index_in(condition));
            for assignment in &mut instruction.assignments {
                self.index_reference(&mut assignment.target);
                self.index_in(&mut assignment.value);
            }
        }
    }

    fn index_reference(&self, reference: &mut Reference) {
        let is_array = reference.scope == Scope::Shared && self.is_array(LocationAt::new(reference.variable));
        match &mut reference.index {
            Some(index) => self.index_in(index),
            None if is_array => reference.index = Some(Box::new(Expression::Constant(0))),
            None => {}
        }
    }

    fn index_in(&self, expression: &mut Expression) {
        match expression {
            Expression::Constant(_) => {}
            Expression::Read(reference) => self.index_reference(reference),
            Expression::Unary(_, operand) => self.index_in(operand),
            Expression::Binary(_, left, right, _) => {
                self.index_in(left);
                self.index_in(right);
            }
        }
    }
}

/// The address of a location.
pub fn address_of(location: LocationAt) -> i64 {
    // Tests have far fewer locations than would be needed to leave the range.
    i64::try_from(location.index() + 1).map_or(i64::MAX, |number| number.saturating_mul(DISTANCE))
}

/// A variable for an integer.
pub fn integer(name: &str, value: i64, span: Span) -> Variable {
    Variable { name: name.to_owned(), ty: Type::Integer, modulus: None, is_array: false, initial: vec![value], span }
}
