//! The memory models, as axioms on executions.
//!
//! | model | allowed if |
//! |---|---|
//! | SC | `po ∪ com` has no cycle |
//! | TSO | SC-per-location; `ppo ∪ fence ∪ rfe ∪ co ∪ fr` has no cycle, where `ppo` is `po` without write–read pairs |
//! | PSO | the same, where `ppo` is `po` from reads, and fences of stores count between writes |
//! | POWER | SC-per-location; no thin air: `hb = ppo ∪ fences ∪ rfe` has no cycle; observation: `fre ; prop ; hb*` is irreflexive; propagation: `co ∪ prop` has no cycle |
//! | ARMv7 | the same with other fences and another `cc0` |
//!
//! ([`com`](Communication::com) is `rf ∪ co ∪ fr`; `e` and `i` behind a name mean between different threads, and
//! inside one.) POWER and ARMv7 are those of "Herding cats" (Alglave, Maranget and Tautschnig, ACM TOPLAS 36(2),
//! 2014), sections 5 and 6: preserved program order is the least fixpoint of four relations between the *init* and
//! *commit* parts of instructions, `ii`, `ic`, `ci` and `cc`. Of the fences, `sync`, `dmb` and `mfence` are full;
//! `lwsync` orders all but write–read pairs, `eieio` writes, and `isync` and `isb` what a branch before them depends
//! on. ARMv7 has no lightweight fence; there `dmb.st` is as strong as `dmb` between writes. On SC and TSO only full
//! fences count; on PSO those that order writes do so there, too.
//!
//! *Atomic instructions* have a full fence on both sides and are indivisible under every model: no chain of the
//! model's ordering and of communication between threads leaves such an instruction by one access and comes back to
//! another one ([`is_torn`]). For SC, TSO and PSO that is to contract the instruction to one event. (POWER has no
//! such instructions. This says of them what the analysis presumes of a locked instruction.)
//!
//! All relations only grow with `rf`, `co` and `fr`; so an execution whose communication is only partly known and
//! that is forbidden stays forbidden, which the enumeration uses. SC-per-location holds for all executions that
//! [`coherence`](super::coherence) makes; it is checked again here in debug builds.

use super::execution::{Communication, Structure};
use super::relation::Relation;

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order: x86.
    Tso,
    /// Partial store order: SPARC.
    Pso,
    /// ARM, version 7.
    Armv7,
    /// POWER.
    Power,
}

impl Model {
    /// All models, each with the name of its table in [`memory`](crate::memory).
    #[cfg(feature = "internals")]
    pub const ALL: [(Model, &'static str); 5] =
        [(Model::Sc, "sc"), (Model::Tso, "tso"), (Model::Pso, "pso"), (Model::Armv7, "armv7"), (Model::Power, "power")];

    /// Whether the model allows the execution, as far as its communication is known.
    #[must_use]
    pub fn allows(self, structure: &Structure, communication: &Communication) -> bool {
        let com = communication.com();
        debug_assert!((&structure.po_loc | &com).is_acyclic(), "SC-per-location holds by construction");
        match self {
            Model::Sc => is_one_order(structure, &(&structure.po | &com)),
            Model::Tso => {
                let write_read = structure.po.restricted(&structure.writes, &structure.reads);
                let ppo = &structure.po - &write_read;
                is_one_order(structure, &global_order(structure, communication, &ppo))
            }
            Model::Pso => {
                let Structure { reads, writes, store_fence, lightweight_fence, .. } = structure;
                let ordered = (store_fence | lightweight_fence).restricted(writes, writes);
                let ppo = &structure.po.starting_in(reads) | &ordered;
                is_one_order(structure, &global_order(structure, communication, &ppo))
            }
            Model::Armv7 | Model::Power => Relaxed::new(self, structure, communication).is_allowed(),
        }
    }
}

/// What all threads agree on when a store is seen by all others at once.
fn global_order(structure: &Structure, communication: &Communication, ppo: &Relation) -> Relation {
    let rfe = &communication.rf & &structure.external;
    ppo | &structure.full_fence | &rfe | &communication.co | &communication.fr
}

/// Whether the events can be put into one order, with atomic instructions in one piece.
fn is_one_order(structure: &Structure, order: &Relation) -> bool {
    order.is_acyclic() && !is_torn(structure, order)
}

/// Whether a chain of the order leaves an atomic instruction by one access and comes back to another one. On the way
/// it may pass through other atomic instructions, in at one access and out at another.
fn is_torn(structure: &Structure, order: &Relation) -> bool {
    let atomic = &structure.atomic;
    if atomic.is_empty() {
        return false;
    }
    let outside = order - atomic;
    let chain = outside.then(&atomic.clone().optional()).star().then(&outside);
    !atomic.then(&chain).is_irreflexive()
}

/// The parts of the model for POWER and ARMv7.
struct Relaxed<'a> {
    structure: &'a Structure,
    communication: &'a Communication,
    ffence: Relation,
    hb: Relation,
    hb_star: Relation,
    prop: Relation,
}

impl<'a> Relaxed<'a> {
    fn new(model: Model, structure: &'a Structure, communication: &'a Communication) -> Relaxed<'a> {
        let Structure { reads, writes, external, .. } = structure;
        let write_write = structure.store_fence.restricted(writes, writes);
        let (ffence, lwfence) = if model == Model::Power {
            let lwsync = &structure.lightweight_fence;
            (structure.full_fence.clone(), &(lwsync - &lwsync.restricted(writes, reads)) | &write_write)
        } else {
            (&structure.full_fence | &write_write, Relation::empty(structure.po.size()))
        };
        let fences = &ffence | &lwfence;
        let rfe = &communication.rf & external;
        let hb = ppo(model, structure, communication) | &fences | &rfe;
        let hb_star = hb.clone().star();
        let prop_base = rfe.optional().then(&fences).then(&hb_star);
        let strong = communication.com().star().then(&prop_base.clone().star()).then(&ffence).then(&hb_star);
        let prop = prop_base.restricted(writes, writes) | &strong;
        Relaxed { structure, communication, ffence, hb, hb_star, prop }
    }

    fn is_allowed(&self) -> bool {
        let no_thin_air = || self.hb.is_acyclic();
        let fre = &self.communication.fr & &self.structure.external;
        let observation = || fre.then(&self.prop).then(&self.hb_star).is_irreflexive();
        let propagation = || (&self.communication.co | &self.prop).is_acyclic();
        let whole = || {
            // Reading one's own write early is no order that others could see.
            let order = &self.hb | &self.prop | &self.ffence | &self.communication.co | &self.communication.fr;
            !is_torn(self.structure, &order)
        };
        no_thin_air() && observation() && propagation() && whole()
    }
}

/// Preserved program order.
fn ppo(model: Model, structure: &Structure, communication: &Communication) -> Relation {
    let Structure { reads, writes, external, po, po_loc, addr, data, ctrl, ctrl_cfence, .. } = structure;
    let rfe = &communication.rf & external;
    let rfi = &communication.rf - external;
    let fre = &communication.fr & external;
    let coe = &communication.co & external;
    let dp = addr | data;
    let rdw = po_loc & &fre.then(&rfe);
    let detour = po_loc & &coe.then(&rfe);
    let ii0 = dp.clone() | &rdw | &rfi;
    let ci0 = ctrl_cfence | &detour;
    let mut cc0 = dp | ctrl | &addr.then(po);
    if model == Model::Power {
        cc0 = cc0 | po_loc;
    }
    let (mut ii, mut ci, mut ic, mut cc) = (ii0, ci0, Relation::empty(po.size()), cc0);
    loop {
        let next_ii = &ii | &ci | &ic.then(&ci) | &ii.then(&ii);
        let next_ci = &ci | &ci.then(&next_ii) | &cc.then(&ci);
        let next_ic = &ic | &next_ii | &cc | &ic.then(&cc) | &next_ii.then(&ic);
        let next_cc = &cc | &next_ci | &next_ci.then(&next_ic) | &cc.then(&cc);
        if next_ii == ii && next_ci == ci && next_ic == ic && next_cc == cc {
            return ii.restricted(reads, reads) | &ic.restricted(reads, writes);
        }
        (ii, ci, ic, cc) = (next_ii, next_ci, next_ic, next_cc);
    }
}
