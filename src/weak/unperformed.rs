//! What the machines with store buffers do not perform, and so refuse.
//!
//! - *Atomic instructions that are no fences*, on PSO. On TSO an atomic instruction waits until the buffer is empty,
//!   as every locked instruction of x86 does, and then it is a full fence whatever its marks are. On PSO its write does
//!   not wait for earlier ones to other locations, and the machine of PSO makes it wait: it would have too few runs.
//! - *Pairs of a load and a store exclusive*, whose store fails if somebody wrote in between: machines know nothing of
//!   pairs, and neither do explorations and the event graph. Only axioms do.

use super::Machine;
use crate::program::{At, InstructionKind, Program};

/// An instruction that is not performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unperformed {
    /// It is atomic and no fence, and so it is on no machine of PSO.
    NoFence(At),
    /// It is one of a pair of a load and a store exclusive.
    Exclusive(At),
}

impl Machine {
    /// The first instruction that it does not perform.
    #[must_use]
    pub fn refuses(self, program: &Program) -> Option<Unperformed> {
        if let Some(at) = program.exclusive() {
            return Some(Unperformed::Exclusive(at));
        }
        let is_no_fence = |kind| self == Machine::Pso && matches!(kind, InstructionKind::Rmw(_));
        let mut instructions = program.instructions_at();
        instructions.find(|(_, known)| is_no_fence(known.kind)).map(|(at, _)| Unperformed::NoFence(at))
    }
}

impl Unperformed {
    /// The instruction.
    #[must_use]
    pub fn at(self) -> At {
        match self {
            Unperformed::NoFence(at) | Unperformed::Exclusive(at) => at,
        }
    }

    /// What is wrong, and what to do.
    #[must_use]
    pub fn problem(self, program: &Program) -> String {
        match self {
            Unperformed::Exclusive(at) => program.exclusive_problem(at),
            Unperformed::NoFence(at) => format!(
                "{} is atomic and no full fence, which the machine of PSO does not perform: write `atomic [ … ]`, if it is a full fence where the program runs; the event graph (--engine cycles) takes it as it is",
                program.name_of(at)
            ),
        }
    }
}
