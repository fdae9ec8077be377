//! Which kinds of fences are put in: no cheaper mixture of full fences and fences of stores is enough, by trying all of
//! them, and of equally cheap ones none has fewer full fences.

use crate::single_buffer::weak_condition;
use crate::support::random::{cases, random_cases};
use crate::support::random_slco::{Shape, random_specification};
use seqcon::analysis::{Inserted, Options};
use seqcon::budget::Budget;
use seqcon::cycles::Atomicity;
use seqcon::engines::{self, Answer, Examined, Settings, Subject, Task};
use seqcon::explore::Limits;
use seqcon::insertion::Fences;
use seqcon::memory::{FenceStrength, MemoryModel};
use seqcon::outline::Site;
use seqcon::placement::Minimality;
use seqcon::placement::cost::Costs;
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use seqcon::trial;
use seqcon::weak::Machine;
use std::cell::Cell;

const KINDS: [FenceStrength; 2] = [FenceStrength::Stores, FenceStrength::Plain];

fn examined(specification: &Specification, property: &Property, work: impl FnOnce(&dyn Examined)) {
    let searches = trial::Limits { states: 20_000, buffer: 4, unroll: 2 };
    let settings = Settings { atomicity: Some(Atomicity::Split), searches, ..Settings::default() };
    let task = Task {
        subject: Subject::Program(specification),
        property,
        models: &[],
        limits: &Limits::default(),
        rest: &Budget::default,
        settings: &settings,
    };
    work(&*engines::named("store-buffers").unwrap().examine(&task).unwrap_or_else(|trouble| panic!("{trouble:?}")));
}

/// What is minimised: the cost, then how many fences are full.
type Weight = (u64, usize);

fn weight(costs: &Costs, fences: &Fences) -> Weight {
    (costs.total(fences), fences.values().filter(|&&strength| strength == FenceStrength::Plain).count())
}

/// The most mixtures that are tried.
const MOST: usize = 4000;

/// All mixtures that weigh less; nothing if these are too many.
fn lighter(sites: &[Site], costs: &Costs, most: Weight) -> Option<Vec<Fences>> {
    let mut all = vec![Fences::new()];
    for &site in sites {
        let mut more = Vec::new();
        for fences in &all {
            for kind in KINDS {
                let mut longer = fences.clone();
                longer.insert(site, kind);
                if weight(costs, &longer) < most {
                    more.push(longer);
                }
            }
        }
        all.extend(more);
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

fn costs(examined: &dyn Examined, text: &str) -> Costs {
    Costs::from_toml(text, examined.accesses(), |site| format!("{site:?}")).unwrap()
}

const SHAPE: Shape =
    Shape { most_threads: 3, most_instructions: 3, loops: false, composites: false, waits: true, fences: true };

fn mixtures_are_the_cheapest(usual: u64, shape: &Shape, weights: &str) {
    let model = MemoryModel::named("pso").unwrap();
    let [tried, mixed, only_stores, full, open] = [0, 0, 0, 0, 0].map(Cell::new);
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    random_cases(cases(usual), |rng| {
        let text = random_specification(rng, shape);
        let parsed = Specification::parse("test.slco".to_owned(), text.clone());
        let (specification, _) = parsed.unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
        let weak = weak_condition(rng, &specification, Machine::Pso).map(Property::Never);
        // Fences inside of instructions change what sequential consistency reaches, too.
        let same_states = (!shape.composites).then_some(Property::SameStates);
        for property in [Some(Property::Robust), same_states, weak].into_iter().flatten() {
            examined(&specification, &property, |examined| {
                let costs = costs(examined, weights);
                let options = Options { costs: costs.clone(), ..Options::default() };
                let outcome = examined.place(&model, &options).unwrap_or_else(|trouble| panic!("{trouble:?}"));
                if outcome.inserted != Inserted::Enough {
                    return count(&open);
                }
                let repair = Repair::of(&outcome);
                let mut checker = examined.checker(&model).unwrap();
                let answer = checker.check(&repair).unwrap();
                assert!(matches!(answer, Answer::Holds(_)), "{property}: {repair:?} {answer:?}\n{text}");
                let plain = Repair::full(repair.sites());
                assert!(matches!(checker.check(&plain).unwrap(), Answer::Holds(_)), "full fences do no less");
                let found = weight(&costs, &repair.fences);
                assert_eq!(outcome.placement.cost, found.0);
                if outcome.placement.minimality != Minimality::Program {
                    return count(&open);
                }
                let sites: Vec<Site> = examined.accesses().sites().into_iter().collect();
                let Some(lighter) = lighter(&sites, &costs, found).filter(|_| !repair.fences.is_empty()) else {
                    return;
                };
                count(&tried);
                match (found.1, repair.fences.len()) {
                    (0, _) => count(&only_stores),
                    (full, all) if full < all => count(&mixed),
                    _ => count(&full),
                }
                for fences in lighter {
                    let answer = checker.check(&Repair { fences: fences.clone(), ..Repair::default() }).unwrap();
                    assert!(
                        !matches!(answer, Answer::Holds(_)),
                        "{property}: {fences:?} is enough, {:?} was found\n{text}",
                        repair.fences
                    );
                }
            });
        }
    });
    let [tried, mixed, only_stores, full, open] = [tried, mixed, only_stores, full, open].map(Cell::into_inner);
    println!("{tried} tried: {only_stores} with fences of stores only, {mixed} mixed, {full} full; {open} open");
    assert!(tried > 5 && only_stores > 0, "{tried} {only_stores} {mixed} {full}");
    assert!(!weights.is_empty() || full + mixed > 3, "{mixed} {full}");
}

#[test]
fn of_equally_many_fences_as_few_as_possible_are_full() {
    mixtures_are_the_cheapest(250, &SHAPE, "");
}

#[test]
fn no_cheaper_mixture_is_enough() {
    mixtures_are_the_cheapest(250, &SHAPE, "stores = 1\nplain = 2\ncumulative = 2\n");
}

#[test]
fn nor_inside_of_instructions() {
    let shape = Shape { most_threads: 2, composites: true, ..SHAPE };
    mixtures_are_the_cheapest(150, &shape, "stores = 2\nplain = 3\ncumulative = 3\n");
}

/// As Linden's tool Remmex has it: two of each kind, and for three processes three.
#[test]
fn peterson_gets_as_many_of_each_kind_as_published() {
    let model = MemoryModel::named("pso").unwrap();
    for (name, each) in [("peterson", 2), ("peterson-3", 3)] {
        let text = std::fs::read_to_string(format!("specs/properties/{name}.slco")).unwrap();
        let (specification, _) = Specification::parse(format!("{name}.slco"), text).unwrap();
        let property = &specification.properties[0];
        let settings = Settings::default();
        let task = Task {
            subject: Subject::Program(&specification),
            property,
            models: &[],
            limits: &Limits::default(),
            rest: &Budget::default,
            settings: &settings,
        };
        let examined = engines::named("auto").unwrap().examine(&task).unwrap();
        let outcome = examined.place(&model, &Options::default()).unwrap();
        assert_eq!(KINDS.map(|kind| outcome.num_of_fences(kind)), [each, each], "{name}");
        assert_eq!(outcome.placement.minimality, Minimality::Program);
        let full = examined.place(&model, &Options { store_fences: false, ..Options::default() }).unwrap();
        assert_eq!(KINDS.map(|kind| full.num_of_fences(kind)), [0, 2 * each], "{name}");
    }
}

#[test]
fn a_weaker_fence_is_not_dearer() {
    let text = std::fs::read_to_string("specs/properties/peterson.slco").unwrap();
    let (specification, _) = Specification::parse("peterson.slco".to_owned(), text).unwrap();
    examined(&specification, &Property::Robust, |examined| {
        let read = |text: &str| Costs::from_toml(text, examined.accesses(), |site| format!("{site:?}"));
        let error = read("stores = 3\nplain = 2\ncumulative = 2").unwrap_err().to_string();
        assert!(error.contains("a store-store fence costs more (3) than a plain one (2)"), "{error}");
        let site = *examined.accesses().sites().iter().next().unwrap();
        let cost = |text: &str| KINDS.map(|kind| read(text).unwrap().of(site, kind));
        assert_eq!(cost("plain = 2\ncumulative = 2"), [2, 2], "as a plain one, if nothing is said");
        assert_eq!(cost("stores = 1\nplain = 2\ncumulative = 2"), [1, 2]);
    });
}
