//! Trials: is a program right under a memory model, with suggestions put in (method §10)?
//!
//! The [semantics](Semantics) of the model decides how: on a machine with store buffers all runs are judged by
//! [`verify`](crate::weak::verify), access by access; by axioms an execution of the repaired program is looked for that
//! is not one of sequential consistency, or ends elsewhere, and where whole instructions count none may be torn.
//!
//! ```
//! use seqcon::Atomicity;
//! use seqcon::memory::MemoryModel;
//! use seqcon::outline::{Outline, Site};
//! use seqcon::repair::Repair;
//! use seqcon::trial::{Limits, Trial};
//! use seqcon::property::Property;
//! use seqcon::Verdict;
//!
//! let text = "model sb { classes C { variables Integer x Integer y state machines
//!     t { variables Integer r initial a states b c transitions a -> b { x := 1 } b -> c { r := y } }
//!     u { variables Integer r initial a states b c transitions a -> b { y := 1 } b -> c { r := x } } }
//!     objects o : C() }";
//! let program = seqcon::lang::parse("sb.slco", text).expect("it is well-formed").program;
//! let outline = Outline::of_program(&program);
//! let tso = MemoryModel::named("tso").expect("built in");
//! let verdict = |repair: &Repair| {
//!     let trial = Trial {
//!         program: &program,
//!         outline: &outline,
//!         model: &tso,
//!         repair,
//!         atomicity: Atomicity::Full,
//!         property: &Property::Robust,
//!         limits: Limits { states: 10_000, buffer: 4, unroll: 4 },
//!         budget: seqcon::budget::Budget::default(),
//!     };
//!     trial.run().expect("short instructions, and a model with a machine").1
//! };
//! assert!(matches!(verdict(&Repair::default()), Verdict::Violated(_)));
//! let write = |thread: &str| outline.find(thread, "0").expect("the first instruction of the thread");
//! let fences = Repair::full(["t", "u"].map(|thread| Site::after(write(thread))));
//! assert!(matches!(verdict(&fences), Verdict::Verified(_)));
//! ```

use crate::budget::Budget;
use crate::confirm::granularity;
use crate::cycles::Atomicity;
use crate::memory::MemoryModel;
use crate::outline::Outline;
use crate::program::{At, Program, Scope};
use crate::property::{ConditionFault, Property, PropertyKind};
use crate::repair::Repair;
use crate::weak::axiomatic::beginnings::{self, Bounds};
use crate::weak::axiomatic::{self, Model};
use crate::weak::by_rounds;
use crate::weak::forbidden::{self, Forbidden, Unjudged};
use crate::weak::semantics::{CannotRun, Semantics};
use crate::weak::split::{SplitProgram, TooLong};
use crate::weak::torn::{Torn, torn};
use crate::weak::unperformed::Unperformed;
use crate::weak::verify::{Compared, Limit, Question, Verdict, Violation, robust, same_states};
use crate::weak::{Granularity, Machine};

/// A program with suggestions, and what is asked of it.
pub struct Trial<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its outline.
    pub outline: &'a Outline,
    /// The memory model.
    pub model: &'a MemoryModel,
    /// What is put in.
    pub repair: &'a Repair,
    /// How instructions with several accesses are read.
    pub atomicity: Atomicity,
    /// What must hold: robustness, the same states, or a property of states.
    pub property: &'a Property,
    /// How far searches go.
    pub limits: Limits,
    /// Time and memory.
    pub budget: Budget,
}

/// How far the searches of a trial go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most states, and the most beginnings of executions.
    pub states: usize,
    /// The most writes in a store buffer.
    pub buffer: usize,
    /// How often an instruction is taken at most, where executions are looked at.
    pub unroll: usize,
}

/// Why there is no verdict.
#[derive(Debug)]
pub enum Trouble {
    /// Nothing runs the memory model.
    CannotRun(CannotRun),
    /// The machine does not perform an instruction.
    Unperformed(Unperformed),
    /// An instruction is too long to be performed access by access.
    TooLong(TooLong),
    /// An execution goes wrong.
    Execution(axiomatic::Failure),
    /// Nobody here decides the property.
    Undecidable(PropertyKind),
    /// The condition cannot be evaluated in a state that is reached.
    Condition(ConditionFault),
    /// An instruction goes wrong.
    GoesWrong(At),
    /// The program is too large for the search, or has no bound that it can find: why, and what to do.
    Unbounded(String),
}

/// Whether no forbidden state is reached with so many waiting writes.
pub(crate) fn within_bound(
    split: &SplitProgram,
    question: &Question,
    forbidden: Forbidden<'_>,
) -> Result<Verdict, Trouble> {
    match forbidden::search(split, question, forbidden) {
        Ok(verdict) => Ok(verdict),
        Err(Unjudged::Limit(limit)) => Ok(Verdict::Undecided(limit.into())),
        Err(Unjudged::Fault(fault)) => Err(Trouble::Condition(fault)),
        Err(Unjudged::GoesWrong(at)) => Err(Trouble::GoesWrong(at)),
    }
}

impl Trial<'_> {
    /// The repaired program, access by access, and the verdict on it.
    ///
    /// # Errors
    /// If the model or the program cannot be run.
    pub fn run(&self) -> Result<(SplitProgram, Verdict), Trouble> {
        let semantics = Semantics::of(self.model).map_err(Trouble::CannotRun)?;
        if let Semantics::Machine(_) = semantics {
            self.machine()?;
        }
        let (split, repair) = self.repaired()?;
        if let (Some(forbidden), Semantics::Machine(machine)) = (Forbidden::by(self.property), &semantics) {
            let verdict = self.never(&split, &self.question(*machine), forbidden)?;
            return Ok((split, verdict));
        }
        if let Some(verdict) = self.torn(&split, &semantics) {
            return Ok((split, verdict));
        }
        let verdict = match semantics {
            Semantics::Machine(machine) => {
                let question = self.question(machine);
                match self.property {
                    Property::Robust => robust(&split, &question),
                    Property::SameStates => same_states(&split, &question),
                    other => return Err(Trouble::Undecidable(other.kind())),
                }
            }
            Semantics::Axioms(axioms) => self.by_axioms(&repair, &axioms)?,
        };
        Ok((split, verdict))
    }

    /// The machine of the model, if it performs the program.
    pub(crate) fn machine(&self) -> Result<Machine, Trouble> {
        let machine = Machine::of(self.model).map_err(Trouble::CannotRun)?;
        machine.refuses(self.program).map_or(Ok(machine), |unperformed| Err(Trouble::Unperformed(unperformed)))
    }

    /// The program with what is put in, access by access, and what that is.
    pub(crate) fn repaired(&self) -> Result<(SplitProgram, Repair), Trouble> {
        let mut split = SplitProgram::new(self.program).map_err(Trouble::TooLong)?;
        let mut repair = self.repair.clone();
        if self.atomicity == Atomicity::Presumed {
            // Atomic by other means.
            repair.locked.extend(split.composites().into_iter().map(|at| self.outline.instr(at)));
        }
        repair.apply(self.outline, &mut split);
        split.budget = self.budget.clone();
        Ok((split, repair))
    }

    /// What is asked of the machine.
    pub(crate) fn question(&self, machine: Machine) -> Question {
        let Limits { states: limit, buffer: bound, .. } = self.limits;
        Question { machine, granularity: granularity(self.atomicity), bound, limit }
    }

    /// Whether no forbidden state is reached, by all states of the machine; where a buffer was full, and all runs are
    /// sequentially consistent, none but those are reached that were looked at.
    fn never(&self, split: &SplitProgram, question: &Question, forbidden: Forbidden<'_>) -> Result<Verdict, Trouble> {
        match within_bound(split, question, forbidden)? {
            bounded @ Verdict::Bounded { .. } => {
                let by_accesses = Question { granularity: Granularity::Accesses, ..*question };
                Ok(match robust(split, &by_accesses) {
                    Verdict::Verified(ground) => Verdict::Verified(ground),
                    _ => bounded,
                })
            }
            verdict => Ok(verdict),
        }
    }

    /// The verdict, if an instruction that is to be one step can be torn, where nobody else looks for that: machines do
    /// it themselves if all instructions are to be one step.
    fn torn(&self, split: &SplitProgram, semantics: &Semantics) -> Option<Verdict> {
        let writes = |torn: &Torn| {
            let assignments = &self.program.instruction(torn.at).assignments;
            assignments.iter().any(|assignment| assignment.target.scope == Scope::Shared)
        };
        let is_meant = |torn: &Torn| self.atomicity == Atomicity::Full || writes(torn);
        let is_looked_for = match semantics {
            Semantics::Machine(_) => self.atomicity == Atomicity::Updates,
            Semantics::Axioms(_) => matches!(self.atomicity, Atomicity::Full | Atomicity::Updates),
        };
        if !is_looked_for {
            return None;
        }
        match torn(split, self.limits.states) {
            Err(limit) => Some(Verdict::Undecided(limit.into())),
            Ok(torn) => torn.into_iter().find(is_meant).map(|torn| match (self.atomicity, self.property) {
                // Which states it would lead to as one step is not known.
                (Atomicity::Updates, Property::SameStates) => Verdict::Undecided(Limit::Torn),
                _ => Verdict::Violated(Box::new(Violation::Torn(torn))),
            }),
        }
    }

    fn by_axioms(&self, repair: &Repair, model: &Model) -> Result<Verdict, Trouble> {
        let repaired = repair.put_into(self.program);
        let Limits { states: beginnings, unroll: rounds, .. } = self.limits;
        if beginnings::applies(&repaired, model) {
            let most = Bounds { rounds, beginnings };
            let robust = by_rounds::robust(&repaired, model, most, &self.budget).map_err(Trouble::Execution)?;
            // Where all executions are sequentially consistent, so are all ends. Where one is not, its end may be.
            if *self.property == Property::Robust || !matches!(robust, Verdict::Violated(_)) {
                return Ok(robust);
            }
        }
        let compared = Compared::new(&repaired, model, rounds, &self.budget).map_err(Trouble::Execution)?;
        match self.property {
            Property::Robust => Ok(compared.robust()),
            Property::SameStates => Ok(compared.same_ends()),
            other => Err(Trouble::Undecidable(other.kind())),
        }
    }
}
