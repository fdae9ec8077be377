//! Which known model a table is: told by its rules, never by its name.
//!
//! Much is known of some models that no table says: how a machine runs them, what axioms they have, what their
//! assembly is called. That knowledge is about the *rules* of the built-in table, the eight rows and store atomicity.
//! A user's table may be called `tso` and have other rules, or have the rules of TSO and another name; so
//! [`MemoryModel::known`] compares rules. Titles, aliases and fence instructions do not matter.
//!
//! ARMv7 and POWER have the same rules, though their axioms differ (what the architectures say of dependencies and of
//! partial fences is not in the table), and so have RMO, ARMv8 and RISC-V. Between those, and only there, the name
//! decides; a table with these rules and another name is not known to be either, and is refused rather than guessed:
//! neither set of axioms allows all that the other does.

use super::{MemoryModel, Pair};
use std::collections::BTreeMap;
use std::fmt;

/// A built-in memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
    /// Relaxed memory order.
    Rmo,
    /// Alpha.
    Alpha,
    /// ARM, version 8.
    Armv8,
    /// RISC-V.
    Riscv,
    /// ARM, version 7.
    Armv7,
    /// POWER.
    Power,
    /// C and C++.
    Rc11,
}

impl Known {
    /// All of them, from strong to weak.
    pub const ALL: [Known; 10] = [
        Known::Sc,
        Known::Tso,
        Known::Pso,
        Known::Rmo,
        Known::Alpha,
        Known::Armv8,
        Known::Riscv,
        Known::Armv7,
        Known::Power,
        Known::Rc11,
    ];

    /// The name of its built-in table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Known::Sc => "sc",
            Known::Tso => "tso",
            Known::Pso => "pso",
            Known::Rmo => "rmo",
            Known::Alpha => "alpha",
            Known::Armv8 => "armv8",
            Known::Riscv => "riscv",
            Known::Armv7 => "armv7",
            Known::Power => "power",
            Known::Rc11 => "rc11",
        }
    }

    /// The names of several models, for people.
    #[must_use]
    pub fn list(models: &[Known]) -> String {
        models.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a table is no known model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// It is made of axioms.
    #[error("it is made of axioms and has no table")]
    OwnAxioms,
    /// No built-in model has its rules.
    #[error("no built-in model has these rules")]
    OtherRules,
    /// It has the name of a built-in model, and other rules.
    #[error("it is called {namesake}, but differs from the built-in {namesake} in: {}", differences.join(", "))]
    Namesake {
        /// The built-in model.
        namesake: Known,
        /// The rows that differ, and `store_atomic` if that does.
        differences: Vec<String>,
    },
    /// Several built-in models have its rules and differ in what no table says; its name is none of theirs.
    #[error(
        "its rules are those of {}, which differ in what the table does not say; name one of them instead",
        Known::list(models)
    )]
    Ambiguous {
        /// These.
        models: Vec<Known>,
    },
}

impl MemoryModel {
    /// The built-in model that this table is, by its rules.
    ///
    /// # Errors
    /// If there is none, or if there are several and the name is none of theirs.
    pub fn known(&self) -> Result<Known, Unknown> {
        if self.axioms.is_some() {
            return Err(Unknown::OwnAxioms);
        }
        let builtin: Vec<(Known, &MemoryModel)> = Known::ALL.into_iter().zip(MemoryModel::tables()).collect();
        let has_rules =
            |table: &MemoryModel| self.preserved == table.preserved && self.store_atomic == table.store_atomic;
        let equal: Vec<Known> = builtin.iter().filter(|(_, table)| has_rules(table)).map(|(known, _)| *known).collect();
        match equal[..] {
            [only] => Ok(only),
            [] => Err(match builtin.iter().find(|(known, _)| known.name() == self.name) {
                Some((known, table)) => Unknown::Namesake { namesake: *known, differences: self.differences(table) },
                None => Unknown::OtherRules,
            }),
            _ => match equal.iter().find(|known| known.name() == self.name) {
                Some(known) => Ok(*known),
                None => Err(Unknown::Ambiguous { models: equal }),
            },
        }
    }

    /// All that makes the model what it is, written down: what each row guarantees, and store atomicity.
    #[must_use]
    pub fn rules(&self) -> BTreeMap<String, String> {
        let rows = Pair::all().map(|pair| (pair.to_string(), self.preserved.guarantee(pair).to_string()));
        let atomicity = if self.store_atomic { "yes" } else { "no" };
        rows.chain([("store_atomic".to_owned(), atomicity.to_owned())]).collect()
    }

    /// The rules that are different in another table.
    fn differences(&self, other: &MemoryModel) -> Vec<String> {
        let (own, others) = (self.rules(), other.rules());
        own.into_iter().filter(|(rule, kept)| others.get(rule) != Some(kept)).map(|(rule, _)| rule).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str) -> MemoryModel {
        MemoryModel::named(name).expect("built in")
    }

    #[test]
    fn every_built_in_model_is_known_also_under_another_name_unless_two_have_its_rules() {
        for known in Known::ALL {
            let model = table(known.name());
            assert_eq!(model.known(), Ok(known));
            let renamed = MemoryModel { name: "mine".to_owned(), fences: Vec::new(), ..model };
            match known {
                Known::Armv7 | Known::Power => {
                    let both = vec![Known::Armv7, Known::Power];
                    assert_eq!(renamed.known(), Err(Unknown::Ambiguous { models: both }));
                }
                Known::Rmo | Known::Armv8 | Known::Riscv => {
                    let all = vec![Known::Rmo, Known::Armv8, Known::Riscv];
                    assert_eq!(renamed.known(), Err(Unknown::Ambiguous { models: all }));
                }
                _ => assert_eq!(renamed.known(), Ok(known)),
            }
        }
    }

    #[test]
    fn the_name_of_a_built_in_model_does_not_make_one() {
        let weaker = MemoryModel { preserved: table("pso").preserved, ..table("tso") };
        assert_eq!(weaker.known(), Ok(Known::Pso), "it is what its rules are");
        let torn = MemoryModel { store_atomic: false, ..table("tso") };
        let differences = vec!["store_atomic".to_owned()];
        assert_eq!(torn.known(), Err(Unknown::Namesake { namesake: Known::Tso, differences }));
        let mine = MemoryModel { name: "mine".to_owned(), ..torn };
        assert_eq!(mine.known(), Err(Unknown::OtherRules));
        let other = MemoryModel { preserved: table("rmo").preserved, store_atomic: false, ..table("armv7") };
        assert!(matches!(other.known(), Err(Unknown::Namesake { namesake: Known::Armv7, .. })));
    }

    #[test]
    fn no_dependency_in_a_list_is_no_order() {
        let tso = include_str!("builtin/tso.toml").replace("\"W x -> R y\" = \"no\"", "\"W x -> R y\" = []");
        assert_eq!(MemoryModel::from_toml(&tso).expect("a table").known(), Ok(Known::Tso));
    }
}
