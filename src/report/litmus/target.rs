//! The architecture that the tests of a memory model are written for.
//!
//! A name says nothing: a table of the user's can be called `tso`. The architecture is that of the built-in model
//! whose rules the table has ([`MemoryModel::known`]).

use crate::lang::litmus::Architecture;
use crate::memory::{Known, MemoryModel, Unknown};

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
        let own = |architecture, remark| Target { architecture, is_own: true, remark };
        let name = &model.name;
        match model.known() {
            Ok(Known::Tso) => own(Architecture::X86, None),
            Ok(Known::Power) => own(Architecture::Ppc, None),
            Ok(Known::Armv7) => own(Architecture::Arm, None),
            Ok(Known::Armv8) => own(Architecture::AArch64, None),
            Ok(Known::Riscv) => own(Architecture::RiscV, None),
            Err(Unknown::Ambiguous { models }) if models.contains(&Known::Power) => {
                let remark = format!("the rules of {name} are those of {}: for POWER", Known::list(&models));
                own(Architecture::Ppc, Some(remark))
            }
            Ok(Known::Sc | Known::Pso | Known::Rmo | Known::Alpha | Known::Rc11) | Err(_) => {
                let remark = format!(
                    "herd has no architecture for {name}: for POWER, with something in between wherever {name} keeps two accesses in order"
                );
                Target { architecture: Architecture::Ppc, is_own: false, remark: Some(remark) }
            }
        }
    }
}
