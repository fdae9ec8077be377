//! The insertion loop against trying every set of fences.

use crate::support::random::random_cases;
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::budget::Budget;
use seqcon::ids::InstrId;
use seqcon::insertion::{Answer, Candidate, Choice, Demand, Fences, Insertion, all_minimal, fewest};
use seqcon::memory::FenceStrength;
use seqcon::outline::Site;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

const STRENGTHS: [FenceStrength; 2] = [FenceStrength::Plain, FenceStrength::Cumulative];

/// A property that holds if all demands are met; the checker tells one that is not.
struct Game {
    candidates: Vec<Candidate>,
    weights: Vec<u64>,
    demands: BTreeSet<Demand>,
}

impl Game {
    fn random(rng: &mut StdRng) -> Game {
        let num_of_sites = rng.random_range(1..=5);
        let sites: Vec<Site> = (0..num_of_sites).map(|position| Site::after(InstrId::new(position))).collect();
        let candidates: Vec<Candidate> =
            sites.iter().flat_map(|&site| STRENGTHS.map(|strength| (site, strength))).collect();
        let weights = candidates.iter().map(|_| rng.random_range(1..=3)).collect();
        let mut demands = BTreeSet::new();
        for _ in 0..rng.random_range(0..6) {
            let sites: BTreeSet<Site> = sites.iter().copied().filter(|_| rng.random_bool(0.4)).collect();
            let sites: BTreeMap<Site, FenceStrength> =
                sites.into_iter().map(|site| (site, STRENGTHS[rng.random_range(0..2)])).collect();
            if !sites.is_empty() {
                demands.insert(Demand { sites });
            }
        }
        Game { candidates, weights, demands }
    }

    fn weight(&self, candidate: Candidate) -> u64 {
        self.weights[self.candidates.iter().position(|&known| known == candidate).expect("one of them")]
    }

    fn total(&self, fences: &Fences) -> u64 {
        fences.iter().map(|(&site, &strength)| self.weight((site, strength))).sum()
    }

    fn answer(&self, fences: &Fences) -> Answer<()> {
        match self.demands.iter().find(|demand| !demand.is_met_by(fences)) {
            None => Answer::Holds,
            Some(demand) => Answer::Fails(BTreeSet::from([demand.clone()])),
        }
    }

    /// All sets of fences, at most one at each site.
    fn all_fences(&self) -> Vec<Fences> {
        let mut all = vec![Fences::new()];
        for pair in self.candidates.chunks(2) {
            let with = |fences: &Fences| {
                pair.iter()
                    .map(|&(site, strength)| fences.clone().into_iter().chain([(site, strength)]).collect())
                    .collect()
            };
            let more: Vec<Fences> = all.iter().flat_map(|fences| -> Vec<Fences> { with(fences) }).collect();
            all.extend(more);
        }
        all
    }
}

#[test]
fn the_fewest_fences_are_those_that_trying_all_finds() {
    let ties = Cell::new(0);
    random_cases(2000, |rng| {
        let game = Game::random(rng);
        let first = |candidate| game.weight(candidate);
        let second = |(site, _): Candidate| u64::from(site.instr.0 % 2);
        let both =
            |fences: &Fences| (game.total(fences), fences.iter().map(|(&site, &kind)| second((site, kind))).sum());
        let enough = game.all_fences().into_iter().filter(|fences| game.answer(fences) == Answer::Holds);
        let all: Vec<(u64, u64)> = enough.map(|fences| both(&fences)).collect();
        let least = *all.iter().min().expect("fences everywhere are enough");
        ties.set(ties.get() + usize::from(all.iter().any(|other| other.0 == least.0 && *other != least)));
        let choice = Choice { candidates: &game.candidates, weights: &[&first, &second], budget: &Budget::default() };
        let found = fewest(&choice, [], &mut |fences: &Fences| game.answer(fences));
        let Insertion::Fewest(fences) = found else { panic!("{found:?}") };
        assert_eq!((game.answer(&fences), both(&fences)), (Answer::Holds, least), "{:?}", game.demands);
        let told = fewest(&choice, game.demands.clone(), &mut |_: &Fences| Answer::<()>::Holds);
        assert!(matches!(told, Insertion::Fewest(told) if both(&told) == least), "the demands are all there is");
    });
    assert!(ties.get() > 100, "the second weight decides now and then: {}", ties.get());
}

#[test]
fn the_minimal_sets_are_those_that_trying_all_finds() {
    random_cases(2000, |rng| {
        let mut game = Game::random(rng);
        let plain = |mut demand: Demand| {
            demand.sites.values_mut().for_each(|strength| *strength = FenceStrength::Plain);
            demand
        };
        game.demands = game.demands.into_iter().map(plain).collect();
        let is_allowed = |site: Site| site.instr.0 != 1;
        let sets =
            game.all_fences().into_iter().filter(|fences| fences.values().all(|&kind| kind == FenceStrength::Plain));
        let sets = sets.filter(|fences| fences.keys().all(|&site| is_allowed(site)));
        let enough: Vec<Fences> = sets.filter(|fences| game.answer(fences) == Answer::Holds).collect();
        let sites = |fences: &Fences| fences.keys().copied().collect::<BTreeSet<Site>>();
        let is_minimal =
            |fences: &&Fences| !enough.iter().any(|less| less != *fences && sites(less).is_subset(&sites(fences)));
        let expected: BTreeSet<BTreeSet<Site>> = enough.iter().filter(is_minimal).map(sites).collect();
        let (found, complete) =
            all_minimal(is_allowed, usize::MAX, &mut |fences: &Fences| game.answer(fences), &Budget::default())
                .expect("it always decides");
        assert!(complete && found.is_sorted_by_key(BTreeSet::len), "{found:?}");
        assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected, "{:?}", game.demands);
        if expected.len() > 1 {
            let (first, complete) =
                all_minimal(is_allowed, 1, &mut |fences: &Fences| game.answer(fences), &Budget::default())
                    .expect("it always decides");
            assert_eq!((first.len(), complete), (1, false));
        }
    });
}

#[test]
fn what_no_candidate_meets_is_unfixable_and_who_stops_leaves_a_bound() {
    let [a, b] = [0, 1].map(|position| Site::after(InstrId::new(position)));
    let demand = |site| Demand::of([site], FenceStrength::Plain);
    let candidates = [(a, FenceStrength::Plain)];
    let weight = |_: Candidate| 1;
    let choice = Choice { candidates: &candidates, weights: &[&weight], budget: &Budget::default() };
    let asks_for = |asked: Site| {
        move |fences: &Fences| {
            if fences.contains_key(&asked) { Answer::Holds } else { Answer::Fails(BTreeSet::from([demand(asked)])) }
        }
    };
    let found: Insertion<()> = fewest(&choice, [], &mut asks_for(b));
    assert_eq!(found, Insertion::Unfixable(demand(b)));
    let found: Insertion<()> = fewest(&choice, [demand(b)], &mut asks_for(a));
    assert_eq!(found, Insertion::Unfixable(demand(b)));
    // A demand of one fence is known when the checker stops: less than one is not enough.
    let mut checker = |fences: &Fences| match fences.len() {
        0 => Answer::Fails(BTreeSet::from([demand(a)])),
        _ => Answer::Undecided("out of states"),
    };
    let found = fewest(&choice, [], &mut checker);
    assert_eq!(found, Insertion::Undecided(Fences::from([(a, FenceStrength::Plain)]), "out of states"));
}
