//! A critical cycle: a column for each thread, its first access above its second one, conflicts as arrows across.
//!
//! ```text
//!       P0                     P1
//!  +-> [W x]         +------> [W y]
//!  |     | PodWR     |          | PodWR
//!  |     v           |          v
//!  |   [R y] --Fre---+        [R x]
//!  +------------Fre-------------+
//! ```
//!
//! Threads stand in the order of the cycle, so every conflict but the last leads to the next column, and the last one
//! round to the first.

use super::canvas::{Anchor, Canvas, Look, MARGIN, Point, small_width, text_width};
use super::{Ground, look_of};
use crate::analysis::{ModelOutcome, Outcome};
use crate::cycles::{Cycle, SegmentVerdict};
use crate::ids::VertexId;
use crate::report::edges::Edges;
use crate::report::{identity, names};

/// A box is so high.
const HIGH: usize = 42;
/// Between the upper and the lower row.
const BETWEEN: usize = 74;
/// From the heading to the upper row.
const HEADING: usize = 14;
/// What comes round goes so far beside and below the boxes.
const ROUND: usize = 30;

/// An access: what it does, and the instruction that does it.
struct Access {
    does: String,
    instruction: String,
}

impl Access {
    fn width(&self) -> usize {
        text_width(&self.does).max(small_width(&self.instruction)) + 20
    }
}

/// A thread's part.
struct Column {
    thread: String,
    entry: Access,
    /// The second access, the name of the edge to it, and how that is drawn.
    exit: Option<(Access, String, Look)>,
    /// The fence that keeps the order of the two, if it is to be put in.
    fence: Option<String>,
    leaves_by: String,
}

/// A cycle ready to be drawn.
pub(super) struct Picture {
    /// The cycle in diy's vocabulary, after what it is of.
    pub name: String,
    columns: Vec<Column>,
}

impl Picture {
    pub fn new(
        outcome: &Outcome,
        result: &ModelOutcome,
        cycle: &Cycle,
        verdicts: &[SegmentVerdict],
        delay: Option<usize>,
        ruled_out: Option<Ground>,
    ) -> Picture {
        let accesses = &outcome.accesses;
        let edges = Edges::new(outcome, result);
        let mut steps = edges.steps(cycle, verdicts).into_iter();
        let access = |vertex: VertexId| {
            let instr = accesses.vertex(vertex).instr;
            Access {
                does: names::access(accesses, vertex),
                instruction: format!("{}  {}", names::instruction(accesses, instr), identity::text(outcome, instr)),
            }
        };
        let serves = |delay: usize| result.fences.iter().position(|fence| fence.delays.contains(&delay));
        let fence = |number: usize| format!("F{number} {}", result.fences[number].mnemonic);
        let column = |(position, segment): (usize, &crate::cycles::Segment)| {
            let inner = cycle.is_move(position).then(|| steps.next()).flatten();
            let is_wrong = match verdicts.get(position) {
                Some(verdict) => verdict.is_unsafe || verdict.cumulative || verdict.torn,
                None => position == 0,
            };
            // What is ruled out is not in red.
            let look = |name: &str| if is_wrong && ruled_out.is_none() { Look::Wrong } else { look_of(name) };
            Column {
                thread: accesses.threads[accesses.vertex(segment.entry).thread.index()].clone(),
                entry: access(segment.entry),
                exit: inner.map(|step| (access(segment.exit), step.name.clone(), look(&step.name))),
                fence: delay.filter(|_| position == 0).and_then(serves).map(fence),
                leaves_by: steps.next().map(|step| step.name).unwrap_or_default(),
            }
        };
        let columns = cycle.segments.iter().enumerate().map(column).collect();
        let what = delay.map_or("cycle".to_owned(), |number| format!("delay {number}"));
        Picture { name: format!("{what}, {}", edges.diy_name(cycle, verdicts)), columns }
    }

    pub fn draw(&self, canvas: &mut Canvas) {
        let upper = canvas.top + HEADING + 10;
        let lower = upper + HIGH + BETWEEN;
        let mut left = MARGIN + ROUND;
        let mut ends: Vec<(Point, Point, usize)> = Vec::new();
        for column in &self.columns {
            let wide = column.width();
            let middle = left + wide / 2;
            canvas.text("title", Anchor::Middle, Point { x: middle, y: upper - 10 }, &column.thread);
            draw_access(canvas, &column.entry, Point { x: left, y: upper }, wide);
            let mut exit = Point { x: left, y: upper };
            if let Some((access, name, look)) = &column.exit {
                exit.y = lower;
                draw_access(canvas, access, exit, wide);
                let (from, to) = (upper + HIGH, lower - 1);
                canvas.arrow(*look, &format!("M{middle},{from} L{middle},{to}"), Point { x: middle, y: to });
                // Two lines of text leave room for the arrow's head.
                let half = BETWEEN / 2 - if column.fence.is_some() { 8 } else { 0 };
                canvas.edge_name(*look, Point { x: middle, y: from + half }, name);
                if let Some(fence) = &column.fence {
                    canvas.text("edge fence", Anchor::Middle, Point { x: middle, y: from + half + 15 }, fence);
                }
            }
            ends.push((Point { x: left, y: upper }, exit, wide));
            left += wide + small_width(&column.leaves_by).max(30) + 44;
        }
        for (position, column) in self.columns.iter().enumerate() {
            let (_, exit, wide) = ends[position];
            match ends.get(position + 1) {
                Some((entry, ..)) => across(canvas, Point { x: exit.x + wide, y: exit.y }, *entry, &column.leaves_by),
                None => round(canvas, exit, wide, ends[0].0, &column.leaves_by),
            }
        }
    }
}

impl Column {
    fn width(&self) -> usize {
        let exit = self.exit.as_ref().map_or(0, |(access, name, _)| access.width().max(small_width(name)));
        let fence = self.fence.as_ref().map_or(0, |fence| small_width(fence));
        self.entry.width().max(exit).max(fence).max(text_width(&self.thread))
    }
}

fn draw_access(canvas: &mut Canvas, access: &Access, at: Point, wide: usize) {
    canvas.rectangle("access", at, (wide, HIGH));
    let middle = at.x + wide / 2;
    canvas.text("name", Anchor::Middle, Point { x: middle, y: at.y + 18 }, &access.does);
    canvas.text("small", Anchor::Middle, Point { x: middle, y: at.y + 34 }, &access.instruction);
}

/// From the right side of a box to the left side of one in the next column.
fn across(canvas: &mut Canvas, from: Point, to: Point, name: &str) {
    let (start, end) = (Point { y: from.y + HIGH / 2, ..from }, Point { x: to.x - 1, y: to.y + HIGH / 2 });
    let middle = (start.x + end.x) / 2;
    let path = format!("M{},{} C{middle},{} {middle},{} {},{}", start.x, start.y, start.y, end.y, end.x, end.y);
    canvas.arrow(Look::Conflict, &path, Point { x: end.x, y: start.y.max(end.y) });
    canvas.edge_name(Look::Conflict, Point { x: middle, y: (start.y + end.y) / 2 + 4 }, name);
}

/// From below the last box round to the left side of the first.
fn round(canvas: &mut Canvas, from: Point, wide: usize, to: Point, name: &str) {
    let (x, y) = (from.x + wide / 2, from.y + HIGH);
    // Below the lower row, whether the last thread has two accesses or one.
    let below = to.y + 2 * HIGH + BETWEEN + ROUND;
    let (left, end) = (to.x - ROUND, to.y + HIGH / 2);
    let path = format!(
        "M{x},{y} L{x},{} Q{x},{below} {},{below} L{},{below} Q{left},{below} {left},{} L{left},{} Q{left},{end} {},{end} L{},{end}",
        below - 10,
        x - 10,
        left + 10,
        below - 10,
        end + 10,
        left + 10,
        to.x - 1,
    );
    canvas.arrow(Look::Conflict, &path, Point { x, y: below });
    canvas.edge_name(Look::Conflict, Point { x: (left + x) / 2, y: below + 4 }, name);
}
