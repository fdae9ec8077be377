//! Error states: at least so many processes are where a vector says.
//!
//! The condition is a conjunction of places if all of them are asked for, a disjunction of such conjunctions if there
//! are at most [`MAX_SUBSETS`], and else a comparison with their number. A location where nobody can be is left out.

use super::syntax::{Location, Vector};
use crate::ids::{ControlAt, ThreadAt};
use crate::lang::Diagnostic;
use crate::lang::similar::nearest;
use crate::program::{BinaryOperator, Expression, Program, Span, UnaryOperator};
use crate::property::{Observables, StateCondition};
use crate::text::counted;
use std::collections::BTreeMap;

/// How many combinations of processes are told one by one.
const MAX_SUBSETS: usize = 20;
/// How many of them are written down.
const MAX_WRITTEN: usize = 3;
/// How many labels are listed where one is missing.
const LISTED_LABELS: usize = 20;

/// Where somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In this control state.
    State(ControlAt),
    /// Between `LOCK` and `UNLOCK`, which is one step.
    Inside,
    /// Nowhere; perhaps because another number is meant.
    Nowhere(Option<usize>),
}

/// The locations of a process.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// By number.
    pub numbers: BTreeMap<usize, Where>,
    /// By label.
    pub labels: BTreeMap<String, Where>,
    /// Whether there are fences, which take no number.
    pub has_fences: bool,
}

/// The condition of a vector, if it is right.
pub fn condition(
    vector: &Vector,
    program: &Program,
    tables: &[Table],
    findings: &mut Vec<Diagnostic>,
) -> Option<StateCondition> {
    const HELP: &str = "an error state has the least number of processes first, then a location for each process";
    let processes = program.threads.len();
    if vector.locations.len() != processes {
        let message = format!("{} for {}", counted(vector.locations.len(), "location"), counted(processes, "process"));
        findings.push(Diagnostic::error(vector.span, message).with_help(HELP));
        return None;
    }
    let least = usize::try_from(vector.least.0).unwrap_or(usize::MAX);
    if !(1..=processes).contains(&least) {
        let message = format!("expected a number of processes from 1 to {processes}, found {}", vector.least.0);
        findings.push(Diagnostic::error(vector.least.1, message).with_help(HELP));
        return None;
    }
    let mut places = Vec::new();
    let mut is_right = true;
    for (position, ((location, span), table)) in vector.locations.iter().zip(tables).enumerate() {
        let name = &program.threads[position].name;
        match found(location, *span, name, table, findings) {
            Ok(Some(state)) => places.push((ThreadAt::new(position), state)),
            Ok(None) => {}
            Err(()) => is_right = false,
        }
    }
    if !is_right {
        return None;
    }
    let has_number =
        |(location, table): (&Location, &Table)| matches!(location, Location::Number(_)) && table.has_fences;
    if vector.locations.iter().map(|(location, _)| location).zip(tables).any(has_number) {
        let warning = Diagnostic::warning(vector.span, "locations are numbered as if there were no fences");
        findings.push(warning.with_help("so numbers stay the same when fences are put in; labels are clearer: `cs:`"));
    }
    if places.len() < least {
        let message = "no state is like this: too few of the locations can be reached at all";
        findings.push(Diagnostic::warning(vector.span, message));
    }
    let observables = Observables::of(program);
    let named = |(thread, state): &(ThreadAt, ControlAt)| {
        let thread = program.thread(*thread);
        format!("{}@{}", thread.name, thread.states[state.index()])
    };
    let names: Vec<String> = places.iter().map(named).collect();
    let places: Vec<Expression> =
        places.iter().filter_map(|(thread, state)| observables.place(*thread, *state)).collect();
    let (text, expression) = at_least(least, &names, &places);
    Some(StateCondition::new(&text, &observables, expression))
}

/// The control state that is meant; none if nobody is ever there.
fn found(
    location: &Location,
    span: Span,
    process: &str,
    table: &Table,
    findings: &mut Vec<Diagnostic>,
) -> Result<Option<ControlAt>, ()> {
    let place = match location {
        Location::Number(number) => usize::try_from(*number).ok().and_then(|number| table.numbers.get(&number)),
        Location::Label(label) => {
            let Some(place) = table.labels.get(label) else {
                findings.push(unknown_label(label, span, process, table));
                return Err(());
            };
            Some(place)
        }
    };
    match place {
        Some(Where::State(state)) => Ok(Some(*state)),
        Some(Where::Inside) => {
            let message = format!("this location of {process} is between `LOCK` and `UNLOCK`");
            let help =
                "from `LOCK` to `UNLOCK` is one step here, and nobody is seen within it; name a location outside";
            findings.push(Diagnostic::error(span, message).with_help(help));
            Err(())
        }
        Some(Where::Nowhere(Some(meant))) => {
            let message = format!("{process} is never here: this is where a branch ends, and that is location {meant}");
            findings.push(Diagnostic::warning(span, message));
            Ok(None)
        }
        Some(Where::Nowhere(None)) | None => Ok(None),
    }
}

fn unknown_label(label: &str, span: Span, process: &str, table: &Table) -> Diagnostic {
    let error = Diagnostic::error(span, format!("{process} has no label `{label}`"));
    let known: Vec<&str> = table.labels.keys().map(String::as_str).collect();
    let listed: Vec<String> = known.iter().take(LISTED_LABELS).map(|known| format!("`{known}`")).collect();
    let all = match listed.len() {
        0 => "it has no labels; a label stands before a statement: `cs: store(x, 0);`".to_owned(),
        1 => format!("its only label is {}", listed[0]),
        _ => format!("its labels are {}", listed.join(", ")),
    };
    error.with_help(match nearest(label, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? {all}"),
        None => all,
    })
}

/// That at least so many of these hold, in words and as an expression.
fn at_least(least: usize, names: &[String], places: &[Expression]) -> (String, Expression) {
    if places.len() < least {
        return ("false".to_owned(), Expression::Constant(0));
    }
    let Some(subsets) = subsets(places.len(), least) else {
        let text = format!("at least {least} of {}", names.join(", "));
        let indicators: Vec<Expression> =
            places.iter().map(|place| Expression::Unary(UnaryOperator::Indicator, Box::new(place.clone()))).collect();
        let sum = balanced(BinaryOperator::Add, indicators);
        let least = Expression::Constant(i64::try_from(least).unwrap_or(i64::MAX));
        return (text, binary(BinaryOperator::GreaterEqual, sum, least));
    };
    let text = if subsets.len() > MAX_WRITTEN {
        format!("at least {least} of {}", names.join(", "))
    } else {
        let written = |subset: &Vec<usize>| {
            let all: Vec<&str> = subset.iter().map(|position| names[*position].as_str()).collect();
            let all = all.join(" and ");
            if subsets.len() == 1 || subset.len() == 1 { all } else { format!("({all})") }
        };
        subsets.iter().map(written).collect::<Vec<String>>().join(" or ")
    };
    let all = |subset: &Vec<usize>| {
        balanced(BinaryOperator::And, subset.iter().map(|position| places[*position].clone()).collect())
    };
    (text, balanced(BinaryOperator::Or, subsets.iter().map(all).collect()))
}

/// All subsets of so many of the first numbers, if there are few.
fn subsets(all: usize, chosen: usize) -> Option<Vec<Vec<usize>>> {
    let mut subsets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..chosen {
        let extend = |subset: &Vec<usize>| {
            let first = subset.last().map_or(0, |last| last + 1);
            let subset = subset.clone();
            (first..all).map(move |next| [subset.as_slice(), &[next]].concat()).collect::<Vec<_>>()
        };
        subsets = subsets.iter().flat_map(extend).collect();
        // Those that are too short to be completed make no more than all of them.
        subsets.retain(|subset| subset.last().is_none_or(|last| chosen - subset.len() < all - last));
        if subsets.len() > MAX_SUBSETS {
            return None;
        }
    }
    Some(subsets)
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), Span::default())
}

/// All of these joined, in a tree that is no deeper than it must be.
fn balanced(operator: BinaryOperator, mut parts: Vec<Expression>) -> Expression {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) => binary(operator, left, right),
                None => left,
            });
        }
        parts = pairs;
    }
    parts.pop().unwrap_or(Expression::Constant(0))
}
