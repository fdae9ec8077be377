//! Programs whose instructions make at most one shared access each: the others are split, program to program.
//!
//! Methods that were defined on languages of loads and stores need them. An instruction with several shared accesses
//! becomes a sequence of instructions in the order in which a compiler would perform them: the reads of its
//! condition, the decision, the reads of its assignments, then its writes, each in the order of the text. Every
//! mention of a shared variable is an access of its own. Before a read of something that may be about to be written
//! (the same variable, or an element of the same array, unless the indices are different constants) the writes are
//! performed that the text has before it. A condition that does not hold leads back to where the instruction began,
//! with its reads made. Values that are still needed wait in temporaries, locals of the thread that are 0 between
//! instructions.
//!
//! Atomic instructions and fences stay whole. So does every instruction with at most one access, and a program that
//! has no others stays exactly as it is.
//!
//! *Compared with [`weak::split`](crate::weak::split)*, which allows every order that the dependencies of an
//! instruction allow, this is one of those orders.

use super::compiled::outranked;
use super::{
    Assignment, At, BinaryOperator, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread,
    Type, UnaryOperator, Variable,
};
use crate::ids::{ControlAt, InstrAt, ThreadAt};

/// Where an instruction of a split program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The instruction of the program as it was, by position in its thread.
    pub instruction: InstrAt,
    /// Whether that instruction is complete behind this one: what stands after it comes now.
    pub completes: bool,
}

/// A program of single accesses.
#[derive(Clone, Debug)]
pub struct SingleAccess {
    /// The program.
    pub program: Program,
    /// For each thread and instruction, where it comes from.
    origins: Vec<Vec<Origin>>,
}

impl SingleAccess {
    /// Where an instruction of the split program comes from.
    #[must_use]
    pub fn origin(&self, at: At) -> Origin {
        self.origins[at.thread.index()][at.instruction.index()]
    }

    /// Splits the instructions of a program.
    #[must_use]
    pub fn of(program: &Program) -> SingleAccess {
        let mut single = SingleAccess { program: program.clone(), origins: Vec::new() };
        for (position, thread) in program.threads_at() {
            let all = InstrAt::all(thread.instructions.len());
            let needs = |number: InstrAt| num_of_accesses(thread, number) > 1;
            if !all.clone().any(needs) {
                let whole = |instruction| Origin { instruction, completes: true };
                single.origins.push(all.map(whole).collect());
                continue;
            }
            let mut splitter = Splitter::new(program, position);
            for number in all {
                splitter.instruction(number, needs(number));
            }
            let (thread, origins) = splitter.finish();
            *single.program.thread_mut(position) = thread;
            single.origins.push(origins);
        }
        single
    }
}

/// How many shared accesses an instruction makes at most, one that stays whole counting as one.
fn num_of_accesses(thread: &Thread, number: InstrAt) -> usize {
    let instruction = thread.instruction(number);
    if instruction.is_atomic() || instruction.kind == InstructionKind::Fence {
        return 1;
    }
    let conditions = outranked(thread, number).chain(instruction.condition.clone());
    let in_assignment = |assignment: &Assignment| {
        let index = assignment.target.index.as_ref().map_or(0, |index| num_of_reads(index));
        let writes = usize::from(assignment.target.scope == Scope::Shared);
        num_of_reads(&assignment.value) + index + writes
    };
    conditions.map(|condition| num_of_reads(&condition)).sum::<usize>()
        + instruction.assignments.iter().map(in_assignment).sum::<usize>()
}

/// How many shared reads an expression mentions.
fn num_of_reads(expression: &Expression) -> usize {
    match expression {
        Expression::Constant(_) => 0,
        Expression::Read(reference) => {
            let index = reference.index.as_ref().map_or(0, |index| num_of_reads(index));
            index + usize::from(reference.scope == Scope::Shared)
        }
        Expression::Unary(_, operand) => num_of_reads(operand),
        Expression::Binary(_, left, right, _) => num_of_reads(left) + num_of_reads(right),
    }
}

/// Whether two shared references may name one location: the same variable, with no different constant indices.
fn may_be_same_location(a: &Reference, b: &Reference) -> bool {
    let are_different = match (&a.index, &b.index) {
        (Some(a), Some(b)) => matches!((&**a, &**b), (Expression::Constant(a), Expression::Constant(b)) if a != b),
        _ => false,
    };
    a.variable == b.variable && !are_different
}

/// Splits the instructions of one thread.
struct Splitter<'p> {
    program: &'p Program,
    own: ThreadAt,
    thread: Thread,
    origins: Vec<Origin>,
    num_of_locals: usize,
    num_of_temporaries: usize,
}

/// The instruction that is being split.
struct Progress {
    number: InstrAt,
    /// From which control state the part at hand is taken.
    from: ControlAt,
    condition: Option<Expression>,
    assignments: Vec<Assignment>,
    has_access: bool,
    parts: usize,
    /// The temporaries in use.
    used: usize,
    /// Writes to come: where (an index in a temporary), and the temporary with the value.
    writes: Vec<(Reference, usize)>,
}

impl<'p> Splitter<'p> {
    fn new(program: &'p Program, own: ThreadAt) -> Splitter<'p> {
        let thread = Thread { instructions: Vec::new(), ..program.thread(own).clone() };
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

    fn instruction(&mut self, number: InstrAt, is_split: bool) {
        let thread = self.program.thread(self.own);
        let instruction = thread.instruction(number);
        // Priorities are written out as conditions, as those that they speak of may be split.
        let refusing = outranked(thread, number).map(not);
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
        self.write_all(&mut progress);
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
        progress.writes.push((target, value));
    }

    /// Performs the writes to come.
    fn write_all(&mut self, progress: &mut Progress) {
        for (target, value) in std::mem::take(&mut progress.writes) {
            self.begin_access(progress);
            progress.assignments.push(Assignment { target, value: self.temporary(value) });
        }
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

    /// The value of a shared variable or element, by a read of its own.
    fn read(&mut self, reference: Reference, progress: &mut Progress) -> Expression {
        if progress.writes.iter().any(|(target, _)| may_be_same_location(target, &reference)) {
            self.write_all(progress);
        }
        self.begin_access(progress);
        let slot = self.keep(Expression::Read(reference), progress);
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
        let between = ControlAt::new(self.thread.states.len());
        let name = &self.program.thread(self.own).instruction(progress.number).name;
        self.thread.states.push(format!("{name} part {}", progress.parts + 1));
        self.add_part(progress, between, false);
        progress.from = between;
    }

    /// Adds the part at hand and, if it decides, the way back.
    fn add_part(&mut self, progress: &mut Progress, to: ControlAt, completes: bool) {
        let whole = self.program.thread(self.own).instruction(progress.number);
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

fn not(expression: Expression) -> Expression {
    Expression::Unary(UnaryOperator::Not, Box::new(expression))
}

fn and(left: Expression, right: Expression) -> Expression {
    binary(BinaryOperator::And, left, right)
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), Span::default())
}
