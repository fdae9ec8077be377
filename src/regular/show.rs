//! Languages as regular expressions, for reports: states are eliminated one by one, those with the fewest ways through
//! them first. The expressions are right, not the shortest ones.

use super::automaton::Automaton;
use super::{Language, Languages, Letter};
use std::collections::BTreeMap;

impl Languages {
    /// A regular expression: `ab(ab)*`, `(a|b)?`, `ε` for the empty word, `∅` for no word. If the name of some letter
    /// is longer than a character, there are spaces between letters.
    #[must_use]
    pub fn show(&self, l: Language, letter: impl Fn(Letter) -> String) -> String {
        let automaton = self.automaton(l);
        let are_short = automaton.letters().all(|known| letter(known).chars().nth(1).is_none());
        let separator = if are_short { "" } else { " " };
        expression(automaton).map_or_else(|| "∅".to_owned(), |expression| expression.text(&letter, separator))
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Expression {
    Unit,
    Letter(Letter),
    Sequence(Vec<Expression>),
    Choice(Vec<Expression>),
    Star(Box<Expression>),
}

impl Expression {
    fn then(self, next: Self) -> Self {
        let parts = |part| match part {
            Self::Unit => Vec::new(),
            Self::Sequence(parts) => parts,
            part => vec![part],
        };
        let mut all = [parts(self), parts(next)].concat();
        match all.len() {
            0 => Self::Unit,
            1 => all.remove(0),
            _ => Self::Sequence(all),
        }
    }

    fn or(self, other: Self) -> Self {
        let parts = |part| match part {
            Self::Choice(parts) => parts,
            part => vec![part],
        };
        let mut all = [parts(self), parts(other)].concat();
        all.sort();
        all.dedup();
        // The empty word is among the repeated ones.
        if all.iter().any(|part| matches!(part, Self::Star(_))) {
            all.retain(|part| *part != Self::Unit);
        }
        if all.len() == 1 { all.remove(0) } else { Self::Choice(all) }
    }

    fn star(self) -> Self {
        match self {
            Self::Unit | Self::Star(_) => self,
            Self::Choice(mut parts) if parts[0] == Self::Unit => {
                parts.remove(0);
                let rest = if parts.len() == 1 { parts.remove(0) } else { Self::Choice(parts) };
                rest.star()
            }
            other => Self::Star(Box::new(other)),
        }
    }

    fn text(&self, letter: &impl Fn(Letter) -> String, separator: &str) -> String {
        let bracketed = |part: &Self| format!("({})", part.text(letter, separator));
        match self {
            Self::Unit => "ε".to_owned(),
            Self::Letter(known) => letter(*known),
            Self::Sequence(parts) => {
                let texts = parts.iter().map(|part| match part {
                    Self::Choice(parts) if parts[0] != Self::Unit => bracketed(part),
                    part => part.text(letter, separator),
                });
                texts.collect::<Vec<_>>().join(separator)
            }
            Self::Choice(parts) if parts[0] == Self::Unit => {
                let rest = if let [_, one] = &parts[..] { one.clone() } else { Self::Choice(parts[1..].to_vec()) };
                rest.counted(letter, separator, '?')
            }
            Self::Choice(parts) => parts.iter().map(|part| part.text(letter, separator)).collect::<Vec<_>>().join("|"),
            Self::Star(part) => part.counted(letter, separator, '*'),
        }
    }

    fn counted(&self, letter: &impl Fn(Letter) -> String, separator: &str, sign: char) -> String {
        let text = self.text(letter, separator);
        if matches!(self, Self::Letter(_)) && text.chars().nth(1).is_none() {
            format!("{text}{sign}")
        } else {
            format!("({text}){sign}")
        }
    }
}

/// The expression of an automaton; none of the empty language.
fn expression(automaton: &Automaton) -> Option<Expression> {
    let num_of_states = automaton.len();
    let (start, end) = (num_of_states, num_of_states + 1);
    let mut ways: BTreeMap<(usize, usize), Expression> = BTreeMap::new();
    if num_of_states > 0 {
        ways.insert((start, 0), Expression::Unit);
    }
    for state in automaton.states() {
        for &(letter, to) in automaton.moves(state) {
            add(&mut ways, (state as usize, to as usize), Expression::Letter(letter));
        }
        if automaton.accepts(state) {
            add(&mut ways, (state as usize, end), Expression::Unit);
        }
    }
    let mut left: Vec<usize> = (0..num_of_states).collect();
    while let Some(place) = (0..left.len()).min_by_key(|&place| {
        let into = ways.keys().filter(|&&(from, to)| to == left[place] && from != to).count();
        let out = ways.keys().filter(|&&(from, to)| from == left[place] && from != to).count();
        into * out
    }) {
        let state = left.remove(place);
        let around = ways.remove(&(state, state)).map_or(Expression::Unit, Expression::star);
        let (touching, others) = ways.into_iter().partition(|&((from, to), _)| from == state || to == state);
        let touching: BTreeMap<(usize, usize), Expression> = touching;
        ways = others;
        for (&(from, _), before) in touching.iter().filter(|&(&(_, to), _)| to == state) {
            for (&(_, to), behind) in touching.iter().filter(|&(&(from, _), _)| from == state) {
                add(&mut ways, (from, to), before.clone().then(around.clone()).then(behind.clone()));
            }
        }
    }
    ways.remove(&(start, end))
}

fn add(ways: &mut BTreeMap<(usize, usize), Expression>, between: (usize, usize), way: Expression) {
    let all = match ways.remove(&between) {
        Some(known) => known.or(way),
        None => way,
    };
    ways.insert(between, all);
}
