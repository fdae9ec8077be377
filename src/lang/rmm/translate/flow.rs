//! How statements follow each other: the control states and instructions of a process.
//!
//! A statement is built between the control state before it and the one behind it. `goto` is a step of its own at
//! first; where nothing else begins and no label stands it is taken out, and what led to it leads to its label.

use super::access::Way;
use super::expressions::{Context, Reported, not};
use super::memory::Memory;
use super::unknown_label;
use crate::lang::Diagnostic;
use crate::lang::rmm::syntax::{Action, Extent, Labelled, Name, Process, Statement};
use crate::program::{Assignment, Expression, InstructionKind, Span};
use std::collections::HashMap;

/// A statement in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How deep it is nested: what is nested in it has a larger number.
    pub level: usize,
    /// Whether it stands in a list, between `;`: else it is the only statement there can be.
    pub is_in_list: bool,
    /// Whether something can be put before and behind it.
    pub is_whole: bool,
}

impl Place {
    fn new(Extent { span, is_whole }: Extent, level: usize, is_in_list: bool) -> Place {
        Place { start: span.start, end: span.end, level, is_in_list, is_whole }
    }
}

/// Where a fence behind an instruction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// There is nothing before it that a fence could keep in order.
    Nowhere,
    /// Behind this statement.
    After(Place),
    /// Before this statement.
    Before(Place),
    /// At the beginning of this block.
    Inside(Place),
    /// Into an `else` of this `if`, which has none; the second is what stands behind its `then`, if that must be a
    /// block so that the `else` belongs to the right `if`.
    Else(Place, Option<Place>),
}

/// A control state.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Its name, if it is known.
    pub name: Option<String>,
    /// Whether the name is a label.
    pub is_label: bool,
    /// What follows it in a list.
    pub entry: Option<Place>,
    /// Whether there are ways into it that do not come from the statement before it in the text.
    pub is_entered: bool,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Where it begins.
    pub from: usize,
    /// Where it leads.
    pub to: usize,
    /// What must hold.
    pub condition: Option<Expression>,
    /// What it does.
    pub assignments: Vec<Assignment>,
    /// How it takes part in the ordering.
    pub kind: InstructionKind,
    /// Where it stands.
    pub span: Span,
    /// Where a fence behind it goes.
    pub spot: Spot,
    /// Whether it is a `goto`.
    is_goto: bool,
}

impl Draft {
    /// A step of a way.
    pub fn new(from: usize, to: usize, way: Way, span: Span, spot: Spot) -> Draft {
        let Way { condition, assignments, kind, .. } = way;
        Draft { from, to, condition, assignments, kind, span, spot, is_goto: false }
    }
}

/// Where a statement begins and where it leads.
#[derive(Clone, Copy)]
struct Between {
    from: usize,
    /// Whether something else may begin there, too: then nothing may lead back to it.
    is_choice: bool,
    to: usize,
}

/// The control flow of a process.
pub struct Flow {
    /// Its number.
    pub pid: usize,
    /// Its control states; the first one is where the text begins.
    pub states: Vec<State>,
    /// Its instructions, in the order of the text.
    pub drafts: Vec<Draft>,
    /// Where the text begins, once `goto`s are out.
    pub begin: usize,
    /// Labels in the order of the text.
    pub labels: Vec<String>,
    /// How many instructions it may have.
    pub budget: usize,
    /// What control states without a label are called after, and how many are.
    near: (String, usize),
}

struct Builder<'a, 'f> {
    flow: Flow,
    context: Context<'a>,
    labels: HashMap<&'a str, usize>,
    gotos: Vec<(usize, &'a Name)>,
    findings: &'f mut Vec<Diagnostic>,
}

impl Flow {
    /// Of a process with this number; none if there is too much of it.
    pub fn of(
        process: &Process,
        pid: usize,
        memory: &Memory,
        budget: usize,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<Flow> {
        let states = vec![State::default(), State { name: Some("end".to_owned()), ..State::default() }];
        let near = ("start".to_owned(), 0);
        let flow = Flow { pid, states, drafts: Vec::new(), begin: 0, labels: Vec::new(), budget, near };
        let context = Context { pid, registers: &process.registers, memory };
        let mut builder = Builder { flow, context, labels: HashMap::new(), gotos: Vec::new(), findings };
        builder.list(&process.body, Between { from: 0, is_choice: false, to: 1 }, 1);
        builder.link();
        let flow = builder.flow;
        if flow.drafts.len() > budget {
            findings.push(too_large(process));
            return None;
        }
        Some(flow)
    }

    /// A new control state.
    pub fn state(&mut self) -> usize {
        self.states.push(State::default());
        self.states.len() - 1
    }

    fn emit(&mut self, draft: Draft) {
        match draft.kind {
            InstructionKind::Fence | InstructionKind::PartialFence(_) => self.name_around_fence(draft.from, draft.to),
            _ if self.states[draft.from].name.is_none() && !draft.is_goto => self.name(draft.from),
            _ => {}
        }
        // One more than there may be tells that there are too many.
        if self.drafts.len() <= self.budget {
            self.drafts.push(draft);
        }
    }

    /// Gives a name to a control state without a label.
    fn name(&mut self, state: usize) {
        self.states[state].name = Some(self.next_name());
        self.near.1 += 1;
    }

    /// The name of the next control state without a label.
    fn next_name(&self) -> String {
        let (near, number) = &self.near;
        if *number == 0 { near.clone() } else { format!("{near}_{number}") }
    }

    /// A fence takes no number, so that names stay what they are when fences are put in: the state before it is called
    /// after the one behind it. Where the one before it has a label, that behind it is called after the label.
    fn name_around_fence(&mut self, from: usize, to: usize) {
        match &self.states[from].name {
            None => self.states[from].name = Some(format!("fence_{}", self.next_name())),
            Some(label) if self.states[from].is_label && self.states[to].name.is_none() => {
                self.states[to].name = Some(format!("behind_{label}"));
            }
            Some(_) => {}
        }
    }
}

impl<'a> Builder<'a, '_> {
    fn list(&mut self, statements: &'a [Labelled], between: Between, level: usize) {
        let Between { mut from, mut is_choice, to } = between;
        for (position, labelled) in statements.iter().enumerate() {
            if position > 0 {
                self.flow.states[from].entry = Some(Place::new(labelled.extent, 2 * level, true));
            }
            let behind = if position + 1 == statements.len() { to } else { self.flow.state() };
            self.labelled(labelled, Between { from, is_choice, to: behind }, level, true);
            (from, is_choice) = (behind, false);
        }
    }

    fn labelled(&mut self, labelled: &'a Labelled, mut between: Between, level: usize, is_in_list: bool) {
        if let Some(label) = &labelled.label {
            // A state has one name, and where something else may begin there is no label.
            if between.is_choice || self.flow.states[between.from].is_label {
                let state = self.flow.state();
                let spot = Spot::Before(Place::new(labelled.extent, 2 * level, is_in_list));
                self.flow.emit(Draft::new(between.from, state, Way::plain(), label.span, spot));
                between = Between { from: state, is_choice: false, ..between };
            }
            if self.labels.insert(&label.text, between.from).is_some() {
                let error = Diagnostic::error(label.span, format!("there are two labels `{}`", label.text));
                self.findings.push(error.with_help("a label stands once in a process"));
            }
            self.flow.labels.push(label.text.clone());
            self.flow.near = (label.text.clone(), 1);
            let state = &mut self.flow.states[between.from];
            (state.name, state.is_label) = (Some(label.text.clone()), true);
        }
        self.statement(&labelled.statement, between, level, is_in_list);
    }

    fn statement(&mut self, statement: &'a Statement, between: Between, level: usize, is_in_list: bool) {
        let Between { from, is_choice, to } = between;
        let place = Place::new(statement.extent, 2 * level + 1, is_in_list);
        let span = statement.extent.span;
        match &statement.action {
            Action::Block(statements) => self.list(statements, between, level + 1),
            Action::Either(alternatives) => {
                let is_choice = is_choice || alternatives.len() > 1;
                for alternative in alternatives {
                    self.list(alternative, Between { is_choice, ..between }, level + 1);
                }
            }
            Action::Goto(label) => {
                self.gotos.push((self.flow.drafts.len(), label));
                let draft = Draft::new(from, to, Way::plain(), span, Spot::Before(place));
                self.flow.emit(Draft { is_goto: true, ..draft });
            }
            Action::If(condition, then, otherwise) => {
                let Ok(condition) = self.context.condition(condition, self.findings) else { return };
                let inside = self.flow.state();
                let outside = if otherwise.is_some() { self.flow.state() } else { to };
                let else_spot = match otherwise {
                    Some(otherwise) => into(otherwise, level + 1),
                    None => {
                        let is_open = matches!(then.statement.action, Action::If(..) | Action::While(..));
                        let then = Place::new(then.extent, 2 * (level + 1), false);
                        Spot::Else(place, is_open.then_some(then))
                    }
                };
                self.decide(condition, from, (inside, into(then, level + 1)), (outside, else_spot), statement.head);
                self.labelled(then, Between { from: inside, is_choice: false, to }, level + 1, false);
                if let Some(otherwise) = otherwise {
                    self.labelled(otherwise, Between { from: outside, is_choice: false, to }, level + 1, false);
                }
            }
            Action::While(condition, body) => {
                let Ok(condition) = self.context.condition(condition, self.findings) else { return };
                let mut head = from;
                if is_choice {
                    head = self.flow.state();
                    self.flow.emit(Draft::new(from, head, Way::plain(), statement.head, Spot::Before(place)));
                }
                self.flow.states[head].is_entered = true;
                let inside = self.flow.state();
                let behind = (to, Spot::After(place));
                self.decide(condition, head, (inside, into(body, level + 1)), behind, statement.head);
                self.labelled(body, Between { from: inside, is_choice: false, to: head }, level + 1, false);
            }
            _ => self.instruction(statement, between, place),
        }
    }

    /// Two instructions: what is done if a condition holds, and if not.
    fn decide(
        &mut self,
        condition: Expression,
        from: usize,
        (then, then_spot): (usize, Spot),
        (otherwise, else_spot): (usize, Spot),
        span: Span,
    ) {
        let way = |condition| Way { condition: Some(condition), ..Way::plain() };
        self.flow.emit(Draft::new(from, then, way(condition.clone()), span, then_spot));
        self.flow.emit(Draft::new(from, otherwise, way(not(condition)), span, else_spot));
    }

    /// A statement that is no control structure.
    fn instruction(&mut self, statement: &Statement, Between { from, to, .. }: Between, place: Place) {
        // An error was reported; without its instructions the rest is still checked.
        let Ok(ways) = self.context.ways(statement, self.findings).map_err(|Reported| ()) else { return };
        let span = statement.extent.span;
        for mut way in ways {
            let mut from = from;
            if let Some(select) = way.select.take() {
                let selected = self.flow.state();
                let select = Way { condition: Some(select), ..Way::plain() };
                self.flow.emit(Draft::new(from, selected, select, span, Spot::Before(place)));
                from = selected;
            }
            self.flow.emit(Draft::new(from, to, way, span, Spot::After(place)));
        }
    }

    /// Leads `goto`s to their labels, and takes those out that need no step.
    fn link(&mut self) {
        let mut targets: HashMap<usize, usize> = HashMap::new();
        for (draft, label) in std::mem::take(&mut self.gotos) {
            match self.labels.get(label.text.as_str()) {
                Some(&target) => {
                    self.flow.states[target].is_entered = true;
                    targets.insert(draft, target);
                }
                None => self.findings.push(unknown_label(label, "this process", &self.flow.labels)),
            }
        }
        let flow = &mut self.flow;
        let mut leaving = vec![0_usize; flow.states.len()];
        flow.drafts.iter().for_each(|draft| leaving[draft.from] += 1);
        // A target has a label, so that nothing is led on from there.
        let mut led: HashMap<usize, usize> = HashMap::new();
        for (position, draft) in flow.drafts.iter_mut().enumerate() {
            let Some(&target) = targets.get(&position) else { continue };
            draft.to = target;
            if leaving[draft.from] == 1 && !flow.states[draft.from].is_label {
                led.insert(draft.from, target);
            }
        }
        flow.drafts.retain(|draft| !draft.is_goto || !led.contains_key(&draft.from));
        for draft in &mut flow.drafts {
            draft.to = led.get(&draft.to).copied().unwrap_or(draft.to);
        }
        flow.begin = led.get(&0).copied().unwrap_or(0);
        for position in 0..flow.drafts.len() {
            let from = flow.drafts[position].from;
            if flow.states[from].name.is_none() {
                flow.name(from);
            }
        }
    }
}

/// The error of a program that is too large.
pub fn too_large(process: &Process) -> Diagnostic {
    let error = Diagnostic::error(process.span, "the program has too many instructions");
    error.with_help("make ranges smaller, or the number of processes")
}

/// Where a fence goes that is the first thing in a branch.
fn into(branch: &Labelled, level: usize) -> Spot {
    match (&branch.label, &branch.statement.action) {
        (None, Action::Block(_)) => Spot::Inside(Place::new(branch.statement.extent, 2 * level + 1, false)),
        _ => Spot::Before(Place::new(branch.extent, 2 * level, false)),
    }
}
