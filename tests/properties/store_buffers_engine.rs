//! The engine store-buffers: the fences that it finds through the insertion loop, by the demands of runs alone, are
//! enough, and no smaller set is, by trying all sets; and along the ladder of properties there are never more.

use crate::support::random::{cases, random_cases};
use crate::support::random_slco::{Shape, random_specification};
use seqcon::analysis::{Inserted, ModelOutcome, Options};
use seqcon::budget::Budget;
use seqcon::cycles::Atomicity;
use seqcon::engines::{self, Answer, Examined, Settings, Subject, Task};
use seqcon::explore::Limits;
use seqcon::memory::MemoryModel;
use seqcon::outline::Site;
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use seqcon::trial;
use std::cell::Cell;

/// Composites are read access by access: otherwise what is torn needs locks, which this engine does not place.
fn settings() -> Settings {
    let searches = trial::Limits { states: 20_000, buffer: 4, unroll: 2 };
    Settings { atomicity: Some(Atomicity::Split), searches, ..Settings::default() }
}

fn examined<T>(text: &str, property: &Property, work: impl FnOnce(&dyn Examined) -> T) -> T {
    let parsed = Specification::parse("test.slco".to_owned(), text.to_owned());
    let (specification, _) = parsed.unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    let settings = settings();
    let task = Task {
        subject: Subject::Program(&specification),
        property,
        models: &[],
        limits: &Limits::default(),
        rest: &Budget::default,
        settings: &settings,
    };
    let examined = engines::named("store-buffers").unwrap().examine(&task);
    work(&*examined.unwrap_or_else(|trouble| panic!("{trouble:?}\n{text}")))
}

fn placed(examined: &dyn Examined, model: &MemoryModel) -> ModelOutcome {
    examined.place(model, &Options::default()).unwrap_or_else(|trouble| panic!("{trouble:?}"))
}

fn subsets(of: &[Site], size: usize) -> Vec<Vec<Site>> {
    match (size, of.split_first()) {
        (0, _) => vec![Vec::new()],
        (_, None) => Vec::new(),
        (_, Some((&first, rest))) => {
            let with = subsets(rest, size - 1).into_iter().map(|set| [vec![first], set].concat());
            with.chain(subsets(rest, size)).collect()
        }
    }
}

/// Whether some set of so many fences is enough, by trying all.
fn some_set_is_enough(examined: &dyn Examined, model: &MemoryModel, size: usize) -> bool {
    let sites: Vec<Site> = examined.accesses().sites().into_iter().collect();
    let mut checker = examined.checker(model).unwrap();
    subsets(&sites, size).into_iter().any(|fences| {
        let repair = Repair::full(fences);
        matches!(checker.check(&repair).unwrap(), Answer::Holds(_))
    })
}

const SHAPE: Shape =
    Shape { most_threads: 3, most_instructions: 3, loops: true, composites: false, waits: true, fences: true };

#[test]
fn the_fences_are_the_fewest_and_never_more_along_the_ladder() {
    fences_are_the_fewest(300, &SHAPE);
}

/// Instructions that write and then read have sites inside of them.
#[test]
fn the_fences_are_the_fewest_also_inside_instructions() {
    fences_are_the_fewest(150, &Shape { composites: true, ..SHAPE });
}

fn fences_are_the_fewest(usual: u64, shape: &Shape) {
    let [tried, fewer, open] = [0, 0, 0].map(Cell::new);
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    for model in ["tso", "pso"].map(|name| MemoryModel::named(name).unwrap()) {
        random_cases(cases(usual), |rng| {
            let text = random_specification(rng, shape);
            let mut fences = Vec::new();
            for property in [Property::Robust, Property::SameStates] {
                examined(&text, &property, |examined| {
                    let outcome = placed(examined, &model);
                    match outcome.inserted {
                        Inserted::Enough => {
                            let found = outcome.fences.len();
                            fences.push(found);
                            let repair = Repair::of(&outcome);
                            let answer = examined.checker(&model).unwrap().check(&repair).unwrap();
                            assert!(
                                matches!(answer, Answer::Holds(_)),
                                "{} {property}: {answer:?}\n{text}",
                                model.name
                            );
                            if (1..=2).contains(&found) {
                                count(&tried);
                                let less = some_set_is_enough(examined, &model, found - 1);
                                assert!(!less, "{} {property}: {found} are too many\n{text}", model.name);
                            }
                        }
                        Inserted::Undecided(least, _) => {
                            count(&open);
                            if least > 0 && least <= 2 {
                                let less = some_set_is_enough(examined, &model, least - 1);
                                assert!(!less, "{} {property}: {least} are not needed\n{text}", model.name);
                            }
                        }
                        Inserted::Unfixable | Inserted::NotAtSites | Inserted::NotAbstractly(_) => {
                            panic!("{} {property}: sequential consistency has these properties\n{text}", model.name)
                        }
                    }
                });
            }
            if let [robust, same_states] = fences[..] {
                assert!(same_states <= robust, "{} {same_states} {robust}\n{text}", model.name);
                if same_states < robust {
                    count(&fewer);
                }
            }
        });
    }
    println!("{} tried, {} with fewer for the same states, {} open", tried.get(), fewer.get(), open.get());
    assert!(tried.get() > 20 && fewer.get() > 0, "this test shows nothing");
}

/// Along the ladder there are never more fences, in all bundled specifications that the engines decide.
#[test]
fn bundled_specifications_need_no_more_fences_further_down_the_ladder() {
    let tso = MemoryModel::named("tso").unwrap();
    let [decided, fewer] = [0, 0].map(Cell::new);
    let directory = format!("{}/specs", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "slco"));
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let program = crate::support::trust::program(&text);
        let settings = Settings { atomicity: Some(Atomicity::Split), ..Settings::default() };
        let above = [("cycles", &settings), ("persistence", &Settings::default())].map(|(engine, settings)| {
            let engine = crate::support::engines::named(engine);
            let outcome = crate::support::engines::examined(engine, &program, settings, None, |examined| {
                crate::support::engines::placed(
                    examined,
                    "tso",
                    &Options { atomicity: examined.atomicity(), ..Options::default() },
                )
            });
            outcome.unwrap_or_else(|trouble| panic!("{}: {trouble:?}", path.display()))
        });
        let outcome = examined(&text, &Property::SameStates, |examined| placed(examined, &tso));
        let least = match outcome.inserted {
            Inserted::Enough => outcome.fences.len(),
            Inserted::Undecided(least, _) => least,
            Inserted::Unfixable | Inserted::NotAtSites | Inserted::NotAbstractly(_) => panic!("{}", path.display()),
        };
        decided.set(decided.get() + u32::from(outcome.inserted == Inserted::Enough));
        for more in above.into_iter().filter(|more| more.complete) {
            assert!(least <= more.fences.len(), "{}: {least} {}", path.display(), more.fences.len());
            fewer.set(fewer.get() + u32::from(least < more.fences.len()));
        }
    }
    println!("{} decided, {} with fewer", decided.get(), fewer.get());
    assert!(decided.get() > 10 && fewer.get() > 1, "this test shows nothing");
}

#[test]
fn it_agrees_with_the_main_analysis_where_that_says_that_it_is_minimal() {
    for (name, fences) in [("sb", 2), ("mp", 0), ("peterson", 2), ("dekker", 4), ("lb", 0)] {
        let path = format!("{}/specs/{name}.slco", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let tso = MemoryModel::named("tso").unwrap();
        let outcome = examined(&text, &Property::Robust, |examined| placed(examined, &tso));
        assert_eq!((&outcome.inserted, outcome.fences.len()), (&Inserted::Enough, fences), "{name}");
    }
}
