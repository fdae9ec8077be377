//! Names and sorts: `Pos` is taken where `Nat` is wanted, and `Nat` where `Int` is; nothing else is converted.

use super::rewrite::{Builtin, Code, Equation, Equations, Pattern, Value};
use super::syntax::{Expr, Sort, Syntax};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A specification whose names are resolved.
pub struct Specification {
    pub equations: Equations,
    pub summands: Vec<Summand>,
    pub initial: Vec<Code>,
}

pub struct Summand {
    pub condition: Code,
    pub action: String,
    pub arguments: Vec<Code>,
    pub changes: Vec<(usize, Code)>,
}

/// Names of mCRL2 that cannot be declared again.
const SYSTEM: [&str; 30] = [
    "if", "exp", "max", "min", "succ", "pred", "abs", "floor", "ceil", "round", "sqrt", "head", "tail", "rhead",
    "rtail", "count", "Pos2Nat", "Pos2Int", "Nat2Pos", "Nat2Int", "Int2Pos", "Int2Nat", "Int2Real", "Real2Int",
    "Set2Bag", "Bag2Set", "Nat2Real", "Pos2Real", "Real2Pos", "Real2Nat",
];

/// Checks everything; what is wrong is a panic.
pub fn check(syntax: &Syntax) -> Specification {
    let checker = Checker::new(syntax);
    let mut equations = Equations::new(syntax.maps.len());
    for equation in &syntax.equations {
        let Expr::Apply(name, patterns) = &equation.left else { panic!("the left side is no map: {equation:?}") };
        let Some(Function::Map(map, domain, range)) = checker.functions.get(name.as_str()) else {
            panic!("{name} is no map")
        };
        assert_eq!(patterns.len(), domain.len(), "{name}");
        let scope = Scope::new(&equation.variables, &checker);
        let mut bound = HashSet::new();
        let patterns =
            patterns.iter().zip(domain).map(|(p, sort)| checker.pattern(p, sort, &scope, &mut bound)).collect();
        let condition = equation.condition.as_ref().map(|c| checker.code(c, &boolean(), &scope));
        let right = checker.code(&equation.right, range, &scope);
        for side in condition.iter().chain([&right]) {
            side.for_each_variable(&mut |slot| {
                assert!(bound.contains(&slot), "a free variable in an equation of {name}");
            });
        }
        equations.add(*map, Equation { patterns, condition, right, variables: equation.variables.len() });
    }
    let scope = Scope::new(&syntax.parameters, &checker);
    let summands = syntax.summands.iter().map(|summand| {
        let action = syntax.actions.iter().find(|(name, _)| *name == summand.action).expect("the action is declared");
        assert_eq!(action.1.len(), summand.arguments.len(), "{}", summand.action);
        assert_eq!(summand.process, syntax.process);
        let mut changed = HashSet::new();
        Summand {
            condition: checker.code(&summand.condition, &boolean(), &scope),
            action: summand.action.clone(),
            arguments: summand.arguments.iter().zip(&action.1).map(|(a, sort)| checker.code(a, sort, &scope)).collect(),
            changes: summand
                .changes
                .iter()
                .map(|(name, value)| {
                    let (slot, sort) = &scope.variables[name.as_str()];
                    assert!(changed.insert(*slot), "{name} is assigned twice");
                    (*slot, checker.code(value, sort, &scope))
                })
                .collect(),
        }
    });
    let summands = summands.collect();
    assert_eq!(syntax.initial.len(), syntax.parameters.len());
    let nothing = Scope::new(&[], &checker);
    let initial = syntax.initial.iter().zip(&syntax.parameters).map(|(v, (_, sort))| checker.code(v, sort, &nothing));
    Specification { equations, summands, initial: initial.collect() }
}

enum Function {
    Constructor(Vec<Sort>, Sort),
    Map(usize, Vec<Sort>, Sort),
}

struct Checker<'s> {
    functions: HashMap<&'s str, Function>,
}

struct Scope<'s> {
    variables: HashMap<&'s str, (usize, Sort)>,
}

impl<'s> Scope<'s> {
    fn new(variables: &'s [(String, Sort)], checker: &Checker<'_>) -> Scope<'s> {
        let mut scope = Scope { variables: HashMap::new() };
        for (slot, (name, sort)) in variables.iter().enumerate() {
            assert!(!SYSTEM.contains(&name.as_str()), "{name} is a system function");
            assert!(!checker.functions.contains_key(name.as_str()), "the variable {name} is a function, too");
            assert!(scope.variables.insert(name, (slot, sort.clone())).is_none(), "two variables {name}");
        }
        scope
    }
}

fn named(name: &str) -> Sort {
    Sort::Named(name.to_owned())
}

fn boolean() -> Sort {
    named("Bool")
}

/// How far up a numeric sort is.
fn rank(sort: &Sort) -> Option<usize> {
    ["Pos", "Nat", "Int"].iter().position(|name| *sort == named(name))
}

impl<'s> Checker<'s> {
    fn new(syntax: &'s Syntax) -> Checker<'s> {
        let mut functions = HashMap::new();
        let mut sorts = HashSet::from(["Bool", "Pos", "Nat", "Int"]);
        for (sort, constructors) in &syntax.sorts {
            assert!(sorts.insert(sort), "two sorts {sort}");
            for (name, arguments) in constructors {
                assert!(!SYSTEM.contains(&name.as_str()), "{name} is a system function");
                let function = Function::Constructor(arguments.clone(), named(sort));
                assert!(functions.insert(name.as_str(), function).is_none(), "two functions {name}");
            }
        }
        for (number, (name, arguments, result)) in syntax.maps.iter().enumerate() {
            assert!(!SYSTEM.contains(&name.as_str()), "{name} is a system function");
            let function = Function::Map(number, arguments.clone(), result.clone());
            assert!(functions.insert(name.as_str(), function).is_none(), "two functions {name}");
        }
        let known = |sort: &Sort| {
            let mut sort = sort;
            while let Sort::List(element) = sort {
                sort = element;
            }
            matches!(sort, Sort::Named(name) if sorts.contains(name.as_str()))
        };
        for function in functions.values() {
            let (Function::Constructor(arguments, result) | Function::Map(_, arguments, result)) = function;
            assert!(arguments.iter().chain([result]).all(known), "an unknown sort in {arguments:?} -> {result:?}");
        }
        assert!(syntax.parameters.iter().all(|(_, sort)| known(sort)), "an unknown sort of a parameter");
        Checker { functions }
    }

    fn pattern(&self, pattern: &Expr, sort: &Sort, scope: &Scope<'_>, bound: &mut HashSet<usize>) -> Pattern {
        match (pattern, sort) {
            (Expr::List(items), Sort::List(_)) if items.is_empty() => Pattern::Empty,
            (Expr::Operator(sign, operands), Sort::List(element)) if sign == "|>" => Pattern::Cons(
                Box::new(self.pattern(&operands[0], element, scope, bound)),
                Box::new(self.pattern(&operands[1], sort, scope, bound)),
            ),
            (Expr::Apply(name, arguments), _)
                if arguments.is_empty() && scope.variables.contains_key(name.as_str()) =>
            {
                let (slot, of) = &scope.variables[name.as_str()];
                assert_eq!(of, sort, "{name}");
                assert!(bound.insert(*slot), "{name} stands twice on the left");
                Pattern::Variable(*slot)
            }
            _ => panic!("{pattern:?} is no pattern of sort {sort:?}"),
        }
    }

    /// The code of an expression that must have this sort, or a smaller numeric one.
    fn code(&self, expression: &Expr, wanted: &Sort, scope: &Scope<'_>) -> Code {
        let (code, sort) = self.typed(expression, Some(wanted), scope);
        let fits = sort == *wanted || matches!((rank(&sort), rank(wanted)), (Some(from), Some(to)) if from <= to);
        assert!(fits, "{expression:?} has sort {sort:?}, not {wanted:?}");
        code
    }

    fn typed(&self, expression: &Expr, wanted: Option<&Sort>, scope: &Scope<'_>) -> (Code, Sort) {
        match expression {
            Expr::Number(number) => {
                (Code::Constant(Value::Int(*number)), named(if *number > 0 { "Pos" } else { "Nat" }))
            }
            Expr::List(items) => {
                let Some(sort @ Sort::List(element)) = wanted else { panic!("a list where {wanted:?} is wanted") };
                (Code::List(items.iter().map(|item| self.code(item, element, scope)).collect()), sort.clone())
            }
            Expr::Apply(name, arguments) => self.application(name, arguments, wanted, scope),
            Expr::Operator(sign, operands) => self.operator(sign, operands, wanted, scope),
        }
    }

    fn application(&self, name: &str, arguments: &[Expr], wanted: Option<&Sort>, scope: &Scope<'_>) -> (Code, Sort) {
        if arguments.is_empty() {
            if let Some((slot, sort)) = scope.variables.get(name) {
                return (Code::Variable(*slot), sort.clone());
            }
            if matches!(name, "true" | "false") {
                return (Code::Constant(Value::Bool(name == "true")), boolean());
            }
        }
        let int = named("Int");
        let convert = |builtin| (Code::Builtin(builtin, vec![self.code(&arguments[0], &int, scope)]), arguments.len());
        match name {
            "if" => {
                let sort = wanted.unwrap_or_else(|| panic!("the sort of {name} is not known")).clone();
                let codes = vec![
                    self.code(&arguments[0], &boolean(), scope),
                    self.code(&arguments[1], &sort, scope),
                    self.code(&arguments[2], &sort, scope),
                ];
                return (Code::Builtin(Builtin::If, codes), sort);
            }
            "Int2Pos" => return (convert(Builtin::Int2Pos).0, named("Pos")),
            "Int2Nat" => return (convert(Builtin::Int2Nat).0, named("Nat")),
            "exp" => {
                let codes = vec![self.code(&arguments[0], &int, scope), self.code(&arguments[1], &named("Nat"), scope)];
                return (Code::Builtin(Builtin::Exp, codes), int);
            }
            _ => {}
        }
        let function = self.functions.get(name).unwrap_or_else(|| panic!("{name} is not declared"));
        let (Function::Constructor(domain, range) | Function::Map(_, domain, range)) = function;
        assert_eq!(arguments.len(), domain.len(), "arguments of {name}");
        let codes = arguments.iter().zip(domain).map(|(argument, sort)| self.code(argument, sort, scope)).collect();
        let code = match function {
            Function::Constructor(..) => Code::Construct(Rc::from(name), codes),
            Function::Map(number, ..) => Code::Map(*number, codes),
        };
        (code, range.clone())
    }

    fn operator(&self, sign: &str, operands: &[Expr], wanted: Option<&Sort>, scope: &Scope<'_>) -> (Code, Sort) {
        let both = |sort: &Sort| operands.iter().map(|operand| self.code(operand, sort, scope)).collect::<Vec<_>>();
        let free = || operands.iter().map(|operand| self.typed(operand, None, scope)).unzip::<_, _, Vec<_>, Vec<_>>();
        let int = named("Int");
        match (sign, operands.len()) {
            ("!", 1) => (Code::Builtin(Builtin::Not, both(&boolean())), boolean()),
            ("-", 1) => (Code::Builtin(Builtin::Minus, both(&int)), int),
            ("&&", 2) => (Code::Builtin(Builtin::And, both(&boolean())), boolean()),
            ("||", 2) => (Code::Builtin(Builtin::Or, both(&boolean())), boolean()),
            ("==" | "!=", 2) => {
                let (codes, sorts) = free();
                let comparable = sorts[0] == sorts[1] || sorts.iter().all(|sort| rank(sort).is_some());
                assert!(comparable, "{operands:?} cannot be compared");
                (Code::Builtin(if sign == "==" { Builtin::Equal } else { Builtin::NotEqual }, codes), boolean())
            }
            ("<" | "<=" | ">" | ">=", 2) => {
                let builtin = match sign {
                    "<" => Builtin::Less,
                    "<=" => Builtin::LessEqual,
                    ">" => Builtin::Greater,
                    _ => Builtin::GreaterEqual,
                };
                (Code::Builtin(builtin, both(&int)), boolean())
            }
            ("+" | "*", 2) => {
                let (codes, sorts) = free();
                let most = sorts.iter().map(|sort| rank(sort).expect("a number")).max();
                let builtin = if sign == "+" { Builtin::Add } else { Builtin::Multiply };
                (Code::Builtin(builtin, codes), named(["Pos", "Nat", "Int"][most.expect("two operands")]))
            }
            ("-", 2) => (Code::Builtin(Builtin::Subtract, both(&int)), int),
            ("div" | "mod", 2) => {
                let codes = vec![self.code(&operands[0], &int, scope), self.code(&operands[1], &named("Pos"), scope)];
                if sign == "div" {
                    return (Code::Builtin(Builtin::Div, codes), int);
                }
                (Code::Builtin(Builtin::Mod, codes), named("Nat"))
            }
            ("|>", 2) => {
                let Some(sort @ Sort::List(element)) = wanted else { panic!("a list where {wanted:?} is wanted") };
                let codes = vec![self.code(&operands[0], element, scope), self.code(&operands[1], sort, scope)];
                (Code::Builtin(Builtin::Cons, codes), sort.clone())
            }
            ("++", 2) => {
                let sort = wanted.unwrap_or_else(|| panic!("the sort of {sign} is not known"));
                assert!(matches!(sort, Sort::List(_)), "++ where {sort:?} is wanted");
                (Code::Builtin(Builtin::Concat, both(sort)), sort.clone())
            }
            _ => panic!("{sign} with {} operands is not known", operands.len()),
        }
    }
}
