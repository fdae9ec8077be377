//! A tiny language for test programs, and its sequentially consistent state space.
//!
//! It shares nothing with the library: what it writes is `.aut` text in the native dialect, as another tool would
//! write it. A thread is an automaton; an instruction takes it from one control position to another in one atomic
//! step: an optional condition, then assignments. A condition that is false is a *blocked evaluation*, a self-loop
//! labelled `?!`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// A variable: shared or local, possibly an array element with a computed index.
#[derive(Clone, Debug)]
pub struct Var {
    pub name: String,
    pub local: bool,
    pub index: Option<Box<Expr>>,
}

#[derive(Clone, Debug)]
pub enum Expr {
    Const(i64),
    Var(Var),
    Op(fn(i64, i64) -> i64, Box<Expr>, Box<Expr>),
}

/// A shared variable.
pub fn shared(name: &str) -> Var {
    Var { name: name.to_owned(), local: false, index: None }
}

/// A local variable.
pub fn local(name: &str) -> Var {
    Var { name: name.to_owned(), local: true, index: None }
}

/// An element of a shared array.
pub fn element(name: &str, index: impl Into<Expr>) -> Var {
    Var { name: name.to_owned(), local: false, index: Some(Box::new(index.into())) }
}

impl From<Var> for Expr {
    fn from(var: Var) -> Expr {
        Expr::Var(var)
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::Const(value)
    }
}

/// Any function of two values; the comparisons give 0 or 1.
pub fn apply(op: fn(i64, i64) -> i64, left: impl Into<Expr>, right: impl Into<Expr>) -> Expr {
    Expr::Op(op, Box::new(left.into()), Box::new(right.into()))
}

pub fn is(left: impl Into<Expr>, right: impl Into<Expr>) -> Expr {
    apply(|a, b| i64::from(a == b), left, right)
}

pub fn or(left: Expr, right: Expr) -> Expr {
    apply(|a, b| i64::from(a != 0 || b != 0), left, right)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Fence,
    Atomic,
}

/// An instruction; `from` and `to` are control positions of its thread.
#[derive(Clone, Debug)]
pub struct Instr {
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
    pub condition: Option<Expr>,
    pub assignments: Vec<(Var, Expr)>,
}

/// An instruction that only waits for a condition.
pub fn wait(condition: impl Into<Expr>) -> Instr {
    let name = String::new();
    Instr { name, from: 0, to: 0, kind: Kind::Plain, condition: Some(condition.into()), assignments: Vec::new() }
}

/// An instruction that is one assignment.
pub fn set(target: Var, value: impl Into<Expr>) -> Instr {
    let assignments = vec![(target, value.into())];
    Instr { name: String::new(), from: 0, to: 0, kind: Kind::Plain, condition: None, assignments }
}

pub fn fence() -> Instr {
    Instr { kind: Kind::Fence, condition: None, ..wait(0) }
}

impl Instr {
    /// Another assignment in the same step.
    pub fn and_set(mut self, target: Var, value: impl Into<Expr>) -> Instr {
        self.assignments.push((target, value.into()));
        self
    }

    pub fn atomic(self) -> Instr {
        Instr { kind: Kind::Atomic, ..self }
    }
}

/// A thread; it starts at position 0.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    pub instrs: Vec<Instr>,
    /// Initial values of locals that do not start at 0.
    pub locals: BTreeMap<String, i64>,
}

impl Thread {
    /// Adds an instruction from one position to another; it is named by its number.
    pub fn jump(mut self, from: usize, to: usize, instr: Instr) -> Thread {
        let name = self.instrs.len().to_string();
        self.instrs.push(Instr { name, from, to, ..instr });
        self
    }

    /// Adds an instruction that goes on from where the last one led.
    pub fn then(self, instr: Instr) -> Thread {
        let from = self.instrs.last().map_or(0, |last| last.to);
        self.jump(from, from + 1, instr)
    }

    /// Adds an instruction that leads back to the start.
    pub fn again(self, instr: Instr) -> Thread {
        let from = self.instrs.last().map_or(0, |last| last.to);
        self.jump(from, 0, instr)
    }

    pub fn local(mut self, name: &str, value: i64) -> Thread {
        self.locals.insert(name.to_owned(), value);
        self
    }
}

/// A program: threads `T0`, `T1`, … over shared variables, which start at 0 unless said otherwise.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub threads: Vec<Thread>,
    pub initial: BTreeMap<String, i64>,
}

impl Program {
    pub fn new(threads: Vec<Thread>) -> Program {
        Program { threads, initial: BTreeMap::new() }
    }

    pub fn initially(mut self, name: &str, value: i64) -> Program {
        self.initial.insert(name.to_owned(), value);
        self
    }

    /// The state before the first step.
    pub fn start(&self) -> State {
        State {
            positions: vec![0; self.threads.len()],
            shared: self.initial.clone(),
            locals: self.threads.iter().map(|thread| thread.locals.clone()).collect(),
        }
    }
}

/// Variables that are absent have the value 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    pub positions: Vec<usize>,
    pub shared: BTreeMap<String, i64>,
    pub locals: Vec<BTreeMap<String, i64>>,
}

impl State {
    /// The value of an expression; every variable read is added to `reads` as a label writes it.
    pub fn eval(&self, thread: usize, expr: &Expr, reads: &mut Vec<String>) -> i64 {
        match expr {
            Expr::Const(value) => *value,
            Expr::Op(op, left, right) => op(self.eval(thread, left, reads), self.eval(thread, right, reads)),
            Expr::Var(var) => {
                let (name, access) = self.resolve(thread, var);
                // Each mention of a shared variable is a read of its own.
                if !var.local || !reads.contains(&access) {
                    reads.push(access);
                }
                let values = if var.local { &self.locals[thread] } else { &self.shared };
                values.get(&name).copied().unwrap_or(0)
            }
        }
    }

    /// The name with its index evaluated, and the access as a label writes it.
    pub fn resolve(&self, thread: usize, var: &Var) -> (String, String) {
        let mut address = Vec::new();
        let name = match &var.index {
            None => var.name.clone(),
            Some(index) => format!("{}[{}]", var.name, self.eval(thread, index, &mut address)),
        };
        let mark = if var.local { "~" } else { "" };
        let needs = if address.is_empty() { String::new() } else { format!("@({})", address.join(", ")) };
        let access = format!("{mark}{name}{needs}");
        (name, access)
    }

    pub fn assign(&mut self, thread: usize, target: &Var, value: i64) {
        let (name, _) = self.resolve(thread, target);
        put(if target.local { &mut self.locals[thread] } else { &mut self.shared }, &name, value);
    }

    /// Writes to a location of which the index is evaluated already.
    pub fn store(&mut self, location: &str, value: i64) {
        put(&mut self.shared, location, value);
    }
}

/// One state, one representation: 0 is the value of what is absent.
fn put(values: &mut BTreeMap<String, i64>, name: &str, value: i64) {
    if value == 0 {
        values.remove(name);
    } else {
        values.insert(name.to_owned(), value);
    }
}

/// The label of the instruction in this state, and the state that it leads to.
fn step(program: &Program, state: &State, thread: usize, instr: &Instr) -> (String, State) {
    let word = match instr.kind {
        Kind::Plain => "",
        Kind::Fence => "fence",
        Kind::Atomic => "atomic ",
    };
    let head = format!("T{thread}.{}: {word}", instr.name);
    let mut after = state.clone();
    let mut steps = Vec::new();
    if let Some(condition) = &instr.condition {
        let mut reads = Vec::new();
        if state.eval(thread, condition, &mut reads) == 0 {
            return (format!("{head}?! {}", reads.join(", ")), after);
        }
        steps.push(format!("? {}", reads.join(", ")));
    }
    for (target, value) in &instr.assignments {
        let mut reads = Vec::new();
        let value = after.eval(thread, value, &mut reads);
        let (_, access) = after.resolve(thread, target);
        steps.push(format!("{access} := {}", reads.join(", ")).trim_end().to_owned());
        // A local that nobody reads would only multiply states that behave alike.
        if !target.local || program.threads[thread].reads_local(&target.name) {
            after.assign(thread, target, value);
        }
    }
    after.positions[thread] = instr.to;
    (format!("{head}{}", steps.join("; ")), after)
}

impl Thread {
    fn reads_local(&self, name: &str) -> bool {
        fn mentions(expr: &Expr, name: &str) -> bool {
            match expr {
                Expr::Const(_) => false,
                Expr::Op(_, left, right) => mentions(left, name) || mentions(right, name),
                Expr::Var(var) => (var.local && var.name == name) || in_index(var, name),
            }
        }
        fn in_index(var: &Var, name: &str) -> bool {
            var.index.as_ref().is_some_and(|index| mentions(index, name))
        }
        self.instrs.iter().any(|instr| {
            instr.condition.as_ref().is_some_and(|condition| mentions(condition, name))
                || instr.assignments.iter().any(|(var, value)| mentions(value, name) || in_index(var, name))
        })
    }
}

/// The reachable state space as `.aut` text; states are numbered breadth first.
pub fn state_space(program: &Program) -> String {
    let mut numbers: HashMap<State, usize> = HashMap::from([(program.start(), 0)]);
    let mut queue = vec![program.start()];
    let (mut body, mut transitions, mut next) = (String::new(), 0, 0);
    while next < queue.len() {
        let state = queue[next].clone();
        for (thread, automaton) in program.threads.iter().enumerate() {
            for instr in automaton.instrs.iter().filter(|instr| instr.from == state.positions[thread]) {
                let (label, after) = step(program, &state, thread, instr);
                let to = *numbers.entry(after).or_insert_with_key(|after| {
                    queue.push(after.clone());
                    queue.len() - 1
                });
                writeln!(body, "({next},\"{label}\",{to})").expect("a string takes everything");
                transitions += 1;
            }
        }
        next += 1;
    }
    format!("des (0,{transitions},{})\n{body}", queue.len())
}
