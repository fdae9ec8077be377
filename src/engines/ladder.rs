//! Beside what a property of states needs: what robustness would need, and which of that the property does not ask
//! for.
//!
//! The fences for robustness keep every property of states that the program has under sequential consistency. Of these
//! fences one after the other is left out, in the order of the program, as long as the property still holds: what is
//! left out is what the property does not ask for. (Another order may leave out others.)
//!
//! *Limit.* Programs with more than [`STATES`] states are not looked at: this is said beside an answer, and must not
//! cost more than it.

use super::{Answer, Examined, Settings, Subject, Task, Trouble, finding};
use crate::analysis::{Inserted, Ladder, ModelOutcome, Options};
use crate::cycles::Atomicity;
use crate::explore::Limits;
use crate::placement::Minimality;
use crate::property::{Property, PropertyKind};
use crate::repair::Repair;

/// The most states.
pub const STATES: usize = 100_000;

/// What robustness would need of a program that has been examined for a property of states, for which these fences
/// were found; nothing if that is not known, or nothing is to be compared.
///
/// # Errors
/// If the program goes wrong.
pub fn ladder(task: &Task<'_>, examined: &dyn Examined, found: &ModelOutcome) -> Result<Option<Ladder>, Trouble> {
    let model = &found.model;
    let of_states = [PropertyKind::Never, PropertyKind::Final, PropertyKind::NoDeadlock];
    let (Subject::Program(_), true) = (task.subject, of_states.contains(&task.property.kind())) else {
        return Ok(None);
    };
    let states = Some(task.limits.states.map_or(STATES, |states| states.min(STATES)));
    let limits = Limits { states, invariants: &[], ..*task.limits };
    // Instructions are read as the property reads them: nothing but fences is compared.
    let atomicity = if examined.atomicity() == Atomicity::Presumed { Atomicity::Presumed } else { Atomicity::Split };
    let settings = Settings { atomicity: Some(atomicity), tells_readings: false, ..task.settings.clone() };
    let models = std::slice::from_ref(model);
    let robust = Task { property: &Property::Robust, models, limits: &limits, settings: &settings, ..*task };
    let engine = finding(PropertyKind::Robust).expect("the default engine");
    let looked = engine.examine(&robust)?;
    let options = Options { atomicity: looked.atomicity(), ..Options::default() };
    let outcome = looked.place(model, &options)?;
    if outcome.inserted != Inserted::Enough || !outcome.complete || looked.explored().cut_off {
        return Ok(None);
    }
    let mut kept = Repair::of(&outcome);
    let is_fewest = kept.fences.is_empty() || outcome.placement.minimality == Minimality::Program;
    if found.fences.is_empty() && kept.locked.is_empty() {
        let (fences, spared) = (kept.fences.len(), kept.fences.into_keys().collect());
        return Ok(Some(Ladder { fences, is_fewest, spared }));
    }
    let mut checker = examined.checker(model)?;
    let mut holds = |repair: &Repair| Ok::<bool, Trouble>(matches!(checker.check(repair)?, Answer::Holds(_)));
    let fences = kept.fences.len();
    // Where sequential consistency does not have the property either, nothing is compared.
    if !kept.locked.is_empty() || !holds(&kept)? {
        return Ok(None);
    }
    let mut spared = Vec::new();
    for (site, strength) in kept.fences.clone() {
        kept.fences.remove(&site);
        match holds(&kept)? {
            true => spared.push(site),
            false => {
                kept.fences.insert(site, strength);
            }
        }
    }
    Ok(Some(Ladder { fences, is_fewest, spared }))
}
