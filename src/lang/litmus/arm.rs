//! ARM, version 7: `LDR R1,[R2]` reads, `STR R1,[R2]` writes; `R2` holds the address.

use super::assembler::{Address, Assembler};
use super::operands::{Written, branch_test};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{BinaryOperator, Expression, InstructionKind, PartialFence};

const SUPPORTED: &str = "supported: MOV, LDR, STR, EOR, ADD, SUB, CMP, BEQ BNE BLT BLE BGT BGE B, DMB, DSB, ISB, NOP";

/// The register of that name.
pub fn register(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let number: u8 = upper.strip_prefix('R')?.parse().ok()?;
    (number < 16).then(|| format!("R{number}"))
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let written = Written::new(code);
    match written.mnemonic.as_str() {
        "mov" => {
            let [target, source] = written.exactly()?;
            let value = value(source, assembler)?;
            set(target, value, assembler)
        }
        "add" | "sub" | "eor" => {
            let [target, left, right] = written.exactly()?;
            let operator = match written.mnemonic.as_str() {
                "add" => BinaryOperator::Add,
                "sub" => BinaryOperator::Subtract,
                _ => BinaryOperator::BitwiseXor,
            };
            let (left, right) = (value(left, assembler)?, value(right, assembler)?);
            let result = assembler.binary(operator, left, right);
            set(target, result, assembler)
        }
        "ldr" => {
            let [target, source] = written.exactly()?;
            let source = address(source, assembler)?;
            let target = assembler.target(&register_of(target)?, target.span());
            assembler.load(target, source);
            Ok(())
        }
        "str" => {
            let [source, target] = written.exactly()?;
            let target = address(target, assembler)?;
            let value = assembler.value(&register_of(source)?, source.span())?;
            assembler.store(target, value);
            Ok(())
        }
        "cmp" => {
            let [left, right] = written.exactly()?;
            let (left, right) = (value(left, assembler)?, value(right, assembler)?);
            assembler.compare(left, right);
            Ok(())
        }
        "b" => {
            let [label] = written.exactly()?;
            assembler.jump(label)
        }
        "dmb" | "dsb" => {
            assembler.fence(barrier(&written)?);
            Ok(())
        }
        "isb" => {
            assembler.fence(InstructionKind::PartialFence(PartialFence::Control));
            Ok(())
        }
        "nop" => {
            let [] = written.exactly()?;
            assembler.fence(InstructionKind::Plain);
            Ok(())
        }
        mnemonic => match mnemonic.strip_prefix('b').filter(|test| test.len() == 2).and_then(branch_test) {
            Some((test, contrary)) => {
                let [label] = written.exactly()?;
                assembler.branch(test, contrary, label)
            }
            None => Err(written.unsupported(SUPPORTED)),
        },
    }
}

/// `DMB` with or without its domain: all threads of a test are in one.
fn barrier(written: &Written<'_>) -> Result<InstructionKind, Diagnostic> {
    let Some(domain) = written.operands.first() else { return Ok(InstructionKind::Fence) };
    match domain.text.to_ascii_uppercase().as_str() {
        "SY" | "ISH" | "NSH" | "OSH" => Ok(InstructionKind::Fence),
        "ST" | "ISHST" | "NSHST" | "OSHST" => Ok(InstructionKind::PartialFence(PartialFence::Stores)),
        _ => Err(domain.error("expected SY, ISH, NSH, OSH, ST, ISHST, NSHST or OSHST")),
    }
}

fn set(target: Piece<'_>, value: Expression, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let target = assembler.target(&register_of(target)?, target.span());
    assembler.set(target, value);
    Ok(())
}

/// `[R1]`, `[R1,#0]` or `[R1,R2]`.
fn address(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Address, Diagnostic> {
    let inner = operand.between("[", "]").ok_or_else(|| operand.error("expected an address, such as `[R1]`"))?;
    let parts = inner.split(',');
    let indirect =
        |base: Piece<'_>, assembler: &mut Assembler<'_>| assembler.indirect(&register_of(base)?, base.span());
    match parts[..] {
        [base] => indirect(base, assembler),
        [base, offset] if offset.text.starts_with('#') => {
            if offset.behind(1).integer() == Some(0) {
                indirect(base, assembler)
            } else {
                Err(offset.error("only the offset 0 is supported"))
            }
        }
        [first, second] => {
            let is_base = register_of(second).is_ok_and(|name| assembler.holds_address(&name));
            let (base, index) = if is_base { (second, first) } else { (first, second) };
            let base = indirect(base, assembler)?;
            let index = value(index, assembler)?;
            Ok(assembler.offset(base, index))
        }
        _ => Err(inner.error("expected a register, or two")),
    }
}

fn register_of(operand: Piece<'_>) -> Result<String, Diagnostic> {
    register(operand.text).ok_or_else(|| operand.error("expected a register, such as `R1`"))
}

/// `R1` or `#1`.
fn value(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Expression, Diagnostic> {
    if let Some(number) = operand.strip("#").and_then(Piece::integer) {
        return Ok(Expression::Constant(number));
    }
    match register(operand.text) {
        Some(name) => assembler.value(&name, operand.span()),
        None => Err(operand.error("expected a register or a constant, such as `R1` or `#1`")),
    }
}
