//! Fences one by one, in the order of Linden's thesis (sections 5.5 and 6.5), for comparison with the fewest.
//!
//! While a run violates the property, the fence that it [calls for](crate::weak::latest) is put in, and all is looked
//! at anew. On PSO that is done on TSO first, which gives the full fences; what is left are fences of stores. In the
//! end one fence after the other is left out as long as the property holds: what the thesis calls maximally
//! permissive. Every fence is needed then, with the others in place, but fewer may be enough elsewhere. It is a way,
//! and not a proof: where the fence that a run calls for is there already, nothing is known.

use super::{Answer, Checker, Examined, Trouble};
use crate::analysis::{Inserted, Told};
use crate::insertion::{Demand, Fences};
use crate::memory::{Known, MemoryModel};
use crate::outline::Site;
use crate::repair::Repair;
use std::collections::BTreeSet;

/// What was found.
pub(super) struct OneByOne {
    pub inserted: Inserted,
    pub fences: Fences,
    /// The runs that called for them, with what they demand; the one that no fence stops comes first.
    pub runs: Vec<(Told, BTreeSet<Demand>)>,
    /// What it rests on that they are enough.
    pub ground: Option<String>,
    /// Whether without each of them some run was found.
    pub each_needed: bool,
}

/// Puts fences in until the property holds.
///
/// # Errors
/// If the program goes wrong.
pub(super) fn one_by_one(
    examined: &dyn Examined,
    model: &MemoryModel,
    is_allowed: &dyn Fn(&Site) -> bool,
) -> Result<OneByOne, Trouble> {
    let mut found = OneByOne {
        inserted: Inserted::Enough,
        fences: Fences::new(),
        runs: Vec::new(),
        ground: None,
        each_needed: false,
    };
    let tso = MemoryModel::named(Known::Tso.name()).filter(|_| model.known() == Ok(Known::Pso));
    for model in tso.iter().chain([model]) {
        let mut checker = examined.checker(model)?;
        found.until_enough(&mut *checker, is_allowed)?;
        if found.inserted != Inserted::Enough {
            found.fences.clear();
            return Ok(found);
        }
    }
    let mut checker = examined.checker(model)?;
    found.each_needed = true;
    let candidates: Vec<Site> = found.fences.keys().copied().collect();
    for site in candidates {
        let mut fewer = found.fences.clone();
        fewer.remove(&site);
        let repair = Repair { fences: fewer.clone(), ..Repair::default() };
        match checker.check(&repair)? {
            Answer::Holds(ground) => (found.fences, found.ground) = (fewer, Some(ground.rests_on)),
            Answer::Fails { .. } => {}
            Answer::Suspected { .. } | Answer::Bounded { .. } | Answer::UpTo { .. } | Answer::Undecided(_) => {
                found.each_needed = false;
            }
        }
    }
    Ok(found)
}

impl OneByOne {
    fn until_enough(&mut self, checker: &mut dyn Checker, is_allowed: &dyn Fn(&Site) -> bool) -> Result<(), Trouble> {
        loop {
            let repair = Repair { fences: self.fences.clone(), ..Repair::default() };
            let (told, demands, latest) = match checker.check(&repair)? {
                Answer::Holds(ground) => {
                    self.ground = Some(ground.rests_on);
                    return Ok(());
                }
                Answer::Fails { told, demands, latest } => (told, demands.unwrap_or_default(), latest),
                Answer::Suspected { advice, .. } => return self.end(Inserted::Undecided(0, advice)),
                Answer::Undecided(why) => return self.end(Inserted::Undecided(0, why)),
                Answer::UpTo { because, .. } => return self.end(Inserted::Undecided(0, because)),
                Answer::Bounded { bound, .. } => {
                    let why = format!(
                        "no violation with at most {bound} waiting writes in a store buffer (--buffer-bound), and with more nothing is known"
                    );
                    return self.end(Inserted::Undecided(0, why));
                }
            };
            // No fence stops a run that asks for none.
            let is_consistent = demands.iter().all(|demand| demand.sites.is_empty());
            self.runs.push((told, demands));
            match latest {
                Some((site, _)) if !is_allowed(&site) => return self.end_with_run(Inserted::NotAtSites),
                Some((site, strength)) if self.fences.get(&site) < Some(&strength) => {
                    self.fences.insert(site, strength);
                }
                _ if is_consistent => return self.end_with_run(Inserted::Unfixable),
                _ => {
                    let why = "the fence that the last run calls for is in place, and fences one by one come to no end here; use --placement exact";
                    return self.end_with_run(Inserted::Undecided(0, why.to_owned()));
                }
            }
        }
    }

    fn end(&mut self, inserted: Inserted) -> Result<(), Trouble> {
        self.inserted = inserted;
        Ok(())
    }

    fn end_with_run(&mut self, inserted: Inserted) -> Result<(), Trouble> {
        self.runs.rotate_right(1);
        self.end(inserted)
    }
}
