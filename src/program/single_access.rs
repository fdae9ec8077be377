//! Programs whose instructions make at most one shared access each: the others are split, program to program.
//!
//! Methods that were defined on languages of loads and stores need them. An instruction with several shared accesses becomes a sequence of instructions in the order in which a compiler would
//! perform them: the reads of its condition, the decision, the reads of its assignments, then its writes, each in the order of the text. What it has written itself it does not read again, of several writes to a location only the last is performed, and a location that is
//! named by a variable or a constant index is read once. A condition that does not hold leads back to where the instruction began, with its reads made. Values
//! that are still needed wait in temporaries, locals of the thread that are 0 between instructions.
//!
//! Atomic instructions and fences stay whole. So does every instruction with at most one access, and a program that has no others stays exactly as it is.
//!
//! *Compared with [`weak::split`](crate::weak::split)*, which allows every order that the dependencies of an instruction allow, this is one of those orders, except that an element with a computed index is always read from
//! memory, too, even if it turns out to be one whose value the instruction knows; it goes on with the value that it knows.

use super::compiled::outranked;
use super::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread,
    Type, UnaryOperator, Variable,
};

/// Where an instruction of a split program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The instruction of the program as it was, by position in its thread.
    pub instruction: usize,
    /// Whether that instruction is complete behind this one: what stands after it comes now.
    pub completes: bool,
}

/// A program of single accesses.
#[derive(Clone, Debug)]
pub struct SingleAccess {
    /// The program.
    pub program: Program,
    /// For each thread and instruction, where it comes from.
    pub origins: Vec<Vec<Origin>>,
}

impl SingleAccess {
    /// Splits the instructions of a program.
    #[must_use]
    pub fn of(program: &Program) -> SingleAccess {
        let mut single = SingleAccess { program: program.clone(), origins: Vec::new() };
        for (position, thread) in program.threads.iter().enumerate() {
            let needs = |number: &usize| num_of_accesses(&thread.instructions, *number) > 1;
            if !(0..thread.instructions.len()).any(|number| needs(&number)) {
                let whole = |instruction| Origin { instruction, completes: true };
                single.origins.push((0..thread.instructions.len()).map(whole).collect());
                continue;
            }
            let mut splitter = Splitter::new(program, position);
            for number in 0..thread.instructions.len() {
                splitter.instruction(number, needs(&number));
            }
            let (thread, origins) = splitter.finish();
            single.program.threads[position] = thread;
            single.origins.push(origins);
        }
        single
    }
}

/// How many shared accesses an instruction makes at most, one that stays whole counting as one.
fn num_of_accesses(instructions: &[Instruction], number: usize) -> usize {
    let instruction = &instructions[number];
    if matches!(instruction.kind, InstructionKind::Atomic | InstructionKind::Fence) {
        return 1;
    }
    let mut reads: Vec<&Reference> = Vec::new();
    let conditions: Vec<Expression> = outranked(instructions, number).chain(instruction.condition.clone()).collect();
    conditions.iter().for_each(|condition| shared_reads(condition, &mut reads));
    let mut writes = 0;
    for assignment in &instruction.assignments {
        shared_reads(&assignment.value, &mut reads);
        if let Some(index) = &assignment.target.index {
            shared_reads(index, &mut reads);
        }
        writes += usize::from(assignment.target.scope == Scope::Shared);
    }
    reads.len() + writes
}

/// Adds the shared variables and elements that an expression reads, each text once.
fn shared_reads<'e>(expression: &'e Expression, reads: &mut Vec<&'e Reference>) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Read(reference) => {
            if let Some(index) = &reference.index {
                shared_reads(index, reads);
            }
            let is_known = |known: &&Reference| is_same_location(known, reference);
            if reference.scope == Scope::Shared && !reads.iter().any(is_known) {
                reads.push(reference);
            }
        }
        Expression::Unary(_, operand) => shared_reads(operand, reads),
        Expression::Binary(_, left, right, _) => {
            shared_reads(left, reads);
            shared_reads(right, reads);
        }
    }
}

/// Whether two references certainly name one location: the same variable, or the same constant index.
fn is_same_location(a: &Reference, b: &Reference) -> bool {
    let same_index = match (&a.index, &b.index) {
        (None, None) => true,
        (Some(a), Some(b)) => matches!((&**a, &**b), (Expression::Constant(a), Expression::Constant(b)) if a == b),
        _ => false,
    };
    a.scope == b.scope && a.variable == b.variable && same_index
}

/// Splits the instructions of one thread.
struct Splitter<'p> {
    program: &'p Program,
    own: usize,
    thread: Thread,
    origins: Vec<Origin>,
    num_of_locals: usize,
    num_of_temporaries: usize,
}

/// The instruction that is being split.
struct Progress {
    number: usize,
    /// From which control state the part at hand is taken.
    from: usize,
    condition: Option<Expression>,
    assignments: Vec<Assignment>,
    has_access: bool,
    parts: usize,
    /// The temporaries in use.
    used: usize,
    /// What was read (an index in a temporary), and the temporary that holds the value.
    reads: Vec<(Reference, usize)>,
    /// Writes to come: where (an index in a temporary), and the temporary with the value.
    writes: Vec<(Reference, usize)>,
}

impl<'p> Splitter<'p> {
    fn new(program: &'p Program, own: usize) -> Splitter<'p> {
        let thread = Thread { instructions: Vec::new(), ..program.threads[own].clone() };
        let num_of_locals = thread.locals.len();
        Splitter { program, own, thread, origins: Vec::new(), num_of_locals, num_of_temporaries: 0 }
    }

    fn finish(mut self) -> (Thread, Vec<Origin>) {
        let temporary = |number| Variable {
            // No language has names with a blank.
            name: format!("temporary {number}"),
            ty: Type::Integer,
            modulus: None,
            is_array: false,
            initial: vec![0],
            span: Span::default(),
        };
        self.thread.locals.extend((0..self.num_of_temporaries).map(temporary));
        (self.thread, self.origins)
    }

    fn instruction(&mut self, number: usize, is_split: bool) {
        let instructions = &self.program.threads[self.own].instructions;
        let instruction = &instructions[number];
        // Priorities are written out as conditions, as those that they speak of may be split.
        let refusing = outranked(instructions, number).map(not);
        let condition = refusing.chain(instruction.condition.clone()).reduce(and);
        if !is_split {
            self.thread.instructions.push(Instruction { priority: 0, condition, ..instruction.clone() });
            self.origins.push(Origin { instruction: number, completes: true });
            return;
        }
        let mut progress = Progress {
            number,
            from: instruction.from,
            condition: None,
            assignments: Vec::new(),
            has_access: false,
            parts: 0,
            used: 0,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        if let Some(condition) = condition {
            let condition = self.expression(&condition, &mut progress);
            if progress.has_access {
                self.end_part(&mut progress);
            }
            progress.condition = Some(condition);
        }
        for assignment in &instruction.assignments {
            self.assignment(assignment, &mut progress);
        }
        let writes = std::mem::take(&mut progress.writes);
        for (position, (target, value)) in writes.iter().enumerate() {
            self.begin_access(&mut progress);
            let target = unless_overwritten(target, writes[position + 1..].iter().map(|(later, _)| later));
            progress.assignments.push(Assignment { target, value: self.temporary(*value) });
        }
        for used in 0..progress.used {
            let target = self.temporary_reference(used);
            progress.assignments.push(Assignment { target, value: Expression::Constant(0) });
        }
        self.add_part(&mut progress, instruction.to, true);
    }

    fn assignment(&mut self, assignment: &Assignment, progress: &mut Progress) {
        let target = &assignment.target;
        let value = self.expression(&assignment.value, progress);
        let index = target.index.as_ref().map(|index| self.expression(index, progress));
        if target.scope == Scope::Local {
            let target = Reference { index: index.map(Box::new), ..target.clone() };
            progress.assignments.push(Assignment { target, value });
            return;
        }
        let value = match target.variable(self.program, self.own).modulus {
            Some(modulus) => binary(BinaryOperator::Modulo, value, Expression::Constant(modulus)),
            None => value,
        };
        let value = self.keep(value, progress);
        // Locals that the index is computed from may change before the write.
        let index = index.map(|index| match index {
            Expression::Constant(_) => index,
            computed => {
                let kept = self.keep(computed, progress);
                self.temporary(kept)
            }
        });
        let target = Reference { index: index.map(Box::new), ..target.clone() };
        progress.writes.retain(|(earlier, _)| !is_same_location(earlier, &target));
        progress.writes.push((target, value));
    }

    /// The expression with temporaries for its shared reads, which become parts of their own.
    fn expression(&mut self, expression: &Expression, progress: &mut Progress) -> Expression {
        match expression {
            Expression::Constant(_) => expression.clone(),
            Expression::Unary(operator, operand) => {
                Expression::Unary(*operator, Box::new(self.expression(operand, progress)))
            }
            Expression::Binary(operator, left, right, span) => {
                let (left, right) = (self.expression(left, progress), self.expression(right, progress));
                Expression::Binary(*operator, Box::new(left), Box::new(right), *span)
            }
            Expression::Read(reference) => {
                let index = reference.index.as_ref().map(|index| Box::new(self.expression(index, progress)));
                let reference = Reference { index, ..reference.clone() };
                match reference.scope {
                    Scope::Local => Expression::Read(reference),
                    Scope::Shared => self.read(reference, progress),
                }
            }
        }
    }

    /// The value of a shared variable or element: what is known of it, or a read of its own.
    fn read(&mut self, reference: Reference, progress: &mut Progress) -> Expression {
        // Locals that an index is computed from may change while its value is still needed.
        let index = reference.index.map(|index| match *index {
            Expression::Constant(_) => index,
            computed => {
                let kept = self.keep(computed, progress);
                Box::new(self.temporary(kept))
            }
        });
        let reference = Reference { index, ..reference };
        let is_of_it = |(known, _): &&(Reference, usize)| known.variable == reference.variable;
        let is_it = |(known, _): &&(Reference, usize)| is_same_location(known, &reference);
        let last_write = progress.writes.iter().rev().find(is_of_it);
        let known = match last_write {
            Some(write) => Some(write).filter(is_it),
            None => progress.reads.iter().find(is_it),
        };
        if let Some((_, known)) = known {
            return self.temporary(*known);
        }
        self.begin_access(progress);
        let slot = self.keep(Expression::Read(reference.clone()), progress);
        // It may turn out to be an element that was read before, or that this instruction is about to write.
        let known: Vec<(Reference, usize)> = progress.reads.iter().chain(&progress.writes).cloned().collect();
        for (target, value) in known {
            let (Some(read), Some(known)) = (&reference.index, &target.index) else { continue };
            if target.variable != reference.variable {
                continue;
            }
            let same = binary(BinaryOperator::Equal, (**read).clone(), (**known).clone());
            let own = binary(BinaryOperator::Multiply, same.clone(), self.temporary(value));
            let other = binary(BinaryOperator::Multiply, not(same), self.temporary(slot));
            let value = binary(BinaryOperator::Add, own, other);
            progress.assignments.push(Assignment { target: self.temporary_reference(slot), value });
        }
        progress.reads.push((reference, slot));
        self.temporary(slot)
    }

    /// Puts a value into a temporary.
    fn keep(&mut self, value: Expression, progress: &mut Progress) -> usize {
        let slot = progress.used;
        progress.used += 1;
        self.num_of_temporaries = self.num_of_temporaries.max(progress.used);
        progress.assignments.push(Assignment { target: self.temporary_reference(slot), value });
        slot
    }

    fn temporary(&self, slot: usize) -> Expression {
        Expression::Read(self.temporary_reference(slot))
    }

    fn temporary_reference(&self, slot: usize) -> Reference {
        Reference { scope: Scope::Local, variable: self.num_of_locals + slot, index: None, span: Span::default() }
    }

    /// An access comes next: the part at hand ends if it has one.
    fn begin_access(&mut self, progress: &mut Progress) {
        if progress.has_access {
            self.end_part(progress);
        }
        progress.has_access = true;
    }

    fn end_part(&mut self, progress: &mut Progress) {
        let between = self.thread.states.len();
        let name = &self.program.threads[self.own].instructions[progress.number].name;
        self.thread.states.push(format!("{name} part {}", progress.parts + 1));
        self.add_part(progress, between, false);
        progress.from = between;
    }

    /// Adds the part at hand and, if it decides, the way back.
    fn add_part(&mut self, progress: &mut Progress, to: usize, completes: bool) {
        let whole = &self.program.threads[self.own].instructions[progress.number];
        let condition = progress.condition.take();
        let name = |way: &str| format!("{} part {}{way}", whole.name, progress.parts);
        if let (Some(condition), true) = (&condition, progress.parts > 0) {
            let clear = (0..progress.used)
                .map(|slot| Assignment { target: self.temporary_reference(slot), value: Expression::Constant(0) });
            self.thread.instructions.push(Instruction {
                name: name(" refused"),
                from: progress.from,
                to: whole.from,
                priority: 0,
                condition: Some(not(condition.clone())),
                assignments: clear.collect(),
                ..whole.clone()
            });
            self.origins.push(Origin { instruction: progress.number, completes: false });
        }
        self.thread.instructions.push(Instruction {
            name: name(""),
            from: progress.from,
            to,
            priority: 0,
            condition,
            assignments: std::mem::take(&mut progress.assignments),
            ..whole.clone()
        });
        self.origins.push(Origin { instruction: progress.number, completes });
        progress.parts += 1;
        progress.has_access = false;
    }
}

/// An element that is written only if no later write goes to the same one: else the index is out of range, and nothing is written.
fn unless_overwritten<'r>(target: &Reference, later: impl Iterator<Item = &'r Reference>) -> Reference {
    let Some(index) = &target.index else { return target.clone() };
    let same = |later: &Reference| {
        let later = later.index.as_ref().filter(|_| later.variable == target.variable)?;
        Some(binary(BinaryOperator::Equal, (**index).clone(), (**later).clone()))
    };
    let Some(overwritten) = later.filter_map(same).reduce(|a, b| binary(BinaryOperator::Or, a, b)) else {
        return target.clone();
    };
    let kept = binary(BinaryOperator::Multiply, (**index).clone(), not(overwritten.clone()));
    let index = binary(BinaryOperator::Subtract, kept, overwritten);
    Reference { index: Some(Box::new(index)), ..target.clone() }
}

fn not(expression: Expression) -> Expression {
    Expression::Unary(UnaryOperator::Not, Box::new(expression))
}

fn and(left: Expression, right: Expression) -> Expression {
    binary(BinaryOperator::And, left, right)
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), Span::default())
}
