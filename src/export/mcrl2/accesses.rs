//! The accesses of an instruction as lists of terms, as [`program::labels`](crate::program::labels) has them.
//!
//! An access to an element whose index is no constant is there only if the index is in range. Every mention of a
//! variable is listed.

use super::helpers::{Helper, Helpers};
use super::names::{Names, VariableNames};
use super::terms::{Environment, Terms};
use super::{Item, list};
use crate::ids::ThreadAt;
use crate::program::{Expression, Program, Reference, Scope, Type};

/// Writes the accesses of one thread.
pub(super) struct Accesses<'a> {
    pub program: &'a Program,
    pub names: &'a Names,
    pub thread: ThreadAt,
    pub helpers: &'a mut Helpers,
}

impl Accesses<'_> {
    /// The list of what these expressions read.
    pub(super) fn reads<'e>(
        &mut self,
        expressions: impl Iterator<Item = &'e Expression>,
        environment: &Environment,
    ) -> String {
        let mut found = Vec::new();
        for expression in expressions {
            self.collect(expression, environment, &mut found);
        }
        list(&found)
    }

    /// The list of what an assignment reads: its value, and its target's index if nothing is written.
    pub(super) fn assignment_reads(
        &mut self,
        value: &Expression,
        target: &Reference,
        environment: &Environment,
    ) -> String {
        let mut found = Vec::new();
        self.collect(value, environment, &mut found);
        if let Some(index) = target.index.as_deref() {
            let mut read_for_index = Vec::new();
            self.collect(index, environment, &mut read_for_index);
            if !read_for_index.is_empty() {
                let (text, length) = (self.index(index, environment), self.length(target).to_string());
                let reads = list(&read_for_index);
                found.push(Item::Perhaps(self.helpers.apply(Helper::Outside, &[&text, &length, &reads])));
            }
        }
        list(&found)
    }

    /// The list of what is written: the target, or nothing if its index is out of range.
    pub(super) fn write(&mut self, target: &Reference, environment: &Environment) -> String {
        match target.index.as_deref() {
            None | Some(Expression::Constant(_)) => {
                let mut found = Vec::new();
                self.add(target, environment, &mut found);
                list(&found)
            }
            Some(index) => {
                let location = self.name(target).location.clone();
                let text = self.index(index, environment);
                let access = self.element(&format!("{location}({text})"), index, environment);
                self.helpers.apply(Helper::Inside, &[&text, &self.length(target).to_string(), &access])
            }
        }
    }

    /// An empty condition that is there if the target is out of range.
    pub(super) fn mark_of_no_write(&mut self, target: &Reference, environment: &Environment) -> Option<Item> {
        let index = target.index.as_deref()?;
        let length = self.length(target);
        if let Expression::Constant(index) = index {
            return (!in_range(*index, length)).then(|| Item::Surely("A'([], [])".to_owned()));
        }
        let index = self.index(index, environment);
        Some(Item::Perhaps(self.helpers.apply(Helper::Mark, &[&index, &length.to_string()])))
    }

    fn collect(&mut self, expression: &Expression, environment: &Environment, found: &mut Vec<Item>) {
        match expression {
            Expression::Constant(_) => {}
            Expression::Read(reference) => self.add(reference, environment, found),
            Expression::Unary(_, operand) => self.collect(operand, environment, found),
            Expression::Binary(_, left, right, _) => {
                self.collect(left, environment, found);
                self.collect(right, environment, found);
            }
        }
    }

    /// Adds the access to a variable or an element.
    fn add(&mut self, reference: &Reference, environment: &Environment, found: &mut Vec<Item>) {
        let location = self.name(reference).location.clone();
        let Some(index) = reference.index.as_deref() else {
            found.push(Item::Surely(format!("lc'({location})")));
            return;
        };
        let length = self.length(reference);
        if let Expression::Constant(index) = index {
            if in_range(*index, length) {
                found.push(Item::Surely(format!("lc'({location}({index}))")));
            }
            return;
        }
        let text = self.index(index, environment);
        let access = self.element(&format!("{location}({text})"), index, environment);
        let mut read_for_index = Vec::new();
        self.collect(index, environment, &mut read_for_index);
        let inside = if read_for_index.is_empty() {
            self.helpers.apply(Helper::Inside, &[&text, &length.to_string(), &access])
        } else {
            let otherwise = list(&read_for_index);
            self.helpers.apply(Helper::InsideOr, &[&text, &length.to_string(), &access, &otherwise])
        };
        found.push(Item::Perhaps(inside));
    }

    /// The access to an element with what its index reads: variables, or accesses if the program has addresses that
    /// need addresses.
    fn element(&mut self, location: &str, index: &Expression, environment: &Environment) -> String {
        let mut found = Vec::new();
        self.collect(index, environment, &mut found);
        if found.is_empty() {
            return format!("lc'({location})");
        }
        if !self.names.has_nested_addresses {
            // Nothing here has an address of its own: every access is `lc'(variable)`.
            let variable = |item: &Item| {
                let (Item::Surely(text) | Item::Perhaps(text)) = item;
                Item::Surely(text["lc'(".len()..text.len() - ")".len()].to_owned())
            };
            return format!("lcdp'({location}, {})", list(&found.iter().map(variable).collect::<Vec<_>>()));
        }
        let address = list(&found);
        if found.iter().any(|item| matches!(item, Item::Surely(_))) {
            return format!("lcdp'({location}, {address})");
        }
        // Without an address it must be the same access as one that never had any.
        self.helpers.apply(Helper::Element, &[location, &address])
    }

    fn index(&mut self, index: &Expression, environment: &Environment) -> String {
        let mut terms = Terms { program: self.program, thread: self.thread, helpers: self.helpers };
        terms.expression(index, Type::Integer, environment).text
    }

    fn name(&self, reference: &Reference) -> &VariableNames {
        match reference.scope {
            Scope::Shared => &self.names.shared[reference.variable],
            Scope::Local => &self.names.threads[self.thread.index()].locals[reference.variable],
        }
    }

    fn length(&self, reference: &Reference) -> usize {
        reference.variable(self.program, self.thread).initial.len()
    }
}

fn in_range(index: i64, length: usize) -> bool {
    usize::try_from(index).is_ok_and(|index| index < length)
}
