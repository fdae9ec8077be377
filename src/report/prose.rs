//! Sentences on a terminal: broken at blanks so that they fit into 80 columns, with the lines behind the first
//! indented further.

use crate::text::excerpt::width;
use std::fmt::{self, Write};

/// How many columns a terminal has at least.
pub const COLUMNS: usize = 80;

/// Writes a sentence; colours in it take no room. A word that is too long for a line stays whole.
///
/// # Errors
/// If the writer fails.
pub fn write(out: &mut dyn Write, first_indent: usize, indent: usize, text: &str) -> fmt::Result {
    let mut at = 0;
    for word in text.split(' ') {
        let room = width(&anstream::adapter::strip_str(word).to_string());
        if at == 0 {
            write!(out, "{:first_indent$}{word}", "")?;
            at = first_indent + room;
        } else if at + 1 + room > COLUMNS {
            write!(out, "\n{:indent$}{word}", "")?;
            at = indent + room;
        } else {
            write!(out, " {word}")?;
            at += 1 + room;
        }
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_broken_at_blanks_and_colours_take_no_room() {
        let text = format!("\x1b[1m{}\x1b[0m  {} {}", "a".repeat(40), "b".repeat(34), "c".repeat(90));
        let mut out = String::new();
        super::write(&mut out, 2, 6, &text).expect("a string takes everything");
        let plain = anstream::adapter::strip_str(&out).to_string();
        assert_eq!(plain, format!("  {}  {}\n      {}\n", "a".repeat(40), "b".repeat(34), "c".repeat(90)));
    }
}
