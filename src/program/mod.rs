//! The one program representation: threads as control-flow automata of instructions over shared variables and locals.
//!
//! Every input language is translated to a [`Program`]; nothing here knows any of them. An [`Instruction`] is one
//! atomic step: an optional condition, then assignments in order, of which later ones see what earlier ones did. All
//! values are 64-bit integers, checked; false and true are 0 and 1. Every instruction and variable knows its [`Span`]
//! in the source.
//!
//! *Semantics* (those of the published tool chain, so that state counts agree):
//!
//! - integers are mathematical (checked 64-bit), but what is assigned to a byte is taken modulo 256;
//! - an index out of range reads 0 or false, its write is ignored, and neither makes an access;
//! - an instruction is taken only if its condition holds and no instruction from the same control state with a smaller
//!   priority number can be taken; its condition then includes the conditions that it outranks, with their reads;
//! - an instruction that cannot be taken is a blocked evaluation: a self-loop with the reads of its condition;
//! - expressions are evaluated in full: `and` and `or` read both sides.

pub mod alike;
pub(crate) mod arithmetic;
pub mod compiled;
pub mod constants;
pub mod groups;
pub mod labels;
pub mod liveness;
pub mod single_access;

pub use crate::ordering::{Accesses, Marks, PartialFence};
pub use crate::text::Span;

use crate::ids::{ControlAt, InstrAt, ThreadAt};

/// Where an instruction stands in a program; the order is that of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// Its thread.
    pub thread: ThreadAt,
    /// Its position in the thread.
    pub instruction: InstrAt,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The variables that all threads see.
    pub shared: Vec<Variable>,
    /// The threads.
    pub threads: Vec<Thread>,
}

impl Program {
    /// A thread.
    #[must_use]
    pub fn thread(&self, thread: ThreadAt) -> &Thread {
        &self.threads[thread.index()]
    }

    /// A thread that is about to change.
    pub fn thread_mut(&mut self, thread: ThreadAt) -> &mut Thread {
        &mut self.threads[thread.index()]
    }

    /// The instruction that stands here.
    #[must_use]
    pub fn instruction(&self, at: At) -> &Instruction {
        self.thread(at.thread).instruction(at.instruction)
    }

    /// The threads, each with its position.
    pub fn threads_at(&self) -> impl Iterator<Item = (ThreadAt, &Thread)> {
        self.threads.iter().enumerate().map(|(position, thread)| (ThreadAt::new(position), thread))
    }

    /// The instructions of all threads, each with where it stands.
    pub fn instructions_at(&self) -> impl Iterator<Item = (At, &Instruction)> {
        self.threads_at().flat_map(|(thread, known)| {
            known.instructions_at().map(move |(instruction, known)| (At { thread, instruction }, known))
        })
    }

    /// The name of an instruction with that of its thread.
    #[must_use]
    pub fn name_of(&self, at: At) -> String {
        format!("{}.{}", self.thread(at.thread).name, self.instruction(at).name)
    }

    /// The first instruction that is one of a pair of a load and a store exclusive.
    #[must_use]
    pub fn exclusive(&self) -> Option<At> {
        let is_exclusive = |known: &Instruction| known.kind.marks().has(Marks::EXCLUSIVE);
        self.instructions_at().find(|(_, known)| is_exclusive(known)).map(|(at, _)| at)
    }

    /// Why who knows nothing of pairs refuses this instruction, and what to do.
    #[must_use]
    pub fn exclusive_problem(&self, at: At) -> String {
        format!(
            "{} is one of a pair of a load and a store exclusive: only the axioms know these pairs ('seqcon litmus', and 'seqcon verify' with --engine axioms); for anything else write an atomic instruction",
            self.name_of(at)
        )
    }

    /// How many locations the shared memory has.
    #[must_use]
    pub fn num_of_locations(&self) -> usize {
        self.shared.iter().map(|variable| variable.initial.len()).sum()
    }
}

/// The type of a variable or of an element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// 0 or 1.
    Boolean,
    /// An integer.
    Integer,
}

/// A variable or an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, unique among the shared ones or in its thread.
    pub name: String,
    /// The type of its value, or of its elements.
    pub ty: Type,
    /// Assigned values are taken modulo this: 256 for a byte.
    pub modulus: Option<i64>,
    /// Whether it is an array; then `initial` has a value for each element.
    pub is_array: bool,
    /// The values at the start; exactly one if it is no array.
    pub initial: Vec<i64>,
    /// Where it is declared.
    pub span: Span,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// Its own variables.
    pub locals: Vec<Variable>,
    /// The names of its control states; those between the statements of one transition have none of their own and are
    /// called after the transition.
    pub states: Vec<String>,
    /// Where it starts.
    pub initial: ControlAt,
    /// Its instructions, in the order of the source.
    pub instructions: Vec<Instruction>,
}

impl Thread {
    /// An instruction.
    #[must_use]
    pub fn instruction(&self, instruction: InstrAt) -> &Instruction {
        &self.instructions[instruction.index()]
    }

    /// An instruction that is about to change.
    pub fn instruction_mut(&mut self, instruction: InstrAt) -> &mut Instruction {
        &mut self.instructions[instruction.index()]
    }

    /// The instructions, each with its position.
    pub fn instructions_at(&self) -> impl Iterator<Item = (InstrAt, &Instruction)> {
        self.instructions.iter().enumerate().map(|(position, known)| (InstrAt::new(position), known))
    }

    /// The instructions that lead to a control state.
    pub fn ways_into(&self, state: ControlAt) -> impl Iterator<Item = InstrAt> {
        self.instructions_at().filter(move |(_, known)| known.to == state).map(|(position, _)| position)
    }
}

/// One atomic step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its name within the thread.
    pub name: String,
    /// From which control state it is taken.
    pub from: ControlAt,
    /// Where it leads.
    pub to: ControlAt,
    /// Smaller numbers come first.
    pub priority: u32,
    /// What must hold.
    pub condition: Option<Expression>,
    /// What it does, in order.
    pub assignments: Vec<Assignment>,
    /// Plain, a fence, or atomic on every memory model.
    pub kind: InstructionKind,
    /// Where it stands.
    pub span: Span,
}

impl Instruction {
    /// Whether it is atomic on every memory model, with order or without.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        matches!(self.kind, InstructionKind::Atomic | InstructionKind::Rmw(_))
    }
}

/// How an instruction mentions something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// Its value is used.
    Read,
    /// It gets a value.
    Written,
}

impl Instruction {
    /// Everything that it mentions, indices included, in the order of the text.
    pub fn for_each_reference(&self, visit: &mut impl FnMut(Mention, &Reference)) {
        self.condition.iter().for_each(|condition| condition.for_each_reference(visit));
        for Assignment { target, value } in &self.assignments {
            value.for_each_reference(visit);
            target.index.iter().for_each(|index| index.for_each_reference(visit));
            visit(Mention::Written, target);
        }
    }
}

impl Expression {
    fn for_each_reference(&self, visit: &mut impl FnMut(Mention, &Reference)) {
        match self {
            Expression::Constant(_) => {}
            Expression::Read(reference) => {
                reference.index.iter().for_each(|index| index.for_each_reference(visit));
                visit(Mention::Read, reference);
            }
            Expression::Unary(_, operand) => operand.for_each_reference(visit),
            Expression::Binary(_, left, right, _) => {
                left.for_each_reference(visit);
                right.for_each_reference(visit);
            }
        }
    }
}

/// How an instruction takes part in the ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionKind {
    /// An ordinary instruction.
    Plain,
    /// An ordinary instruction whose accesses carry marks.
    Marked(Marks),
    /// A full fence.
    Fence,
    /// A fence that orders less than all. Only some memory models know these; to the others they are instructions that
    /// do nothing, which is safe: less is ordered.
    PartialFence(PartialFence),
    /// Atomic on every memory model, and a full fence.
    Atomic,
    /// Atomic on every memory model; it orders nothing but by the marks of its accesses.
    Rmw(Marks),
}

impl InstructionKind {
    /// The same with these marks besides those that it has; fences and atomic instructions that are full fences stay as
    /// they are.
    #[must_use]
    pub fn marked(self, marks: Marks) -> InstructionKind {
        match self {
            InstructionKind::Plain if marks.is_empty() => InstructionKind::Plain,
            InstructionKind::Plain => InstructionKind::Marked(marks),
            InstructionKind::Marked(known) => InstructionKind::Marked(known.and(marks)),
            InstructionKind::Rmw(known) => InstructionKind::Rmw(known.and(marks)),
            InstructionKind::Fence | InstructionKind::PartialFence(_) | InstructionKind::Atomic => self,
        }
    }

    /// The marks of its accesses.
    #[must_use]
    pub fn marks(self) -> Marks {
        match self {
            InstructionKind::Marked(marks) | InstructionKind::Rmw(marks) => marks,
            InstructionKind::Plain
            | InstructionKind::Fence
            | InstructionKind::PartialFence(_)
            | InstructionKind::Atomic => Marks::NONE,
        }
    }
}

/// An assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// What is written.
    pub target: Reference,
    /// The value.
    pub value: Expression,
}

/// A variable or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Shared, or the thread's own.
    pub scope: Scope,
    /// The position among the variables of that scope.
    pub variable: usize,
    /// The index, if it is an array.
    pub index: Option<Box<Expression>>,
    /// Where it stands.
    pub span: Span,
}

impl Reference {
    /// The variable, in a program and one of its threads.
    #[must_use]
    pub fn variable<'p>(&self, program: &'p Program, thread: ThreadAt) -> &'p Variable {
        match self.scope {
            Scope::Shared => &program.shared[self.variable],
            Scope::Local => &program.thread(thread).locals[self.variable],
        }
    }

    /// The position of an element whose index is a constant in range: it is as good as a variable, and is not computed.
    #[must_use]
    pub fn constant_index(&self, program: &Program, thread: ThreadAt) -> Option<usize> {
        let Some(Expression::Constant(index)) = self.index.as_deref() else { return None };
        usize::try_from(*index).ok().filter(|position| *position < self.variable(program, thread).initial.len())
    }
}

/// Whose variable it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Shared by all threads.
    Shared,
    /// The thread's own.
    Local,
}

/// An expression; well-typed when it is in a [`Program`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A constant; false and true are 0 and 1.
    Constant(i64),
    /// The value of a variable.
    Read(Reference),
    /// An operator with one operand.
    Unary(UnaryOperator, Box<Expression>),
    /// An operator with two operands, and where it stands.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>, Span),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// Negation of a Boolean.
    Not,
    /// Negation of an integer.
    Minus,
    /// A Boolean as an integer: 1 if it holds, else 0.
    Indicator,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// Disjunction; both sides are evaluated.
    Or,
    /// Exclusive disjunction.
    Xor,
    /// Conjunction; both sides are evaluated.
    And,
    /// Equality, of integers or Booleans.
    Equal,
    /// Inequality.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterEqual,
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, rounded down.
    Divide,
    /// Remainder with the sign of the divisor.
    Modulo,
    /// Power; the exponent must not be negative.
    Power,
    /// Exclusive disjunction of integers, bit by bit.
    BitwiseXor,
    /// Conjunction of integers, bit by bit.
    BitwiseAnd,
    /// The left side, which must be at least 0 and less than the right side: anything else is a fault. Input
    /// languages in which an index out of range has no meaning bound their indices with it.
    Bounded,
}
