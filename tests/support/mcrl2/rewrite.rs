//! Terms to values, with the equations of the specification.

use std::fmt;
use std::rc::Rc;

/// A term that cannot be rewritten further.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Bool(bool),
    Int(i128),
    List(Rc<Vec<Value>>),
    Constructed(Rc<str>, Rc<Vec<Value>>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::List(items) => write!(f, "[{}]", joined(items)),
            Value::Constructed(name, arguments) if arguments.is_empty() => f.write_str(name),
            Value::Constructed(name, arguments) => write!(f, "{name}({})", joined(arguments)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Builtin {
    If,
    Int2Pos,
    Int2Nat,
    Exp,
    Not,
    Minus,
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Div,
    Mod,
    Cons,
    Concat,
}

/// A term with its names resolved.
#[derive(Debug)]
pub enum Code {
    Constant(Value),
    Variable(usize),
    Construct(Rc<str>, Vec<Code>),
    Map(usize, Vec<Code>),
    List(Vec<Code>),
    Builtin(Builtin, Vec<Code>),
}

impl Code {
    pub fn for_each_variable(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Code::Constant(_) => {}
            Code::Variable(slot) => visit(*slot),
            Code::Construct(_, codes) | Code::Map(_, codes) | Code::List(codes) | Code::Builtin(_, codes) => {
                for code in codes {
                    code.for_each_variable(visit);
                }
            }
        }
    }
}

#[derive(Debug)]
pub enum Pattern {
    Variable(usize),
    Empty,
    Cons(Box<Pattern>, Box<Pattern>),
}

impl Pattern {
    /// Whether a value matches; its parts go to the variables.
    fn matches(&self, value: &Value, variables: &mut [Option<Value>]) -> bool {
        match (self, value) {
            (Pattern::Variable(slot), _) => {
                variables[*slot] = Some(value.clone());
                true
            }
            (Pattern::Empty, Value::List(items)) => items.is_empty(),
            (Pattern::Cons(head, tail), Value::List(items)) => items.split_first().is_some_and(|(first, rest)| {
                head.matches(first, variables) && tail.matches(&Value::List(Rc::new(rest.to_vec())), variables)
            }),
            _ => false,
        }
    }
}

#[derive(Debug)]
pub struct Equation {
    pub patterns: Vec<Pattern>,
    pub condition: Option<Code>,
    pub right: Code,
    pub variables: usize,
}

/// The equations, by map.
pub struct Equations {
    by_map: Vec<Vec<Equation>>,
}

impl Equations {
    pub fn new(maps: usize) -> Equations {
        Equations { by_map: (0..maps).map(|_| Vec::new()).collect() }
    }

    pub fn add(&mut self, map: usize, equation: Equation) {
        self.by_map[map].push(equation);
    }

    /// The value of a term. One that has none is a panic.
    pub fn evaluate(&self, code: &Code, variables: &[Value]) -> Value {
        let all = |codes: &[Code]| codes.iter().map(|code| self.evaluate(code, variables)).collect::<Vec<_>>();
        match code {
            Code::Constant(value) => value.clone(),
            Code::Variable(slot) => variables[*slot].clone(),
            Code::Construct(name, codes) => Value::Constructed(name.clone(), Rc::new(all(codes))),
            Code::List(codes) => Value::List(Rc::new(all(codes))),
            Code::Map(map, codes) => self.rewrite(*map, &all(codes)),
            Code::Builtin(builtin, codes) => self.builtin(*builtin, codes, variables),
        }
    }

    fn rewrite(&self, map: usize, arguments: &[Value]) -> Value {
        for equation in &self.by_map[map] {
            let mut bound = vec![None; equation.variables];
            if !equation.patterns.iter().zip(arguments).all(|(pattern, value)| pattern.matches(value, &mut bound)) {
                continue;
            }
            // Variables that this equation does not use are never looked at.
            let bound: Vec<Value> = bound.into_iter().map(|value| value.unwrap_or(Value::Bool(false))).collect();
            let holds = |condition: &Code| self.evaluate(condition, &bound) == Value::Bool(true);
            if equation.condition.as_ref().is_none_or(holds) {
                return self.evaluate(&equation.right, &bound);
            }
        }
        panic!("no equation of map {map} applies to {arguments:?}")
    }

    fn builtin(&self, builtin: Builtin, codes: &[Code], variables: &[Value]) -> Value {
        let value = |position: usize| self.evaluate(&codes[position], variables);
        let truth = |position: usize| value(position) == Value::Bool(true);
        let number = |position: usize| match value(position) {
            Value::Int(number) => number,
            other => panic!("{other} is no number"),
        };
        let list = |position: usize| match value(position) {
            Value::List(items) => items,
            other => panic!("{other} is no list"),
        };
        let int = |result: Option<i128>| Value::Int(result.expect("the tests' numbers are small"));
        match builtin {
            Builtin::If => value(if truth(0) { 1 } else { 2 }),
            Builtin::Int2Pos => Value::Int(Some(number(0)).filter(|n| *n > 0).expect("Int2Pos of a positive number")),
            Builtin::Int2Nat => Value::Int(Some(number(0)).filter(|n| *n >= 0).expect("Int2Nat of a natural number")),
            Builtin::Exp => int(number(0).checked_pow(u32::try_from(number(1)).expect("a small exponent"))),
            Builtin::Not => Value::Bool(!truth(0)),
            Builtin::Minus => int(number(0).checked_neg()),
            Builtin::And => Value::Bool(truth(0) && truth(1)),
            Builtin::Or => Value::Bool(truth(0) || truth(1)),
            Builtin::Equal => Value::Bool(value(0) == value(1)),
            Builtin::NotEqual => Value::Bool(value(0) != value(1)),
            Builtin::Less => Value::Bool(number(0) < number(1)),
            Builtin::LessEqual => Value::Bool(number(0) <= number(1)),
            Builtin::Greater => Value::Bool(number(0) > number(1)),
            Builtin::GreaterEqual => Value::Bool(number(0) >= number(1)),
            Builtin::Add => int(number(0).checked_add(number(1))),
            Builtin::Subtract => int(number(0).checked_sub(number(1))),
            Builtin::Multiply => int(number(0).checked_mul(number(1))),
            // The divisor is positive: its sort is Pos.
            Builtin::Div => Value::Int(number(0).div_euclid(number(1))),
            Builtin::Mod => Value::Int(number(0).rem_euclid(number(1))),
            Builtin::Cons => {
                let mut items = vec![value(0)];
                items.extend(list(1).iter().cloned());
                Value::List(Rc::new(items))
            }
            Builtin::Concat => {
                let mut items = list(0).to_vec();
                items.extend(list(1).iter().cloned());
                Value::List(Rc::new(items))
            }
        }
    }
}
