//! POWER: `lwz r1,0(r2)` reads, `stw r1,0(r2)` writes; `r2` holds the address.

use super::assembler::{Address, Assembler};
use super::operands::{Written, branch_test};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{BinaryOperator, Expression, InstructionKind, PartialFence};

const SUPPORTED: &str = "supported: li, mr, lwz, stw, lwzx, stwx, xor, add, addi, cmpw, cmpwi, beq bne blt ble bgt bge b, sync, lwsync, eieio, isync, nop";

/// The register of that name.
pub fn register(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let number: u8 = lower.strip_prefix('r')?.parse().ok()?;
    (number < 32).then(|| format!("r{number}"))
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let written = Written::new(code);
    match written.mnemonic.as_str() {
        "li" => {
            let [target, number] = written.exactly()?;
            let number = constant(number)?;
            set(target, number, assembler)
        }
        "mr" => {
            let [target, source] = written.exactly()?;
            let value = value(source, assembler)?;
            set(target, value, assembler)
        }
        "add" | "addi" | "xor" => {
            let [target, left, right] = written.exactly()?;
            let is_sum = written.mnemonic != "xor";
            let operator = if is_sum { BinaryOperator::Add } else { BinaryOperator::BitwiseXor };
            let left = value(left, assembler)?;
            let right = if written.mnemonic == "addi" { constant(right)? } else { value(right, assembler)? };
            let result = assembler.binary(operator, left, right);
            set(target, result, assembler)
        }
        "lwz" | "lwzx" => {
            let (target, address) = accessed(&written, assembler)?;
            let target = assembler.target(&register_of(target)?, target.span());
            assembler.load(target, address);
            Ok(())
        }
        "stw" | "stwx" => {
            let (source, address) = accessed(&written, assembler)?;
            let value = value(source, assembler)?;
            assembler.store(address, value);
            Ok(())
        }
        "cmpw" | "cmpwi" => {
            let [left, right] = written.exactly()?;
            let left = value(left, assembler)?;
            let right = if written.mnemonic == "cmpwi" { constant(right)? } else { value(right, assembler)? };
            assembler.compare(left, right);
            Ok(())
        }
        "b" => {
            let [label] = written.exactly()?;
            assembler.jump(label)
        }
        "sync" | "lwsync" | "eieio" | "isync" | "nop" => {
            let [] = written.exactly()?;
            assembler.fence(match written.mnemonic.as_str() {
                "sync" => InstructionKind::Fence,
                "lwsync" => InstructionKind::PartialFence(PartialFence::Lightweight),
                "eieio" => InstructionKind::PartialFence(PartialFence::Stores),
                "isync" => InstructionKind::PartialFence(PartialFence::Control),
                _ => InstructionKind::Plain,
            });
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

fn set(target: Piece<'_>, value: Expression, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let target = assembler.target(&register_of(target)?, target.span());
    assembler.set(target, value);
    Ok(())
}

/// The register and the address of a load or a store: `r1,0(r2)` or, with an index, `r1,r3,r2`.
fn accessed<'t>(written: &Written<'t>, assembler: &mut Assembler<'_>) -> Result<(Piece<'t>, Address), Diagnostic> {
    if written.mnemonic.ends_with('x') {
        let [register, first, second] = written.exactly()?;
        let is_base = register_of(second).is_ok_and(|name| assembler.holds_address(&name));
        let (base, index) = if is_base { (second, first) } else { (first, second) };
        let base = assembler.indirect(&register_of(base)?, base.span())?;
        let index = value(index, assembler)?;
        return Ok((register, assembler.offset(base, index)));
    }
    let [register, address] = written.exactly()?;
    let Some((offset, base)) = address.text.find('(').map(|open| (address.part(0, open), address.behind(open))) else {
        return Err(address.error("expected an address, such as `0(r2)`"));
    };
    let base = base.between("(", ")").ok_or_else(|| base.error("this parenthesis is not closed"))?;
    if offset.trimmed().integer() != Some(0) {
        return Err(offset.error("only the offset 0 is supported"));
    }
    Ok((register, assembler.indirect(&register_of(base)?, base.span())?))
}

fn register_of(operand: Piece<'_>) -> Result<String, Diagnostic> {
    register(operand.text).ok_or_else(|| operand.error("expected a register, such as `r1`"))
}

fn value(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Expression, Diagnostic> {
    assembler.value(&register_of(operand)?, operand.span())
}

fn constant(operand: Piece<'_>) -> Result<Expression, Diagnostic> {
    let number = operand.integer().ok_or_else(|| operand.error("expected an integer"))?;
    Ok(Expression::Constant(number))
}
