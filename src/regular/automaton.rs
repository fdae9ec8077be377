//! Deterministic automata: explored breadth-first from whatever their states are, and minimised.
//!
//! State 0 is the start, and every state can be reached from it. Moves stand in the order of their letters, at most one
//! for each. An automaton as [`Automaton::explore`] makes it is numbered canonically: a state was found before another
//! if the first word that leads to it, shorter words before longer ones, is before that of the other. If it is minimal,
//! too, it is the one automaton of its language.

use super::Letter;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// A state, by its number.
pub(super) type State = u32;

/// Whether words end at each state, and where else they go.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Automaton {
    accepting: Box<[bool]>,
    /// Where in `moves` those of each state end.
    ends: Box<[u32]>,
    moves: Box<[(Letter, State)]>,
}

impl Automaton {
    /// No state, no word.
    pub(super) fn empty() -> Self {
        Self { accepting: Box::default(), ends: Box::default(), moves: Box::default() }
    }

    /// A chain.
    pub(super) fn of_word(letters: &[Letter]) -> Self {
        let end = |&at: &usize| at == letters.len();
        Self::explore(0, end, |&at, moves| moves.extend(letters.get(at).map(|&letter| (letter, at + 1))))
    }

    /// The automaton whose states are these, from a first one. `moves` adds those of a state, letters ascending.
    pub(super) fn explore<Key: Clone + Eq + Hash>(
        start: Key,
        accepts: impl Fn(&Key) -> bool,
        mut moves: impl FnMut(&Key, &mut Vec<(Letter, Key)>),
    ) -> Self {
        let mut numbers: FxHashMap<Key, State> = FxHashMap::default();
        numbers.insert(start.clone(), 0);
        let mut found = vec![start];
        let (mut accepting, mut ends, mut all_moves) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Vec::new();
        let mut at = 0;
        while at < found.len() {
            let state = &found[at];
            accepting.push(accepts(state));
            moves(state, &mut next);
            debug_assert!(next.is_sorted_by(|(before, _), (after, _)| before < after), "ascending letters");
            for (letter, key) in next.drain(..) {
                let new = found.len() as State;
                let to = *numbers.entry(key).or_insert_with_key(|key| {
                    found.push(key.clone());
                    new
                });
                all_moves.push((letter, to));
            }
            ends.push(all_moves.len() as u32);
            at += 1;
        }
        Self { accepting: accepting.into(), ends: ends.into(), moves: all_moves.into() }
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.accepting.len()
    }

    /// All states.
    pub(super) fn states(&self) -> impl DoubleEndedIterator<Item = State> + use<> {
        0..self.accepting.len() as State
    }

    /// Whether words end here.
    #[inline]
    pub(super) fn accepts(&self, state: State) -> bool {
        self.accepting[state as usize]
    }

    /// The moves of a state, letters ascending.
    #[inline]
    pub(super) fn moves(&self, state: State) -> &[(Letter, State)] {
        let begin = state.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.moves[begin as usize..self.ends[state as usize] as usize]
    }

    /// Where a letter leads.
    #[inline]
    pub(super) fn step(&self, state: State, letter: Letter) -> Option<State> {
        self.moves(state).iter().find(|&&(by, _)| by == letter).map(|&(_, to)| to)
    }

    /// The letters of all moves, some of them several times.
    pub(super) fn letters(&self) -> impl Iterator<Item = Letter> {
        self.moves.iter().map(|&(letter, _)| letter)
    }

    /// The words of both; neither is empty. Not minimal.
    pub(super) fn united(one: &Self, other: &Self) -> Self {
        let accepts = |of: &Self, state: Option<State>| state.is_some_and(|state| of.accepts(state));
        Self::explore(
            (Some(0), Some(0)),
            |&(left, right)| accepts(one, left) || accepts(other, right),
            |&(left, right), moves| {
                let (mut left, mut right) = (one.moves_if(left), other.moves_if(right));
                while let Some(letter) = left.first().into_iter().chain(right.first()).map(|&(letter, _)| letter).min()
                {
                    moves.push((letter, (take(&mut left, letter), take(&mut right, letter))));
                }
            },
        )
    }

    fn moves_if(&self, state: Option<State>) -> &[(Letter, State)] {
        state.map_or(&[], |state| self.moves(state))
    }

    /// The words of `one` that are in `other` when some letters are left out; neither is empty. Not minimal.
    pub(super) fn intersected(one: &Self, other: &Self, is_left_out: impl Fn(Letter) -> bool) -> Self {
        Self::explore(
            (0, 0),
            |&(left, right)| one.accepts(left) && other.accepts(right),
            |&(left, right), moves| {
                moves.extend(one.moves(left).iter().filter_map(|&(letter, to)| {
                    let beside = if is_left_out(letter) { Some(right) } else { other.step(right, letter) };
                    beside.map(|beside| (letter, (to, beside)))
                }));
            },
        )
    }

    /// Whether all words of `smaller` are in `larger`; neither is empty, and each state of `smaller` leads to an end.
    pub(super) fn includes(larger: &Self, smaller: &Self) -> bool {
        let mut found = vec![(0, 0)];
        let mut at = 0;
        while let Some(&(left, right)) = found.get(at) {
            if smaller.accepts(right) && !larger.accepts(left) {
                return false;
            }
            for &(letter, to) in smaller.moves(right) {
                let Some(beside) = larger.step(left, letter) else { return false };
                // Few are found: looking through them is faster than a table of them.
                if !found.contains(&(beside, to)) {
                    found.push((beside, to));
                }
            }
            at += 1;
        }
        true
    }

    /// The first of the shortest words. The numbers are in the order of the first words that lead to the states.
    pub(super) fn shortest(&self) -> Option<Vec<Letter>> {
        let mut at = self.states().find(|&state| self.accepts(state))?;
        let mut letters = Vec::new();
        while at != 0 {
            let all = self.states().flat_map(|from| self.moves(from).iter().map(move |&(by, to)| (from, by, to)));
            // The first move into a state is the one it was found by.
            let (from, letter, _) = all.into_iter().find(|&(_, _, to)| to == at)?;
            letters.push(letter);
            at = from;
        }
        letters.reverse();
        Some(letters)
    }

    /// The states from which some word ends.
    fn alive(&self) -> Vec<bool> {
        let mut alive = self.accepting.to_vec();
        loop {
            let mut is_stable = true;
            // Moves mostly lead to higher numbers.
            for state in self.states().rev() {
                if !alive[state as usize] && self.moves(state).iter().any(|&(_, to)| alive[to as usize]) {
                    alive[state as usize] = true;
                    is_stable = false;
                }
            }
            if is_stable {
                return alive;
            }
        }
    }

    /// The minimal automaton of the same language: without states from which no word ends, and states merged from which
    /// the same words end (Moore's refinement: at most as many rounds as there are states).
    pub(super) fn minimal(self) -> Self {
        let alive = self.alive();
        if !alive.first().is_some_and(|&is_alive| is_alive) {
            return Self::empty();
        }
        let mut class: Vec<u32> = self.accepting.iter().map(|&accepts| accepts.into()).collect();
        let mut num_of_classes = 0;
        // A state's signature: its class, and which class each letter leads to.
        let mut signatures: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        loop {
            let refined: Vec<u32> = self
                .states()
                .map(|state| {
                    if !alive[state as usize] {
                        return u32::MAX;
                    }
                    let leads = self.moves(state).iter().filter(|&&(_, to)| alive[to as usize]);
                    let leads = leads.flat_map(|&(letter, to)| [letter, class[to as usize]]);
                    let signature = std::iter::once(class[state as usize]).chain(leads).collect();
                    let next = signatures.len() as u32;
                    *signatures.entry(signature).or_insert(next)
                })
                .collect();
            class = refined;
            if signatures.len() == num_of_classes {
                break;
            }
            num_of_classes = signatures.len();
            signatures.clear();
        }
        if num_of_classes == self.len() {
            return self;
        }
        let mut member = vec![0; num_of_classes];
        for state in self.states().filter(|&state| alive[state as usize]) {
            member[class[state as usize] as usize] = state;
        }
        let state_of = |of: u32| member[of as usize];
        Self::explore(
            class[0],
            |&of| self.accepts(state_of(of)),
            |&of, moves| {
                let leads = self.moves(state_of(of)).iter().filter(|&&(_, to)| alive[to as usize]);
                moves.extend(leads.map(|&(letter, to)| (letter, class[to as usize])));
            },
        )
    }
}

/// Takes the first move if it is by this letter: where it leads.
fn take(moves: &mut &[(Letter, State)], letter: Letter) -> Option<State> {
    let (&(by, to), rest) = moves.split_first()?;
    if by != letter {
        return None;
    }
    *moves = rest;
    Some(to)
}
