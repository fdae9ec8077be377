//! x86: `MOV EAX,[x]` reads, `MOV [x],$1` writes. `XCHG` with memory is locked by itself, other instructions by the
//! prefix `LOCK`.

use super::assembler::{Address, Assembler};
use super::operands::{Written, branch_test};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{BinaryOperator, Expression, InstructionKind, PartialFence};

const SUPPORTED: &str = "supported: MOV, XCHG, [LOCK] INC DEC ADD SUB XOR, LOCK XADD, CMP, JE JNE JL JLE JG JGE JMP, MFENCE, SFENCE, LFENCE, NOP";

/// The register of that name.
pub fn register(name: &str) -> Option<String> {
    const OLD: [&str; 8] = ["AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP"];
    let upper = name.to_ascii_uppercase();
    let is_old = upper.strip_prefix(['E', 'R']).is_some_and(|rest| OLD.contains(&rest));
    let number = upper.strip_prefix('R').and_then(|rest| rest.trim_end_matches('D').parse::<u8>().ok());
    (is_old || number.is_some_and(|number| (8..16).contains(&number))).then_some(upper)
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let mut written = Written::new(code);
    let kind = if written.mnemonic == "lock" {
        written = Written::new(code.behind(written.head.text.len()).trimmed());
        InstructionKind::Atomic
    } else {
        InstructionKind::Plain
    };
    let is_locked = kind == InstructionKind::Atomic;
    match written.mnemonic.as_str() {
        "mov" if !is_locked => copy(&written, assembler),
        "xchg" => exchange(&written, assembler, |_, new| new),
        "xadd" if is_locked => {
            let add = |old, new| Expression::Binary(BinaryOperator::Add, Box::new(old), Box::new(new), code.span());
            exchange(&written, assembler, add)
        }
        "inc" | "dec" => {
            let [target] = written.exactly()?;
            let operator = if written.mnemonic == "inc" { BinaryOperator::Add } else { BinaryOperator::Subtract };
            calculate(kind, operator, target, Expression::Constant(1), assembler)
        }
        "add" | "sub" | "xor" => {
            let [target, source] = written.exactly()?;
            let operator = match written.mnemonic.as_str() {
                "add" => BinaryOperator::Add,
                "sub" => BinaryOperator::Subtract,
                _ => BinaryOperator::BitwiseXor,
            };
            let source = value(source, assembler)?;
            calculate(kind, operator, target, source, assembler)
        }
        "cmp" if !is_locked => {
            let [left, right] = written.exactly()?;
            let (left, right) = (value(left, assembler)?, value(right, assembler)?);
            assembler.compare(left, right);
            Ok(())
        }
        "jmp" if !is_locked => {
            let [label] = written.exactly()?;
            assembler.jump(label)
        }
        "mfence" | "sfence" | "lfence" | "nop" if !is_locked => {
            let [] = written.exactly()?;
            assembler.fence(match written.mnemonic.as_str() {
                "mfence" => InstructionKind::Fence,
                "sfence" => InstructionKind::PartialFence(PartialFence::Stores),
                // Reads are in order without it.
                _ => InstructionKind::Plain,
            });
            Ok(())
        }
        mnemonic => match mnemonic.strip_prefix('j').and_then(branch_test) {
            Some((test, contrary)) if !is_locked => {
                let [label] = written.exactly()?;
                assembler.branch(test, contrary, label)
            }
            _ => Err(written.unsupported(SUPPORTED)),
        },
    }
}

fn copy(written: &Written<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let [target, source] = written.exactly()?;
    match (address(target, assembler)?, address(source, assembler)?) {
        (Some(_), Some(_)) => Err(source.error("`MOV` from memory to memory is no instruction of x86")),
        (Some(to), None) => {
            let value = value(source, assembler)?;
            assembler.store(to, value);
            Ok(())
        }
        (None, Some(from)) => {
            let target = assembler.target(&register_of(target)?, target.span());
            assembler.load(target, from);
            Ok(())
        }
        (None, None) => {
            let value = value(source, assembler)?;
            let target = assembler.target(&register_of(target)?, target.span());
            assembler.set(target, value);
            Ok(())
        }
    }
}

fn exchange(
    written: &Written<'_>,
    assembler: &mut Assembler<'_>,
    value: impl FnOnce(Expression, Expression) -> Expression,
) -> Result<(), Diagnostic> {
    let [first, second] = written.exactly()?;
    let (memory, register) = match (address(first, assembler)?, address(second, assembler)?) {
        (Some(memory), None) => (memory, second),
        (None, Some(memory)) => (memory, first),
        _ => return Err(written.head.error("expected a location and a register, such as `[x],EAX`")),
    };
    assembler.exchange((&register_of(register)?, register.span()), memory, value)
}

fn calculate(
    kind: InstructionKind,
    operator: BinaryOperator,
    target: Piece<'_>,
    source: Expression,
    assembler: &mut Assembler<'_>,
) -> Result<(), Diagnostic> {
    let span = target.span();
    let result = |old: Expression| Expression::Binary(operator, Box::new(old), Box::new(source), span);
    if let Some(memory) = address(target, assembler)? {
        assembler.update(kind, memory, result);
        return Ok(());
    }
    if kind == InstructionKind::Atomic {
        return Err(target.error("`LOCK` needs a location, such as `[x]`"));
    }
    let name = register_of(target)?;
    let value = result(assembler.value(&name, span)?);
    let target = assembler.target(&name, span);
    assembler.set(target, value);
    Ok(())
}

/// `[x]`, or `[EAX]` where the register holds an address.
fn address(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Option<Address>, Diagnostic> {
    let Some(inner) = operand.between("[", "]") else { return Ok(None) };
    match register(inner.text) {
        Some(name) => assembler.indirect(&name, inner.span()).map(Some),
        None if inner.is_name() => Ok(Some(assembler.direct(inner))),
        None => Err(inner.error("expected a location or a register; computed addresses are not supported")),
    }
}

fn register_of(operand: Piece<'_>) -> Result<String, Diagnostic> {
    register(operand.text).ok_or_else(|| operand.error("expected a register, such as `EAX`"))
}

/// `EAX`, `$1` or `1`.
fn value(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Expression, Diagnostic> {
    if let Some(number) = operand.strip("$").unwrap_or(operand).integer() {
        return Ok(Expression::Constant(number));
    }
    match register(operand.text) {
        Some(name) => assembler.value(&name, operand.span()),
        None => Err(operand.error("expected a register or a constant, such as `EAX` or `$1`")),
    }
}
