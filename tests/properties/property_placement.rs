//! Exact placement is the cheapest of all choices of points and strengths, greedy is never cheaper, and the second
//! look agrees (method §9, §10).

use crate::support::analyse::models;
use crate::support::demands::{Demand, Fences, demands};
use crate::support::random::random_cases;
use crate::support::random_facts::{Shape, random_facts, with_control_states};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, ModelOutcome, Options};
use seqcon::cycles::{Atomicity, ConflictRule, Delay};
use seqcon::facts::Facts;
use seqcon::ids::ThreadId;
use seqcon::memory::FenceStrength;
use seqcon::outline::{Place, Site};
use seqcon::placement::cost::Costs;
use seqcon::placement::{Method, Minimality, Problem, place, recheck};
use seqcon::safety::Synchronisation;
use std::collections::BTreeSet;
use std::fmt::Write;

struct Case {
    facts: Facts,
    analysis: Analysis,
    costs: Costs,
    outcome: ModelOutcome,
}

impl Case {
    /// A random program that needs fences.
    fn random(rng: &mut StdRng, shape: &Shape) -> Case {
        loop {
            let mut facts = random_facts(rng, shape);
            if rng.random_bool(0.5) {
                facts = with_control_states(rng, facts);
            }
            let analysis = Analysis::new(facts.clone(), Profile::Sound);
            let costs = random_costs(rng, &analysis);
            let options = Options {
                conflicts: *[ConflictRule::Auto, ConflictRule::Reachable].choose(rng).expect("not empty"),
                atomicity: *[Atomicity::Split, Atomicity::Split, Atomicity::Full].choose(rng).expect("not empty"),
                costs: costs.clone(),
                ..Options::default()
            };
            let outcome = analysis.run(models().choose(rng).expect("not empty"), &options);
            if !outcome.findings.delays.is_empty() {
                return Case { facts, analysis, costs, outcome };
            }
        }
    }

    fn greedy(&self) -> Fences {
        let problem = Problem {
            graph: &self.analysis.graph,
            model: &self.outcome.model,
            delays: &self.outcome.findings.delays,
            in_place: &self.outcome.findings.in_place,
            costs: &self.costs,
        };
        place(&problem, Method::Greedy).fences
    }

    fn second_look(&self, fences: &Fences) -> bool {
        self.second_look_at(fences, &self.outcome.findings.delays)
    }

    fn second_look_at(&self, fences: &Fences, delays: &[Delay]) -> bool {
        let in_place = Synchronisation { fences: fences.clone(), ..self.outcome.findings.in_place.clone() };
        recheck::is_enough(&self.analysis.graph, &self.outcome.model, &in_place, delays)
    }

    fn describe(&self) -> String {
        let labels: Vec<String> = self.facts.labels.iter().map(ToString::to_string).collect();
        let follows: Vec<_> = self.facts.follows.iter().map(|pair| (pair.from.0, pair.to.0)).collect();
        let (model, fences) = (&self.outcome.model.name, &self.outcome.placement.fences);
        format!("{model} {labels:#?}\n{follows:?}\n{:?}\n{fences:?}", self.costs)
    }

    fn is_of(&self, point: Site, thread: ThreadId) -> bool {
        self.analysis.graph.thread_of(point.instr) == thread
    }
}

/// All fences cost the same, or each point has its own factor; cumulative fences cost as much as plain ones or more.
fn random_costs(rng: &mut StdRng, analysis: &Analysis) -> Costs {
    if rng.random_bool(0.4) {
        return Costs::default();
    }
    // With costs that differ much there are very many cheap choices to try.
    let plain = rng.random_range(1..=2);
    let mut text = format!("plain = {plain}\ncumulative = {}\n[points]\n", plain + rng.random_range(0..=1));
    let name_of = |point: Site| format!("{} {:?}", point.instr.0, point.place);
    for point in analysis.graph.sites() {
        if rng.random_bool(0.5) {
            writeln!(text, "\"{}\" = {}", name_of(point), rng.random_range(1..=3)).expect("a string takes everything");
        }
    }
    Costs::from_toml(&text, &analysis.graph, name_of).expect("the costs are in range")
}

/// What the exact placement minimises, in this order: cost, number of cumulative fences, awkwardness of the places.
fn price(costs: &Costs, fences: &Fences) -> (u64, usize, usize) {
    let cumulative = fences.values().filter(|&&strength| strength == FenceStrength::Cumulative).count();
    let awkward = |point: &Site| match point.place {
        Place::After | Place::On => 0,
        Place::Before => 1,
        Place::Inside(_) => 2,
        Place::State => 1 << 20,
    };
    (costs.total(fences), cumulative, fences.keys().map(awkward).sum())
}

/// The least price of all choices for these points that satisfy `is_enough` and cost at most `bound`.
fn least_price(
    costs: &Costs,
    points: &[Site],
    chosen: &mut Fences,
    bound: u64,
    is_enough: &dyn Fn(&Fences) -> bool,
) -> Option<(u64, usize, usize)> {
    if costs.total(chosen) > bound {
        return None;
    }
    let Some((&point, rest)) = points.split_first() else {
        return is_enough(chosen).then(|| price(costs, chosen));
    };
    let mut least = least_price(costs, rest, chosen, bound, is_enough);
    for strength in [FenceStrength::Plain, FenceStrength::Cumulative] {
        chosen.insert(point, strength);
        let with_it = least_price(costs, rest, chosen, bound, is_enough);
        least = least.into_iter().chain(with_it).min();
        chosen.remove(&point);
    }
    least
}

const LOOP_FREE: Shape =
    Shape { most_threads: 3, most_instrs: 3, most_locations: 3, most_accesses: 5, loops: false, dependencies: true };

#[test]
fn exact_placement_is_the_cheapest_of_all_choices() {
    random_cases(1000, |rng| {
        let case = Case::random(rng, &LOOP_FREE);
        let demands = demands(&case.facts, &case.analysis, &case.outcome);
        assert!((case.outcome.placement.minimality == Minimality::EventGraph));
        for thread in (0..case.analysis.graph.threads.len()).map(ThreadId::new) {
            let fences: Fences =
                case.outcome.placement.fences.clone().into_iter().filter(|(p, _)| case.is_of(*p, thread)).collect();
            let none = BTreeSet::new();
            let asked: &BTreeSet<Demand> = demands.get(&thread).unwrap_or(&none);
            let unmet = asked.iter().find(|demand| !demand.is_met(&fences));
            assert!(unmet.is_none(), "{unmet:?} is left in {}", case.describe());
            // Points that no path crosses are of no use to anybody.
            let useful: BTreeSet<Site> = asked.iter().flat_map(|demand| demand.points.iter().copied()).collect();
            let useful: Vec<Site> = useful.into_iter().collect();
            let is_enough = |fences: &Fences| asked.iter().all(|demand| demand.is_met(fences));
            let bound = case.costs.total(&fences);
            let least = least_price(&case.costs, &useful, &mut Fences::new(), bound, &is_enough);
            assert_eq!(least, Some(price(&case.costs, &fences)), "{}", case.describe());
        }
    });
}

/// Preferred sites decide between equals, and change no cost and no proof.
#[test]
fn preferred_sites_change_no_cost() {
    random_cases(100, |rng| {
        let case = Case::random(rng, &LOOP_FREE);
        let exact = &case.outcome.placement;
        let familiar: BTreeSet<Site> =
            case.analysis.graph.sites().into_iter().filter(|_| rng.random_bool(0.4)).collect();
        let costs = case.costs.preferring(familiar.iter().copied());
        let problem = Problem {
            graph: &case.analysis.graph,
            model: &case.outcome.model,
            delays: &case.outcome.findings.delays,
            in_place: &case.outcome.findings.in_place,
            costs: &costs,
        };
        let preferring = place(&problem, Method::Exact);
        assert_eq!((preferring.cost, preferring.minimality), (exact.cost, exact.minimality), "{}", case.describe());
        assert!(case.second_look(&preferring.fences), "{}", case.describe());
        let cumulative = |fences: &Fences| fences.values().filter(|s| **s == FenceStrength::Cumulative).count();
        let unfamiliar = |fences: &Fences| fences.keys().filter(|site| !familiar.contains(site)).count();
        assert_eq!(cumulative(&preferring.fences), cumulative(&exact.fences), "{}", case.describe());
        assert!(unfamiliar(&preferring.fences) <= unfamiliar(&exact.fences), "{}", case.describe());
    });
}

#[test]
fn second_look_agrees_with_the_paths_on_any_choice_of_fences() {
    random_cases(1000, |rng| {
        let case = Case::random(rng, &LOOP_FREE);
        let demands = demands(&case.facts, &case.analysis, &case.outcome);
        let is_enough = |fences: &Fences| demands.values().flatten().all(|demand| demand.is_met(fences));
        let exact = &case.outcome.placement.fences;
        assert!(is_enough(exact) && case.second_look(exact));
        let points: Vec<Site> = case.analysis.graph.sites().into_iter().collect();
        for _ in 0..10 {
            // Near to what is enough, both answers are likely.
            let mut fences = if rng.random_bool(0.5) { exact.clone() } else { case.greedy() };
            for _ in 0..rng.random_range(0..3) {
                let point = *points.choose(rng).expect("there are points");
                fences.remove(&point);
                let in_use: Vec<Site> = fences.keys().copied().collect();
                if let Some(point) = in_use.choose(rng) {
                    fences.remove(point);
                }
                if rng.random_bool(0.7) {
                    let strengths = [FenceStrength::Plain, FenceStrength::Cumulative];
                    fences.insert(point, *strengths.choose(rng).expect("not empty"));
                }
            }
            assert_eq!(case.second_look(&fences), is_enough(&fences), "{fences:?} in {}", case.describe());
        }
    });
}

#[test]
fn greedy_placement_is_enough_and_never_cheaper() {
    random_cases(1000, |rng| {
        let shape = Shape { loops: rng.random_bool(0.5), ..LOOP_FREE };
        let case = Case::random(rng, &shape);
        let greedy = case.greedy();
        assert!(case.second_look(&greedy), "greedy {greedy:?} in {}", case.describe());
        assert!(case.costs.total(&greedy) >= case.outcome.placement.cost, "{}", case.describe());
    });
}

#[test]
fn every_fence_of_an_exact_placement_is_needed() {
    random_cases(1000, |rng| {
        let shape = Shape { loops: rng.random_bool(0.5), ..LOOP_FREE };
        let case = Case::random(rng, &shape);
        let exact = &case.outcome.placement.fences;
        assert!(case.outcome.recheck.enough && case.outcome.recheck.each_needed, "{}", case.describe());
        for point in exact.keys() {
            let mut less = exact.clone();
            less.remove(point);
            assert!(!case.second_look(&less), "{point:?} is superfluous in {}", case.describe());
        }
    });
}

#[test]
fn exact_placement_is_the_cheapest_with_loops_too() {
    // Paths round loops are endless, so the second look, which the test above holds against paths, is the judge.
    let shape = Shape { loops: true, most_threads: 2, most_instrs: 2, most_accesses: 4, ..LOOP_FREE };
    random_cases(1000, |rng| {
        let case = Case::random(rng, &shape);
        let exact = &case.outcome.placement.fences;
        for thread in (0..case.analysis.graph.threads.len()).map(ThreadId::new) {
            let own: Fences = exact.clone().into_iter().filter(|(point, _)| case.is_of(*point, thread)).collect();
            let points: Vec<Site> =
                case.analysis.graph.sites().into_iter().filter(|&point| case.is_of(point, thread)).collect();
            let thread_of = |delay: &Delay| case.analysis.graph.vertex(delay.from).thread;
            let all = case.outcome.findings.delays.iter();
            let delays: Vec<Delay> = all.filter(|delay| thread_of(delay) == thread).cloned().collect();
            let is_enough = |fences: &Fences| case.second_look_at(fences, &delays);
            let bound = case.costs.total(&own);
            let least = least_price(&case.costs, &points, &mut Fences::new(), bound, &is_enough);
            assert_eq!(least, Some(price(&case.costs, &own)), "{}", case.describe());
        }
    });
}
