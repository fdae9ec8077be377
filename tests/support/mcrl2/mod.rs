//! A small interpreter for the part of mCRL2 that exported specifications use, written from the language's grammar
//! and its reference, not from the exporter.
//!
//! It reads the text (`syntax`), resolves names and checks sorts (`check`), rewrites terms with the specification's
//! own equations (`rewrite`), and generates the state space of the linear process breadth-first, as `lps2lts` does.
//! What is outside of that part is a panic that says what.

pub mod check;
pub mod rewrite;
pub mod syntax;

use check::Specification;
use rewrite::Value;
use std::collections::HashMap;

/// A state space: the initial state is 0.
pub struct StateSpace {
    /// How many states there are.
    pub states: usize,
    /// From, label, to.
    pub transitions: Vec<(usize, String, usize)>,
}

/// The state space of a specification.
pub fn state_space(text: &str) -> StateSpace {
    let specification = check::check(&syntax::parse(text));
    let mut numbers: HashMap<Vec<Value>, usize> = HashMap::from([(initial_state(&specification), 0)]);
    let mut states = vec![initial_state(&specification)];
    let mut transitions = Vec::new();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        for summand in &specification.summands {
            let rewrite = |code| specification.equations.evaluate(code, &state);
            if rewrite(&summand.condition) != Value::Bool(true) {
                continue;
            }
            let arguments: Vec<String> = summand.arguments.iter().map(|code| rewrite(code).to_string()).collect();
            let label = format!("{}({})", summand.action, arguments.join(", "));
            let mut target = state.clone();
            for (parameter, code) in &summand.changes {
                target[*parameter] = rewrite(code);
            }
            let number = *numbers.entry(target.clone()).or_insert_with(|| {
                states.push(target);
                states.len() - 1
            });
            transitions.push((next, label, number));
        }
        next += 1;
    }
    StateSpace { states: states.len(), transitions }
}

fn initial_state(specification: &Specification) -> Vec<Value> {
    specification.initial.iter().map(|code| specification.equations.evaluate(code, &[])).collect()
}

impl StateSpace {
    /// As `.aut`.
    pub fn aut(&self) -> String {
        let mut text = format!("des (0,{},{})\n", self.transitions.len(), self.states);
        for (from, label, to) in &self.transitions {
            text.push_str(&format!("({from},\"{label}\",{to})\n"));
        }
        text
    }
}
