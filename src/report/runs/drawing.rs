//! A run drawn: one column for each thread, time downwards, and what waits in each store buffer beside the step.
//!
//! ```text
//!    T0                       T1                       | buffer T0  buffer T1
//! 1  T0.0  x := 1  W x = 1                             | x = 1
//! 2  T0.1  r := y  R y = 0                             | x = 1
//! 3                           T1.0  y := 1  W y = 1    | x = 1      y = 1
//! 4                             y = 1 becomes visible  | x = 1
//! 5                           T1.1  r := x  R x = 0    | x = 1
//! 6    x = 1 becomes visible                           |
//! ```
//!
//! Threads and buffers that nothing happens in are left out. If that is too wide, `becomes visible` goes to the next
//! line, or the texts of instructions go, as in the drawing of a cycle, or both; then what stands side by side in a
//! buffer, and in the end the accesses of a step, go one below the other.

use crate::analysis::{Deed, Run, RunStep, Waiting};
use crate::report::style::{FRAME, TITLE, styled};
use crate::text::excerpt::{printable, shortened, width};
use anstyle::Style;

/// How much of an instruction's text is quoted.
const TEXT: usize = 30;
/// How much of a name is shown.
const NAME: usize = 40;
/// The gap between columns.
const GAP: usize = 2;

/// How much stands in a line.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// The texts of instructions.
    has_texts: bool,
    /// A write and that it becomes visible.
    joins_visible: bool,
    /// Several writes of a buffer.
    joins_buffers: bool,
    /// Several accesses of a step.
    joins_accesses: bool,
}

const WIDE: Layout = Layout { has_texts: true, joins_visible: true, joins_buffers: true, joins_accesses: true };
const NARROW: Layout = Layout { has_texts: false, joins_visible: false, joins_buffers: false, joins_accesses: false };

/// From the widest to the narrowest.
const LAYOUTS: [Layout; 6] = [
    WIDE,
    Layout { joins_visible: false, ..WIDE },
    Layout { has_texts: false, ..WIDE },
    Layout { joins_buffers: true, joins_accesses: true, ..NARROW },
    Layout { joins_accesses: true, ..NARROW },
    NARROW,
];

/// The drawing, line by line; nothing if it cannot be so narrow.
#[must_use]
pub fn draw(run: &Run, widest: usize) -> Option<Vec<String>> {
    let drawings = LAYOUTS.iter().map(|&layout| Drawing::of(run, layout));
    drawings.into_iter().find(|drawing| drawing.width() <= widest).map(|drawing| drawing.lines())
}

/// A part of a row.
#[derive(Clone, Default)]
struct Cell {
    lines: Vec<String>,
    style: Style,
}

impl Cell {
    fn width(&self) -> usize {
        self.lines.iter().map(|line| width(line)).max().unwrap_or(0)
    }
}

/// The heading and the steps, each with a cell for each column.
struct Drawing {
    rows: Vec<Vec<Cell>>,
    /// How many columns are threads; the others are buffers.
    threads: usize,
}

impl Drawing {
    fn of(run: &Run, layout: Layout) -> Drawing {
        let all = || 0..run.threads.len();
        let threads: Vec<usize> =
            all().filter(|&thread| run.steps.iter().any(|step| step.thread.index() == thread)).collect();
        let is_used = |step: &RunStep, thread: usize| step.buffers.get(thread).is_some_and(|buffer| !buffer.is_empty());
        let buffers: Vec<usize> = all().filter(|&thread| run.steps.iter().any(|step| is_used(step, thread))).collect();
        let name = |thread: usize| shown(&run.threads[thread], NAME);
        let title = |text: String| Cell { lines: vec![text], style: TITLE };
        let of_threads = threads.iter().map(|&thread| title(name(thread)));
        let of_buffers = buffers.iter().map(|&thread| title(format!("buffer {}", name(thread))));
        let heading = of_threads.chain(of_buffers).collect();
        let parts: Vec<Parts> = threads.iter().map(|&thread| Parts::of(run, thread)).collect();
        let row = |step: &RunStep| {
            let own = threads.iter().zip(&parts).map(|(&thread, parts)| match thread == step.thread.index() {
                true => deed(&step.deed, parts, layout),
                false => Cell::default(),
            });
            own.chain(buffers.iter().map(|&thread| buffer(&step.buffers[thread], layout))).collect()
        };
        let rows = std::iter::once(heading).chain(run.steps.iter().map(row)).collect();
        Drawing { rows, threads: threads.len() }
    }

    /// The width of each column.
    fn widths(&self) -> Vec<usize> {
        let columns = 0..self.rows.first().map_or(0, Vec::len);
        columns.map(|column| self.rows.iter().map(|row| row[column].width()).max().unwrap_or(0)).collect()
    }

    /// The width of the steps' numbers.
    fn digits(&self) -> usize {
        (self.rows.len() - 1).to_string().len()
    }

    fn width(&self) -> usize {
        let widths = self.widths();
        let bar = if widths.len() > self.threads { GAP } else { 0 };
        self.digits() + bar + widths.iter().map(|width| GAP + width).sum::<usize>()
    }

    fn lines(&self) -> Vec<String> {
        let (widths, digits) = (self.widths(), self.digits());
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            let height = row.iter().map(|cell| cell.lines.len()).max().unwrap_or(0).max(1);
            for part in 0..height {
                let mut line = Line::default();
                if number > 0 && part == 0 {
                    line.put(FRAME, &format!("{number:>digits$}"));
                }
                line.go_to(digits);
                let mut end = digits;
                for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                    if column == self.threads {
                        line.go_to(end + GAP);
                        line.put(FRAME, "|");
                        end += GAP;
                    }
                    line.go_to(end + GAP);
                    if let Some(text) = cell.lines.get(part) {
                        line.put(cell.style, text);
                    }
                    end += GAP + width;
                }
                lines.push(line.text);
            }
        }
        lines
    }
}

/// A line that is written from left to right, without blanks at its end.
#[derive(Default)]
struct Line {
    text: String,
    at: usize,
    next: usize,
}

impl Line {
    fn go_to(&mut self, column: usize) {
        self.next = column;
    }

    fn put(&mut self, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(&" ".repeat(self.next.saturating_sub(self.at)));
        self.at = self.at.max(self.next) + width(text);
        self.next = self.at;
        match style == Style::default() {
            true => self.text.push_str(text),
            false => self.text.push_str(&styled(style, text)),
        }
    }
}

/// A text that does a terminal no harm, if need be shortened.
fn shown(text: &str, most: usize) -> String {
    shortened(&printable(text), most)
}

/// How wide the names and the texts of a thread's instructions are, so that what stands behind them is aligned.
struct Parts {
    name: usize,
    text: usize,
}

impl Parts {
    fn of(run: &Run, thread: usize) -> Parts {
        let own = run.steps.iter().filter(|step| step.thread.index() == thread);
        let widths = own.filter_map(|step| match &step.deed {
            Deed::Executes { name, text, .. } => Some((width(&shown(name, NAME)), width(&shown(text, TEXT)))),
            Deed::BecomesVisible { .. } => None,
        });
        widths.fold(Parts { name: 0, text: 0 }, |parts, (name, text)| Parts {
            name: parts.name.max(name),
            text: parts.text.max(text),
        })
    }
}

fn deed(deed: &Deed, parts: &Parts, layout: Layout) -> Cell {
    match deed {
        Deed::BecomesVisible { write, .. } => {
            let write = shown(&write.to_string(), NAME);
            let lines = match layout.joins_visible {
                true => vec![format!("  {write} becomes visible")],
                false => vec![format!("  {write}"), "  becomes visible".to_owned()],
            };
            Cell { lines, style: FRAME }
        }
        Deed::Executes { name, text, accesses, .. } => {
            let (name, text) = (shown(name, NAME), shown(text, TEXT));
            let accesses: Vec<String> = accesses.iter().map(|access| shown(&access.to_string(), NAME)).collect();
            let name = padded(&name, parts.name);
            let lines = match (layout.has_texts, accesses.split_first()) {
                (true, _) => {
                    let text = padded(&text, parts.text);
                    vec![format!("{name}  {text}  {}", accesses.join(", ")).trim_end().to_owned()]
                }
                // What happens within the thread has nothing but its text.
                (false, None) => vec![format!("{name} {text}")],
                (false, Some(_)) if layout.joins_accesses => vec![format!("{name} {}", accesses.join(", "))],
                (false, Some((first, others))) => {
                    let below = others.iter().map(|access| format!("{} {access}", padded("", parts.name)));
                    std::iter::once(format!("{name} {first}")).chain(below).collect()
                }
            };
            Cell { lines, style: Style::default() }
        }
    }
}

fn buffer(waiting: &[Waiting], layout: Layout) -> Cell {
    let writes: Vec<String> = waiting.iter().map(|write| shown(&write.to_string(), NAME)).collect();
    let lines = if layout.joins_buffers && !writes.is_empty() { vec![writes.join(", ")] } else { writes };
    Cell { lines, style: Style::default() }
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::RunAccess;
    use crate::ids::{InstrId, ThreadAt};
    use crate::memory::Kind;

    fn waiting(text: &str) -> Waiting {
        let (location, value) = text.split_once('=').expect("a write");
        Waiting { location: location.to_owned(), value: value.parse().expect("a number") }
    }

    /// A step from words: `T0.0`, its text, accesses as `Wx=1`; or nothing, and the write that becomes visible.
    fn step(thread: usize, name: &str, text: &str, does: &[&str], buffers: &[&[&str]]) -> RunStep {
        let access = |access: &&str| {
            let Waiting { location, value } = waiting(&access[1..]);
            RunAccess { kind: if access.starts_with('R') { Kind::Read } else { Kind::Write }, location, value }
        };
        let deed = match name {
            "" => Deed::BecomesVisible { write: waiting(does[0]), of: None },
            name => Deed::Executes {
                instr: InstrId::new(0),
                name: name.to_owned(),
                text: text.to_owned(),
                accesses: does.iter().map(access).collect(),
            },
        };
        let buffers = buffers.iter().map(|buffer| buffer.iter().map(|write| waiting(write)).collect()).collect();
        RunStep { thread: ThreadAt::new(thread), deed, buffers }
    }

    fn run(threads: &[&str], steps: Vec<RunStep>) -> Run {
        Run { threads: threads.iter().map(|&name| name.to_owned()).collect(), has_buffers: true, steps }
    }

    fn store_buffering() -> Run {
        let steps = vec![
            step(0, "T0.0", "x := 1", &["Wx=1"], &[&["x=1"], &[]]),
            step(0, "T0.1", "r := y", &["Ry=0"], &[&["x=1"], &[]]),
            step(1, "T1.0", "y := 1", &["Wy=1"], &[&["x=1"], &["y=1"]]),
            step(1, "", "", &["y=1"], &[&["x=1"], &[]]),
            step(1, "T1.1", "r := x", &["Rx=0"], &[&["x=1"], &[]]),
            step(0, "", "", &["x=1"], &[&[], &[]]),
        ];
        run(&["T0", "T1"], steps)
    }

    fn plain(run: &Run, widest: usize) -> Option<Vec<String>> {
        let lines = draw(run, widest)?;
        Some(lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect())
    }

    #[test]
    fn the_drawing_of_the_module_is_what_is_drawn() {
        let page = include_str!("drawing.rs").lines().skip_while(|line| *line != "//! ```text").skip(1);
        let page: Vec<&str> = page.take_while(|line| *line != "//! ```").map(|line| &line[4..]).collect();
        assert_eq!(plain(&store_buffering(), 80).expect("it fits"), page);
    }

    #[test]
    fn what_is_too_wide_gets_narrower_and_in_the_end_is_not_drawn() {
        let drawn = |widest| plain(&store_buffering(), widest);
        let width_of = |lines: &[String]| lines.iter().map(|line| width(line)).max().expect("lines");
        let mut shapes: Vec<Vec<String>> = Vec::new();
        let mut widest = 80;
        while let Some(lines) = drawn(widest) {
            assert!(width_of(&lines) <= widest, "{lines:#?}");
            widest = width_of(&lines) - 1;
            shapes.push(lines);
        }
        assert_eq!(shapes.iter().map(|lines| width_of(lines)).collect::<Vec<_>>(), [75, 71, 63]);
        assert_eq!(shapes[1][1], "1  T0.0  x := 1  W x = 1                         | x = 1");
        let narrowest = [
            "   T0                 T1                 | buffer T0  buffer T1",
            "1  T0.0 W x = 1                          | x = 1",
            "2  T0.1 R y = 0                          | x = 1",
            "3                     T1.0 W y = 1       | x = 1      y = 1",
            "4                       y = 1            | x = 1",
            "                        becomes visible  |",
            "5                     T1.1 R x = 0       | x = 1",
            "6    x = 1                               |",
            "     becomes visible                     |",
        ];
        assert_eq!(shapes[2], narrowest);
    }

    #[test]
    fn threads_and_buffers_without_anything_are_left_out_and_steps_may_have_several_accesses() {
        let steps = vec![
            step(2, "C.0", "x := x + y", &["Rx=0", "Ry=0", "Wx=7"], &[&[], &[], &["x=7"]]),
            step(2, "C.10", "r := 1", &[], &[&[], &[], &["x=7"]]),
        ];
        let run = run(&["A", "B", "C"], steps);
        let wide = [
            "   C                                            | buffer C",
            "1  C.0   x := x + y  R x = 0, R y = 0, W x = 7  | x = 7",
            "2  C.10  r := 1                                 | x = 7",
        ];
        assert_eq!(plain(&run, 80).expect("it fits"), wide);
        let narrow = [
            "   C             | buffer C",
            "1  C.0  R x = 0  | x = 7",
            "        R y = 0  |",
            "        W x = 7  |",
            "2  C.10 r := 1   | x = 7",
        ];
        assert_eq!(plain(&run, 30).expect("it fits"), narrow);
        let sequential = Run {
            has_buffers: false,
            steps: vec![step(1, "B.0", "x := 1", &["Wx=1"], &[])],
            threads: run.threads.clone(),
        };
        assert_eq!(plain(&sequential, 80).expect("it fits"), ["   B", "1  B.0  x := 1  W x = 1"]);
    }
}
