//! The second look notices what is wrong with a proof: of bundled programs that are right, a state is left out, a set
//! is made smaller, a transition is forgotten, a step is made at once that somebody sees, a state is bad.

use super::coherence::Coherence;
use super::layout::Layout;
use super::recheck::{Claim, Listed};
use super::search::{Found, Reached, search};
use super::space::{Reduction, Space};
use crate::budget::Budget;
use crate::engines::automata::{Automata, Detail, Domains, Labels};
use crate::property::StateCondition;
use crate::specification::Specification;
use crate::weak::Machine;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;

const PROGRAMS: [&str; 4] = [
    include_str!("../../../specs/partial-coherence/pet-2.slco"),
    include_str!("../../../specs/partial-coherence/dek-2.slco"),
    include_str!("../../../specs/partial-coherence/fast-3.slco"),
    include_str!("../../../specs/partial-coherence/clh-2.slco"),
];

const COHERENCES: [Coherence; 6] = [
    Coherence::Set,
    Coherence::Full(0),
    Coherence::Full(1),
    Coherence::Full(2),
    Coherence::Partial(0),
    Coherence::Partial(1),
];

/// States, one by one.
struct Plain {
    /// The words that tell states apart, and those of the set.
    states: Vec<(Vec<u64>, Vec<u64>)>,
    numbers: BTreeMap<Vec<u64>, usize>,
}

impl Plain {
    fn new(states: Vec<(Vec<u64>, Vec<u64>)>) -> Plain {
        let numbers = states.iter().enumerate().map(|(number, (key, _))| (key.clone(), number)).collect();
        Plain { states, numbers }
    }

    fn of(reached: &Reached<'_>, layout: &Layout) -> Plain {
        let one = |number| {
            let mut state = vec![0; layout.len()];
            reached.load(number, &mut state);
            let (key, set) = state.split_at(layout.words.key);
            (key.to_vec(), set.to_vec())
        };
        Plain::new((0..reached.len()).map(one).collect())
    }

    /// Whether it has all states of another.
    fn includes(&self, other: &Plain) -> bool {
        other.states.iter().all(|(key, set)| self.has(&[&key[..], set].concat()))
    }
}

impl Listed for Plain {
    fn count(&self) -> usize {
        self.states.len()
    }

    fn has(&self, state: &[u64]) -> bool {
        let (key, set) = state.split_at(self.states[0].0.len());
        let number = self.numbers.get(key);
        number.is_some_and(|&number| set.iter().zip(&self.states[number].1).all(|(own, known)| own & !known == 0))
    }

    fn load(&self, number: usize, state: &mut [u64]) {
        let (key, set) = &self.states[number];
        state[..key.len()].copy_from_slice(key);
        state[key.len()..].copy_from_slice(set);
    }
}

/// A program, and what must never be.
struct Case {
    specification: Specification,
    split: SplitProgram,
    condition: StateCondition,
}

/// Every program under both machines, with all that may be kept of buffers.
fn on_all_programs(mut test: impl FnMut(&Case, (Machine, Coherence), &mut StdRng)) {
    let seed = std::env::var("SEQCON_SEED").map_or_else(|_| rand::random::<u32>().into(), |seed| seed.parse().unwrap());
    println!("SEQCON_SEED={seed}");
    for text in PROGRAMS {
        let (specification, _) = Specification::parse("test.slco".to_owned(), text.to_owned()).unwrap();
        let split = SplitProgram::new(&specification.program).unwrap();
        let conditions = specification.properties.iter().filter_map(|property| property.condition().cloned());
        let condition = StateCondition::any_of(conditions.collect()).unwrap();
        let case = Case { specification, split, condition };
        for machine in [Machine::Tso, Machine::Pso] {
            for coherence in COHERENCES {
                test(&case, (machine, coherence), &mut StdRng::seed_from_u64(seed));
            }
        }
    }
}

/// All states, if none is bad and there are not too many.
fn closed<'s>(space: &'s Space<'s>) -> Option<Reached<'s>> {
    match search(space, 20_000, &Budget::default()) {
        Ok(Found::Closed(reached)) => Some(reached),
        Ok(Found::Bad(..)) | Err(_) => None,
    }
}

#[test]
fn a_state_or_a_write_that_is_left_out_is_noticed() {
    let [mut states, mut writes] = [0, 0];
    on_all_programs(|case, kept, rng| {
        let forbidden = Forbidden::State(&case.condition);
        let automata = Automata::of(&case.split, forbidden).unwrap();
        for reduction in [Reduction::Off, Reduction::Private] {
            let space = Space::new(&case.split, &automata, forbidden, kept, reduction).unwrap();
            let Some(reached) = closed(&space) else { continue };
            let claim = Claim::new(&automata, &space.layout, kept, forbidden, space.private());
            let is_proved = |all: &Plain| claim.is_proved_by(all, &Budget::default()).unwrap();
            let all = Plain::of(&reached, &space.layout);
            assert!(is_proved(&all));
            for _ in 0..20 {
                let mut fewer = all.states.clone();
                fewer.remove(rng.random_range(0..all.states.len()));
                assert!(!is_proved(&Plain::new(fewer)), "{kept:?} {reduction:?}");
                states += 1;
            }
            let with_sets: Vec<usize> =
                (0..all.states.len()).filter(|&at| all.states[at].1.iter().any(|&set| set != 0)).collect();
            for &at in with_sets.choose_multiple(rng, 20) {
                let mut smaller = all.states.clone();
                let set = &mut smaller[at].1;
                let bits: Vec<usize> = (0..64 * set.len()).filter(|bit| set[bit / 64] & 1 << (bit % 64) != 0).collect();
                let bit = bits.choose(rng).unwrap();
                set[bit / 64] &= !(1 << (bit % 64));
                assert!(!is_proved(&Plain::new(smaller)), "{kept:?} {reduction:?}");
                writes += 1;
            }
        }
    });
    println!("{states} states, {writes} writes");
    assert!(states > 500 && writes > 100, "this test shows nothing");
}

#[test]
fn a_transition_that_is_forgotten_is_noticed() {
    let [mut noticed, mut needless] = [0, 0];
    on_all_programs(|case, kept, rng| {
        let forbidden = Forbidden::State(&case.condition);
        let automata = Automata::of(&case.split, forbidden).unwrap();
        let space = Space::new(&case.split, &automata, forbidden, kept, Reduction::Off).unwrap();
        let Some(reached) = closed(&space) else { return };
        let all = Plain::of(&reached, &space.layout);
        let claim = Claim::new(&automata, &space.layout, kept, forbidden, space.private());
        for _ in 0..10 {
            let mut lacking = Automata::of(&case.split, forbidden).unwrap();
            let thread = rng.random_range(0..lacking.threads.len());
            let transitions = &mut lacking.threads[thread].transitions;
            transitions.remove(rng.random_range(0..transitions.len()));
            let mut fewer = Space::new(&case.split, &lacking, forbidden, kept, Reduction::Off).unwrap();
            // What can wait is numbered as before.
            fewer.layout = Layout::new(&automata.threads, &automata.domains, kept.0, kept.1).unwrap();
            let some = Plain::of(&closed(&fewer).unwrap(), &fewer.layout);
            let is_proved = claim.is_proved_by(&some, &Budget::default()).unwrap();
            assert_eq!(is_proved, some.includes(&all), "{kept:?}");
            if is_proved { needless += 1 } else { noticed += 1 }
        }
    });
    println!("{noticed} noticed, {needless} are not needed");
    assert!(noticed > 100, "this test shows nothing");
}

#[test]
fn a_step_at_once_that_somebody_sees_is_noticed() {
    let mut noticed = 0;
    on_all_programs(|case, kept, _| {
        let forbidden = Forbidden::State(&case.condition);
        let automata = Automata::of(&case.split, forbidden).unwrap();
        let space = Space::new(&case.split, &automata, forbidden, kept, Reduction::Private).unwrap();
        let Some(reached) = closed(&space) else { return };
        for (thread, known) in automata.threads.iter().enumerate() {
            for (number, transition) in known.transitions.iter().enumerate() {
                let mut private: Vec<Vec<Option<u32>>> = space.private().into_iter().map(<[_]>::to_vec).collect();
                let at_once = &mut private[thread][transition.from as usize];
                if at_once.is_some() {
                    continue;
                }
                *at_once = Some(number as u32);
                let private = private.iter().map(|of_thread| &of_thread[..]).collect();
                let claim = Claim::new(&automata, &space.layout, kept, forbidden, private);
                assert!(!claim.is_proved_by(&reached, &Budget::default()).unwrap(), "{kept:?} {transition:?}");
                noticed += 1;
            }
        }
    });
    println!("{noticed} noticed");
    assert!(noticed > 100, "this test shows nothing");
}

#[test]
fn a_bad_state_is_noticed() {
    let mut noticed = 0;
    on_all_programs(|case, kept, _| {
        let Case { specification, split, condition } = case;
        let literal = Detail::Literal(Labels::None);
        let forbidden = Forbidden::State(condition);
        let automata = Automata::within(split, forbidden, literal, Domains::Closed(64)).unwrap();
        let space = Space::new(split, &automata, forbidden, kept, Reduction::Off).unwrap();
        let Some(reached) = closed(&space) else { return };
        let thread = &specification.program.threads[0];
        for state in &thread.states {
            let text = format!("{}@{state}", thread.name);
            let (property, _) = specification.never("test", &text).unwrap();
            let condition = property.condition().unwrap();
            let claim = Claim::new(&automata, &space.layout, kept, Forbidden::State(condition), space.private());
            assert!(!claim.is_proved_by(&reached, &Budget::default()).unwrap(), "{kept:?} {text}");
            noticed += 1;
        }
    });
    println!("{noticed} noticed");
    assert!(noticed > 20, "this test shows nothing");
}
