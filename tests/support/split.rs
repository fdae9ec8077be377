//! Splits instructions into their accesses, as a machine performs them if nothing makes them atomic.
//!
//! Every read goes to a temporary; a write comes after the reads of its assignment; accesses that do not depend on each other come in any order, so
//! all orders are there as alternatives (method §3, §8). For instructions without conditions, of variables that occur once on the left.

use super::mini::{Expr, Instr, Kind, Program, Thread, Var, local, set};
use std::collections::BTreeSet;

/// The prefix of temporaries, which are no part of a result.
pub const TEMPORARY: &str = "tmp ";

/// The program with all plain instructions split.
pub fn split(program: &Program) -> Program {
    let threads = program.threads.iter().map(split_thread).collect();
    Program { threads, initial: program.initial.clone() }
}

fn split_thread(thread: &Thread) -> Thread {
    let mut next = thread.instrs.iter().flat_map(|instr| [instr.from, instr.to]).max().unwrap_or(0) + 1;
    let mut instrs = Vec::new();
    for instr in &thread.instrs {
        let parts = accesses(instr);
        if instr.kind != Kind::Plain || parts.len() < 2 {
            instrs.push(instr.clone());
            continue;
        }
        assert!(instr.condition.is_none(), "conditions are not split");
        for order in orders(&parts) {
            let mut at = instr.from;
            for (position, &part) in order.iter().enumerate() {
                let to = if position + 1 == order.len() { instr.to } else { next };
                next += 1;
                instrs.push(Instr { name: instr.name.clone(), from: at, to, ..parts[part].instr.clone() });
                at = to;
            }
        }
    }
    Thread { instrs, locals: thread.locals.clone() }
}

/// One access of an instruction, and the accesses that come before it.
struct Part {
    instr: Instr,
    after: BTreeSet<usize>,
}

fn accesses(instr: &Instr) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut read: Vec<String> = Vec::new();
    for (target, value) in &instr.assignments {
        let mut names = Vec::new();
        let value = with_temporaries(value, &mut names);
        let mut after = BTreeSet::new();
        for name in names {
            // A location is read once, however often it is used. Reads come first in the list: all that is in it so far are at the same place in both.
            let position = read.iter().position(|known| *known == name).unwrap_or_else(|| {
                read.push(name.clone());
                read.len() - 1
            });
            after.insert(position);
        }
        parts.push(Part { instr: Instr { assignments: vec![(target.clone(), value)], ..instr.clone() }, after });
    }
    let reads = read.iter().map(|name| {
        let variable = Var { name: name.clone(), local: false, index: None };
        Part { instr: set(temporary(name), variable), after: BTreeSet::new() }
    });
    reads.chain(parts).collect()
}

fn temporary(name: &str) -> Var {
    local(&format!("{TEMPORARY}{name}"))
}

/// The expression over temporaries, and the shared variables that they stand for.
fn with_temporaries(expr: &Expr, names: &mut Vec<String>) -> Expr {
    match expr {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Op(op, left, right) => {
            Expr::Op(*op, Box::new(with_temporaries(left, names)), Box::new(with_temporaries(right, names)))
        }
        Expr::Var(var) if var.local => Expr::Var(var.clone()),
        Expr::Var(var) => {
            names.push(var.name.clone());
            Expr::Var(temporary(&var.name))
        }
    }
}

/// All orders of the parts in which each comes after those it needs.
fn orders(parts: &[Part]) -> Vec<Vec<usize>> {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in parts {
        let longer = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let is_next = |part: &usize| {
                !order.contains(part) && parts[*part].after.iter().all(|earlier| order.contains(earlier))
            };
            let extend = |part: usize| order.iter().copied().chain([part]).collect();
            (0..parts.len()).filter(is_next).map(extend).collect()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}
