//! All symbolic states, breadth first (thesis, algorithms of chapters 4 and 5).
//!
//! A state that a known one [includes](Tree::including) is not followed again. Where a thread can [go
//! first](super::persistent) only its steps are followed, unless they lead to nothing that is still to be followed. Of
//! steps that are [independent](super::independence) of each other only one order is followed: what was followed from
//! a state sleeps behind its other steps as long as these are independent of it.
//!
//! *Variant.* The thesis goes depth first. Its paths have thousands of steps, along which rounds are looked for from
//! every state, and where rounds cannot be accelerated it goes down one of them for ever. Breadth first what is
//! violated is found in any case, and by a short path. Only states that were accelerated come before others: they
//! include much of what waits to be followed.
//!
//! Where a state is included by another one in which steps sleep that are awake in it, the thesis follows these from
//! the smaller state, and has them awake in all that include it, although they were not followed from there. Here they
//! are woken, and followed, in the one that includes it. What the search leaves out in error
//! [`closing`](super::closing) finds.

use super::acceleration::accelerated;
use super::independence::independent;
use super::persistent::{GoesFirst, Persistent};
use super::space::{Memory, Space, Step, Symbolic};
use super::tree::{Followed, Node, NodeId, Tree, includes};
use crate::ids::ThreadAt;
use crate::property::ConditionFault;
use crate::weak::forbidden::{Forbidden, Judge};
use crate::weak::split::SplitProgram;
use crate::weak::visited::LimitReached;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Which reductions are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Threads go first that can.
    pub persistent: bool,
    /// Steps sleep.
    pub sleep: bool,
}

/// Threads go first; sleep sets leave out steps and no states, and what they cost is more
/// (docs/engines/buffer-automata.md).
impl Default for Reductions {
    fn default() -> Reductions {
        Reductions { persistent: true, sleep: false }
    }
}

impl Reductions {
    /// All.
    pub const ALL: Reductions = Reductions { persistent: true, sleep: true };
    /// None.
    pub const NONE: Reductions = Reductions { persistent: false, sleep: false };
}

/// What a search has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Met {
    /// A forbidden state, and what it violates.
    Forbidden(NodeId, String),
    /// An instruction that goes wrong.
    Wrong(NodeId),
}

/// Why a search has ended without all states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It met something.
    Met(Met),
    /// A limit was reached.
    Limit(LimitReached),
    /// The condition cannot be evaluated.
    Fault(ConditionFault),
}

impl From<LimitReached> for Ended {
    fn from(limit: LimitReached) -> Ended {
        Ended::Limit(limit)
    }
}

/// A search.
pub struct Search<'p, 'f> {
    /// The states.
    pub space: Space<'p>,
    /// Those that were seen.
    pub tree: Tree,
    /// Who can go first.
    pub persistent: Persistent<'f>,
    judge: Judge<'f>,
    /// Which memories with threads are forbidden if all buffers are empty.
    judged: FxHashMap<u32, bool>,
    /// The states that are to be followed, or the steps of one that have been woken.
    queue: VecDeque<(NodeId, Option<Vec<Step>>)>,
    reductions: Reductions,
    most: usize,
}

impl<'p, 'f> Search<'p, 'f> {
    /// Nothing seen yet; at most so many states.
    #[must_use]
    pub fn new(
        program: &'p SplitProgram,
        memory: Memory,
        forbidden: Forbidden<'f>,
        reductions: Reductions,
        most: usize,
    ) -> Search<'p, 'f> {
        Search {
            space: Space::new(program, memory, forbidden),
            tree: Tree::default(),
            persistent: Persistent::new(program, forbidden),
            judge: Judge::new(forbidden),
            judged: FxHashMap::default(),
            queue: VecDeque::new(),
            // Without buffers no commit can sleep.
            reductions: Reductions { sleep: reductions.sleep && memory != Memory::Sc, ..reductions },
            most,
        }
    }

    /// Sees all states.
    ///
    /// # Errors
    /// If something was met, or a limit was reached.
    pub fn run(&mut self) -> Result<(), Ended> {
        let initial = self.space.initial();
        self.enter(initial, None, Vec::new())?;
        while let Some((node, woken)) = self.queue.pop_front() {
            if self.tree.node(node).is_included {
                // Its steps are among those of another one.
                continue;
            }
            let state = self.tree.state(node);
            let steps = match woken {
                Some(woken) => {
                    let mut steps = self.steps_of(&state, self.tree.node(node).followed);
                    steps.retain(|(step, _)| woken.contains(step));
                    steps
                }
                None => {
                    let (followed, mut steps) = self.followed(&state, node);
                    let known = &mut self.tree.nodes[node as usize];
                    (known.followed, known.is_open) = (followed, false);
                    steps.retain(|(step, _)| known.asleep.binary_search(step).is_err());
                    steps
                }
            };
            let mut asleep = self.tree.node(node).asleep.clone();
            for (step, next) in steps {
                let space = &mut self.space;
                let behind = match self.reductions.sleep {
                    false => Vec::new(),
                    true => {
                        let still = |&other: &Step| independent(space, &state, other, step);
                        asleep.iter().copied().filter(still).collect()
                    }
                };
                asleep.push(step);
                self.enter(next, Some((node, step)), behind)?;
            }
        }
        Ok(())
    }

    /// Comes to a state, which is to be followed if nothing includes it.
    fn enter(
        &mut self,
        mut state: Symbolic,
        found: Option<(NodeId, Step)>,
        mut asleep: Vec<Step>,
    ) -> Result<(), Ended> {
        let shared = self.tree.number(state.shared.clone());
        let round = self.accelerate(&mut state, shared, found);
        if let Some(round) = &round {
            // What slept before a round may be followed behind another one.
            let before = &self.tree.node(round.from).asleep;
            asleep.retain(|step| before.contains(step));
        }
        asleep.sort_unstable();
        if let Some(known) = self.tree.including(&mut self.space, shared, &state.buffers) {
            self.wake(known, &asleep);
            return Ok(());
        }
        let node = self.add(&state, shared, found, round)?;
        let known = &mut self.tree.nodes[node as usize];
        (known.asleep, known.is_open) = (asleep, true);
        // What was accelerated includes much of what is about to be followed.
        if known.round.is_some() {
            self.queue.push_front((node, None));
        } else {
            self.queue.push_back((node, None));
        }
        Ok(())
    }

    /// Wakes what sleeps in a state, but for this.
    fn wake(&mut self, node: NodeId, asleep: &[Step]) {
        let known = &mut self.tree.nodes[node as usize];
        let (still, woken): (Vec<Step>, Vec<Step>) =
            known.asleep.iter().partition(|step| asleep.binary_search(step).is_ok());
        if !woken.is_empty() {
            known.asleep = still;
            if !known.is_open {
                self.queue.push_back((node, Some(woken)));
            }
        }
    }

    /// Replaces the languages by those after any number of rounds, if a round ends here.
    pub fn accelerate(
        &mut self,
        state: &mut Symbolic,
        shared: u32,
        found: Option<(NodeId, Step)>,
    ) -> Option<super::acceleration::Round> {
        let (languages, round) = accelerated(&mut self.space, &self.tree, state, shared, found?)?;
        let own = self.space.own(round.thread);
        state.buffers[own].copy_from_slice(&languages);
        Some(round)
    }

    /// Adds a state that nothing includes, and judges it.
    ///
    /// # Errors
    /// If it is forbidden, goes wrong, or is one too many.
    pub fn add(
        &mut self,
        state: &Symbolic,
        shared: u32,
        parent: Option<(NodeId, Step)>,
        round: Option<super::acceleration::Round>,
    ) -> Result<NodeId, Ended> {
        let budget = &self.space.machine.system.program.budget;
        budget.check().map_err(LimitReached::Budget)?;
        budget.found_states(self.tree.nodes.len());
        if self.tree.nodes.len() >= self.most {
            return Err(Ended::Limit(LimitReached::States));
        }
        let buffers = state.buffers.clone();
        let (followed, asleep) = (Followed::All, Vec::new());
        let node = Node { shared, buffers, parent, round, followed, asleep, is_open: false, is_included: false };
        let node = self.tree.add(&mut self.space, node);
        if let Some((_, Step::Issue { thread, to, .. })) = parent
            && self.space.machine.system.thread(thread).config(to).is_faulty
        {
            return Err(Ended::Met(Met::Wrong(node)));
        }
        // With empty buffers it is the same state whatever else they can hold.
        if self.space.is_judged(&state.buffers) && self.judged.get(&shared) != Some(&false) {
            let violated = self.space.violated(state, &mut self.judge).map_err(Ended::Fault)?;
            self.judged.insert(shared, violated.is_some());
            if let Some(what) = violated {
                return Err(Ended::Met(Met::Forbidden(node, what)));
            }
        }
        Ok(node)
    }

    /// The steps of a state that are to be followed.
    pub fn steps_of(&mut self, state: &Symbolic, followed: Followed) -> Vec<(Step, Symbolic)> {
        match followed {
            Followed::All => self.space.steps(state),
            Followed::Only(thread) => {
                let mut steps = Vec::new();
                self.space.issues(state, thread, &mut steps);
                steps
            }
        }
    }

    /// Which steps of a state are followed, and these.
    pub fn followed(&mut self, state: &Symbolic, node: NodeId) -> (Followed, Vec<(Step, Symbolic)>) {
        if self.reductions.persistent {
            for thread in self.space.machine.system.program.threads_at() {
                if let Some(why) = self.persistent.goes_first(&mut self.space, &state.shared, thread)
                    && let Some(steps) = self.going_first(state, node, thread, why)
                {
                    return (Followed::Only(thread), steps);
                }
            }
        }
        (Followed::All, self.space.steps(state))
    }

    /// The moves of a thread that can go first, unless what counts of them leads to what was followed already: then
    /// all others might be put off for ever.
    fn going_first(
        &mut self,
        state: &Symbolic,
        node: NodeId,
        thread: ThreadAt,
        why: GoesFirst,
    ) -> Option<Vec<(Step, Symbolic)>> {
        let mut steps = Vec::new();
        self.space.issues(state, thread, &mut steps);
        let leads_on = steps.iter().any(|(step, next)| {
            if !counts(why, *step) {
                return false;
            }
            let mut next = next.clone();
            let shared = self.tree.number(next.shared.clone());
            let _ = self.accelerate(&mut next, shared, Some((node, *step)));
            let including = self
                .tree
                .alike(shared)
                .iter()
                .filter(|&&other| includes(&mut self.space, &self.tree.node(other).buffers, &next.buffers));
            let including: Vec<NodeId> = including.copied().collect();
            including.is_empty() || including.iter().any(|&other| other != node && self.tree.node(other).is_open)
        });
        leads_on.then_some(steps)
    }
}

/// Whether a step is a move for which its thread can go first.
pub fn counts(why: GoesFirst, step: Step) -> bool {
    matches!(step, Step::Issue { number, .. } if why.counts(number))
}
