//! Suggestions put to use: which sites get a fence, which instructions become atomic, and which accesses get marks.
//!
//! A [`Repair`] can be put into a program ([`Repair::put_into`]), into one that [`weak`](crate::weak) performs access
//! by access ([`Repair::apply`]), and into the text of a specification ([`Repair::changes`]).

mod text;

use crate::analysis::ModelOutcome;
use crate::ids::{ControlAt, InstrAt, InstrId, ThreadAt};
use crate::memory::{FenceStrength, MemoryModel};
use crate::outline::{Outline, Place, Site};
use crate::program::{At, Instruction, InstructionKind, Marks, Program, Thread};
use crate::weak::split::SplitProgram;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Fences, atomic instructions, and marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Where fences stand, and of which kind; marks stand [on](Place::On) an instruction.
    pub fences: BTreeMap<Site, FenceStrength>,
    /// Instructions that become atomic.
    pub locked: BTreeSet<InstrId>,
    /// Instructions whose accesses get these marks, besides those that they have. Atomic ones that are full fences,
    /// or become such, have no use for them, and neither have fences: there they are left out.
    pub marks: BTreeMap<InstrId, Marks>,
}

/// What a `report.json` suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The suggestions.
    pub repair: Repair,
    /// Whether the analysis was complete: else more may be missing.
    pub is_complete: bool,
}

/// Why a report does not fit a program.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It is no report.
    #[error("this is no report of seqcon: {0}; write one with 'seqcon analyse SPEC --json FILE'")]
    NoReport(String),
    /// It has the results of several models.
    #[error("this report is of several models ({0}); analyse this specification by itself, with a --json of its own")]
    SeveralModels(String),
    /// It has no result for the memory model.
    #[error("the report has no result for {0}; it has {1}")]
    NoModel(String, String),
    /// The memory model of its result has the same name and other rules: which.
    #[error("the report is of a memory model {0} with other rules: {1}")]
    OtherRules(String, String),
    /// It names what the program does not have.
    #[error("the report names {0}, which the specification does not have; was it written for another one?")]
    Unknown(String),
    /// It has a position that is none.
    #[error("the report has a fence at {0:?} of {1}; expected after, before, state, or inside with a level")]
    Position(String, String),
    /// It has a kind of fence that is none.
    #[error("the report has a {0:?} fence at {1}; expected store-store, load, lightweight, plain or cumulative")]
    Strength(String, String),
}

#[derive(Deserialize)]
struct Document {
    results: Vec<ResultObject>,
}

/// A report of several models.
#[derive(Deserialize)]
struct Documents {
    models: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    model: String,
}

#[derive(Deserialize)]
struct ResultObject {
    summary: SummaryObject,
    /// Early reports do not have them.
    #[serde(default)]
    rules: BTreeMap<String, String>,
    fences: Vec<FenceObject>,
    locks: Vec<LockObject>,
}

#[derive(Deserialize)]
struct SummaryObject {
    memory_model: String,
    complete: String,
}

#[derive(Deserialize)]
struct FenceObject {
    thread: String,
    instruction: String,
    position: String,
    level: Option<u32>,
    /// How strong it is; nothing stands for a full fence.
    kind: Option<String>,
}

impl FenceObject {
    fn strength(&self) -> Result<FenceStrength, Mismatch> {
        match &self.kind {
            None => Ok(FenceStrength::Plain),
            Some(named) => FenceStrength::named(named)
                .ok_or_else(|| Mismatch::Strength(named.clone(), format!("{}.{}", self.thread, self.instruction))),
        }
    }
}

#[derive(Deserialize)]
struct LockObject {
    thread: String,
    instruction: String,
    role: String,
}

impl Repair {
    /// Full fences at these sites.
    #[must_use]
    pub fn full(sites: impl IntoIterator<Item = Site>) -> Repair {
        let fences = sites.into_iter().map(|site| (site, FenceStrength::Plain)).collect();
        Repair { fences, ..Repair::default() }
    }

    /// The sites of its fences.
    #[must_use]
    pub fn sites(&self) -> BTreeSet<Site> {
        self.fences.keys().copied().collect()
    }

    /// The sites of those fences that are more than fences of stores: for who takes the others for nothing.
    #[must_use]
    pub fn full_sites(&self) -> BTreeSet<Site> {
        let full = self.fences.iter().filter(|(_, strength)| **strength >= FenceStrength::Plain);
        full.map(|(&site, _)| site).collect()
    }

    /// What an analysis suggests.
    #[must_use]
    pub fn of(outcome: &ModelOutcome) -> Repair {
        Repair {
            fences: outcome.fences.iter().map(|fence| (fence.site, fence.strength)).collect(),
            locked: outcome.findings.torn.iter().map(|torn| torn.instr).collect(),
            marks: BTreeMap::new(),
        }
    }

    /// What a `report.json` suggests for a memory model.
    ///
    /// # Errors
    /// If it is no report, has no result for the model or is of another one of its name, or is of another program.
    pub fn from_json(json: &str, model: &MemoryModel, outline: &Outline) -> Result<Reported, Mismatch> {
        let no_report = |error: serde_json::Error| Mismatch::NoReport(error.to_string());
        if let Ok(several) = serde_json::from_str::<Documents>(json) {
            let names: Vec<String> = several.models.into_iter().map(|named| named.model).collect();
            return Err(Mismatch::SeveralModels(names.join(", ")));
        }
        let document: Document = serde_json::from_str(json).map_err(no_report)?;
        let names: Vec<&str> = document.results.iter().map(|result| &*result.summary.memory_model).collect();
        let result = document.results.iter().find(|result| result.summary.memory_model == model.name);
        let result = result.ok_or_else(|| Mismatch::NoModel(model.name.clone(), names.join(", ")))?;
        let rules = model.rules();
        let other: Vec<&str> = result
            .rules
            .iter()
            .filter(|(rule, kept)| rules.get(*rule) != Some(kept))
            .map(|(rule, _)| &**rule)
            .collect();
        if !other.is_empty() {
            return Err(Mismatch::OtherRules(model.name.clone(), other.join(", ")));
        }
        let find = |thread: &str, instruction: &str| {
            let known = outline.find_shown(thread, instruction);
            known.ok_or_else(|| Mismatch::Unknown(format!("{thread}.{instruction}")))
        };
        let mut repair = Repair::default();
        for fence in &result.fences {
            let instr = find(&fence.thread, &fence.instruction)?;
            let position =
                || Mismatch::Position(fence.position.clone(), format!("{}.{}", fence.thread, fence.instruction));
            let site = match (&*fence.position, fence.level) {
                ("after", _) => Site::after(instr),
                ("before", _) => Site::before(instr),
                ("state", _) => outline.site_behind(instr).ok_or_else(position)?,
                ("inside", Some(level)) => Site::inside(instr, level),
                ("on", _) => Site::on(instr),
                _ => return Err(position()),
            };
            repair.fences.insert(site, fence.strength()?);
        }
        for lock in result.locks.iter().filter(|lock| lock.role != "partner") {
            repair.locked.insert(find(&lock.thread, &lock.instruction)?);
        }
        Ok(Reported { repair, is_complete: result.summary.complete == "yes" })
    }

    /// The program with the fences in place and the marks on its instructions. A fence before an instruction stands
    /// behind everything that leads to it, as in a text; one at a control state is an instruction of its own, from a
    /// state that all lead to instead; for one inside an instruction, that becomes atomic.
    #[must_use]
    pub fn put_into(&self, program: &Program) -> Program {
        let outline = &Outline::of_program(program);
        let mut repaired = program.clone();
        let mut locked: BTreeSet<At> = self.locked.iter().filter_map(|&instr| outline.at(instr)).collect();
        let mut after: BTreeMap<At, BTreeSet<FenceStrength>> = BTreeMap::new();
        let mut states: BTreeMap<(ThreadAt, ControlAt), BTreeSet<FenceStrength>> = BTreeMap::new();
        for (site, at, strength) in self.fences_at(outline) {
            match site.place {
                Place::After => put(&mut after, at, strength),
                Place::Before => {
                    let ways = program.thread(at.thread).ways_into(program.instruction(at).from);
                    ways.for_each(|instruction| put(&mut after, At { instruction, ..at }, strength));
                }
                Place::State => put(&mut states, (at.thread, program.instruction(at).to), strength),
                Place::Inside(_) | Place::On => {
                    locked.insert(at);
                }
            }
        }
        for at in locked {
            repaired.thread_mut(at.thread).instruction_mut(at.instruction).kind = InstructionKind::Atomic;
        }
        for (at, marks) in self.marks_at(outline) {
            let kind = &mut repaired.thread_mut(at.thread).instruction_mut(at.instruction).kind;
            *kind = kind.marked(marks);
        }
        for (at, strengths) in after {
            for strength in FenceStrength::needed(strengths.iter().copied()) {
                let name = format!("{} {}", repaired.instruction(at).name, word(strength));
                put_between(repaired.thread_mut(at.thread), &[at.instruction], name, strength);
            }
        }
        for ((thread, state), strengths) in states {
            let thread = repaired.thread_mut(thread);
            for strength in FenceStrength::needed(strengths.iter().copied()) {
                let ways: Vec<InstrAt> = thread.ways_into(state).collect();
                // No language has names with a blank.
                let name = format!("{} at {}", word(strength), thread.states[state.index()]);
                put_between(thread, &ways, name, strength);
            }
        }
        repaired
    }

    /// Puts the fences and marks in, and makes the instructions atomic; the outline is that of the program that was
    /// split.
    pub fn apply(&self, outline: &Outline, split: &mut SplitProgram) {
        for at in self.locked.iter().filter_map(|&instr| outline.at(instr)) {
            split.lock(at);
        }
        for (at, marks) in self.marks_at(outline) {
            split.mark(at, marks);
        }
        // What stands after an instruction leads to the fence at the state, too.
        for (_, at, strength) in self.fences_at(outline).filter(|(site, ..)| site.place == Place::State) {
            split.fence_at_target(at, strength);
        }
        for (site, at, strength) in self.fences_at(outline) {
            match site.place {
                Place::Before => split.fence_before(at, strength),
                Place::Inside(level) => split.fence_inside(at, level, strength),
                Place::After => split.fence_after(at, strength),
                Place::State | Place::On => {}
            }
        }
    }

    /// The instructions that get marks, and which.
    fn marks_at(&self, outline: &Outline) -> impl Iterator<Item = (At, Marks)> {
        let suggested = self.fences.iter().filter_map(|(site, strength)| match strength {
            FenceStrength::Marks(marks) => Some((site.instr, *marks)),
            _ => None,
        });
        let marks = self.marks.iter().map(|(&instr, &marks)| (instr, marks)).chain(suggested);
        marks.filter_map(|(instr, marks)| Some((outline.at(instr)?, marks)))
    }

    /// The sites of fences, the positions of their instructions, and of which kind they are.
    fn fences_at(&self, outline: &Outline) -> impl Iterator<Item = (Site, At, FenceStrength)> {
        let fences = self.fences.iter().filter(|(site, _)| site.place != Place::On);
        fences.filter_map(|(&site, &strength)| Some((site, outline.at(site.instr)?, strength)))
    }
}

/// What the instruction is called after: two fences at one place have names of their own.
fn word(strength: FenceStrength) -> String {
    match strength {
        FenceStrength::Loads => "load-fence".to_owned(),
        FenceStrength::Between(before, after) => format!("fence {before},{after}"),
        FenceStrength::Marks(_)
        | FenceStrength::Stores
        | FenceStrength::Lightweight
        | FenceStrength::Plain
        | FenceStrength::Cumulative => "fence".to_owned(),
    }
}

/// One more fence at a place.
fn put<K: Ord>(fences: &mut BTreeMap<K, BTreeSet<FenceStrength>>, place: K, strength: FenceStrength) {
    fences.entry(place).or_default().insert(strength);
}

/// Puts a fence between these instructions, which lead to one state, and that state.
fn put_between(thread: &mut Thread, ways: &[InstrAt], name: String, strength: FenceStrength) {
    let Some(&first) = ways.first() else { return };
    let between = ControlAt::new(thread.states.len());
    let Instruction { to, span, .. } = *thread.instruction(first);
    for &way in ways {
        thread.instruction_mut(way).to = between;
    }
    thread.instructions.push(Instruction {
        name: name.clone(),
        from: between,
        to,
        priority: 0,
        condition: None,
        assignments: Vec::new(),
        kind: strength.partial().map_or(InstructionKind::Fence, InstructionKind::PartialFence),
        span,
    });
    thread.states.push(name);
}
