//! A symbolic path as a run on store buffers.
//!
//! Where the path ends, all buffers are to be empty, or hold nothing that matters; what they hold becomes visible in
//! the end. From there the path is undone, step by step, with one content for
//! each buffer: what a commit has taken is put back, what a write has appended is taken away. Where a round was
//! accelerated, the content may be that of before the round, or that after one more of the rounds that follow each
//! other there, which is then undone in the same way; languages tell early what cannot come about. What is left at the
//! start is a list of steps, and the machine makes these.
//!
//! *Limits.* So many contents are looked at. On PSO, where the rounds of different buffers are counted apart, there
//! may be no run along the path. Then nothing is said.

use super::space::{MARK, Memory, Space, Step};
use super::tree::{NodeId, Tree};
use crate::budget::Exhausted;
use crate::ids::{LocationAt, ThreadAt};
use crate::regular::{Language, Letter};
use crate::weak::buffers::{BufferState, BufferStep};
use crate::weak::threads::{AccessKind, Action, Move};
use rustc_hash::FxHashSet;

/// The most contents that are looked at.
const MOST_CONTENTS: usize = 200_000;

/// A run with the states that it comes to.
pub type Run = Vec<(BufferStep, BufferState)>;

/// A round that is being undone once more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lap {
    /// Where it began.
    from: NodeId,
    /// Where the path goes on once it is undone.
    then: NodeId,
    thread: ThreadAt,
    /// How much waited at its end: it must become less.
    waiting: usize,
}

/// A place on the path, undone up to here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    node: NodeId,
    contents: Vec<Vec<Letter>>,
    laps: Vec<Lap>,
}

/// A run along the path to a node, which ends there with as little in the buffers as can be, if one is found.
///
/// # Errors
/// If the budget is exhausted.
pub fn run_to(space: &mut Space<'_>, tree: &Tree, node: NodeId) -> Result<Option<Run>, Exhausted> {
    let shortest =
        |&language: &Language| space.least(language).or_else(|| space.languages.shortest(language)).unwrap_or_default();
    let contents = tree.node(node).buffers.iter().map(shortest).collect();
    let end = Place { node, contents, laps: Vec::new() };
    // Each place with the step that was undone to come there, and the place before that.
    let mut places: Vec<(Place, Option<Step>, usize)> = vec![(end, None, 0)];
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut open: Vec<usize> = vec![0];
    while let Some(number) = open.pop() {
        space.machine.system.program.budget.check()?;
        let place = places[number].0.clone();
        if !seen.insert(place.clone()) {
            continue;
        }
        if seen.len() > MOST_CONTENTS {
            return Ok(None);
        }
        if tree.node(place.node).parent.is_none() && place.laps.is_empty() && place.contents.iter().all(Vec::is_empty) {
            let mut steps = Vec::new();
            let mut at = number;
            while at != 0 {
                steps.extend(places[at].1);
                at = places[at].2;
            }
            return Ok(made(space, &steps).map(|run| drained(space, run)));
        }
        let mut before = Undoing { space: &mut *space, tree }.before(&place);
        // What comes first is tried first.
        before.reverse();
        for (place, step) in before {
            open.push(places.len());
            places.push((place, step, number));
        }
    }
    Ok(None)
}

struct Undoing<'u, 'p> {
    space: &'u mut Space<'p>,
    tree: &'u Tree,
}

impl Undoing<'_, '_> {
    /// The places from which a place may have been come to, and the step that was made, if one was.
    fn before(&mut self, place: &Place) -> Vec<(Place, Option<Step>)> {
        let mut before = Vec::new();
        if let Some(lap) = place.laps.last().filter(|lap| lap.from == place.node) {
            let mut undone = Place { node: lap.then, ..place.clone() };
            undone.laps.pop();
            if self.waiting(lap.thread, &undone.contents) < lap.waiting && self.can_be(&undone) {
                before.push((undone, None));
            }
            return before;
        }
        let node = self.tree.node(place.node);
        if let Some(round) = &node.round {
            // As before the round: nothing else has changed.
            let without = Place { node: round.from, ..place.clone() };
            if self.can_be(&without) {
                before.push((without, None));
            }
        }
        before.extend(self.undone(place, place.node, place.laps.clone()));
        let mut end = place.node;
        while let Some(round) = &self.tree.node(end).round {
            let waiting = self.waiting(round.thread, &place.contents);
            if waiting > 0 {
                let mut laps = place.laps.clone();
                laps.push(Lap { from: round.from, then: place.node, thread: round.thread, waiting });
                before.extend(self.undone(place, end, laps));
            }
            end = round.from;
        }
        before
    }

    /// How much waits in the buffers of a thread.
    fn waiting(&self, thread: ThreadAt, contents: &[Vec<Letter>]) -> usize {
        contents[self.space.own(thread)].iter().map(Vec::len).sum()
    }

    /// Whether contents are some of those that a node stands for, but for those of threads that go round once more.
    fn can_be(&self, place: &Place) -> bool {
        let languages = &self.tree.node(place.node).buffers;
        let goes_round = |buffer: &usize| place.laps.iter().any(|lap| self.space.own(lap.thread).contains(buffer));
        let mut others = (0..languages.len()).filter(|buffer| !goes_round(buffer));
        others.all(|buffer| self.space.languages.contains(languages[buffer], &place.contents[buffer]))
    }

    /// The place before the step to a node, with contents as they are behind it.
    fn undone(&mut self, place: &Place, node: NodeId, laps: Vec<Lap>) -> Option<(Place, Option<Step>)> {
        let (parent, step) = self.tree.node(node).parent?;
        let mut contents = place.contents.clone();
        self.undo(parent, step, &mut contents)?;
        let place = Place { node: parent, contents, laps };
        self.can_be(&place).then_some((place, Some(step)))
    }

    /// Takes a step back, if it can have led to these contents.
    fn undo(&mut self, before: NodeId, step: Step, contents: &mut [Vec<Letter>]) -> Option<()> {
        let thread = step.thread();
        let own = self.space.own(thread);
        match step {
            Step::Pass { .. } => contents[own].iter_mut().for_each(|content| content.insert(0, MARK)),
            Step::Commit { letter, .. } => {
                let buffer = self.space.buffer(thread, self.space.write(letter).0);
                contents[buffer].insert(0, letter);
            }
            Step::Issue { number, to, .. } => {
                let shared = self.tree.shared(before);
                let known = self.space.known_move(shared, thread, number);
                match known.action {
                    Action::Write { location, value, .. } if self.space.memory != Memory::Sc => {
                        let buffer = self.space.buffer(thread, location);
                        let letter = self.space.letter(location, value);
                        (contents[buffer].pop()? == letter).then_some(())?;
                    }
                    Action::Read { operation, location } if self.space.memory != Memory::Sc => {
                        let content = &contents[self.space.buffer(thread, location)];
                        let is_of = |letter: &&Letter| **letter != MARK && self.space.write(**letter).0 == location;
                        let newest = content.iter().rev().find(is_of).map(|&letter| self.space.write(letter).1);
                        let value = newest.unwrap_or(shared.memory[location.index()]);
                        let known_thread = self.space.machine.system.thread_mut(thread);
                        let leads = known_thread.after_read(shared.config(thread), known.step, operation, value);
                        (leads == to).then_some(())?;
                    }
                    _ => {}
                }
                let waited = self.tree.node(before).buffers[own.clone()].iter().any(|&known| known != Language::UNIT);
                if known.ordered && self.space.memory == Memory::Pso && waited {
                    for content in &mut contents[own.clone()] {
                        (content.pop()? == MARK).then_some(())?;
                    }
                }
                if known.drained {
                    contents[own].iter().all(Vec::is_empty).then_some(())?;
                }
            }
        }
        Some(())
    }
}

/// Makes steps on the machine, if it can.
fn made(space: &mut Space<'_>, steps: &[Step]) -> Option<Run> {
    let mut here = space.machine.initial();
    let mut run = Run::new();
    for &step in steps {
        let thread = step.thread();
        let found = match step {
            // A mark leaves the machine's buffers by itself.
            Step::Pass { .. } => continue,
            Step::Commit { letter, .. } => {
                let write = space.write(letter);
                space.machine.steps(&here).into_iter().find(|(made, _)| match made {
                    BufferStep::Committed { thread: of, location, value, .. } => {
                        *of == thread && (*location, *value) == write
                    }
                    BufferStep::Issued(_) => false,
                })
            }
            Step::Issue { number, to, .. } => {
                let known = space.known_move(&here.shared, thread, number);
                space.machine.steps(&here).into_iter().find(|(made, next)| match made {
                    BufferStep::Issued(event) => {
                        event.at.thread == thread
                            && event.at.instruction == known.instruction
                            && next.shared.config(thread) == to
                            && begins_with(&known, event.accesses.first().map(|access| (access.kind, access.location)))
                    }
                    BufferStep::Committed { .. } => false,
                })
            }
        };
        let (made, next) = found?;
        let is_write = matches!(&made, BufferStep::Issued(_)) && next.buffers != here.buffers;
        here = next.clone();
        run.push((made, next));
        if space.memory == Memory::Sc && is_write {
            let is_commit = |made: &(BufferStep, BufferState)| matches!(made.0, BufferStep::Committed { .. });
            let commit = space.machine.steps(&here).into_iter().find(is_commit)?;
            here = commit.1.clone();
            run.push(commit);
        }
    }
    Some(run)
}

/// The run, and behind it commits until all buffers are empty.
fn drained(space: &mut Space<'_>, mut run: Run) -> Run {
    loop {
        let here = run.last().map_or_else(|| space.machine.initial(), |(_, state)| state.clone());
        let is_commit = |made: &(BufferStep, BufferState)| matches!(made.0, BufferStep::Committed { .. });
        match space.machine.steps(&here).into_iter().find(is_commit) {
            Some(commit) => run.push(commit),
            None => return run,
        }
    }
}

/// Whether a move begins with this access.
fn begins_with(known: &Move, access: Option<(AccessKind, LocationAt)>) -> bool {
    match known.action {
        Action::Silent { .. } => access.is_none(),
        Action::Read { location, .. } => access == Some((AccessKind::Read, location)),
        Action::Write { location, .. } => access == Some((AccessKind::Write, location)),
        Action::Whole => true,
    }
}
