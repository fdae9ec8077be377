//! A run under weak memory, line by line, in the program's words, with what waits in the store buffers.

use super::attack::{Visibility, Witness};
use super::axiomatic::End;
use super::buffers::{BufferState, BufferStep};
use super::system::Event;
use super::threads::{Access, AccessKind};
use crate::ids::{LocationAt, ThreadAt};
use crate::program::{At, Program, Variable};
use std::fmt::{self, Write};

/// Names and text of a program.
pub struct Words<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its text.
    pub text: &'a str,
    /// The names of its locations.
    pub locations: &'a [String],
}

struct Line {
    thread: ThreadAt,
    /// Its instruction, unless a write of it becomes visible.
    at: Option<At>,
    what: String,
    buffers: Vec<Vec<(LocationAt, i64)>>,
}

impl Words<'_> {
    /// An instruction: thread and name, and its text on one line.
    #[must_use]
    pub fn instruction(&self, at: At) -> String {
        format!("{}.{}", self.program.thread(at.thread).name, self.program.instruction(at).name)
    }

    /// The text of an instruction on one line.
    #[must_use]
    pub fn source(&self, at: At) -> String {
        let span = self.program.instruction(at).span;
        let text = self.text.get(span.start..span.end).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// An access, as `W x = 1`.
    #[must_use]
    pub fn access(&self, access: &Access) -> String {
        let kind = match access.kind {
            AccessKind::Read => "R",
            AccessKind::Write => "W",
        };
        format!("{kind} {} = {}", self.locations[access.location.index()], access.value)
    }

    fn accesses(&self, event: &Event) -> String {
        event.accesses.iter().map(|access| self.access(access)).collect::<Vec<_>>().join(", ")
    }

    /// A run on store buffers.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_run(&self, run: &[(BufferStep, BufferState)], out: &mut dyn Write) -> fmt::Result {
        let lines = run.iter().map(|(step, state)| {
            let buffers = state.buffers.to_vec();
            match step {
                BufferStep::Issued(event) => {
                    Line { thread: event.at.thread, at: Some(event.at), what: self.accesses(event), buffers }
                }
                BufferStep::Committed { thread, location, value, .. } => Line {
                    thread: *thread,
                    at: None,
                    what: format!("{} = {value} becomes visible", self.locations[location.index()]),
                    buffers,
                },
            }
        });
        self.write_lines(&lines.collect::<Vec<_>>(), out)
    }

    /// A run in which one thread delays a write.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_witness(&self, witness: &Witness, out: &mut dyn Write) -> fmt::Result {
        let mut buffers = vec![Vec::new(); self.program.threads.len()];
        let mut lines = Vec::new();
        let mut add = |event: &Event, what: String, buffers: &[Vec<(LocationAt, i64)>]| {
            lines.push(Line { thread: event.at.thread, at: Some(event.at), what, buffers: buffers.to_vec() });
        };
        for event in &witness.before {
            add(event, self.accesses(event), &buffers);
        }
        for (event, visibility) in &witness.private {
            if *visibility == Visibility::Delayed {
                buffers[event.at.thread.index()]
                    .extend(event.accesses.iter().map(|access| (access.location, access.value)));
            }
            add(event, self.accesses(event), &buffers);
        }
        for event in &witness.others {
            add(event, self.accesses(event), &buffers);
        }
        let from = witness.pair.from.location;
        let waiting = &mut buffers[witness.pair.thread.index()];
        if let Some(position) = waiting.iter().position(|&(location, _)| location == from) {
            let (location, value) = waiting.remove(position);
            let what = format!("{} = {value} becomes visible", self.locations[location.index()]);
            lines.push(Line { thread: witness.pair.thread, at: None, what, buffers });
        }
        self.write_lines(&lines, out)
    }

    /// Whole instructions and single accesses on a sequentially consistent memory.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_events(&self, events: &[Event], out: &mut dyn Write) -> fmt::Result {
        let line = |event: &Event| Line {
            thread: event.at.thread,
            at: Some(event.at),
            what: self.accesses(event),
            buffers: Vec::new(),
        };
        self.write_lines(&events.iter().map(line).collect::<Vec<_>>(), out)
    }

    /// The values at the end of an execution.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_end(&self, end: &End, out: &mut dyn Write) -> fmt::Result {
        let value = |(name, value): (&String, &i64)| format!("{name} = {value}");
        let shared: Vec<String> = self.locations.iter().zip(&end.shared).map(value).collect();
        writeln!(out, "    {}", shared.join(", "))?;
        for (thread, locals) in self.program.threads.iter().zip(&end.locals) {
            let element = |variable: &Variable| -> Vec<String> {
                match variable.is_array {
                    true => (0..variable.initial.len()).map(|i| format!("{}[{i}]", variable.name)).collect(),
                    false => vec![variable.name.clone()],
                }
            };
            let names: Vec<String> = thread.locals.iter().flat_map(element).collect();
            let values: Vec<String> = names.iter().zip(locals).map(value).collect();
            if !values.is_empty() {
                writeln!(out, "    {}: {}", thread.name, values.join(", "))?;
            }
        }
        Ok(())
    }

    fn write_lines(&self, lines: &[Line], out: &mut dyn Write) -> fmt::Result {
        const WIDEST: usize = 40;
        let source = |line: &Line| {
            let text = line.at.map_or(String::new(), |at| self.source(at));
            match text.char_indices().nth(WIDEST) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        };
        let name = |line: &Line| match line.at {
            Some(at) => self.instruction(at),
            None => self.program.thread(line.thread).name.clone(),
        };
        let rows: Vec<(String, String)> = lines.iter().map(|line| (name(line), source(line))).collect();
        let width = |column: fn(&(String, String)) -> &String| {
            rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0)
        };
        let (names, sources) = (width(|row| &row.0), width(|row| &row.1));
        for (number, (line, (name, source))) in lines.iter().zip(&rows).enumerate() {
            write!(out, "    {:>3}  {name:names$}  {source:sources$}  {}", number + 1, line.what)?;
            let waiting: Vec<String> =
                ThreadAt::all(line.buffers.len()).zip(&line.buffers).filter_map(|e| self.buffer(e)).collect();
            writeln!(out, "{}{}", if waiting.is_empty() { "" } else { "  | " }, waiting.join("; "))?;
        }
        Ok(())
    }

    fn buffer(&self, (thread, waiting): (ThreadAt, &Vec<(LocationAt, i64)>)) -> Option<String> {
        let entry = |(location, value): &(LocationAt, i64)| format!("{} = {value}", self.locations[location.index()]);
        let entries: Vec<String> = waiting.iter().map(entry).collect();
        let name = &self.program.thread(thread).name;
        (!entries.is_empty()).then(|| format!("buffer of {name}: {}", entries.join(", ")))
    }
}
