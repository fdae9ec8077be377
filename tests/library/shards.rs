//! State spaces of the corpus and of `lts/` in parts: their facts are those of the whole, byte for byte; and what is no
//! set of parts of one state space is refused, with the names of the files.

use crate::support::corpus::corpus_dir;
use crate::support::shards::{Split, by_phases, file_of, files, sets_files, split, steps_files};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use seqcon::facts::extract::{NoProgress, Options};
use seqcon::facts::{self, Facts};
use seqcon::lts::aut::{self, Counts};
use seqcon::lts::parquet::write::Writer;
use seqcon::lts::source::Bytes;
use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

/// All state spaces at hand: those of the project, and of the corpus if it is there.
pub fn state_spaces() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("lts")];
    folders.extend(corpus_dir().map(|corpus| corpus.join("aut")));
    let list = |folder: &PathBuf| fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = folders.iter().flat_map(list).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "aut"));
    paths.sort();
    assert!(paths.len() >= 22);
    paths
}

pub fn facts_of(sources: &[Bytes]) -> Facts {
    let extraction = facts::read(sources, &Options::default(), &NoProgress).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(extraction.part, None);
    extraction.facts
}

#[test]
fn every_state_space_has_the_same_facts_however_it_is_split() {
    let mut rng = StdRng::seed_from_u64(19);
    let mut splits = 0;
    for path in state_spaces() {
        let text = fs::read_to_string(&path).expect("a state space");
        let whole = file_of(&facts_of(&files(std::slice::from_ref(&text))));
        for how in [Split::Modulo, Split::Blocks, Split::Random] {
            for parts in [rng.random_range(2..5), rng.random_range(5..17)] {
                let shards = files(&split(&text, how, parts, &mut rng));
                let name = format!("{} {how:?} {parts}", path.display());
                assert_eq!(file_of(&facts_of(&shards)), whole, "{name}");
                let phases = by_phases(&shards, &Options::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!((file_of(&phases.facts), phases.part), (whole.clone(), None), "{name}");
                splits += 1;
            }
        }
    }
    let all = if corpus_dir().is_some() { 33 } else { 22 };
    assert!(splits >= all * 6, "{splits}");
}

/// A part as a table, as an engine writes it: what it tells of itself is about its own rows.
fn table(number: usize, part: &str, counts: Counts) -> Bytes {
    let mut file = tempfile::tempfile().expect("a temporary file");
    let mut rows = Writer::new(file.try_clone().expect("a file")).expect("a file");
    let body = if part.starts_with("des") { part.find('\n').expect("a line") + 1 } else { 0 };
    let mut transitions = 0;
    for transition in aut::transitions(part.as_bytes(), body..part.len()) {
        let transition = transition.expect("well formed");
        rows.transition(transition.from, transition.label, transition.to).expect("written");
        transitions += 1;
    }
    rows.finish(Some(Counts { transitions, ..counts })).expect("written");
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("read");
    Bytes::from_bytes(&format!("{number}.parquet"), bytes).expect("not empty")
}

/// A folder of tables is a state space once a file says how large it is.
#[test]
fn parts_in_parquet_go_together_with_a_header() {
    let mut rng = StdRng::seed_from_u64(20);
    for path in state_spaces() {
        let text = fs::read_to_string(&path).expect("a state space");
        let whole = file_of(&facts_of(&files(std::slice::from_ref(&text))));
        let header = text.split_inclusive('\n').next().expect("a header").to_owned();
        let (aut::Header::Finished { counts, .. }, _) = aut::header(text.as_bytes()).expect("a header") else {
            panic!("{} is unfinished", path.display())
        };
        let tables = split(&text, Split::Random, 4, &mut rng);
        let tables = tables.iter().enumerate().map(|(number, part)| table(number, part, counts));
        let mut shards: Vec<Bytes> = tables.collect();
        shards.extend(files(&[header]));
        assert_eq!(file_of(&facts_of(&shards)), whole, "{}", path.display());
        let phases = by_phases(&shards, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file_of(&phases.facts), whole, "{}", path.display());

        let without = shards.split_off(shards.len() - 1);
        let error = |shards: &[Bytes]| match facts::read(shards, &Options::default(), &NoProgress) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{}", path.display()),
        };
        assert!(error(&shards).contains("one shard at least has the header of the whole"), "{}", error(&shards));
        shards.extend(without);
        let first = shards.remove(0);
        assert!(error(&shards).contains("a shard may be missing"), "{}", error(&shards));
        let again = Bytes::from_bytes("again.parquet", first.bytes().to_vec()).expect("not empty");
        shards.extend([first, again]);
        assert!(error(&shards).contains("one shard was given twice"), "{}", error(&shards));
    }
}

/// Peterson's algorithm in three parts, each with the header of the whole.
fn peterson() -> Vec<String> {
    let text = include_str!("../../lts/peterson.aut");
    let (header, transitions) = text.split_once('\n').expect("a header");
    let part = |part: usize| {
        let lines = transitions.lines().enumerate().filter(|(number, _)| number % 3 == part);
        lines.fold(format!("{header}\n"), |text, (_, line)| text + line + "\n")
    };
    (0..3).map(part).collect()
}

fn of_shards(parts: &[String]) -> String {
    let extraction = facts::read(&files(parts), &Options::default(), &NoProgress);
    extraction.map_or_else(|error| error.to_string(), |extraction| format!("{:?}", extraction.part))
}

fn of_phases(parts: &[String]) -> String {
    let extraction = by_phases(&files(parts), &Options::default());
    extraction.map_or_else(|error| error.to_string(), |extraction| format!("{:?}", extraction.part))
}

#[test]
fn a_shard_that_is_missing_given_twice_or_of_another_run_is_named() {
    let parts = peterson();
    assert_eq!((of_shards(&parts), of_phases(&parts)), ("None".to_owned(), "None".to_owned()));

    let missing = &parts[..2];
    assert!(of_shards(missing).starts_with("0.aut:1:8: expected 35 transitions, as many as the 2 shards have together, found 52; a shard may be missing"), "{}", of_shards(missing));
    assert!(of_phases(missing).starts_with("0.sets:1:1: expected 52 transitions in all shards together, as the header says, found 35 in 2 shards; a shard is missing"), "{}", of_phases(missing));

    // The sum is right: 18 + 17 + 17.
    let twice = [parts[0].clone(), parts[1].clone(), parts[1].clone()];
    assert!(
        of_shards(&twice).starts_with(
            "2.aut:2:1: expected other transitions than in 1.aut, found the same; one shard was given twice"
        ),
        "{}",
        of_shards(&twice)
    );
    assert!(
        of_phases(&twice)
            .starts_with("2.sets:1:1: expected other transitions than those of 1.sets (of 2.aut), found the same"),
        "{}",
        of_phases(&twice)
    );

    let other = [parts[0].clone(), parts[1].clone(), parts[2].replace("des (0,52,26)", "des (0,52,27)")];
    assert!(
        of_shards(&other).starts_with("2.aut:1:11: expected 26 states, as in 0.aut, found 27"),
        "{}",
        of_shards(&other)
    );
    assert!(of_phases(&other).starts_with("2.sets:1:1: expected the header (0,52,26) of the whole, as in 0.sets (of 0.aut), found (0,52,27) (of 2.aut)"), "{}", of_phases(&other));

    let own_counts = [parts[0].clone(), parts[1].clone(), parts[2].replace("des (0,52,26)", "des (0,17,26)")];
    assert!(
        of_shards(&own_counts)
            .starts_with("2.aut:1:8: expected 52 transitions, those of all shards together, as in 0.aut, found 17"),
        "{}",
        of_shards(&own_counts)
    );

    let without_headers: Vec<String> =
        parts.iter().map(|part| part.split_once('\n').expect("a header").1.to_owned()).collect();
    assert!(
        of_shards(&without_headers).contains("one shard at least has the header of the whole"),
        "{}",
        of_shards(&without_headers)
    );
    assert!(
        of_phases(&without_headers).contains("give one shard the header of the whole"),
        "{}",
        of_phases(&without_headers)
    );
    // A file with the header alone is a shard, too.
    let mut with_one = without_headers;
    with_one.push("des (0,52,26)\n".to_owned());
    assert_eq!((of_shards(&with_one), of_phases(&with_one)), ("None".to_owned(), "None".to_owned()));
}

#[test]
fn tables_that_are_missing_given_twice_or_of_another_run_are_named() {
    let options = Options::default();
    let merge = |tables: &[&Bytes]| {
        let copy = |table: &&Bytes| Bytes::from_bytes(table.name(), table.bytes().to_vec()).expect("not empty");
        let tables: Vec<Bytes> = tables.iter().map(copy).collect();
        facts::read(&tables, &options, &NoProgress).map_or_else(|error| error.to_string(), |_| String::new())
    };
    let shards = files(&peterson());
    let sets = sets_files(&shards, &options).expect("well formed");
    let [a, b, c] = &steps_files(&shards, &sets, &options).expect("well formed")[..] else { panic!("three") };
    assert_eq!(merge(&[c, a, b]), "");
    let missing = merge(&[a, b]);
    assert!(
        missing.starts_with(
            "0.steps:1:1: expected with it the tables of all shards of its run, found none for 1 of 3: 2.aut"
        ),
        "{missing}"
    );
    let copy = Bytes::from_bytes("copy.steps", b.bytes().to_vec()).expect("not empty");
    let twice = merge(&[a, b, &copy, c]);
    assert!(twice.starts_with("1.steps:1:1: expected the steps of every shard once; those of 1.aut are in copy.steps, found the steps of this shard again"), "{twice}");
    let text = include_str!("../../lts/peterson.aut").to_owned();
    let others = files(&split(&text, Split::Blocks, 3, &mut StdRng::seed_from_u64(1)));
    let other_sets = sets_files(&others, &options).expect("well formed");
    let other = &steps_files(&others, &other_sets, &options).expect("well formed")[2];
    let mixed = merge(&[a, b, other]);
    assert!(mixed.starts_with("2.steps:1:1: expected a table of run "), "{mixed}");
    // The steps of a shard whose sets were not among those given, as when it has changed.
    let error = steps_files(&others, &sets, &options).expect_err("these are other shards").to_string();
    assert!(error.starts_with("0.aut:1:1: expected one of the shards whose sets were given"), "{error}");
    let mixed = facts::read(
        &[files(&peterson()).swap_remove(0), Bytes::from_bytes("a.steps", a.bytes().to_vec()).expect("bytes")],
        &options,
        &NoProgress,
    );
    let mixed = mixed.expect_err("a state space and a table").to_string();
    assert!(mixed.starts_with("a.steps:1:1: expected a shard in the format of the others"), "{mixed}");
}

/// A copy in another order, with other line ends, or in another format makes up for a missing shard in the sum of their
/// transitions.
#[test]
fn a_copy_is_known_again_however_it_is_written() {
    let [kept, first, missing] = [0, 1, 2].map(|part| peterson()[part].clone());
    // A line more or less would show in the sum.
    assert_eq!(missing.lines().count(), first.lines().count());
    let (header, lines) = first.split_once('\n').expect("a header");
    let backwards = lines.lines().rev().fold(format!("{header}\n"), |text, line| text + line + "\n");
    let spaced = first.replace(",\"", " , \"");
    for copy in [backwards, first.replace('\n', "\r\n"), spaced] {
        assert_ne!(copy, first);
        let refused = of_shards(&[first.clone(), kept.clone(), copy]);
        assert!(refused.contains("the same; one shard was given twice"), "{refused}");
    }
    let (aut::Header::Finished { counts, .. }, _) = aut::header(first.as_bytes()).expect("a header") else {
        panic!("finished")
    };
    let mut shards = files(&[first.clone(), kept.clone()]);
    shards.push(table(0, &first, counts));
    let refused = facts::read(&shards, &Options::default(), &NoProgress).expect_err("a copy").to_string();
    assert!(refused.contains("one shard was given twice"), "{refused}");
}

#[test]
fn sets_of_another_version_and_wrong_headers_are_refused() {
    let parts = files(&peterson());
    let sets = sets_files(&parts, &Options::default()).expect("well formed");
    let text = sets[0].bytes();
    let later: Vec<u8> = [b"seqcon-sets 12", &text["seqcon-sets 1".len()..]].concat();
    assert!(facts::quotient::phases::read_sets(&later, "later").is_err());
    let text = include_str!("../../lts/peterson.aut");
    let (aut::Header::Finished { counts, .. }, _) = aut::header(text.as_bytes()).expect("a header") else {
        panic!("finished")
    };
    let Counts { initial, transitions, states } = counts;
    for (header, expected) in [
        (format!("des ({states},{transitions},{states})"), "an initial state below"),
        (format!("des ({initial},{transitions},{})", states + 1), "the last that occurs is"),
        (format!("des ({initial},{transitions},{})", u64::MAX), "the last that occurs is"),
    ] {
        let parts: Vec<String> =
            peterson().iter().map(|part| header.clone() + &part[part.find('\n').unwrap()..]).collect();
        let refused = of_phases(&parts);
        assert!(refused.contains(expected), "{header}: {refused}");
    }
}
