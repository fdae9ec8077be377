//! The decision: all states of the abstract program, looked at a second time, or a run of it that is bad.

use super::coherence::Coherence;
use super::constraints::Constraints;
use super::expander::Bad;
use super::recheck::{Claim, Exits};
use super::runs::way;
use super::search::{Found, search};
use super::space::{Reduction, Space};
use crate::engines::automata::replay::{self, Scheduled};
use crate::engines::automata::values::{GivenUp, bounded};
use crate::engines::automata::{Automata, Detail, Domains, Labels, Stop};
use crate::outline::{Outline, Site};
use crate::program::{At, Program};
use crate::weak::Machine;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::verify::Violation;
use crate::weak::visited::LimitReached;
use crate::weak::ways::Way;
use std::collections::BTreeSet;

/// What the abstraction says of a program as it stands.
pub enum Judgement {
    /// The property holds: so many states of the abstract program are all.
    Proved(Proof),
    /// It does not.
    Violated(Violation),
    /// An instruction goes wrong.
    GoesWrong(At),
    /// A run of the abstract program violates it, which may be none of the program.
    Suspected(Suspicion),
    /// Nothing was found, but the proof of that did not pass a second look: a defect of ours.
    Doubtful,
}

/// What is known of a run that may be none of the program.
pub struct Suspicion {
    /// Where fences would stop it.
    pub way: Way,
    /// The variables whose values were given up.
    pub given_up: GivenUp,
}

/// What a proof rests on.
pub struct Proof {
    /// The states of the abstract program.
    pub states: usize,
    /// The variables whose values were given up.
    pub given_up: GivenUp,
}

/// How the program is looked at.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The memory model.
    pub machine: Machine,
    /// What is kept of buffers.
    pub coherence: Coherence,
    /// Which steps are made at once; if none, the program is taken as it is written, and no two states of a thread are
    /// one.
    pub reduction: Reduction,
    /// The most states.
    pub most: usize,
}

/// The most rounds in which domains grow.
const MOST_ROUNDS: usize = 100;
/// The most values of a location, if threads read any of them, or only those that are there when they read.
const FEW_VALUES: usize = 16;
const MOST_VALUES: usize = 64;

/// Judges a program as it stands.
///
/// # Errors
/// If there is no verdict.
pub fn judge(split: &SplitProgram, outline: &Outline, forbidden: Forbidden<'_>, view: View) -> Result<Judgement, Stop> {
    Asked { split, outline, forbidden, view, order: Order::Weak }.judge()
}

/// Judges a program under sequential consistency: nothing is done while something waits.
///
/// # Errors
/// If there is no verdict.
pub fn judge_sequentially(
    split: &SplitProgram,
    outline: &Outline,
    forbidden: Forbidden<'_>,
    most: usize,
) -> Result<Judgement, Stop> {
    let (machine, coherence, reduction) = (Machine::Tso, Coherence::Full(1), Reduction::Private);
    let view = View { machine, coherence, reduction, most };
    Asked { split, outline, forbidden, view, order: Order::Sequential }.judge()
}

/// Whether something may be done while writes wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Weak,
    Sequential,
}

/// What is asked, of a program as it stands.
#[derive(Clone, Copy)]
struct Asked<'a> {
    split: &'a SplitProgram,
    outline: &'a Outline,
    forbidden: Forbidden<'a>,
    view: View,
    order: Order,
}

/// What a search within domains has come to.
enum Within<T> {
    Done(T),
    /// These are written, and in no domain: locations, by position, and values.
    Outside(BTreeSet<(usize, i64)>),
}

impl<T> Within<T> {
    /// Of domains that are closed.
    fn done(self) -> T {
        match self {
            Within::Done(done) => done,
            Within::Outside(_) => unreachable!("the domains are closed"),
        }
    }
}

fn has_no_bound(stop: &Stop) -> bool {
    matches!(stop, Stop::ManyValues(..) | Stop::ThreadTooLarge { .. })
}

/// Searches with the values that threads can write if each reads any of them; if these have no bound, with those that
/// are written in states that are reached: domains grow as long as something is written that they do not have.
fn with_domains<T>(
    split: &SplitProgram,
    mut search: impl FnMut(Domains<'_>) -> Result<Within<T>, Stop>,
) -> Result<T, Stop> {
    match search(Domains::Closed(FEW_VALUES)) {
        Err(stop) if has_no_bound(&stop) => {}
        closed => return closed.map(Within::done),
    }
    let mut domains: Vec<Vec<i64>> = split.memory.iter().map(|&value| vec![value]).collect();
    let no_bound = |location: usize| Stop::ManyValues(location, format!("{} has no bound", split.locations[location]));
    for _ in 0..MOST_ROUNDS {
        let outside = match search(Domains::Given(&domains))? {
            Within::Done(done) => return Ok(done),
            Within::Outside(outside) => outside,
        };
        for (location, value) in outside {
            if !domains[location].contains(&value) {
                domains[location].push(value);
            }
            if domains[location].len() > MOST_VALUES {
                return Err(no_bound(location));
            }
        }
    }
    Err(no_bound(0))
}

impl Asked<'_> {
    /// If there is no bound on values that are reached, with values given up.
    fn judge(&self) -> Result<Judgement, Stop> {
        let nothing = GivenUp::default();
        let mut grows = false;
        let judged = with_domains(self.split, |domains| {
            grows |= matches!(domains, Domains::Given(_));
            self.within(domains, &nothing)
        });
        let stop = match judged {
            Err(stop) if has_no_bound(&stop) || (grows && stop == Stop::Limit(LimitReached::States)) => stop,
            judged => return judged,
        };
        let closed = Domains::Closed(MOST_VALUES);
        match bounded(self.split, self.forbidden, MOST_VALUES) {
            Ok(Some((split, given_up))) => {
                (Asked { split: &split, ..*self }).within(closed, &given_up).map(Within::done)
            }
            Ok(None) => self.within(closed, &nothing).map(Within::done),
            Err(Stop::Limit(limit)) => Err(limit.into()),
            // Values could not be given up, and so it is what came before that keeps the answer back.
            Err(other) => Err(if has_no_bound(&stop) { other } else { stop }),
        }
    }

    fn within(&self, domains: Domains<'_>, given_up: &GivenUp) -> Result<Within<Judgement>, Stop> {
        let Asked { split, outline, forbidden, view, order } = *self;
        let View { machine, coherence, reduction, most } = view;
        let detail = match reduction {
            Reduction::Private => Detail::Merged,
            Reduction::Off => Detail::Literal(Labels::None),
        };
        let mut automata = Automata::within(split, forbidden, detail, domains)?;
        if order == Order::Sequential {
            let transitions = automata.threads.iter_mut().flat_map(|thread| &mut thread.transitions);
            transitions.for_each(|known| known.drained = true);
        }
        let exits = Exits::of(&mut automata, forbidden);
        let space = Space::new(split, &automata, forbidden, (machine, coherence), reduction)?;
        let (run, bad) = match search(&space, most, &split.budget)? {
            Found::Closed(reached) if !reached.outside.is_empty() => return Ok(Within::Outside(reached.outside)),
            Found::Closed(reached) => {
                let claim = Claim::new(&automata, &space.layout, (machine, coherence), forbidden, space.private());
                let claim = claim.with(exits);
                return Ok(Within::Done(match claim.is_proved_by(&reached, &split.budget)? {
                    true => Judgement::Proved(Proof { states: reached.len(), given_up: given_up.clone() }),
                    false => Judgement::Doubtful,
                }));
            }
            Found::Bad(run, bad) => (run, bad),
        };
        drop(space);
        let way = way(&mut automata, outline, &run.steps);
        if *given_up != GivenUp::default() {
            // The run is none of the program, but of one that does more.
            return Ok(Within::Done(Judgement::Suspected(Suspicion { way, given_up: given_up.clone() })));
        }
        let schedule: Vec<Scheduled> = run.steps.iter().map(|traced| traced.step).collect();
        let found = match bad {
            Bad::Forbidden => {
                let violation = replay::run(split, machine, automata, &schedule, forbidden).map_err(Stop::Fault)?;
                violation.map(Judgement::Violated)
            }
            Bad::Wrong => replay::goes_wrong(split, machine, automata, &schedule).map(Judgement::GoesWrong),
        };
        let suspicion = Suspicion { way, given_up: GivenUp::default() };
        Ok(Within::Done(found.unwrap_or(Judgement::Suspected(suspicion))))
    }
}

/// What the paper's formula says of a program with fences.
pub enum Formula {
    /// What is left of its runs has the property.
    Holds,
    /// A run is left that violates it; it demands one of these sites.
    Demands(BTreeSet<Site>),
}

/// Judges the program, taken as it is written, by the constraints that fences enforce.
///
/// # Errors
/// If there is no verdict.
pub fn by_formula(
    split: &SplitProgram,
    (program, outline, fences): (&Program, &Outline, &BTreeSet<Site>),
    forbidden: Forbidden<'_>,
    view: View,
) -> Result<Formula, Stop> {
    let View { machine, coherence, most, .. } = view;
    let constraints = Constraints::new(program, outline, fences);
    with_domains(split, |domains| {
        let automata = Automata::within(split, forbidden, Detail::Literal(Labels::Instructions), domains)?;
        let space = Space::new(split, &automata, forbidden, (machine, coherence), Reduction::Off)?;
        let enforced = constraints.enforced(&space.layout);
        let space = space.enforcing(enforced);
        Ok(match search(&space, most, &split.budget)? {
            Found::Closed(reached) if !reached.outside.is_empty() => Within::Outside(reached.outside),
            Found::Closed(_) => Within::Done(Formula::Holds),
            Found::Bad(run, _) => {
                let sites = constraints.demand(&space, &automata, coherence, (&run.steps, &run.states));
                Within::Done(Formula::Demands(sites))
            }
        })
    })
}

/// Where each thread is, as it is printed, and what the memory holds.
#[cfg(feature = "internals")]
pub type Drained = (Vec<String>, Vec<i64>);

/// Where threads can be, and what memory can hold, when nothing waits: of the program as it is written.
///
/// # Errors
/// If there are more states than may be seen.
#[cfg(feature = "internals")]
pub fn drained_states(split: &SplitProgram, forbidden: Forbidden<'_>, view: View) -> Result<BTreeSet<Drained>, Stop> {
    let automata = Automata::within(split, forbidden, Detail::Literal(Labels::None), Domains::Closed(MOST_VALUES))?;
    let space = Space::new(split, &automata, forbidden, (view.machine, view.coherence), Reduction::Off)?.going_on();
    let Found::Closed(reached) = search(&space, view.most, &split.budget)? else {
        unreachable!("the search goes on at bad states")
    };
    let mut state = vec![0; space.layout.len()];
    let mut found = BTreeSet::new();
    for number in 0..reached.len() {
        reached.load(number, &mut state);
        if !space.layout.is_all_drained(&state) {
            continue;
        }
        let threads = space.layout.threads.iter().enumerate().map(|(thread, field)| {
            let id = automata.threads[thread].examples[field.get(&state) as usize];
            format!("{:?}", automata.configurations[thread].config(id))
        });
        let memory = space.layout.memory.iter().zip(&automata.domains);
        found.insert((threads.collect(), memory.map(|(field, domain)| domain[field.get(&state) as usize]).collect()));
    }
    Ok(found)
}

/// How many states the program has, taken as it is written; bad ones do not end the search. With labels, for the
/// formula.
///
/// # Errors
/// If there are more than may be seen.
#[cfg(feature = "internals")]
pub fn count(split: &SplitProgram, forbidden: Forbidden<'_>, labels: Labels, view: View) -> Result<usize, Stop> {
    with_domains(split, |domains| {
        let automata = Automata::within(split, forbidden, Detail::Literal(labels), domains)?;
        let space = Space::new(split, &automata, forbidden, (view.machine, view.coherence), Reduction::Off)?;
        let space = space.going_on();
        match search(&space, view.most, &split.budget)? {
            Found::Closed(reached) if !reached.outside.is_empty() => Ok(Within::Outside(reached.outside)),
            Found::Closed(reached) => Ok(Within::Done(reached.len())),
            Found::Bad(..) => unreachable!("the search goes on at bad states"),
        }
    })
}
