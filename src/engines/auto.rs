//! Auto: a property of states, decided by whatever decides it first; the cheapest way comes first.
//!
//! | way | finds | proves |
//! |---|---|---|
//! | store buffers with a bound, of a program that is small | runs, the shortest | that there are none, if no buffer was full |
//! | sequential consistency | a run that no fence stops | that there is none: once for a program, whatever fences it has |
//! | few threads: all pairs, then triples, move, by partial coherence (not for ends and deadlocks) | runs, which are runs of the program | nothing |
//! | [partial coherence](super::partial_coherence), with heads of 2, 4 and 8 | runs that store buffers can make | that there are none |
//! | the same, with sets united | | that there are none |
//! | robustness, by [attacks](crate::weak::attack) | | that all runs are sequentially consistent |
//! | [buffer automata](super::buffer_automata) | runs | that there are none |
//! | [store buffers](super::store_buffers) with a bound, if values have none | runs | that there are none, if no buffer was full |
//! | [single buffer](super::single_buffer), backwards | runs | that there are none |
//!
//! *Why this finds the fewest fences.* Every run that demands a fence is a run of the program, on the machine with
//! store buffers, and what it demands is necessary ([`ways`](crate::weak::ways)); every proof is one of the program.
//! Who has proved it is said. On PSO runs are looked for on TSO first: each of them is one on PSO, and they are fewer.
//!
//! *Deadlocks.* Whether a state is one depends on that state alone, where buffers are empty, so a robust program, which
//! reaches the states of sequential consistency, has no others.
//!
//! *Bounds.* If a limit ends the search, what the runs until then demand is a lower bound; the fences for
//! robustness are an upper bound, if the program has the property under sequential consistency.
//!
//! *Limits.* Each way has a number of states of its own, at most `--max-weak-states`.

use super::automata::Stop;
use super::buffer_automata::{self, Ended, Memory, Reductions};
use super::judged::{Decided, Method, Ruling, Runnable};
use super::partial_coherence::{Coherence, Judgement, Reduction, View, judge, judge_sequentially};
use super::{
    Checker, Description, Engine, Examined, Purpose, Settings, Subject, Task, Trouble, finding, single_buffer,
};
use crate::aeg::Accesses;
use crate::analysis::{Explored, Inserted, ModelOutcome, Options, UpperBound};
use crate::budget::Budget;
use crate::caveat::Caveat;
use crate::cycles::Atomicity;
use crate::explore::Limits;
use crate::ids::{InstrId, ThreadAt};
use crate::memory::{Known, MemoryModel};
use crate::property::{Property, PropertyKind};
use crate::repair::Repair;
use crate::trial::{self, Trial, within_bound};
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::verify::{Limit, Question, Verdict, robust};
use crate::weak::visited::LimitReached;
use crate::weak::{Granularity, Machine};
use std::cell::OnceCell;
use std::rc::Rc;

/// The engine.
pub struct Auto;

const NAME: &str = "auto";
const PROPERTIES: &[PropertyKind] = &[PropertyKind::Never, PropertyKind::Final, PropertyKind::NoDeadlock];

/// The most states of a program that is looked at as it is, before all else.
const SMALL_STATES: usize = 2_000;
/// The heads that are tried.
const HEADS: [usize; 3] = [2, 4, 8];
/// The most groups of few threads that are looked at: all pairs of twelve.
const MOST_GROUPS: usize = 66;
/// The most states of a search of few threads.
const FEW_STATES: usize = 200_000;
/// The most states of a first search of all threads, where longer heads or TSO may find a run sooner.
const FIRST_STATES: usize = 200_000;
/// The most states of searches that keep states as they are.
const PLAIN_STATES: usize = 60_000;
/// The most states of the event graph that an upper bound is taken from.
const STATES_FOR_BOUND: usize = 100_000;

impl Engine for Auto {
    fn description(&self) -> Description {
        Description {
            name: NAME,
            properties: PROPERTIES,
            models: &[Known::Tso, Known::Pso],
            input: "specifications",
            after: "all that decide properties of states, the cheapest way first (docs/engines/auto.md)",
            purpose: Purpose::FindsAndJudges,
            takes: &["--atomicity", "--max-weak-states", "--buffer-bound", "--minimal-sets", "--fence-sites"],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        let consistent = Rc::new(OnceCell::new());
        let known = Rc::clone(&consistent);
        let decide = Box::new(move |trial: &Trial<'_>| decided(trial, &known));
        let runnable = Runnable::new(task, Method { engine: NAME, same_states: "", knows_store_fences: true, decide })?;
        Ok(Box::new(Bounding { runnable, task: *task, consistent }))
    }
}

/// Whether the program has the property under sequential consistency, as far as that was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consistent {
    Proved,
    Open,
}

/// The same, once somebody has asked.
type Asked = OnceCell<Consistent>;

/// What is left when a way has decided nothing.
#[derive(Default)]
struct Attempts {
    /// What each has come to.
    tried: Vec<String>,
    /// Whether one has come to a limit that may be raised.
    is_limited: bool,
}

/// What a way has decided.
enum Way {
    /// All that was asked.
    Decided(Ruling),
    /// A run of the abstraction that may be none of the program.
    Suspected,
    /// Nothing, for this reason.
    Open(Stop),
}

fn decided(trial: &Trial<'_>, consistent: &Asked) -> Decided {
    let machine = trial.machine()?;
    let forbidden = Forbidden::by(trial.property).ok_or(trial::Trouble::Undecidable(trial.property.kind()))?;
    let (split, _) = trial.repaired()?;
    let search = Search { trial, split: &split, machine, forbidden };
    // What fences leave as it is instructions that are made atomic change.
    let locked = Asked::new();
    let ruling = search.ruling(if trial.repair.locked.is_empty() { consistent } else { &locked })?;
    Ok((split, ruling))
}

/// What is asked, of a program as it stands.
struct Search<'s> {
    trial: &'s Trial<'s>,
    split: &'s SplitProgram,
    machine: Machine,
    forbidden: Forbidden<'s>,
}

impl Search<'_> {
    fn ruling(&self, consistent: &Asked) -> Result<Ruling, trial::Trouble> {
        let mut attempts = Attempts::default();
        // What is small is done as it is.
        if let Some(ruling) = self.within(SMALL_STATES, &mut Attempts::default())? {
            return Ok(ruling);
        }
        if consistent.get().is_none() {
            let most = self.trial.limits.states;
            let judged = judge_sequentially(self.split, self.trial.outline, self.forbidden, most);
            match self.way(judged, None)? {
                Way::Decided(ruling @ Ruling::Verdict(_)) => return Ok(ruling),
                Way::Decided(_) => consistent.set(Consistent::Proved).unwrap_or(()),
                Way::Suspected | Way::Open(_) => consistent.set(Consistent::Open).unwrap_or(()),
            }
        }
        let ways =
            [Search::few, Search::with_order, Search::with_sets, Search::robust, Search::automata, Search::bounded];
        for way in ways {
            if let Some(ruling) = way(self, consistent, &mut attempts)? {
                return Ok(ruling);
            }
            if let Some(limit) = self.split.budget.exhausted() {
                return Ok(Verdict::Undecided(Limit::Budget(limit)).into());
            }
        }
        self.backwards(&mut attempts)
    }

    fn view(&self, machine: Machine, coherence: Coherence, most: usize) -> View {
        View { machine, coherence, reduction: Reduction::Private, most: most.min(self.trial.limits.states) }
    }

    /// What a judgement decides.
    fn way(&self, judged: Result<Judgement, Stop>, view: Option<View>) -> Result<Way, trial::Trouble> {
        Ok(match judged {
            Ok(Judgement::Proved(proof)) => {
                let view = view.unwrap_or_else(|| self.view(self.machine, Coherence::Full(1), 0));
                Way::Decided(Ruling::Holds(proof.in_words(self.trial.program, self.split, view)))
            }
            Ok(Judgement::Violated(violation)) => Way::Decided(Verdict::Violated(Box::new(violation)).into()),
            Ok(Judgement::GoesWrong(at)) => return Err(trial::Trouble::GoesWrong(at)),
            Ok(Judgement::Doubtful) => Way::Decided(Verdict::Undecided(Limit::SecondLook).into()),
            Ok(Judgement::Suspected(_)) => Way::Suspected,
            Err(Stop::Fault(fault)) => return Err(trial::Trouble::Condition(fault)),
            Err(Stop::GoesWrong(at)) => return Err(trial::Trouble::GoesWrong(at)),
            Err(stop) => Way::Open(stop),
        })
    }

    fn judge(&self, split: &SplitProgram, view: View) -> Result<Way, trial::Trouble> {
        self.way(judge(split, self.trial.outline, self.forbidden, view), Some(view))
    }

    /// A run of two or three threads: the others stand still.
    fn few(&self, _: &Asked, _: &mut Attempts) -> Result<Option<Ruling>, trial::Trouble> {
        let threads = self.split.threads.len();
        // At the end all have moved; and who stands still is not stuck.
        if matches!(self.forbidden, Forbidden::End(_) | Forbidden::Deadlock) {
            return Ok(None);
        }
        for size in 2..threads.min(4) {
            let groups = groups(threads, size);
            if groups.len() > MOST_GROUPS {
                break;
            }
            for group in groups {
                let few = self.split.moving(&group);
                if let Some(ruling) = self.run_of(&few)? {
                    return Ok(Some(ruling));
                }
            }
        }
        Ok(None)
    }

    /// A run of a program that has only runs of this one.
    fn run_of(&self, few: &SplitProgram) -> Result<Option<Ruling>, trial::Trouble> {
        let machines: &[Machine] =
            if self.machine == Machine::Pso { &[Machine::Tso, Machine::Pso] } else { &[Machine::Tso] };
        for &machine in machines {
            for head in HEADS {
                match self.judge(few, self.view(machine, Coherence::Full(head), FEW_STATES))? {
                    Way::Decided(ruling @ Ruling::Verdict(Verdict::Violated(_))) => return Ok(Some(ruling)),
                    // With a longer head a run may be found sooner.
                    Way::Suspected | Way::Open(Stop::Limit(LimitReached::States)) => {}
                    Way::Decided(_) | Way::Open(_) => break,
                }
            }
        }
        Ok(None)
    }

    /// All threads, with heads that are longer and longer.
    fn with_order(&self, _: &Asked, attempts: &mut Attempts) -> Result<Option<Ruling>, trial::Trouble> {
        for head in HEADS {
            let coherence = Coherence::Full(head);
            let mut way = self.judge(self.split, self.view(self.machine, coherence, FIRST_STATES))?;
            if let Way::Open(Stop::Limit(_)) = way {
                if self.machine == Machine::Pso {
                    let on_tso = self.judge(self.split, self.view(Machine::Tso, coherence, FIRST_STATES))?;
                    if let Way::Decided(ruling @ Ruling::Verdict(Verdict::Violated(_))) = on_tso {
                        return Ok(Some(ruling));
                    }
                }
                way = self.judge(self.split, self.view(self.machine, coherence, usize::MAX))?;
            }
            match way {
                Way::Decided(ruling) => return Ok(Some(ruling)),
                Way::Suspected => attempts.note(coherence, "only runs that store buffers cannot make so were found"),
                Way::Open(stop) => {
                    attempts.stopped(coherence, &stop);
                    break;
                }
            }
        }
        Ok(None)
    }

    /// With sets that are united there are fewer states.
    fn with_sets(&self, _: &Asked, attempts: &mut Attempts) -> Result<Option<Ruling>, trial::Trouble> {
        for coherence in [Coherence::Partial(1), Coherence::Partial(2)] {
            match self.judge(self.split, self.view(self.machine, coherence, usize::MAX))? {
                Way::Decided(ruling) => return Ok(Some(ruling)),
                Way::Suspected => attempts.note(coherence, "only runs that store buffers cannot make so were found"),
                Way::Open(stop) => attempts.stopped(coherence, &stop),
            }
        }
        Ok(None)
    }

    /// What all runs of sequential consistency have, those of a robust program have.
    fn robust(&self, consistent: &Asked, _: &mut Attempts) -> Result<Option<Ruling>, trial::Trouble> {
        if consistent.get() != Some(&Consistent::Proved) {
            return Ok(None);
        }
        let question = self.trial.question(self.machine);
        let by_accesses =
            Question { granularity: Granularity::Accesses, limit: question.limit.min(PLAIN_STATES), ..question };
        let verdict = robust(self.split, &by_accesses);
        Ok(matches!(verdict, Verdict::Verified(_)).then(|| verdict.into()))
    }

    /// With what buffers can hold as automata: fences of stores count, and values need no bound.
    fn automata(&self, _: &Asked, attempts: &mut Attempts) -> Result<Option<Ruling>, trial::Trouble> {
        let memory = Memory::from(self.machine);
        let most = self.trial.limits.states.min(PLAIN_STATES);
        let judged = buffer_automata::judge(self.split, memory, self.forbidden, Reductions::default(), most);
        let mut note = |what: &str| attempts.tried.push(format!("buffer automata: {what}"));
        Ok(Some(match judged {
            Ok(buffer_automata::Judgement::Proved(proof)) => Ruling::Holds(proof.in_words(memory)),
            Ok(buffer_automata::Judgement::Violated(violation)) => Verdict::Violated(Box::new(violation)).into(),
            Ok(buffer_automata::Judgement::GoesWrong(at)) => return Err(trial::Trouble::GoesWrong(at)),
            Ok(buffer_automata::Judgement::Doubtful) => Verdict::Undecided(Limit::SecondLook).into(),
            Ok(buffer_automata::Judgement::Suspected) => {
                note("only a path was found, and no run that is like it");
                return Ok(None);
            }
            Err(Ended::Fault(fault)) => return Err(trial::Trouble::Condition(fault)),
            Err(_) => {
                note("too many symbolic states (--max-weak-states)");
                attempts.is_limited = true;
                return Ok(None);
            }
        }))
    }

    /// Where the other ways have lost values, and so found no runs, or have too many states.
    fn bounded(&self, _: &Asked, attempts: &mut Attempts) -> Result<Option<Ruling>, trial::Trouble> {
        self.within(PLAIN_STATES, attempts)
    }

    /// All states on store buffers with a bound, if there are no more than so many.
    fn within(&self, most: usize, attempts: &mut Attempts) -> Result<Option<Ruling>, trial::Trouble> {
        let question = self.trial.question(self.machine);
        let question = Question { limit: question.limit.min(most), ..question };
        Ok(match within_bound(self.split, &question, self.forbidden)? {
            verdict @ (Verdict::Verified(_) | Verdict::Violated(_)) => Some(verdict.into()),
            Verdict::Bounded { bound, .. } => {
                attempts
                    .tried
                    .push(format!("store buffers with at most {bound} waiting writes (--buffer-bound): no violation"));
                None
            }
            Verdict::Undecided(_) => None,
        })
    }

    /// Backwards, without a bound.
    fn backwards(&self, attempts: &mut Attempts) -> Result<Ruling, trial::Trouble> {
        let undecided = |attempts: &Attempts| Ruling::Undecided(attempts.tried.join("; "));
        if matches!(self.forbidden, Forbidden::End(_)) {
            return Ok(undecided(attempts));
        }
        match single_buffer::decided_backwards(self.split, self.machine, self.forbidden, self.trial.limits.states) {
            Ok(verdict @ (Verdict::Verified(_) | Verdict::Violated(_))) => Ok(verdict.into()),
            Ok(verdict @ Verdict::Bounded { .. }) => Ok(verdict.into()),
            Ok(Verdict::Undecided(limit)) => Ok(Verdict::Undecided(limit).into()),
            Err(Stop::Limit(_)) => {
                attempts.tried.push("single buffer: too many minimal configurations (--max-weak-states)".to_owned());
                Ok(undecided(attempts))
            }
            Err(stop) => match stop.limit(self.trial.program) {
                // With more states there may be an answer all the same.
                Err(trial::Trouble::Unbounded(problem)) if attempts.is_limited => {
                    attempts.tried.push(format!("single buffer: {problem}"));
                    Ok(undecided(attempts))
                }
                Err(trouble) => Err(trouble),
                Ok(_) => unreachable!("a limit is told above"),
            },
        }
    }
}

impl Attempts {
    fn note(&mut self, coherence: Coherence, what: &str) {
        self.tried.push(format!("partial coherence {coherence}: {what}"));
    }

    fn stopped(&mut self, coherence: Coherence, stop: &Stop) {
        let what = match stop {
            Stop::TooLarge(problem) | Stop::ManyValues(_, problem) | Stop::ThreadTooLarge { problem, .. } => problem,
            Stop::Limit(_) | Stop::Fault(_) | Stop::GoesWrong(_) => "too many states (--max-weak-states)",
        };
        self.is_limited |= matches!(stop, Stop::Limit(_));
        self.note(coherence, what);
    }
}

/// All choices of so many threads.
fn groups(threads: usize, size: usize) -> Vec<Vec<ThreadAt>> {
    let mut groups: Vec<Vec<ThreadAt>> = vec![Vec::new()];
    for _ in 0..size {
        let longer = |group: &Vec<ThreadAt>| {
            let first = group.last().map_or(0, |last| last.index() + 1);
            let group = group.clone();
            (first..threads).map(move |next| group.iter().copied().chain([ThreadAt::new(next)]).collect())
        };
        groups = groups.iter().flat_map(longer).collect();
    }
    groups
}

/// A program that is run, with bounds where the fewest fences are not known.
struct Bounding<'a> {
    runnable: Runnable<'a>,
    task: Task<'a>,
    consistent: Rc<Asked>,
}

impl Examined for Bounding<'_> {
    fn accesses(&self) -> &Accesses {
        self.runnable.accesses()
    }

    fn explored(&self) -> Explored {
        self.runnable.explored()
    }

    fn caveats(&self) -> Vec<Caveat> {
        self.runnable.caveats()
    }

    fn atomicity(&self) -> Atomicity {
        self.runnable.atomicity()
    }

    fn composites(&self) -> Vec<InstrId> {
        self.runnable.composites()
    }

    fn budget(&self) -> &Budget {
        self.runnable.budget()
    }

    fn knows_store_fences(&self, model: &MemoryModel) -> bool {
        self.runnable.knows_store_fences(model)
    }

    fn checker<'c>(&'c self, model: &'c MemoryModel) -> Result<Box<dyn Checker + 'c>, Trouble> {
        self.runnable.checker(model)
    }

    fn place(&self, model: &MemoryModel, options: &Options) -> Result<ModelOutcome, Trouble> {
        let outcome = self.runnable.place(model, options)?;
        let is_open = matches!(outcome.inserted, Inserted::Undecided(..));
        // Bounds are said beside an answer: where they go wrong, the answer stays.
        let upper = if is_open { self.upper_bound(model, options).unwrap_or(None) } else { None };
        Ok(ModelOutcome { upper, ..outcome })
    }
}

impl Bounding<'_> {
    /// The fences for robustness, if the program has the property under sequential consistency.
    fn upper_bound(&self, model: &MemoryModel, options: &Options) -> Result<Option<UpperBound>, Trouble> {
        let (Subject::Program(_), Some(Consistent::Proved)) = (self.task.subject, self.consistent.get()) else {
            return Ok(None);
        };
        // Instructions are read as the property reads them.
        let atomicity = Some(match self.atomicity() {
            Atomicity::Presumed => Atomicity::Presumed,
            _ => Atomicity::Split,
        });
        let settings = Settings { atomicity, tells_readings: false, ..self.task.settings.clone() };
        let budget = self.budget().for_the_rest();
        let rest = || budget.clone();
        let states = Some(self.task.limits.states.map_or(STATES_FOR_BOUND, |states| states.min(STATES_FOR_BOUND)));
        let limits = Limits { states, time: budget.time_left(), invariants: &[], ..*self.task.limits };
        let models = std::slice::from_ref(model);
        let (property, settings) = (&Property::Robust, &settings);
        let robust = Task { property, models, limits: &limits, rest: &rest, settings, ..self.task };
        let engine = finding(PropertyKind::Robust).expect("the default engine");
        let looked = engine.examine(&robust)?;
        let found = looked.place(model, &Options { atomicity: looked.atomicity(), ..Options::default() })?;
        let repair = Repair::of(&found);
        let (fences, locked) = (repair.sites(), repair.locked);
        let is_allowed = fences.iter().all(|site| options.sites.as_ref().is_none_or(|sites| sites.contains(site)));
        let is_enough = found.inserted == Inserted::Enough && found.complete && !looked.explored().cut_off;
        Ok((is_enough && is_allowed && locked.is_empty()).then(|| UpperBound {
            fences: fences.into_iter().collect(),
            rests_on: "with them all runs are sequentially consistent (--engine cycles), and these have the property"
                .to_owned(),
        }))
    }
}
