//! The rows of a memory model's table, and how they are written in TOML.
//!
//! Every row must be given: a pair that was forgotten would silently be "no" or "yes", and either is a wrong model.

use super::MemoryModel;
use crate::ordering::Marks;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A read.
    Read,
    /// A write.
    Write,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Read => "R",
            Kind::Write => "W",
        })
    }
}

/// A row of the table: the kinds of two accesses in program order, and whether they are to the same location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The earlier access.
    pub first: Kind,
    /// The later access.
    pub second: Kind,
    /// Whether both access one location.
    pub same_location: bool,
}

impl Pair {
    /// The eight rows, in the order of method §4.
    pub fn all() -> impl Iterator<Item = Pair> {
        use Kind::{Read, Write};
        [(Write, Read), (Read, Read), (Write, Write), (Read, Write)]
            .into_iter()
            .flat_map(|(first, second)| [true, false].map(|same_location| Pair { first, second, same_location }))
    }

    fn position(self) -> usize {
        usize::from(self.first == Kind::Write) * 4
            + usize::from(self.second == Kind::Write) * 2
            + usize::from(self.same_location)
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x -> {} {}", self.first, self.second, if self.same_location { "x" } else { "y" })
    }
}

/// A set of dependency kinds (method §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Dependencies(u8);

impl Dependencies {
    /// No dependency.
    pub const NONE: Dependencies = Dependencies(0);
    /// The earlier read's value is used in the later access's address.
    pub const ADDR: Dependencies = Dependencies(1);
    /// The earlier read's value is used in the value that the later write writes.
    pub const DATA: Dependencies = Dependencies(2);
    /// The earlier read is used in a condition that was evaluated before the later access.
    pub const CTRL: Dependencies = Dependencies(4);

    pub(super) const NAMES: [(&'static str, Dependencies); 3] =
        [("addr", Dependencies::ADDR), ("data", Dependencies::DATA), ("ctrl", Dependencies::CTRL)];

    /// Both together.
    #[must_use]
    pub fn union(self, other: Dependencies) -> Dependencies {
        Dependencies(self.0 | other.0)
    }

    /// Whether they have a kind in common.
    #[must_use]
    pub fn intersects(self, other: Dependencies) -> bool {
        self.0 & other.0 != 0
    }
}

/// What a model guarantees for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guarantee {
    /// The order is always kept.
    Always,
    /// The order is kept only if the later access depends on the earlier in one of these ways.
    OnlyIf(Dependencies),
    /// The order is not kept.
    Never,
}

impl Guarantee {
    /// Whether the order is kept, given the dependencies there are.
    #[must_use]
    pub fn holds(self, dependencies: Dependencies) -> bool {
        match self {
            Guarantee::Always => true,
            Guarantee::OnlyIf(needed) => needed.intersects(dependencies),
            Guarantee::Never => false,
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Guarantee::Always => f.write_str("yes"),
            Guarantee::Never => f.write_str("no"),
            Guarantee::OnlyIf(needed) => {
                let names: Vec<&str> = Dependencies::NAMES
                    .iter()
                    .filter(|(_, kind)| needed.intersects(*kind))
                    .map(|(name, _)| *name)
                    .collect();
                write!(f, "only if {}", names.join(", "))
            }
        }
    }
}

/// The eight rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preserved([Guarantee; 8]);

impl Preserved {
    /// No order is kept.
    pub const NOTHING: Preserved = Preserved([Guarantee::Never; 8]);

    /// What the model guarantees for this row.
    #[must_use]
    pub fn guarantee(&self, pair: Pair) -> Guarantee {
        self.0[pair.position()]
    }
}

/// A fence instruction of the architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceInstruction {
    /// As it is written in assembly.
    pub mnemonic: String,
    /// The orders that it keeps: (earlier kind, later kind).
    pub orders: Vec<(Kind, Kind)>,
    /// Whether it is A-cumulative.
    pub cumulative: bool,
    /// Whether only axioms can say where it is enough: the table never asks for it.
    pub by_axioms: bool,
    /// What it costs, beside the model's other instructions.
    pub cost: u64,
}

/// An instruction of the architecture whose access carries marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkInstruction {
    /// As it is written in assembly.
    pub mnemonic: String,
    /// The marks.
    pub marks: Marks,
    /// The kinds of accesses that have it.
    pub of_accesses: Vec<Kind>,
    /// Whether only read-modify-write instructions have it.
    pub only_rmw: bool,
    /// What it costs, beside the model's other instructions.
    pub cost: u64,
}

/// What is wrong with a user's table.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError {
    /// Not TOML, or a key is missing, unknown or of another type; the text says where.
    #[error("{0}")]
    Syntax(String),
    /// A key of `[preserved]` that is no row.
    #[error(
        "[preserved] has no row {0:?}; the rows are \"W x -> R y\" and so on, eight of them (see 'seqcon models show tso')"
    )]
    UnknownRow(String),
    /// A row is missing.
    #[error("[preserved] lacks the row {0:?}; all eight must be given")]
    MissingRow(String),
    /// A value of `[preserved]` that is no guarantee.
    #[error("[preserved] {row:?}: {found:?} is none of \"yes\", \"no\", or a list of \"addr\", \"data\", \"ctrl\"")]
    UnknownGuarantee {
        /// The row.
        row: String,
        /// What was written.
        found: String,
    },
    /// A mark that is none, or accesses that are none.
    #[error(
        "marks of {mnemonic:?}: {found:?} is neither a mark (relaxed, acquire, acquire_pc, release, seq_cst; several with commas) nor accesses (R, W, RW)"
    )]
    UnknownMark {
        /// The instruction.
        mnemonic: String,
        /// What was written.
        found: String,
    },
    /// A cost that is out of range.
    #[error("{mnemonic:?} costs {found}; a cost is an integer from 1 to {LARGEST_COST}")]
    Cost {
        /// The instruction.
        mnemonic: String,
        /// What was written.
        found: u64,
    },
    /// A value of `orders` that is no pair of kinds.
    #[error("orders of {mnemonic:?}: {found:?} is none of \"WR\", \"WW\", \"RR\", \"RW\"")]
    UnknownOrder {
        /// The fence.
        mnemonic: String,
        /// What was written.
        found: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    name: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    aliases: Vec<String>,
    store_atomic: bool,
    preserved: BTreeMap<String, GuaranteeText>,
    #[serde(default)]
    fences: Vec<FenceFile>,
    #[serde(default)]
    marks: Vec<MarkFile>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum GuaranteeText {
    Word(String),
    Dependencies(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FenceFile {
    mnemonic: String,
    orders: Vec<String>,
    #[serde(default)]
    cumulative: bool,
    #[serde(default)]
    by_axioms: bool,
    #[serde(default = "one")]
    cost: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkFile {
    mnemonic: String,
    mark: String,
    of: String,
    #[serde(default)]
    only_rmw: bool,
    #[serde(default = "one")]
    cost: u64,
}

fn one() -> u64 {
    1
}

/// The largest cost of an instruction; keeps every sum far below 2^63.
const LARGEST_COST: u64 = 1_000_000;

impl MemoryModel {
    /// Reads a model's table; the built-in ones are examples.
    ///
    /// # Errors
    /// If the table is not well-formed or not complete.
    pub fn from_toml(text: &str) -> Result<MemoryModel, ModelError> {
        let file: ModelFile = toml::from_str(text).map_err(|error| ModelError::Syntax(error.to_string()))?;
        if let Some(row) = file.preserved.keys().find(|row| Pair::all().all(|pair| pair.to_string() != **row)) {
            return Err(ModelError::UnknownRow(row.clone()));
        }
        let mut rows = [Guarantee::Never; 8];
        for pair in Pair::all() {
            let row = pair.to_string();
            let value = file.preserved.get(&row).ok_or_else(|| ModelError::MissingRow(row.clone()))?;
            rows[pair.position()] = guarantee(&row, value)?;
        }
        let fences = file.fences.into_iter().map(fence).collect::<Result<_, _>>()?;
        let marks = file.marks.into_iter().map(mark).collect::<Result<_, _>>()?;
        Ok(MemoryModel {
            name: file.name,
            title: file.title,
            aliases: file.aliases,
            store_atomic: file.store_atomic,
            preserved: Preserved(rows),
            fences,
            marks,
            axioms: None,
        })
    }
}

fn guarantee(row: &str, value: &GuaranteeText) -> Result<Guarantee, ModelError> {
    let unknown = |found: &str| ModelError::UnknownGuarantee { row: row.to_owned(), found: found.to_owned() };
    match value {
        GuaranteeText::Word(word) => match word.as_str() {
            "yes" => Ok(Guarantee::Always),
            "no" => Ok(Guarantee::Never),
            other => Err(unknown(other)),
        },
        GuaranteeText::Dependencies(names) => {
            let mut needed = Dependencies::NONE;
            for name in names {
                let known = Dependencies::NAMES.iter().find(|(known, _)| known == name);
                needed = needed.union(known.ok_or_else(|| unknown(name))?.1);
            }
            // No dependency meets an empty list: it is another way to write "no".
            Ok(if needed == Dependencies::NONE { Guarantee::Never } else { Guarantee::OnlyIf(needed) })
        }
    }
}

fn fence(file: FenceFile) -> Result<FenceInstruction, ModelError> {
    let kind = |byte: u8| match byte {
        b'R' => Some(Kind::Read),
        b'W' => Some(Kind::Write),
        _ => None,
    };
    let orders = file
        .orders
        .iter()
        .map(|text| {
            match text.as_bytes() {
                &[first, second] => kind(first).zip(kind(second)),
                _ => None,
            }
            .ok_or_else(|| ModelError::UnknownOrder { mnemonic: file.mnemonic.clone(), found: text.clone() })
        })
        .collect::<Result<_, _>>()?;
    let FenceFile { mnemonic, cumulative, by_axioms, cost, .. } = file;
    Ok(FenceInstruction { cost: checked_cost(&mnemonic, cost)?, mnemonic, orders, cumulative, by_axioms })
}

fn mark(file: MarkFile) -> Result<MarkInstruction, ModelError> {
    let unknown = |found: &str| ModelError::UnknownMark { mnemonic: file.mnemonic.clone(), found: found.to_owned() };
    let marks = Marks::named(&file.mark).filter(|marks| !marks.is_empty()).ok_or_else(|| unknown(&file.mark))?;
    let of_accesses = match file.of.as_str() {
        "R" => vec![Kind::Read],
        "W" => vec![Kind::Write],
        "RW" => vec![Kind::Read, Kind::Write],
        other => return Err(unknown(other)),
    };
    let MarkFile { mnemonic, only_rmw, cost, .. } = file;
    Ok(MarkInstruction { cost: checked_cost(&mnemonic, cost)?, mnemonic, marks, of_accesses, only_rmw })
}

fn checked_cost(mnemonic: &str, cost: u64) -> Result<u64, ModelError> {
    if (1..=LARGEST_COST).contains(&cost) {
        return Ok(cost);
    }
    Err(ModelError::Cost { mnemonic: mnemonic.to_owned(), found: cost })
}
