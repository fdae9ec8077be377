//! The analysis from facts to fences and locks, and the one result type of all engines.
//!
//! [`Analysis`] holds what all memory models share; [`Analysis::run`] goes through the stations for one of them:
//! unsafe pairs and conflicts (method §5, §6), delays and torn instructions (§7, §8), placement (§9), and the second
//! look at it (§10). [`Outcome`] is what every report takes, from this analysis or from another engine.

mod engine_use;
mod outcome;
mod run;

pub use engine_use::{Abstraction, CYCLES, EngineUse};
pub use outcome::{
    Confirmation, Confirming, Explored, Fence, Inserted, Ladder, ModelOutcome, OtherReading, Outcome, Recheck,
    UpperBound, Verification,
};
pub use run::{Deed, Evidence, Run, RunAccess, RunStep, Told, Waiting};

use crate::aeg::{AbstractEventGraph, Conflicts, EventGraph, Profile, ProgramOrder};
use crate::budget::Budget;
use crate::caveat::{self, Caveat};
use crate::cycles::{self, Atomicity, ConflictRule, Findings, Listing, Setting};
use crate::facts::{Facts, Presumed};
use crate::ids::InstrId;
use crate::lts::label::Label;
use crate::memory::{Kind, MemoryModel};
use crate::outline::Site;
use crate::placement::cost::Costs;
use crate::placement::locks::lock_groups;
use crate::placement::service::served_delays;
use crate::placement::{self, Method, Minimality, Placement, Problem, recheck};
use crate::safety::Synchronisation;
use std::collections::BTreeSet;
use std::time::Instant;

/// What is asked of the analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which conflicts count; `Auto` means the profile's.
    pub conflicts: ConflictRule,
    /// How instructions with several accesses are read.
    pub atomicity: Atomicity,
    /// How many critical cycles to list.
    pub listing: Listing,
    /// How fences are chosen.
    pub method: Method,
    /// What fences cost.
    pub costs: Costs,
    /// How many minimal sets of fences to list for each thread; only some engines can.
    pub minimal_sets: Listing,
    /// Where fences may stand, if not everywhere; only some engines can be told.
    pub sites: Option<BTreeSet<Site>>,
    /// What may be put in on memory models whose axioms are asked.
    pub kinds: Offered,
    /// Whether fences of stores may be put in where these are enough: where the program is to be written, its language
    /// must have them.
    pub store_fences: bool,
}

/// What may be put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// The cheapest mixture of what the architecture has: fences of all kinds, and marks on accesses.
    Mixture,
    /// Full fences alone.
    Full,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            conflicts: ConflictRule::Auto,
            atomicity: Atomicity::Full,
            listing: Listing::None,
            method: Method::Exact,
            costs: Costs::default(),
            minimal_sets: Listing::None,
            sites: None,
            kinds: Offered::Mixture,
            store_fences: true,
        }
    }
}

/// A program ready to be analysed under any memory model.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The labels of the state space.
    pub labels: Vec<Label>,
    /// The number of states.
    pub num_of_states: u64,
    /// The number of transitions.
    pub num_of_transitions: u64,
    /// A part of the state space is missing: there may be more to find.
    pub cut_off: bool,
    /// Why, in words, if one is: a limit with the option that raises it, or what the input lacks.
    pub missing: Option<String>,
    /// What was presumed because the state space does not show it, and how names were taken.
    pub caveats: Vec<Caveat>,
    /// Instructions that others may interrupt, as they are read, in a state space that shows only whole ones.
    pub interrupted: Vec<InstrId>,
    /// Whose definitions apply.
    pub profile: Profile,
    /// The abstract event graph.
    pub graph: AbstractEventGraph,
    /// Its program order.
    pub order: ProgramOrder,
    reachable: Conflicts,
}

/// Of a state space that was read, nobody knows which limit its generator has reached.
const PART: &str = "what was read is a part";

/// What facts files of earlier versions lack.
const EARLIER_VERSION: &str = "a facts file of an earlier version does not tell what has to be presumed";

impl Analysis {
    /// Builds what all memory models share.
    #[must_use]
    pub fn new(facts: Facts, profile: Profile) -> Analysis {
        Analysis::within(facts, profile, &Budget::default())
    }

    /// The same; this and what is done with it end when the budget is exhausted.
    #[must_use]
    pub fn within(facts: Facts, profile: Profile, budget: &Budget) -> Analysis {
        let cut_off = facts.cut_off || profile == Profile::Sound && facts.presumed == Presumed::Unknown;
        let missing = if facts.cut_off { PART } else { EARLIER_VERSION };
        let unseen = if profile == Profile::Sound { caveat::unseen::caveats(&facts) } else { Vec::new() };
        let facts = if profile == Profile::Sound { facts.with_presumed().clone() } else { facts };
        let graph = AbstractEventGraph::build_within(&facts, profile, budget);
        let shown = |caveat: Caveat| Caveat { sentence: graph.shown(&caveat.sentence), ..caveat };
        let caveats = unseen.into_iter().map(shown).chain(caveat::arrays::caveats(&graph)).collect();
        let order = ProgramOrder::new(&graph);
        let reachable = Conflicts::reachable(&graph);
        Analysis {
            labels: facts.labels,
            num_of_states: facts.states,
            num_of_transitions: facts.transitions,
            cut_off,
            missing: cut_off.then(|| missing.to_owned()),
            caveats,
            interrupted: Vec::new(),
            profile,
            graph,
            order,
            reachable,
        }
    }

    /// The same with the reason why a part of the state space is missing, for who knows it better than what was read.
    #[must_use]
    pub fn because(self, missing: Option<impl Into<String>>) -> Analysis {
        let missing = missing.map(Into::into).filter(|_| self.cut_off).or(self.missing);
        Analysis { missing, ..self }
    }

    /// The conflict rule that applies: the paper's profile has the paper's conflicts, unless asked otherwise.
    #[must_use]
    pub fn conflict_rule(&self, asked: ConflictRule) -> ConflictRule {
        match (asked, self.profile) {
            (ConflictRule::Auto, Profile::Published) => ConflictRule::Concurrent,
            (rule, _) => rule,
        }
    }

    /// The event graph, with program order and all reachable conflicts, as a petgraph graph.
    ///
    /// ```
    /// use seqcon::{Profile, Relation, analysis::Analysis, facts, petgraph};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store_buffering = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("lts/sb.aut");
    /// let extraction = facts::load(&store_buffering, &facts::extract::Options::default(), &facts::extract::NoProgress)?;
    /// let graph = Analysis::new(extraction.facts, Profile::Sound).event_graph();
    /// assert_eq!(graph.edge_weights().filter(|&&relation| relation == Relation::Program).count(), 2);
    /// // Its four accesses are on a cycle.
    /// let components = petgraph::algo::tarjan_scc(&graph);
    /// assert_eq!(components.iter().map(Vec::len).collect::<Vec<_>>(), [4]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn event_graph(&self) -> EventGraph {
        self.graph.with_relations(&self.order, &self.reachable)
    }

    /// All conflicts between accesses that occur.
    #[must_use]
    pub fn reachable(&self) -> &Conflicts {
        &self.reachable
    }

    /// How much was looked at.
    #[must_use]
    pub fn explored(&self) -> Explored {
        Explored {
            states: self.num_of_states,
            transitions: self.num_of_transitions,
            cut_off: self.cut_off,
            missing: self.missing.clone(),
        }
    }

    /// Analyses the program under one memory model.
    #[must_use]
    pub fn run(&self, model: &MemoryModel, options: &Options) -> ModelOutcome {
        let started = Instant::now();
        let findings = self.find(model, options);
        let mut outcome = self.place(model, options, findings);
        outcome.elapsed = started.elapsed();
        outcome
    }

    /// Delays, torn instructions, cycles.
    #[must_use]
    pub fn find(&self, model: &MemoryModel, options: &Options) -> Findings {
        let setting = Setting {
            graph: &self.graph,
            order: &self.order,
            reachable: &self.reachable,
            rule: self.conflict_rule(options.conflicts),
            atomicity: options.atomicity,
            listing: options.listing,
        };
        self.graph.budget.enter("searching for delays");
        cycles::find(&setting, model)
    }

    fn problem<'a>(&'a self, model: &'a MemoryModel, options: &'a Options, findings: &'a Findings) -> Problem<'a> {
        Problem {
            graph: &self.graph,
            model,
            delays: &findings.delays,
            in_place: &findings.in_place,
            costs: &options.costs,
        }
    }

    /// Places fences and locks for what was found.
    #[must_use]
    pub fn place(&self, model: &MemoryModel, options: &Options, findings: Findings) -> ModelOutcome {
        let started = Instant::now();
        self.graph.budget.enter("placing fences");
        let problem = self.problem(model, options, &findings);
        let mut placement = placement::place(&problem, options.method);
        let in_place = Synchronisation { fences: placement.fences.clone(), ..findings.in_place.clone() };
        let budget = &self.graph.budget;
        budget.enter("taking a second look at the fences");
        let mut recheck = Recheck {
            done: true,
            enough: recheck::is_enough(&self.graph, model, &in_place, &findings.delays),
            each_needed: in_place
                .fences
                .keys()
                .all(|&fence| recheck::is_needed(&self.graph, model, &in_place, &findings.delays, fence)),
        };
        if budget.exhausted().is_some() {
            // Paths that nobody had the time to find ask for nothing.
            recheck = Recheck { done: false, enough: false, each_needed: false };
            placement.minimality = Minimality::AtLeast(0);
        }
        let outcome = self.with_placement(model, options, findings, placement, recheck);
        ModelOutcome { elapsed: started.elapsed(), ..outcome }
    }

    /// The result with fences that were chosen elsewhere.
    #[must_use]
    pub fn with_placement(
        &self,
        model: &MemoryModel,
        options: &Options,
        findings: Findings,
        placement: Placement,
        recheck: Recheck,
    ) -> ModelOutcome {
        let problem = self.problem(model, options, &findings);
        let fences = fences_with_reasons(&problem, &placement);
        ModelOutcome {
            fences,
            locks: lock_groups(&self.graph, &findings.torn.iter().map(|torn| torn.instr).collect()),
            composites: self.graph.composites(),
            complete: !self.cut_off
                && findings.cycles.as_ref().is_none_or(|list| list.complete)
                && self.graph.budget.exhausted().is_none(),
            stopped: self.graph.budget.exhausted(),
            confirmations: vec![Confirmation::Unknown; findings.delays.len()],
            findings,
            ..ModelOutcome::new(model, placement, recheck)
        }
    }
}

/// The fences with the delays that they serve and the cheapest instruction that serves them.
fn fences_with_reasons(problem: &Problem<'_>, placement: &Placement) -> Vec<Fence> {
    let mut served = served_delays(problem, &placement.fences);
    let kind = |vertex| problem.graph.vertex(vertex).kind;
    placement
        .fences
        .iter()
        .map(|(&site, &strength)| {
            let delays = served.remove(&site).unwrap_or_default();
            let orders: Vec<(Kind, Kind)> = delays
                .iter()
                .map(|&position| &problem.delays[position])
                .map(|delay| (kind(delay.from), kind(delay.to)))
                .collect();
            Fence {
                site,
                strength,
                mnemonic: problem.model.mnemonic(&orders, strength).to_owned(),
                cost: problem.costs.of(site, strength),
                delays,
                runs: Vec::new(),
            }
        })
        .collect()
}
