//! `seqcon matrix` as a user runs it.

use crate::support::command::run;
use crate::support::outcomes::{of_specification, specifications};
use crate::support::trust::by_default;
use seqcon::analysis::Options;
use seqcon::confirm::{AUTO_STATES, Limits};
use seqcon::cycles::Atomicity;
use seqcon::kinds::outcome::by_axioms;
use seqcon::memory::{FenceStrength, MemoryModel};
use seqcon::placement::locks::Role;
use std::collections::BTreeMap;

const MODELS: [&str; 10] = ["sc", "tso", "pso", "rmo", "alpha", "armv8", "riscv", "armv7", "power", "rc11"];

/// By model, the number of plain and cumulative fences, of torn instructions and of partners, and of lighter fences and
/// marks, as the table has them.
fn counted(csv: &str) -> BTreeMap<String, [usize; 5]> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    assert_eq!(header.iter().take(5).collect::<Vec<_>>(), ["model", "thread", "instruction", "position", "text"]);
    assert_eq!(header.iter().skip(5).take(MODELS.len()).collect::<Vec<_>>(), MODELS);
    assert_eq!(header.iter().skip(5 + MODELS.len()).collect::<Vec<_>>(), ["complete"]);
    let mut counted: BTreeMap<String, [usize; 5]> = MODELS.iter().map(|name| ((*name).to_owned(), [0; 5])).collect();
    for row in reader.records() {
        let row = row.unwrap();
        assert!(row.iter().skip(5).take(MODELS.len()).any(|cell| !cell.is_empty()), "a row without need: {row:?}");
        assert!(!row[4].is_empty(), "{row:?}");
        for (model, cell) in header.iter().zip(&row).skip(5).take(MODELS.len()) {
            let kind = match cell {
                "" => continue,
                "plain" => 0,
                "cumulative" => 1,
                "torn-update" | "torn-condition" => 2,
                "partner" => 3,
                other => {
                    assert!(FenceStrength::named(other).is_some(), "{other}");
                    4
                }
            };
            assert_eq!(&row[3] == "lock", [2, 3].contains(&kind), "{row:?}");
            counted.get_mut(model).unwrap()[kind] += 1;
        }
    }
    counted
}

#[test]
fn the_matrix_has_what_the_analyses_have() {
    for name in specifications() {
        for (atomicity, argument) in [(Atomicity::Split, "--atomicity=off"), (Atomicity::Full, "--atomicity")] {
            let path = format!("specs/{name}.slco");
            let (status, csv, errors) = run(&["matrix", &path, argument, "--no-stable", "--csv", "-"]);
            assert_eq!(status, 0, "{name}: {errors}");
            assert!(errors.lines().all(|line| line.starts_with("model=")), "{name}: {errors}");
            let outcome = of_specification(&name, &MODELS, &Options { atomicity, ..Options::default() });
            let counted = counted(&csv);
            let program = &outcome.source.as_ref().unwrap().program;
            for model in MODELS {
                let limits = Limits { states: AUTO_STATES, buffer: 4 };
                let analysis = outcome.analysis.as_ref().unwrap();
                let result = by_default(program, analysis, model, atomicity, limits);
                let options = Options { atomicity, ..Options::default() };
                let result = by_axioms(analysis, &MemoryModel::named(model).unwrap(), &options, result);
                let mut users: BTreeMap<_, Role> = BTreeMap::new();
                for (&instr, &role) in result.locks.iter().flat_map(|lock| &lock.users) {
                    let known = users.entry(instr).or_insert(role);
                    *known = role.min(*known);
                }
                let partners = users.values().filter(|role| **role == Role::Partner).count();
                let fences = |strength| result.num_of_fences(strength);
                let [plain, cumulative] = [FenceStrength::Plain, FenceStrength::Cumulative].map(fences);
                let lighter = result.fences.len() - plain - cumulative;
                let expected = [plain, cumulative, users.len() - partners, partners, lighter];
                assert_eq!(counted[&result.model.name], expected, "{name} {}", result.model.name);
            }
        }
    }
}

#[test]
fn rows_do_not_move_without_need() {
    let rows = |arguments: &[&str]| {
        let (status, shown, _) = run(&[&["matrix", "specs/anderson.slco"], arguments].concat());
        assert_eq!(status, 0);
        shown.lines().filter(|line| ["on ", "after "].iter().any(|place| line.starts_with(place))).count()
    };
    // Under rc11 two fences do as much as six marks, and cost the same: they stand where other models have theirs.
    assert_eq!((rows(&["--no-stable"]), rows(&[])), (8, 4));
    // Of two options the last one counts.
    assert_eq!((rows(&["--no-stable", "--stable"]), rows(&["--stable", "--no-stable"])), (4, 8));
}

#[test]
fn what_may_be_preferred_is_said_where_there_is_a_choice() {
    let says =
        |arguments: &[&str]| run(&[&["matrix", "specs/mp.slco"], arguments].concat()).1.contains("are preferred:");
    assert!(says(&[]) && says(&["--stable"]));
    assert!(!says(&["--no-stable"]) && !says(&["--mm", "sc,tso,pso"]), "only one model has fences");
}

#[test]
fn after_a_limit_what_was_not_found_is_not_known() {
    // After a state, nothing is known to be unneeded.
    let limited = |arguments: &[&str]| {
        let (status, shown, _) =
            run(&[&["matrix", "specs/sb.slco", "--max-states", "3", "--mm", "sc,tso"], arguments].concat());
        assert_eq!(status, 3);
        shown
    };
    let shown = limited(&[]);
    assert!(shown.contains("after T0.0   ?   F  x := 1\n") && shown.contains("\nfences       ?  2?\n"), "{shown}");
    assert!(
        shown.ends_with("\nnot complete: a limit was reached, and more may be needed; ? is not known\n"),
        "{shown}"
    );
    assert!(limited(&["--csv", "-"]).contains("\nsb,T0,0,after,x := 1,?,plain,no\n"));
    let json: serde_json::Value = serde_json::from_str(&limited(&["--json"])).unwrap();
    assert_eq!(json["models"][0]["rows"][0]["needs"], serde_json::json!({ "sc": "?", "tso": "plain" }));
    let (_, shown, _) = run(&["matrix", "specs/sb.slco", "--mm", "sc,tso"]);
    assert!(shown.contains("after T0.0   .   F  x := 1\n"), "{shown}");
}

#[test]
fn the_text_fits_80_columns_and_has_a_legend() {
    for name in specifications() {
        let (status, shown, _) = run(&["matrix", &format!("specs/{name}.slco"), "--atomicity"]);
        assert_eq!(status, 0);
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
    }
    let (_, shown, _) = run(&["matrix", "specs/mp.slco"]);
    assert_eq!(
        shown,
        "\
needed      sc tso pso rmo alpha armv8 riscv armv7 power rc11
after T0.0   .   .   F   F     F     .     S     S     W    .  x := 1
on T0.1      .   .   .   .     .     A     .     .     .    A  f := 1
after T1.0   .   .   .   F     F     .     B     F     W    .  r := f
on T1.0      .   .   .   .     .     A     .     .     .    A  r := f
fences       0   0   1   2     2     2     2     2     2    2
S store-store fence, W lightweight fence, B fence of some accesses
A acquire or release
F fence, C cumulative fence, L lock (can be torn), l the same lock, . nothing
of equally cheap placements those like the ones to the left are preferred:
'analyse' and --no-stable may give other places and numbers at the same cost
"
    );
    let (_, shown, _) = run(&["matrix", "lts/counter.aut", "--atomicity"]);
    assert!(shown.contains("lock T0.0   L   L"), "{shown}");
    assert!(shown.contains("lock T1.0   l   l"), "{shown}");
    assert!(shown.contains("\nlocks       1   1"), "{shown}");
    assert_eq!(run(&["matrix", "specs/sb.slco", "--max-states", "3"]).0, 3);
    assert_eq!(run(&["matrix", "specs/nothing.slco"]).0, 2);
}
