//! What a run on store buffers demands: the sites of which every set of fences that keeps it from happening has one,
//! and how strong a fence must be there.
//!
//! For each read that a thread performs while an earlier write of it still waits, and for each write that becomes
//! visible (PSO) while an earlier one still waits: all sites on the thread's way between the two. A read that takes
//! its value from a waiting write of its own does not count for that write, nor, as long as writes become visible in
//! their order, for those before it: they are visible before that one is. If some write of the run overtakes another,
//! they may still wait when it has become visible and is lost, and count. The demand of the run is the union.
//!
//! *Kinds.* Where the second access is a write, a fence of stores is enough; where it is a read, it must be a full
//! one. A site that is on the ways of pairs of both sorts asks for a fence of stores only: that stops the run already.
//! Inside an instruction every fence keeps the accesses in their places, so there, too, the weakest is asked for.
//!
//! *Why every set of fences that is enough meets it.* A fence at any other site of the run either finds the buffer
//! empty, or the thread performs nothing that it or others can notice between the fence and the moment when the buffer
//! is empty, so what it does can wait until then: the run is still possible, and the writes become visible in the same
//! order as before. A fence of stores keeps nothing waiting but writes that are issued behind it, until those before
//! it are visible. If it is on the way between no two writes of which the second becomes visible first, they become
//! visible in this order anyway, and it makes no difference, whatever reads there are. So a set that has neither a
//! full fence on the way of any pair nor a fence of stores on the way of a pair of writes leaves the run possible. If
//! there is no such pair, the run is a sequentially consistent one, and no fence stops it.

use super::attack::{Visibility, Witness};
use super::buffers::{BufferState, BufferStep};
use super::system::Event;
use super::threads::{AccessKind, Progress};
use crate::ids::{InstrId, LocationAt, ThreadAt};
use crate::memory::FenceStrength;
use crate::outline::{Outline, Place, Site};
use std::collections::{BTreeMap, BTreeSet};

/// What a thread passes on its way from one access to another.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// The sites, with the weakest fence that could stop the thread there.
    between: BTreeMap<Site, FenceStrength>,
    /// Instructions that it was in the middle of: a fence inside them may have been passed.
    inside: BTreeSet<InstrId>,
}

impl Way {
    /// The way of the thread of a witness, between the two accesses of its pair.
    #[must_use]
    pub fn of_witness(witness: &Witness, outline: &Outline) -> Way {
        let delayed = witness.private.iter().position(|(_, visibility)| *visibility == Visibility::Delayed);
        let private = &witness.private[delayed.unwrap_or(0)..];
        let steps: Vec<&Event> = private.iter().map(|(event, _)| event).collect();
        let mut way = Way::default();
        way.extend(&steps, FenceStrength::Plain, outline);
        // A write that is visible at once overtakes the one that is kept back.
        for (number, (event, visibility)) in private.iter().enumerate().skip(1) {
            let writes = event.accesses.iter().any(|access| access.kind == AccessKind::Write);
            if writes && *visibility == Visibility::Visible {
                way.extend(&steps[..=number], FenceStrength::Stores, outline);
            }
        }
        way
    }

    /// All ways of a run on store buffers that demand a fence.
    #[must_use]
    pub fn of_run(run: &[(BufferStep, BufferState)], outline: &Outline) -> Way {
        let threads = run.first().map_or(0, |(_, state)| state.buffers.len());
        let overtakes = |step: &BufferStep| matches!(step, BufferStep::Committed { position, .. } if *position > 0);
        let in_order = !run.iter().any(|(step, _)| overtakes(step));
        let mut way = Way::default();
        for thread in ThreadAt::all(threads) {
            of_thread(run, in_order, thread, outline, &mut way);
        }
        way
    }

    /// Adds what is between these steps of one thread, where a fence of this strength could stop it: between two steps
    /// there is a site if the first ends its instruction, behind it, if it was taken, and before the next one.
    pub fn extend(&mut self, steps: &[&Event], strength: FenceStrength, outline: &Outline) {
        let instr = |event: &Event| outline.instr(event.at);
        for (before, after) in steps.iter().zip(steps.iter().skip(1)) {
            let (left, entered) = (instr(before), instr(after));
            match before.progress {
                Progress::InTheMiddle => {
                    self.inside.insert(left);
                }
                Progress::Done => {
                    let sites = [Some(Site::after(left)), Some(Site::before(entered)), outline.site_behind(left)];
                    sites.into_iter().flatten().for_each(|site| self.pass(site, strength));
                }
                Progress::WithoutEffect => {
                    self.pass(Site::before(entered), strength);
                }
            }
        }
    }

    fn pass(&mut self, site: Site, strength: FenceStrength) {
        let known = self.between.entry(site).or_insert(strength);
        *known = strength.min(*known);
    }

    /// A way through these sites, where only full fences count.
    #[must_use]
    pub fn through(between: BTreeSet<Site>) -> Way {
        let between = between.into_iter().map(|site| (site, FenceStrength::Plain)).collect();
        Way { between, inside: BTreeSet::new() }
    }

    /// The weakest fence at this site that could stop the thread on its way, if one could.
    #[must_use]
    pub fn stops(&self, site: Site) -> Option<FenceStrength> {
        match site.place {
            Place::Inside(_) => self.inside.contains(&site.instr).then_some(FenceStrength::Stores),
            Place::Before | Place::After | Place::On | Place::State => self.between.get(&site).copied(),
        }
    }
}

/// A write that waits: the number of the thread's step that issued it, and its location.
type Waiting = (usize, LocationAt);

/// Adds the ways of one thread.
fn of_thread(run: &[(BufferStep, BufferState)], in_order: bool, thread: ThreadAt, outline: &Outline, way: &mut Way) {
    let mut steps: Vec<&Event> = Vec::new();
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut pairs: BTreeSet<(usize, usize, FenceStrength)> = BTreeSet::new();
    for (step, state) in run {
        match step {
            BufferStep::Issued(event) if event.at.thread == thread => {
                let number = steps.len();
                steps.push(event);
                for access in &event.accesses {
                    match access.kind {
                        AccessKind::Read => {
                            let own = waiting.iter().rposition(|&(_, location)| location == access.location);
                            let is_overtaken = |position: usize| match own {
                                None => true,
                                Some(own) => position > own || (position < own && !in_order),
                            };
                            let overtaken = waiting.iter().enumerate().filter(|(position, _)| is_overtaken(*position));
                            pairs.extend(overtaken.map(|(_, &(issued, _))| (issued, number, FenceStrength::Plain)));
                        }
                        AccessKind::Write => waiting.push((number, access.location)),
                    }
                }
                // What acts on the memory at once does not wait.
                waiting.truncate(state.buffers[thread.index()].len());
            }
            BufferStep::Committed { thread: of, position, .. } if *of == thread => {
                let (issued, _) = waiting.remove(*position);
                let overtaken = waiting[..*position].iter();
                pairs.extend(overtaken.map(|&(earlier, _)| (earlier, issued, FenceStrength::Stores)));
            }
            BufferStep::Issued(_) | BufferStep::Committed { .. } => {}
        }
    }
    for (from, to, strength) in pairs {
        way.extend(&steps[from..=to], strength, outline);
    }
}
