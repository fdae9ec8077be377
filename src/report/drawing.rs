//! A cycle drawn as papers draw it: one column for each thread, program order downwards, conflict edges across.
//!
//! ```text
//!      P0                       P1
//!   +> P0.0 W wants[0]
//!   |    | PodWR
//!   |    v
//!   |  P0.2 R wants[1] --Fre--> P1.0 W wants[1]
//!   |                             | PodWR
//!   |                             v
//!   |                           P1.2 R wants[0]
//!   +-------------Fre-------------+
//! ```
//!
//! Threads stand in the order of the cycle, and each one's entry in the row of its predecessor's exit: so every
//! conflict edge but the last is a straight line, and the last goes round. That works because a critical cycle visits
//! each thread once, with at most two accesses. The width grows with the number of threads; the caller chooses what
//! to do with a drawing that is too wide.

use super::style::{FRAME, TITLE, WRONG, styled};
use crate::text::excerpt::width as columns_of;
use std::fmt::Write;

/// A thread's part of the cycle.
pub struct Column {
    /// The name of the thread.
    pub thread: String,
    /// Where the cycle comes in.
    pub entry: String,
    /// Where it goes out, and the name of the edge to it, if that is another access.
    pub exit: Option<(String, String)>,
    /// The edge to it is the one that goes wrong.
    pub is_wrong: bool,
    /// The name of the edge to the next column.
    pub leaves_by: String,
}

/// The gap between the left border of the drawing and the first column.
const MARGIN: usize = 3;

/// The drawing, line by line, without the colours' bytes as wide as [`width`] says.
#[must_use]
pub fn draw(columns: &[Column]) -> Vec<String> {
    let offsets = offsets(columns);
    let mut lines = vec![heading(columns, &offsets)];
    // The row that the next access continues.
    let mut row = styled(FRAME, "+> ");
    for (position, (column, &offset)) in columns.iter().zip(&offsets).enumerate() {
        row.push_str(&column.entry);
        let border = || format!("{}{}", styled(FRAME, "|"), " ".repeat(offset - 1));
        if let Some((exit, edge)) = &column.exit {
            lines.push(std::mem::take(&mut row));
            let style = if column.is_wrong { WRONG } else { FRAME };
            lines.push(format!("{}  {}", border(), styled(style, format!("| {edge}"))));
            lines.push(format!("{}  {}", border(), styled(style, "v")));
            row = format!("{}{exit}", border());
        }
        if position + 1 < columns.len() {
            let _ = write!(row, " {} ", styled(FRAME, format!("--{}-->", column.leaves_by)));
        }
    }
    lines.push(row);
    lines.extend(columns.last().zip(offsets.last()).map(|(last, &offset)| closing(&last.leaves_by, offset)));
    lines
}

/// How many columns of a terminal the drawing takes.
#[must_use]
pub fn width(columns: &[Column]) -> usize {
    let last_edge = columns.iter().filter_map(|column| column.exit.as_ref()).map(|(_, edge)| columns_of(edge) + 4);
    let widest = columns.iter().map(out_of).map(columns_of).chain(last_edge).max().unwrap_or(0);
    offsets(columns).last().map_or(0, |&offset| offset + widest)
}

/// The access at which the cycle leaves a thread.
fn out_of(column: &Column) -> &str {
    column.exit.as_ref().map_or(&column.entry, |(exit, _)| exit)
}

/// Where each column begins.
fn offsets(columns: &[Column]) -> Vec<usize> {
    let next = |at: &mut usize, column: &Column| {
        let offset = *at;
        // The row goes on behind the exit: ` --Fre--> `. The heading must fit, too.
        let row = columns_of(out_of(column)) + columns_of(&column.leaves_by) + 7;
        *at += row.max(columns_of(&column.thread) + 2);
        Some(offset)
    };
    columns.iter().scan(MARGIN, next).collect()
}

fn heading(columns: &[Column], offsets: &[usize]) -> String {
    let mut line = String::new();
    let mut at = 0;
    for (column, &offset) in columns.iter().zip(offsets) {
        line.push_str(&" ".repeat(offset - at));
        line.push_str(&styled(TITLE, &column.thread));
        at = offset + columns_of(&column.thread);
    }
    line
}

/// The last edge, from under the last access round to the first.
fn closing(edge: &str, offset: usize) -> String {
    let dashes = (offset + 1).saturating_sub(columns_of(edge));
    let left = dashes / 2;
    styled(FRAME, format!("+{}{edge}{}+", "-".repeat(left), "-".repeat(dashes - left)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(thread: &str, entry: &str, exit: Option<&str>, edges: (&str, &str)) -> Column {
        Column {
            thread: thread.to_owned(),
            entry: entry.to_owned(),
            exit: exit.map(|exit| (exit.to_owned(), edges.0.to_owned())),
            is_wrong: false,
            leaves_by: edges.1.to_owned(),
        }
    }

    fn plain(columns: &[Column]) -> Vec<String> {
        draw(columns).iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn the_drawing_of_the_module_is_what_is_drawn() {
        let columns = [
            column("P0", "P0.0 W wants[0]", Some("P0.2 R wants[1]"), ("PodWR", "Fre")),
            column("P1", "P1.0 W wants[1]", Some("P1.2 R wants[0]"), ("PodWR", "Fre")),
        ];
        let page = include_str!("drawing.rs").lines().skip_while(|line| *line != "//! ```text").skip(1);
        let page: Vec<&str> = page.take_while(|line| *line != "//! ```").map(|line| &line[6..]).collect();
        assert_eq!(plain(&columns), page);
    }

    #[test]
    fn a_thread_with_one_access_takes_no_extra_row_and_the_width_is_right() {
        let columns = [
            column("writer", "W x", None, ("", "Rfe")),
            column("T1", "R x", Some("R y"), ("PodRR", "Fre")),
            column("T2", "W y", None, ("", "Rfe")),
            column("T3", "R y", Some("R x"), ("PodRR", "Fre")),
        ];
        let lines = plain(&columns);
        assert_eq!(lines[1], "+> W x --Rfe--> R x");
        assert_eq!(lines[4], "|               R y --Fre--> W y --Rfe--> R y");
        assert_eq!(lines.iter().map(|line| line.chars().count()).max(), Some(width(&columns)));
    }
}
