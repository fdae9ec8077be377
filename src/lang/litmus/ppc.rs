//! POWER: `lwz r1,0(r2)` reads, `stw r1,0(r2)` writes; `r2` holds the address. `lwarx` and `stwcx.` are a load and a
//! store exclusive ([`atomic`](super::atomic)); `stwcx.` says whether it succeeded as a comparison does, for the
//! branch behind it. Words and double words are not told apart.

use super::architecture::symbolic;
use super::assembler::{Address, Assembler};
use super::expressions::modify;
use super::operands::{Register, Written, add_registers, branch_test, sum_of_registers};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{Expression, InstructionKind, Marks, PartialFence};

const SUPPORTED: &str = "supported: li, mr, lwz, stw, lwzx, stwx, ld, std, ldx, stdx, lwarx, stwcx., xor, add, addi, \
                         and, andi., or, ori, cmpw, cmpwi, beq bne blt ble bgt bge b, sync, hwsync, lwsync, eieio, \
                         isync, nop";

/// The register of that name.
pub fn register(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let number = lower.strip_prefix('r').and_then(|number| number.parse::<u8>().ok()).filter(|&number| number < 32);
    number.map(|number| format!("r{number}")).or_else(|| symbolic(name))
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let written = Written::new(code);
    match written.mnemonic.as_str() {
        "li" => {
            let [target, number] = written.exactly()?;
            assembler.set(register_of(target)?.named(), constant(number)?);
        }
        "mr" => {
            let [target, source] = written.exactly()?;
            assembler.copy(register_of(target)?.named(), register_of(source)?.named());
        }
        "add" => {
            let [target, left, right] = written.exactly()?;
            add_registers(&register_of(target)?, &register_of(left)?, &register_of(right)?, assembler);
        }
        "addi" | "xor" | "and" | "or" | "andi." | "ori" => {
            let [target, left, right] = written.exactly()?;
            let name = written.mnemonic.trim_end_matches('.');
            let operator = match name {
                "addi" | "andi" | "ori" => modify(&name[..name.len() - 1]),
                _ => modify(name),
            };
            let operator = operator.ok_or_else(|| written.unsupported(SUPPORTED))?;
            let left = register_of(left)?.value(assembler);
            let right = if name.ends_with('i') { constant(right)? } else { register_of(right)?.value(assembler) };
            let result = operator(left, right, code.span());
            match written.mnemonic.as_str() {
                "andi." => assembler.set_flags(register_of(target)?.named(), result),
                _ => assembler.set(register_of(target)?.named(), result),
            }
        }
        "lwz" | "lwzx" | "ld" | "ldx" => {
            let (target, address) = accessed(&written, assembler)?;
            assembler.load(register_of(target)?.named(), address, Marks::NONE);
        }
        "stw" | "stwx" | "std" | "stdx" => {
            let (source, address) = accessed(&written, assembler)?;
            let value = register_of(source)?.value(assembler);
            assembler.store(address, &value, Marks::NONE);
        }
        "lwarx" | "ldarx" => {
            let (target, address) = accessed(&written, assembler)?;
            assembler.load(register_of(target)?.named(), address, Marks::EXCLUSIVE);
        }
        "stwcx." | "stdcx." => {
            let (source, address) = accessed(&written, assembler)?;
            let value = register_of(source)?.value(assembler);
            assembler.store_exclusive_flags(address, value, Marks::NONE)?;
        }
        "cmpw" | "cmpwi" => {
            let [left, right] = written.exactly()?;
            let left = register_of(left)?.value(assembler);
            let is_constant = written.mnemonic == "cmpwi";
            let right = if is_constant { constant(right)? } else { register_of(right)?.value(assembler) };
            assembler.compare(left, right);
        }
        "b" => {
            let [label] = written.exactly()?;
            assembler.jump(label)?;
        }
        "sync" | "hwsync" | "lwsync" | "eieio" | "isync" | "nop" => {
            let [] = written.exactly()?;
            assembler.fence(match written.mnemonic.as_str() {
                "sync" | "hwsync" => InstructionKind::Fence,
                "lwsync" => InstructionKind::PartialFence(PartialFence::Lightweight),
                "eieio" => InstructionKind::PartialFence(PartialFence::Stores),
                "isync" => InstructionKind::PartialFence(PartialFence::Control),
                _ => InstructionKind::Plain,
            });
        }
        mnemonic => {
            let tests = mnemonic.strip_prefix('b').filter(|test| test.len() == 2).and_then(branch_test);
            let tests = tests.ok_or_else(|| written.unsupported(SUPPORTED))?;
            let [label] = written.exactly()?;
            assembler.branch(tests, label)?;
        }
    }
    Ok(())
}

/// The register and the address of a load or a store: `r1,0(r2)` or, with an index, `r1,r3,r2`.
fn accessed<'t>(written: &Written<'t>, assembler: &mut Assembler<'_>) -> Result<(Piece<'t>, Address), Diagnostic> {
    if written.mnemonic.trim_end_matches('.').ends_with('x') {
        let [register, first, second] = written.exactly()?;
        // In this place `r0` stands for 0.
        if matches!(first.text, "0" | "r0" | "R0") {
            return Ok((register, register_of(second)?.indirect(assembler)?));
        }
        return Ok((register, sum_of_registers(&register_of(first)?, &register_of(second)?, assembler)?));
    }
    let [register, address] = written.exactly()?;
    let Some((offset, base)) = address.text.find('(').map(|open| (address.part(0, open), address.behind(open))) else {
        return Err(address.error("expected an address, such as `0(r2)`"));
    };
    let base = base.between("(", ")").ok_or_else(|| base.error("this parenthesis is not closed"))?;
    let base = register_of(base)?.indirect(assembler)?;
    Ok((register, assembler.displaced(base, offset.trimmed())?))
}

fn register_of(operand: Piece<'_>) -> Result<Register, Diagnostic> {
    let name = register(operand.text).ok_or_else(|| operand.error("expected a register, such as `r1`"))?;
    Ok(Register { name, span: operand.span() })
}

fn constant(operand: Piece<'_>) -> Result<Expression, Diagnostic> {
    let number = operand.integer().ok_or_else(|| operand.error("expected an integer"))?;
    Ok(Expression::Constant(number))
}
