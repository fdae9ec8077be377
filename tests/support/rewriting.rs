//! Paths of one thread and their rewritings, straight from method §3 and §5.
//!
//! A path is performed label by label: each access becomes an [`Item`] with the items that its address, its value and
//! the conditions before it came from, found by carrying sets of items through the locals. Then the path is rewritten
//! by swapping neighbours that the memory model does not keep in order, until no new order appears. Nothing of the
//! library's graph or search is used.

use seqcon::lts::label::{Access, Label, LabelKind, Step};
use seqcon::memory::{Dependencies, Kind, MemoryModel, Pair};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A vertex by its names: (instruction, kind, location). The thread is that of the path.
pub type Named = (String, Kind, String);

/// An access on a path; a whole label if that is a fence or atomic.
#[derive(Clone, Debug)]
pub struct Item {
    /// The position of its label on the path.
    pub label: usize,
    /// What it accesses; several or none in a barrier.
    pub accesses: Vec<Named>,
    pub barrier: bool,
    /// Its address is a constant.
    is_fixed: bool,
    address: BTreeSet<usize>,
    data: BTreeSet<usize>,
    control: BTreeSet<usize>,
}

impl Item {
    fn sources(&self) -> impl Iterator<Item = usize> + '_ {
        self.address.iter().chain(&self.data).chain(&self.control).copied()
    }
}

/// A performed path.
pub struct Performed {
    pub items: Vec<Item>,
}

/// Carries values while a path is performed.
#[derive(Default)]
struct Walk {
    items: Vec<Item>,
    locals: BTreeMap<String, BTreeSet<usize>>,
    /// What all conditions so far have used.
    control: BTreeSet<usize>,
    label: usize,
    instr: String,
    /// The first item of the present label.
    first: usize,
    barrier: bool,
}

/// Performs a path of labels of one thread.
pub fn perform(path: &[&Label]) -> Performed {
    let mut walk = Walk::default();
    for (position, label) in path.iter().enumerate() {
        walk.label = position;
        walk.instr.clone_from(&label.instr);
        walk.first = walk.items.len();
        walk.barrier = label.kind != LabelKind::Plain;
        if walk.barrier {
            walk.push(Vec::new());
        }
        label.steps.iter().for_each(|step| walk.step(step));
    }
    Performed { items: walk.items }
}

impl Walk {
    fn push(&mut self, accesses: Vec<Named>) -> usize {
        let (address, data, control) = Default::default();
        self.items.push(Item {
            label: self.label,
            accesses,
            barrier: self.barrier,
            is_fixed: true,
            address,
            data,
            control,
        });
        self.items.len() - 1
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Condition { reads } => {
                // Everything that the condition reads is used in it, also to compute an address.
                let mut used = BTreeSet::new();
                for read in reads {
                    let value = self.value(read, &mut used);
                    used.extend(value);
                }
                self.control.extend(used);
            }
            Step::Assignment { writes, reads } => {
                let mut value = BTreeSet::new();
                for read in reads {
                    value.extend(self.value(read, &mut BTreeSet::new()));
                }
                let addresses: Vec<BTreeSet<usize>> = writes.iter().map(|write| self.address(write)).collect();
                for (write, address) in writes.iter().zip(addresses) {
                    if write.local {
                        self.locals.insert(write.name.clone(), value.clone());
                    } else {
                        let item = self.access(Kind::Write, write, address);
                        self.items[item].data.extend(value.iter().filter(|&&source| source != item));
                    }
                }
            }
        }
    }

    fn address(&mut self, access: &Access) -> BTreeSet<usize> {
        access.address.iter().flat_map(|read| self.value(read, &mut BTreeSet::new())).collect()
    }

    /// The items that the value read comes from; `used` also gets those that addresses needed.
    fn value(&mut self, read: &Access, used: &mut BTreeSet<usize>) -> BTreeSet<usize> {
        let mut address = BTreeSet::new();
        for inner in &read.address {
            address.extend(self.value(inner, used));
        }
        used.extend(&address);
        if read.local {
            address.extend(self.locals.get(&read.name).into_iter().flatten());
            return address;
        }
        BTreeSet::from([self.access(Kind::Read, read, address)])
    }

    /// The item of this access: every mention is one, but a barrier is one with all that it accesses.
    fn access(&mut self, kind: Kind, access: &Access, address: BTreeSet<usize>) -> usize {
        let named = (self.instr.clone(), kind, access.name.clone());
        if self.barrier {
            self.items[self.first].accesses.push(named);
            return self.first;
        }
        let item = self.push(vec![named]);
        self.items[item].is_fixed = access.address.is_empty();
        self.items[item].address = address;
        self.items[item].control = self.control.clone();
        item
    }
}

/// `v` of `v[0]`, `x` of `x`.
fn variable(location: &str) -> &str {
    location.split('[').next().unwrap_or(location)
}

impl Performed {
    /// Whether program order has item `a` before item `b`: in an earlier label, or within one by a dependency, or as
    /// the text has two accesses to one location of which one writes.
    pub fn is_before(&self, a: usize, b: usize) -> bool {
        let (first, second) = (&self.items[a], &self.items[b]);
        if first.label != second.label {
            return first.label < second.label;
        }
        self.directly_before(b, |name, other, _| name == other)
            .any(|earlier| earlier == a || self.is_before(a, earlier))
    }

    /// The items of its own label that an item depends on or follows because `is_one` says that both access one
    /// location; `is_one` also gets to know whether both have constant addresses.
    fn directly_before(&self, item: usize, is_one: impl Fn(&str, &str, bool) -> bool) -> impl Iterator<Item = usize> {
        let own = &self.items[item];
        let is_coherent = |earlier: &Item| {
            let (Some((_, first, a)), Some((_, second, b))) = (earlier.accesses.first(), own.accesses.first()) else {
                return false;
            };
            let writes = *first == Kind::Write || *second == Kind::Write;
            writes && is_one(a, b, earlier.is_fixed && own.is_fixed)
        };
        let sources: BTreeSet<usize> = own.sources().collect();
        let is_before = |&earlier: &usize| {
            let other = &self.items[earlier];
            let is_direct = sources.contains(&earlier) || (earlier < item && !own.barrier && is_coherent(other));
            earlier != item && other.label == own.label && is_direct
        };
        (0..self.items.len()).filter(is_before).collect::<Vec<_>>().into_iter()
    }

    /// The length of the longest chain of accesses before the item in its own instruction, if all elements of an
    /// array whose indices are not different constants are one.
    pub fn level(&self, item: usize) -> u32 {
        let may_be_one = |a: &str, b: &str, are_fixed: bool| a == b || (variable(a) == variable(b) && !are_fixed);
        self.directly_before(item, may_be_one).map(|earlier| self.level(earlier) + 1).max().unwrap_or(0)
    }

    /// The highest level in the label at this position of the path.
    pub fn last_level(&self, label: usize) -> u32 {
        let items = (0..self.items.len()).filter(|&item| self.items[item].label == label);
        items.map(|item| self.level(item)).max().unwrap_or(0)
    }

    /// Whether the model keeps item `a` before item `b`, which program order has later or does not order.
    fn is_kept(&self, model: &MemoryModel, a: usize, b: usize) -> bool {
        let (first, second) = (&self.items[a], &self.items[b]);
        if first.barrier || second.barrier {
            return true;
        }
        if !self.is_before(a, b) {
            return false;
        }
        let ((_, kind, location), (_, later_kind, later_location)) = (&first.accesses[0], &second.accesses[0]);
        let pair = Pair { first: *kind, second: *later_kind, same_location: location == later_location };
        let uses = [
            (&second.address, Dependencies::ADDR),
            (&second.data, Dependencies::DATA),
            (&second.control, Dependencies::CTRL),
        ];
        let dependencies = uses
            .into_iter()
            .filter(|(sources, _)| sources.contains(&a))
            .fold(Dependencies::NONE, |all, (_, kind)| all.union(kind));
        model.preserved(pair, dependencies)
    }

    /// An order of the items that program order allows.
    fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        while order.len() < self.items.len() {
            let next = (0..self.items.len()).find(|&item| {
                !order.contains(&item) && (0..self.items.len()).all(|x| order.contains(&x) || !self.is_before(x, item))
            });
            order.push(next.expect("program order on a path has no cycle"));
        }
        order
    }

    /// All pairs (a, b), a before b in program order, such that some rewriting has b before a: by trying all
    /// rewritings.
    pub fn overtaking(&self, model: &MemoryModel) -> BTreeSet<(usize, usize)> {
        let start = self.in_order();
        let kept: Vec<Vec<bool>> =
            (0..start.len()).map(|a| (0..start.len()).map(|b| self.is_kept(model, a, b)).collect()).collect();
        let mut overtaking = BTreeSet::new();
        let mut seen: HashSet<Vec<usize>> = HashSet::from([start.clone()]);
        let mut stack = vec![start];
        while let Some(order) = stack.pop() {
            for (position, pair) in order.windows(2).enumerate() {
                let (a, b) = (pair[0], pair[1]);
                // A pair that was swapped before is not swapped back: that order was seen.
                if kept[a][b] || self.is_before(b, a) {
                    continue;
                }
                let mut swapped = order.clone();
                swapped.swap(position, position + 1);
                if seen.insert(swapped.clone()) {
                    for (later, &b) in swapped.iter().enumerate() {
                        overtaking
                            .extend(swapped[later + 1..].iter().filter(|&&a| self.is_before(a, b)).map(|&a| (a, b)));
                    }
                    stack.push(swapped);
                }
            }
        }
        overtaking
    }

    /// The same by the absence of chains, for paths too long to try all rewritings.
    pub fn overtaking_by_chains(&self, model: &MemoryModel) -> BTreeSet<(usize, usize)> {
        let order = self.in_order();
        let mut overtaking = BTreeSet::new();
        for (position, &a) in order.iter().enumerate() {
            let mut reached = BTreeSet::from([a]);
            for &b in &order[position + 1..] {
                if reached.iter().any(|&earlier| self.is_kept(model, earlier, b)) {
                    reached.insert(b);
                } else if self.is_before(a, b) {
                    overtaking.insert((a, b));
                }
            }
        }
        overtaking
    }
}

/// All paths of labels of one thread, from every label, up to a length; a path is a list of positions in `labels`.
pub fn paths(successors: &[Vec<usize>], starts: impl IntoIterator<Item = usize>, length: usize) -> Vec<Vec<usize>> {
    let mut paths: Vec<Vec<usize>> = starts.into_iter().map(|start| vec![start]).collect();
    let mut next = 0;
    while next < paths.len() {
        if paths[next].len() < length {
            let last = *paths[next].last().expect("paths are not empty");
            for &label in &successors[last] {
                let mut longer = paths[next].clone();
                longer.push(label);
                paths.push(longer);
            }
        }
        next += 1;
    }
    paths
}
