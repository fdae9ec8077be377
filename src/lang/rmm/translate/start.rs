//! What comes before the first statement of a process, and the thread that it becomes.
//!
//! Values at the start that may be any are chosen. The first process chooses those of shared variables, one after the
//! other, and then says that it has; the others wait for that. All of this is atomic, so that it orders nothing that
//! the text does not. Then each process chooses those of its registers that can be read before they are assigned.

use super::access::Way;
use super::expressions::{local, reads_register};
use super::flow::{Draft, Flow, Place, Spot, State, too_large};
use super::memory::{Memory, values, variable};
use crate::ids::ControlAt;
use crate::lang::Diagnostic;
use crate::lang::names::{Unique, call_by_ends};
use crate::lang::rmm::syntax::Process;
use crate::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Reference, Scope, Span, Thread, Variable,
};
use std::collections::HashMap;

/// A thread, and how it stands in its text.
pub struct Built {
    /// The thread.
    pub thread: Thread,
    /// The labels of the process.
    pub labels: Vec<String>,
    /// For each instruction, where a fence behind it goes.
    pub spots: Vec<Spot>,
    /// For each control state, what a fence stands before that is on every way into it.
    pub entries: Vec<Option<Place>>,
}

/// What comes before the text.
struct Prelude {
    /// Where it begins.
    begin: usize,
    /// Its instructions by control state, the last one first.
    groups: Vec<Vec<Draft>>,
    /// How many more there may be.
    room: usize,
}

impl Flow {
    /// The thread of the process.
    pub fn thread(mut self, process: &Process, memory: &Memory, findings: &mut Vec<Diagnostic>) -> Built {
        let mut names = Unique::default();
        let mut locals: Vec<Variable> = Vec::new();
        for register in &process.registers {
            let name = register.name.text.trim_start_matches('$');
            // A name does not begin with a digit where conditions are written.
            let name =
                if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name.to_owned() };
            let initial = register.initial.or(register.range.map(|(low, _)| low)).unwrap_or(0);
            locals.push(variable(names.of(&name, '_'), initial, register.name.span));
        }
        let mut prelude =
            Prelude { begin: self.begin, groups: Vec::new(), room: self.budget.saturating_sub(self.drafts.len()) };
        self.choose_registers(process, &mut prelude, findings);
        self.choose_shared(process, memory, &mut prelude);
        let begin = prelude.begin;
        if prelude.room == 0 {
            findings.push(too_large(process));
        }
        let groups = prelude.groups.iter().rev().filter_map(|group| group.first());
        for (number, first) in groups.enumerate().skip(1) {
            self.states[first.from].name = Some(format!("init_{}", number + 1));
        }
        let chosen = prelude.groups.into_iter().rev().flatten();
        self.drafts = chosen.chain(std::mem::take(&mut self.drafts)).collect();
        self.leave_out_unreachable(begin, findings);
        self.numbered(begin, locals)
    }

    /// A step before all others, in one of several ways.
    fn put_first(&mut self, ways: Vec<Way>, span: Span, prelude: &mut Prelude) {
        prelude.room = prelude.room.saturating_sub(ways.len());
        if prelude.room == 0 {
            return;
        }
        let state = self.state();
        self.states[state] = State { name: Some("init".to_owned()), ..State::default() };
        let draft = |way| Draft::new(state, prelude.begin, way, span, Spot::Nowhere);
        let group = ways.into_iter().map(draft).collect();
        prelude.groups.push(group);
        prelude.begin = state;
    }

    /// The last choices are made first here, as each leads to what is there already.
    fn choose_registers(&mut self, process: &Process, prelude: &mut Prelude, findings: &mut Vec<Diagnostic>) {
        for (position, register) in process.registers.iter().enumerate().rev() {
            if register.initial.is_some() || !self.reads_initial(position) {
                continue;
            }
            match values(register) {
                Ok((low, high)) => {
                    let choose = |value| {
                        let target = local(position, register.name.span);
                        let assignments = vec![Assignment { target, value: Expression::Constant(value) }];
                        Way { assignments, ..Way::plain() }
                    };
                    self.put_first((low..=high).map(choose).collect(), register.span, prelude);
                }
                Err(error) => findings.push(error),
            }
        }
    }

    fn choose_shared(&mut self, process: &Process, memory: &Memory, prelude: &mut Prelude) {
        let atomic =
            |condition, assignments| Way { condition, assignments, kind: InstructionKind::Atomic, ..Way::plain() };
        let shared = |variable, span| Reference { scope: Scope::Shared, variable, index: None, span };
        if let Some(started) = memory.started {
            let way = if self.pid == 0 {
                let said = Assignment { target: shared(started, process.span), value: Expression::Constant(1) };
                atomic(None, vec![said])
            } else {
                let read = Box::new(Expression::Read(shared(started, process.span)));
                let one = Box::new(Expression::Constant(1));
                atomic(Some(Expression::Binary(BinaryOperator::Equal, read, one, process.span)), Vec::new())
            };
            self.put_first(vec![way], process.span, prelude);
        }
        if self.pid > 0 {
            return;
        }
        for chosen in memory.chosen.iter().rev() {
            let choose = |value| {
                let target = shared(chosen.variable, chosen.span);
                atomic(None, vec![Assignment { target, value: Expression::Constant(value) }])
            };
            let (low, high) = chosen.values;
            self.put_first((low..=high).map(choose).collect(), chosen.span, prelude);
        }
    }

    /// The instructions that begin in each control state, by position.
    fn leaving(&self) -> HashMap<usize, Vec<usize>> {
        let mut leaving: HashMap<usize, Vec<usize>> = HashMap::new();
        for (position, draft) in self.drafts.iter().enumerate() {
            leaving.entry(draft.from).or_default().push(position);
        }
        leaving
    }

    /// Whether the value that a register has at the start can be read.
    fn reads_initial(&self, register: usize) -> bool {
        let leaving = self.leaving();
        let mut reached = vec![false; self.states.len()];
        reached[self.begin] = true;
        let mut open = vec![self.begin];
        while let Some(state) = open.pop() {
            for &position in leaving.get(&state).into_iter().flatten() {
                let draft = &self.drafts[position];
                if draft.condition.as_ref().is_some_and(|condition| reads_register(condition, register)) {
                    return true;
                }
                let mut is_assigned = false;
                for Assignment { target, value } in &draft.assignments {
                    if !is_assigned && reads_register(value, register) {
                        return true;
                    }
                    is_assigned |= target.scope == Scope::Local && target.variable == register;
                }
                if !is_assigned && !std::mem::replace(&mut reached[draft.to], true) {
                    open.push(draft.to);
                }
            }
        }
        false
    }

    /// Takes out what no way leads to.
    fn leave_out_unreachable(&mut self, begin: usize, findings: &mut Vec<Diagnostic>) {
        let leaving = self.leaving();
        let mut reached = vec![false; self.states.len()];
        reached[begin] = true;
        let mut open = vec![begin];
        while let Some(state) = open.pop() {
            for &position in leaving.get(&state).into_iter().flatten() {
                let to = self.drafts[position].to;
                if !std::mem::replace(&mut reached[to], true) {
                    open.push(to);
                }
            }
        }
        let mut has_way = vec![false; self.states.len()];
        self.drafts.iter().for_each(|draft| has_way[draft.to] = true);
        for draft in self.drafts.iter().filter(|draft| !reached[draft.from] && !has_way[draft.from]) {
            findings.push(Diagnostic::warning(draft.span, "this is never reached, and is left out"));
        }
        self.drafts.retain(|draft| reached[draft.from]);
        for (state, is_reached) in self.states.iter_mut().zip(reached) {
            // A label stays, so that conditions can speak of it.
            if !is_reached && !state.is_label {
                state.name = None;
            }
        }
    }

    /// The thread, with those control states that have a name.
    fn numbered(self, begin: usize, locals: Vec<Variable>) -> Built {
        let mut names = Unique::default();
        // Labels keep their names.
        for state in self.states.iter().filter(|state| state.is_label) {
            state.name.iter().for_each(|name| drop(names.of(name, '_')));
        }
        let mut positions = vec![None; self.states.len()];
        let (mut states, mut entries) = (Vec::new(), Vec::new());
        for (old, state) in self.states.iter().enumerate() {
            let Some(name) = &state.name else { continue };
            positions[old] = Some(ControlAt::new(states.len()));
            states.push(if state.is_label { name.clone() } else { names.of(name, '_') });
            entries.push(state.entry.filter(|place| place.is_whole && !state.is_entered));
        }
        // A process without an instruction is at its end.
        let at = |old: usize| positions[old].unwrap_or(ControlAt(0));
        let (mut instructions, mut spots) = (Vec::new(), Vec::new());
        for draft in self.drafts {
            let (from, to) = (at(draft.from), at(draft.to));
            spots.push(draft.spot);
            instructions.push(Instruction {
                name: String::new(),
                from,
                to,
                priority: 0,
                condition: draft.condition,
                assignments: draft.assignments,
                kind: draft.kind,
                span: draft.span,
            });
        }
        call_by_ends(&states, &mut instructions);
        let thread = Thread { name: format!("P{}", self.pid), locals, states, initial: at(begin), instructions };
        Built { thread, labels: self.labels, spots, entries }
    }
}
