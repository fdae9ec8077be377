//! One line of a source text as a terminal shows it: a tab takes four columns, wide characters two; of a line that is
//! too long only the surroundings of the span are shown; what would garble the terminal is replaced.

use super::Span;

/// How many columns a tab takes.
const TAB_COLUMNS: usize = 4;

/// A source line as it is shown, and what stands under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The line.
    pub line: String,
    /// As wide as the line up to its last mark: `^` under what belongs to the span.
    pub underline: String,
}

impl Excerpt {
    /// The line in which `span` begins, in at most this many columns, and what of it belongs to `span`.
    #[must_use]
    pub fn of(text: &str, span: Span, columns: usize) -> Excerpt {
        let start = floor_char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let line = text[line_start..line_end].trim_end_matches('\r');
        let marked = start - line_start..span.end.max(start) - line_start;
        let mut cells: Vec<Cell> = line.char_indices().map(|(at, c)| Cell::of(c, marked.contains(&at))).collect();
        // Nothing is marked at the end of the line or of the text: mark the place behind it.
        if !cells.iter().any(|cell| cell.marked) {
            let position = line.char_indices().take_while(|(at, _)| *at < marked.start).count();
            if position == cells.len() {
                cells.push(Cell { shown: " ".to_owned(), columns: 1, marked: true });
            } else {
                cells[position].marked = true;
            }
        }
        let mut excerpt = Excerpt { line: String::new(), underline: String::new() };
        for cell in cut(&cells, columns) {
            excerpt.line.push_str(&cell.shown);
            let mark = if cell.marked { "^" } else { " " };
            excerpt.underline.push_str(&mark.repeat(cell.columns));
        }
        excerpt.line.truncate(excerpt.line.trim_end().len());
        excerpt.underline.truncate(excerpt.underline.trim_end().len());
        excerpt
    }
}

/// A text for a terminal: what would garble it is replaced.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|character| Cell::of(character, false).shown).collect()
}

/// The text in at most `most` characters, with an ellipsis if something is left out.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// How many columns of a terminal a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(|character| Cell::of(character, false).columns).sum()
}

/// One character of a line.
#[derive(Clone)]
struct Cell {
    shown: String,
    columns: usize,
    marked: bool,
}

impl Cell {
    fn of(character: char, marked: bool) -> Cell {
        let (shown, columns) = match character {
            '\t' => (" ".repeat(TAB_COLUMNS), TAB_COLUMNS),
            // Control characters, and those that turn the direction of writing, would garble the terminal.
            c if c.is_control()
                || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}') =>
            {
                ("\u{fffd}".to_owned(), 1)
            }
            c => (c.to_string(), columns_of(c)),
        };
        Cell { shown, columns, marked }
    }

    fn ellipsis() -> Cell {
        Cell { shown: "…".to_owned(), columns: 1, marked: false }
    }
}

/// How many columns a terminal gives a character: a coarse table, as only the underline depends on it.
fn columns_of(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// The part of a line around its first marked cell that fits into `most` columns.
fn cut(cells: &[Cell], most: usize) -> Vec<Cell> {
    let width: usize = cells.iter().map(|cell| cell.columns).sum();
    if width <= most {
        return cells.to_vec();
    }
    let first_marked = cells.iter().position(|cell| cell.marked).unwrap_or(0);
    let mut begin = first_marked;
    let mut columns = 0;
    while begin > 0 && columns < most * 3 / 10 {
        begin -= 1;
        columns += cells[begin].columns;
    }
    let mut end = first_marked;
    while end < cells.len() && columns < most {
        columns += cells[end].columns;
        end += 1;
    }
    let mut shown = Vec::with_capacity(end - begin + 2);
    if begin > 0 {
        shown.push(Cell::ellipsis());
    }
    shown.extend_from_slice(&cells[begin..end]);
    if end < cells.len() {
        shown.push(Cell::ellipsis());
    }
    shown
}

/// The end of the last character that begins before or at `offset`.
pub(crate) fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
