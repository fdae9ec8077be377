//! ARM, version 7: `LDR R1,[R2]` reads, `STR R1,[R2]` writes; `R2` holds the address. `LDREX` and `STREX` are a load
//! and a store exclusive ([`atomic`](super::atomic)).

use super::architecture::symbolic;
use super::assembler::{Address, Assembler};
use super::expressions::modify;
use super::operands::{Register, Written, add_registers, branch_test, sum_of_registers};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{Expression, InstructionKind, Marks, PartialFence};

const SUPPORTED: &str = "supported: MOV, LDR, STR, LDREX, STREX, EOR, ADD, SUB, AND, ORR, CMP, \
                         BEQ BNE BLT BLE BGT BGE B, DMB, DSB, ISB, NOP";

/// The register of that name.
pub fn register(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let number = upper.strip_prefix('R').and_then(|number| number.parse::<u8>().ok()).filter(|&number| number < 16);
    number.map(|number| format!("R{number}")).or_else(|| symbolic(name))
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let written = Written::new(code);
    match written.mnemonic.as_str() {
        "mov" => {
            let [target, source] = written.exactly()?;
            let target = register_of(target)?;
            match constant(source) {
                Some(value) => assembler.set(target.named(), value),
                None => assembler.copy(target.named(), register_of(source)?.named()),
            }
        }
        "add" | "sub" | "eor" | "and" | "orr" => {
            let [target, left, right] = written.exactly()?;
            let (target, left) = (register_of(target)?, register_of(left)?);
            if let (None, "add") = (constant(right), written.mnemonic.as_str()) {
                add_registers(&target, &left, &register_of(right)?, assembler);
                return Ok(());
            }
            let name = match written.mnemonic.as_str() {
                "eor" => "xor",
                "orr" => "or",
                name => name,
            };
            let operator = modify(name).ok_or_else(|| written.unsupported(SUPPORTED))?;
            let (left, right) = (left.value(assembler), value(right, assembler)?);
            assembler.set(target.named(), operator(left, right, code.span()));
        }
        "ldr" | "ldrex" => {
            let [target, source] = written.exactly()?;
            let source = address(source, assembler)?;
            let marks = if written.mnemonic == "ldrex" { Marks::EXCLUSIVE } else { Marks::NONE };
            assembler.load(register_of(target)?.named(), source, marks);
        }
        "str" => {
            let [source, target] = written.exactly()?;
            let target = address(target, assembler)?;
            let value = register_of(source)?.value(assembler);
            assembler.store(target, &value, Marks::NONE);
        }
        "strex" => {
            let [status, source, target] = written.exactly()?;
            let target = address(target, assembler)?;
            let value = register_of(source)?.value(assembler);
            assembler.store_exclusive(register_of(status)?.named(), target, value, Marks::NONE)?;
        }
        "cmp" => {
            let [left, right] = written.exactly()?;
            let (left, right) = (value(left, assembler)?, value(right, assembler)?);
            assembler.compare(left, right);
        }
        "b" => {
            let [label] = written.exactly()?;
            assembler.jump(label)?;
        }
        "dmb" | "dsb" => assembler.fence(barrier(&written)?),
        "isb" => assembler.fence(InstructionKind::PartialFence(PartialFence::Control)),
        "nop" => {
            let [] = written.exactly()?;
            assembler.fence(InstructionKind::Plain);
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

/// `DMB` with or without its domain: all threads of a test are in one.
pub fn barrier(written: &Written<'_>) -> Result<InstructionKind, Diagnostic> {
    let Some(domain) = written.operands.first() else { return Ok(InstructionKind::Fence) };
    match domain.text.to_ascii_uppercase().as_str() {
        "SY" | "ISH" | "NSH" | "OSH" => Ok(InstructionKind::Fence),
        "ST" | "ISHST" | "NSHST" | "OSHST" => Ok(InstructionKind::PartialFence(PartialFence::Stores)),
        "LD" | "ISHLD" | "NSHLD" | "OSHLD" => Ok(InstructionKind::PartialFence(PartialFence::Loads)),
        _ => Err(domain.error("expected SY, ISH, NSH or OSH, or one of them with ST or LD behind, or ST or LD")),
    }
}

/// `[R1]`, `[R1,#0]` or `[R1,R2]`.
fn address(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Address, Diagnostic> {
    let inner = operand.between("[", "]").ok_or_else(|| operand.error("expected an address, such as `[R1]`"))?;
    match inner.split(',')[..] {
        [base] => register_of(base)?.indirect(assembler),
        [base, offset] if offset.text.starts_with('#') => {
            let base = register_of(base)?.indirect(assembler)?;
            assembler.displaced(base, offset.behind(1))
        }
        [first, second] => sum_of_registers(&register_of(first)?, &register_of(second)?, assembler),
        _ => Err(inner.error("expected a register, or two")),
    }
}

fn register_of(operand: Piece<'_>) -> Result<Register, Diagnostic> {
    let name = register(operand.text).ok_or_else(|| operand.error("expected a register, such as `R1`"))?;
    Ok(Register { name, span: operand.span() })
}

fn constant(operand: Piece<'_>) -> Option<Expression> {
    operand.strip("#").and_then(Piece::integer).map(Expression::Constant)
}

/// `R1` or `#1`.
fn value(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Expression, Diagnostic> {
    if let Some(constant) = constant(operand) {
        return Ok(constant);
    }
    let expected = |_| operand.error("expected a register or a constant, such as `R1` or `#1`");
    Ok(register_of(operand).map_err(expected)?.value(assembler))
}
