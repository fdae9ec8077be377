//! What the search refuses or fills in, it may: on random walks through the configurations of bundled programs, each
//! configuration and all that it is larger than pass, and values that are filled in are those of the configuration.

use super::pso::{self, Pso};
use super::replay::{fire, fire_pso};
use super::search::Rules;
use super::tso::{self, INITIAL, Tso};
use crate::engines::automata::{ANY, Automata, Location, Value};
use crate::property::StateCondition;
use crate::specification::Specification;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

const PROGRAMS: [&str; 8] = [
    include_str!("../../../specs/properties/bakery.slco"),
    include_str!("../../../specs/properties/burns-3.slco"),
    include_str!("../../../specs/properties/clh.slco"),
    include_str!("../../../specs/properties/dijkstra.slco"),
    include_str!("../../../specs/properties/lamport-fast.slco"),
    include_str!("../../../specs/properties/producer-consumer-2-n2.slco"),
    include_str!("../../../specs/properties/tournament-barrier.slco"),
    include_str!("../../../specs/properties/task-scheduling.slco"),
];

fn on_all_programs(test: impl Fn(&Automata<'_>, &mut StdRng)) {
    let seed = std::env::var("SEQCON_SEED").map_or_else(|_| rand::random::<u32>().into(), |seed| seed.parse().unwrap());
    println!("SEQCON_SEED={seed}");
    for text in PROGRAMS {
        let (specification, _) = Specification::parse("test.slco".to_owned(), text.to_owned()).unwrap();
        let split = SplitProgram::new(&specification.program).unwrap();
        let conditions = specification.properties.iter().filter_map(|property| property.condition().cloned());
        let condition = StateCondition::any_of(conditions.collect()).unwrap();
        test(&Automata::of(&split, Forbidden::State(&condition)).unwrap(), &mut StdRng::seed_from_u64(seed));
    }
}

/// Leaves some values open.
fn opened(values: &[Value], rng: &mut StdRng) -> Vec<Value> {
    values.iter().map(|&value| if rng.random_ratio(1, 3) { ANY } else { value }).collect()
}

fn are_filled_in_rightly(filled: &[Value], values: &[Value]) -> bool {
    filled.iter().zip(values).all(|(filled, value)| *filled == ANY || filled == value)
}

#[test]
fn what_is_known_of_configurations_is_so_on_tso() {
    on_all_programs(|automata, rng| {
        let tso = Tso::new(automata, Rules::ALL);
        for _ in 0..60 {
            let mut here = tso::Minor {
                states: automata.threads.iter().map(|thread| thread.initial).collect(),
                pointers: vec![0; automata.threads.len()].into(),
                tags: vec![INITIAL],
                values: automata.memory.clone(),
            };
            for _ in 0..60 {
                let thread = rng.random_range(0..automata.threads.len());
                let transitions = &automata.threads[thread].transitions;
                if rng.random_ratio(1, 3) && (here.pointers[thread] as usize) + 1 < here.len() {
                    here.pointers[thread] += 1;
                } else if here.len() < 12 {
                    let next: Vec<_> = transitions.iter().filter_map(|step| fire(&tso, &here, thread, step)).collect();
                    here = next.choose(rng).cloned().unwrap_or(here);
                }
                here.drop_unseen();
                let mut smaller = here.clone();
                let anchors: Vec<usize> = tso.anchors(&here).into_iter().map(|(message, _)| message).collect();
                for message in (0..here.len()).rev() {
                    if !anchors.contains(&message) && rng.random_ratio(1, 2) {
                        smaller.remove(message);
                    }
                }
                let values = smaller.values.clone();
                smaller.values = opened(&values, rng);
                let before = smaller.clone();
                assert!(tso.refine(&mut smaller), "{before:?}\n{here:?}");
                assert!(are_filled_in_rightly(&smaller.values, &values), "{before:?}\n{smaller:?}\n{here:?}");
            }
        }
    });
}

#[test]
fn what_is_known_of_configurations_is_so_on_pso() {
    on_all_programs(|automata, rng| {
        let pso = Pso::new(automata, Rules::ALL);
        for _ in 0..60 {
            let mut here = pso::Minor {
                states: automata.threads.iter().map(|thread| thread.initial).collect(),
                memory: automata.memory.clone().into(),
                buffers: vec![Vec::new(); automata.threads.len() * automata.domains.len()].into(),
            };
            for _ in 0..60 {
                let thread = rng.random_range(0..automata.threads.len());
                let location = rng.random_range(0..automata.domains.len()) as Location;
                let word = &mut here.buffers[pso.buffer(thread, location)];
                if !word.is_empty() && rng.random_ratio(1, 2) {
                    here.memory[location as usize] = word.remove(0);
                } else {
                    let transitions = &automata.threads[thread].transitions;
                    let next: Vec<_> =
                        transitions.iter().filter_map(|step| fire_pso(&pso, &here, thread, step)).collect();
                    here = next.choose(rng).cloned().unwrap_or(here);
                }
                let mut smaller = here.clone();
                for word in &mut smaller.buffers {
                    let last = word.len().saturating_sub(1);
                    let mut position = 0;
                    word.retain(|_| {
                        position += 1;
                        position > last || rng.random_ratio(1, 2)
                    });
                    *word = opened(word, rng);
                }
                smaller.memory = opened(&here.memory, rng).into();
                let before = smaller.clone();
                assert!(pso.refine(&mut smaller), "{before:?}\n{here:?}");
                assert!(are_filled_in_rightly(&smaller.memory, &here.memory), "{before:?}\n{smaller:?}\n{here:?}");
            }
        }
    });
}
