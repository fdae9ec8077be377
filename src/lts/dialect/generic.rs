//! Any other tool's labels, described in a small TOML file: by a regular expression with named groups, by
//! [rules](super::rules) that rewrite them, or both.
//!
//! ```toml
//! label = '^(?<thread>\w+)_(?<instr>\d+)_(?:w\((?<writes>[^)]*)\))?(?:r\((?<reads>[^)]*)\))?$'
//! separator = ","            # between several variables of a group; this is the default
//! local = '^r\d+$'           # names of thread-local variables; none if left out
//! ```
//!
//! | group | meaning |
//! |---|---|
//! | `thread`, `instr` | required |
//! | `writes`, `reads` | variables of the assignment |
//! | `condition` | variables read to decide, before the assignment |
//! | `refused`, `fence`, `atomic` | if the group matches some text: the condition was false; a fence; an atomic instruction |
//! | `fence_kind` | of a fence: what it orders, if that is less than all, by its name (`stores`, `rw,w`, …) |
//! | `marks` | marks of the accesses (`acquire`, `release`, …), with commas between |
//!
//! An atomic instruction for which the group `marks` takes part in the match, be it empty, is no fence, and orders by
//! its marks only. Without writes and without `condition`, the reads are a condition. The expression must
//! match somewhere in the label; anchor it with `^` and `$` to match all of it.
//!
//! Where there are rules (`[[rule]]`), they come first, and `label` may be missing.

#![forbid(unsafe_code)]

use super::LabelError;
use super::rules::{RuleError, Rules, Written};
use super::syntax;
use crate::lts::label::{Access, Label, LabelKind, Step};
use crate::ordering::{Marks, PartialFence};
use regex::{Captures, Regex};
use serde::Deserialize;

const GROUPS: [&str; 10] =
    ["thread", "instr", "reads", "writes", "condition", "refused", "fence", "atomic", "fence_kind", "marks"];

/// How a tool writes its labels.
#[derive(Clone, Debug)]
pub struct Description {
    rules: Rules,
    /// What reads the labels that no rule matches.
    label: Option<Regex>,
    separator: String,
    local: Option<Regex>,
}

/// Why a description could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// Not TOML, or not these keys.
    #[error("not a dialect description: {0}")]
    Toml(#[from] toml::de::Error),
    /// A regular expression that cannot be compiled.
    #[error("`{key}` is not a regular expression: {cause}")]
    Regex {
        /// The key it stands under.
        key: &'static str,
        /// What is wrong with it.
        #[source]
        cause: regex::Error,
    },
    /// A required group is missing.
    #[error("`label` has no group `{0}`; write it as (?<{0}>...)")]
    MissingGroup(&'static str),
    /// A group that means nothing: most likely misspelt.
    #[error("`label` has a group `{0}` that means nothing; the groups are {list}", list = GROUPS.join(", "))]
    UnknownGroup(String),
    /// Neither an expression nor rules.
    #[error("there is neither `label`, an expression for labels, nor a `[[rule]]` with `match` and `label`")]
    Nothing,
    /// A rule that cannot be used.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// Nothing can be split at an empty separator.
    #[error("`separator` is empty; leave it out for a comma")]
    EmptySeparator,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    label: Option<String>,
    separator: Option<String>,
    local: Option<String>,
    #[serde(default)]
    rule: Vec<Written>,
}

impl Description {
    /// Reads a description.
    ///
    /// # Errors
    /// If it is not TOML, has unknown keys, or its expression is not usable.
    pub fn from_toml(text: &str) -> Result<Description, DescriptionError> {
        let file: File = toml::from_str(text)?;
        let compile = |key, text: &str| Regex::new(text).map_err(|cause| DescriptionError::Regex { key, cause });
        let label = file.label.as_deref().map(|text| compile("label", text)).transpose()?;
        if let Some(label) = &label {
            check_groups(label)?;
        }
        let rules = Rules::new(file.rule, text)?;
        if rules.is_empty() && label.is_none() {
            return Err(DescriptionError::Nothing);
        }
        let separator = file.separator.unwrap_or_else(|| ",".to_owned());
        if separator.is_empty() {
            return Err(DescriptionError::EmptySeparator);
        }
        let local = file.local.as_deref().map(|text| compile("local", text)).transpose()?;
        Ok(Description { rules, label, separator, local })
    }

    /// Reads one label.
    ///
    /// # Errors
    /// If no rule and no expression matches, what a rule made is no label, or a group is not usable as a name.
    pub fn parse(&self, text: &str) -> Result<Label, LabelError> {
        if let Some(made) = self.rules.apply(text) {
            return made;
        }
        let Some(expression) = &self.label else {
            return Err(LabelError { offset: 0, expected: self.rules.expected() });
        };
        match expression.captures(text) {
            Some(groups) => self.matched(&groups),
            None => {
                let expected = format!("a label that matches `{expression}`");
                let or_rules =
                    if self.rules.is_empty() { String::new() } else { format!(", or {}", self.rules.expected()) };
                Err(LabelError { offset: 0, expected: expected + &or_rules })
            }
        }
    }

    /// The label that the groups of the expression tell.
    fn matched(&self, groups: &Captures<'_>) -> Result<Label, LabelError> {
        let flag = |group| groups.name(group).is_some_and(|found| !found.is_empty());
        let thread = head(groups, "thread", "a thread name of letters, digits and _ ' $ # - .", '.')?;
        let instr = head(groups, "instr", "an instruction name of letters, digits and _ ' $ # -", '_')?;
        if flag("fence") || flag("fence_kind") {
            let kind = fence(groups)?;
            return Ok(Label { thread, instr, kind, refused: false, steps: Vec::new() });
        }
        let kind = match (flag("atomic"), marks(groups)?) {
            (true, None) => LabelKind::Atomic,
            (true, Some(marks)) => LabelKind::Rmw(marks),
            (false, None | Some(Marks::NONE)) => LabelKind::Plain,
            (false, Some(marks)) => LabelKind::Marked(marks),
        };
        let condition = self.accesses(groups, "condition")?;
        let (reads, writes) = (self.accesses(groups, "reads")?, self.accesses(groups, "writes")?);
        let mut steps = Vec::new();
        if writes.is_empty() && !flag("condition") {
            if !reads.is_empty() || flag("refused") {
                steps.push(Step::Condition { reads });
            }
        } else {
            if flag("condition") || flag("refused") {
                steps.push(Step::Condition { reads: condition });
            }
            if !(writes.is_empty() && reads.is_empty()) {
                steps.push(Step::Assignment { writes, reads });
            }
        }
        Ok(Label { thread, instr, kind, refused: flag("refused"), steps })
    }

    fn accesses(&self, groups: &Captures<'_>, group: &str) -> Result<Vec<Access>, LabelError> {
        let Some(found) = groups.name(group) else { return Ok(Vec::new()) };
        let names = found.as_str().split(self.separator.as_str()).map(str::trim).filter(|name| !name.is_empty());
        let access = |name: &str| {
            let plain_length = name.find('[').unwrap_or(name.len());
            let indices = syntax::indices_length(&name[plain_length..]);
            if !syntax::is_variable(&name[..plain_length]) || indices != Some(name.len() - plain_length) {
                let expected = format!(
                    "a variable name in the group `{group}`, of letters, digits and _ ' $ # - . > * &, not only digits"
                );
                return Err(LabelError { offset: found.start(), expected });
            }
            let local = self.local.as_ref().is_some_and(|local| local.is_match(name));
            Ok(Access { name: name.to_owned(), local, address: Vec::new() })
        };
        names.map(access).collect()
    }
}

/// All groups that are needed, and none that means nothing.
fn check_groups(label: &Regex) -> Result<(), DescriptionError> {
    for required in ["thread", "instr"] {
        if !label.capture_names().flatten().any(|group| group == required) {
            return Err(DescriptionError::MissingGroup(required));
        }
    }
    match label.capture_names().flatten().find(|group| !GROUPS.contains(group)) {
        Some(unknown) => Err(DescriptionError::UnknownGroup(unknown.to_owned())),
        None => Ok(()),
    }
}

/// A fence, of the kind that its group names.
fn fence(groups: &Captures<'_>) -> Result<LabelKind, LabelError> {
    let Some(found) = groups.name("fence_kind").filter(|found| !found.is_empty()) else { return Ok(LabelKind::Fence) };
    let kind = PartialFence::named(found.as_str().trim()).map(LabelKind::PartialFence);
    kind.ok_or_else(|| LabelError {
        offset: found.start(),
        expected: "in the group `fence_kind` one of `lightweight`, `stores`, `loads`, `control`, `acquire`, `release`, `acq_rel`, or two of `r`, `w` and `rw` with a comma between".to_owned(),
    })
}

/// The marks of the accesses, if the group takes part in the match.
fn marks(groups: &Captures<'_>) -> Result<Option<Marks>, LabelError> {
    let Some(found) = groups.name("marks") else { return Ok(None) };
    let marks = Marks::named(found.as_str()).ok_or_else(|| LabelError {
        offset: found.start(),
        expected: "in the group `marks` some of `relaxed`, `acquire`, `acquire_pc`, `release`, `seq_cst` and `exclusive`, with commas between".to_owned(),
    })?;
    Ok(Some(marks))
}

/// A group that names a thread or an instruction.
fn head(groups: &Captures<'_>, group: &str, expected: &str, also: char) -> Result<String, LabelError> {
    let error = |offset| LabelError { offset, expected: format!("{expected} in the group `{group}`") };
    let found = groups.name(group).ok_or_else(|| error(0))?;
    let usable = |character| syntax::is_head_char(character) || character == also;
    if found.is_empty() || !found.as_str().chars().all(usable) {
        return Err(error(found.start()));
    }
    Ok(found.as_str().to_owned())
}
