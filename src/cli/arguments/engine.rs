//! Which property, and which engine.

use crate::engines::buffer_automata::Reductions;
use crate::engines::partial_coherence::{Abstracting, Coherence, Inference, Reduction};
use clap::{Args, ValueEnum};

/// Which property, and who decides it.
#[derive(Args)]
pub struct EngineArguments {
    /// Which method: a name from 'seqcon engines' [default: the first that decides the property; for 'verify', that
    /// runs the program]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// What must hold [default: robust, or what the engine is for; with --never: never]
    #[arg(long, value_enum, value_name = "NAME", conflicts_with = "deadlock")]
    pub property: Option<PropertyArgument>,
    /// No state satisfies this condition over shared variables, Thread.variable and Thread@State, for example
    /// 'P0@CS and P1@CS', nor those that the specification itself forbids; may be given several times. It is judged
    /// where all store buffers are empty and every thread is between two instructions: a write that is merely on its
    /// way does not count. Of a program in the language of Remmex also an error state, '2 6 6'
    #[arg(long, value_name = "EXPR", conflicts_with = "deadlock", allow_hyphen_values = true)]
    pub never: Vec<String>,
    /// No state is a deadlock: all threads stuck, and one of them not at its end (the same as --property no-deadlock)
    #[arg(long)]
    pub deadlock: bool,
    /// What --engine partial-coherence keeps of a store buffer: which writes wait (set); or the oldest K in order,
    /// which others wait, and the newest (full:K), where sets that differ can be united (partial:K) [default: full:1]
    #[arg(long, value_name = "set|full:K|partial:K")]
    pub buffers: Option<Coherence>,
    /// How --engine partial-coherence learns from a run of its abstraction: by the sites that are passed while
    /// something waits, or by the paper's formula over ordering constraints, for comparison [default: sites]
    #[arg(long, value_enum, value_name = "sites|constraints", hide_possible_values = true)]
    pub inference: Option<InferenceArgument>,
    /// For comparison: have --engine partial-coherence take the program as it is written (no two states of a thread
    /// are one, and no step is made at once), and --engine buffer-automata follow all steps from all states
    #[arg(long, conflicts_with = "reduction")]
    pub no_reduction: bool,
    /// Which steps --engine buffer-automata leaves out: those of others where a thread can go first (persistent), one
    /// order of steps that are independent (sleep), or both [default: persistent]
    #[arg(long, value_enum, value_name = "persistent|sleep|both", hide_possible_values = true)]
    pub reduction: Option<ReductionArgument>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReductionArgument {
    Persistent,
    Sleep,
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum InferenceArgument {
    Sites,
    Constraints,
}

impl EngineArguments {
    /// How store buffers are abstracted.
    pub fn abstracting(&self) -> Abstracting {
        let usual = Abstracting::default();
        Abstracting {
            coherence: self.buffers.unwrap_or(usual.coherence),
            reduction: if self.no_reduction { Reduction::Off } else { usual.reduction },
            inference: match self.inference {
                None => usual.inference,
                Some(InferenceArgument::Sites) => Inference::Sites,
                Some(InferenceArgument::Constraints) => Inference::Constraints,
            },
        }
    }

    /// Which reductions are used where store buffers are automata.
    pub fn reductions(&self) -> Reductions {
        match self.reduction {
            _ if self.no_reduction => Reductions::NONE,
            None => Reductions::default(),
            Some(ReductionArgument::Persistent) => Reductions { persistent: true, sleep: false },
            Some(ReductionArgument::Sleep) => Reductions { persistent: false, sleep: true },
            Some(ReductionArgument::Both) => Reductions::ALL,
        }
    }

    /// The options of the engine that were given.
    pub fn of_engine(&self) -> [(bool, &'static str); 4] {
        [
            (self.buffers.is_some(), "--buffers"),
            (self.inference.is_some(), "--inference"),
            (self.no_reduction, "--no-reduction"),
            (self.reduction.is_some(), "--reduction"),
        ]
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum PropertyArgument {
    /// Every run is sequentially consistent
    #[value(alias = "traces")]
    Robust,
    /// Every run has the program order and the store order of a sequentially consistent run
    Persistent,
    /// Every state between instructions with empty buffers is reached under sequential consistency (armv7, power:
    /// every final state)
    #[value(alias = "states")]
    SameStates,
    /// No state satisfies a condition that the specification forbids (never, assert, forbidden), or --never
    Never,
    /// No final state has the outcome that a litmus test asks for (of a forall: all have it)
    Final,
    /// No state with empty buffers is a deadlock
    NoDeadlock,
}
