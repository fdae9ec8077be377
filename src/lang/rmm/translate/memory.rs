//! The shared variables: where each one is, and which values it has.

use crate::lang::Diagnostic;
use crate::lang::names::Unique;
use crate::lang::rmm::syntax::{Declaration, Model};
use crate::lang::similar::nearest;
use crate::program::{Span, Type, Variable};
use std::collections::HashMap;

/// Of how many values one may be chosen at the start.
const MAX_VALUES: i64 = 1000;

/// A range of values; none is all integers.
pub type Range = Option<(i64, i64)>;

/// A variable whose value at the start is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// Its position.
    pub variable: usize,
    /// The values that it may have.
    pub values: (i64, i64),
    /// Where it is declared.
    pub span: Span,
}

/// The shared variables.
pub struct Memory {
    /// All of them, those that are not declared included.
    pub variables: Vec<Variable>,
    /// Their ranges.
    pub ranges: Vec<Range>,
    /// Those whose value at the start is chosen.
    pub chosen: Vec<Chosen>,
    /// Tells that they have been chosen, if there are some and several processes.
    pub started: Option<usize>,
    /// How many global variables there are; they come first.
    pub num_of_globals: usize,
    /// How many processes there are.
    pub num_of_processes: usize,
    globals: HashMap<String, usize>,
    /// By process.
    own: Vec<HashMap<String, usize>>,
}

impl Memory {
    /// The variables of a program with these processes, by their positions in the text.
    pub fn new(model: &Model, copies: &[usize], findings: &mut Vec<Diagnostic>) -> Memory {
        let mut memory = Memory {
            variables: Vec::new(),
            ranges: Vec::new(),
            chosen: Vec::new(),
            started: None,
            num_of_globals: model.globals.len(),
            num_of_processes: copies.len(),
            globals: HashMap::new(),
            own: Vec::new(),
        };
        let mut names = Unique::default();
        for declaration in &model.globals {
            let position = memory.declare(declaration, names.of(&declaration.name.text, '_'), findings);
            memory.globals.insert(declaration.name.text.clone(), position);
        }
        for (pid, &position) in copies.iter().enumerate() {
            let mut own = HashMap::new();
            for declaration in &model.processes[position].data {
                let name = names.of(&format!("{}_P{pid}", declaration.name.text), '_');
                own.insert(declaration.name.text.clone(), memory.declare(declaration, name, findings));
            }
            memory.own.push(own);
        }
        if !memory.chosen.is_empty() && copies.len() > 1 {
            memory.started = Some(memory.variables.len());
            memory.variables.push(variable(names.of("started", '_'), 0, Span::default()));
            memory.ranges.push(Some((0, 1)));
        }
        memory
    }

    fn declare(&mut self, declaration: &Declaration, name: String, findings: &mut Vec<Diagnostic>) -> usize {
        let position = self.variables.len();
        let initial = match declaration.initial {
            Some(initial) => initial,
            None => match values(declaration) {
                Ok(values) => {
                    self.chosen.push(Chosen { variable: position, values, span: declaration.span });
                    values.0
                }
                Err(error) => {
                    findings.push(error);
                    0
                }
            },
        };
        self.variables.push(variable(name, initial, declaration.name.span));
        self.ranges.push(declaration.range);
        position
    }

    /// A global variable.
    pub fn global(&self, name: &str) -> Option<usize> {
        self.globals.get(name).copied()
    }

    /// A variable of a process.
    pub fn of_process(&self, pid: usize, name: &str) -> Option<usize> {
        self.own.get(pid)?.get(name).copied()
    }

    /// What to do about a name that no global variable, or no variable of a process, has.
    pub fn help(&self, name: &str, pid: Option<usize>) -> String {
        let own = |pid: usize| self.own.get(pid).into_iter().flat_map(HashMap::keys).map(String::as_str);
        let nearest = match pid {
            Some(pid) => nearest(name, own(pid)),
            None => nearest(name, self.globals.keys().map(String::as_str)),
        };
        match (nearest, pid) {
            (Some(meant), _) => format!("did you mean `{meant}`?"),
            (None, None) if self.own.iter().any(|own| own.contains_key(name)) => {
                format!(
                    "`{name}` belongs to a process: `{name}[my]` is its own, `{name}[0]` that of the first other one"
                )
            }
            (None, Some(_)) if self.globals.contains_key(name) => {
                format!("`{name}` is global and stands without `[ ]`")
            }
            (None, None) => "global variables are declared behind `data`, before the first `process`".to_owned(),
            (None, Some(_)) => "variables of a process are declared behind its `data`".to_owned(),
        }
    }
}

/// The values of which one is chosen, if they are not too many.
pub fn values(declaration: &Declaration) -> Result<(i64, i64), Diagnostic> {
    let name = &declaration.name.text;
    let Some((low, high)) = declaration.range else {
        let error = Diagnostic::error(declaration.span, format!("`{name}` starts with any integer: that is too many"));
        return Err(error.with_help(format!("give it a range, as `{name} = * : [0:1]`, or one value, as `{name} = 0`")));
    };
    if high.checked_sub(low).is_none_or(|difference| difference >= MAX_VALUES) {
        let error = Diagnostic::error(declaration.span, format!("`{name}` starts with more than {MAX_VALUES} values"));
        return Err(error.with_help(format!("give it a smaller range, as `{name} = * : [0:1]`, or one value")));
    }
    Ok((low, high))
}

/// A variable that is no array.
pub fn variable(name: String, initial: i64, span: Span) -> Variable {
    Variable { name, ty: Type::Integer, modulus: None, is_array: false, initial: vec![initial], span }
}
