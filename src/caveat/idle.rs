//! What of a program never happens: threads that never move, instructions that are never taken, control states that
//! are never reached.
//!
//! Nothing is needed for what never happens, so a slip (`h = head` for `h := head`) would look like a clean program.
//! An instruction is never taken if all its evaluations are refused, or if it is never evaluated; a thread never
//! moves if, in the facts, nothing follows any of its labels and it ends with none. Said are the places where a
//! thread gets stuck: what is behind them is summed up as control states that are never reached. Labels alone tell
//! less: where they do not say that an evaluation was refused, a self-loop may as well be a loop that waits. If only
//! a part of the state space is known, nothing is said: what never happened there may happen elsewhere.

use super::{Caveat, Topic};
use crate::aeg::AbstractEventGraph;
use crate::facts::Facts;
use crate::ids::{ControlAt, InstrAt, LabelId};
use crate::lts::label::{Label, Step, StepsOf};
use crate::natural::natural_order;
use crate::program::{At, Expression, Instruction, Thread, UnaryOperator};
use crate::source::Source;
use crate::text::LineColumn;
use crate::text::excerpt::{printable, shortened};
use std::collections::{BTreeMap, BTreeSet};

/// How much of an instruction's text is quoted.
const INSTRUCTION: usize = 60;

/// What the facts tell; the numbers are those of their labels.
#[derive(Clone, Debug)]
pub struct Happenings {
    /// The labels: what is only presumed to be there is not among them.
    labels: Vec<Label>,
    /// Labels with which a thread makes a step.
    steps: BTreeSet<LabelId>,
    /// Labels without a condition that a step of another thread took away, and left its thread nothing.
    disabled: Vec<LabelId>,
}

impl Happenings {
    /// Of a state space.
    #[must_use]
    pub fn of(facts: &Facts) -> Happenings {
        let followed = facts.follows.iter().map(|pair| pair.from);
        let is_bound =
            |label: &Label| label.has_write() && !label.steps.iter().any(|step| matches!(step, Step::Condition { .. }));
        let lapsed = facts.silences.lapse.iter().copied();
        Happenings {
            labels: facts.labels.clone(),
            steps: followed.chain(facts.silences.begin.iter().copied()).collect(),
            disabled: lapsed.filter(|label| is_bound(&facts.labels[label.index()])).collect(),
        }
    }

    /// What never happens, by name; `graph` is of the same facts, which are all there are.
    #[must_use]
    pub fn caveats(&self, graph: &AbstractEventGraph, source: Option<&Source>) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if self.steps.is_empty() {
            let sentence =
                "the model deadlocks at once: no step leads out of its initial state, so nothing was analysed";
            caveats.push(Caveat::new(Topic::DeadlocksAtOnce, sentence));
        }
        match source {
            Some(source) => caveats.extend(self.of_program(graph, source)),
            None => caveats.extend(self.of_labels(graph)),
        }
        caveats.extend(self.disabled.first().map(|&label| self.of_disabled(graph, label)));
        caveats
    }

    fn of_program(&self, graph: &AbstractEventGraph, source: &Source) -> Vec<Caveat> {
        let taken_labels = self.labels.iter().filter(|label| !label.refused);
        let taken: BTreeSet<At> = taken_labels
            .filter_map(|label| source.outline.at(source.outline.find(&label.thread, &label.instr)?))
            .collect();
        let mut caveats = Vec::new();
        for (number, thread) in source.program.threads_at() {
            let is_taken = |instruction: InstrAt| taken.contains(&At { thread: number, instruction });
            let taken = thread.instructions_at().filter(|(position, _)| is_taken(*position));
            let taken: Vec<&Instruction> = taken.map(|(_, known)| known).collect();
            let reached: BTreeSet<ControlAt> = taken.iter().map(|known| known.to).chain([thread.initial]).collect();
            let name = graph.shown(&thread.name);
            if taken.is_empty() && !thread.instructions.is_empty() && !self.steps.is_empty() {
                caveats.push(Caveat::new(Topic::NeverMoves, format!("thread {name} never moves")));
            }
            // Both ways of a branch are one statement, and one of them will do.
            let is_taken =
                |known: &Instruction| taken.iter().any(|other| (other.from, other.span) == (known.from, known.span));
            let stuck = thread.instructions.iter().filter(|known| reached.contains(&known.from) && !is_taken(known));
            caveats.extend(stuck.map(|known| never_taken(source, &name, known)));
            if !taken.is_empty() {
                caveats.extend(never_reached(&name, thread, &reached, &source.text));
            }
        }
        caveats
    }

    fn of_labels(&self, graph: &AbstractEventGraph) -> Vec<Caveat> {
        type Instructions<'a> = BTreeMap<&'a str, Vec<LabelId>>;
        let mut threads: BTreeMap<&str, Instructions<'_>> = BTreeMap::new();
        for (number, label) in self.labels.iter().enumerate() {
            threads.entry(&label.thread).or_default().entry(&label.instr).or_default().push(LabelId::new(number));
        }
        let mut threads: Vec<_> = threads.into_iter().collect();
        threads.sort_by(|a, b| natural_order(a.0, b.0));
        let mut caveats = Vec::new();
        for (thread, instructions) in threads {
            let name = graph.shown(thread);
            let moves = instructions.values().flatten().any(|label| self.steps.contains(label));
            if !self.steps.is_empty() && !moves {
                caveats.push(Caveat::new(Topic::NeverMoves, format!("thread {name} never moves")));
            }
            let refused = |label: &LabelId| self.labels[label.index()].refused;
            let mut stuck: Vec<_> = instructions.into_iter().filter(|(_, labels)| labels.iter().all(refused)).collect();
            stuck.sort_by(|a, b| natural_order(a.0, b.0));
            for (instr, labels) in stuck {
                let text = text_of(graph, &self.labels[labels[0].index()]);
                let sentence = format!("never taken: {name}.{} ({text})", graph.shown(instr));
                caveats.push(Caveat::new(Topic::NeverTaken, sentence));
            }
        }
        caveats
    }

    fn of_disabled(&self, graph: &AbstractEventGraph, label: LabelId) -> Caveat {
        let Label { thread, instr, .. } = &self.labels[label.index()];
        let name = graph.shown(&format!("{thread}.{instr}"));
        let others = match self.disabled.len() {
            1 => String::new(),
            several => format!(" (and so for {} more labels)", several - 1),
        };
        Caveat::new(
            Topic::Disabled,
            format!(
                "{name} ({}) has no condition, and still a step of another thread disables it{others}: \
                 a part of the state space is missing (a shard, a reduction that leaves out interleavings), or the label leaves out a condition (a lock, an await)",
                text_of(graph, &self.labels[label.index()])
            ),
        )
    }
}

/// A label without its thread and instruction.
fn text_of(graph: &AbstractEventGraph, label: &Label) -> String {
    let text = graph.shown(&StepsOf(label).to_string());
    shortened(&printable(&text), INSTRUCTION)
}

/// `never taken: T1.2 (h = head), line 14`
fn never_taken(source: &Source, thread: &str, instruction: &Instruction) -> Caveat {
    let span = instruction.span;
    let text = source.text.get(span.start..span.end).unwrap_or("");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = shortened(&printable(&text), INSTRUCTION);
    let line = LineColumn::of(&source.text, span.start).line;
    let sentence = format!("never taken: {thread}.{} ({text}), line {line}", instruction.name);
    Caveat::new(Topic::NeverTaken, sentence).at(span)
}

/// The control states of a thread that no step leads to, also those that no transition names: what is said of them
/// (`never n: T@c`) holds for nothing.
fn never_reached(name: &str, thread: &Thread, reached: &BTreeSet<ControlAt>, text: &str) -> Option<Caveat> {
    let unreached: Vec<ControlAt> = ControlAt::all(thread.states.len())
        .filter(|state| !reached.contains(state) && !is_of_failed_assertion(thread, *state))
        .filter(|state| is_in_text(thread, *state, text))
        .collect();
    let leaving = thread.instructions.iter().find(|known| unreached.contains(&known.from));
    let states: Vec<&str> = unreached.iter().map(|state| thread.states[state.index()].as_str()).collect();
    let (first, rest) = states.split_first()?;
    let states = if rest.is_empty() { "state" } else { "states" };
    let list = rest.iter().fold(printable(first).to_string(), |list, state| format!("{list}, {}", printable(state)));
    let sentence = format!("never reached: control {states} {list} of thread {name}");
    let caveat = Caveat::new(Topic::NeverReached, sentence);
    Some(match leaving {
        Some(known) => caveat.at(known.span),
        None => caveat,
    })
}

/// Whether a control state is of the program's text. A language without control states has some made for it, such as an
/// end behind a jump, which no transition has.
pub(crate) fn is_in_text(thread: &Thread, state: ControlAt, text: &str) -> bool {
    thread.instructions.iter().any(|known| known.from == state || known.to == state)
        || text.contains(&thread.states[state.index()])
}

/// Whether a control state is one that a thread is in if an assertion fails, which is good if it never happens: nothing
/// leaves it, and all that leads there is the other way of a statement that goes on if its condition holds.
fn is_of_failed_assertion(thread: &Thread, state: ControlAt) -> bool {
    let fails = |failing: &Instruction| {
        let Some(Expression::Unary(UnaryOperator::Not, condition)) = &failing.condition else { return false };
        thread.instructions.iter().any(|other| {
            (other.from, other.span) == (failing.from, failing.span) && other.condition.as_ref() == Some(condition)
        })
    };
    let ways_in: Vec<&Instruction> = thread.ways_into(state).map(|at| thread.instruction(at)).collect();
    let is_end = thread.instructions.iter().all(|known| known.from != state);
    is_end && !ways_in.is_empty() && ways_in.into_iter().all(fails)
}
