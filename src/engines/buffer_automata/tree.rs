//! The symbolic states that a search has seen, each with the step that it was found by.

use super::acceleration::Round;
use super::space::{Space, Step, Symbolic};
use crate::ids::ThreadAt;
use crate::regular::Language;
use crate::weak::system::State;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The number of a node.
pub type NodeId = u32;

/// Which steps of a state are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// All.
    All,
    /// Those of this thread: its moves can be made before all others ([`persistent`](super::persistent)).
    Only(ThreadAt),
}

/// A symbolic state.
pub struct Node {
    /// Memory and threads, by number.
    pub shared: u32,
    /// The languages of the buffers.
    pub buffers: Box<[Language]>,
    /// The node that it was found from, and by which step.
    pub parent: Option<(NodeId, Step)>,
    /// The round that ended here and was accelerated, if one was.
    pub round: Option<Round>,
    /// Which steps are followed.
    pub followed: Followed,
    /// Steps that need not be followed from here: what they lead to is reached otherwise. Sorted.
    pub asleep: Vec<Step>,
    /// Whether it is still to be followed.
    pub is_open: bool,
    /// Whether another state includes it: then it is needed no more, but as a place on paths.
    pub is_included: bool,
}

/// All nodes.
#[derive(Default)]
pub struct Tree {
    /// By number.
    pub nodes: Vec<Node>,
    states: Vec<Rc<State>>,
    numbers: FxHashMap<Rc<State>, u32>,
    /// The nodes of each memory with threads, but for those that are included by others.
    alike: Vec<Vec<NodeId>>,
    /// All nodes by what they are: most steps lead to a state that was seen just so.
    known: FxHashMap<(u32, Box<[Language]>), NodeId>,
}

impl Tree {
    /// The number of a memory with threads.
    pub fn number(&mut self, shared: State) -> u32 {
        if let Some(&known) = self.numbers.get(&shared) {
            return known;
        }
        let (number, shared) = (self.states.len() as u32, Rc::new(shared));
        self.states.push(Rc::clone(&shared));
        self.numbers.insert(shared, number);
        self.alike.push(Vec::new());
        number
    }

    /// A node.
    #[must_use]
    pub fn node(&self, number: NodeId) -> &Node {
        &self.nodes[number as usize]
    }

    /// The state of a node.
    #[must_use]
    pub fn state(&self, number: NodeId) -> Symbolic {
        let node = self.node(number);
        Symbolic { shared: (*self.states[node.shared as usize]).clone(), buffers: node.buffers.clone() }
    }

    /// Memory and threads of a node.
    #[must_use]
    pub fn shared(&self, number: NodeId) -> &State {
        &self.states[self.node(number).shared as usize]
    }

    /// Adds a node that no other one includes.
    pub fn add(&mut self, space: &mut Space<'_>, node: Node) -> NodeId {
        let number = self.nodes.len() as NodeId;
        let nodes = &mut self.nodes;
        let alike = &mut self.alike[node.shared as usize];
        alike.retain(|&other| {
            let other = &mut nodes[other as usize];
            other.is_included = includes(space, &node.buffers, &other.buffers);
            !other.is_included
        });
        alike.push(number);
        self.known.insert((node.shared, node.buffers.clone()), number);
        nodes.push(node);
        number
    }

    /// The nodes with this memory and these threads that are included by no others.
    #[must_use]
    pub fn alike(&self, shared: u32) -> &[NodeId] {
        &self.alike[shared as usize]
    }

    /// The first node that stands for all that these languages do.
    pub fn including(&self, space: &mut Space<'_>, shared: u32, buffers: &[Language]) -> Option<NodeId> {
        let same = self.known.get(&(shared, buffers.into())).copied();
        if let Some(same) = same.filter(|&same| !self.node(same).is_included) {
            return Some(same);
        }
        self.alike(shared).iter().copied().find(|&other| includes(space, &self.node(other).buffers, buffers))
    }
}

/// Whether each language includes its counterpart.
pub fn includes(space: &mut Space<'_>, larger: &[Language], smaller: &[Language]) -> bool {
    larger.iter().zip(smaller).all(|(&larger, &smaller)| space.languages.includes(larger, smaller))
}
