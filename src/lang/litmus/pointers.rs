//! Which registers hold addresses, and of what, at each place of a thread's code.
//!
//! A register that the initial state points to a location holds exactly its address; with something added it holds an
//! address in the location; a value that was loaded may be any address. What comes together at a label holds what it
//! holds on all ways to it.

use crate::ids::{ControlAt, LocationAt};
use std::collections::BTreeMap;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A value that was computed, which is no address.
    Computed,
    /// A value that was loaded, or one that is an address on some ways only.
    Loaded,
    /// An address.
    Address {
        /// Of what.
        location: LocationAt,
        /// Whether nothing was added.
        is_exact: bool,
    },
}

/// What registers hold; others have their initial values, which are no addresses.
pub type Holdings = BTreeMap<String, Held>;

/// What registers hold along the code.
#[derive(Default)]
pub struct Pointers {
    now: Holdings,
    /// What they held at the beginning of each instruction that was read.
    entered: Vec<Holdings>,
    /// What they hold where a jump to an instruction further down begins.
    arriving: BTreeMap<ControlAt, Vec<Holdings>>,
    /// The instruction before does not lead to this one.
    is_cut: bool,
}

impl Pointers {
    /// What a register holds here.
    pub fn held(&self, register: &str) -> Option<Held> {
        self.now.get(register).copied()
    }

    /// A register gets a value.
    pub fn hold(&mut self, register: &str, held: Held) {
        self.now.insert(register.to_owned(), held);
    }

    /// An instruction begins.
    pub fn begin(&mut self, position: ControlAt) {
        let before = std::mem::take(&mut self.now);
        let arriving = self.arriving.remove(&position).unwrap_or_default();
        let falling = (!self.is_cut || arriving.is_empty()).then_some(before);
        self.now = arriving.into_iter().chain(falling).reduce(merged).unwrap_or_default();
        self.is_cut = false;
        self.entered.push(self.now.clone());
    }

    /// The instruction leads nowhere else than to where it jumps.
    pub fn cut(&mut self) {
        self.is_cut = true;
    }

    /// A jump; where it leads back, the registers that held other addresses there.
    pub fn jump(&mut self, from: ControlAt, to: ControlAt) -> Vec<String> {
        if to > from {
            self.arriving.entry(to).or_default().push(self.now.clone());
            return Vec::new();
        }
        let Some(entered) = self.entered.get(to.index()) else { return Vec::new() };
        let addresses = entered.iter().filter(|(_, held)| matches!(held, Held::Address { .. }));
        addresses.filter(|(name, held)| self.now.get(*name) != Some(held)).map(|(name, _)| name.clone()).collect()
    }
}

fn merged(mut left: Holdings, right: Holdings) -> Holdings {
    for (name, held) in right {
        let here = left.entry(name).or_insert(Held::Computed);
        if *here != held {
            *here = Held::Loaded;
        }
    }
    left
}
