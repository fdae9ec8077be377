//! Engines that run the program: a [trial] of it with fences in place, told in the program's words.

use super::words::Words;
use super::{Answer, Checker, Examined, Ground, Task, Trouble, caveats, insert};
use crate::aeg::Accesses;
use crate::analysis::{Evidence, Explored, ModelOutcome, Options, Told};
use crate::budget::Budget;
use crate::caveat::Caveat;
use crate::cycles::Atomicity;
use crate::explore::Limits;
use crate::ids::InstrId;
use crate::insertion::Demand;
use crate::memory::{Kind, Known, MemoryModel};
use crate::outline::Site;
use crate::program::{InstructionKind, Mention, Program, Scope, Variable};
use crate::property::{ConditionFault, Property, StateCondition};
use crate::repair::Repair;
use crate::specification::{Specification, placed};
use crate::text::counted;
use crate::trial::{self, Trial};
use crate::weak::buffers::{BufferState, BufferStep};
use crate::weak::forbidden::Forbidden;
use crate::weak::latest::latest;
use crate::weak::split::{Operation, SplitProgram, SplitStep};
use crate::weak::threads::Progress;
use crate::weak::verify::{self, Limit, Verdict, Violation};
use crate::weak::ways::Way;
use std::collections::BTreeSet;

/// A program that is run.
pub(super) struct Runnable<'a> {
    specification: &'a Specification,
    property: &'a Property,
    atomicity: Atomicity,
    searches: trial::Limits,
    limits: &'a Limits<'a>,
    budget: Budget,
    accesses: Accesses,
    /// Instructions with several accesses.
    composites: Vec<InstrId>,
    /// Who decides, and how the claim that the same states are reached is to be put.
    method: Method,
}

/// How an engine decides what a trial asks.
pub(super) struct Method {
    /// The name of the engine.
    pub engine: &'static str,
    /// How the claim that the same states are reached is to be put.
    pub same_states: &'static str,
    /// Whether it heeds fences of stores on PSO: else it takes them for nothing, and is not asked about them.
    pub knows_store_fences: bool,
    /// The decision.
    pub decide: Box<dyn Fn(&Trial<'_>) -> Decided>,
}

/// The repaired program, access by access, and the ruling on it.
pub(super) type Decided = Result<(SplitProgram, Ruling), trial::Trouble>;

/// What an engine says of a program.
pub(super) enum Ruling {
    /// The verdict of machines or axioms.
    Verdict(Verdict),
    /// The property holds: what that rests on.
    Holds(String),
    /// A run of an abstraction violates it, which may be none of the program.
    Suspected {
        /// Where fences would stop it.
        way: Way,
        /// Whether every set of fences that is enough for the abstraction has one there.
        necessary: bool,
        /// What to do.
        advice: String,
    },
    /// It could not be found out: why.
    Undecided(String),
}

impl From<Verdict> for Ruling {
    fn from(verdict: Verdict) -> Ruling {
        Ruling::Verdict(verdict)
    }
}

/// The verdict of the trial itself.
pub(super) fn by_trial(trial: &Trial<'_>) -> Decided {
    trial.run().map(|(split, verdict)| (split, verdict.into()))
}

impl<'a> Runnable<'a> {
    pub(super) fn new(task: &Task<'a>, method: Method) -> Result<Runnable<'a>, Trouble> {
        let specification = task.program(method.engine)?;
        let split = SplitProgram::new(&specification.program)?;
        let last_level = |instr: InstrId| last_level(specification, &split, instr);
        let accesses =
            Accesses::of(specification.outline.clone(), &mentioned(&specification.program, specification), last_level);
        Ok(Runnable {
            specification,
            property: task.property,
            atomicity: atomicity(task)?,
            searches: task.settings.searches,
            limits: task.limits,
            budget: (task.rest)(),
            accesses,
            composites: split.composites().into_iter().map(|at| specification.outline.instr(at)).collect(),
            method,
        })
    }
}

/// How instructions with several accesses are read: as steps each, unless a property of states is asked for, which
/// judges what the program does, access by access.
fn atomicity(task: &Task<'_>) -> Result<Atomicity, Trouble> {
    let is_of_states = Forbidden::by(task.property).is_some();
    match task.settings.atomicity {
        None if is_of_states => Ok(Atomicity::Split),
        None => Ok(Atomicity::Full),
        Some(Atomicity::Full | Atomicity::Updates) if is_of_states => Err(Trouble::Unsupported(
            "whether a state is reached is judged access by access: instructions are --atomicity split, or presumed to be atomic (--atomicity presumed)".to_owned(),
        )),
        Some(asked) => Ok(asked),
    }
}

/// The highest level of an instruction's accesses: a fence inside can stand before each from 1 on.
fn last_level(specification: &Specification, split: &SplitProgram, instr: InstrId) -> u32 {
    let Some(at) = specification.outline.at(instr) else { return 0 };
    let steps =
        split.threads[at.thread.index()].steps.iter().flatten().filter(|step| step.instruction == at.instruction);
    // Nothing stands inside an atomic instruction that is no fence.
    let steps = steps.filter(|step| !matches!(step.kind, InstructionKind::Rmw(_)));
    let is_access = |operation: &Operation| matches!(operation, Operation::Read(..) | Operation::Write(..));
    let levels = |step: &SplitStep| {
        let levels = step.operations.iter().zip(step.levels(|_| true));
        levels.filter(|(operation, _)| is_access(operation)).map(|(_, level)| level).max()
    };
    steps.filter_map(levels).max().unwrap_or(0)
}

/// The accesses that the text mentions: of an element whose index is computed, all that it may be.
fn mentioned(program: &Program, specification: &Specification) -> BTreeSet<(InstrId, Kind, String)> {
    let mut accesses = BTreeSet::new();
    for (at, instruction) in program.instructions_at() {
        let instr = specification.outline.instr(at);
        instruction.for_each_reference(&mut |mention, reference| {
            if reference.scope == Scope::Local {
                return;
            }
            let kind = if mention == Mention::Written { Kind::Write } else { Kind::Read };
            let Variable { name, is_array, initial, .. } = &program.shared[reference.variable];
            let element = |index: usize| (instr, kind, format!("{name}[{index}]"));
            match (is_array, reference.constant_index(program, at.thread)) {
                (false, _) => accesses.extend([(instr, kind, name.clone())]),
                (true, Some(index)) => accesses.extend([element(index)]),
                (true, None) => accesses.extend((0..initial.len()).map(element)),
            }
        });
    }
    accesses
}

impl Examined for Runnable<'_> {
    fn accesses(&self) -> &Accesses {
        &self.accesses
    }

    fn explored(&self) -> Explored {
        Explored::default()
    }

    fn caveats(&self) -> Vec<Caveat> {
        caveats::explored(self.specification, self.limits)
    }

    fn atomicity(&self) -> Atomicity {
        self.atomicity
    }

    fn composites(&self) -> Vec<InstrId> {
        self.composites.clone()
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn knows_store_fences(&self, model: &MemoryModel) -> bool {
        self.method.knows_store_fences && model.known() == Ok(Known::Pso)
    }

    fn checker<'c>(&'c self, model: &'c MemoryModel) -> Result<Box<dyn Checker + 'c>, Trouble> {
        Ok(Box::new(Judge { runnable: self, model }))
    }

    fn place(&self, model: &MemoryModel, options: &Options) -> Result<ModelOutcome, Trouble> {
        insert(self, model, options)
    }
}

/// Runs the program under a memory model.
struct Judge<'c> {
    runnable: &'c Runnable<'c>,
    model: &'c MemoryModel,
}

impl Checker for Judge<'_> {
    fn check(&mut self, repair: &Repair) -> Result<Answer, Trouble> {
        let Runnable { specification, property, atomicity, searches, .. } = *self.runnable;
        let trial = Trial {
            program: &specification.program,
            outline: &specification.outline,
            model: self.model,
            repair,
            atomicity,
            property,
            limits: searches,
            budget: self.runnable.budget.clone(),
        };
        let (split, ruling) =
            (self.runnable.method.decide)(&trial).map_err(|trouble| trouble.of(specification, property))?;
        let words = Words { specification, locations: &split.locations };
        let holds = |rests_on: String| {
            let claim = match property {
                Property::Robust => "every run is sequentially consistent",
                Property::Never(_) => "no state satisfies the condition",
                Property::Final(_) => "no final state has the outcome",
                Property::NoDeadlock => "no state is a deadlock",
                Property::SameStates | Property::Persistent => self.runnable.method.same_states,
            };
            Answer::Holds(Ground { claim, rests_on })
        };
        let verdict = match ruling {
            Ruling::Verdict(verdict) => verdict,
            Ruling::Holds(rests_on) => return Ok(holds(rests_on)),
            Ruling::Suspected { way, necessary, advice } => {
                return Ok(Answer::Suspected { demands: self.demand(&way), necessary, advice });
            }
            Ruling::Undecided(why) => return Ok(Answer::Undecided(why)),
        };
        Ok(match verdict {
            Verdict::Verified(ground) => holds(rests_on(&ground)),
            Verdict::Violated(violation) => {
                let (mut told, demands) = (told(&words, &violation), self.demands(&violation));
                let is_consistent = |demands: &BTreeSet<Demand>| demands.iter().all(|demand| demand.sites.is_empty());
                if let (Violation::Forbidden(run, _), true) = (&*violation, demands.as_ref().is_some_and(is_consistent))
                {
                    told.because += &no_fence_helps(&words, run);
                }
                let latest = match &*violation {
                    Violation::Forbidden(run, _) => latest(run, &specification.outline),
                    _ => None,
                };
                Answer::Fails { told, demands, latest }
            }
            Verdict::Bounded { bound, states } => Answer::Bounded { bound, states },
            // Of no execution nothing is known.
            Verdict::Undecided(Limit::Unrolling(executions)) if executions > 0 => {
                let rounds = self.runnable.searches.unroll;
                let what = format!("none of the {} that ended violates it", counted(executions, "execution"));
                Answer::UpTo { rounds, because: self.beyond(rounds, &what, None) }
            }
            Verdict::Undecided(Limit::Rounds { rounds, beginnings, stopped }) => {
                let what = format!("none of the {} of executions violates it", counted(beginnings, "beginning"));
                Answer::UpTo { rounds, because: self.beyond(rounds, &what, stopped.map(Limit::from)) }
            }
            Verdict::Undecided(limit) => Answer::Undecided(self.limit_in_words(limit)),
        })
    }
}

impl Judge<'_> {
    /// What would keep the run from happening.
    fn demands(&self, violation: &Violation) -> Option<BTreeSet<Demand>> {
        let outline = &self.runnable.specification.outline;
        let way = match violation {
            // Instructions are torn under sequential consistency, too: only a lock helps.
            Violation::Torn(_) => Way::default(),
            Violation::Attack(witness) => Way::of_witness(witness, outline),
            Violation::Run(run) | Violation::State(run) | Violation::Forbidden(run, _) => Way::of_run(run, outline),
            Violation::End(_) | Violation::Executions(..) | Violation::Beginning(_) => return None,
        };
        Some(self.demand(&way))
    }

    /// One of the sites on the way.
    fn demand(&self, way: &Way) -> BTreeSet<Demand> {
        let sites: BTreeSet<Site> = self.runnable.accesses.sites();
        let sites = sites.into_iter().filter_map(|site| Some((site, way.stops(site)?))).collect();
        [Demand { sites }].into()
    }

    /// What is known of so many rounds, and what ended the search.
    fn beyond(&self, rounds: usize, what: &str, stopped: Option<Limit>) -> String {
        let times = if rounds == 1 { "once".to_owned() } else { format!("{rounds} times") };
        let known = format!("{what} in which no instruction is taken more than {times}");
        match stopped {
            None => format!("{known} (--unroll); of loops that go round more often nothing is known"),
            Some(limit) => format!("{known}; with one round more: {}", self.limit_in_words(limit)),
        }
    }

    /// The limit that left the question open, and how to raise it.
    fn limit_in_words(&self, limit: Limit) -> String {
        let trial::Limits { states, unroll, .. } = self.runnable.searches;
        match limit {
            Limit::States => format!("a search reached {} (--max-weak-states)", counted(states, "state")),
            Limit::Torn => {
                "an update that is to be one step can be torn: lock it, or read it otherwise (--atomicity)".to_owned()
            }
            Limit::SecondLook => {
                "no violation was found, but the proof of that did not pass a second look: this is a defect of seqcon, please report it".to_owned()
            }
            Limit::StoreFences => {
                "a run violates it that takes store-store fences for nothing, and with them it is none: this engine does not know these fences; use --engine buffer-automata or --engine store-buffers".to_owned()
            }
            Limit::Budget(limit) => format!("stopped at {limit}"),
            Limit::Unrolling(_) | Limit::Rounds { .. } => {
                format!("a loop was cut off: no instruction was taken more than {} (--unroll)", counted(unroll, "time"))
            }
        }
    }
}

/// Why no fence stops a run that sequential consistency has, too.
fn no_fence_helps(words: &Words<'_>, run: &[(BufferStep, BufferState)]) -> String {
    let torn: BTreeSet<String> = run
        .iter()
        .filter_map(|(step, _)| match step {
            BufferStep::Issued(event) if event.progress == Progress::InTheMiddle => Some(words.instruction(event.at)),
            _ => None,
        })
        .collect();
    let torn: Vec<String> = torn.into_iter().collect();
    match &torn[..] {
        [] => "  The run is sequentially consistent: no fence stops it.\n".to_owned(),
        torn => format!(
            "  The run is sequentially consistent, access by access: no fence stops it. Others can come between the accesses of {}: made atomic, it may be right.\n",
            torn.join(", ")
        ),
    }
}

/// What a positive verdict rests on.
fn rests_on(ground: &verify::Ground) -> String {
    match ground {
        verify::Ground::Attacks { states, pairs } => {
            format!(
                "an exact search (no bound): {} that a thread can reorder, {} under sequential consistency, dead locals forgotten",
                counted(*pairs, "pair"),
                counted(*states, "state")
            )
        }
        verify::Ground::AllRuns { states } => {
            format!("all runs on store buffers (no bound was reached): {}", counted(*states, "state"))
        }
        verify::Ground::SingleBuffer { minors } => format!(
            "an exact search backwards (no bound): {} from which a violation could be reached, closed under predecessors, without the start (re-checked)",
            counted(*minors, "minimal configuration")
        ),
        verify::Ground::Axioms { executions } => match executions {
            1 => "the only execution that the axioms allow".to_owned(),
            _ => format!("all {executions} executions that the axioms allow"),
        },
        verify::Ground::Beginnings(beginnings) => {
            format!("all {beginnings} beginnings of executions, access by access (no bound was reached)")
        }
    }
}

/// A violation in the program's words.
fn told(words: &Words<'_>, violation: &Violation) -> Told {
    let mut evidence = Evidence::none();
    let because = show(words, violation, &mut evidence);
    Told { evidence, because }
}

/// Shows the run, and tells what is wrong with it.
fn show(words: &Words<'_>, violation: &Violation, shown: &mut Evidence) -> String {
    match violation {
        Violation::Torn(torn) => {
            *shown = words.events(&torn.run);
            let name = words.instruction(torn.at);
            format!(
                "  {name} is torn: it happens before and after what others did in between; as one step it could not\n"
            )
        }
        Violation::Attack(witness) => {
            *shown = words.witness(witness);
            let pair = witness.pair;
            format!(
                "  {} comes first in the program, but its write to {} is seen after {} has accessed {}: the last step but one still happens before it.\n  Under sequential consistency the write would be visible before the second access.\n",
                words.instruction(pair.at(pair.from)),
                words.locations[pair.from.location.index()],
                words.instruction(pair.at(pair.to)),
                words.locations[pair.to.location.index()],
            )
        }
        Violation::End(end) => {
            *shown = words.end(end);
            "  No execution under sequential consistency ends here.\n".to_owned()
        }
        Violation::Executions(more, all) => format!(
            "  {more} of {}: not sequentially consistent, although they end where others end.\n",
            counted(*all, "execution")
        ),
        Violation::Beginning(beginning) => {
            *shown = words.beginning(beginning);
            words.cycle(beginning)
        }
        Violation::Run(run) => {
            *shown = words.run(run);
            "  No order of these accesses that keeps the program's order gives these values.\n".to_owned()
        }
        Violation::State(run) => {
            *shown = words.run(run);
            "  All buffers are empty, and no run under sequential consistency reaches this state.\n".to_owned()
        }
        Violation::Forbidden(run, what) if run.is_empty() => {
            format!("  The initial state violates {what}.\n")
        }
        Violation::Forbidden(run, what) => {
            *shown = words.run(run);
            format!(
                "  All buffers are empty, and the state violates {what}.
"
            )
        }
    }
}

impl trial::Trouble {
    /// The same as an engine's.
    fn of(self, specification: &Specification, property: &Property) -> Trouble {
        match self {
            trial::Trouble::CannotRun(cannot) => Trouble::CannotRun(cannot),
            trial::Trouble::Unperformed(unperformed) => {
                let (program, at) = (&specification.program, unperformed.at());
                let problem = unperformed.problem(program);
                Trouble::Unsupported(specification.placed(program.instruction(at).span, problem))
            }
            trial::Trouble::TooLong(error) => error.into(),
            trial::Trouble::Execution(failure) => Trouble::Unsupported(format!("{}: {failure}", specification.name)),
            trial::Trouble::Condition(ConditionFault { part, fault }) => {
                let condition = property.condition().map(|condition| &condition.parts()[part]);
                let is_own = |condition: &&StateCondition| {
                    specification.properties.iter().any(|own| own.condition() == Some(*condition))
                };
                let problem = format!("{}, in a state that is reached", fault.kind);
                Trouble::Unsupported(match condition.filter(|condition| !is_own(condition)) {
                    Some(condition) => {
                        let problem = format!("{problem}: {}", condition.text);
                        placed("--never", &condition.text, fault.span, problem)
                    }
                    None => specification.placed(fault.span, problem),
                })
            }
            trial::Trouble::GoesWrong(at) => {
                let problem = "this instruction goes wrong in a run, performed access by access, and what would come behind it is not known ('seqcon explore' shows what goes wrong, if it does under sequential consistency)";
                Trouble::Unsupported(specification.placed(specification.program.instruction(at).span, problem))
            }
            trial::Trouble::Unbounded(problem) => Trouble::Unsupported(format!("{}: {problem}", specification.name)),
            trial::Trouble::Undecidable(property) => {
                Trouble::Unsupported(format!("this engine does not decide the property {}", property.name()))
            }
        }
    }
}
