//! The unsafe relation: which accesses can be executed before an access that program order has before them (method §5).
//!
//! [`chain`] is the search: from an access, over the paths of its thread, following what the chains of preserved
//! steps have reached. [`UnsafePairs`] is its result for all accesses; [`Synchronisation`] is what is in place
//! already, fences and locked instructions, which stop chains from being escaped.

pub mod chain;
pub mod open;
mod synchronisation;

pub use synchronisation::{Synchronisation, sites_between};

use crate::aeg::AbstractEventGraph;
use crate::ids::VertexId;
use crate::memory::MemoryModel;
use chain::{ChainSearch, Meeting};
use fixedbitset::FixedBitSet;
use std::ops::ControlFlow;

/// For every vertex a, the vertices b such that some path from a to b is unsafe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsafePairs {
    later: Vec<FixedBitSet>,
}

impl UnsafePairs {
    /// Computes the relation under a memory model, with what is in place already.
    #[must_use]
    pub fn new(graph: &AbstractEventGraph, model: &MemoryModel, in_place: &Synchronisation) -> UnsafePairs {
        let search = ChainSearch::new(graph, model, in_place);
        let later = graph
            .vertex_ids()
            .map(|a| {
                let mut unsafe_with_a = FixedBitSet::with_capacity(graph.vertices.len());
                search.explore(a, &mut |met, _| {
                    if let Meeting::Access { vertex, .. } = met {
                        unsafe_with_a.insert(vertex.index());
                    }
                    ControlFlow::Continue(())
                });
                unsafe_with_a
            })
            .collect();
        UnsafePairs { later }
    }

    /// Whether some path from `a` to `b` lets b be executed before a.
    #[must_use]
    pub fn contains(&self, a: VertexId, b: VertexId) -> bool {
        self.later[a.index()].contains(b.index())
    }

    /// The vertices that can be executed before `a`, although program order has them after it.
    #[must_use]
    pub fn of(&self, a: VertexId) -> &FixedBitSet {
        &self.later[a.index()]
    }

    /// Number of ordered pairs.
    #[must_use]
    pub fn num_of_pairs(&self) -> usize {
        self.later.iter().map(|set| set.count_ones(..)).sum()
    }
}
