//! From the instructions of an architecture to those of a [`Thread`].
//!
//! Registers are locals, each cell of the code is one instruction, and control state `n` stands before the `n`-th of
//! them. An address is known where it is used ([`Pointers`]), and then it is a location, or a location plus an
//! offset; or it was loaded from memory, and then it may be that of any location that the initial state knows the
//! address of: each of them is accessed at the difference of the two addresses, which is out of range but for one,
//! and what is out of range makes no access.

use super::expressions::binary;
use super::locations::{Locations, address_of, integer};
use super::piece::Piece;
use super::pointers::{Held, Pointers};
use crate::ids::{ControlAt, LocationAt, ThreadAt};
use crate::lang::Diagnostic;
use crate::lang::names::Numbers;
use crate::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Marks, Reference, Scope, Span, Thread,
    Variable,
};
use std::collections::BTreeMap;

/// What is accessed.
pub enum Address {
    /// A location, with an offset or without.
    Known {
        /// The location.
        location: LocationAt,
        /// The element, if one is asked for.
        index: Option<Expression>,
        /// Where it is said.
        span: Span,
    },
    /// What has this address.
    Loaded {
        /// The address.
        value: Expression,
        /// Where it is said.
        span: Span,
    },
}

/// The local that keeps the last comparison: the difference of the two values.
pub(super) const FLAGS: &str = "flags";

/// A register that nobody reads: for what is written to the zero register of an architecture.
pub const NOWHERE: &str = "nowhere";

/// A thread in the making.
pub struct Assembler<'a> {
    number: ThreadAt,
    /// The locations of all threads.
    pub locations: &'a mut Locations,
    registers: Vec<Variable>,
    /// What registers hold at the start.
    initial: BTreeMap<String, i64>,
    pointers: Pointers,
    labels: BTreeMap<String, ControlAt>,
    position: ControlAt,
    pub(super) code: Piece<'a>,
    pub(super) instructions: Vec<Instruction>,
    numbers: Numbers,
}

impl<'a> Assembler<'a> {
    /// For the thread of that number.
    pub fn new(number: ThreadAt, locations: &'a mut Locations) -> Assembler<'a> {
        Assembler {
            number,
            locations,
            registers: Vec::new(),
            initial: BTreeMap::new(),
            pointers: Pointers::default(),
            labels: BTreeMap::new(),
            position: ControlAt(0),
            code: Piece { text: "", start: 0 },
            instructions: Vec::new(),
            numbers: Numbers::default(),
        }
    }

    /// Gives a register its initial value.
    pub fn initialise(&mut self, register: &str, value: i64) {
        self.initial.insert(register.to_owned(), value);
    }

    /// Lets a register hold the address of a location.
    pub fn point(&mut self, register: &str, location: LocationAt) {
        self.initial.insert(register.to_owned(), address_of(location));
        self.pointers.hold(register, Held::Address { location, is_exact: true });
    }

    /// Finds the labels of the cells and takes them off; gives the instructions.
    pub fn take_labels(&mut self, cells: &[Piece<'a>]) -> Result<Vec<Piece<'a>>, Diagnostic> {
        let mut instructions = Vec::new();
        for &cell in cells {
            let mut cell = cell;
            while let Some(colon) = cell.text.find(':') {
                let label = cell.part(0, colon).trimmed();
                if !label.is_name() {
                    return Err(label.error("expected the name of a label"));
                }
                if self.labels.insert(label.text.to_owned(), ControlAt::new(instructions.len())).is_some() {
                    return Err(label.error(format!("there is a label `{}` before", label.text)));
                }
                cell = cell.behind(colon + 1).trimmed();
            }
            if !cell.text.is_empty() {
                instructions.push(cell);
            }
        }
        Ok(instructions)
    }

    /// The instruction of this text comes next.
    pub fn begin(&mut self, code: Piece<'a>) {
        self.code = code;
        self.pointers.begin(self.position);
    }

    pub(super) fn reference(&mut self, name: &str, span: Span) -> Reference {
        let variable = self.registers.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.registers.push(integer(name, self.initial.get(name).copied().unwrap_or(0), span));
            self.registers.len() - 1
        });
        Reference { scope: Scope::Local, variable, index: None, span }
    }

    /// The value of a register; its address, if it holds one.
    pub fn value(&mut self, name: &str, span: Span) -> Expression {
        match self.pointers.held(name) {
            Some(Held::Address { location, is_exact: true }) => Expression::Constant(self.locations.point(location)),
            _ => Expression::Read(self.reference(name, span)),
        }
    }

    /// A register to be written with what is computed or loaded.
    pub fn target(&mut self, name: &str, span: Span, held: Held) -> Reference {
        self.pointers.hold(name, held);
        self.reference(name, span)
    }

    /// Whether a register holds an address here, as far as is known.
    pub fn holds_address(&self, name: &str) -> bool {
        matches!(self.pointers.held(name), Some(Held::Address { .. }))
    }

    /// A location, by its name.
    pub fn direct(&mut self, name: Piece<'_>) -> Address {
        Address::Known { location: self.locations.position(name), index: None, span: name.span() }
    }

    /// The location whose address a register holds.
    pub fn indirect(&mut self, name: &str, span: Span) -> Result<Address, Diagnostic> {
        match self.pointers.held(name) {
            Some(Held::Address { location, is_exact: true }) => Ok(Address::Known { location, index: None, span }),
            Some(Held::Address { location, is_exact: false }) => {
                let register = Expression::Read(self.reference(name, span));
                let offset =
                    self.binary(BinaryOperator::Subtract, register, Expression::Constant(address_of(location)));
                Ok(self.offset(Address::Known { location, index: None, span }, offset))
            }
            Some(Held::Loaded) => Ok(Address::Loaded { value: Expression::Read(self.reference(name, span)), span }),
            Some(Held::Computed) => {
                Err(Diagnostic::error(span, format!("`{name}` holds no address any more: it was overwritten"))
                    .with_help("an address is what the initial state says, plus a value, or is loaded from memory"))
            }
            None => Err(Diagnostic::error(span, format!("`{name}` holds no address"))
                .with_help(format!("the initial state has to say which: `{}:{name}=x;`", self.number.0))),
        }
    }

    /// An address with an offset in bytes.
    pub fn offset(&mut self, address: Address, offset: Expression) -> Address {
        match address {
            Address::Known { location, index, span } => {
                self.locations.index(location);
                let offset = match self.locations.shape(location) {
                    (1, _) => offset,
                    (_, size) => self.binary(BinaryOperator::Divide, offset, Expression::Constant(size)),
                };
                let index = match index {
                    Some(index) => self.binary(BinaryOperator::Add, index, offset),
                    None => offset,
                };
                Address::Known { location, index: Some(index), span }
            }
            Address::Loaded { value, span } => {
                Address::Loaded { value: self.binary(BinaryOperator::Add, value, offset), span }
            }
        }
    }

    /// An address with a constant offset in bytes.
    pub fn displaced(&mut self, address: Address, offset: Piece<'_>) -> Result<Address, Diagnostic> {
        let bytes = offset.integer().ok_or_else(|| offset.error("expected a constant offset, such as 0"))?;
        let Address::Known { location, index: None, span } = address else {
            return match bytes {
                0 => Ok(address),
                _ => Err(offset.error("only the offset 0 is supported here")),
            };
        };
        let (length, size) = self.locations.shape(location);
        let element = usize::try_from(bytes / size).ok().filter(|&element| element < length && bytes % size == 0);
        match element {
            Some(0) => Ok(Address::Known { location, index: None, span }),
            Some(_) => Ok(Address::Known { location, index: Some(Expression::Constant(bytes / size)), span }),
            None => Err(offset.error(format!("the offset {bytes} leads to no element of this location")).with_help(
                format!(
                    "it has {length} of {size} bytes, as the initial state says: `int x[2]`; accesses to parts of an \
                     element are not supported"
                ),
            )),
        }
    }

    /// The one thing that is accessed.
    pub(super) fn single(&self, address: Address) -> Result<Reference, Diagnostic> {
        match address {
            Address::Known { location, index, span } => Ok(shared(location, index, span)),
            Address::Loaded { span, .. } => Err(Diagnostic::error(span, "this address was loaded from memory")
                .with_help("only simple loads and stores take such an address; put it into the initial state")),
        }
    }

    /// All that a loaded address may mean.
    fn possible(&mut self, value: &Expression, span: Span) -> Vec<Reference> {
        let accessed = |(assembler, location): (&mut Assembler<'a>, LocationAt)| {
            let offset =
                assembler.binary(BinaryOperator::Subtract, value.clone(), Expression::Constant(address_of(location)));
            match assembler.offset(Address::Known { location, index: None, span }, offset) {
                Address::Known { location, index, span } => Some(shared(location, index, span)),
                Address::Loaded { .. } => None,
            }
        };
        let pointed = self.locations.pointed();
        pointed.into_iter().filter_map(|location| accessed((self, location))).collect()
    }

    /// Reads an address into a register.
    pub fn load(&mut self, (register, span): (&str, Span), address: Address, marks: Marks) {
        let value = match address {
            Address::Known { location, index, span } => Expression::Read(shared(location, index, span)),
            Address::Loaded { value, span } => {
                let possible = self.possible(&value, span).into_iter().map(Expression::Read);
                let sum = possible.reduce(|left, right| self.binary(BinaryOperator::Add, left, right));
                sum.unwrap_or(Expression::Constant(0))
            }
        };
        let target = self.target(register, span, Held::Loaded);
        self.emit(marked(marks), vec![Assignment { target, value }]);
    }

    /// Writes a value to an address.
    pub fn store(&mut self, address: Address, value: &Expression, marks: Marks) {
        let targets = match address {
            Address::Known { location, index, span } => vec![shared(location, index, span)],
            Address::Loaded { value, span } => self.possible(&value, span),
        };
        let assignments = targets.into_iter().map(|target| Assignment { target, value: value.clone() }).collect();
        self.emit(marked(marks), assignments);
    }

    /// Computes a value that is no address.
    pub fn set(&mut self, (register, span): (&str, Span), value: Expression) {
        let target = self.target(register, span, Held::Computed);
        self.emit(InstructionKind::Plain, vec![Assignment { target, value }]);
    }

    /// Computes a value and keeps how it compares with 0.
    pub fn set_flags(&mut self, (register, span): (&str, Span), value: Expression) {
        let target = self.target(register, span, Held::Computed);
        let flags = self.reference(FLAGS, span);
        let kept = Assignment { target: flags, value: Expression::Read(target.clone()) };
        self.emit(InstructionKind::Plain, vec![Assignment { target, value }, kept]);
    }

    /// Copies a register, with what it holds.
    pub fn copy(&mut self, target: (&str, Span), (source, span): (&str, Span)) {
        let value = self.value(source, span);
        let held = self.pointers.held(source).unwrap_or(Held::Computed);
        self.set(target, value);
        self.pointers.hold(target.0, held);
    }

    /// Adds a value to a register that holds an address.
    pub fn advance(&mut self, target: (&str, Span), (base, span): (&str, Span), offset: Expression) {
        let value = self.value(base, span);
        let held = match self.pointers.held(base) {
            Some(Held::Address { location, .. }) => {
                self.locations.index(location);
                Held::Address { location, is_exact: false }
            }
            Some(held) => held,
            None => Held::Computed,
        };
        let value = self.binary(BinaryOperator::Add, value, offset);
        self.set(target, value);
        self.pointers.hold(target.0, held);
    }

    /// An instruction that only orders, or does nothing at all.
    pub fn fence(&mut self, kind: InstructionKind) {
        self.emit(kind, Vec::new());
    }

    /// Keeps how two values compare, for the next branch.
    pub fn compare(&mut self, left: Expression, right: Expression) {
        let value = self.binary(BinaryOperator::Subtract, left, right);
        self.set((FLAGS, self.code.span()), value);
    }

    /// An operator at this instruction.
    pub fn binary(&self, operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
        binary(operator, left, right, self.code.span())
    }

    /// How the last comparison came out.
    pub fn flags(&mut self) -> Expression {
        Expression::Read(self.reference(FLAGS, self.code.span()))
    }

    /// Goes to a label if the last comparison came out so.
    pub fn branch(&mut self, tests: (BinaryOperator, BinaryOperator), label: Piece<'_>) -> Result<(), Diagnostic> {
        let flags = self.flags();
        self.branch_on(tests, (flags, Expression::Constant(0)), label)
    }

    /// Goes to a label if two values compare so; the second test is the contrary of the first.
    pub fn branch_on(
        &mut self,
        (test, contrary): (BinaryOperator, BinaryOperator),
        (left, right): (Expression, Expression),
        label: Piece<'_>,
    ) -> Result<(), Diagnostic> {
        let to = self.label(label)?;
        let span = self.code.span();
        let compared = |operator, left, right| Expression::Binary(operator, Box::new(left), Box::new(right), span);
        let condition = compared(test, left.clone(), right.clone());
        self.push(InstructionKind::Plain, Some(condition), Vec::new(), to);
        let condition = compared(contrary, left, right);
        self.push(InstructionKind::Plain, Some(condition), Vec::new(), self.next());
        self.position = self.next();
        Ok(())
    }

    /// Goes to a label.
    pub fn jump(&mut self, label: Piece<'_>) -> Result<(), Diagnostic> {
        let to = self.label(label)?;
        self.pointers.cut();
        self.push(InstructionKind::Plain, None, Vec::new(), to);
        self.position = self.next();
        Ok(())
    }

    fn label(&mut self, label: Piece<'_>) -> Result<ControlAt, Diagnostic> {
        let Some(&to) = self.labels.get(label.text) else {
            return Err(label.error(format!("there is no label `{}` in this thread", label.text)));
        };
        let changed = self.pointers.jump(self.position, to);
        if !changed.is_empty() {
            return Err(label
                .error(format!("this goes back, but {} no longer holds an address", changed.join(", ")))
                .with_help("in a loop, a register either holds an address or a value"));
        }
        Ok(to)
    }

    pub(super) fn emit(&mut self, kind: InstructionKind, assignments: Vec<Assignment>) {
        self.push(kind, None, assignments, self.next());
        self.position = self.next();
    }

    /// The control state that comes next in the text.
    pub(super) fn next(&self) -> ControlAt {
        ControlAt(self.position.0 + 1)
    }

    pub(super) fn push(
        &mut self,
        kind: InstructionKind,
        condition: Option<Expression>,
        assignments: Vec<Assignment>,
        to: ControlAt,
    ) {
        self.instructions.push(Instruction {
            name: self.numbers.of(kind),
            from: self.position,
            to,
            priority: 0,
            condition,
            assignments,
            kind,
            span: self.code.span(),
        });
    }

    /// The thread.
    pub fn finish(self) -> Assembled {
        let thread = Thread {
            name: format!("P{}", self.number.0),
            locals: self.registers,
            states: (0..=self.position.0).map(|state| format!("s{state}")).collect(),
            initial: ControlAt(0),
            instructions: self.instructions,
        };
        Assembled { thread, initial: self.initial }
    }
}

/// A thread that is complete but for registers that only the final condition names.
pub struct Assembled {
    /// The thread.
    pub thread: Thread,
    /// What registers hold at the start.
    pub initial: BTreeMap<String, i64>,
}

impl Assembled {
    /// The position of a register among the locals.
    pub fn register(&mut self, name: &str, span: Span) -> usize {
        let locals = &mut self.thread.locals;
        locals.iter().position(|local| local.name == name).unwrap_or_else(|| {
            locals.push(integer(name, self.initial.get(name).copied().unwrap_or(0), span));
            locals.len() - 1
        })
    }
}

/// A location, or an element of it.
pub fn shared(location: LocationAt, index: Option<Expression>, span: Span) -> Reference {
    Reference { scope: Scope::Shared, variable: location.index(), index: index.map(Box::new), span }
}

/// An instruction whose accesses have these marks.
pub fn marked(marks: Marks) -> InstructionKind {
    if marks.is_empty() { InstructionKind::Plain } else { InstructionKind::Marked(marks) }
}
