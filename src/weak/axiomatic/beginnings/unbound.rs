//! Reads that return what is written only later.
//!
//! Where program order and reads-from have a cycle (load buffering), no order of the events has every write before the
//! reads that return it: some read must be left *unbound*, with a value that some write may have, and be bound when
//! that write comes. Which reads these can be follows from what the model keeps:
//!
//! A read and a later write of its thread are *kept* if the model forbids load buffering with them whatever closes the
//! other half, as it does for a dependency or a fence between them: the models put such pairs into one relation with
//! reads-from (`hb`, `ob`, the global memory order), which is acyclic. So every cycle of program order and reads-from
//! has a read with a later write that is not kept, and it is enough to leave such reads unbound. What is kept is
//! found out by asking the model about load buffering with one half kept by a data dependency and the other by what is
//! asked about ([`Kept`]).

use super::tree::Node;
use crate::ordering::{Marks, PartialFence};
use crate::weak::axiomatic::Model;
use crate::weak::axiomatic::access::{Access, AccessKind};
use crate::weak::axiomatic::execution::{Communication, Edges, Event, Structure};
use rustc_hash::FxHashMap;

/// What a model keeps between a read and a later write.
pub struct Kept<'m> {
    model: &'m Model,
    by_address: bool,
    by_data: bool,
    by_control: bool,
    by_marks: FxHashMap<Marks, bool>,
    by_fence: FxHashMap<Option<PartialFence>, bool>,
}

/// An unbound read in a beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// No write has come behind it.
    Fresh,
    /// All that have come are kept.
    Waiting,
    /// One that has come is not kept.
    Loose,
    /// All that come are kept: it need not be unbound.
    Settled,
}

/// One half of load buffering: what is between its read and its write.
#[derive(Clone, Copy)]
enum Between {
    Address,
    Data,
    Control,
    Marks(Marks),
    Fence(Option<PartialFence>),
}

impl Kept<'_> {
    /// What this model keeps.
    pub fn new(model: &Model) -> Kept<'_> {
        Kept {
            model,
            by_address: keeps(model, Between::Address),
            by_data: keeps(model, Between::Data),
            by_control: keeps(model, Between::Control),
            by_marks: FxHashMap::default(),
            by_fence: FxHashMap::default(),
        }
    }

    /// Whether all is kept that comes behind a read with these marks.
    pub fn behind(&mut self, marks: Marks) -> bool {
        let model = self.model;
        *self.by_marks.entry(marks).or_insert_with(|| keeps(model, Between::Marks(marks)))
    }

    fn over(&mut self, fence: Option<PartialFence>) -> bool {
        let model = self.model;
        *self.by_fence.entry(fence).or_insert_with(|| keeps(model, Between::Fence(fence)))
    }

    /// How a read of a beginning is, left unbound.
    pub fn status(&mut self, node: &Node, read: usize) -> Status {
        if self.behind(node.accesses[read].marks) {
            return Status::Settled;
        }
        let mut status = Status::Fresh;
        for (position, access) in node.accesses.iter().enumerate().skip(read + 1) {
            let fences = node.fences.iter().filter(|fence| fence.place > read && fence.place <= position);
            let is_behind_a_fence = fences.map(|fence| fence.partial).any(|partial| self.over(partial));
            let is_behind_a_branch = self.by_control && access.ctrl.contains(&read);
            if is_behind_a_fence || is_behind_a_branch {
                return Status::Settled;
            }
            if access.kind == AccessKind::Write {
                if !self.depends(access, read) {
                    return Status::Loose;
                }
                status = Status::Waiting;
            }
        }
        status
    }

    fn depends(&self, access: &Access, read: usize) -> bool {
        self.by_address && access.addr.contains(&read) || self.by_data && access.data.contains(&read)
    }
}

/// Whether the model forbids load buffering with this in one half and a data dependency in the other.
fn keeps(model: &Model, between: Between) -> bool {
    let marks = if let Between::Marks(marks) = between { marks } else { Marks::NONE };
    let mut events = vec![Event::read(0, 0).marked(marks), Event::write(0, 1), Event::read(1, 1), Event::write(1, 0)];
    let (mut write, mut edges) = (1, Edges::default());
    if let Between::Fence(partial) = between {
        events.insert(1, Event::fence(0, partial));
        write = 2;
    }
    let (other_read, other_write) = (write + 1, write + 2);
    edges.data.push((other_read, other_write));
    match between {
        Between::Address => edges.addr.push((0, write)),
        Between::Data => edges.data.push((0, write)),
        Between::Control => edges.ctrl.push((0, write)),
        Between::Marks(_) | Between::Fence(_) => {}
    }
    let structure = Structure::build(&events, &edges);
    let communication = Communication::build(&structure, &[(write, other_read), (other_write, 0)], &[]);
    !model.allows(&structure, &communication)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str) -> [bool; 8] {
        let model = Model::named(name).expect("built in");
        [
            Between::Marks(Marks::NONE),
            Between::Address,
            Between::Data,
            Between::Control,
            Between::Marks(Marks::ACQUIRE),
            Between::Fence(None),
            Between::Fence(Some(PartialFence::Lightweight)),
            Between::Fence(Some(PartialFence::Stores)),
        ]
        .map(|between| keeps(&model, between))
    }

    #[test]
    fn models_keep_what_they_are_known_to_keep() {
        let (no, yes) = (false, true);
        for name in ["sc", "tso", "pso", "rc11"] {
            assert_eq!(kept(name), [yes; 8], "{name}");
        }
        assert_eq!(kept("power"), [no, yes, yes, yes, no, yes, yes, no]);
        assert_eq!(kept("armv7"), [no, yes, yes, yes, no, yes, no, no]);
        assert_eq!(kept("armv8"), [no, yes, yes, yes, yes, yes, no, no]);
        assert_eq!(kept("riscv"), [no, yes, yes, yes, yes, yes, yes, no]);
    }
}
