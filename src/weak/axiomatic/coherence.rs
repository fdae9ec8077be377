//! The ways in which the accesses to one location can communicate, as far as SC-per-location allows.
//!
//! A way is an order of the writes (coherence) and a write, or the initial value, for each read. SC-per-location says
//! that `po-loc ∪ rf ∪ co ∪ fr` has no cycle; with `position` of a write being its place in coherence, that of a read
//! the place of the write that it reads from, and 0 the place of the initial value, this is the same as: along
//! program order positions do not decrease, and to a write they increase. For a model that does not say
//! SC-per-location, all ways are made: those for accesses of which none is before another.

use super::access::AccessKind;
use super::execution::Communication;
use crate::budget::Budget;

/// The accesses to one location.
pub struct Location<'a> {
    /// Its initial value.
    pub initial: i64,
    /// The event that writes it, if there is one.
    pub initial_write: Option<usize>,
    /// Its accesses.
    pub accesses: Vec<LocationAccess>,
    /// Whether the first comes before the second in program order.
    pub is_before: &'a dyn Fn(usize, usize) -> bool,
}

/// An access to the location.
#[derive(Clone, Copy, Debug)]
pub struct LocationAccess {
    /// The event.
    pub event: usize,
    /// Read or write.
    pub kind: AccessKind,
    /// What is read or written.
    pub value: i64,
}

/// One way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The writes in coherence order.
    pub writes: Vec<usize>,
    /// For each read, the position in coherence of what it reads: 0 for the initial value, 1 for the first write.
    pub reads: Vec<(usize, usize)>,
    /// The value at the end.
    pub last: i64,
    /// The event that writes the initial value, if there is one.
    pub initial_write: Option<usize>,
}

impl Way {
    /// Adds what it says to `rf`, `co` and `fr`.
    pub fn add_to(&self, communication: &mut Communication) {
        for (position, &write) in self.writes.iter().enumerate() {
            self.writes[position + 1..].iter().for_each(|&later| communication.co.insert(write, later));
        }
        if let Some(initial) = self.initial_write {
            self.writes.iter().for_each(|&write| communication.co.insert(initial, write));
        }
        for &(read, position) in &self.reads {
            let source = position.checked_sub(1).map(|place| self.writes[place]).or(self.initial_write);
            source.iter().for_each(|&source| communication.rf.insert(source, read));
            self.writes[position..].iter().for_each(|&later| communication.fr.insert(read, later));
        }
    }
}

impl Location<'_> {
    /// All ways that SC-per-location allows; if the budget is exhausted, some of them.
    #[must_use]
    pub fn ways(&self, budget: &Budget) -> Vec<Way> {
        let positions = vec![None; self.accesses.len()];
        let mut search = OrderSearch { location: self, positions, writes: vec![], ways: vec![], budget };
        search.place_writes();
        search.ways
    }
}

struct OrderSearch<'a> {
    location: &'a Location<'a>,
    /// For each access, its position if it has one yet.
    positions: Vec<Option<usize>>,
    /// The accesses that are writes, in coherence order.
    writes: Vec<usize>,
    ways: Vec<Way>,
    budget: &'a Budget,
}

impl OrderSearch<'_> {
    fn place_writes(&mut self) {
        let accesses = &self.location.accesses;
        let is_open = |access: &usize, positions: &[Option<usize>]| {
            accesses[*access].kind == AccessKind::Write && positions[*access].is_none()
        };
        let open: Vec<usize> = (0..accesses.len()).filter(|access| is_open(access, &self.positions)).collect();
        if open.is_empty() {
            return self.choose_reads(0);
        }
        for &write in &open {
            if self.budget.is_over() {
                break;
            }
            let comes_later = |&other: &usize| (self.location.is_before)(accesses[other].event, accesses[write].event);
            if open.iter().any(comes_later) {
                continue;
            }
            self.writes.push(write);
            self.positions[write] = Some(self.writes.len());
            self.place_writes();
            self.positions[write] = None;
            self.writes.pop();
        }
    }

    fn choose_reads(&mut self, from: usize) {
        let accesses = &self.location.accesses;
        let Some(read) = (from..accesses.len()).find(|&access| accesses[access].kind == AccessKind::Read) else {
            let reads = (0..accesses.len()).filter(|&access| accesses[access].kind == AccessKind::Read);
            self.ways.push(Way {
                writes: self.writes.iter().map(|&write| accesses[write].event).collect(),
                reads: reads.map(|read| (accesses[read].event, self.positions[read].unwrap_or(0))).collect(),
                last: self.writes.last().map_or(self.location.initial, |&write| accesses[write].value),
                initial_write: self.location.initial_write,
            });
            return;
        };
        for position in 0..=self.writes.len() {
            if self.budget.is_over() {
                break;
            }
            let value = if position == 0 { self.location.initial } else { accesses[self.writes[position - 1]].value };
            if value == accesses[read].value && self.fits(read, position) {
                self.positions[read] = Some(position);
                self.choose_reads(read + 1);
                self.positions[read] = None;
            }
        }
    }

    /// Whether a read at this position respects program order with all accesses that have a position.
    fn fits(&self, read: usize, position: usize) -> bool {
        let accesses = &self.location.accesses;
        let event = accesses[read].event;
        (0..accesses.len()).all(|other| {
            let Some(known) = self.positions[other] else { return true };
            let earlier_fits = !(self.location.is_before)(accesses[other].event, event) || known <= position;
            let later_fits = !(self.location.is_before)(event, accesses[other].event)
                || if accesses[other].kind == AccessKind::Write { position < known } else { position <= known };
            earlier_fits && later_fits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Communication, Location, LocationAccess, Way};
    use crate::memory::cat::relation::Relation;
    use crate::weak::axiomatic::access::AccessKind::{self, Read, Write};

    /// All ways, whatever they say, filtered by the axiom.
    fn by_brute_force(location: &Location<'_>, po: &Relation) -> Vec<Way> {
        let of = |kind: AccessKind| location.accesses.iter().filter(move |access| access.kind == kind);
        let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in of(Write) {
            let longer = |order: &Vec<usize>| -> Vec<Vec<usize>> {
                let open = of(Write).filter(|write| !order.contains(&write.event));
                open.map(|write| order.iter().copied().chain([write.event]).collect()).collect()
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        let value_of = |event: usize| location.accesses.iter().find(|access| access.event == event).map(|a| a.value);
        let mut ways = Vec::new();
        for writes in orders {
            let last = writes.last().and_then(|&write| value_of(write)).unwrap_or(location.initial);
            let mut found = vec![Way { writes: writes.clone(), reads: vec![], last, initial_write: None }];
            for read in of(Read) {
                let fits = |position: &usize| match position {
                    0 => location.initial == read.value,
                    _ => value_of(writes[position - 1]) == Some(read.value),
                };
                let extended = |way: &Way| -> Vec<Way> {
                    let with = |position| {
                        let mut longer = way.clone();
                        longer.reads.push((read.event, position));
                        longer
                    };
                    (0..=writes.len()).filter(fits).map(with).collect()
                };
                found = found.iter().flat_map(extended).collect();
            }
            ways.extend(found);
        }
        ways.retain(|way| {
            let mut communication = Communication::none(po.size());
            way.add_to(&mut communication);
            (po | &communication.com()).is_acyclic()
        });
        ways
    }

    /// Two threads of up to three accesses with values 0 and 1, all of them.
    #[test]
    fn ways_are_those_that_sc_per_location_allows() {
        let mut tried = 0;
        for lengths in [[1, 1], [2, 1], [2, 2], [3, 1], [3, 2]] {
            let size: usize = lengths.iter().sum();
            let thread = |event: usize| usize::from(event >= lengths[0]);
            let po = Relation::new(size, |a, b| thread(a) == thread(b) && a < b);
            for choice in 0..4_usize.pow(size as u32) {
                let access = |event: usize| {
                    let bits = choice >> (2 * event);
                    let kind = if bits & 1 == 0 { Read } else { Write };
                    LocationAccess { event, kind, value: (bits >> 1 & 1) as i64 }
                };
                let accesses = (0..size).map(access).collect();
                let location =
                    Location { initial: 0, initial_write: None, accesses, is_before: &|a, b| po.contains(a, b) };
                let (mut ways, mut expected) = (location.ways(&Budget::default()), by_brute_force(&location, &po));
                let key = |way: &Way| (way.writes.clone(), way.reads.clone());
                ways.sort_by_key(key);
                expected.sort_by_key(key);
                assert_eq!(ways, expected, "{:?}", location.accesses);
                tried += ways.len();
            }
        }
        assert!(tried > 1000);
    }
}
