//! A quotient as a state space: the smallest one with these enabled sets and steps, in `.aut`.
//!
//! One state for each enabled set is enough, unless a step leads from one state with that set to *another* one: a
//! condition that holds though its label is also enabled afterwards, where a self-loop would be a refused evaluation;
//! or an internal step, where a self-loop would be nothing at all. Then two states are needed, and enough: they have
//! the same steps, and those between them lead from one to the other. An internal step that changes nothing is left
//! out where another one shows that the set has internal steps.
//!
//! States are numbered breadth first from the initial one, so that equal quotients give equal bytes, and whoever reads
//! them sees in passing that all states are reached. Labels are in the native dialect.

#![forbid(unsafe_code)]

use super::{INTERNAL, Meaning, Quotient, Reached, Step};
use crate::lts::aut::Counts;
use crate::lts::writer;
use std::io::{self, Write};

/// A state: an enabled set, and which of the states with that set.
type State = (u32, usize);

/// Writes the state space. If the initial state is not known to lead to every state, there are no numbers in the
/// header, so that nobody takes a part for the whole.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(quotient: &Quotient, mut out: impl Write) -> io::Result<()> {
    let states = States::of(quotient);
    match quotient.reached {
        Reached::All => writer::header(&mut out, states.counts())?,
        Reached::NotAll(_) | Reached::Unknown(_) => writer::unfinished_header(&mut out)?,
    }
    write_transitions(&states, &mut out)
}

/// The state space as a text, with a header as if it were a whole.
pub(super) fn text_of(quotient: &Quotient) -> Vec<u8> {
    let states = States::of(quotient);
    let mut text = Vec::new();
    let written = writer::header(&mut text, states.counts()).and_then(|()| write_transitions(&states, &mut text));
    written.expect("memory can be written to");
    text
}

fn write_transitions(states: &States<'_>, out: &mut impl Write) -> io::Result<()> {
    let texts: Vec<String> = states.quotient.labels.iter().map(text).collect();
    for &state in &states.order {
        for (label, after) in states.steps_from(state) {
            writer::transition(out, states.number(state), texts[label as usize].as_bytes(), states.number(after))?;
        }
    }
    Ok(())
}

/// A label as it is written.
pub(in crate::facts) fn text(label: &Meaning) -> String {
    label.as_ref().map_or_else(|| INTERNAL.to_owned(), ToString::to_string)
}

struct States<'q> {
    quotient: &'q Quotient,
    /// By set: its steps.
    steps: Vec<Vec<Step>>,
    /// By set: whether there are two states.
    is_double: Vec<bool>,
    order: Vec<State>,
    /// By set.
    numbers: Vec<[Option<u64>; 2]>,
}

impl<'q> States<'q> {
    fn of(quotient: &'q Quotient) -> States<'q> {
        let mut steps: Vec<Vec<Step>> = vec![Vec::new(); quotient.sets.len()];
        for &step in quotient.steps.keys() {
            steps[step.before as usize].push(step);
        }
        let mut states = States {
            quotient,
            is_double: steps.iter().map(|steps| needs_two(quotient, steps)).collect(),
            numbers: vec![[None; 2]; steps.len()],
            steps,
            order: Vec::new(),
        };
        states.number_from(quotient.initial);
        // What the initial state does not lead to, as far as sets tell.
        (0..).take(quotient.sets.len()).for_each(|set| states.number_from(set));
        states
    }

    fn counts(&self) -> Counts {
        let transitions: usize = self.order.iter().map(|&state| self.steps_from(state).count()).sum();
        Counts { initial: 0, transitions: transitions as u64, states: self.order.len() as u64 }
    }

    /// Numbers what can be reached from a set, breadth first.
    fn number_from(&mut self, set: u32) {
        let mut position = self.order.len();
        self.add((set, 0));
        while let Some(&state) = self.order.get(position) {
            position += 1;
            let after: Vec<State> = self.steps_from(state).map(|(_, after)| after).collect();
            after.into_iter().for_each(|after| self.add(after));
        }
    }

    fn add(&mut self, state: State) {
        let number = &mut self.numbers[state.0 as usize][state.1];
        if number.is_none() {
            *number = Some(self.order.len() as u64);
            self.order.push(state);
        }
    }

    fn number(&self, (set, copy): State) -> u64 {
        self.numbers[set as usize][copy].expect("all states are numbered before any is written")
    }

    /// The labels that lead from a state, and where to.
    fn steps_from(&self, (set, copy): State) -> impl Iterator<Item = (u32, State)> {
        self.steps[set as usize].iter().filter_map(move |step| {
            let label = &self.quotient.labels[step.label as usize];
            let is_loop = if label.is_none() { step.is_loop } else { step.is_loop || !super::minds_loops(label) };
            let after = match (label, step.after == set) {
                (_, false) => (step.after, 0),
                (None, true) if is_loop || !self.is_double[set as usize] => return None,
                (_, true) if is_loop => (set, copy),
                (_, true) => (set, 1 - copy),
            };
            Some((step.label, after))
        })
    }
}

/// Whether two states with this enabled set are needed for its steps.
fn needs_two(quotient: &Quotient, steps: &[Step]) -> bool {
    let label = |step: &Step| &quotient.labels[step.label as usize];
    let stays = |step: &Step| step.after == step.before && !step.is_loop;
    let internal = || steps.iter().filter(|step| label(step).is_none() && !step.is_loop);
    let holds = |step: &Step| label(step).is_some() && super::minds_loops(label(step)) && stays(step);
    steps.iter().any(holds) || internal().count() > 0 && internal().all(stays)
}
