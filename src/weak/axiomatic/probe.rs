//! What the axioms of a model keep of program order, found out by asking: a table of the same form as that of a memory
//! model.
//!
//! A pair of accesses in program order is *kept* if no cycle through it is allowed in which all else is ordered by full
//! fences. The cycles that are asked about have three threads: the pair; one that has seen its end, and goes on behind
//! a fence; one that has seen that, and comes, behind a fence, to its start. With every kind of access there are at
//! most twelve for a pair. Longer cycles are not asked about; so "kept" is what these cycles say, and "not kept" is
//! certain.
//!
//! At one location such a cycle says nothing: what comes before and what comes after the pair conflict themselves, and
//! coherence orders them. There the first access depends on a read of another location, and the cycle enters there.

use super::Model;
use super::execution::{Communication, Edges, Event, Structure};
use crate::memory::{Dependencies, Guarantee, Kind, MemoryModel, Pair};

/// Whether the model keeps the pair, if the second access depends on the first in these ways.
#[must_use]
pub fn keeps(model: &Model, pair: Pair, dependencies: Dependencies) -> bool {
    let kinds = [Kind::Read, Kind::Write];
    let conflict = |a: Kind, b: Kind| a == Kind::Write || b == Kind::Write;
    // At one location, the cycle comes to the read before the pair.
    let entered = if pair.same_location { Kind::Read } else { pair.first };
    let before = kinds.into_iter().filter(|kind| conflict(*kind, entered));
    before.into_iter().all(|before| {
        let after = kinds.into_iter().filter(|kind| conflict(pair.second, *kind));
        after.into_iter().all(|after| {
            let between = kinds.into_iter().flat_map(|a| kinds.map(|b| (a, b))).filter(|(a, b)| conflict(*a, *b));
            between.into_iter().all(|between| {
                let (structure, communication) = cycle(pair, dependencies, before, after, between);
                !model.allows(&structure, &communication)
            })
        })
    })
}

/// The pair in thread 0, behind a read, with what comes before and after it in the cycle: in thread 1 the access after
/// it, a fence, and the first of those between; in thread 2 the second of those, a fence, and the access before it.
fn cycle(
    pair: Pair,
    dependencies: Dependencies,
    before: Kind,
    after: Kind,
    between: (Kind, Kind),
) -> (Structure, Communication) {
    let access = |thread, kind, location| match kind {
        Kind::Read => Event::read(thread, location),
        Kind::Write => Event::write(thread, location),
    };
    let second = usize::from(!pair.same_location);
    let entry = if pair.same_location { 1 } else { 0 };
    let events = [
        Event::read(0, if pair.same_location { 1 } else { 3 }),
        access(0, pair.first, 0),
        access(0, pair.second, second),
        access(1, after, second),
        Event::fence(1, None),
        access(1, between.0, 2),
        access(2, between.1, 2),
        Event::fence(2, None),
        access(2, before, entry),
    ];
    let edge = |kind: Dependencies| if dependencies.intersects(kind) { vec![(1, 2)] } else { Vec::new() };
    let mut edges =
        Edges { addr: edge(Dependencies::ADDR), data: edge(Dependencies::DATA), ctrl: edge(Dependencies::CTRL) };
    if pair.same_location {
        let depends = if pair.first == Kind::Read { &mut edges.addr } else { &mut edges.data };
        depends.push((0, 1));
    }
    let structure = Structure::build(&events, &edges);
    // At each location, the accesses in the order of the cycle: reads read what was written last.
    let chains =
        if pair.same_location { [vec![8, 0], vec![1, 2, 3], vec![5, 6]] } else { [vec![8, 1], vec![2, 3], vec![5, 6]] };
    let (mut rf, mut co) = (Vec::new(), Vec::new());
    for chain in chains {
        let mut last = None;
        for event in chain {
            if events[event].is_write() {
                co.extend(last.map(|last| (last, event)));
                last = Some(event);
            } else {
                rf.extend(last.map(|last| (last, event)));
            }
        }
    }
    let communication = Communication::build(&structure, &rf, &co);
    (structure, communication)
}

/// Dependencies that the second access of a pair can have on the first, one by one, with their names.
fn possible(pair: Pair) -> impl Iterator<Item = (&'static str, Dependencies)> {
    let all = [("addr", Dependencies::ADDR), ("data", Dependencies::DATA), ("ctrl", Dependencies::CTRL)];
    let fits = move |name: &str| pair.first == Kind::Read && (name != "data" || pair.second == Kind::Write);
    all.into_iter().filter(move |(name, _)| fits(name))
}

/// What the axioms keep of accesses to different locations and the table does not, for people.
#[must_use]
pub fn beyond(table: &MemoryModel, model: &Model) -> Vec<String> {
    let mut more = Vec::new();
    for pair in Pair::all().filter(|pair| !pair.same_location) {
        if table.preserved.guarantee(pair) == Guarantee::Always {
            continue;
        }
        if keeps(model, pair, Dependencies::NONE) {
            more.push(pair.to_string());
            continue;
        }
        let is_more = |(_, kind): &(&str, Dependencies)| !table.preserved(pair, *kind) && keeps(model, pair, *kind);
        more.extend(possible(pair).filter(is_more).map(|(name, _)| format!("{pair} with {name}")));
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Known;

    #[test]
    fn what_a_table_keeps_the_axioms_keep() {
        let mut asked = 0;
        for known in Known::ALL {
            let Some(model) = Model::known(known) else { continue };
            let table = MemoryModel::named(known.name()).expect("built in");
            for pair in Pair::all() {
                // At one location the cycle enters by a dependency; where that is no order it says nothing of the pair.
                let entry = Pair { first: Kind::Read, second: pair.first, same_location: false };
                let depends = if pair.first == Kind::Read { Dependencies::ADDR } else { Dependencies::DATA };
                if pair.same_location && !keeps(&model, entry, depends) {
                    assert_eq!(known, Known::Rc11, "{pair}");
                    continue;
                }
                let guarantee = table.preserved.guarantee(pair);
                if guarantee == Guarantee::Always {
                    assert!(keeps(&model, pair, Dependencies::NONE), "{known}: {pair}");
                    asked += 1;
                }
                for (name, kind) in possible(pair).filter(|(_, kind)| guarantee.holds(*kind)) {
                    assert!(keeps(&model, pair, kind), "{known}: {pair} with {name}");
                    asked += 1;
                }
            }
            println!("{known}: beyond the table {:?}", beyond(&table, &model));
        }
        assert!(asked > 50, "{asked}");
    }

    /// The tables of the strong models are exact.
    #[test]
    fn nothing_is_beyond_the_tables_of_sc_tso_and_pso() {
        for known in [Known::Sc, Known::Tso, Known::Pso] {
            let (table, model) = (MemoryModel::named(known.name()).expect("built in"), Model::known(known).unwrap());
            assert_eq!(beyond(&table, &model), [""; 0], "{known}");
        }
    }
}
