//! The texts of labels with what they mean: see [`labels`](crate::facts::labels).

use super::layout::Layout;
use super::reading::{self, Reading};
use super::{First, Options, Progress};
use crate::facts::labels::Labels;
use crate::lts::error::{BytePosition, Error, quoted};
use crate::lts::source::Bytes;

/// Of a state space in one file or several.
///
/// # Errors
/// As for [`extract_all`](super::extract_all).
pub fn of_state_spaces(sources: &[Bytes], options: &Options, progress: &dyn Progress) -> Result<Labels, Error> {
    let mut first = First::read(Layout::of_headers(sources, options)?, options, progress)?;
    first.layout.check_counts(first.enabled.transitions, first.enabled.states)?;
    sources.iter().try_for_each(Bytes::check_unchanged)?;
    Ok(first.labels.texts().map(|(text, meaning)| (text.to_vec(), meaning)).collect())
}

/// Of lists, a line each.
///
/// # Errors
/// If no dialect reads one of them.
pub fn of_lists(sources: &[Bytes], options: &Options) -> Result<Labels, Error> {
    let mut labels = Labels::new();
    let mut reading: Option<Reading> = None;
    for source in sources {
        let bytes = source.bytes();
        let mut start = 0;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = unquoted(line.trim_ascii());
            let at = start + line.len() - line.trim_ascii_start().len();
            start += line.len();
            if text.is_empty() {
                continue;
            }
            // The first one that is not internal tells the dialect.
            if reading.is_none() {
                reading = Reading::of_first(options, &text);
            }
            let unread = Reading::of_nothing(options);
            let known = reading.as_ref().unwrap_or(&unread);
            let meaning = known.meaning(&text).map_err(|error| {
                let expected = format!("{} ({} dialect)", error.expected, known.dialect().name());
                let place = BytePosition::of(bytes, at + error.offset);
                Error::contents(
                    source.name(),
                    place,
                    expected,
                    format!("the label {}", quoted(&text)),
                    known.remedy(&text),
                )
            })?;
            let meaning = match meaning {
                reading::Meaning::Internal => None,
                reading::Meaning::Visible(label) => Some(label),
            };
            labels.insert(text, meaning);
        }
        source.check_unchanged()?;
    }
    Ok(labels)
}

/// What is between quotes, with doubled ones taken for one; another text as it is.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let Some(inner) = text.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else { return text.to_vec() };
    let mut unquoted = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().peekable();
    while let Some(&byte) = rest.next() {
        unquoted.push(byte);
        if byte == b'"' {
            rest.next_if(|&&next| next == b'"');
        }
    }
    unquoted
}
