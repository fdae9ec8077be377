//! The fewest fences by a checker alone: propose, check, learn what a run demands, until the property holds.
//!
//! *Kinds.* First only full fences are proposed. Where a run demands no more than a fence of stores at some site, and
//! the checker heeds these, the same is done again with both kinds: the cheapest mixture, of equally cheap ones one
//! with the fewest full fences, and of these one that is easy to see in a text. A fence of stores empties no buffer,
//! so a checker may not decide what it decides with full fences; then these stay, but for such as can be weakened one
//! by one. If both kinds cost the same, they are the fewest all the same: where a mixture is enough, full fences at
//! the same sites are.

use super::one_by_one::{OneByOne, one_by_one};
use super::{Answer, Checker, Examined, Trouble};
use crate::analysis::{Fence, Inserted, ModelOutcome, Options, Recheck, Told};
use crate::cycles::Listing;
use crate::insertion::{self, Candidate, Choice, Demand, Fences, Insertion, fewest};
use crate::memory::{FenceStrength, Kind, Known, MemoryModel};
use crate::outline::Site;
use crate::placement::cost::Costs;
use crate::placement::exact::unreadability;
use crate::placement::{Method, MinimalSets, Minimality, Placement};
use crate::repair::Repair;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Why the search ended without an answer.
enum Stop {
    /// In words.
    Undecided(String),
    /// The program goes wrong.
    Trouble(Trouble),
}

/// What demands are necessary for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Needed {
    /// For the program.
    Program,
    /// For an abstraction of it.
    Abstraction,
    /// For a way to find fences: others may be enough.
    Method,
}

/// Asks a checker, and keeps what it learns.
struct Learner<'c> {
    checker: Box<dyn Checker + 'c>,
    /// The runs that were found, with what they demand.
    runs: Vec<(Told, BTreeSet<Demand>)>,
    /// What was said of the last run, if it is one of an abstraction and perhaps none of the program.
    suspected: Option<String>,
    /// What the demands so far are necessary for.
    needed: Needed,
    /// Fences that are enough, and what that rests on: they may be asked about again, for another reason.
    enough: BTreeMap<Fences, String>,
}

impl insertion::Checker for Learner<'_> {
    type Stop = Stop;

    fn check(&mut self, fences: &Fences) -> insertion::Answer<Stop> {
        if self.enough.contains_key(fences) {
            return insertion::Answer::Holds;
        }
        let repair = Repair { fences: fences.clone(), ..Repair::default() };
        match self.checker.check(&repair) {
            Err(trouble) => insertion::Answer::Undecided(Stop::Trouble(trouble)),
            Ok(answer) => {
                if let Answer::Holds(ground) = &answer {
                    self.enough.insert(fences.clone(), ground.rests_on.clone());
                }
                self.learnt(answer, fences)
            }
        }
    }
}

/// The fewest fences after which the property holds, and of these such as are easy to see in a text, with a run for
/// each.
///
/// # Errors
/// If the program goes wrong.
pub fn insert(examined: &dyn Examined, model: &MemoryModel, options: &Options) -> Result<ModelOutcome, Trouble> {
    let started = Instant::now();
    let accesses = examined.accesses();
    let is_allowed = |site: &Site| options.sites.as_ref().is_none_or(|allowed| allowed.contains(site));
    let sites = accesses.sites().into_iter().filter(is_allowed);
    let candidates: Vec<Candidate> = sites.map(|site| (site, FenceStrength::Plain)).collect();
    let cost = |(site, strength): Candidate| options.costs.of(site, strength);
    let readability = |(site, _): Candidate| unreadability(accesses, site);
    let fullness = |(_, strength): Candidate| u64::from(strength > FenceStrength::Stores);
    let choice = Choice { candidates: &candidates, weights: &[&cost, &readability], budget: examined.budget() };
    let mut learner = Learner {
        checker: examined.checker(model)?,
        runs: Vec::new(),
        suspected: None,
        needed: Needed::Program,
        enough: BTreeMap::new(),
    };
    if options.method == Method::Greedy {
        let OneByOne { inserted, fences, runs, ground, each_needed } = one_by_one(examined, model, &is_allowed)?;
        learner.runs = runs;
        learner.enough.extend(ground.map(|ground| (fences.clone(), ground)));
        let how = How { inserted, minimality: Minimality::Greedy, each_needed, minimal_sets: None };
        return Ok(outcome(examined, model, options, (started, learner), fences, how));
    }
    let (inserted, mut fences) = match fewest(&choice, [], &mut learner) {
        Insertion::Fewest(fences) => (Inserted::Enough, fences),
        Insertion::Unfixable(_) if learner.needed == Needed::Method => {
            let advice = learner.suspected.clone().unwrap_or_default();
            match by_leaving_out(&candidates, &mut learner)? {
                Some(fences) => (Inserted::Enough, fences),
                None => (Inserted::NotAbstractly(advice), Fences::new()),
            }
        }
        Insertion::Unfixable(demand) => {
            if learner.suspected.is_none() {
                // The run that no fence stops is the one that was found last.
                learner.runs.rotate_right(1);
            }
            let elsewhere = !demand.sites.is_empty();
            let inserted = match learner.suspected.clone() {
                Some(advice) => Inserted::NotAbstractly(advice),
                None if elsewhere => Inserted::NotAtSites,
                None => Inserted::Unfixable,
            };
            (inserted, Fences::new())
        }
        Insertion::Undecided(_, Stop::Trouble(trouble)) => return Err(trouble),
        Insertion::Undecided(least, Stop::Undecided(why)) => {
            // Of fences that weigh differently only the weight of the least is known.
            let known = match learner.needed {
                Needed::Program if options.costs == Costs::default() => least.len(),
                Needed::Program => usize::from(!least.is_empty()),
                // The program may need none of what is only asked for.
                Needed::Abstraction | Needed::Method => 0,
            };
            (Inserted::Undecided(known, why), Fences::new())
        }
        Insertion::Exhausted => {
            let limit = examined.budget().exhausted().map_or("a limit".to_owned(), |limit| limit.to_string());
            (Inserted::Undecided(0, format!("stopped at {limit}")), Fences::new())
        }
    };
    let is_enough = inserted == Inserted::Enough;
    let stopped = examined.budget().exhausted();
    // With fences of stores something may be cheaper, if a run demands no more.
    let mut is_cheapest = true;
    if is_enough && learner.needed != Needed::Method && learner.demands_stores(model) {
        let kinds = [FenceStrength::Stores, FenceStrength::Plain];
        let of_kinds = |&(site, _): &Candidate| kinds.map(|strength| (site, strength));
        let candidates: Vec<Candidate> = candidates.iter().flat_map(of_kinds).collect();
        let choice = Choice { candidates: &candidates, weights: &[&cost, &fullness, &readability], ..choice };
        let is_asked = options.store_fences && stopped.is_none() && examined.knows_store_fences(model);
        match is_asked.then(|| fewest(&choice, learner.demands(), &mut learner)) {
            Some(Insertion::Fewest(mixed)) => fences = mixed,
            Some(Insertion::Undecided(_, Stop::Trouble(trouble))) => return Err(trouble),
            Some(_) => {
                weaken(&mut fences, &mut learner)?;
                is_cheapest = !options.costs.prefer_stores();
            }
            None => is_cheapest = !options.costs.prefer_stores(),
        }
    }
    let minimal_sets = match options.minimal_sets {
        _ if !is_enough => None,
        Listing::None => None,
        Listing::First(most) => Some(most),
        Listing::All => Some(usize::MAX),
    };
    let minimal_sets = match minimal_sets {
        None => None,
        // What is asked for is more than is needed: sets may be missing, or be too large.
        Some(_) if learner.needed == Needed::Method => Some(MinimalSets { parts: vec![Vec::new()], complete: false }),
        Some(most) => {
            let found = insertion::all_minimal(|site| is_allowed(&site), most, &mut learner, examined.budget());
            let (sets, complete) = match found {
                Ok(found) => found,
                Err(Stop::Trouble(trouble)) => return Err(trouble),
                Err(Stop::Undecided(_)) => (Vec::new(), false),
            };
            let part = sets.into_iter().map(|set| set.into_iter().collect()).collect();
            Some(MinimalSets { parts: vec![part], complete })
        }
    };
    let minimality = match learner.needed {
        _ if !is_enough || !is_cheapest => Minimality::AtLeast(0),
        Needed::Program => Minimality::Program,
        Needed::Abstraction => Minimality::Abstraction,
        Needed::Method => Minimality::AtLeast(0),
    };
    // The checker has looked at the fences, and nothing cheaper is enough, so none can be left out.
    // Of a method that asks for more than is needed nobody knows.
    let each_needed = is_enough && minimality != Minimality::AtLeast(0);
    let how = How { inserted, minimality, each_needed, minimal_sets };
    Ok(outcome(examined, model, options, (started, learner), fences, how))
}

/// What is said of fences.
struct How {
    inserted: Inserted,
    minimality: Minimality,
    each_needed: bool,
    minimal_sets: Option<MinimalSets>,
}

/// The result, ready to be reported.
fn outcome(
    examined: &dyn Examined,
    model: &MemoryModel,
    options: &Options,
    (started, mut learner): (Instant, Learner<'_>),
    fences: Fences,
    How { inserted, minimality, each_needed, minimal_sets }: How,
) -> ModelOutcome {
    let is_enough = inserted == Inserted::Enough;
    let stopped = examined.budget().exhausted();
    let ground = learner.enough.remove(&fences).filter(|_| is_enough);
    let runs = learner.runs;
    let placement = Placement { cost: options.costs.total(&fences), fences, minimality };
    let recheck = Recheck { done: is_enough, enough: is_enough, each_needed };
    let fences = placement.fences.iter().map(|(&site, &strength)| Fence {
        site,
        strength,
        mnemonic: model.mnemonic(orders(strength), strength).to_owned(),
        cost: options.costs.of(site, strength),
        delays: Vec::new(),
        runs: (0..runs.len())
            .filter(|&run| runs[run].1.iter().any(|demand| demand.is_met_by_one((site, strength))))
            .collect(),
    });
    let fences = fences.collect();
    ModelOutcome {
        fences,
        inserted,
        runs: runs.into_iter().map(|(told, _)| told).collect(),
        composites: examined.composites(),
        complete: is_enough
            && stopped.is_none()
            && !examined.explored().cut_off
            && minimal_sets.as_ref().is_none_or(|sets| sets.complete),
        minimal_sets,
        ground,
        stopped,
        elapsed: started.elapsed(),
        ..ModelOutcome::new(model, placement, recheck)
    }
}

/// Weakens one full fence after the other, as long as the property is known to hold.
fn weaken(fences: &mut Fences, learner: &mut Learner<'_>) -> Result<(), Trouble> {
    for site in fences.keys().copied().collect::<Vec<Site>>() {
        let mut weaker = fences.clone();
        weaker.insert(site, FenceStrength::Stores);
        match insertion::Checker::check(learner, &weaker) {
            insertion::Answer::Holds => *fences = weaker,
            insertion::Answer::Undecided(Stop::Trouble(trouble)) => return Err(trouble),
            insertion::Answer::Undecided(Stop::Undecided(_)) | insertion::Answer::Fails(_) => {}
        }
    }
    Ok(())
}

/// Where demands are not necessary, and cannot be met: all fences, of which one after the other is left out as long as
/// the property holds; nothing if all are not enough. More fences never make an abstraction reach more.
fn by_leaving_out(candidates: &[Candidate], learner: &mut Learner<'_>) -> Result<Option<Fences>, Trouble> {
    let mut holds = |fences: &Fences| match insertion::Checker::check(learner, fences) {
        insertion::Answer::Holds => Ok(true),
        insertion::Answer::Undecided(Stop::Trouble(trouble)) => Err(trouble),
        insertion::Answer::Undecided(Stop::Undecided(_)) | insertion::Answer::Fails(_) => Ok(false),
    };
    let mut fences: Fences = candidates.iter().copied().collect();
    if !holds(&fences)? {
        return Ok(None);
    }
    for &(site, strength) in candidates {
        fences.remove(&site);
        if !holds(&fences)? {
            fences.insert(site, strength);
        }
    }
    Ok(Some(fences))
}

/// What a fence keeps in order on store buffers.
fn orders(strength: FenceStrength) -> &'static [(Kind, Kind)] {
    match strength {
        // Nobody puts these in for store buffers.
        FenceStrength::Loads | FenceStrength::Marks(_) | FenceStrength::Between(..) => &[],
        FenceStrength::Stores | FenceStrength::Lightweight => &[(Kind::Write, Kind::Write)],
        FenceStrength::Plain | FenceStrength::Cumulative => &[(Kind::Write, Kind::Read), (Kind::Write, Kind::Write)],
    }
}

/// All that a run demands are fences inside instructions, which are there and have not stopped it.
struct OnlyInside;

/// What a run demands besides the fences that it got past: one inside an instruction can stand where it does not stop
/// the run, and then a stronger one there or the others of the demand must.
fn unmet(demands: BTreeSet<Demand>, fences: &Fences) -> Result<BTreeSet<Demand>, OnlyInside> {
    let without = |mut demand: Demand| {
        let asked = demand.sites.len();
        demand.sites.retain(|site, least| match fences.get(site) {
            Some(&present) if present < FenceStrength::Plain => {
                *least = FenceStrength::Plain;
                true
            }
            Some(_) => false,
            None => true,
        });
        if demand.sites.is_empty() && asked > 0 { Err(OnlyInside) } else { Ok(demand) }
    };
    demands.into_iter().map(without).collect()
}

impl Learner<'_> {
    /// All that runs demand.
    fn demands(&self) -> BTreeSet<Demand> {
        self.runs.iter().flat_map(|(_, demands)| demands.iter().cloned()).collect()
    }

    /// Whether a run demands no more than a fence of stores at some site.
    fn demands_stores(&self, model: &MemoryModel) -> bool {
        let is_weak = |demand: &Demand| demand.sites.values().any(|&least| least == FenceStrength::Stores);
        model.known() == Ok(Known::Pso) && self.runs.iter().flat_map(|(_, demands)| demands).any(is_weak)
    }

    /// What the loop learns from an answer on these fences.
    fn learnt(&mut self, answer: Answer, fences: &Fences) -> insertion::Answer<Stop> {
        let undecided = |why: String| insertion::Answer::Undecided(Stop::Undecided(why));
        match answer {
            Answer::Holds(_) => insertion::Answer::Holds,
            Answer::Bounded { bound, .. } => undecided(format!(
                "no violation with at most {bound} waiting writes in a store buffer (--buffer-bound), and with more nothing is known"
            )),
            Answer::UpTo { because, .. } => undecided(because),
            Answer::Undecided(why) => undecided(why),
            Answer::Suspected { demands, necessary, advice } => match unmet(demands, fences) {
                Ok(demands) => {
                    self.suspected = Some(advice);
                    self.needed = self.needed.max(if necessary { Needed::Abstraction } else { Needed::Method });
                    insertion::Answer::Fails(demands)
                }
                Err(OnlyInside) => undecided(advice),
            },
            Answer::Fails { told, demands, .. } => match demands.map(|demands| unmet(demands, fences)) {
                Some(Ok(demands)) => {
                    self.suspected = None;
                    self.runs.push((told, demands.clone()));
                    insertion::Answer::Fails(demands)
                }
                None | Some(Err(OnlyInside)) => {
                    undecided("a run violates it, and it is not known which fences could stop that".to_owned())
                }
            },
        }
    }
}
