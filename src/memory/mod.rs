//! Memory models: tables (method §4), and axioms.
//!
//! A model answers one question, [`MemoryModel::preserved`]: may an access, later in program order, *not* overtake an
//! earlier one? The answer depends on the two kinds, on whether the location is the same, and on the dependencies
//! between them. One flag, `store_atomic`, says whether a write becomes visible to all other threads at once.
//!
//! [`MemoryModel::known`] says which built-in model a table is, by its rules: what else is known of a model, such as
//! a machine that runs it, goes by that and never by a name.
//!
//! What a model allows an execution to do, exactly, is said by axioms: a text in the language [`cat`]. The table says
//! less (it keeps no order that the axioms do not keep), is fast, and works on bare state spaces.
//!
//! The built-in tables are TOML files in `src/memory/builtin/`; a user's own model is a file of the same form. So
//! adding a model is writing one table:
//!
//! ```
//! let pso_without_dependencies = seqcon::memory::MemoryModel::from_toml(r#"
//!     name = "mine"
//!     title = "PSO that also lets reads overtake reads"
//!     store_atomic = true
//!     [preserved]
//!     "W x -> R x" = "no"
//!     "W x -> R y" = "no"
//!     "R x -> R x" = "no"
//!     "R x -> R y" = ["addr"]
//!     "W x -> W x" = "yes"
//!     "W x -> W y" = "no"
//!     "R x -> W x" = "yes"
//!     "R x -> W y" = "yes"
//!     [[fences]]
//!     mnemonic = "membar"
//!     orders = ["WR", "WW", "RR", "RW"]
//! "#);
//! assert!(pso_without_dependencies.is_ok());
//! ```

pub mod cat;
mod known;
mod table;
mod write;

pub use known::{Known, Unknown};
pub use table::{Dependencies, FenceInstruction, Guarantee, Kind, MarkInstruction, ModelError, Pair, Preserved};

use crate::ordering::{Accesses, Marks, PartialFence};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A memory model: its table, its store atomicity and its fence instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryModel {
    /// The name that `--mm` takes and that reports show.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Other names for the same model.
    pub aliases: Vec<String>,
    /// Whether a write becomes visible to all other threads at once. If not, every conflict edge from a write to a
    /// read of another thread is unsafe in that direction.
    pub store_atomic: bool,
    /// The table.
    pub preserved: Preserved,
    /// The architecture's fence instructions, the cheapest first.
    pub fences: Vec<FenceInstruction>,
    /// The architecture's instructions whose accesses carry marks, the cheapest first.
    pub marks: Vec<MarkInstruction>,
    /// A user's axioms, if it is made of them. Then the table keeps nothing, and nobody should ask it.
    pub axioms: Option<OwnAxioms>,
}

/// Axioms of a user's model; equal if they are the same text.
#[derive(Clone, Debug)]
pub struct OwnAxioms(pub Arc<cat::Axioms>);

impl PartialEq for OwnAxioms {
    fn eq(&self, other: &OwnAxioms) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OwnAxioms {}

/// The built-in models in the order in which they are listed: from strong to weak.
const BUILTIN: [&str; 10] = [
    include_str!("builtin/sc.toml"),
    include_str!("builtin/tso.toml"),
    include_str!("builtin/pso.toml"),
    include_str!("builtin/rmo.toml"),
    include_str!("builtin/alpha.toml"),
    include_str!("builtin/armv8.toml"),
    include_str!("builtin/riscv.toml"),
    include_str!("builtin/armv7.toml"),
    include_str!("builtin/power.toml"),
    include_str!("builtin/rc11.toml"),
];

impl MemoryModel {
    /// All built-in models, from strong to weak.
    ///
    /// # Panics
    /// Never: a unit test parses every built-in table.
    #[must_use]
    pub fn builtin() -> Vec<MemoryModel> {
        MemoryModel::tables().to_vec()
    }

    /// The same, without a copy; each table is read once.
    fn tables() -> &'static [MemoryModel] {
        static READ: OnceLock<Vec<MemoryModel>> = OnceLock::new();
        let read = |text: &&str| MemoryModel::from_toml(text).expect("built-in tables are well-formed");
        READ.get_or_init(|| BUILTIN.iter().map(read).collect())
    }

    /// A model that is made of axioms alone, called after its file.
    #[must_use]
    pub fn from_axioms(axioms: cat::Axioms) -> MemoryModel {
        MemoryModel {
            name: axioms.name().to_owned(),
            title: axioms.title().to_owned(),
            aliases: Vec::new(),
            store_atomic: false,
            preserved: Preserved::NOTHING,
            fences: Vec::new(),
            marks: Vec::new(),
            axioms: Some(OwnAxioms(Arc::new(axioms))),
        }
    }

    /// The built-in model of that name or alias, upper or lower case.
    #[must_use]
    pub fn named(name: &str) -> Option<MemoryModel> {
        let wanted = name.to_ascii_lowercase();
        MemoryModel::tables().iter().find(|model| model.name == wanted || model.aliases.contains(&wanted)).cloned()
    }

    /// Is the order of an access `a` and a program-order later access `b` kept, given how `b` depends on `a`?
    #[must_use]
    pub fn preserved(&self, pair: Pair, dependencies: Dependencies) -> bool {
        self.preserved.guarantee(pair).holds(dependencies)
    }

    /// Whether an access of this kind keeps its order with everything after it, whatever the location: once a chain
    /// has reached such an access, nothing later on the path can be unsafe.
    #[must_use]
    pub fn is_absorbing(&self, kind: Kind) -> bool {
        Pair::all().filter(|pair| pair.first == kind).all(|pair| self.preserved.guarantee(pair) == Guarantee::Always)
    }

    /// Whether it makes no difference for what comes after an access of this kind which location it is to, nor what
    /// depends on it.
    #[must_use]
    pub fn is_location_blind(&self, kind: Kind) -> bool {
        [Kind::Read, Kind::Write].into_iter().all(|second| {
            let guarantee = |same_location| self.preserved.guarantee(Pair { first: kind, second, same_location });
            guarantee(true) == guarantee(false) && !matches!(guarantee(true), Guarantee::OnlyIf(_))
        })
    }

    /// Whether all reads are kept in order with everything after them. Together with store atomicity this is what
    /// makes a read that is executed early harmless for the others: they still run on a memory that SC reaches too
    /// (method §6).
    #[must_use]
    pub fn keeps_reads(&self) -> bool {
        self.store_atomic && self.is_absorbing(Kind::Read)
    }

    /// Whether no pair is ever reordered and stores are atomic: sequential consistency itself.
    #[must_use]
    pub fn is_sequentially_consistent(&self) -> bool {
        self.store_atomic && self.is_absorbing(Kind::Read) && self.is_absorbing(Kind::Write)
    }

    /// The cheapest fence instruction that keeps all the given orders (and is cumulative, if asked): the mnemonic, or
    /// the model's strongest one if none is listed for them.
    #[must_use]
    pub fn mnemonic(&self, orders: &[(Kind, Kind)], strength: FenceStrength) -> &str {
        let suits = |fence: &&FenceInstruction| {
            !fence.by_axioms
                && orders.iter().all(|order| fence.orders.contains(order))
                && (strength < FenceStrength::Cumulative || fence.cumulative)
        };
        self.fences.iter().find(suits).or(self.fences.last()).map_or("fence", |fence| &fence.mnemonic)
    }
}

/// What a fence must do: keep the order of some accesses of its own thread, or of all, or also carry along what its
/// thread has seen of others (A-cumulativity). Marks on an instruction's accesses are the weakest kind: they order what
/// these are before or after.
///
/// *Order.* Not all kinds can be compared ([`does_all_of`](FenceStrength::does_all_of)); so `<` and `max` are for kinds
/// that are a chain, as those are that the event graph asks for (all accesses, and cumulatively) and those that store
/// buffers ask for (stores, and all). All kinds from [`Plain`](FenceStrength::Plain) on are full fences, and none
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceStrength {
    /// No fence, but marks on accesses.
    Marks(Marks),
    /// Keeps the order of its own thread's writes.
    Stores,
    /// Keeps its own thread's reads before all that follows.
    Loads,
    /// Keeps these accesses before those.
    Between(Accesses, Accesses),
    /// Keeps the order of its own thread's accesses, but for a write before it and a read behind it.
    Lightweight,
    /// Keeps the order of its own thread's accesses.
    Plain,
    /// Also makes the writes that its thread has read from visible before what follows the fence.
    Cumulative,
}

impl FenceStrength {
    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<FenceStrength> {
        use FenceStrength::{Cumulative, Lightweight, Loads, Plain, Stores};
        let plain = [Stores, Loads, Lightweight, Plain, Cumulative].into_iter().find(|kind| kind.to_string() == name);
        let between = || match PartialFence::named(name) {
            Some(PartialFence::Between(before, after)) => Some(FenceStrength::Between(before, after)),
            _ => None,
        };
        let marks = || Marks::named(name).filter(|marks| !marks.is_empty()).map(FenceStrength::Marks);
        plain.or_else(between).or_else(marks)
    }

    /// The fence that is no full one; nothing for full fences and marks.
    #[must_use]
    pub fn partial(self) -> Option<PartialFence> {
        match self {
            FenceStrength::Stores => Some(PartialFence::Stores),
            FenceStrength::Loads => Some(PartialFence::Loads),
            FenceStrength::Between(before, after) => Some(PartialFence::Between(before, after)),
            FenceStrength::Lightweight => Some(PartialFence::Lightweight),
            FenceStrength::Marks(_) | FenceStrength::Plain | FenceStrength::Cumulative => None,
        }
    }

    /// Which pairs of kinds it keeps: write-read, write-write, read-read, read-write.
    fn keeps(self) -> [bool; 4] {
        let has = |accesses: Accesses, kind: Accesses| accesses == Accesses::All || accesses == kind;
        match self {
            FenceStrength::Marks(_) => [false; 4],
            FenceStrength::Stores => [false, true, false, false],
            FenceStrength::Loads => [false, false, true, true],
            FenceStrength::Between(before, after) => [
                has(before, Accesses::Writes) && has(after, Accesses::Reads),
                has(before, Accesses::Writes) && has(after, Accesses::Writes),
                has(before, Accesses::Reads) && has(after, Accesses::Reads),
                has(before, Accesses::Reads) && has(after, Accesses::Writes),
            ],
            FenceStrength::Lightweight => [false, true, true, true],
            FenceStrength::Plain | FenceStrength::Cumulative => [true; 4],
        }
    }

    /// Whether a fence of this kind does all that one of the other kind does.
    #[must_use]
    pub fn does_all_of(self, other: FenceStrength) -> bool {
        match (self, other) {
            (FenceStrength::Marks(own), FenceStrength::Marks(others)) => own.has(others),
            (FenceStrength::Marks(_), _) | (_, FenceStrength::Marks(_)) => false,
            (FenceStrength::Plain, FenceStrength::Cumulative) => false,
            _ => self.keeps().into_iter().zip(other.keeps()).all(|(own, others)| own || !others),
        }
    }

    /// The weakest kind that does what both do; of marks and fences, which are never at one place, the fence.
    #[must_use]
    pub fn join(self, other: FenceStrength) -> FenceStrength {
        match (self, other) {
            (FenceStrength::Marks(own), FenceStrength::Marks(others)) => FenceStrength::Marks(own.and(others)),
            (fence, FenceStrength::Marks(_)) | (FenceStrength::Marks(_), fence) => fence,
            _ if self.does_all_of(other) => self,
            _ if other.does_all_of(self) => other,
            _ if self.keeps()[0] || other.keeps()[0] => FenceStrength::Plain,
            _ => FenceStrength::Lightweight,
        }
    }

    /// Of several fences at one place, those that are needed to do what all of them do.
    pub fn needed(fences: impl Iterator<Item = FenceStrength>) -> impl Iterator<Item = FenceStrength> {
        let all: BTreeSet<FenceStrength> = fences.collect();
        let others = all.clone();
        all.into_iter().filter(move |fence| others.iter().all(|other| other == fence || !other.does_all_of(*fence)))
    }
}

impl fmt::Display for FenceStrength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FenceStrength::Marks(marks) => return write!(f, "{marks}"),
            FenceStrength::Stores => "store-store",
            FenceStrength::Loads => "load",
            FenceStrength::Between(before, after) => return write!(f, "{before},{after}"),
            FenceStrength::Lightweight => "lightweight",
            FenceStrength::Plain => "plain",
            FenceStrength::Cumulative => "cumulative",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the table of method §4, as (pair, SC, TSO, PSO, ARMv7/POWER); "d" is "only if addr", "D" "addr, data
    /// or ctrl".
    const METHOD_TABLE: [(&str, [&str; 4]); 8] = [
        ("W x -> R x", ["yes", "no", "no", "no"]),
        ("W x -> R y", ["yes", "no", "no", "no"]),
        ("R x -> R x", ["yes", "yes", "yes", "no"]),
        ("R x -> R y", ["yes", "yes", "yes", "d"]),
        ("W x -> W x", ["yes", "yes", "yes", "yes"]),
        ("W x -> W y", ["yes", "yes", "no", "no"]),
        ("R x -> W x", ["yes", "yes", "yes", "D"]),
        ("R x -> W y", ["yes", "yes", "yes", "D"]),
    ];

    #[test]
    fn built_in_models_equal_the_table_of_the_method() {
        for (column, name) in ["sc", "tso", "pso", "armv7"].into_iter().enumerate() {
            let model = MemoryModel::named(name).expect("built in");
            for (pair_text, row) in METHOD_TABLE {
                let pair = Pair::all().find(|pair| pair.to_string() == pair_text).expect("a row for each pair");
                let only =
                    |deps: &[Dependencies]| Guarantee::OnlyIf(deps.iter().fold(Dependencies::NONE, |a, b| a.union(*b)));
                let expected = match row[column] {
                    "yes" => Guarantee::Always,
                    "no" => Guarantee::Never,
                    "d" => only(&[Dependencies::ADDR]),
                    _ => only(&[Dependencies::ADDR, Dependencies::DATA, Dependencies::CTRL]),
                };
                assert_eq!(model.preserved.guarantee(pair), expected, "{name}: {pair_text}");
            }
            assert_eq!(model.store_atomic, name != "armv7");
        }
        let (power, armv7) = (MemoryModel::named("power").unwrap(), MemoryModel::named("armv7").unwrap());
        assert_eq!(power.preserved, armv7.preserved);
        assert!(!power.store_atomic);
    }

    #[test]
    fn names_and_aliases_are_unique_and_found_in_any_case() {
        let models = MemoryModel::builtin();
        let mut names: Vec<&String> = models.iter().flat_map(|m| m.aliases.iter().chain([&m.name])).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        for (alias, name) in [("x86", "tso"), ("SPARC-PSO", "pso"), ("sparc-tso", "tso"), ("Arm", "armv7")] {
            assert_eq!(MemoryModel::named(alias).unwrap().name, name);
        }
        assert_eq!(MemoryModel::named("itanium"), None);
    }

    #[test]
    fn the_cheapest_sufficient_fence_is_named() {
        let pso = MemoryModel::named("pso").unwrap();
        assert_eq!(pso.mnemonic(&[(Kind::Write, Kind::Write)], FenceStrength::Plain), "membar #StoreStore");
        let both = [(Kind::Write, Kind::Write), (Kind::Write, Kind::Read)];
        assert_eq!(pso.mnemonic(&both, FenceStrength::Plain), "membar #StoreStore|#StoreLoad");
        assert_eq!(MemoryModel::named("armv7").unwrap().mnemonic(&both, FenceStrength::Cumulative), "dmb");
    }

    #[test]
    fn of_fences_at_one_place_those_stay_that_no_other_makes_superfluous() {
        use FenceStrength::{Cumulative, Lightweight, Loads, Plain, Stores};
        for (asked, kept) in [
            (vec![Stores, Stores], vec![Stores]),
            (vec![Loads, Stores], vec![Stores, Loads]),
            (vec![Stores, Lightweight, Loads], vec![Lightweight]),
            (vec![Lightweight, Cumulative, Plain], vec![Cumulative]),
        ] {
            assert_eq!(FenceStrength::needed(asked.into_iter()).collect::<Vec<_>>(), kept);
        }
        assert!(!Loads.does_all_of(Stores) && !Stores.does_all_of(Loads) && Lightweight.does_all_of(Loads));
    }

    #[test]
    fn mistakes_in_a_table_are_named() {
        let tso = include_str!("builtin/tso.toml");
        for (broken, word) in [
            (tso.replace("\"W x -> R x\"", "\"W x -> Q x\""), "W x -> Q x"),
            (tso.replace("\"W x -> R x\" = \"no\"", ""), "W x -> R x"),
            (tso.replacen("\"no\"", "\"maybe\"", 1), "maybe"),
            (tso.replace("store_atomic = true", "store_atomic = 3"), "store_atomic"),
            (tso.replace("\"WR\"", "\"WQ\""), "WQ"),
        ] {
            let error = MemoryModel::from_toml(&broken).expect_err("the table is broken").to_string();
            assert!(error.contains(word), "{error:?} should name {word:?}");
        }
    }
}
