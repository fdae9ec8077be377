//! Mixtures of fences and marks on random programs without loops: with them in place our axioms, and herd7 with its own
//! models, allow only what SC allows; without any one of them, or with a weaker one in its place, something else comes
//! back.

use crate::support::herd::SC;
use crate::support::random::{cases, random_cases};
use crate::support::random_litmus::{Architecture, RandomTest};
use crate::support::tools::tools;
use rand::SeedableRng;
use rand::rngs::StdRng;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, ModelOutcome, Options};
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits, explore};
use seqcon::insertion::Fences;
use seqcon::kinds::outcome::by_axioms;
use seqcon::lang::litmus::read;
use seqcon::memory::{FenceStrength, MemoryModel};
use seqcon::ordering::{Accesses, Marks};
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::repair::Repair;
use seqcon::weak::axiomatic::{End, Model, outcomes};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

fn mixture(program: &Program, model: &MemoryModel) -> ModelOutcome {
    let compiled = Compiled::new(program).unwrap();
    let (exploration, watchers) = explore(&compiled, &Limits::default(), &mut FactsObserver).unwrap();
    let facts = facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions));
    let analysis = Analysis::new(facts, Profile::Sound);
    let options = Options::default();
    by_axioms(&analysis, model, &options, analysis.run(model, &options))
}

fn ends(program: &Program, model: &Model) -> BTreeSet<End> {
    let outcomes = outcomes(program, model, 2).unwrap();
    assert!(outcomes.complete);
    outcomes.ends
}

/// How many executions a model allows. Those of SC are among them, so if there are as many there are no others.
fn executions(program: &Program, model: &Model) -> u64 {
    outcomes(program, model, 2).unwrap().executions
}

/// What the architecture has that does less.
fn weaker(architecture: Architecture, than: FenceStrength) -> Vec<FenceStrength> {
    use Accesses::{All, Reads, Writes};
    use FenceStrength::{Between, Lightweight, Loads, Stores};
    if let FenceStrength::Marks(marks) = than {
        // One of them is left out, or becomes the weaker acquire.
        let all = [Marks::ACQUIRE, Marks::ACQUIRE_PC, Marks::RELEASE];
        let rest = |less: Marks| all.into_iter().filter(move |&mark| mark != less && marks.has(mark));
        let left = all.into_iter().filter(|&mark| marks.has(mark) && marks != mark);
        let fewer = left.map(|less| rest(less).fold(Marks::NONE, Marks::and));
        let acquire_pc = rest(Marks::ACQUIRE).fold(Marks::ACQUIRE_PC, Marks::and);
        let acquire_pc = (architecture == Architecture::Armv8 && marks.has(Marks::ACQUIRE)).then_some(acquire_pc);
        return fewer.chain(acquire_pc).map(FenceStrength::Marks).collect();
    }
    let kinds: &[FenceStrength] = match architecture {
        Architecture::Power => &[Lightweight],
        Architecture::Armv7 => &[Stores],
        Architecture::Armv8 => &[Stores, Loads],
        Architecture::Riscv => &[
            Stores,
            Loads,
            Lightweight,
            Between(Reads, Reads),
            Between(Reads, Writes),
            Between(Writes, Reads),
            Between(All, Writes),
        ],
    };
    kinds.iter().copied().filter(|&kind| kind != than && than.does_all_of(kind)).collect()
}

fn repaired(program: &Program, fences: &Fences) -> Program {
    Repair { fences: fences.clone(), ..Repair::default() }.put_into(program)
}

/// What was counted.
#[derive(Default)]
struct Counts {
    weak: AtomicUsize,
    elements: AtomicUsize,
    /// Elements without which the ends are still those of SC: the executions are not, but their ends are, or the values
    /// of the program rule the cycle out, which the event graph does not know.
    not_seen: AtomicUsize,
    /// Of these, elements without which all executions are sequentially consistent.
    not_missed: AtomicUsize,
    /// Elements with something weaker in their place, and those of them with which all executions are sequentially
    /// consistent: the program has no execution with the cycle that the weaker one leaves open.
    weakened: AtomicUsize,
    weaker_would_do: AtomicUsize,
    /// Programs with elements that have only ends of SC as they are.
    not_needed: AtomicUsize,
}

fn judge(architecture: Architecture, counts: &Counts, rng: &mut StdRng) {
    let test = RandomTest::new(architecture, rng);
    let program = read("random", &test.text()).unwrap_or_else(|error| panic!("{error}\n{}", test.text())).program;
    let table = MemoryModel::named(architecture.memory_model()).unwrap();
    let (model, sc) = (Model::named(architecture.memory_model()).unwrap(), Model::sc());
    let outcome = mixture(&program, &table);
    let expected = ends(&program, &sc);
    let is_weak = ends(&program, &model) != expected;
    counts.weak.fetch_add(usize::from(is_weak), Ordering::Relaxed);
    counts.not_needed.fetch_add(usize::from(!is_weak && !outcome.fences.is_empty()), Ordering::Relaxed);
    let fences = &outcome.placement.fences;
    let with = repaired(&program, fences);
    assert_eq!(ends(&with, &model), ends(&with, &sc), "{:?} are not enough\n{}", outcome.fences, test.text());
    assert_eq!(
        executions(&with, &model),
        executions(&with, &sc),
        "{:?} are not enough\n{}",
        outcome.fences,
        test.text()
    );
    let is_robust = |program: &Program| executions(program, &model) == executions(program, &sc);
    for (&site, &strength) in fences {
        let mut fewer = fences.clone();
        fewer.remove(&site);
        let without = repaired(&program, &fewer);
        counts.elements.fetch_add(1, Ordering::Relaxed);
        if ends(&without, &model) == ends(&without, &sc) {
            counts.not_seen.fetch_add(1, Ordering::Relaxed);
            counts.not_missed.fetch_add(usize::from(is_robust(&without)), Ordering::Relaxed);
        }
        for less in weaker(architecture, strength) {
            let mut weakened = fences.clone();
            weakened.insert(site, less);
            counts.weakened.fetch_add(1, Ordering::Relaxed);
            let would_do = is_robust(&repaired(&program, &weakened));
            counts.weaker_would_do.fetch_add(usize::from(would_do), Ordering::Relaxed);
            if would_do {
                println!("{less} would do for {strength} at {site:?} in\n{}", test.text());
            }
        }
    }
    assert!(outcome.recheck.enough && outcome.recheck.each_needed, "{:?}\n{}", outcome.recheck, test.text());
}

/// On 2,000 programs for each of four architectures, by our axioms.
#[test]
fn mixtures_leave_only_what_sc_allows_and_each_element_is_needed() {
    for architecture in Architecture::ALL {
        let counts = Counts::default();
        random_cases(cases(2_000), |rng| judge(architecture, &counts, rng));
        let [weak, elements, not_seen, not_needed] =
            [counts.weak, counts.elements, counts.not_seen, counts.not_needed].map(AtomicUsize::into_inner);
        let [not_missed, weakened, weaker_would_do] =
            [counts.not_missed, counts.weakened, counts.weaker_would_do].map(AtomicUsize::into_inner);
        println!(
            "{architecture:?}: {weak} programs do more than SC; {elements} elements, without {not_seen} of them no other end comes back, without {not_missed} no other execution; {weakened} weaker ones, {weaker_would_do} of which would do; {not_needed} programs get elements and have only ends of SC"
        );
        assert!(weaker_would_do * 10 < weakened || weakened < 100, "{architecture:?}: {weaker_would_do} of {weakened}");
        assert!(weak > 100 || cases(2_000) < 2_000, "{architecture:?}: {weak}");
        assert!(not_seen * 5 < elements || elements < 100, "{architecture:?}: {not_seen} of {elements}");
    }
}

/// The final states of each test in a folder, by its file's name, as herd7 tells them.
fn states(herd: &Path, folder: &Path, files: &[String], cat: &str) -> BTreeMap<String, BTreeSet<String>> {
    let list = folder.join("@all");
    fs::write(&list, files.join("\n")).unwrap();
    let output = Command::new(herd).args(["-model", cat]).arg(&list).current_dir(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = BTreeMap::new();
    for block in text.split("Test ").skip(1) {
        let mut lines = block.lines();
        let name = lines.next().unwrap_or("").split(' ').next().unwrap_or("").to_owned();
        let states = lines.skip_while(|line| !line.starts_with("States")).skip(1);
        let states = states.take_while(|line| !matches!(*line, "No" | "Ok" | "Undef"));
        found.insert(name, states.map(str::to_owned).collect());
    }
    found
}

/// On at least 300 repaired programs for each architecture, by herd7 with its own models.
#[test]
fn herd_allows_only_what_sc_allows_with_mixtures_in_place() {
    let Some([herd]) = tools(["herd7"]) else { return };
    for architecture in Architecture::ALL {
        let folder = tempfile::TempDir::new().unwrap();
        let seed: u64 = std::env::var("SEQCON_SEED").map_or(20_261_118, |seed| seed.parse().unwrap());
        println!("SEQCON_SEED={seed}");
        let table = MemoryModel::named(architecture.memory_model()).unwrap();
        let (mut files, mut elements) = (Vec::new(), 0);
        for case in 0.. {
            if files.len() == 320 {
                break;
            }
            let mut rng = StdRng::seed_from_u64(seed.wrapping_add(case));
            let test = RandomTest::new(architecture, &mut rng);
            let program = read("random", &test.text()).unwrap().program;
            let outcome = mixture(&program, &table);
            // Those that need something say more.
            if outcome.fences.is_empty() && case % 8 != 0 {
                continue;
            }
            let Some(with) = test.with(&program, &outcome.placement.fences) else { continue };
            elements += outcome.fences.len();
            let name = format!("t{}", files.len());
            let file = format!("{name}.litmus");
            fs::write(folder.path().join(&file), with.text().replacen("random", &name, 1)).unwrap();
            files.push(file);
        }
        let weak = states(&herd, folder.path(), &files, architecture.cat());
        fs::write(folder.path().join("whole-sc.cat"), SC).unwrap();
        let sc = states(&herd, folder.path(), &files, "./whole-sc.cat");
        assert_eq!(weak.len(), files.len(), "herd7 has read all tests for {architecture:?}");
        for (name, states) in &weak {
            let text = || fs::read_to_string(folder.path().join(format!("{name}.litmus"))).unwrap();
            assert_eq!(states, &sc[name], "{architecture:?}\n{}", text());
            assert!(!states.is_empty());
        }
        println!("{architecture:?}: {} tests with {elements} fences and marks, by herd7", files.len());
    }
}
