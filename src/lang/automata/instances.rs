//! Another number of copies: `thread NAME COUNT` with another `COUNT`, in every thread that has one.

use super::{paper, tools};
use crate::lang::Diagnostic;
use crate::program::Span;

/// The text with so many copies.
pub fn instances(text: &str, number: usize) -> Result<String, Vec<Diagnostic>> {
    let none = |why: &str, help: &str| vec![Diagnostic::error(Span::default(), why).with_help(help)];
    if paper::is_one(text) {
        let help = "the tools' language has them: `thread NAME 2`";
        return Err(none("the paper's language has no numbers of instances", help));
    }
    let mut counts: Vec<Span> =
        tools::parse("", text)?.threads.iter().filter_map(|thread| thread.count.map(|(_, span)| span)).collect();
    if counts.is_empty() {
        let help = "a thread that is to have several instances is written `thread NAME 2`";
        return Err(none("no thread has a number of instances", help));
    }
    counts.sort_unstable();
    let mut text = text.to_owned();
    for Span { start, end } in counts.into_iter().rev() {
        text.replace_range(start..end, &number.to_string());
    }
    Ok(text)
}
