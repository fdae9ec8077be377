//! What a transition carries: (thread, instruction, the accesses it made, how they depend on each other).
//!
//! This is the *label* of the method's vocabulary (method §1). A label is a value: two labels are the same
//! label exactly when they are equal here, whatever their spelling was in the input. Its [`Display`](fmt::Display)
//! form is the native dialect, which [`dialect::native`](super::dialect::native) reads back.
//!
//! A label is a sequence of [steps](Step). A *condition* only reads, to decide; an *assignment* reads and writes.
//! Every write of an assignment depends by `data` on all reads of that assignment; every access depends by `addr` on
//! the accesses that its address needs; every access of an assignment depends by `ctrl` on the reads of the condition
//! before it (method §3). Each mention of a shared variable is an access of its own: `x := x, x` reads x twice.

#![forbid(unsafe_code)]

use crate::ordering::{Marks, PartialFence};
use std::fmt;

/// A variable access as it is written in a label: which variable, and what its address needed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The name, with the evaluated index if it is an array element: `turn`, `v[0]`.
    pub name: String,
    /// A thread-local variable carries dependencies and is never part of a cycle.
    pub local: bool,
    /// The reads that computed the address.
    pub address: Vec<Access>,
}

/// One step of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A condition: reads, to decide.
    Condition {
        /// What was read.
        reads: Vec<Access>,
    },
    /// An assignment, or several at once.
    Assignment {
        /// What was written.
        writes: Vec<Access>,
        /// What was read to compute the values.
        reads: Vec<Access>,
    },
}

/// How an instruction takes part in the ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelKind {
    /// An ordinary instruction.
    Plain,
    /// An ordinary instruction whose accesses carry marks.
    Marked(Marks),
    /// A fence: no accesses, preserved against everything.
    Fence,
    /// A fence that orders less than all: no accesses.
    PartialFence(PartialFence),
    /// An atomic instruction: whole, and preserved against everything.
    Atomic,
    /// An atomic instruction that orders nothing but by its marks.
    Rmw(Marks),
}

/// A transition label: one evaluation of one static instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// The thread's name.
    pub thread: String,
    /// The instruction's name, unique within its thread.
    pub instr: String,
    /// Plain, fence or atomic.
    pub kind: LabelKind,
    /// The condition was evaluated to false (`?!`); known in dialects that tell.
    pub refused: bool,
    /// The steps in order; a later step sees what an earlier one did to the locals.
    pub steps: Vec<Step>,
}

impl Label {
    /// Whether the label has a condition and no write: a self-loop of such a label is a *blocked evaluation*
    /// (method §2), any other self-loop is a real step.
    #[must_use]
    pub fn is_only_a_condition(&self) -> bool {
        let condition = self.steps.iter().any(|step| matches!(step, Step::Condition { .. }));
        condition && !self.has_write()
    }

    /// Whether any step writes a variable, shared or local.
    #[must_use]
    pub fn has_write(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Assignment { writes, .. } if !writes.is_empty()))
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.local {
            f.write_str("~")?;
        }
        f.write_str(&self.name)?;
        if !self.address.is_empty() {
            f.write_str("@(")?;
            write_list(f, &self.address)?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.thread, self.instr)?;
        if self.steps.is_empty() && self.kind == LabelKind::Plain {
            return Ok(());
        }
        write!(f, ": {}", StepsOf(self))
    }
}

/// The steps of a label alone, without the thread and the instruction: `? b1`, `v[0]@(~x) := v[0]@(~x)`.
pub struct StepsOf<'a>(pub &'a Label);

impl fmt::Display for StepsOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind {
            LabelKind::Fence => f.write_str("fence"),
            LabelKind::PartialFence(kind) => write!(f, "fence {kind}"),
            LabelKind::Plain | LabelKind::Marked(_) | LabelKind::Atomic | LabelKind::Rmw(_) => write_steps(f, self.0),
        }
    }
}

fn write_steps(f: &mut fmt::Formatter<'_>, label: &Label) -> fmt::Result {
    match label.kind {
        LabelKind::Atomic => f.write_str("atomic ")?,
        LabelKind::Rmw(marks) => write!(f, "atomic [{marks}] ")?,
        LabelKind::Marked(marks) => write!(f, "[{marks}] ")?,
        LabelKind::Plain | LabelKind::Fence | LabelKind::PartialFence(_) => {}
    }
    for (position, step) in label.steps.iter().enumerate() {
        if position > 0 {
            f.write_str("; ")?;
        }
        match step {
            Step::Condition { reads } => {
                f.write_str(if label.refused { "?!" } else { "?" })?;
                if !reads.is_empty() {
                    f.write_str(" ")?;
                }
                write_list(f, reads)?;
            }
            Step::Assignment { writes, reads } => {
                write_list(f, writes)?;
                f.write_str(if writes.is_empty() { ":=" } else { " :=" })?;
                if !reads.is_empty() {
                    f.write_str(" ")?;
                }
                write_list(f, reads)?;
            }
        }
    }
    Ok(())
}

fn write_list(f: &mut fmt::Formatter<'_>, accesses: &[Access]) -> fmt::Result {
    for (position, access) in accesses.iter().enumerate() {
        if position > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{access}")?;
    }
    Ok(())
}
