//! The memory models as code, as they were before they were texts: an independent judge of the texts.
//!
//! SC, TSO, PSO, POWER and ARMv7 on executions whose fences are relations; these are made of fences that are events.

use seqcon::memory::cat::execution::{Action, Communication, Event, Structure as Events};
use seqcon::memory::cat::relation::{EventSet, Relation};
use seqcon::program::PartialFence;

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    Sc,
    Tso,
    Pso,
    Armv7,
    Power,
}

impl Model {
    /// All models, each with its name.
    pub const ALL: [(Model, &'static str); 5] =
        [(Model::Sc, "sc"), (Model::Tso, "tso"), (Model::Pso, "pso"), (Model::Armv7, "armv7"), (Model::Power, "power")];

    /// Whether the model allows the execution.
    pub fn allows(self, events: &Events, communication: &Communication) -> bool {
        let structure = &Structure::new(events);
        let com = communication.com();
        if !(&structure.po_loc | &com).is_acyclic() {
            return false;
        }
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

struct Structure {
    reads: EventSet,
    writes: EventSet,
    external: Relation,
    po: Relation,
    po_loc: Relation,
    addr: Relation,
    data: Relation,
    ctrl: Relation,
    ctrl_cfence: Relation,
    full_fence: Relation,
    lightweight_fence: Relation,
    store_fence: Relation,
    atomic: Relation,
}

impl Structure {
    fn new(of: &Events) -> Structure {
        let (size, events) = (of.size(), &of.events);
        let is_access = |event: usize| !events[event].is_fence();
        let between = |action: Action, from: &Relation| {
            Relation::new(size, |a, b| {
                let is_fence = |via: &usize| events[*via].action == action;
                is_access(a)
                    && is_access(b)
                    && (0..size).filter(is_fence).any(|via| from.contains(a, via) && of.po.contains(via, b))
            })
        };
        let partial = Action::PartialFence;
        let accesses =
            |from: &Relation| Relation::new(size, |a, b| is_access(a) && is_access(b) && from.contains(a, b));
        Structure {
            reads: EventSet::new(size, |event| Event::is_read(&events[event])),
            writes: EventSet::new(size, |event| Event::is_write(&events[event])),
            external: Relation::new(size, |a, b| events[a].thread != events[b].thread),
            po: accesses(&of.po),
            po_loc: Relation::new(size, |a, b| {
                is_access(a) && events[a].location == events[b].location && of.po.contains(a, b)
            }),
            addr: of.addr.clone(),
            data: of.data.clone(),
            ctrl: accesses(&of.ctrl),
            ctrl_cfence: between(partial(PartialFence::Control), &of.ctrl),
            full_fence: between(Action::Fence, &of.po),
            lightweight_fence: between(partial(PartialFence::Lightweight), &of.po),
            store_fence: between(partial(PartialFence::Stores), &of.po),
            atomic: of.atomic.clone(),
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
