//! The colours of text for people. They are always written; the command line's streams take them out again where
//! there is no terminal or `NO_COLOR` is set.

use anstyle::{AnsiColor, Style};

/// The name of a memory model.
pub const TITLE: Style = Style::new().bold();
/// What is to be put in.
pub const ADDED: Style = AnsiColor::Green.on_default().bold();
/// What goes wrong without it.
pub const WRONG: Style = AnsiColor::Red.on_default().bold();
/// Line numbers, arrows.
pub const FRAME: Style = AnsiColor::Cyan.on_default();

/// The text in a style.
#[must_use]
pub fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
