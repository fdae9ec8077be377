//! Refused evaluations that the state space does not show, and where they may be.
//!
//! Many tools do not write the self-loop of a condition that does not hold. What the condition read is missing then:
//! in `concurrent`, and in the program order of what comes before it. Whether an instruction's refused evaluations
//! are shown is decided for each by itself:
//!
//! - An instruction *shows itself* if it has no condition, or some refused evaluation of it is there (a label says
//!   so, or it is a self-loop of an instruction that is also taken); unless a step of another thread brings it into
//!   the local set or takes it out, which is a refused evaluation that is not there. Where its thread is about to
//!   evaluate it, one that shows itself is in the local set.
//! - Any other instruction with a condition is *unseen*: where its thread is about to evaluate it and it is not in
//!   the local set, it is refused. So is one without a condition that steps of other threads enable or disable: it
//!   has one that its label does not tell, and may read whatever other threads write; unless an instruction with a
//!   condition shows itself at the same place, and so tells what is read there (it is the other case of that
//!   condition).
//!
//! Where that is, follows from the others: an instruction has one place in its thread, and instructions that are
//! enabled together share it. So if some that show themselves are ever enabled together with the unseen one, its
//! place is where they are enabled; if not, its place is one where nothing that shows itself is enabled. What is not
//! excluded by this is presumed: it can only be too much, unless an instruction is never taken at all, of which the
//! state space knows nothing.

use super::enabled::Enabled;
use super::labels::Known;
use super::local_sets::LocalSets;
use super::refused_labels;
use super::state_table::{Part, StateTable};
use super::steps::Steps;
use crate::ids::ThreadId;
use crate::lts::label::{Label, Step};
use fixedbitset::FixedBitSet;
use rayon::iter::{ParallelBridge, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

/// Refused evaluations that may be there unseen.
#[derive(Default)]
pub(super) struct Unseen {
    /// Their labels; the first one has the number behind the last label of the state space.
    pub(super) labels: Vec<Label>,
    /// Where they may be: thread, local set, label.
    pub(super) members: Vec<(ThreadId, u32, u32)>,
}

/// An instruction, with what the state space tells of it.
#[derive(Default)]
struct Instruction {
    /// The numbers of its labels.
    labels: Vec<u32>,
    has_condition: bool,
    is_refused: bool,
    is_blocked: bool,
    is_taken: bool,
    comes_and_goes: bool,
}

impl Instruction {
    fn shows_itself(&self) -> bool {
        let refused = self.is_refused || self.is_blocked && self.is_taken;
        (!self.has_condition || refused) && !self.comes_and_goes
    }

    /// The labels that its refused evaluations can have; `own` is a label of it.
    fn refused_labels(&self, own: &Label, labels: &[Label]) -> Vec<Label> {
        if self.has_condition { refused_labels::of(own, labels) } else { refused_labels::of_unknown(own, labels) }
    }
}

/// Finds them.
pub(super) fn unseen(labels: &Known, enabled: &Enabled, steps: &Steps) -> Unseen {
    let instructions = Instructions::new(labels, &enabled.locals, steps);
    let mut unseen = Unseen::default();
    let candidates: Vec<usize> = (0..instructions.all.len()).filter(|&i| instructions.may_hide(labels, i)).collect();
    if candidates.is_empty() {
        return unseen;
    }
    let occurring = occurring(&enabled.table);
    // A refused evaluation that is shown at some places has its number already.
    let mut numbers: FxHashMap<Label, u32> = labels.labels.iter().cloned().zip(0..).collect();
    for instruction in candidates {
        let own = &instructions.all[instruction];
        let thread = labels.thread_of[own.labels[0] as usize];
        let places = instructions.places(thread, instruction, &enabled.locals, &occurring);
        for (set, &label) in places.iter().flat_map(|&set| own.labels.iter().map(move |label| (set, label))) {
            for refused in own.refused_labels(&labels.labels[label as usize], &labels.labels) {
                let next = u32::try_from(numbers.len()).expect("labels are few");
                let number = *numbers.entry(refused).or_insert_with_key(|refused| {
                    unseen.labels.push(refused.clone());
                    next
                });
                unseen.members.push((thread, set, number));
            }
        }
    }
    unseen
}

struct Instructions {
    all: Vec<Instruction>,
    /// By label.
    of_label: Vec<usize>,
}

impl Instructions {
    fn new(labels: &Known, locals: &LocalSets, steps: &Steps) -> Instructions {
        let mut ids: FxHashMap<(&str, &str), usize> = FxHashMap::default();
        let mut all: Vec<Instruction> = Vec::new();
        let mut of_label = Vec::with_capacity(labels.labels.len());
        for (number, label) in (0..).zip(&labels.labels) {
            let id = *ids.entry((&label.thread, &label.instr)).or_insert(all.len());
            if id == all.len() {
                all.push(Instruction::default());
            }
            of_label.push(id);
            all[id].labels.push(number);
            all[id].has_condition |= label.steps.iter().any(|step| matches!(step, Step::Condition { .. }));
            all[id].is_refused |= label.refused;
            all[id].is_blocked |= steps.blocked.contains(&number);
        }
        for step in &steps.visible {
            all[of_label[step.label as usize]].is_taken = true;
        }
        let mut instructions = Instructions { all, of_label };
        for step in steps.waking.iter().filter(|step| step.before != step.after) {
            let [before, after] = [step.before, step.after].map(|set| instructions.of_set(step.thread, set, locals));
            for &instruction in before.symmetric_difference(&after) {
                instructions.all[instruction].comes_and_goes = true;
            }
        }
        instructions
    }

    fn of_set(&self, thread: ThreadId, set: u32, locals: &LocalSets) -> FxHashSet<usize> {
        locals.members(thread, set).iter().map(|&label| self.of_label[label as usize]).collect()
    }

    /// Whether refused evaluations of the instruction may be missing, and would read something.
    fn may_hide(&self, labels: &Known, instruction: usize) -> bool {
        let own = &self.all[instruction];
        let labels = &labels.labels;
        !own.shows_itself()
            && own.labels.iter().any(|&label| !own.refused_labels(&labels[label as usize], labels).is_empty())
    }

    /// The local sets of the thread in which the instruction may be refused unseen.
    fn places(&self, thread: ThreadId, unseen: usize, locals: &LocalSets, occurring: &[FixedBitSet]) -> Vec<u32> {
        let sets = occurring.get(thread.index()).into_iter().flat_map(FixedBitSet::ones);
        let sets: Vec<(u32, FxHashSet<usize>)> =
            sets.map(|set| (set as u32, self.of_set(thread, set as u32, locals))).collect();
        let shown = |members: &FxHashSet<usize>| -> FxHashSet<usize> {
            members.iter().copied().filter(|&instruction| self.all[instruction].shows_itself()).collect()
        };
        let with_it = sets.iter().filter(|(_, members)| members.contains(&unseen));
        let companions: FxHashSet<usize> = with_it.flat_map(|(_, members)| shown(members)).collect();
        let tells_of_conditions = |&companion: &usize| self.all[companion].has_condition;
        if !self.all[unseen].has_condition && companions.iter().any(tells_of_conditions) {
            return Vec::new();
        }
        let is_place = |members: &FxHashSet<usize>| {
            let shown = shown(members);
            if companions.is_empty() { shown.is_empty() } else { !companions.is_disjoint(&shown) }
        };
        let without = sets.iter().filter(|(_, members)| !members.contains(&unseen) && is_place(members));
        without.map(|(set, _)| *set).collect()
    }
}

/// By thread, the local sets that some state has: others are there, too, from states that were read in part.
fn occurring(table: &StateTable) -> Vec<FixedBitSet> {
    let union = |mut a: Vec<FixedBitSet>, b: Vec<FixedBitSet>| {
        a.resize_with(a.len().max(b.len()), FixedBitSet::new);
        for (a, b) in a.iter_mut().zip(&b) {
            a.union_with(b);
        }
        a
    };
    let of_part = |part: Part<'_>| {
        let mut sets: Vec<FixedBitSet> = Vec::new();
        part.for_each(|local_sets| {
            sets.resize_with(local_sets.len(), FixedBitSet::new);
            for (sets, &set) in sets.iter_mut().zip(local_sets) {
                sets.grow_and_insert(set as usize);
            }
        });
        sets
    };
    table.parts().par_bridge().map(of_part).reduce(Vec::new, union)
}
