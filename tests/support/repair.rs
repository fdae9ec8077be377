//! Puts the suggested fences and locks into a program: as `fence` labels and `atomic` instructions.

use super::mini::{Instr, Kind, Program, State, fence};
use seqcon::analysis::{Analysis, ModelOutcome};
use seqcon::facts::{Facts, Follows};
use seqcon::ids::{InstrId, LabelId};
use seqcon::lts::label::{Label, LabelKind};
use seqcon::outline::{Place, Site};
use std::collections::BTreeMap;

/// The instructions of a mini program, by thread and position, as the analysis numbers them.
fn instr_id(analysis: &Analysis, thread: usize, instr: &Instr) -> Option<InstrId> {
    analysis.graph.outline.find(&format!("T{thread}"), &instr.name)
}

/// A program with fences and locks in place.
pub struct Repaired {
    pub program: Program,
    /// For each thread, the positions next to the fences, and the position that each was made from.
    origins: Vec<BTreeMap<usize, usize>>,
}

impl Repaired {
    /// The state of the program as it was: a thread at a fence is where the fence was put.
    pub fn without_fences(&self, mut state: State) -> State {
        for (position, origins) in state.positions.iter_mut().zip(&self.origins) {
            // A fence can stand next to a fence.
            while let Some(&origin) = origins.get(position) {
                *position = origin;
            }
        }
        state
    }
}

/// The program with fences and locks in place; nothing if a fence would stand inside an instruction, or before one of
/// several that start at one place (a fence there would take the choice from them).
pub fn repaired_program(program: &Program, analysis: &Analysis, outcome: &ModelOutcome) -> Option<Repaired> {
    let mut repaired = program.clone();
    let mut all_origins = Vec::new();
    for (number, thread) in repaired.threads.iter_mut().enumerate() {
        let positions = thread.instrs.iter().flat_map(|instr| [instr.from, instr.to]).max().unwrap_or(0) + 1;
        let mut fences: Vec<Instr> = Vec::new();
        let mut origins = BTreeMap::new();
        let starts: Vec<usize> = thread.instrs.iter().map(|instr| instr.from).collect();
        for instr in &mut thread.instrs {
            // What no state enables is not in the graph and needs nothing.
            let Some(id) = instr_id(analysis, number, instr) else { continue };
            if outcome.findings.in_place.locked.contains(&id) {
                instr.kind = Kind::Atomic;
            }
            for fence_in_place in outcome.fences.iter().filter(|fence| fence.site.instr == id) {
                let new = positions + fences.len();
                let name = format!("f{}", fences.len());
                match fence_in_place.site.place {
                    Place::Inside(_) | Place::On => return None,
                    Place::State => panic!("mini programs have labels alone, and no control states"),
                    Place::Before if starts.iter().filter(|&&from| from == instr.from).count() > 1 => return None,
                    Place::Before => {
                        fences.push(Instr { name, from: instr.from, to: new, ..fence() });
                        origins.insert(new, instr.from);
                        instr.from = new;
                    }
                    Place::After => {
                        fences.push(Instr { name, from: new, to: instr.to, ..fence() });
                        origins.insert(new, instr.to);
                        instr.to = new;
                    }
                }
            }
        }
        thread.instrs.extend(fences);
        all_origins.push(origins);
    }
    Some(Repaired { program: repaired, origins: all_origins })
}

/// The facts with fences and locks in place: each path runs through a fence label of its own where a fence stands.
/// Nothing if a fence would stand inside an instruction.
pub fn repaired_facts(facts: &Facts, analysis: &Analysis, outcome: &ModelOutcome) -> Option<Facts> {
    let mut labels: Vec<Label> = facts.labels.clone();
    let instr_of = |label: usize| analysis.graph.evaluations[label].instr;
    for (position, label) in labels.iter_mut().enumerate() {
        if outcome.findings.in_place.locked.contains(&instr_of(position)) {
            label.kind = LabelKind::Atomic;
        }
    }
    if outcome.fences.iter().any(|fence| matches!(fence.site.place, Place::Inside(_))) {
        return None;
    }
    // For each label the fence labels before and behind it.
    let mut fence_at = |label: usize, place: Place| {
        let stands = outcome.placement.fences.contains_key(&Site { instr: instr_of(label), place });
        stands.then(|| {
            let (thread, instr) = (facts.labels[label].thread.clone(), format!("f{}", labels.len()));
            labels.push(Label { thread, instr, kind: LabelKind::Fence, refused: false, steps: Vec::new() });
            LabelId::new(labels.len() - 1)
        })
    };
    let before: Vec<Option<LabelId>> = (0..facts.labels.len()).map(|label| fence_at(label, Place::Before)).collect();
    let behind: Vec<Option<LabelId>> = (0..facts.labels.len()).map(|label| fence_at(label, Place::After)).collect();
    let mut follows = Vec::new();
    for pair in &facts.follows {
        let over = behind[pair.from.index()].into_iter().chain(before[pair.to.index()]);
        let stations: Vec<LabelId> = [pair.from].into_iter().chain(over).chain([pair.to]).collect();
        follows.extend(stations.windows(2).map(|two| Follows { from: two[0], to: two[1], newly: pair.newly }));
    }
    Some(Facts::canonical(&labels, follows, facts.concurrent.clone(), (facts.states, facts.transitions)))
}
