//! The quotient of a state space in parts, each on a machine of its own.
//!
//! 1. *Sets*, for each shard: what its transitions say is enabled in each state ([`Sets`]).
//! 2. *Steps*, for each shard, with what all shards say is enabled: its steps between enabled sets ([`Table`]).
//! 3. *Merge*: the union of the steps, which is the quotient of the whole.
//!
//! Shards are parts of one state space with common numbers of states; a transition stands in one of them, whichever.
//! A shard has the header of the whole, or none; one of them at least has it. So it shows if one is missing, given
//! twice, or of another state space: the second phase compares the sum of their transitions with the header, and the
//! third looks for the steps of each shard that the second one knew of. A shard that changed between the phases has
//! another hash.
//!
//! Memory: the second phase keeps the sets of the states that its own shard mentions; of the others it reads past.
//! Whether the initial state leads to every state is seen as `discovery` sees it in passing; if that does not tell,
//! it is not known ([`Reached::Unknown`]), since no phase sees all steps.

#![forbid(unsafe_code)]

pub use super::sets_file::{Sets, read as read_sets, write as write_sets};

use super::table::{Origin, Shard, Table};
use super::{Builder, Quotient, Reached};
use crate::facts::extract::shard::ReadShard;
use crate::facts::extract::{Options, Progress};
use crate::facts::file::Checksum;
use crate::lts::aut::Counts;
use crate::lts::error::{BytePosition, Error};
use crate::lts::source::Bytes;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

/// The first phase: what a shard says is enabled.
///
/// # Errors
/// As for [`extract`](crate::facts::extract::extract).
pub fn sets(source: &Bytes, options: &Options, progress: &dyn Progress) -> Result<Sets, Error> {
    ReadShard::read(source, options, progress)?.sets()
}

/// The second phase: the steps of a shard; `all` is what all shards say is enabled.
///
/// # Errors
/// As for [`extract`](crate::facts::extract::extract), and if the shards are not those of one state space, or the
/// shard is none of them.
pub fn steps(
    source: &Bytes,
    all: &[(String, Sets)],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Table, Error> {
    let whole = whole(all)?;
    let shard = ReadShard::read(source, options, progress)?;
    let mut sets = Builder::default();
    let enabled = union(all, &mut sets, &shard);
    let (steps, hash) = shard.steps(&enabled.of_position, &mut sets)?;
    if !all.iter().any(|(_, sets)| sets.hash == hash) {
        let expected = "one of the shards whose sets were given".to_owned();
        let remedy = "--sets takes the sets of all shards, of this one, too; if the shard has changed, or is read with other options, write its sets again";
        return Err(wrong(source.name(), expected, "a shard with other transitions or labels", remedy));
    }
    let occurring = all.iter().filter(|(_, sets)| sets.transitions > 0).map(|(_, sets)| sets.largest);
    let last = occurring.max().unwrap_or(0).max(whole.initial);
    let reached = match first_undiscovered(all, whole) {
        None => Reached::All,
        // Nobody can say that a state is reached which does not occur.
        Some(_) if last < whole.states - 1 => {
            Reached::NotAll(format!("the header counts {} states, and the last that occurs is {last}", whole.states))
        }
        Some(state) => Reached::Unknown(format!("no step leads to state {state} from a state with a smaller number")),
    };
    let mut builder = Builder::default();
    builder.add_steps(&sets, &steps);
    let initial = builder.set_of(&sets, enabled.initial);
    if enabled.sources < whole.states {
        // Some state has no transitions.
        builder.set(Vec::new());
    }
    // Nobody misses the steps of a shard that has none.
    let with_steps = all.iter().filter(|(_, sets)| sets.transitions > 0);
    let mut shards: Vec<Shard> =
        with_steps.map(|(_, sets)| Shard { hash: hexadecimal(sets.hash), name: sets.name.clone() }).collect();
    shards.sort();
    let quotient = builder.finish(initial, (whole.states, whole.transitions), reached);
    let origin = Origin { run: run(whole, &shards), shards, own: hexadecimal(hash) };
    Ok(Table { quotient, origin: Some(origin) })
}

/// The third phase: the quotient of the whole. The tables have names for messages.
///
/// # Errors
/// If they are not the tables of all shards of one run.
pub fn merge(tables: &[(String, Table)]) -> Result<Quotient, Error> {
    let [(name, first), others @ ..] = tables else { return Err(wrong("", "a table".to_owned(), "none", AGAIN)) };
    let Some(origin) = &first.origin else {
        return match others {
            [] => Ok(first.quotient.clone()),
            [(other, _), ..] => {
                let expected = format!("nothing besides {name}, which is a table of a whole state space");
                Err(wrong(other, expected, "another table", "give one of them"))
            }
        };
    };
    let mut of_shard: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (other, table) in tables {
        let run = table.origin.as_ref().map(|origin| origin.run.as_str());
        if run != Some(&origin.run) {
            let expected = format!("a table of run {}, as in {name}", origin.run);
            let found = run.map_or("a table of a whole state space".to_owned(), |run| format!("one of run {run}"));
            return Err(wrong(other, expected, &found, "give the tables of all shards of one run, and no others"));
        }
        if table.quotient.steps.is_empty() {
            continue;
        }
        of_shard.entry(table.origin.as_ref().map_or("", |origin| &origin.own)).or_default().push(other);
    }
    let mut missing: Vec<&str> = Vec::new();
    for shard in &origin.shards {
        match of_shard.get_mut(shard.hash.as_str()).and_then(Vec::pop) {
            Some(_) => {}
            None => missing.push(&shard.name),
        }
    }
    if let Some((hash, [.., twice])) =
        of_shard.iter().map(|(hash, files)| (*hash, &files[..])).find(|(_, files)| !files.is_empty())
    {
        let shard = origin.shards.iter().find(|shard| shard.hash == hash).map_or(hash, |shard| &shard.name);
        let is_own = |table: &Table| table.origin.as_ref().is_some_and(|origin| origin.own == hash);
        let once =
            tables.iter().find(|(other, table)| other != twice && is_own(table)).map_or(name, |(other, _)| other);
        let expected = format!("the steps of every shard once; those of {shard} are in {once}");
        return Err(wrong(twice, expected, "the steps of this shard again", "name every table once"));
    }
    if !missing.is_empty() {
        missing.sort_unstable();
        let found = format!("none for {} of {}: {}", missing.len(), origin.shards.len(), missing.join(", "));
        return Err(wrong(name, "with it the tables of all shards of its run".to_owned(), &found, "give them all"));
    }
    let mut builder = Builder::default();
    let initial = tables.iter().fold(0, |_, (_, table)| builder.add(&table.quotient));
    let Quotient { states, transitions, reached, .. } = &first.quotient;
    let quotient = builder.finish(initial, (*states, *transitions), reached.clone());
    quotient.check(name)?;
    Ok(quotient)
}

const AGAIN: &str = "write them again with `seqcon facts --phase steps`";

fn wrong(name: &str, expected: String, found: &str, remedy: &str) -> Error {
    Error::contents(name, BytePosition { line: 1, column: 1 }, expected, found, remedy)
}

fn hexadecimal(hash: u64) -> String {
    format!("{hash:016x}")
}

/// What the sets of the same shards in the same state space are called.
fn run(whole: Counts, shards: &[Shard]) -> String {
    let mut checksum = Checksum::default();
    let Counts { initial, transitions, states } = whole;
    checksum.add(format!("{initial} {transitions} {states}").as_bytes());
    shards.iter().for_each(|shard| checksum.add(shard.hash.as_bytes()));
    hexadecimal(checksum.0)
}

/// The header of the whole, if the shards are all of its parts.
fn whole(all: &[(String, Sets)]) -> Result<Counts, Error> {
    let mut headers = all.iter().filter_map(|(name, sets)| Some((name, sets, sets.header?)));
    let Some((first, of_first, whole)) = headers.next() else {
        let name = all.first().map_or("", |(name, _)| name);
        let remedy = "give one shard the header of the whole, or name a file with that header alone among them";
        return Err(wrong(name, "a shard with the header of the whole".to_owned(), "none with a header", remedy));
    };
    for (name, sets, Counts { initial, transitions, states }) in headers {
        if (Counts { initial, transitions, states }) != whole {
            let expected = format!(
                "the header ({},{},{}) of the whole, as in {first} (of {})",
                whole.initial, whole.transitions, whole.states, of_first.name
            );
            let found = format!("({initial},{transitions},{states}) (of {})", sets.name);
            let remedy = "these are shards of different state spaces, or have headers of their own; a shard has the header of the whole, or none";
            return Err(wrong(name, expected, &found, remedy));
        }
    }
    for (position, (name, sets)) in all.iter().enumerate() {
        // A copy makes up for a shard that is missing, in the sum.
        let is_same = |(_, other): &&(String, Sets)| other.hash == sets.hash && other.transitions > 0;
        if let Some((other, _)) = all[..position].iter().find(is_same) {
            let expected = format!("other transitions than those of {other} (of {})", sets.name);
            return Err(wrong(
                name,
                expected,
                "the same",
                "one shard was given twice; name the sets of every shard once",
            ));
        }
    }
    let sum = all.iter().fold(0_u64, |sum, (_, sets)| sum.saturating_add(sets.transitions));
    if sum != whole.transitions {
        let expected = format!("{} transitions in all shards together, as the header says", whole.transitions);
        let found = format!("{sum} in {} shards", all.len());
        let remedy = if sum < whole.transitions {
            "a shard is missing, or cut off: name the sets of all of them"
        } else {
            "a shard is of another state space, or has transitions that others have, too"
        };
        return Err(wrong(first, expected, &found, remedy));
    }
    if whole.initial >= whole.states {
        let expected = format!("an initial state below {}, the number of states", whole.states);
        return Err(wrong(first, expected, &whole.initial.to_string(), "the header is wrong"));
    }
    for (name, sets) in all {
        if sets.transitions > 0 && sets.largest >= whole.states {
            let expected = format!("states below {}, as the header of {first} counts them", whole.states);
            let remedy = "is this a shard of another state space?";
            return Err(wrong(name, expected, &format!("state {}", sets.largest), remedy));
        }
    }
    Ok(whole)
}

/// What all shards together say is enabled.
struct Enabled {
    /// By position of a state in the shard: its set.
    of_position: Vec<u32>,
    initial: u32,
    /// How many states have transitions.
    sources: u64,
}

/// Unites what is enabled in the states that have a position, and in the initial one.
fn union(all: &[(String, Sets)], builder: &mut Builder, shard: &ReadShard<'_>) -> Enabled {
    let initial_state = all.iter().find_map(|(_, sets)| sets.header).map_or(0, |header| header.initial);
    // The numbers that the builder gives to the labels and sets of each shard.
    let labels: Vec<Vec<u32>> =
        all.iter().map(|(_, sets)| sets.labels.iter().map(|label| builder.label(label.clone())).collect()).collect();
    let empty = builder.set(Vec::new());
    let mut enabled = Enabled { of_position: vec![empty; shard.num_of_positions()], initial: empty, sources: 0 };
    let mut put = |state: u64, labels: Vec<u32>| {
        enabled.sources += 1;
        let position = shard.position(state);
        if position.is_none() && state != initial_state {
            return;
        }
        let set = builder.set(labels);
        if state == initial_state {
            enabled.initial = set;
        }
        if let Some(position) = position {
            enabled.of_position[position] = set;
        }
    };
    let sources = all.iter().map(|(_, sets)| sets.sources.iter().copied());
    let mut pending: Option<(u64, Vec<u32>)> = None;
    let members = |shard: usize, set: u32| {
        all[shard].1.sets[set as usize].iter().map(|&label| labels[shard][label as usize]).collect::<Vec<u32>>()
    };
    for (shard, (state, set)) in Merged::of(sources) {
        match &mut pending {
            Some((last, union)) if *last == state => union.extend(members(shard, set)),
            _ => {
                if let Some((last, union)) = pending.replace((state, members(shard, set))) {
                    put(last, union);
                }
            }
        }
    }
    if let Some((last, union)) = pending {
        put(last, union);
    }
    enabled
}

/// The first state but the initial one that no shard has discovered.
fn first_undiscovered(all: &[(String, Sets)], whole: Counts) -> Option<u64> {
    let runs = all.iter().map(|(_, sets)| sets.discovered.iter().map(|run| (run.start, run.end)));
    let mut behind = 0;
    let gap = |behind: u64, next: u64| -> Option<u64> {
        let Range { start, end } = behind..next;
        (start..end).take(2).find(|&state| state != whole.initial)
    };
    for (_, (start, end)) in Merged::of(runs) {
        if let Some(state) = gap(behind, start) {
            return Some(state);
        }
        behind = behind.max(end);
    }
    gap(behind, whole.states)
}

/// Several sorted sequences as one, each element with the position of its sequence.
struct Merged<T, I> {
    sequences: Vec<I>,
    next: BinaryHeap<Reverse<((u64, T), usize)>>,
}

impl<T: Ord, I: Iterator<Item = (u64, T)>> Merged<T, I> {
    fn of(sequences: impl Iterator<Item = I>) -> Merged<T, I> {
        let mut sequences: Vec<I> = sequences.collect();
        let first =
            sequences.iter_mut().enumerate().filter_map(|(own, sequence)| Some(Reverse((sequence.next()?, own))));
        let next = first.collect();
        Merged { sequences, next }
    }
}

impl<T: Ord, I: Iterator<Item = (u64, T)>> Iterator for Merged<T, I> {
    type Item = (usize, (u64, T));

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((element, own)) = self.next.pop()?;
        if let Some(next) = self.sequences[own].next() {
            self.next.push(Reverse((next, own)));
        }
        Some((own, element))
    }
}
