//! What fences cost: by default 1 each, whatever the kind, and where kinds are chosen from, what the memory model's
//! table says of each instruction. A file gives other weights.
//!
//! ```toml
//! marks = 1              # marks on the accesses of an instruction (ldar, stlr); as a plain fence, if nothing is said
//! stores = 1             # each store-store fence; as a plain one, if nothing is said
//! lightweight = 1        # each other fence that is no full one (lwsync, dmb ishld); as a plain one, if nothing is said
//! plain = 2              # each plain fence
//! cumulative = 3         # each cumulative fence; as a plain one, if nothing is said
//! [points]               # a factor for single places
//! "T0.3 after" = 10
//! "T1.0 before" = 5
//! "T1.2 inside 1" = 4
//! "T1.4 state" = 2       # at the control state that T1.4 leads to
//! ```
//!
//! Costs are integers from 1 to a million, and a stronger fence is not cheaper than a weaker one; sums are exact.

use crate::aeg::Accesses;
use crate::ids::InstrId;
use crate::memory::FenceStrength;
use crate::outline::{Place, Site};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The largest weight; keeps every sum of products far below 2^63.
const LARGEST: u64 = 1_000_000;

/// Weights of kinds and factors of sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    marks: u64,
    stores: u64,
    light: u64,
    plain: u64,
    cumulative: u64,
    /// Whether a file has said what kinds cost: else each instruction of an architecture has a cost of its own.
    weighs_kinds: bool,
    sites: BTreeMap<Site, u64>,
    /// Where fences stand already for another memory model: of equally cheap choices one that stands there is taken.
    familiar: BTreeSet<Site>,
}

/// What is wrong with a cost file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostError {
    /// Not TOML of the expected form.
    #[error("{0}")]
    Syntax(String),
    /// A weight out of range.
    #[error("{name:?} costs {found}; a cost is an integer from 1 to {LARGEST}")]
    OutOfRange {
        /// What the weight is for.
        name: String,
        /// What was written.
        found: u64,
    },
    /// A weaker fence that is dearer.
    #[error(
        "a store-store fence costs more ({stores}) than a plain one ({plain}), which can do all that it does: give it at most that cost"
    )]
    StoresAreDearer {
        /// The cost of a store-store fence.
        stores: u64,
        /// The cost of a plain fence.
        plain: u64,
    },
    /// Something weaker that is dearer.
    #[error(
        "{name:?} costs {cost}, more than a plain fence ({plain}), which can do all that it does: give it at most that cost"
    )]
    WeakerIsDearer {
        /// What it is.
        name: String,
        /// Its cost.
        cost: u64,
        /// The cost of a plain fence.
        plain: u64,
    },
    /// A stronger fence that is cheaper: then nobody would want the weaker one.
    #[error(
        "a cumulative fence costs less ({cumulative}) than a plain one ({plain}); it can do all that a plain one does, so give both its cost"
    )]
    CumulativeIsCheaper {
        /// The cost of a plain fence.
        plain: u64,
        /// The cost of a cumulative fence.
        cumulative: u64,
    },
    /// A point that the program does not have.
    #[error(
        "the program has no point {0:?}; a point is written \"THREAD.INSTRUCTION after\", \"… before\", \"… state\" or \"… inside LEVEL\""
    )]
    UnknownPoint(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CostFile {
    marks: Option<u64>,
    stores: Option<u64>,
    lightweight: Option<u64>,
    plain: Option<u64>,
    #[serde(default)]
    cumulative: Option<u64>,
    #[serde(default)]
    points: BTreeMap<String, u64>,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs {
            marks: 1,
            stores: 1,
            light: 1,
            plain: 1,
            cumulative: 1,
            weighs_kinds: false,
            sites: BTreeMap::new(),
            familiar: BTreeSet::new(),
        }
    }
}

impl Costs {
    /// The fewest fences; among these the fewest that stand before or inside an instruction or at a control state,
    /// which have no easy place in a program's text.
    #[must_use]
    pub fn for_text(accesses: &Accesses, has_text: impl Fn(InstrId) -> bool) -> Costs {
        const FENCE: u64 = 1000;
        let mut sites = BTreeMap::new();
        let outline = &accesses.outline;
        for instr in outline.instrs() {
            let inside = (1..=accesses.last_level(instr)).map(|level| (Place::Inside(level), FENCE + 3));
            let after = (Place::After, if has_text(instr) { FENCE } else { 2 * FENCE });
            for (place, cost) in inside.chain([(Place::On, FENCE), (Place::Before, FENCE + 1), after]) {
                sites.insert(Site { instr, place }, cost);
            }
        }
        for control in &outline.controls {
            let Some(site) = control.ways_in.first().and_then(|&instr| outline.site_behind(instr)) else {
                continue;
            };
            // In a text it stands on each way in; if it cannot, fences after all of them are still to be preferred.
            let can_be_written = control.ways_in.iter().all(|&instr| has_text(instr));
            let dear = (2 * control.ways_in.len() as u64 + 1) * FENCE;
            sites.insert(site, if can_be_written { FENCE + 2 } else { dear });
        }
        Costs { sites, ..Costs::default() }
    }

    /// Reads a cost file for this program.
    ///
    /// # Errors
    /// If the file is not of the form shown above, a weight is out of range, or a point does not exist.
    pub fn from_toml(text: &str, accesses: &Accesses, name_of: impl Fn(Site) -> String) -> Result<Costs, CostError> {
        let file: CostFile = toml::from_str(text).map_err(|error| CostError::Syntax(error.to_string()))?;
        let checked = |name: &str, found: u64| {
            if (1..=LARGEST).contains(&found) {
                Ok(found)
            } else {
                Err(CostError::OutOfRange { name: name.to_owned(), found })
            }
        };
        // A control state may be called after any of the instructions that lead there.
        let states = accesses.outline.instrs().filter_map(|instr| {
            let site = accesses.outline.junction_behind(instr)?;
            Some((name_of(Site { instr, ..site }), site))
        });
        let known: BTreeMap<String, Site> =
            accesses.sites().into_iter().map(|site| (name_of(site), site)).chain(states).collect();
        let mut sites = BTreeMap::new();
        for (name, weight) in &file.points {
            let site = known.get(name).ok_or_else(|| CostError::UnknownPoint(name.clone()))?;
            // Of two names of one control state the dearer counts.
            let weight = checked(name, *weight)?;
            sites.entry(*site).and_modify(|known: &mut u64| *known = weight.max(*known)).or_insert(weight);
        }
        let kinds = [file.marks, file.stores, file.lightweight, file.plain, file.cumulative];
        let plain = checked("plain", file.plain.unwrap_or(1))?;
        let cumulative = file.cumulative.map_or(Ok(plain), |cumulative| checked("cumulative", cumulative))?;
        if cumulative < plain {
            return Err(CostError::CumulativeIsCheaper { plain, cumulative });
        }
        let stores = file.stores.map_or(Ok(plain), |stores| checked("stores", stores))?;
        if stores > plain {
            return Err(CostError::StoresAreDearer { stores, plain });
        }
        let lighter = |name: &str, given: Option<u64>| {
            let cost = given.map_or(Ok(plain), |cost| checked(name, cost))?;
            if cost > plain {
                return Err(CostError::WeakerIsDearer { name: name.to_owned(), cost, plain });
            }
            Ok(cost)
        };
        let (marks, light) = (lighter("marks", file.marks)?, lighter("lightweight", file.lightweight)?);
        let weighs_kinds = kinds.iter().any(Option::is_some);
        Ok(Costs { marks, stores, light, plain, cumulative, weighs_kinds, sites, familiar: BTreeSet::new() })
    }

    /// The same costs; of equally cheap choices those are preferred that stand at these sites, before those that are
    /// easy to see in a text. Costs and minima stay what they are.
    #[must_use]
    pub fn preferring(&self, familiar: impl IntoIterator<Item = Site>) -> Costs {
        Costs { familiar: familiar.into_iter().collect(), ..self.clone() }
    }

    /// Whether some sites are preferred: else a search for choices that stand there would tell nothing.
    #[must_use]
    pub fn has_familiar(&self) -> bool {
        !self.familiar.is_empty()
    }

    /// 1 where no fence stood before, else 0.
    #[must_use]
    pub fn unfamiliarity(&self, site: Site) -> u64 {
        u64::from(!self.familiar.contains(&site))
    }

    /// The cost of a fence of this strength at this site.
    #[must_use]
    pub fn of(&self, site: Site, strength: FenceStrength) -> u64 {
        let weight = match strength {
            FenceStrength::Stores => self.stores,
            FenceStrength::Loads | FenceStrength::Lightweight | FenceStrength::Between(..) => self.light,
            FenceStrength::Marks(_) => self.marks,
            FenceStrength::Plain => self.plain,
            FenceStrength::Cumulative => self.cumulative,
        };
        weight * self.factor(site)
    }

    fn factor(&self, site: Site) -> u64 {
        self.sites.get(&site).copied().unwrap_or(1)
    }

    /// The cost of one of an architecture's instructions, which costs so much by itself, unless a file says otherwise.
    #[must_use]
    pub fn of_instruction(&self, site: Site, strength: FenceStrength, own: u64) -> u64 {
        if self.weighs_kinds { self.of(site, strength) } else { own * self.factor(site) }
    }

    /// Whether fences of stores cost less than plain ones: else equally many fences cost the same, whatever their kind.
    #[must_use]
    pub fn prefer_stores(&self) -> bool {
        self.stores < self.plain
    }

    /// The cost of all these fences.
    #[must_use]
    pub fn total(&self, fences: &BTreeMap<Site, FenceStrength>) -> u64 {
        fences.iter().map(|(&site, &strength)| self.of(site, strength)).sum()
    }
}

/// The place in words, as cost files and reports write it: `after`, `before`, `inside 1`, `state`.
#[must_use]
pub fn place_name(place: Place) -> String {
    match place {
        Place::Before => "before".to_owned(),
        Place::After => "after".to_owned(),
        Place::Inside(level) => format!("inside {level}"),
        Place::On => "on".to_owned(),
        Place::State => "state".to_owned(),
    }
}
