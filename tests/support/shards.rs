//! State spaces in parts: how they are split, and their facts by two phases.

use rand::Rng;
use rand::rngs::StdRng;
use seqcon::facts::extract::{Extraction, NoProgress, Options};
use seqcon::facts::quotient::{phases, table};
use seqcon::facts::{self, Facts};
use seqcon::lts::error::Error;
use seqcon::lts::source::Bytes;

/// How a state space is split.
#[derive(Clone, Copy, Debug)]
pub enum Split {
    Modulo,
    Blocks,
    Random,
}

/// The parts of a text in `.aut`. Each has the header of the whole, or none; the first one has it.
pub fn split(text: &str, how: Split, parts: usize, rng: &mut StdRng) -> Vec<String> {
    let (header, transitions) = text.split_once('\n').expect("a header");
    let lines: Vec<&str> = transitions.lines().collect();
    let mut split: Vec<String> = (0..parts)
        .map(|part| if part == 0 || rng.random_bool(0.5) { format!("{header}\n") } else { String::new() })
        .collect();
    for (number, line) in lines.iter().enumerate() {
        let part = match how {
            Split::Modulo => number % parts,
            Split::Blocks => number * parts / lines.len(),
            Split::Random => rng.random_range(0..parts),
        };
        split[part] += line;
        split[part].push('\n');
    }
    // A file with nothing in it is no shard.
    split.retain(|part| !part.is_empty());
    split
}

/// The parts as files.
pub fn files(parts: &[String]) -> Vec<Bytes> {
    let file =
        |(number, part): (usize, &String)| Bytes::from_bytes(&format!("{number}.aut"), part.clone().into_bytes());
    parts.iter().enumerate().map(file).collect::<Result<_, _>>().expect("not empty")
}

/// What the first phase writes for each shard.
pub fn sets_files(shards: &[Bytes], options: &Options) -> Result<Vec<Bytes>, Error> {
    let sets = |shard: &Bytes| {
        let mut file = Vec::new();
        phases::write_sets(&phases::sets(shard, options, &NoProgress)?, &mut file).expect("memory");
        Bytes::from_bytes(&shard.name().replace(".aut", ".sets"), file)
    };
    shards.iter().map(sets).collect()
}

/// What the second phase writes for each shard.
pub fn steps_files(shards: &[Bytes], sets: &[Bytes], options: &Options) -> Result<Vec<Bytes>, Error> {
    let read = |file: &Bytes| Ok((file.name().to_owned(), phases::read_sets(file.bytes(), file.name())?));
    let all = sets.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    let steps = |shard: &Bytes| {
        let mut file = Vec::new();
        table::write(&phases::steps(shard, &all, options, &NoProgress)?, &mut file).expect("memory");
        Bytes::from_bytes(&shard.name().replace(".aut", ".steps"), file)
    };
    shards.iter().map(steps).collect()
}

/// The facts by two phases, through the files that they write.
pub fn by_phases(shards: &[Bytes], options: &Options) -> Result<Extraction, Error> {
    let tables = steps_files(shards, &sets_files(shards, options)?, options)?;
    facts::read(&tables, options, &NoProgress)
}

/// Facts as their file.
pub fn file_of(facts: &Facts) -> String {
    let mut file = Vec::new();
    facts::file::write(facts, &mut file).expect("memory");
    String::from_utf8(file).expect("text")
}

/// The same but for the sizes, which a smaller state space has others of, and so for the checksum.
pub fn file_without_sizes(facts: &Facts) -> String {
    let file = file_of(facts);
    let is_kept = |line: &&str| !["states ", "transitions ", "checksum "].iter().any(|word| line.starts_with(word));
    file.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}
