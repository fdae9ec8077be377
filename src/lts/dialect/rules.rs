//! Rewrite rules: names of actions become labels of the native dialect.
//!
//! ```toml
//! [[rule]]
//! match = 'enter\((\d)\)'
//! label = 'P$1.2: ~r := wants[$1]'
//! ```
//!
//! Rules are tried in the order of the file. The first one whose expression matches *all* of a label's text is taken:
//! a name that only contains another one must not be taken for it. In `label`, `$1` (all digits that follow) and
//! `$name` or `${name}` are what the group matched, and nothing if the group took no part in the match; `$$` is a
//! dollar sign. A group that the expression does not have is an error when the rules are read. What comes out is read
//! as a native label; if it is none, the message says what the rule made, and of what.
//!
//! Cost: every distinct label text is rewritten once, with at most one match for each rule.

#![forbid(unsafe_code)]

use super::{LabelError, native};
use crate::lts::label::Label;
use regex::{Captures, Regex};
use serde::Deserialize;
use toml::Spanned;

/// A rule as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    r#match: Spanned<String>,
    label: Spanned<String>,
}

/// Rules in their order.
#[derive(Clone, Debug)]
pub(super) struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    expression: Regex,
    label: Vec<Part>,
    /// Where its expression stands in the file, from 1.
    line: usize,
}

/// A piece of what a rule makes.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    /// What the group of this number matched.
    Group(usize),
}

/// Why a rule could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// Its expression cannot be compiled.
    #[error("line {line}: `match` of the rule is not a regular expression: {cause}")]
    Regex {
        /// Where it stands in the file.
        line: usize,
        /// What is wrong with it.
        #[source]
        cause: Box<regex::Error>,
    },
    /// What it makes speaks of a group that is not there.
    #[error("line {line}: `label` of the rule has `${group}`, and `match` has {groups}")]
    Group {
        /// Where it stands in the file.
        line: usize,
        /// The group that is not there.
        group: String,
        /// Those that are.
        groups: String,
    },
    /// A dollar sign that begins nothing.
    #[error(
        "line {line}: in `label` of the rule a `$` stands before {before}; write `$1` or `$name` for a group, and `$$` for a dollar sign"
    )]
    Dollar {
        /// Where it stands in the file.
        line: usize,
        /// What is behind it.
        before: String,
    },
}

impl Rules {
    /// The rules of a file with this text.
    pub(super) fn new(written: Vec<Written>, text: &str) -> Result<Rules, RuleError> {
        let line = |spanned: &Spanned<String>| 1 + text[..spanned.span().start].matches('\n').count();
        let rule = |written: Written| {
            let pattern = format!("^(?:{})$", written.r#match.get_ref());
            // Compiled alone first: a parenthesis too many must not end the group that is put around it.
            let expression = Regex::new(written.r#match.get_ref())
                .and_then(|_| Regex::new(&pattern))
                .map_err(|cause| RuleError::Regex { line: line(&written.r#match), cause: Box::new(cause) })?;
            let label = parts(written.label.get_ref(), &expression, line(&written.label))?;
            Ok(Rule { line: line(&written.r#match), expression, label })
        };
        written.into_iter().map(rule).collect::<Result<_, _>>().map(Rules)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The label that the first rule which matches makes of a text; nothing if none does.
    pub(super) fn apply(&self, text: &str) -> Option<Result<Label, LabelError>> {
        let (rule, groups) = self.0.iter().find_map(|rule| Some((rule, rule.expression.captures(text)?)))?;
        let made = rule.made(&groups);
        Some(native::parse(&made).map_err(|error| {
            let found = match made.get(error.offset..) {
                None | Some("") => "its end".to_owned(),
                Some(rest) => format!("`{rest}`"),
            };
            let expected = format!(
                "a label that its rule can make a label of: the rule in line {} of the dialect file makes `{made}` of it, which is none: {} was expected there instead of {found}",
                rule.line, error.expected
            );
            LabelError { offset: 0, expected }
        }))
    }

    /// What was expected where none matches.
    pub(super) fn expected(&self) -> String {
        match self.0.as_slice() {
            [only] => format!("a label that the rule in line {} of the dialect file matches as a whole", only.line),
            all => {
                let lines: Vec<String> = all.iter().map(|rule| rule.line.to_string()).collect();
                let lines = if lines.len() > 8 {
                    format!("{} to {}", lines[0], lines[lines.len() - 1])
                } else {
                    lines.join(", ")
                };
                format!(
                    "a label that one of the {} rules of the dialect file (lines {lines}) matches as a whole",
                    all.len()
                )
            }
        }
    }
}

impl Rule {
    fn made(&self, groups: &Captures<'_>) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Group(group) => groups.get(*group).map_or_else(String::new, |found| found.as_str().to_owned()),
        };
        self.label.iter().map(part).collect()
    }
}

/// Takes the text of `label` apart.
fn parts(text: &str, expression: &Regex, line: usize) -> Result<Vec<Part>, RuleError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        parts.push(Part::Text(before.to_owned()));
        if let Some(after) = after.strip_prefix('$') {
            parts.push(Part::Text("$".to_owned()));
            rest = after;
            continue;
        }
        let (name, behind) = group(after).ok_or_else(|| {
            let before =
                after.chars().next().map_or_else(|| "the end".to_owned(), |character| format!("`{character}`"));
            RuleError::Dollar { line, before }
        })?;
        let number = match name.parse::<usize>() {
            Ok(number) => (number < expression.captures_len()).then_some(number),
            Err(_) => expression.capture_names().position(|known| known == Some(name)),
        };
        let number =
            number.ok_or_else(|| RuleError::Group { line, group: name.to_owned(), groups: groups(expression) })?;
        parts.push(Part::Group(number));
        rest = behind;
    }
    parts.push(Part::Text(rest.to_owned()));
    Ok(parts)
}

/// The name or number of a group behind a dollar sign, and what is behind that.
fn group(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('{') {
        return inner.split_once('}').filter(|(name, _)| !name.is_empty());
    }
    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
    let belongs = |character: char| match is_number {
        true => character.is_ascii_digit(),
        false => character.is_ascii_alphanumeric() || character == '_',
    };
    let length = text.find(|character| !belongs(character)).unwrap_or(text.len());
    (length > 0).then(|| text.split_at(length))
}

/// The groups that an expression has, in words.
fn groups(expression: &Regex) -> String {
    let names: Vec<String> = expression.capture_names().flatten().map(|name| format!("`{name}`")).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    match expression.captures_len() - 1 {
        0 => "no groups".to_owned(),
        1 => format!("one group{names}"),
        count => format!("{count} groups{names}"),
    }
}
