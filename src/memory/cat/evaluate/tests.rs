//! Relations against sets of pairs, and what is forbidden early against what is forbidden at the end.

use super::*;
use crate::memory::cat::error::Source;
use crate::memory::cat::execution::{Edges, Event};
use crate::memory::cat::parser::parse;
use crate::memory::cat::relation::Relation;
use crate::memory::cat::syntax::{Expression, ExpressionKind, Statement};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::sync::Arc;

type Pairs = BTreeSet<(usize, usize)>;

/// Sets are pairs of an event with itself here.
fn by_pairs(expression: &Expression, size: usize, base: &dyn Fn(&str) -> Pairs) -> Pairs {
    let of = |part: &Expression| by_pairs(part, size, base);
    let everything: Pairs = (0..size).flat_map(|a| (0..size).map(move |b| (a, b))).collect();
    let then = |a: &Pairs, b: &Pairs| -> Pairs {
        a.iter().flat_map(|x| b.iter().filter(|y| x.1 == y.0).map(|y| (x.0, y.1))).collect()
    };
    match &expression.kind {
        ExpressionKind::Name(name) => base(name),
        ExpressionKind::Empty => Pairs::new(),
        ExpressionKind::Universe => (0..size).map(|event| (event, event)).collect(),
        ExpressionKind::Union(parts) => parts.iter().flat_map(of).collect(),
        ExpressionKind::Intersection(parts) => {
            let all: Vec<Pairs> = parts.iter().map(of).collect();
            all[0].iter().filter(|pair| all.iter().all(|part| part.contains(pair))).copied().collect()
        }
        ExpressionKind::Sequence(parts) => {
            let all: Vec<Pairs> = parts.iter().map(of).collect();
            all[1..].iter().fold(all[0].clone(), |left, right| then(&left, right))
        }
        ExpressionKind::Difference(a, b) => of(a).difference(&of(b)).copied().collect(),
        ExpressionKind::Complement(a) => everything.difference(&of(a)).copied().collect(),
        ExpressionKind::Product(a, b) => {
            let (a, b) = (of(a), of(b));
            a.iter().flat_map(|x| b.iter().map(|y| (x.0, y.0))).collect()
        }
        ExpressionKind::Identity(a) => of(a),
        ExpressionKind::Postfix(operator, a) => {
            let a = of(a);
            let identity: Pairs = (0..size).map(|event| (event, event)).collect();
            let mut closed = a.clone();
            for _ in 0..size {
                closed.extend(then(&closed, &a));
            }
            match operator {
                Postfix::Plus => closed,
                Postfix::Star => closed.union(&identity).copied().collect(),
                Postfix::Optional => a.union(&identity).copied().collect(),
                Postfix::Inverse => a.iter().map(|(x, y)| (*y, *x)).collect(),
            }
        }
        ExpressionKind::Application(name, arguments) => {
            let a = of(&arguments[0]);
            a.iter().map(|(x, y)| if name == "domain" { (*x, *x) } else { (*y, *y) }).collect()
        }
    }
}

fn random_set(rng: &mut StdRng, depth: usize) -> String {
    match rng.random_range(0..if depth == 0 { 4 } else { 8 }) {
        0 => "R".to_owned(),
        1 => "W".to_owned(),
        2 => "F".to_owned(),
        3 => "_".to_owned(),
        4 => format!("({} | {})", random_set(rng, depth - 1), random_set(rng, depth - 1)),
        5 => format!("({} \\ {})", random_set(rng, depth - 1), random_set(rng, depth - 1)),
        6 => format!("domain({})", random_relation(rng, depth - 1)),
        _ => format!("range({})", random_relation(rng, depth - 1)),
    }
}

fn random_relation(rng: &mut StdRng, depth: usize) -> String {
    const BASES: [&str; 8] = ["po", "rf", "co", "fr", "addr", "ext", "loc", "id"];
    if depth == 0 {
        return BASES[rng.random_range(0..BASES.len())].to_owned();
    }
    let mut inner = || random_relation(rng, depth - 1);
    let (a, b) = (inner(), inner());
    match rng.random_range(0..13) {
        0 => format!("({a} | {b})"),
        1 => format!("({a} & {b})"),
        2 => format!("({a} \\ {b})"),
        3 | 4 => format!("({a} ; {b})"),
        5 => format!("{a}*"),
        6 => format!("{a}+"),
        7 => format!("{a}?"),
        8 => format!("{a}^-1"),
        9 => format!("~{a}"),
        10 => format!("([{}] ; {a})", random_set(rng, depth - 1)),
        11 => format!("({a} ; [{}])", random_set(rng, depth - 1)),
        _ => format!("(({} * {}) & {a})", random_set(rng, depth - 1), random_set(rng, depth - 1)),
    }
}

fn random_structure(rng: &mut StdRng, size: usize) -> Structure {
    let event = |rng: &mut StdRng| {
        let (thread, location) = (rng.random_range(0..3), rng.random_range(0..2));
        match rng.random_range(0..5) {
            0 | 1 => Event::read(thread, location),
            2 | 3 => Event::write(thread, location),
            _ => Event::fence(thread, None),
        }
    };
    let events: Vec<Event> = (0..size).map(|_| event(rng)).collect();
    let addr = (0..3).map(|_| (rng.random_range(0..size), rng.random_range(0..size))).collect();
    Structure::build(&events, &Edges { addr, ..Edges::default() })
}

fn random_pairs(rng: &mut StdRng, size: usize) -> Relation {
    Relation::new(size, |_, _| rng.random_range(0..size * 2) < 3)
}

/// What the operand of the only axiom is.
fn value(axioms: &Axioms, structure: &Structure, communication: &Communication) -> Pairs {
    let mut prepared = Prepared::new(axioms, structure, false).unwrap();
    if prepared.plans.is_empty() {
        return Pairs::new();
    }
    prepared.load(communication);
    prepared.is_violated(0);
    let rows = prepared.bits.of(axioms.axioms()[0].operand);
    let words = prepared.bits.shape.words;
    let has = |a: usize, b: usize| rows[a * words + b / 64] >> (b % 64) & 1 == 1;
    let size = structure.size();
    (0..size).flat_map(|a| (0..size).map(move |b| (a, b))).filter(|&(a, b)| has(a, b)).collect()
}

/// Also beyond one word.
#[test]
fn relations_are_what_sets_of_pairs_are() {
    let mut rng = StdRng::seed_from_u64(7);
    let mut of_some = 0;
    for case in 0..400 {
        let size = if case % 100 == 0 { 66 } else { rng.random_range(1..8) };
        let structure = random_structure(&mut rng, size);
        let [rf, co, fr] = [(); 3].map(|()| random_pairs(&mut rng, size));
        let communication = Communication { rf, co, fr };
        let text = format!("empty {}", random_relation(&mut rng, if size > 8 { 1 } else { 4 }));
        let axioms = Axioms::from_text("t.cat", &text).unwrap_or_else(|error| panic!("{error}"));
        let parsed = parse(&Arc::new(Source { name: "t.cat".to_owned(), text: text.clone() })).unwrap();
        let Some(Statement::Check(check)) = parsed.statements.first() else { panic!("{text}") };
        let base = |name: &str| -> Pairs {
            let set = |has: fn(&Event) -> bool| {
                (0..size).filter(|&event| has(&structure.events[event])).map(|event| (event, event)).collect()
            };
            match name {
                "R" => set(Event::is_read),
                "W" => set(Event::is_write),
                "F" => set(Event::is_fence),
                "rf" => communication.rf.pairs().collect(),
                "co" => communication.co.pairs().collect(),
                "fr" => communication.fr.pairs().collect(),
                other => {
                    let base = Base::ALL.iter().find(|(known, _)| *known == other).unwrap().1;
                    base.of(&structure).unwrap().pairs().collect()
                }
            }
        };
        let expected = by_pairs(&check.operand, size, &base);
        of_some += usize::from(!expected.is_empty());
        assert_eq!(value(&axioms, &structure, &communication), expected, "{text}");
    }
    assert!(of_some > 200, "{of_some}");
}

/// Whatever an axiom says, negatively or not: what is forbidden already stays forbidden.
#[test]
fn only_what_stays_forbidden_is_forbidden_early() {
    let mut rng = StdRng::seed_from_u64(11);
    let (mut early, mut later) = (0, 0);
    for _ in 0..4000 {
        let size = rng.random_range(2..7);
        let structure = random_structure(&mut rng, size);
        let demand = ["acyclic", "irreflexive", "empty", "~acyclic", "~irreflexive", "~empty"][rng.random_range(0..6)];
        let text = format!("{demand} {}", random_relation(&mut rng, 3));
        let axioms = Axioms::from_text("t.cat", &text).unwrap();
        let [rf, co, fr] = [(); 3].map(|()| random_pairs(&mut rng, size));
        let mut part = |all: &Relation| Relation::new(size, |a, b| all.contains(a, b) && rng.random());
        let partial = Communication { rf: part(&rf), co: part(&co), fr: part(&fr) };
        let complete = Communication { rf, co, fr };
        let mut prepared = Prepared::new(&axioms, &structure, false).unwrap();
        let (is_early, is_allowed) = (prepared.is_forbidden_already(&partial), prepared.allows(&complete));
        assert!(!(is_early && is_allowed), "{text}");
        early += usize::from(is_early);
        later += usize::from(!is_early && !is_allowed);
    }
    assert!(early > 300 && later > 300, "{early} {later}");
}

#[test]
fn least_solutions_are_closures() {
    let mut rng = StdRng::seed_from_u64(13);
    let closed = "let rec r = rf | co | (r; r) and s = r | (s; fr)\nempty s";
    let plain = "empty (rf | co)+ ; fr* | (rf | co)+";
    let texts = [closed, plain].map(|text| Axioms::from_text("t.cat", text).unwrap());
    for _ in 0..200 {
        let structure = random_structure(&mut rng, 6);
        let [rf, co, fr] = [(); 3].map(|()| random_pairs(&mut rng, 6));
        let communication = Communication { rf, co, fr };
        let [one, other] = [0, 1].map(|text| value(&texts[text], &structure, &communication));
        assert_eq!(one, other);
    }
}
