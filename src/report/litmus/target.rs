//! The architecture that the tests of a memory model are written for.
//!
//! A name alone says nothing: a table of the user's can be called `tso`. The architecture is the model's own if its rules, store atomicity and the eight rows, are those of the built-in model of its name; titles and fence instructions do not matter.

use crate::lang::litmus::Architecture;
use crate::memory::MemoryModel;

/// What tests are written for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The architecture.
    pub architecture: Architecture,
    /// Whether it keeps what the memory model keeps.
    pub is_own: bool,
    /// What the test must say about the architecture.
    pub remark: Option<String>,
}

impl Target {
    /// The target for the memory model.
    #[must_use]
    pub fn of(model: &MemoryModel) -> Target {
        let own = |architecture, remark: Option<&str>| Target {
            architecture,
            is_own: true,
            remark: remark.map(str::to_owned),
        };
        match &*model.name {
            "tso" if is_builtin(model) => own(Architecture::X86, None),
            "power" if is_builtin(model) => own(Architecture::Ppc, None),
            "armv7" if is_builtin(model) => own(Architecture::Arm, None),
            "armv8" if is_builtin(model) => {
                own(Architecture::Arm, Some("in the assembly of ARMv7, which herd's ARM is"))
            }
            name => {
                let remark = format!(
                    "herd has no architecture for {name}: for POWER, with something in between wherever {name} keeps two accesses in order"
                );
                Target { architecture: Architecture::Ppc, is_own: false, remark: Some(remark) }
            }
        }
    }
}

/// Whether the rules are those of the built-in model of this name.
fn is_builtin(model: &MemoryModel) -> bool {
    MemoryModel::named(&model.name)
        .is_some_and(|known| known.store_atomic == model.store_atomic && known.preserved == model.preserved)
}
