//! Which property, and which engine.

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
    /// way does not count
    #[arg(long, value_name = "EXPR", conflicts_with = "deadlock")]
    pub never: Vec<String>,
    /// No state is a deadlock: all threads stuck, and one of them not at its end (the same as --property no-deadlock)
    #[arg(long)]
    pub deadlock: bool,
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
