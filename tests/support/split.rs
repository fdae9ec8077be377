//! Splits instructions into their accesses, as a machine performs them if nothing makes them atomic.
//!
//! Every mention of a shared variable is a read of its own, which goes to a temporary of its own; a write comes after
//! the reads of its assignment; two accesses to one variable, of which one writes, keep the order of the text;
//! accesses that do not depend on each other come in any order, so all orders are there as alternatives (method §3,
//! §8). For instructions without conditions and arrays.

use super::mini::{Expr, Instr, Kind, Program, Thread, local, set};
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

/// One step of an instruction, with at most one access, and the steps that come before it.
struct Part {
    instr: Instr,
    /// The shared variable that it accesses, and whether it writes it.
    access: Option<(String, bool)>,
    after: BTreeSet<usize>,
}

fn accesses(instr: &Instr) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (target, value) in &instr.assignments {
        let mut after = BTreeSet::new();
        let value = with_temporaries(value, &mut parts, &mut after);
        let access = (!target.local).then(|| (target.name.clone(), true));
        assert!(target.index.is_none(), "arrays are not split");
        after.extend(coherent(&parts, access.as_ref()));
        // A local has one place: it is used before it is changed, and changed before it is used.
        let mut used = BTreeSet::new();
        locals_in(&value, &mut used);
        for (position, part) in parts.iter().enumerate() {
            for (earlier, earlier_value) in &part.instr.assignments {
                let mut earlier_used = BTreeSet::new();
                locals_in(earlier_value, &mut earlier_used);
                let is_needed = earlier.local && used.contains(&earlier.name);
                let is_changed = target.local && (earlier_used.contains(&target.name) || earlier.name == target.name);
                after.extend((is_needed || is_changed).then_some(position));
            }
        }
        parts.push(Part {
            instr: Instr { assignments: vec![(target.clone(), value)], ..instr.clone() },
            access,
            after,
        });
    }
    parts
}

/// The parts before this access that the text keeps before it.
fn coherent(parts: &[Part], access: Option<&(String, bool)>) -> Vec<usize> {
    let is_before = |part: &Part| match (&part.access, access) {
        (Some((earlier, wrote)), Some((name, writes))) => earlier == name && (*wrote || *writes),
        _ => false,
    };
    (0..parts.len()).filter(|&position| is_before(&parts[position])).collect()
}

/// The expression over temporaries; the parts that fill them are added, and are what it needs.
fn with_temporaries(expr: &Expr, parts: &mut Vec<Part>, needs: &mut BTreeSet<usize>) -> Expr {
    match expr {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Op(op, left, right) => {
            let left = with_temporaries(left, parts, needs);
            Expr::Op(*op, Box::new(left), Box::new(with_temporaries(right, parts, needs)))
        }
        Expr::Var(var) if var.local => Expr::Var(var.clone()),
        Expr::Var(var) => {
            assert!(var.index.is_none(), "arrays are not split");
            let temporary = local(&format!("{TEMPORARY}{}", parts.len()));
            let access = Some((var.name.clone(), false));
            let after = coherent(parts, access.as_ref()).into_iter().collect();
            needs.insert(parts.len());
            parts.push(Part { instr: set(temporary.clone(), var.clone()), access, after });
            Expr::Var(temporary)
        }
    }
}

fn locals_in(expr: &Expr, names: &mut BTreeSet<String>) {
    match expr {
        Expr::Const(_) => {}
        Expr::Op(_, left, right) => {
            locals_in(left, names);
            locals_in(right, names);
        }
        Expr::Var(var) => names.extend(var.local.then(|| var.name.clone())),
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
