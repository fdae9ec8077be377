//! A thread that keeps its writes back: which of its reads can overtake which of its writes on TSO?
//!
//! The first half of an [attack](crate::weak::attack), among what the others may write. From any state of the thread
//! among its environment a write is kept back, and the thread goes on alone, up to a fence or an atomic instruction.
//! Others do not move meanwhile, so each location that it has not written has one value all the time; what it has
//! written it reads back, and nobody can tell. Every read of anything else overtakes the write.
//!
//! If a pair is not among these, no run of the program reorders it so that others can tell: every state in which the
//! attack could begin is one of those looked at here, and so is all that the thread could then do.
//!
//! *Variant.* Instructions are whole; for a program in which an instruction makes several accesses, one by one, nothing
//! follows.
//!
//! *Cost.* For each state in which a write can be made, the states of a thread alone times the values of what it looks
//! at. *Limits.* With too many of them there is no answer.

use super::evaluate::{Look, Value, ways};
use super::scene::{Scene, Stage};
use super::search::states;
use super::{DETAILS, MOST_ALONE, Stopped, settled};
use crate::explore::Limits;
use crate::explore::watch::Watch;
use crate::ids::{ControlAt, InstrAt, LocationAt, ThreadAt};
use crate::program::compiled::{Compiled, Step};
use crate::program::labels::Decision;
use crate::program::{At, InstructionKind, Program};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// A write that is kept back, and a read that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Overtaking {
    /// The thread.
    pub thread: ThreadAt,
    /// The instruction that writes, and the location.
    pub write: (InstrAt, LocationAt),
    /// The instruction that reads, and the location.
    pub read: (InstrAt, LocationAt),
}

/// The most states in which a thread runs alone, for all writes together.
const MOST: usize = 50_000;

/// Where a thread that runs alone has come to.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Position {
    /// The write that is kept back.
    write: (InstrAt, LocationAt),
    control: ControlAt,
    values: Box<[Value]>,
    /// What it has looked at or written since, sorted.
    mind: Vec<Look>,
}

/// All pairs of these threads that can be reordered, and perhaps more.
///
/// # Errors
/// If there are too many states, or if a limit was reached.
pub fn overtakings(
    program: &Program,
    compiled: &Compiled,
    threads: &BTreeSet<ThreadAt>,
    limits: &Limits<'_>,
) -> Result<BTreeSet<Overtaking>, Stopped> {
    let watch = Watch::new(limits);
    let stage = Stage::new(compiled, program.num_of_locations());
    let mut found = BTreeSet::new();
    let interference = settled(&stage, DETAILS[0], &watch)?.interference;
    for &thread in threads {
        let scene = Scene::new(&stage, &[thread], &interference, DETAILS[0]);
        let mut alone = Alone { program, scene: &scene, thread, seen: FxHashSet::default(), open: Vec::new() };
        for state in states(&scene, MOST_ALONE, &watch)? {
            alone.begin(state.control[0], &state.values)?;
        }
        alone.go(&watch, &mut found)?;
    }
    Ok(found)
}

struct Alone<'a> {
    program: &'a Program,
    scene: &'a Scene<'a>,
    thread: ThreadAt,
    seen: FxHashSet<Position>,
    open: Vec<Position>,
}

impl Alone<'_> {
    /// The steps from a control state that can be taken with writes kept back.
    fn steps(&self, control: ControlAt) -> impl Iterator<Item = &Step> {
        let steps = self.scene.compiled.thread(self.thread).steps_from(control).iter();
        steps.filter(|step| {
            let at = At { thread: self.thread, instruction: step.instruction };
            match self.program.instruction(at).kind {
                // On TSO partial fences and marks do nothing, and what is atomic is a full fence.
                InstructionKind::Plain | InstructionKind::Marked(_) | InstructionKind::PartialFence(_) => true,
                InstructionKind::Fence | InstructionKind::Atomic | InstructionKind::Rmw(_) => false,
            }
        })
    }

    /// Every write that can be made in a state is kept back.
    fn begin(&mut self, control: ControlAt, values: &[Value]) -> Result<(), Stopped> {
        let mut begun = Vec::new();
        for step in self.steps(control) {
            ways(self.scene, step, (values, &[]), |way| {
                for &(location, _) in &way.written {
                    let mut mind = way.mind.clone();
                    // What it read before the write, others may change before it reads again.
                    mind.retain(|look| look.is_own);
                    mind.sort_unstable();
                    let (write, values) = ((step.instruction, location), way.after.clone());
                    begun.push(Position { write, control: step.to, values, mind });
                }
            })
            .map_err(|_| Stopped::TooDetailed)?;
        }
        begun.into_iter().for_each(|position| self.add(position));
        Ok(())
    }

    fn add(&mut self, mut position: Position) {
        self.scene.forget(0, position.control, &mut position.values);
        if self.seen.insert(position.clone()) {
            self.open.push(position);
        }
    }

    /// Goes on from all positions.
    fn go(&mut self, watch: &Watch<'_>, found: &mut BTreeSet<Overtaking>) -> Result<(), Stopped> {
        let mut at = 0;
        while let Some(position) = self.open.pop() {
            if self.seen.len() > MOST {
                return Err(Stopped::TooDetailed);
            }
            watch.check(at).map_err(Stopped::Limit)?;
            at += 1;
            let mut reached = Vec::new();
            for step in self.steps(position.control) {
                ways(self.scene, step, (&position.values, &position.mind), |way| {
                    let (thread, write) = (self.thread, position.write);
                    let read =
                        |&location: &LocationAt| Overtaking { thread, write, read: (step.instruction, location) };
                    found.extend(way.read.iter().map(read));
                    if way.verdict == Decision::Taken {
                        let mut mind = way.mind;
                        mind.sort_unstable();
                        reached.push(Position { write, control: step.to, values: way.after, mind });
                    }
                })
                .map_err(|_| Stopped::TooDetailed)?;
            }
            reached.into_iter().for_each(|position| self.add(position));
        }
        Ok(())
    }
}
