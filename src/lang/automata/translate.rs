//! The syntax tree to the program.

use super::expressions::{boolean, integer, register};
use super::regions::{self, Region};
use super::syntax::{self, Action, Automata, Location, Memory, Name, Transition};
use crate::ids::ControlAt;
use crate::lang::names::{Unique, call_by_ends, plain};
use crate::lang::similar::nearest;
use crate::lang::{Diagnostic, Parsed, Severity};
use crate::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread,
    Type, Variable,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the array of all addresses is called.
const MEMORY: &str = "m";
/// How large the memory is if addresses are computed and the text does not say it: what Trencher takes.
const DEFAULT_MEMORY: usize = 10;

/// Translates a program, or tells all that is wrong with it.
pub fn program(source: &Automata) -> Result<Parsed, Vec<Diagnostic>> {
    let mut findings = Vec::new();
    let mut names = Unique::default();
    let shared = match &source.memory {
        Memory::Addresses(declared) => {
            let size = memory_size(source, *declared, &mut findings);
            vec![variable(MEMORY.to_owned(), vec![0; size], declared.map_or(Span::default(), |(_, span)| span))]
        }
        Memory::Variables(variables) => {
            let unique = |name: &Name| variable(names.of(&plain(&name.text), '_'), vec![0], name.span);
            variables.iter().map(unique).collect()
        }
    };
    let shared: Vec<Variable> = shared
        .into_iter()
        .map(|variable| Variable { is_array: matches!(source.memory, Memory::Addresses(_)), ..variable })
        .collect();
    let mut threads = Vec::new();
    let mut taken: HashMap<String, Span> = HashMap::new();
    let mut names = Unique::default();
    for thread in &source.threads {
        let built = Builder::new(thread, &shared).thread(&mut findings);
        for name in copies(thread) {
            if threads.len() == MAX_THREADS {
                let error = Diagnostic::error(thread.name.span, format!("there are more than {MAX_THREADS} threads"));
                return Err(vec![error.with_help("a number behind the name of a thread makes so many copies of it")]);
            }
            if taken.insert(name.clone(), thread.name.span).is_some() {
                let error = Diagnostic::error(thread.name.span, format!("there are two threads `{name}`"));
                findings.push(match thread.count {
                    Some(_) => error.with_help("the copies of a thread `NAME` are called `NAME_1`, `NAME_2`, …"),
                    None => error.with_help("every thread has a name of its own"),
                });
                // The other copies have been there before, too.
                break;
            }
            threads.push(Thread { name: names.of(&plain(&name), '_'), ..built.clone() });
        }
    }
    let (errors, mut warnings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.severity == Severity::Error);
    if !errors.is_empty() {
        return Err(errors);
    }
    warnings.sort_by_key(|warning| warning.span);
    warnings.dedup();
    // File names have hyphens as blanks.
    let name = plain(&source.name.replace('-', "_"));
    Ok(Parsed { program: Program { name, shared, threads }, properties: Vec::new(), warnings })
}

fn variable(name: String, initial: Vec<i64>, span: Span) -> Variable {
    Variable { name, ty: Type::Integer, modulus: None, is_array: false, initial, span }
}

/// How many threads there may be, all copies together.
const MAX_THREADS: usize = 10_000;

/// The names of a thread's copies.
fn copies(thread: &syntax::Thread) -> impl Iterator<Item = String> {
    let numbers = thread.count.map_or(0..=0, |(count, _)| 1..=count);
    numbers.map(|number| match thread.count {
        None => thread.name.text.clone(),
        Some(_) => format!("{}_{number}", thread.name.text),
    })
}

/// How large the memory is; addresses that it does not have are errors.
fn memory_size(source: &Automata, declared: Option<(usize, Span)>, findings: &mut Vec<Diagnostic>) -> usize {
    let mut needed = 0;
    let mut is_computed = false;
    let limit = declared.map_or(super::tools::MAX_MEMORY, |(size, _)| size);
    for transition in source.threads.iter().flat_map(|thread| &thread.transitions) {
        let Some(Location::Address(address)) = transition.action.location() else { continue };
        let syntax::Expression::Constant(value, span) = address else {
            is_computed = true;
            continue;
        };
        match usize::try_from(*value).ok().filter(|value| *value < limit) {
            Some(value) => needed = needed.max(value + 1),
            None => {
                let error = Diagnostic::error(*span, format!("the memory has no address {value}"));
                findings.push(match declared {
                    _ if *value < 0 => error.with_help("addresses begin with 0"),
                    Some((size, _)) => {
                        error.with_help(format!("`memory_size {size}` gives the addresses 0 to {}", size - 1))
                    }
                    None => error.with_help(format!("the largest memory has {limit} addresses")),
                });
            }
        }
    }
    match declared {
        Some((size, _)) => size,
        None if is_computed => needed.max(DEFAULT_MEMORY),
        None => needed.max(1),
    }
}

/// Builds a thread; regions ask it for parts of their instructions.
pub struct Builder<'a> {
    source: &'a syntax::Thread,
    memory_size: usize,
    registers: HashMap<&'a str, usize>,
    locals: Vec<Variable>,
    outgoing: HashMap<&'a str, Vec<&'a Transition>>,
}

impl<'a> Builder<'a> {
    fn new(source: &'a syntax::Thread, shared: &[Variable]) -> Builder<'a> {
        let mut registers = HashMap::new();
        let mut locals = Vec::new();
        let mut names = Unique::default();
        let mut declare = |name: &'a Name| {
            if !registers.contains_key(name.text.as_str()) {
                registers.insert(name.text.as_str(), locals.len());
                locals.push(variable(names.of(&plain(&name.text), '_'), vec![0], name.span));
            }
        };
        match &source.registers {
            Some(declared) => declared.iter().for_each(&mut declare),
            None => {
                for transition in &source.transitions {
                    transition.action.assigned().into_iter().for_each(&mut declare);
                    for expression in transition.action.expressions() {
                        expression.for_each_register(&mut declare);
                    }
                }
            }
        }
        let mut outgoing: HashMap<&str, Vec<&Transition>> = HashMap::new();
        for transition in &source.transitions {
            outgoing.entry(&transition.from.text).or_default().push(transition);
        }
        let memory_size = shared.first().map_or(0, |memory| memory.initial.len());
        Builder { source, memory_size, registers, locals, outgoing }
    }

    /// The transitions from a state.
    pub fn outgoing(&self, state: &str) -> &[&'a Transition] {
        self.outgoing.get(state).map_or(&[], Vec::as_slice)
    }

    fn thread(&self, findings: &mut Vec<Diagnostic>) -> Thread {
        let mut regions: HashMap<Span, Vec<Region<'a>>> = HashMap::new();
        let mut inside: HashSet<&str> = HashSet::new();
        let outside = self.reachable(&mut regions, &mut inside, findings);
        self.warn_unreachable(&outside, &inside, findings);
        self.warn_unassigned(findings);

        let mut states: Vec<&str> = vec![&self.source.initial.text];
        let mut positions: HashMap<&str, ControlAt> = HashMap::from([(states[0], ControlAt(0))]);
        let mut state = |name: &'a str| {
            *positions.entry(name).or_insert_with(|| {
                states.push(name);
                ControlAt::new(states.len() - 1)
            })
        };
        let mut instructions = Vec::new();
        for transition in self.source.transitions.iter().filter(|t| outside.contains(t.from.text.as_str())) {
            let from = state(&transition.from.text);
            let mut add = |to_position: ControlAt, parts: Parts, span: Span| {
                instructions.push(Instruction {
                    name: String::new(),
                    from,
                    to: to_position,
                    priority: 0,
                    condition: parts.condition,
                    assignments: parts.assignments,
                    kind: parts.kind,
                    span,
                });
            };
            match &transition.action {
                Action::Unlock => {}
                Action::Lock => {
                    for region in regions.remove(&transition.span).unwrap_or_default() {
                        let to = state(&region.to.text);
                        add(to, region.parts, region.span);
                    }
                }
                action => {
                    let to = state(&transition.to.text);
                    add(to, self.parts(action), transition.span);
                }
            }
        }
        let states: Vec<String> = states.into_iter().map(plain).collect();
        call_by_ends(&states, &mut instructions);
        let mut names = Unique::default();
        Thread {
            name: String::new(),
            locals: self.locals.clone(),
            states: states.iter().map(|state| names.of(state, '_')).collect(),
            initial: ControlAt(0),
            instructions,
        }
    }

    /// The states that are reached outside of regions; those inside and the ways through regions on the way.
    fn reachable(
        &self,
        regions: &mut HashMap<Span, Vec<Region<'a>>>,
        inside: &mut HashSet<&'a str>,
        findings: &mut Vec<Diagnostic>,
    ) -> HashSet<&'a str> {
        let mut reached: HashSet<&str> = HashSet::from([self.source.initial.text.as_str()]);
        let mut open: Vec<&str> = vec![&self.source.initial.text];
        while let Some(state) = open.pop() {
            for transition in self.outgoing(state) {
                let targets: Vec<&str> = match &transition.action {
                    Action::Unlock => {
                        let warning =
                            Diagnostic::warning(transition.span, "nothing is locked here: this is never taken");
                        findings.push(warning.with_help("`unlock` ends what `lock` has begun"));
                        Vec::new()
                    }
                    Action::Lock => {
                        let ways = regions::ways(self, transition, inside, findings);
                        let targets = ways.iter().map(|way| way.to.text.as_str()).collect();
                        regions.insert(transition.span, ways);
                        targets
                    }
                    _ => vec![&transition.to.text],
                };
                open.extend(targets.into_iter().filter(|target| reached.insert(target)));
            }
        }
        reached
    }

    fn warn_unreachable(&self, outside: &HashSet<&str>, inside: &HashSet<&str>, findings: &mut Vec<Diagnostic>) {
        let mut warned: BTreeSet<&str> = BTreeSet::new();
        for transition in &self.source.transitions {
            let state = transition.from.text.as_str();
            if !outside.contains(state) && !inside.contains(state) && warned.insert(state) {
                let message = format!("state `{state}` is never reached: what leads from there is left out");
                findings.push(Diagnostic::warning(transition.from.span, message));
            }
        }
    }

    /// A register that nothing is assigned to is probably misspelt.
    fn warn_unassigned(&self, findings: &mut Vec<Diagnostic>) {
        let actions = || self.source.transitions.iter().map(|transition| &transition.action);
        let assigned: BTreeSet<&str> = actions().filter_map(Action::assigned).map(|name| name.text.as_str()).collect();
        let mut warned: BTreeSet<&str> = BTreeSet::new();
        for expression in actions().flat_map(Action::expressions) {
            expression.for_each_register(&mut |name| {
                if !assigned.contains(name.text.as_str()) && warned.insert(&name.text) {
                    let message = format!("register `{}` is never assigned: it is always 0", name.text);
                    let warning = Diagnostic::warning(name.span, message);
                    findings.push(match nearest(&name.text, assigned.iter().copied()) {
                        Some(meant) => warning.with_help(format!("did you mean `{meant}`?")),
                        None => warning,
                    });
                }
            });
        }
    }

    /// An expression as an integer.
    pub fn integer(&self, expression: &syntax::Expression) -> Expression {
        integer(expression, &|name| self.registers[name])
    }

    /// An expression as a condition.
    pub fn boolean(&self, expression: &syntax::Expression) -> Expression {
        boolean(expression, &|name| self.registers[name])
    }

    /// The position of a register.
    pub fn register(&self, name: &Name) -> usize {
        self.registers[name.text.as_str()]
    }

    /// The place in memory; outside of it is a fault.
    fn location(&self, location: &Location) -> Reference {
        let mut reference = self.unchecked_location(location);
        if let Some(index) = &mut reference.index
            && !matches!(**index, Expression::Constant(_))
        {
            let size = Expression::Constant(i64::try_from(self.memory_size).unwrap_or(i64::MAX));
            let address = std::mem::replace(&mut **index, Expression::Constant(0));
            **index = Expression::Binary(BinaryOperator::Bounded, Box::new(address), Box::new(size), reference.span);
        }
        reference
    }

    /// The place in memory; outside of it 0 is read.
    pub fn unchecked_location(&self, location: &Location) -> Reference {
        match location {
            Location::Address(address) => Reference {
                scope: Scope::Shared,
                variable: 0,
                index: Some(Box::new(self.integer(address))),
                span: address.span(),
            },
            Location::Variable(variable, span) => {
                Reference { scope: Scope::Shared, variable: *variable, index: None, span: *span }
            }
        }
    }

    /// What an action outside of a region does.
    fn parts(&self, action: &Action) -> Parts {
        Parts {
            condition: match action {
                Action::Check(expression) => Some(self.boolean(expression)),
                Action::Exchange(location, expected, _) => {
                    let read = Expression::Read(self.location(location));
                    let expected_value = Box::new(self.integer(expected));
                    let span = expected.span();
                    Some(Expression::Binary(BinaryOperator::Equal, Box::new(read), expected_value, span))
                }
                _ => None,
            },
            assignments: self.assignment(action).into_iter().collect(),
            kind: match action {
                Action::Fence => InstructionKind::Fence,
                Action::Exchange(..) => InstructionKind::Atomic,
                _ => InstructionKind::Plain,
            },
        }
    }

    /// What an action assigns.
    pub fn assignment(&self, action: &Action) -> Option<Assignment> {
        Some(match action {
            Action::Write(value, location) => {
                Assignment { target: self.location(location), value: self.integer(value) }
            }
            Action::Exchange(location, _, new) => {
                Assignment { target: self.location(location), value: self.integer(new) }
            }
            Action::Read(name, location) => Assignment {
                target: register(self.register(name), name.span),
                value: Expression::Read(self.location(location)),
            },
            Action::Local(name, value) => {
                Assignment { target: register(self.register(name), name.span), value: self.integer(value) }
            }
            Action::Check(_) | Action::Fence | Action::Lock | Action::Unlock | Action::Skip => return None,
        })
    }
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What must hold.
    pub condition: Option<Expression>,
    /// What it does.
    pub assignments: Vec<Assignment>,
    /// How it takes part in the ordering.
    pub kind: InstructionKind,
}
