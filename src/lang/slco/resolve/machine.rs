//! State machines to threads.

use super::Findings;
use super::expressions::{Variables, described};
use super::names::{check_unique, unknown};
use super::variables;
use crate::ids::ControlAt;
use crate::lang::Diagnostic;
use crate::lang::names::Numbers;
use crate::lang::slco::syntax::{self, Machine, Name, Statement, Transition};
use crate::program::{
    Assignment, Expression, Instruction, InstructionKind, Marks, Mention, Scope, Span, Thread, Type, UnaryOperator,
    Variable,
};
use std::collections::HashMap;

/// An assertion of a thread.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// Where the thread is if it has failed.
    pub failed: ControlAt,
    /// The condition as it is written.
    pub text: String,
    /// Between which states it stands: `A -> B`.
    pub transition: String,
}

/// The thread of a machine whose class has these variables, and its assertions.
pub fn thread(machine: &Machine, shared: &[Variable], findings: &mut Findings) -> (Thread, Vec<Assertion>) {
    check_unique("variables", machine.variables.iter().map(|variable| &variable.name), findings);
    let is_initial = |name: &&Name| name.text == machine.initial.text;
    for again in machine.states.iter().filter(is_initial).take(1) {
        let message = format!("`{}` is the initial state, and declared once more", again.text);
        let help = "behind `states` stand the others; it is taken as one state";
        findings.push(Diagnostic::warning(again.span, message).with_help(help));
    }
    let names = || std::iter::once(&machine.initial).chain(machine.states.iter().filter(|name| !is_initial(name)));
    check_unique("states", machine.states.iter(), findings);
    let locals = variables::variables(&machine.variables, findings);
    let mut builder = Builder {
        states: names().map(|name| name.text.clone()).collect(),
        positions: names().enumerate().map(|(at, name)| (name.text.as_str(), ControlAt::new(at))).collect(),
        numbers: Numbers::default(),
        instructions: Vec::new(),
        assertions: Vec::new(),
        variables: Variables::new(shared, &locals),
        findings,
    };
    for transition in &machine.transitions {
        builder.transition(machine, transition);
    }
    let (states, instructions, assertions) = builder.finish();
    let failed = || (1..=assertions.len()).map(failed_state);
    for name in names().filter(|name| failed().any(|failed| failed == name.text)) {
        let message = format!("`{}` is where `{}` is if an assertion fails", name.text, machine.name.text);
        findings.push(Diagnostic::error(name.span, message).with_help("give this state another name"));
    }
    (Thread { name: machine.name.text.clone(), locals, states, initial: ControlAt(0), instructions }, assertions)
}

/// What the control state is called in which the assertion with this number has failed; the first one has 1. It is a
/// word, so that conditions on states can name it.
fn failed_state(number: usize) -> String {
    format!("failed_{number}")
}

/// What is wrong with the marks of an instruction: a mark that no access can carry.
fn idle_mark(instruction: &Instruction) -> Option<&'static str> {
    let marks = instruction.kind.marks();
    let (mut reads, mut writes) = (false, false);
    instruction.for_each_reference(&mut |mention, reference| {
        if reference.scope == Scope::Shared {
            reads |= mention == Mention::Read;
            writes |= mention == Mention::Written;
        }
    });
    match () {
        () if marks.is_empty() => None,
        () if !reads && !writes => Some("this statement has a mark, and accesses nothing that is shared"),
        () if !reads && marks.has(Marks::ACQUIRE) => {
            Some("this statement is marked `acquire`, and reads nothing shared")
        }
        () if !reads && marks.has(Marks::ACQUIRE_PC) => {
            Some("this statement is marked `acquire_pc`, and reads nothing shared")
        }
        () if !writes && marks.has(Marks::RELEASE) => {
            Some("this statement is marked `release`, and writes nothing shared")
        }
        () => None,
    }
}

struct Builder<'a> {
    states: Vec<String>,
    numbers: Numbers,
    positions: HashMap<&'a str, ControlAt>,
    instructions: Vec<Instruction>,
    assertions: Vec<Assertion>,
    variables: Variables<'a>,
    findings: &'a mut Findings,
}

/// Where an instruction stands in its thread.
#[derive(Clone, Copy)]
struct Step {
    from: ControlAt,
    to: ControlAt,
    priority: u32,
}

impl Builder<'_> {
    fn finish(self) -> (Vec<String>, Vec<Instruction>, Vec<Assertion>) {
        (self.states, self.instructions, self.assertions)
    }

    fn transition(&mut self, machine: &Machine, transition: &Transition) {
        // After an error any state does: there will be no program.
        let from = self.state(machine, &transition.from).unwrap_or(ControlAt(0));
        let to = self.state(machine, &transition.to).unwrap_or(ControlAt(0));
        let priority = transition.priority;
        let Some((last, others)) = transition.statements.split_last() else {
            self.instruction(Step { from, to, priority }, None, transition.span);
            return;
        };
        // Only the first statement competes with other transitions: nothing else leaves the states in between.
        let mut step = Step { from, to, priority };
        for statement in others {
            let (between, leads_there) = (ControlAt::new(self.states.len()), self.instructions.len());
            self.states.push(String::new());
            step.to = between;
            self.statement(step, statement, transition);
            // The name of the instruction that leads there makes the name unique.
            let leads_there = &self.instructions[leads_there].name;
            self.states[between.index()] = format!("{}->{}.{leads_there}", transition.from.text, transition.to.text);
            step = Step { from: between, to, priority: 0 };
        }
        self.statement(step, last, transition);
    }

    /// The instruction of a statement, or both if it is an assertion: the second one leads to where it has failed.
    fn statement(&mut self, step: Step, statement: &Statement, transition: &Transition) {
        self.instruction(step, Some(statement), statement.span);
        let Some(text) = statement.assertion.clone() else { return };
        let failed = ControlAt::new(self.states.len());
        self.states.push(failed_state(self.assertions.len() + 1));
        let transition = format!("{} -> {}", transition.from.text, transition.to.text);
        self.assertions.push(Assertion { failed, text, transition });
        if let Some(mut instruction) = self.instructions.last().cloned() {
            instruction.name = self.numbers.of(instruction.kind);
            instruction.to = failed;
            let negated = |condition| Expression::Unary(UnaryOperator::Not, Box::new(condition));
            instruction.condition = instruction.condition.map(negated);
            self.instructions.push(instruction);
        }
    }

    fn state(&mut self, machine: &Machine, name: &Name) -> Option<ControlAt> {
        let position = self.positions.get(name.text.as_str()).copied();
        if position.is_none() {
            let known = std::iter::once(&machine.initial).chain(&machine.states).map(|state| state.text.as_str());
            self.findings.push(unknown("state", name, known));
        }
        position
    }

    fn instruction(&mut self, step: Step, statement: Option<&Statement>, span: Span) {
        let Step { from, to, priority } = step;
        let mut instruction = Instruction {
            name: String::new(),
            from,
            to,
            priority,
            condition: None,
            assignments: Vec::new(),
            kind: InstructionKind::Plain,
            span,
        };
        if let Some(statement) = statement {
            instruction.kind = statement.kind;
            instruction.condition = statement.condition.as_ref().and_then(|condition| self.condition(condition));
            instruction.assignments =
                statement.assignments.iter().filter_map(|assignment| self.assignment(assignment)).collect();
            let is_whole = instruction.condition.is_some() == statement.condition.is_some()
                && instruction.assignments.len() == statement.assignments.len();
            if is_whole && let Some(problem) = idle_mark(&instruction) {
                let help = "`acquire` is for reads of shared variables, `release` for writes, `acq_rel` for both in one statement";
                self.findings.push(Diagnostic::error(span, problem).with_help(help));
            }
        }
        instruction.name = self.numbers.of(instruction.kind);
        self.instructions.push(instruction);
    }

    fn condition(&mut self, condition: &syntax::Expression) -> Option<Expression> {
        let help = "a statement is a condition, which is a Boolean, or an assignment, which is written `:=`";
        self.variables.expression_of(Type::Boolean, help, condition, self.findings)
    }

    fn assignment(&mut self, assignment: &syntax::Assignment) -> Option<Assignment> {
        let Some(target) = self.variables.reference(&assignment.target, self.findings) else {
            // The value is checked all the same, for its own errors.
            let _ = self.variables.expression(&assignment.value, self.findings);
            return None;
        };
        let help = format!("`{}` is {}", assignment.target.name.text, described(target.ty));
        let value = self.variables.expression_of(target.ty, &help, &assignment.value, self.findings)?;
        Some(Assignment { target: target.node, value })
    }
}
