//! When a thread is not stuck: what the memory must hold for it to move on, all buffers being empty.
//!
//! A thread is stuck ([`weak::forbidden`](crate::weak::forbidden)) if whatever it evaluates leaves it where it is and
//! writes nothing. What it evaluates may be several accesses long, and be refused in the middle; and a fence that was
//! put in may stand on its way. So from a configuration between two instructions all ways are followed through
//! configurations that are not: a way ends with a write, or between two instructions elsewhere. The values that it has
//! read are what it needs. The thread is stuck where the memory has the values of none of its ways.
//!
//! That is told by the configurations as they are, before any of them are merged: merged, a thread that goes round
//! silently would stand still, and one that waits would be one that has ended. Configurations with different ways are
//! not merged, so what is said of one of a state is true of all of it.
//!
//! *Cost.* For each configuration as many ways as the instructions that begin there have combinations of values. Ways
//! are made fewer where one value after the other of a location leads on ([`simplified`]), up to [`MOST_SIMPLIFIED`];
//! not to do so only tells more states apart.

use super::{Location, Operation, Outside, Transition, Value};
use crate::budget::{Budget, Exhausted};
use crate::weak::threads::ConfigId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Values that locations have, by location; each location is there once.
type Values = Vec<(Location, Value)>;

/// The most ways that are made fewer.
const MOST_SIMPLIFIED: usize = 200;

/// The ways that lead on from a state: the values that each of them needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaving(Vec<Values>);

impl Leaving {
    /// Whether the thread is stuck in a memory that has these values.
    pub fn is_stuck(&self, has: impl Fn(Location, Value) -> bool) -> bool {
        !self.0.iter().any(|way| way.iter().all(|&(location, value)| has(location, value)))
    }

    /// Whether it moves on whatever the memory holds.
    pub fn is_certain(&self) -> bool {
        self.0.iter().any(Vec::is_empty)
    }

    /// The locations that decide.
    pub fn locations(&self) -> impl Iterator<Item = Location> + '_ {
        self.0.iter().flatten().map(|&(location, _)| location)
    }

    /// The same as numbers: equal if and only if the ways are.
    pub fn code(&self) -> impl Iterator<Item = i64> + '_ {
        let of_way = |way: &Values| {
            let values: Vec<i64> = way.iter().flat_map(|&(location, value)| [location, value]).map(i64::from).collect();
            std::iter::once(way.len() as i64).chain(values)
        };
        std::iter::once(self.0.len() as i64).chain(self.0.iter().flat_map(of_way))
    }
}

/// The ways that lead on from those configurations of a thread in which it may be stuck: between two instructions of
/// the program.
///
/// # Errors
/// If the budget is exhausted.
pub fn of(
    configs: &[ConfigId],
    (transitions, outside): (&[Transition], &[Outside]),
    domains: &[Vec<i64>],
    may_be_stuck: &dyn Fn(ConfigId) -> bool,
    budget: &Budget,
) -> Result<FxHashMap<ConfigId, Leaving>, Exhausted> {
    let mut leaving = FxHashMap::default();
    if configs.iter().any(|&config| may_be_stuck(config)) {
        let ways = Ways::new(transitions, outside, domains);
        for &config in configs.iter().filter(|&&config| may_be_stuck(config)) {
            leaving.insert(config, ways.from(config, may_be_stuck, budget)?);
        }
    }
    Ok(leaving)
}

/// The steps of a thread, from each configuration.
struct Ways<'t> {
    outgoing: FxHashMap<ConfigId, Vec<&'t Transition>>,
    /// What would lead out of the domains.
    outside: FxHashMap<ConfigId, Vec<&'t Outside>>,
    /// How many values each location has.
    sizes: Vec<usize>,
}

impl<'t> Ways<'t> {
    /// Of transitions between configurations.
    fn new(transitions: &'t [Transition], outside: &'t [Outside], domains: &[Vec<i64>]) -> Ways<'t> {
        let mut ways = Ways {
            outgoing: FxHashMap::default(),
            outside: FxHashMap::default(),
            sizes: domains.iter().map(Vec::len).collect(),
        };
        for known in transitions {
            ways.outgoing.entry(known.from).or_default().push(known);
        }
        for known in outside {
            ways.outside.entry(known.from).or_default().push(known);
        }
        ways
    }

    /// The ways that lead on from a configuration between two instructions.
    fn from(
        &self,
        home: ConfigId,
        is_judged: &dyn Fn(ConfigId) -> bool,
        budget: &Budget,
    ) -> Result<Leaving, Exhausted> {
        let mut found: FxHashSet<Values> = FxHashSet::default();
        let mut seen: FxHashSet<(ConfigId, Values)> = FxHashSet::default();
        let mut open: Vec<(ConfigId, Values)> = vec![(home, Values::new())];
        while let Some((at, values)) = open.pop() {
            budget.check()?;
            for known in self.outside.get(&at).into_iter().flatten() {
                found.extend(with(&values, &known.reads));
            }
            for known in self.outgoing.get(&at).into_iter().flatten() {
                let (reads, has_written) = match &known.operation {
                    Operation::Silent => (&[][..], false),
                    Operation::Read(location, value) => (&[(*location, *value)][..], false),
                    Operation::Write(..) => (&[][..], true),
                    Operation::Whole(reads, writes) => (&reads[..], !writes.is_empty()),
                };
                let Some(values) = with(&values, reads) else { continue };
                if has_written || (is_judged(known.to) && known.to != home) {
                    found.insert(values);
                } else if known.to != home && seen.insert((known.to, values.clone())) {
                    open.push((known.to, values));
                }
            }
        }
        Ok(Leaving(simplified(found, &self.sizes)))
    }
}

/// These values and those; nothing if a location would have two.
fn with(values: &Values, more: &[(Location, Value)]) -> Option<Values> {
    let mut all = values.clone();
    for &(location, value) in more {
        match all.binary_search_by_key(&location, |&(known, _)| known) {
            Ok(at) if all[at].1 != value => return None,
            Ok(_) => {}
            Err(at) => all.insert(at, (location, value)),
        }
    }
    Some(all)
}

/// The same with fewer ways: where every value of a location leads on it does not matter, and who needs more than
/// another needs is not needed. Sorted.
fn simplified(found: FxHashSet<Values>, sizes: &[usize]) -> Vec<Values> {
    let mut ways: Vec<Values> = found.into_iter().collect();
    ways.sort_unstable();
    if ways.len() > MOST_SIMPLIFIED {
        return ways;
    }
    let has = |ways: &[Values], asked: &Values| ways.iter().any(|way| way.iter().all(|value| asked.contains(value)));
    while let Some(shorter) = ways.iter().find_map(|way| {
        (0..way.len()).find_map(|at| {
            let every = (0..sizes[way[at].0 as usize]).all(|value| {
                let mut other = way.clone();
                other[at].1 = value as Value;
                has(&ways, &other)
            });
            let mut rest = way.clone();
            rest.remove(at);
            (every && !has(&ways, &rest)).then_some(rest)
        })
    }) {
        ways.push(shorter);
    }
    let is_needless = |way: &Values| {
        ways.iter().any(|other| other.len() < way.len() && other.iter().all(|value| way.contains(value)))
    };
    let mut kept: Vec<Values> = ways.iter().filter(|way| !is_needless(way)).cloned().collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With few values, all memories are tried.
    #[test]
    fn ways_made_fewer_lead_on_in_the_same_memories() {
        let sizes = [2, 3, 2];
        let mut shorter = 0;
        for seed in 0_u32..4000 {
            // Each bit decides whether one of the 12 combinations, without some of its locations, is a way.
            let mixed = u64::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
            let mut found = FxHashSet::default();
            for number in 0_usize..12 {
                if mixed & 1 << number != 0 {
                    let all = [(0, number % 2), (1, number / 2 % 3), (2, number / 6)];
                    let kept = |&(location, _): &(usize, usize)| mixed & 1 << (12 + (3 * number + location) % 30) != 0;
                    let kept = all.into_iter().filter(kept);
                    found.insert(kept.map(|(location, value)| (location as Location, value as Value)).collect());
                }
            }
            let as_found = Leaving(found.iter().cloned().collect());
            let fewer = Leaving(simplified(found, &sizes));
            shorter += usize::from(fewer.0.len() < as_found.0.len());
            for number in 0_usize..12 {
                let memory = [number % 2, number / 2 % 3, number / 6];
                let has = |location: Location, value: Value| memory[location as usize] == value as usize;
                assert_eq!(fewer.is_stuck(has), as_found.is_stuck(has), "{as_found:?} {fewer:?} {memory:?}");
            }
        }
        assert!(shorter > 1000, "{shorter}: this test shows nothing");
    }
}
