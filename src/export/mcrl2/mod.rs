//! Programs as mCRL2 specifications (version 201908 or later), for `mcrl22lps` and `lps2lts`.
//!
//! # Shape
//!
//! One linear process. Its parameters are a control state for each thread and every variable, an array being a list;
//! its body is a sum of summands `(condition) -> action . Program'(changes)`. Every instruction has one for being
//! taken and, if it has a condition or is outranked, one for being refused: the two conditions exclude each other, so
//! in every state each instruction of a current control state has exactly one transition, as in our own exploration.
//! Assignments of one instruction see what earlier ones did: the terms of the earlier ones are put in their place.
//!
//! # Labels
//!
//! Those of the [`rw`] dialect, `rw(object, thread, ST'n, [A'([reads], [writes]), ...])`,
//! with the accesses of [`program::labels`](crate::program::labels): every mention, in the order of evaluation, none
//! for an index out of range. The object is the one of the thread's name (`object'thread`), or the program's name if
//! the names have none. Where `rw` says less than our own labels:
//!
//! - a fence is an item `fence'` in front, or `fence_stores'` and so on for those that order less, an atomic
//!   instruction an item `atomic'`, or `rmw'` if it is no fence; marks are items (`acquire'`), and an evaluation that
//!   was refused has an item `refused'` before its condition: our addition, which our reader of the dialect knows.
//!   Without the last, an instruction that only has a condition would have the same label taken and refused;
//! - the first item without writes is the condition. So an instruction without a condition gets an empty one, `A'([],
//!   [])`, where the target of its first assignment is out of range;
//! - addresses are lists of variables, as published; if some index of the program needs an index itself, they are
//!   lists of accesses instead, all over the specification.
//!
//! # Values
//!
//! Integers are mCRL2's `Int`: what overflows 64 bits and ends our exploration with an error goes on there. A byte is
//! an `Int` whose assignments are taken `mod 256`. mCRL2 divides by `Pos` only: a divisor that is not a positive
//! constant goes through `quotient'` and `remainder'`, which convert it with `Int2Pos` and have no equation for zero;
//! nor has `power'` for a negative exponent. Where our exploration ends with an error, `lps2lts` thus meets a term
//! without a value.
//!
//! # Names
//!
//! Names are the program's where mCRL2 allows. One that is a reserved word or a system function there, or was taken
//! already, gets an underscore and, if needed, a number behind it; characters that no mCRL2 identifier has become
//! underscores. Only `rw`'s object, thread and instruction can be affected in labels: locations begin with `var_`.
//! Helper functions and sorts end in an apostrophe, which no SLCO name has.
//!
//! # Cost
//!
//! Linear in the program, except that putting terms in place can double them with each assignment of an instruction
//! (`x := x + x; x := x + x; …`); a term over 64 KiB is [an error](NotExpressible).

mod accesses;
mod helpers;
mod names;
mod terms;

use super::Origin;
use crate::lts::dialect::rw;
use crate::program::compiled::outranked;
use crate::program::{At, Expression, Instruction, Program, Scope, Span, Thread, Type, Variable};
use accesses::Accesses;
use helpers::Helpers;
use names::Names;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use terms::{Environment, Term, Terms};

/// The longest term that takes the place of a variable, in bytes.
const MAX_TERM_BYTES: usize = 1 << 16;

/// An instruction cannot be written down in mCRL2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotExpressible {
    /// The instruction.
    pub span: Span,
    /// Why not, and what helps.
    pub why: &'static str,
}

const TOO_LARGE: &str =
    "the assignments of this instruction, put into one another, grow over 65536 bytes; split the instruction";

const BITS: &str = "this instruction works on bits, which integers of mCRL2 do not have; use other operators";

const EXCLUSIVE: &str = "this instruction is one of a pair of a load and a store exclusive, which a state space does not know; write an atomic instruction";

/// The specification of a program.
///
/// # Errors
/// If an instruction grows too large, works on bits, or is one of a load and a store exclusive.
pub fn specification(program: &Program, origin: Origin<'_>) -> Result<String, NotExpressible> {
    if let Some(at) = program.exclusive() {
        return Err(NotExpressible { span: program.instruction(at).span, why: EXCLUSIVE });
    }
    let names = Names::of(program);
    let mut helpers = Helpers::default();
    let mut body = String::new();
    for (at, instruction) in program.instructions_at() {
        let values = instruction.assignments.iter().map(|assignment| &assignment.value);
        if instruction.condition.iter().chain(values).any(terms::has_bits) {
            return Err(NotExpressible { span: instruction.span, why: BITS });
        }
        Summands { program, names: &names, helpers: &mut helpers, at }.write(origin, &mut body)?;
    }
    if body.is_empty() {
        body.push_str("    delta\n");
    }
    let mut text = String::new();
    write_head(program, origin, &mut text);
    write_sorts(program, &names, &mut text);
    helpers.write(&mut text);
    let _ = write!(text, "act\n  rw: Name' # Name' # Name' # List(Item');\n\n");
    write_process(program, &names, &body, &mut text);
    Ok(text)
}

fn write_head(program: &Program, origin: Origin<'_>, text: &mut String) {
    let from = if origin.name.is_empty() { String::new() } else { format!(" from {}", origin.name) };
    let _ = write!(
        text,
        "% {}, written by seqcon export{}.\n\
         %\n\
         % A transition is a step of an instruction: rw(object, thread, instruction, [A'([reads], [writes]), ...]). An instruction that\n\
         % cannot be taken is a self-loop with refused' and the reads of its condition. The state space:\n\
         %\n\
         %   mcrl22lps THIS.mcrl2 - | lps2lts - THIS.aut\n\n",
        on_one_line(&program.name),
        on_one_line(&from),
    );
}

/// What stands in a comment must not end it.
fn on_one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

fn write_sorts(program: &Program, names: &Names, text: &mut String) {
    let _ = writeln!(text, "sort");
    let _ = writeln!(text, "  Name' = struct {};", names.labels.join(" | "));
    for (position, thread) in program.threads.iter().enumerate() {
        let states = names.threads[position].states.join(" | ");
        let _ = writeln!(
            text,
            "  {} = struct {states}; % the control states of {}",
            names.threads[position].sort, thread.name
        );
    }
    let mut locations: Vec<String> = Vec::new();
    for (variable, name) in all_variables(program, names) {
        locations.push(if variable.is_array { format!("{}(Int)", name.location) } else { name.location.clone() });
    }
    if locations.is_empty() {
        // A structured sort needs a constructor.
        locations.push("no_location'".to_owned());
    }
    let _ = writeln!(text, "  Location' = struct {};", locations.join(" | "));
    let address = if names.has_nested_addresses { "Access'" } else { "Location'" };
    let _ = writeln!(text, "  Access' = struct lc'(Location') | lcdp'(Location', List({address}));");
    let usual = ["fence'", "atomic'", "refused'"];
    let words = program.instructions_at().flat_map(|(_, known)| rw::words(known.kind.into()));
    let more: BTreeSet<String> = words.filter(|word| !usual.contains(&&**word)).collect();
    let more: String = more.iter().map(|word| format!(" | {word}")).collect();
    let usual = usual.join(" | ");
    let _ = writeln!(text, "  Item' = struct A'(List(Access'), List(Access')) | {usual}{more};\n");
}

fn write_process(program: &Program, names: &Names, body: &str, text: &mut String) {
    let mut parameters: Vec<String> = Vec::new();
    let mut initial: Vec<String> = Vec::new();
    for (position, thread) in program.threads.iter().enumerate() {
        let own = &names.threads[position];
        parameters.push(format!("{}: {}", own.control, own.sort));
        initial.push(own.states[thread.initial.index()].clone());
    }
    for (variable, name) in all_variables(program, names) {
        parameters.push(format!("{}: {}", name.parameter, sort_of(variable)));
        initial.push(initial_value(variable));
    }
    let in_parentheses = |items: &[String]| {
        if items.is_empty() { String::new() } else { format!("(\n    {}\n  )", items.join(",\n    ")) }
    };
    let _ = write!(text, "proc\n  Program'{} =\n{body}  ;\n\n", in_parentheses(&parameters));
    let _ = writeln!(text, "init\n  Program'{};", in_parentheses(&initial));
}

fn all_variables<'a>(
    program: &'a Program,
    names: &'a Names,
) -> impl Iterator<Item = (&'a Variable, &'a names::VariableNames)> {
    let locals =
        program.threads.iter().zip(&names.threads).flat_map(|(thread, own)| thread.locals.iter().zip(&own.locals));
    program.shared.iter().zip(&names.shared).chain(locals)
}

fn sort_of(variable: &Variable) -> &'static str {
    match (variable.ty, variable.is_array) {
        (Type::Integer, false) => "Int",
        (Type::Integer, true) => "List(Int)",
        (Type::Boolean, false) => "Bool",
        (Type::Boolean, true) => "List(Bool)",
    }
}

fn initial_value(variable: &Variable) -> String {
    let values: Vec<String> = variable.initial.iter().map(|&value| terms::constant(value, variable.ty).text).collect();
    if variable.is_array { format!("[{}]", values.join(", ")) } else { values.concat() }
}

/// The summands of one instruction.
struct Summands<'a> {
    program: &'a Program,
    names: &'a Names,
    helpers: &'a mut Helpers,
    at: At,
}

impl Summands<'_> {
    fn instruction(&self) -> &Instruction {
        self.program.instruction(self.at)
    }

    fn own_names(&self) -> &names::ThreadNames {
        &self.names.threads[self.at.thread.index()]
    }

    fn own_thread(&self) -> &Thread {
        self.program.thread(self.at.thread)
    }

    fn write(&mut self, origin: Origin<'_>, body: &mut String) -> Result<(), NotExpressible> {
        let instruction = self.instruction().clone();
        let outranked: Vec<Expression> = outranked(self.own_thread(), self.at.instruction).collect();
        let initial = Environment::initial(self.names, self.at.thread);
        let mut conditions: Vec<Term> = Vec::new();
        for condition in &outranked {
            conditions.push(self.terms().expression(condition, Type::Boolean, &initial).negated());
        }
        if let Some(condition) = &instruction.condition {
            conditions.push(self.terms().expression(condition, Type::Boolean, &initial));
        }
        let condition_items = self.condition_items(&outranked, &instruction, &initial);
        let has_condition = !conditions.is_empty();
        let mark = if has_condition { None } else { self.mark(&instruction, &initial) };
        let (assignment_items, environment) = self.assignment_items(&instruction, initial)?;

        let own = self.own_names();
        let here = format!("{} == {}", own.control, own.states[instruction.from.index()]);
        let mut place = format!("{}.{}", self.own_thread().name, instruction.name);
        if let Some((line, quoted)) = origin.quote(instruction.span) {
            let _ = write!(place, ", line {line}: {quoted}");
        }
        let place = on_one_line(&place);
        let conjunction = Term::conjunction(&conditions);
        let mut items = condition_items.clone();
        items.extend(mark.into_iter().chain(assignment_items));
        let sign = if body.is_empty() { "   " } else { "  +" };
        let _ = writeln!(body, "    % {place}");
        let taken = conjunction.as_ref().map_or(here.clone(), |holds| format!("{here} && {}", holds.enclosed()));
        let _ = writeln!(body, "{sign} ({taken}) ->");
        let _ = writeln!(body, "      {} .", self.action(&items));
        let _ = writeln!(body, "      Program'({})", self.changes(&instruction, &environment));
        if let Some(holds) = conjunction {
            let _ = writeln!(body, "    % {}.{} is refused", on_one_line(&self.own_thread().name), instruction.name);
            let _ = writeln!(body, "  + ({here} && {}) ->", holds.negated().text);
            // Its condition is the last of them.
            let mut refused_items = condition_items;
            refused_items.insert(refused_items.len() - 1, Item::Surely("refused'".to_owned()));
            let _ = writeln!(body, "      {} .", self.action(&refused_items));
            let _ = writeln!(body, "      Program'()");
        }
        Ok(())
    }

    fn terms(&mut self) -> Terms<'_> {
        Terms { program: self.program, thread: self.at.thread, helpers: self.helpers }
    }

    fn accesses(&mut self) -> Accesses<'_> {
        Accesses { program: self.program, names: self.names, thread: self.at.thread, helpers: self.helpers }
    }

    /// What stands in front: the kind of the instruction and its condition.
    fn condition_items(
        &mut self,
        outranked: &[Expression],
        instruction: &Instruction,
        environment: &Environment,
    ) -> Vec<Item> {
        let mut items: Vec<Item> = rw::words(instruction.kind.into()).into_iter().map(Item::Surely).collect();
        if !outranked.is_empty() || instruction.condition.is_some() {
            let conditions = outranked.iter().chain(&instruction.condition);
            let reads = self.accesses().reads(conditions, environment);
            items.push(Item::Surely(format!("A'({reads}, [])")));
        }
        items
    }

    /// The items of the assignments, and the variables after them.
    fn assignment_items(
        &mut self,
        instruction: &Instruction,
        mut environment: Environment,
    ) -> Result<(Vec<Item>, Environment), NotExpressible> {
        let mut items = Vec::new();
        for assignment in &instruction.assignments {
            let reads = self.accesses().assignment_reads(&assignment.value, &assignment.target, &environment);
            let writes = self.accesses().write(&assignment.target, &environment);
            items.push(Item::Surely(format!("A'({reads}, {writes})")));
            let value = self.terms().assigned(assignment, &environment);
            if value.text.len() > MAX_TERM_BYTES {
                return Err(NotExpressible { span: instruction.span, why: TOO_LARGE });
            }
            environment.set(assignment.target.scope, assignment.target.variable, value);
        }
        Ok((items, environment))
    }

    /// Without a condition and a write the first item would be read as a condition: what stands before it then.
    fn mark(&mut self, instruction: &Instruction, environment: &Environment) -> Option<Item> {
        let first = instruction.assignments.first()?;
        self.accesses().mark_of_no_write(&first.target, environment)
    }

    fn action(&self, items: &[Item]) -> String {
        let own = self.own_names();
        let instruction = &own.instructions[self.at.instruction.index()];
        format!("rw({}, {}, {instruction}, {})", own.object, own.thread, list(items))
    }

    /// The parameters that change.
    fn changes(&self, instruction: &Instruction, environment: &Environment) -> String {
        let own = self.own_names();
        let mut changes = Vec::new();
        if instruction.to != instruction.from {
            changes.push(format!("{} = {}", own.control, own.states[instruction.to.index()]));
        }
        let variables = |scope, names: &[names::VariableNames]| -> Vec<String> {
            let changed = |(position, name): (usize, &names::VariableNames)| {
                let value: &Term = environment.get(scope, position);
                (value.text != name.parameter).then(|| format!("{} = {}", name.parameter, value.text))
            };
            names.iter().enumerate().filter_map(changed).collect()
        };
        changes.extend(variables(Scope::Shared, &self.names.shared));
        changes.extend(variables(Scope::Local, &own.locals));
        changes.join(", ")
    }
}

/// A part of a list.
#[derive(Clone, Debug)]
enum Item {
    /// One element.
    Surely(String),
    /// A list, of one element or none.
    Perhaps(String),
}

/// The list of these parts.
fn list(items: &[Item]) -> String {
    let mut lists: Vec<String> = Vec::new();
    for run in items.chunk_by(|a, b| matches!((a, b), (Item::Surely(_), Item::Surely(_)))) {
        let texts: Vec<&str> = run.iter().map(|(Item::Surely(text) | Item::Perhaps(text))| text.as_str()).collect();
        lists.push(match run {
            [Item::Perhaps(text)] => text.clone(),
            _ => format!("[{}]", texts.join(", ")),
        });
    }
    if lists.is_empty() { "[]".to_owned() } else { lists.join(" ++ ") }
}

#[cfg(test)]
mod tests {
    use super::{Item, list};

    #[test]
    fn elements_that_are_surely_there_share_their_brackets() {
        let (sure, perhaps) = (|text: &str| Item::Surely(text.to_owned()), |text: &str| Item::Perhaps(text.to_owned()));
        assert_eq!(list(&[]), "[]");
        assert_eq!(list(&[sure("a"), sure("b"), perhaps("l"), perhaps("m"), sure("c")]), "[a, b] ++ l ++ m ++ [c]");
    }
}
