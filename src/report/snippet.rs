//! The lines of a specification at which something is put in, with the additions drawn between them.
//!
//! ```text
//!     --> specs/mp.slco
//!  14 |           transitions
//!  15 |             s0 -> s1 { x := 1 }
//!  F0 +                              ^ membar #StoreStore
//!  16 |             s1 -> s2 { f := 1 }
//! ```
//!
//! An arrow `^` below a line or `v` above it points at the place between two characters where the addition goes:
//! behind the instruction, or before it. One line of context on either side is shown, `...` stands for what is left
//! out. A line that is too long for the terminal is cut around the place, and shown again if it has another one far
//! away.

use super::prose;
use super::style::{ADDED, FRAME, styled};
use crate::program::Span;
use crate::text::excerpt::{Excerpt, printable, width};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Something that is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// Where.
    pub place: Spot,
    /// What it is called elsewhere in the report.
    pub mark: String,
    /// What it is.
    pub what: String,
}

/// Where something is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// Before the instruction.
    Before(Span),
    /// After the instruction.
    After(Span),
    /// Around the instruction.
    Around(Span),
}

/// How many lines before and after are shown.
const CONTEXT: usize = 1;
/// How wide the text may be: with the numbers, 80 columns.
const COLUMNS: usize = 70;

/// An arrow with its text, below or above a line.
struct Drawn<'a> {
    excerpt: Excerpt,
    addition: &'a Addition,
}

/// Writes the lines with their additions.
///
/// # Errors
/// If the writer fails.
pub fn write(path: &str, text: &str, additions: &[Addition], out: &mut dyn Write) -> fmt::Result {
    let lines: Vec<usize> =
        std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
    let line_of = |offset: usize| lines.partition_point(|&start| start <= offset) - 1;
    let (mut above, mut below): (BTreeMap<usize, Vec<Drawn<'_>>>, BTreeMap<usize, Vec<Drawn<'_>>>) = Default::default();
    for addition in additions {
        let (side, span) = match addition.place {
            Spot::Before(span) => (&mut above, Span { end: span.start, ..span }),
            Spot::After(span) => (&mut below, Span { start: span.end, ..span }),
            Spot::Around(span) => (&mut below, span),
        };
        let excerpt = Excerpt::of(text, span, COLUMNS);
        side.entry(line_of(span.start)).or_default().push(Drawn { excerpt, addition });
    }
    let concerned: Vec<usize> = above.keys().chain(below.keys()).copied().collect();
    let last_line = lines.len() - 1 - usize::from(text.ends_with('\n') || text.is_empty());
    let is_shown = |line: usize| concerned.iter().any(|&other| line.abs_diff(other) <= CONTEXT);
    let digits = additions.iter().map(|addition| addition.mark.chars().count()).chain([last_line.to_string().len()]);
    let gutter = digits.max().unwrap_or(1);
    writeln!(out, "  {:gutter$} {} {}", "", styled(FRAME, "-->"), printable(path))?;
    let mut previous = None;
    for line in (0..=last_line).filter(|&line| is_shown(line)) {
        if previous.is_some_and(|previous| previous + 1 < line) {
            writeln!(out, "  {}", styled(FRAME, "..."))?;
        }
        previous = Some(line);
        let number = styled(FRAME, format!("{:>gutter$} |", line + 1));
        let start = Span { start: lines[line], end: lines[line] };
        let mut shown = None;
        for drawn in above.get(&line).into_iter().flatten() {
            write_arrow(drawn, 'v', gutter, out)?;
            shown = Some(&drawn.excerpt.line);
        }
        let first = below.get(&line).and_then(|drawn| drawn.first()).map(|drawn| &drawn.excerpt.line);
        let whole = Excerpt::of(text, start, COLUMNS).line;
        let mut shown = shown.or(first).unwrap_or(&whole);
        writeln!(out, "  {}", format!("{number} {shown}").trim_end())?;
        for drawn in below.get(&line).into_iter().flatten() {
            if drawn.excerpt.line != *shown {
                shown = &drawn.excerpt.line;
                writeln!(out, "  {number} {shown}")?;
            }
            write_arrow(drawn, '^', gutter, out)?;
        }
    }
    Ok(())
}

fn write_arrow(drawn: &Drawn<'_>, arrow: char, gutter: usize, out: &mut dyn Write) -> fmt::Result {
    let Addition { mark, what, .. } = drawn.addition;
    let pointer = drawn.excerpt.underline.replace('^', &arrow.to_string());
    let arrows = pointer.trim_start();
    let blanks = pointer.len() - arrows.len();
    let fits = gutter + 6 + width(&pointer) + width(what) <= prose::COLUMNS;
    // Far to the right there is more room before the arrow.
    let pointer = match blanks.checked_sub(width(what) + 1) {
        Some(room) if !fits => format!("{:room$}{what} {arrows}", ""),
        _ => format!("{pointer} {what}"),
    };
    writeln!(out, "  {}", styled(ADDED, format!("{mark:>gutter$} + {pointer}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, additions: &[(Spot, &str)]) -> String {
        let additions: Vec<Addition> = additions
            .iter()
            .map(|&(place, what)| Addition { place, mark: "F0".to_owned(), what: what.to_owned() })
            .collect();
        let mut out = String::new();
        write("f.slco", text, &additions, &mut out).expect("a string takes everything");
        anstream::adapter::strip_str(&out).to_string()
    }

    fn span(text: &str, part: &str) -> Span {
        let start = text.find(part).expect("part of the text");
        Span { start, end: start + part.len() }
    }

    #[test]
    fn additions_stand_between_the_lines_and_what_is_far_is_left_out() {
        let text = "one\ntwo { x }\nthree\nfour\nfive\nsix { y }\n";
        let additions = [
            (Spot::After(span(text, "x")), "fence"),
            (Spot::Before(span(text, "y")), "fence"),
            (Spot::Around(span(text, "six")), "lock"),
        ];
        let expected = "     --> f.slco
   1 | one
   2 | two { x }
  F0 +        ^ fence
   3 | three
  ...
   5 | five
  F0 +       v fence
   6 | six { y }
  F0 + ^^^ lock
";
        assert_eq!(shown(text, &additions), expected);
    }

    #[test]
    fn the_end_of_the_text_and_a_line_that_is_too_long_have_a_place() {
        assert_eq!(
            shown("x", &[(Spot::After(Span { start: 0, end: 1 }), "fence")]),
            "     --> f.slco\n   1 | x\n  F0 +  ^ fence\n"
        );
        let text = format!("{}x{}y", "a".repeat(200), "b".repeat(200));
        let long = shown(&text, &[(Spot::After(span(&text, "x")), "one"), (Spot::After(span(&text, "y")), "two")]);
        assert_eq!(long.lines().filter(|line| line.starts_with("   1 |")).count(), 2, "{long}");
        let right = format!("{}x", " ".repeat(65));
        let shown = shown(&right, &[(Spot::After(span(&right, "x")), "a long fence")]);
        assert!(shown.ends_with("a long fence ^\n") && shown.lines().all(|line| line.len() <= 80), "{shown}");
        assert!(long.lines().all(|line| line.chars().count() <= 80), "{long}");
    }
}
