//! What is wrong, or doubtful, in a text, and how it is shown.
//!
//! ```text
//! peterson.slco:7:20: error: there is no variable `trun`
//!     7 |     A -> B { [trun = 1; x := 2] }
//!       |               ^^^^
//!       help: did you mean `turn`?
//! ```
//!
//! Lines and columns count from 1, columns in characters. A line is shown as a terminal would: a tab takes four
//! columns, wide characters two; of a line that is too long only the surroundings of the span are shown, of a span
//! over several lines only the first.

use crate::program::Span;
use crate::text::LineColumn;
use crate::text::excerpt::Excerpt;
use std::fmt::{self, Write};

/// How many columns of a source line are shown.
const SHOWN_COLUMNS: usize = 100;
/// How many errors are shown before the rest is only counted.
const SHOWN_ERRORS: usize = 20;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The text has no meaning.
    Error,
    /// The text has a meaning, but perhaps not the intended one.
    Warning,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is; never beyond the text.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, span, message: message.into(), help: None }
    }

    /// A warning.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, span, message: message.into(), help: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The message with its place and the source line, as the [module](self) shows it; ends in a newline.
    #[must_use]
    pub fn render(&self, path_name: &str, text: &str) -> String {
        let place = LineColumn::of(text, self.span.start);
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut shown = format!("{path_name}:{}:{}: {severity}: {}\n", place.line, place.column, self.message);
        // An empty text has no line worth showing.
        if !text.is_empty() {
            let excerpt = Excerpt::of(text, self.span, SHOWN_COLUMNS);
            let number = place.line.to_string();
            let margin = " ".repeat(number.len());
            let _ = writeln!(shown, "    {number} | {}", excerpt.line);
            let _ = writeln!(shown, "    {margin} | {}", excerpt.underline);
        }
        if let Some(help) = &self.help {
            let _ = writeln!(shown, "      help: {help}");
        }
        shown
    }
}

/// All that is wrong with a text: at least one error, in the order of the text. Displays as the [module](self) shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    path_name: String,
    text: String,
    errors: Vec<Diagnostic>,
    reference: Option<&'static str>,
}

impl Diagnostics {
    /// The errors of a text.
    ///
    /// # Panics
    ///
    /// If there are none: a failure must say what failed.
    #[must_use]
    pub fn new(path_name: &str, text: &str, mut errors: Vec<Diagnostic>) -> Diagnostics {
        assert!(!errors.is_empty(), "a failure has at least one error");
        errors.sort_by_key(|error| error.span);
        errors.dedup();
        Diagnostics { path_name: path_name.to_owned(), text: text.to_owned(), errors, reference: None }
    }

    /// The same, with where the language is described.
    #[must_use]
    pub fn described_in(self, reference: &'static str) -> Diagnostics {
        Diagnostics { reference: Some(reference), ..self }
    }

    /// The errors.
    #[must_use]
    pub fn errors(&self) -> &[Diagnostic] {
        &self.errors
    }

    /// Where an error is, in lines and columns.
    #[must_use]
    pub fn place(&self, error: &Diagnostic) -> LineColumn {
        LineColumn::of(&self.text, error.span.start)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.errors.iter().take(SHOWN_ERRORS);
        let shown: Vec<String> = shown.map(|error| error.render(&self.path_name, &self.text)).collect();
        f.write_str(shown.concat().trim_end())?;
        match self.errors.len().saturating_sub(SHOWN_ERRORS) {
            0 => {}
            1 => write!(f, "\n{}: and 1 more error", self.path_name)?,
            more => write!(f, "\n{}: and {more} more errors", self.path_name)?,
        }
        match self.reference {
            Some(reference) => write!(f, "\n{}: the language is described in {reference}", self.path_name),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, Diagnostics};
    use crate::program::Span;
    use crate::text::LineColumn;

    fn rendered(text: &str, start: usize, end: usize) -> String {
        Diagnostic::error(Span { start, end }, "wrong").render("f.slco", text)
    }

    #[test]
    fn the_span_is_underlined() {
        assert_eq!(
            rendered("one\ntwo three\n", 8, 13),
            "f.slco:2:5: error: wrong\n    2 | two three\n      |     ^^^^^\n"
        );
    }

    #[test]
    fn tabs_wide_and_combining_characters_keep_the_underline_in_place() {
        assert_eq!(rendered("\tx\r\n", 1, 2), "f.slco:1:2: error: wrong\n    1 |     x\n      |     ^\n");
        let text = "é 字 x";
        assert_eq!(rendered(text, 7, 8), "f.slco:1:5: error: wrong\n    1 | é 字 x\n      |      ^\n");
        assert_eq!(rendered("e\u{301}x", 3, 4), "f.slco:1:3: error: wrong\n    1 | e\u{301}x\n      |  ^\n");
    }

    #[test]
    fn the_end_of_the_text_and_several_lines_are_shown() {
        assert_eq!(rendered("ab", 2, 2), "f.slco:1:3: error: wrong\n    1 | ab\n      |   ^\n");
        assert_eq!(rendered("ab\ncd", 1, 5), "f.slco:1:2: error: wrong\n    1 | ab\n      |  ^\n");
        assert_eq!(rendered("", 0, 0), "f.slco:1:1: error: wrong\n");
    }

    #[test]
    fn a_long_line_is_cut_around_the_span() {
        let text = format!("{}bad{}", "x".repeat(500), "y".repeat(500));
        let shown = rendered(&text, 500, 503);
        let expected = format!("    1 | …{}bad{}…\n      | {}^^^\n", "x".repeat(30), "y".repeat(67), " ".repeat(31));
        assert_eq!(shown, format!("f.slco:1:501: error: wrong\n{expected}"));
    }

    #[test]
    fn only_the_first_errors_are_shown() {
        let text = "x".repeat(30);
        let errors = (0..23).map(|at| Diagnostic::error(Span { start: at, end: at + 1 }, "wrong")).collect();
        let shown = Diagnostics::new("f.slco", &text, errors).to_string();
        assert_eq!(shown.matches("error: wrong").count(), 20);
        assert!(shown.ends_with("\nf.slco: and 3 more errors"), "{shown}");
    }

    #[test]
    fn offsets_within_a_character_are_harmless() {
        assert_eq!(LineColumn::of("é", 1), LineColumn { line: 1, column: 1 });
        assert!(rendered("é", 1, 2).contains('^'));
    }
}
