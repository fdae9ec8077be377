//! The result that every report takes: of what program, for which property, by which engine, and under each memory
//! model what fences are enough and why.
//!
//! A reason is a cycle ([`Delay`]) or a run ([`Told`]); both speak of [`Accesses`] and instructions of the program. The
//! event graph is an optional part, for what draws it: an engine that looks at none supplies none.

use super::{Analysis, EngineUse, Options, Told};
use crate::aeg::{Accesses, Profile};
use crate::budget::Exhausted;
use crate::caveat::Caveat;
use crate::cycles::{Atomicity, ConflictRule, Delay, Findings};
use crate::ids::InstrId;
use crate::memory::{FenceStrength, MemoryModel};
use crate::outline::Site;
use crate::placement::locks::Lock;
use crate::placement::{MinimalSets, Placement};
use crate::property::Property;
use crate::provenance::Provenance;
use crate::source::Source;
use std::time::Duration;

/// How much was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// The number of states.
    pub states: u64,
    /// The number of transitions.
    pub transitions: u64,
    /// A part is missing: there may be more to find.
    pub cut_off: bool,
    /// Why, in words, if one is: a limit with the option that raises it, or what the input lacks.
    pub missing: Option<String>,
}

/// What came of the search for fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// With the fences and locks in place the property holds.
    Enough,
    /// No fences are enough: the first of the [runs](ModelOutcome::runs), if there is one, has none that could stop it.
    Unfixable,
    /// No fences at the sites allowed are enough: the first of the [runs](ModelOutcome::runs) can only be stopped
    /// elsewhere.
    NotAtSites,
    /// No fences are enough for the abstraction that was looked at, which may have runs that the program does not have:
    /// what to try instead.
    NotAbstractly(String),
    /// It is not known which fences are enough, only that at least so many are needed; why.
    Undecided(usize, String),
}

impl Inserted {
    /// In a word, the same in tables and in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Inserted::Enough => "enough",
            Inserted::Unfixable => "unfixable",
            Inserted::NotAtSites => "not-at-sites",
            Inserted::NotAbstractly(_) => "not-abstractly",
            Inserted::Undecided(..) => "undecided",
        }
    }

    /// Whether no fences that are allowed are enough.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        matches!(self, Inserted::Unfixable | Inserted::NotAtSites)
    }
}

/// A fence to be put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Where.
    pub site: Site,
    /// Plain or cumulative.
    pub strength: FenceStrength,
    /// What the architecture calls it.
    pub mnemonic: String,
    /// What it costs.
    pub cost: u64,
    /// The delays that it serves, by position in [`Findings::delays`].
    pub delays: Vec<usize>,
    /// The runs that it stops, by position in [`ModelOutcome::runs`].
    pub runs: Vec<usize>,
}

/// The second look at the fences (method §10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recheck {
    /// It was taken: false if a limit was reached before, and then the rest means nothing.
    pub done: bool,
    /// With fences and locks in place nothing remains.
    pub enough: bool,
    /// Removing any one fence brings something back.
    pub each_needed: bool,
}

/// Whether some run really reorders a pair so that others can tell (method §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Such a run was found.
    Yes,
    /// There is none: proved.
    No,
    /// There is none once the fences are in place: proved. Without them nobody knows.
    NoLonger,
    /// Nobody asked, or a limit was reached, or no exact test is known.
    Unknown,
}

/// How far delays were confirmed (method §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirming {
    /// Nobody asked, or only the state space is known.
    NotAsked,
    /// No machine runs the memory model.
    NoMachine,
    /// The machine of the model does not perform an instruction of the program.
    Unperformed,
    /// The model's axioms were asked about every critical cycle.
    ByAxioms,
    /// They were, and of some cycles that ask for something, those round loops, only about the weakest way: marks on
    /// accesses between might do for less.
    ByAxiomsRoughly,
    /// They were not: after so many steps there were more cycles.
    TooManyCycles(u64),
    /// They were, and nothing that may be put in makes them forbid all: the fences are those of the table, and the
    /// answer is not complete.
    NoMixture,
    /// The searches came to an end.
    Done,
    /// Runs of few threads were searched for, and no others.
    OfFew,
    /// They did not, within so many states.
    OutOfStates(usize),
    /// They did not, within a limit of the command.
    Stopped(Exhausted),
}

impl Confirming {
    /// Whether the model's axioms were asked about every critical cycle.
    #[must_use]
    pub fn is_by_axioms(self) -> bool {
        matches!(self, Confirming::ByAxioms | Confirming::ByAxiomsRoughly)
    }
}

/// What running the repaired program under the memory model has shown (method §10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Nobody asked.
    NotAsked,
    /// It is right; this is what that rests on.
    Verified(String),
    /// It is wrong.
    Violated,
    /// Nothing is wrong up to a bound, and it is not known what happens beyond; this is what was looked at.
    Bounded(String),
    /// A limit was reached: which.
    Undecided(String),
}

impl Verification {
    /// Whether it was asked for and nobody knows.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Verification::Bounded(_) | Verification::Undecided(_))
    }
}

/// What another reading would answer under a memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherReading {
    /// The reading.
    pub atomicity: Atomicity,
    /// How many fences it asks for.
    pub fences: usize,
    /// How many locks.
    pub locks: usize,
    /// Whether all was seen that it depends on: else there may be more.
    pub complete: bool,
}

/// What robustness would need, beside what a property of states needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// How many fences.
    pub fences: usize,
    /// Whether it is proved of the program that no fewer are enough for robustness.
    pub is_fewest: bool,
    /// Those of them that the property does not ask for.
    pub spared: Vec<Site>,
}

/// Fences that are enough, and may be more than are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpperBound {
    /// Where they stand.
    pub fences: Vec<Site>,
    /// What it rests on that they are enough.
    pub rests_on: String,
}

/// The result under one memory model.
#[derive(Clone, Debug)]
pub struct ModelOutcome {
    /// The memory model.
    pub model: MemoryModel,
    /// What came of the search for fences.
    pub inserted: Inserted,
    /// The reasons that are cycles: delays, torn instructions, and cycles that were listed.
    pub findings: Findings,
    /// The reasons that are runs.
    pub runs: Vec<Told>,
    /// The fences, in the order of the program.
    pub fences: Vec<Fence>,
    /// The placement that they came from.
    pub placement: Placement,
    /// The locks, in the order in which they are acquired.
    pub locks: Vec<Lock>,
    /// The second look at the fences.
    pub recheck: Recheck,
    /// Instructions with several shared accesses that nothing makes atomic: how they are read decides the result.
    pub composites: Vec<InstrId>,
    /// Atomic instructions that stand where a fence would be needed, if somebody asked.
    pub atomic_fences: Vec<InstrId>,
    /// What other readings of these instructions would answer, if somebody asked.
    pub other_readings: Vec<OtherReading>,
    /// For each of [all delays](ModelOutcome::all_delays), whether a run was found that needs it; unknown where
    /// nobody asked.
    pub confirmations: Vec<Confirmation>,
    /// Delays that no run needs: they were proved infeasible, at least once the fences are in place, and no fence was
    /// placed for them.
    pub infeasible: Vec<Delay>,
    /// How far delays were confirmed.
    pub confirming: Confirming,
    /// All minimal sets of fences, if they were asked for.
    pub minimal_sets: Option<MinimalSets>,
    /// What robustness would need, if somebody asked.
    pub ladder: Option<Ladder>,
    /// What it rests on that the fences are enough, if the engine runs the program to know it.
    pub ground: Option<String>,
    /// Fences that are known to be enough, where it is not known which are the fewest.
    pub upper: Option<UpperBound>,
    /// What a run of the repaired program has shown.
    pub verification: Verification,
    /// Nothing was left out because of a limit.
    pub complete: bool,
    /// The limit at which the analysis ended: what was found until then is there, and there may be more.
    pub stopped: Option<Exhausted>,
    /// How long the analysis under this model took, without what comes before it ([`Outcome::explored_in`]).
    pub elapsed: Duration,
}

impl ModelOutcome {
    /// A placement, with nothing besides that could be said of it.
    #[must_use]
    pub fn new(model: &MemoryModel, placement: Placement, recheck: Recheck) -> ModelOutcome {
        ModelOutcome {
            model: model.clone(),
            inserted: Inserted::Enough,
            findings: Findings::default(),
            runs: Vec::new(),
            fences: Vec::new(),
            placement,
            locks: Vec::new(),
            recheck,
            composites: Vec::new(),
            atomic_fences: Vec::new(),
            other_readings: Vec::new(),
            confirmations: Vec::new(),
            infeasible: Vec::new(),
            confirming: Confirming::NotAsked,
            minimal_sets: None,
            ladder: None,
            ground: None,
            upper: None,
            verification: Verification::NotAsked,
            complete: true,
            stopped: None,
            elapsed: Duration::ZERO,
        }
    }

    /// The delays that fences were placed for, then those that were proved infeasible.
    pub fn all_delays(&self) -> impl Iterator<Item = &Delay> {
        self.findings.delays.iter().chain(&self.infeasible)
    }

    /// Number of delays of which this was found out.
    #[must_use]
    pub fn num_of(&self, confirmation: Confirmation) -> usize {
        self.confirmations.iter().filter(|&&found| found == confirmation).count()
    }

    /// Number of unsafe pairs on a critical cycle.
    #[must_use]
    pub fn num_of_delays(&self) -> usize {
        self.findings.delays.iter().filter(|delay| delay.is_unsafe).count()
    }

    /// Number of pairs that need a cumulative fence.
    #[must_use]
    pub fn num_of_cumulative_delays(&self) -> usize {
        self.findings.delays.iter().filter(|delay| delay.cumulative).count()
    }

    /// Number of fences of this strength.
    #[must_use]
    pub fn num_of_fences(&self, strength: FenceStrength) -> usize {
        self.fences.iter().filter(|fence| fence.strength == strength).count()
    }

    /// Whether the program needs no synchronisation under this model.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.inserted == Inserted::Enough && self.fences.is_empty() && self.locks.is_empty()
    }
}

/// Everything that a report needs.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the program: the input's file name without its extension.
    pub model: String,
    /// What holds with the fences in place.
    pub property: Property,
    /// Which engine the results are from.
    pub engine: EngineUse,
    /// The program: its outline, and the accesses that reasons speak of.
    pub accesses: Accesses,
    /// How much of it was looked at.
    pub explored: Explored,
    /// The event graph, of an engine that looks at one.
    pub analysis: Option<Analysis>,
    /// What was asked.
    pub options: Options,
    /// How long it took to read or explore the state space and to build the event graph, which all memory models share.
    pub explored_in: Duration,
    /// One result for each memory model, in the order in which they were asked for.
    pub results: Vec<ModelOutcome>,
    /// What must be known before the results are believed.
    pub caveats: Vec<Caveat>,
    /// The specification, if it was one that was analysed.
    pub source: Option<Source>,
    /// How to repeat the run; empty unless a report says it.
    pub provenance: Provenance,
}

impl Outcome {
    /// The results of the main analysis, with nothing known besides.
    #[must_use]
    pub fn of_analysis(name: &str, analysis: Analysis, options: Options, results: Vec<ModelOutcome>) -> Outcome {
        Outcome {
            model: name.to_owned(),
            property: Property::Robust,
            engine: EngineUse::default(),
            accesses: analysis.graph.accesses.clone(),
            explored: analysis.explored(),
            analysis: Some(analysis),
            options,
            explored_in: Duration::ZERO,
            results,
            caveats: Vec::new(),
            source: None,
            provenance: Provenance::default(),
        }
    }

    /// Whose definitions were used.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.analysis.as_ref().map_or(Profile::Sound, |analysis| analysis.profile)
    }

    /// Which conflicts were searched over, by an engine that searches over conflicts.
    #[must_use]
    pub fn conflict_rule(&self) -> ConflictRule {
        let asked = self.options.conflicts;
        self.analysis.as_ref().map_or(asked, |analysis| analysis.conflict_rule(asked))
    }
}
