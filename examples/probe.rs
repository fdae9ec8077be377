#![allow(missing_docs, clippy::unwrap_used)]
use seqcon::kinds::Kinds;
use seqcon::kinds::test::Judge;
use seqcon::analysis::{Analysis, Options};
use seqcon::aeg::Profile;
use seqcon::explore::{Limits, explore};
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::memory::MemoryModel;
use seqcon::program::compiled::Compiled;
use seqcon::weak::axiomatic::{Model, outcomes};

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap();
    let verbose = std::env::var("V").is_ok();
    let model = MemoryModel::named(&name).unwrap();
    let axioms = Model::of(&model).unwrap();
    let sc_model = Model::sc();
    let (mut robust, mut fenced, mut fewer, mut all) = (0, 0, 0, 0);
    let mut judge = Judge::new(seqcon::memory::cat::builtin(model.known().unwrap()).unwrap());
    for path in args {
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(parsed) = seqcon::lang::parse(&path, &text) else { println!("{path}: cannot be read"); continue };
        let program = parsed.program;
        let litmus = path.ends_with(".litmus");
        let is_robust = litmus.then(|| {
            let sc = outcomes(&program, &sc_model, 2).unwrap();
            let weak = outcomes(&program, &axioms, 2).unwrap();
            sc.ends == weak.ends
        });
        let compiled = Compiled::new(&program).unwrap();
        let (exploration, watchers) = explore(&compiled, &Limits::default(), &mut FactsObserver).unwrap();
        let facts = facts(&program, &watchers, (exploration.states.len() as u64, exploration.transitions));
        let analysis = Analysis::new(facts, Profile::Sound);
        let findings = analysis.find(&model, &Options::default());
        let kinds = Kinds::new(&analysis, &model, &findings.in_place);
        let started = std::time::Instant::now();
        let found = kinds.cheapest(&mut judge);
        all += 1;
        let base = path.rsplit('/').next().unwrap();
        match found {
            Ok(elements) => {
                if verbose || !litmus {
                    let table = analysis.run(&model, &Options::default()).fences.len();
                    println!("{base}: {is_robust:?} table={table} {:?} in {:?}", elements.iter().map(|e| show(&analysis, *e)).collect::<Vec<_>>(), started.elapsed());
                }
                if is_robust == Some(true) {
                    robust += 1;
                    if !elements.is_empty() {
                        fenced += 1;
                        println!("{name} {base} robust but {:?}", elements.iter().map(|e| show(&analysis, *e)).collect::<Vec<_>>());
                    }
                } else if is_robust == Some(false) && elements.is_empty() {
                    fewer += 1;
                    println!("{name} {base} UNSOUND");
                }
            }
            Err(why) => println!("{name} {base} {why:?} {:?}", started.elapsed()),
        }
    }
    println!("{name}: all {all} robust {robust} fenced though {fenced} unsound {fewer}");
}

fn show(analysis: &Analysis, element: seqcon::kinds::elements::Element) -> String {
    let (thread, instr) = analysis.graph.names_of(element.instr());
    match element {
        seqcon::kinds::elements::Element::Fence(site, kind) => format!("{thread}.{instr} {:?} {}", site.place, kind.map_or("full".to_owned(), |k| k.to_string())),
        seqcon::kinds::elements::Element::Marks(_, marks) => format!("{thread}.{instr} {marks}"),
    }
}
