//! A quotient as a table: what a phase writes for a shard, and what queries in the language of databases give.
//!
//! Comma-separated values with the columns below; rows may stand in any order, and what a row does not need is empty.
//! Sets are numbers of labels with blanks between them.
//!
//! | what | the columns that it has |
//! |---|---|
//! | `label` | `text`: the label in the native dialect, or `tau`; `label`: its number |
//! | `step` | `before` and `after`: enabled sets; `label`; `is_loop`: 1 or 0; `count`: transitions |
//! | `set` | `before`: an enabled set that no step has |
//! | `initial` | `before`: the enabled set of the initial state |
//! | `states`, `transitions` | `count`: those of the whole state space |
//! | `reached` | `count`: states that the initial state leads to; if nobody has found out, `text` says why |
//! | `run` | `text`: of which run of phases this is |
//! | `shard` | `text`: the hash and the name of a shard of that run, each once |
//! | `own` | `text`: the hash of the shard that the steps are of |
//! | `checksum` | `text`: of the lines before, in the way of facts files; the last row |
//!
//! The last four are in tables of shards only. A table without them is of a whole state space, and a row that is
//! missing there shows: in the sum of the transitions, or because every other row is needed.

#![forbid(unsafe_code)]

use super::{Builder, INTERNAL, Meaning, Quotient, Reached, Step, space};
use crate::budget::Budget;
use crate::facts::file::Checksum;
use crate::lts::dialect::native;
use crate::lts::error::{BytePosition, Error, quoted};
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// The first line of every table.
const COLUMNS: &str = "what,text,before,label,after,is_loop,count";
const REMEDY: &str = "make the table again";

/// Whether a text is a table, by its first line.
#[must_use]
pub fn is_table(bytes: &[u8]) -> bool {
    bytes.strip_prefix(COLUMNS.as_bytes()).is_some_and(|rest| matches!(rest.first(), Some(b'\n' | b'\r')))
}

/// A shard: the hash of its contents, and the name that it had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// In hexadecimal digits.
    pub hash: String,
    /// Its file.
    pub name: String,
}

/// Which part of which run a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The run.
    pub run: String,
    /// Its shards, sorted.
    pub shards: Vec<Shard>,
    /// The hash of the one that the steps are of.
    pub own: String,
}

/// What a table has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The sets and steps, and the sizes of the whole.
    pub quotient: Quotient,
    /// Absent if the steps are those of the whole.
    pub origin: Option<Origin>,
}

/// Writes a table.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(table: &Table, mut out: impl Write) -> io::Result<()> {
    let Table { quotient, origin } = table;
    let mut text = Vec::new();
    writeln!(text, "{COLUMNS}")?;
    {
        let mut rows = csv::Writer::from_writer(&mut text);
        let mut row = |what: &str, columns: [&str; 6]| -> io::Result<()> {
            let [text, before, label, after, is_loop, count] = columns;
            rows.write_record([what, text, before, label, after, is_loop, count]).map_err(io::Error::other)
        };
        if let Some(Origin { run, shards, own }) = origin {
            row("run", [run, "", "", "", "", ""])?;
            for Shard { hash, name } in shards {
                row("shard", [&format!("{hash} {name}"), "", "", "", "", ""])?;
            }
            row("own", [own, "", "", "", "", ""])?;
        }
        for (number, label) in quotient.labels.iter().enumerate() {
            row("label", [&space::text(label), "", &number.to_string(), "", "", ""])?;
        }
        let members = |set: u32| {
            let members: Vec<String> = quotient.sets[set as usize].iter().map(ToString::to_string).collect();
            members.join(" ")
        };
        for set in quotient.sets_without_steps() {
            row("set", ["", &members(set), "", "", "", ""])?;
        }
        for (Step { before, label, after, is_loop }, count) in &quotient.steps {
            let (before, after) = (members(*before), members(*after));
            let (label, count) = (label.to_string(), count.to_string());
            row("step", ["", &before, &label, &after, if *is_loop { "1" } else { "0" }, &count])?;
        }
        row("initial", ["", &members(quotient.initial), "", "", "", ""])?;
        row("states", ["", "", "", "", "", &quotient.states.to_string()])?;
        row("transitions", ["", "", "", "", "", &quotient.transitions.to_string()])?;
        match &quotient.reached {
            Reached::All => row("reached", ["", "", "", "", "", &quotient.states.to_string()])?,
            Reached::NotAll(reason) | Reached::Unknown(reason) => row("reached", [reason, "", "", "", "", ""])?,
        }
        rows.flush()?;
    }
    if origin.is_some() {
        let mut checksum = Checksum::default();
        checksum.add(&text);
        writeln!(text, "checksum,{:016x},,,,,", checksum.0)?;
    }
    out.write_all(&text)
}

/// Reads a table; `name` is for messages.
///
/// # Errors
/// If it is none, was cut off or changed, contradicts itself, or a limit is reached.
pub fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Table, Error> {
    Rows::read(bytes, name, budget)?.table()
}

/// A row of a step, with the numbers that the table has for labels.
struct StepRow {
    line: u64,
    before: Vec<u64>,
    label: u64,
    after: Vec<u64>,
    is_loop: bool,
    count: u64,
}

/// The rows, taken apart.
struct Rows<'a> {
    bytes: &'a [u8],
    name: &'a str,
    budget: &'a Budget,
    labels: FxHashMap<u64, (u64, Meaning)>,
    steps: Vec<StepRow>,
    /// Line and set.
    sets: Vec<(u64, Vec<u64>)>,
    initial: Option<(u64, Vec<u64>)>,
    states: Option<u64>,
    transitions: Option<u64>,
    reached: Option<(Option<u64>, String)>,
    run: Option<String>,
    shards: Vec<Shard>,
    own: Option<String>,
    is_checked: bool,
}

impl<'a> Rows<'a> {
    fn read(bytes: &'a [u8], name: &'a str, budget: &'a Budget) -> Result<Rows<'a>, Error> {
        let mut rows = Rows {
            bytes,
            name,
            budget,
            labels: FxHashMap::default(),
            steps: Vec::new(),
            sets: Vec::new(),
            initial: None,
            states: None,
            transitions: None,
            reached: None,
            run: None,
            shards: Vec::new(),
            own: None,
            is_checked: false,
        };
        if !is_table(bytes) {
            return Err(Error::unexpected(name, bytes, 0, format!("the columns `{COLUMNS}`"), REMEDY));
        }
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
        for record in reader.records() {
            budget.check().map_err(|limit| Error::at_limit(name, limit))?;
            let record = record.map_err(|error| {
                let line = error.position().map_or(1, csv::Position::line);
                Rows::wrong(name, line, "a row of text in UTF-8", "bytes that are none")
            })?;
            let place = record.position().map_or((1, 0), |place| (place.line(), place.byte()));
            rows.row(place, &record)?;
        }
        Ok(rows)
    }

    fn wrong(name: &str, line: u64, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::contents(name, BytePosition { line, column: 1 }, expected, found, REMEDY)
    }

    fn row(&mut self, (line, byte): (u64, u64), record: &csv::StringRecord) -> Result<(), Error> {
        let name = self.name;
        let wrong = |expected: &str| {
            let found: Vec<&str> = record.iter().collect();
            Rows::wrong(name, line, expected, quoted(found.join(",").as_bytes()))
        };
        if self.is_checked {
            return Err(wrong("no row behind the checksum"));
        }
        let columns: [&str; 7] = std::array::from_fn(|column| record.get(column).unwrap_or_default());
        if record.len() != columns.len() {
            return Err(wrong("seven columns"));
        }
        let [what, text, before, label, after, is_loop, count] = columns;
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong("a number"));
        let set = |text: &str| text.split_whitespace().map(number).collect::<Result<Vec<u64>, Error>>();
        let is_new = match what {
            "label" => {
                let meaning = if text == INTERNAL {
                    None
                } else {
                    Some(native::parse(text).map_err(|error| wrong(&format!("{} in the label", error.expected)))?)
                };
                self.labels.insert(number(label)?, (line, meaning)).is_none()
            }
            "step" => {
                let is_loop = match is_loop {
                    "0" => false,
                    "1" => true,
                    _ => return Err(wrong("0 or 1 in the column is_loop")),
                };
                let (before, after) = (set(before)?, set(after)?);
                self.steps.push(StepRow { line, before, label: number(label)?, after, is_loop, count: number(count)? });
                true
            }
            "set" => {
                self.sets.push((line, set(before)?));
                true
            }
            "initial" => self.initial.replace((line, set(before)?)).is_none(),
            "states" => self.states.replace(number(count)?).is_none(),
            "transitions" => self.transitions.replace(number(count)?).is_none(),
            "reached" => {
                let states = if count.is_empty() { None } else { Some(number(count)?) };
                self.reached.replace((states, text.to_owned())).is_none()
            }
            "run" => self.run.replace(text.to_owned()).is_none(),
            "shard" => {
                let (hash, name) = text.split_once(' ').ok_or_else(|| wrong("a hash and a name"))?;
                self.shards.push(Shard { hash: hash.to_owned(), name: name.to_owned() });
                true
            }
            "own" => self.own.replace(text.to_owned()).is_none(),
            "checksum" => {
                let mut checksum = Checksum::default();
                checksum.add(self.bytes.get(..usize::try_from(byte).unwrap_or(usize::MAX)).unwrap_or_default());
                if text != format!("{:016x}", checksum.0) {
                    return Err(wrong("the checksum of the lines before (the file was changed or damaged)"));
                }
                self.is_checked = true;
                true
            }
            _ => {
                return Err(wrong(
                    "`label`, `step`, `set`, `initial`, `states`, `transitions`, `reached` or a row of a phase in the column what",
                ));
            }
        };
        if is_new { Ok(()) } else { Err(wrong("no second row of this kind")) }
    }

    fn table(mut self) -> Result<Table, Error> {
        let name = self.name;
        let end = BytePosition::of(self.bytes, self.bytes.len()).line;
        let missing =
            |what: &str| Rows::wrong(name, end, format!("a row `{what}`"), "the end of the file (it may be cut off)");
        let origin = match (self.run.take(), self.own.take()) {
            (None, None) if self.shards.is_empty() && !self.is_checked => None,
            (Some(run), Some(own)) if self.is_checked => {
                Some(Origin { run, shards: std::mem::take(&mut self.shards), own })
            }
            (_, _) if !self.is_checked => return Err(missing("checksum")),
            _ => return Err(missing("run and own")),
        };
        let states = self.states.ok_or_else(|| missing("states"))?;
        let transitions = self.transitions.ok_or_else(|| missing("transitions"))?;
        let reached = match self.reached.take().ok_or_else(|| missing("reached"))? {
            (Some(count), _) if count == states => Reached::All,
            (Some(count), _) => Reached::NotAll(format!("the initial state leads to only {count} of {states} states")),
            (None, reason) => Reached::Unknown(reason),
        };
        let initial = self.initial.take().ok_or_else(|| missing("initial"))?;
        let mut builder = Builder::default();
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        for (number, (line, meaning)) in &self.labels {
            let known = builder.labels.values.len();
            let own = builder.label(meaning.clone());
            if own as usize != known {
                return Err(Rows::wrong(name, *line, "every label once", format!("`{}` again", space::text(meaning))));
            }
            numbers.insert(*number, own);
        }
        let label = |line: u64, number: u64| {
            let known = numbers.get(&number).copied();
            known
                .ok_or_else(|| Rows::wrong(name, line, "the number of a label that the table has", format!("{number}")))
        };
        let set = |builder: &mut Builder, line: u64, members: &[u64]| -> Result<u32, Error> {
            let members = members.iter().map(|&number| label(line, number)).collect::<Result<Vec<u32>, Error>>()?;
            Ok(builder.set(members))
        };
        for StepRow { line, before, label: number, after, is_loop, count } in &self.steps {
            self.budget.check().map_err(|limit| Error::at_limit(name, limit))?;
            let own = label(*line, *number)?;
            let is_quiet = *is_loop && builder.labels.values[own as usize].is_none();
            if !is_quiet && !before.contains(number) {
                return Err(Rows::wrong(name, *line, "a label of the set before", format!("{number}")));
            }
            let (before, after) = (set(&mut builder, *line, before)?, set(&mut builder, *line, after)?);
            if *is_loop && before != after {
                return Err(Rows::wrong(name, *line, "one set before and after a loop", "two"));
            }
            builder.step(Step { before, label: own, after, is_loop: *is_loop }, *count);
        }
        for (line, members) in &self.sets {
            set(&mut builder, *line, members)?;
        }
        let initial = set(&mut builder, initial.0, &initial.1)?;
        let quotient = builder.finish(initial, (states, transitions), reached);
        if origin.is_none() {
            quotient.check(name)?;
        }
        Ok(Table { quotient, origin })
    }
}
