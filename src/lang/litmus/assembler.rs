//! From the instructions of an architecture to those of a [`Thread`].
//!
//! Registers are locals, each cell of the code is one instruction, and control state `n` stands before the `n`-th of
//! them. A register that holds an address keeps it until it is overwritten; addresses are resolved here, so they
//! cannot be computed: an address is a location, or a location plus an offset. With an offset, the location becomes
//! an array of one element: the offset is its index, which keeps the address dependency, and any offset but 0 is out
//! of range.

use super::piece::Piece;
use crate::ids::{ControlAt, LocationAt, ThreadAt};
use crate::lang::Diagnostic;
use crate::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Reference, Scope, Span, Thread, Type,
    Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// The locations of a test.
#[derive(Default)]
pub struct Locations {
    names: Vec<String>,
    initial: BTreeMap<LocationAt, i64>,
    spans: Vec<Span>,
    /// Those that are accessed with an offset.
    indexed: BTreeSet<LocationAt>,
}

impl Locations {
    /// The position of a location; a new one if it was not mentioned before.
    pub fn position(&mut self, name: Piece<'_>) -> LocationAt {
        let position = self.names.iter().position(|known| known == name.text).unwrap_or_else(|| {
            self.names.push(name.text.to_owned());
            self.spans.push(name.span());
            self.names.len() - 1
        });
        LocationAt::new(position)
    }

    /// Gives a location its initial value.
    pub fn initialise(&mut self, location: LocationAt, value: i64) {
        self.initial.insert(location, value);
    }

    /// Whether it is accessed with an offset.
    pub fn is_indexed(&self, location: LocationAt) -> bool {
        self.indexed.contains(&location)
    }

    /// As shared variables.
    pub fn variables(&self) -> Vec<Variable> {
        let variable = |(location, name): (LocationAt, &String)| Variable {
            is_array: self.is_indexed(location),
            ..integer(name, self.initial.get(&location).copied().unwrap_or(0), self.spans[location.index()])
        };
        LocationAt::all(self.names.len()).zip(&self.names).map(variable).collect()
    }
}

fn integer(name: &str, value: i64, span: Span) -> Variable {
    Variable { name: name.to_owned(), ty: Type::Integer, modulus: None, is_array: false, initial: vec![value], span }
}

/// What is accessed.
pub struct Address {
    location: LocationAt,
    offset: Option<Expression>,
    span: Span,
}

/// A thread in the making.
pub struct Assembler<'a> {
    number: ThreadAt,
    /// The locations of all threads.
    pub locations: &'a mut Locations,
    registers: Vec<Variable>,
    /// The locations whose addresses registers hold.
    addresses: BTreeMap<String, LocationAt>,
    /// The registers that have held an address and were overwritten.
    overwritten: BTreeSet<String>,
    labels: BTreeMap<String, ControlAt>,
    position: ControlAt,
    code: Piece<'a>,
    instructions: Vec<Instruction>,
}

impl<'a> Assembler<'a> {
    /// For the thread of that number.
    pub fn new(number: ThreadAt, locations: &'a mut Locations) -> Assembler<'a> {
        Assembler {
            number,
            locations,
            registers: Vec::new(),
            addresses: BTreeMap::new(),
            overwritten: BTreeSet::new(),
            labels: BTreeMap::new(),
            position: ControlAt(0),
            code: Piece { text: "", start: 0 },
            instructions: Vec::new(),
        }
    }

    /// Gives a register its initial value.
    pub fn initialise(&mut self, register: &str, value: i64, span: Span) {
        let position = self.register(register, span);
        self.registers[position].initial = vec![value];
    }

    /// Lets a register hold the address of a location.
    pub fn point(&mut self, register: &str, location: LocationAt) {
        self.addresses.insert(register.to_owned(), location);
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
    }

    fn register(&mut self, name: &str, span: Span) -> usize {
        self.registers.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.registers.push(integer(name, 0, span));
            self.registers.len() - 1
        })
    }

    fn reference(&mut self, name: &str, span: Span) -> Reference {
        Reference { scope: Scope::Local, variable: self.register(name, span), index: None, span }
    }

    /// The value of a register.
    pub fn value(&mut self, name: &str, span: Span) -> Result<Expression, Diagnostic> {
        if self.holds_address(name) {
            return Err(Diagnostic::error(span, format!("`{name}` holds an address, which cannot be used as a value"))
                .with_help("addresses stay in the registers where the initial state puts them"));
        }
        Ok(Expression::Read(self.reference(name, span)))
    }

    /// A register to be written.
    pub fn target(&mut self, name: &str, span: Span) -> Reference {
        if self.holds_address(name) {
            self.overwritten.insert(name.to_owned());
        }
        self.reference(name, span)
    }

    /// Whether a register holds an address here.
    pub fn holds_address(&self, name: &str) -> bool {
        self.addresses.contains_key(name) && !self.overwritten.contains(name)
    }

    /// A location, by its name.
    pub fn direct(&mut self, name: Piece<'_>) -> Address {
        Address { location: self.locations.position(name), offset: None, span: name.span() }
    }

    /// The location whose address a register holds.
    pub fn indirect(&mut self, name: &str, span: Span) -> Result<Address, Diagnostic> {
        match self.addresses.get(name) {
            Some(&location) if self.holds_address(name) => Ok(Address { location, offset: None, span }),
            Some(_) => Err(Diagnostic::error(span, format!("`{name}` no longer holds an address: it was overwritten"))),
            None => Err(Diagnostic::error(span, format!("`{name}` holds no address"))
                .with_help(format!("the initial state has to say which: `{}:{name}=x;`", self.number.0))),
        }
    }

    /// An address with an offset.
    pub fn offset(&mut self, Address { location, span, .. }: Address, offset: Expression) -> Address {
        self.locations.indexed.insert(location);
        Address { location, offset: Some(offset), span }
    }

    fn location(&self, address: Address) -> Reference {
        let Address { location, offset, span } = address;
        Reference { scope: Scope::Shared, variable: location.index(), index: offset.map(Box::new), span }
    }

    /// Reads an address into a register.
    pub fn load(&mut self, target: Reference, address: Address) {
        let value = Expression::Read(self.location(address));
        self.set(target, value);
    }

    /// Writes a value to an address.
    pub fn store(&mut self, address: Address, value: Expression) {
        let target = self.location(address);
        self.set(target, value);
    }

    /// Computes a value.
    pub fn set(&mut self, target: Reference, value: Expression) {
        self.emit(InstructionKind::Plain, vec![Assignment { target, value }]);
    }

    /// An expression over what is at an address takes its place; in one piece if it is atomic.
    pub fn update(&mut self, kind: InstructionKind, address: Address, value: impl FnOnce(Expression) -> Expression) {
        let target = self.location(address);
        let value = value(Expression::Read(target.clone()));
        self.emit(kind, vec![Assignment { target, value }]);
    }

    /// Exchanges a register with what is at an address, in one piece; the new value is made of the two.
    pub fn exchange(
        &mut self,
        (register, span): (&str, Span),
        address: Address,
        value: impl FnOnce(Expression, Expression) -> Expression,
    ) -> Result<(), Diagnostic> {
        let old = self.value(register, span)?;
        let register = self.target(register, span);
        // A name that no register has.
        let kept = self.reference("exchanged", span);
        let location = self.location(address);
        let assign = |target: &Reference, value: Expression| Assignment { target: target.clone(), value };
        let assignments = vec![
            assign(&kept, Expression::Read(location.clone())),
            assign(&location, value(Expression::Read(kept.clone()), old)),
            assign(&register, Expression::Read(kept.clone())),
        ];
        self.emit(InstructionKind::Atomic, assignments);
        Ok(())
    }

    /// An instruction that only orders, or does nothing at all.
    pub fn fence(&mut self, kind: InstructionKind) {
        self.emit(kind, Vec::new());
    }

    /// Keeps how two values compare, for the next branch.
    pub fn compare(&mut self, left: Expression, right: Expression) {
        let target = self.reference(FLAGS, self.code.span());
        let value = self.binary(BinaryOperator::Subtract, left, right);
        self.set(target, value);
    }

    /// An operator at this instruction.
    pub fn binary(&self, operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
        Expression::Binary(operator, Box::new(left), Box::new(right), self.code.span())
    }

    /// Goes to a label if the last comparison came out so.
    pub fn branch(
        &mut self,
        test: BinaryOperator,
        contrary: BinaryOperator,
        label: Piece<'_>,
    ) -> Result<(), Diagnostic> {
        let to = self.label(label)?;
        let flags = Expression::Read(self.reference(FLAGS, self.code.span()));
        let zero = || Expression::Constant(0);
        let condition = self.binary(test, flags.clone(), zero());
        self.push(InstructionKind::Plain, Some(condition), Vec::new(), to);
        let condition = self.binary(contrary, flags, zero());
        self.push(InstructionKind::Plain, Some(condition), Vec::new(), self.next());
        self.position = self.next();
        Ok(())
    }

    /// Goes to a label.
    pub fn jump(&mut self, label: Piece<'_>) -> Result<(), Diagnostic> {
        let to = self.label(label)?;
        self.push(InstructionKind::Plain, None, Vec::new(), to);
        self.position = self.next();
        Ok(())
    }

    fn label(&mut self, label: Piece<'_>) -> Result<ControlAt, Diagnostic> {
        let Some(&to) = self.labels.get(label.text) else {
            return Err(label.error(format!("there is no label `{}` in this thread", label.text)));
        };
        if to <= self.position && !self.overwritten.is_empty() {
            let names: Vec<&str> = self.overwritten.iter().map(String::as_str).collect();
            return Err(label
                .error(format!("this goes back, but {} no longer holds an address", names.join(", ")))
                .with_help("in a loop, a register either holds an address or a value"));
        }
        Ok(to)
    }

    fn emit(&mut self, kind: InstructionKind, assignments: Vec<Assignment>) {
        self.push(kind, None, assignments, self.next());
        self.position = self.next();
    }

    /// The control state that comes next in the text.
    fn next(&self) -> ControlAt {
        ControlAt(self.position.0 + 1)
    }

    fn push(
        &mut self,
        kind: InstructionKind,
        condition: Option<Expression>,
        assignments: Vec<Assignment>,
        to: ControlAt,
    ) {
        self.instructions.push(Instruction {
            name: self.instructions.len().to_string(),
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
        let pointers = self.addresses.into_keys().filter(|name| !self.overwritten.contains(name)).collect();
        let thread = Thread {
            name: format!("P{}", self.number.0),
            locals: self.registers,
            states: (0..=self.position.0).map(|state| format!("s{state}")).collect(),
            initial: ControlAt(0),
            instructions: self.instructions,
        };
        Assembled { thread, pointers }
    }
}

/// A thread that is complete but for registers that only the final condition names.
pub struct Assembled {
    /// The thread.
    pub thread: Thread,
    /// The registers that hold an address at the end.
    pointers: BTreeSet<String>,
}

impl Assembled {
    /// The position of a register among the locals.
    pub fn register(&mut self, name: &str, span: Span) -> Result<usize, Diagnostic> {
        if self.pointers.contains(name) {
            return Err(Diagnostic::error(span, format!("`{name}` holds an address; conditions compare integers")));
        }
        let locals = &mut self.thread.locals;
        Ok(locals.iter().position(|local| local.name == name).unwrap_or_else(|| {
            locals.push(integer(name, 0, span));
            locals.len() - 1
        }))
    }
}

/// The local that keeps the last comparison: the difference of the two values.
const FLAGS: &str = "flags";

/// Gives every access to an indexed location an index, as all accesses to an array have one.
pub fn index_all(locations: &Locations, thread: &mut Thread) {
    for instruction in &mut thread.instructions {
        for assignment in &mut instruction.assignments {
            index(locations, &mut assignment.target);
            index_in(locations, &mut assignment.value);
        }
    }
}

fn index(locations: &Locations, reference: &mut Reference) {
    if reference.scope == Scope::Shared
        && locations.is_indexed(LocationAt::new(reference.variable))
        && reference.index.is_none()
    {
        reference.index = Some(Box::new(Expression::Constant(0)));
    }
}

fn index_in(locations: &Locations, expression: &mut Expression) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Read(reference) => index(locations, reference),
        Expression::Unary(_, operand) => index_in(locations, operand),
        Expression::Binary(_, left, right, _) => {
            index_in(locations, left);
            index_in(locations, right);
        }
    }
}
