//! A program with different numbers of instances: a table, for people and as CSV, and as a [picture](page).
//!
//! Instances have numbered names (`worker_3`, or the object in `g3'worker`); fences are compared without these. So the
//! *places* of a program with n instances are those of the text, and it can be told from which n on they stay the same.
//! That they do up to the last number that was looked at proves nothing about the next one, and is not said to.

mod page;

pub use page::write_html;

use super::csv::Table;
use super::minimal::Minimal;
use super::names;
use crate::analysis::{ModelOutcome, Outcome};
use crate::placement::Minimality;
use crate::text::excerpt::printable;
use std::collections::BTreeSet;
use std::fmt;
use std::io;

/// The outcomes of one program, by the number of instances, under the same memory models.
pub struct Series<'a> {
    /// The numbers, ascending.
    pub numbers: &'a [usize],
    /// For each of them.
    pub outcomes: &'a [Outcome],
    /// The names of the threads that there are instances of, without their numbers.
    pub instantiated: &'a BTreeSet<String>,
}

/// A program with some number of instances under a memory model.
struct Row<'a> {
    number: usize,
    outcome: &'a Outcome,
    result: &'a ModelOutcome,
    instantiated: &'a BTreeSet<String>,
}

impl Row<'_> {
    /// Where something is needed, whatever the number of the instance.
    fn places(&self) -> BTreeSet<String> {
        let accesses = &self.outcome.accesses;
        let name = |instr| {
            let (thread, instruction) = accesses.names_of(instr);
            format!("{}.{instruction}", self.of_text(thread))
        };
        let fence = |site: crate::outline::Site| format!("{} {}", names::place(site.place), name(site.instr));
        let fences = self.result.fences.iter().map(|known| fence(known.site));
        let locks =
            self.result.locks.iter().flat_map(|lock| lock.users.keys()).map(|&user| format!("lock {}", name(user)));
        fences.chain(locks).collect()
    }

    /// The name of a thread without the number of its instance.
    fn of_text<'t>(&self, thread: &'t str) -> &'t str {
        let thread = thread.split_once('\'').map_or(thread, |(_, machine)| machine);
        let instance = thread.rsplit_once('_').filter(|(name, _)| self.instantiated.contains(*name));
        instance.map_or(thread, |(name, _)| name)
    }

    fn minimal(&self) -> Minimal {
        self.outcome.minimal(self.result)
    }

    /// The least number of fences that is known to be needed.
    fn at_least(&self) -> String {
        match (self.minimal(), self.result.placement.minimality) {
            (Minimal::Program, _) => self.result.fences.len().to_string(),
            (_, Minimality::AtLeast(needed)) => needed.to_string(),
            _ => String::new(),
        }
    }
}

impl<'a> Series<'a> {
    /// The names of the memory models.
    fn models(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let results = self.outcomes.first().map_or(&[][..], |outcome| &outcome.results);
        results.iter().map(|result| result.model.name.as_str()).enumerate()
    }

    fn rows(&self, model: usize) -> Vec<Row<'a>> {
        let instantiated = self.instantiated;
        let row = |(&number, outcome): (&usize, &'a Outcome)| Row {
            number,
            outcome,
            result: &outcome.results[model],
            instantiated,
        };
        self.numbers.iter().zip(self.outcomes).map(row).collect()
    }

    /// From which number on the places stay the same, if the last two do and all are known.
    fn settled(&self, model: usize) -> Option<usize> {
        let rows = self.rows(model);
        if rows.iter().any(|row| !row.result.complete) {
            return None;
        }
        let last = rows.last()?.places();
        let same = rows.iter().rev().take_while(|row| row.places() == last);
        let first = same.last()?.number;
        (first < rows.last()?.number).then_some(first)
    }

    /// What is said of the places.
    fn sentence(&self, model: usize) -> String {
        let last = self.numbers.last().copied().unwrap_or_default();
        if self.rows(model).iter().any(|row| !row.result.complete) {
            return "not complete: a limit was reached, and more may be needed".to_owned();
        }
        match self.settled(model) {
            Some(1) => format!("the same places from 1 instance on; looked at up to {last}"),
            Some(first) => format!("the same places from {first} instances on; looked at up to {last}"),
            None => format!("the places still change at {}", names::counted(last, "instance")),
        }
    }

    /// For people.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for (model, name) in self.models() {
            writeln!(out, "{name}\n  instances  threads  fences  locks  minimal      places")?;
            let mut before: Option<BTreeSet<String>> = None;
            for row in self.rows(model) {
                let places = row.places();
                let shown = match &before {
                    Some(before) if *before == places => "the same".to_owned(),
                    Some(before) => changes(before, &places),
                    None => places.iter().cloned().collect::<Vec<_>>().join(", "),
                };
                let (threads, fences, locks) =
                    (row.outcome.accesses.threads.len(), row.result.fences.len(), row.result.locks.len());
                let line = format!(
                    "  {:>9}  {threads:>7}  {fences:>6}  {locks:>5}  {:<11}  {}",
                    row.number,
                    row.minimal().to_string(),
                    printable(&shown)
                );
                writeln!(out, "{}", line.trim_end())?;
                before = Some(places);
            }
            writeln!(out, "  {}\n", self.sentence(model))?;
        }
        Ok(())
    }

    /// As a table.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_csv(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut table = Table::new(
            "model,memory_model,instances,threads,fences,at_least,locks,minimal,places,settled_from,states,abstraction,seconds,complete",
            out,
        )?;
        for (model, name) in self.models() {
            let settled = self.settled(model).map_or(String::new(), |first| first.to_string());
            for row in self.rows(model) {
                let seconds = row.outcome.explored_in + row.result.elapsed;
                let places: Vec<String> = row.places().into_iter().collect();
                let cells = [
                    row.outcome.model.clone(),
                    name.to_owned(),
                    row.number.to_string(),
                    row.outcome.accesses.threads.len().to_string(),
                    row.result.fences.len().to_string(),
                    row.at_least(),
                    row.result.locks.len().to_string(),
                    row.minimal().to_string(),
                    places.join("; "),
                    settled.clone(),
                    row.outcome.explored.states.to_string(),
                    row.outcome.engine.abstraction.map_or(String::new(), |abstraction| abstraction.to_string()),
                    format!("{:.3}", seconds.as_secs_f64()),
                    names::yes_no(row.result.complete).to_owned(),
                ];
                table.write_cells(cells.iter().map(String::as_str))?;
            }
        }
        table.end()
    }
}

/// What is new and what is gone.
fn changes(before: &BTreeSet<String>, after: &BTreeSet<String>) -> String {
    let new = after.difference(before).map(|place| format!("+ {place}"));
    let gone = before.difference(after).map(|place| format!("- {place}"));
    new.chain(gone).collect::<Vec<_>>().join(", ")
}
