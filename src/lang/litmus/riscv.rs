//! RISC-V: `lw x5,0(x6)` reads, `sw x5,0(x6)` writes; `x6` holds the address, `x0` is zero.
//!
//! `.aq` and `.rl` are marks, on loads and stores, too, which herd allows. `lr` and `sc` are a load and a store
//! exclusive ([`atomic`](super::atomic)); `amoadd` and its like read and write in one piece, and their marks are
//! those of both accesses: the model of RISC-V has it so. Words and double words are not told apart; what is compared
//! as unsigned elsewhere is compared as signed.

use super::architecture::symbolic;
use super::assembler::{Address, Assembler, NOWHERE};
use super::expressions::{binary, indicator, modify};
use super::operands::{Register, Written, add_registers, branch_test};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{Accesses, BinaryOperator, Expression, InstructionKind, Marks, PartialFence, Span};

const SUPPORTED: &str = "supported: li, mv, lw, ld, sw, sd, lr, sc, amoswap amoadd amoor amoand amoxor amomax amomin, \
                         all of these with .w or .d, .aq and .rl, add, sub, and, or, xor, addi, andi, ori, xori, slt, \
                         slti, slli, beq bne blt bge bgt ble, beqz bnez, j, fence, fence.tso, fence.i, nop";

/// The register that reads as 0.
const ZERO: &str = "x0";

/// The register of that name: `x5` or `t0`.
pub fn register(name: &str) -> Option<String> {
    const NAMES: [&str; 32] = [
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
        "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    ];
    let lower = name.to_ascii_lowercase();
    let number = lower.strip_prefix('x').and_then(|number| number.parse::<usize>().ok()).filter(|&number| number < 32);
    let by_name = || NAMES.iter().position(|known| *known == lower).or((lower == "fp").then_some(8));
    number.or_else(by_name).map(|number| format!("x{number}")).or_else(|| symbolic(name))
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let written = Written::new(code);
    let span = code.span();
    match written.mnemonic.as_str() {
        "li" => {
            let [target, number] = written.exactly()?;
            assembler.set(target_of(target)?.named(), constant(number)?);
        }
        "mv" => {
            let [target, source] = written.exactly()?;
            copy(target, source, assembler)?;
        }
        "add" | "sub" | "and" | "or" | "xor" => {
            let [target, left, right] = written.exactly()?;
            let (target, left, right) = (target_of(target)?, register_of(left)?, register_of(right)?);
            if written.mnemonic == "add" && left.name != ZERO && right.name != ZERO {
                add_registers(&target, &left, &right, assembler);
                return Ok(());
            }
            let operator = modify(&written.mnemonic).ok_or_else(|| written.unsupported(SUPPORTED))?;
            let result = operator(value(&left, assembler), value(&right, assembler), span);
            assembler.set(target.named(), result);
        }
        "addi" | "andi" | "ori" | "xori" => {
            let [target, left, right] = written.exactly()?;
            if right.integer() == Some(0) && written.mnemonic != "andi" {
                return copy(target, left, assembler);
            }
            let operator = modify(&written.mnemonic[..written.mnemonic.len() - 1]);
            let operator = operator.ok_or_else(|| written.unsupported(SUPPORTED))?;
            let left = register_of(left)?;
            let right = constant(right)?;
            if written.mnemonic == "addi" && assembler.holds_address(&left.name) {
                assembler.advance(target_of(target)?.named(), left.named(), right);
                return Ok(());
            }
            let left = value(&left, assembler);
            assembler.set(target_of(target)?.named(), operator(left, right, span));
        }
        "slt" | "slti" => {
            let [target, left, right] = written.exactly()?;
            let left = value(&register_of(left)?, assembler);
            let is_constant = written.mnemonic == "slti";
            let right = if is_constant { constant(right)? } else { value(&register_of(right)?, assembler) };
            let is_less = Expression::Binary(BinaryOperator::Less, Box::new(left), Box::new(right), span);
            assembler.set(target_of(target)?.named(), indicator(is_less));
        }
        "slli" => {
            let [target, left, shift] = written.exactly()?;
            let factor = shift.integer().filter(|shift| (0..63).contains(shift)).map(|shift| 1 << shift);
            let factor = factor.ok_or_else(|| shift.error("expected a shift from 0 to 62"))?;
            let left = value(&register_of(left)?, assembler);
            let result = binary(BinaryOperator::Multiply, left, Expression::Constant(factor), span);
            assembler.set(target_of(target)?.named(), result);
        }
        "beqz" | "bnez" => {
            let [left, label] = written.exactly()?;
            let tests = branch_test(&written.mnemonic[1..3]).ok_or_else(|| written.unsupported(SUPPORTED))?;
            let left = value(&register_of(left)?, assembler);
            assembler.branch_on(tests, (left, Expression::Constant(0)), label)?;
        }
        "j" => {
            let [label] = written.exactly()?;
            assembler.jump(label)?;
        }
        "fence" => assembler.fence(fence(&written)?),
        "fence.tso" => assembler.fence(InstructionKind::PartialFence(PartialFence::Lightweight)),
        "fence.i" => assembler.fence(InstructionKind::PartialFence(PartialFence::Control)),
        "nop" => {
            let [] = written.exactly()?;
            assembler.fence(InstructionKind::Plain);
        }
        mnemonic => {
            let tests = mnemonic.strip_prefix('b').filter(|test| test.len() == 2).and_then(branch_test);
            let Some(tests) = tests else { return access(&written, assembler) };
            let [left, right, label] = written.exactly()?;
            let (left, right) = (value(&register_of(left)?, assembler), value(&register_of(right)?, assembler));
            assembler.branch_on(tests, (left, right), label)?;
        }
    }
    Ok(())
}

fn copy(target: Piece<'_>, source: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let (target, source) = (target_of(target)?, register_of(source)?);
    if source.name == ZERO {
        assembler.set(target.named(), Expression::Constant(0));
    } else {
        assembler.copy(target.named(), source.named());
    }
    Ok(())
}

/// What an access is called, apart: `lw`, or `lr` and `w`; then its marks.
fn access(written: &Written<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let unsupported = || written.unsupported(SUPPORTED);
    let mut parts = written.mnemonic.split('.');
    let name = parts.next().unwrap_or("");
    let mut marks = Marks::NONE;
    for part in parts {
        marks = marks.and(match part {
            "w" | "d" if !matches!(name, "lw" | "ld" | "sw" | "sd") => Marks::NONE,
            "aq" => Marks::ACQUIRE,
            "rl" => Marks::RELEASE,
            "aqrl" => Marks::ACQUIRE.and(Marks::RELEASE),
            _ => return Err(unsupported()),
        });
    }
    let is_load = matches!(name, "lw" | "ld" | "lr");
    let other = if is_load { Marks::RELEASE } else { Marks::ACQUIRE };
    if matches!(name, "lw" | "ld" | "lr" | "sw" | "sd" | "sc") && marks == other {
        let (own, found) = if is_load { ("aq", "rl") } else { ("rl", "aq") };
        return Err(written.head.error(format!("`{name}` is marked `.{own}` or `.aqrl`, not `.{found}` alone")));
    }
    match name {
        "lw" | "ld" => {
            let [target, source] = written.exactly()?;
            let source = address(source, assembler)?;
            if marks.has(Marks::RELEASE) {
                // What is before it is before it, and what is behind it is behind it: all of them are in order.
                assembler.fence(InstructionKind::Fence);
            }
            assembler.load(target_of(target)?.named(), source, marks);
        }
        "sw" | "sd" => {
            let [source, target] = written.exactly()?;
            let target = address(target, assembler)?;
            let source = value(&register_of(source)?, assembler);
            assembler.store(target, &source, marks);
            if marks.has(Marks::ACQUIRE) {
                assembler.fence(InstructionKind::Fence);
            }
        }
        "lr" => {
            let [target, source] = written.exactly()?;
            let source = address(source, assembler)?;
            assembler.load(target_of(target)?.named(), source, marks.and(Marks::EXCLUSIVE));
        }
        "sc" => {
            let [status, source, target] = written.exactly()?;
            let target = address(target, assembler)?;
            let source = value(&register_of(source)?, assembler);
            assembler.store_exclusive(target_of(status)?.named(), target, source, marks)?;
        }
        _ => {
            let operator = name.strip_prefix("amo").map(|name| name.trim_end_matches('u')).and_then(modify);
            let operator = operator.ok_or_else(unsupported)?;
            let [register, source, target] = written.exactly()?;
            let target = address(target, assembler)?;
            let source = value(&register_of(source)?, assembler);
            let span: Span = written.head.span();
            let register = target_of(register)?;
            let kind = InstructionKind::Rmw(marks);
            assembler.modify(kind, target, Some(register.named()), |old| operator(old, source, span))?;
        }
    }
    Ok(())
}

/// `fence`, or `fence rw,w`; devices are not looked at.
fn fence(written: &Written<'_>) -> Result<InstructionKind, Diagnostic> {
    let (before, after) = match written.operands[..] {
        [] => return Ok(InstructionKind::Fence),
        [before, after] => (before, after),
        _ => return Err(written.head.error("`fence` takes two sets of accesses, such as `rw,w`, or nothing")),
    };
    let accesses = |set: Piece<'_>| {
        if !set.text.chars().all(|kind| matches!(kind, 'i' | 'o' | 'r' | 'w')) {
            return Err(set.error("expected a set of accesses: `r`, `w` or `rw`, with `i` and `o` or without"));
        }
        Ok(match (set.text.contains('r'), set.text.contains('w')) {
            (true, true) => Some(Accesses::All),
            (true, false) => Some(Accesses::Reads),
            (false, true) => Some(Accesses::Writes),
            (false, false) => None,
        })
    };
    let (Some(before), Some(after)) = (accesses(before)?, accesses(after)?) else { return Ok(InstructionKind::Plain) };
    Ok(PartialFence::between(before, after).map_or(InstructionKind::Fence, InstructionKind::PartialFence))
}

/// `0(x6)` or `(x6)`.
fn address(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Address, Diagnostic> {
    let Some(open) = operand.text.find('(') else {
        return Err(operand.error("expected an address, such as `0(x6)`"));
    };
    let (offset, base) = (operand.part(0, open).trimmed(), operand.behind(open));
    let base = base.between("(", ")").ok_or_else(|| base.error("this parenthesis is not closed"))?;
    let base = register_of(base)?.indirect(assembler)?;
    if offset.text.is_empty() { Ok(base) } else { assembler.displaced(base, offset) }
}

fn register_of(operand: Piece<'_>) -> Result<Register, Diagnostic> {
    let name = register(operand.text).ok_or_else(|| operand.error("expected a register, such as `x5` or `t0`"))?;
    Ok(Register { name, span: operand.span() })
}

/// A register to be written; nothing comes of what is written to the zero register.
fn target_of(operand: Piece<'_>) -> Result<Register, Diagnostic> {
    let Register { name, span } = register_of(operand)?;
    Ok(Register { name: if name == ZERO { NOWHERE.to_owned() } else { name }, span })
}

fn value(register: &Register, assembler: &mut Assembler<'_>) -> Expression {
    if register.name == ZERO { Expression::Constant(0) } else { register.value(assembler) }
}

fn constant(operand: Piece<'_>) -> Result<Expression, Diagnostic> {
    let number = operand.integer().ok_or_else(|| operand.error("expected an integer"))?;
    Ok(Expression::Constant(number))
}
