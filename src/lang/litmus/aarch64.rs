//! ARM, version 8, with 64 bits: `LDR W1,[X2]` reads, `STR W1,[X2]` writes; `X2` holds the address.
//!
//! `W1` is `X1`: widths are not told apart, and accesses to bytes and half words are refused. `LDAR`, `LDAPR` and
//! `STLR` carry marks; so do the load and store exclusive ([`atomic`](super::atomic)) and the instructions that read
//! and write in one piece: `CAS`, `SWP`, `LDADD` and its like, of which `STADD` and its like give nothing back. With
//! `A` behind, their read acquires, with `L` their write releases. What is compared as unsigned elsewhere is compared
//! as signed.

use super::architecture::symbolic;
use super::arm::barrier;
use super::assembler::{Address, Assembler, NOWHERE};
use super::expressions::{Modify, choice, modify};
use super::operands::{Register, Written, add_registers, branch_test};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{BinaryOperator, Expression, InstructionKind, Marks, PartialFence};

const SUPPORTED: &str = "supported: MOV, ADD, SUB, EOR, AND, ORR (with S behind, too), CMP, CSEL, CSINC, CSET, LDR, \
                         LDAR, LDAPR, STR, STLR, LDXR, LDAXR, STXR, STLXR, CAS SWP LDADD LDSET LDCLR LDEOR LDSMAX \
                         LDSMIN with A, L or AL, STADD and its like with or without L, CBZ, CBNZ, B, B.EQ and its \
                         like, DMB, DSB, ISB, NOP";

/// The register that reads as 0.
const ZERO: &str = "XZR";

/// The register of that name.
pub fn register(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let rest = upper.strip_prefix(['X', 'W']).unwrap_or("");
    let number = rest.parse::<u8>().ok().filter(|&number| number < 31);
    match number {
        Some(number) => Some(format!("X{number}")),
        None if rest == "ZR" => Some(ZERO.to_owned()),
        None => symbolic(name),
    }
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let written = Written::new(code);
    match written.mnemonic.as_str() {
        "mov" => {
            let [target, source] = written.exactly()?;
            let target = target_of(target)?;
            match constant(source) {
                Some(value) => assembler.set(target.named(), value),
                None if register_of(source)?.name == ZERO => assembler.set(target.named(), Expression::Constant(0)),
                None => assembler.copy(target.named(), register_of(source)?.named()),
            }
        }
        "add" | "sub" | "eor" | "and" | "orr" | "adds" | "subs" | "ands" => calculate(&written, assembler)?,
        "cmp" => {
            let [left, right] = written.exactly()?;
            let (left, right) = (value(left, assembler)?, value(right, assembler)?);
            assembler.compare(left, right);
        }
        "csel" | "csinc" | "cset" => select(&written, assembler)?,
        "ldr" | "ldur" | "ldar" | "ldapr" | "ldxr" | "ldaxr" => {
            let [target, source] = written.exactly()?;
            let source = address(source, assembler)?;
            let marks = match written.mnemonic.as_str() {
                "ldar" => Marks::ACQUIRE,
                "ldapr" => Marks::ACQUIRE_PC,
                "ldxr" => Marks::EXCLUSIVE,
                "ldaxr" => Marks::EXCLUSIVE.and(Marks::ACQUIRE),
                _ => Marks::NONE,
            };
            assembler.load(target_of(target)?.named(), source, marks);
        }
        "str" | "stur" | "stlr" => {
            let [source, target] = written.exactly()?;
            let target = address(target, assembler)?;
            let value = value(source, assembler)?;
            let marks = if written.mnemonic == "stlr" { Marks::RELEASE } else { Marks::NONE };
            assembler.store(target, &value, marks);
        }
        "stxr" | "stlxr" => {
            let [status, source, target] = written.exactly()?;
            let target = address(target, assembler)?;
            let value = value(source, assembler)?;
            let marks = if written.mnemonic == "stlxr" { Marks::RELEASE } else { Marks::NONE };
            assembler.store_exclusive(target_of(status)?.named(), target, value, marks)?;
        }
        "cbz" | "cbnz" => {
            let [left, label] = written.exactly()?;
            let (equal, different) = (BinaryOperator::Equal, BinaryOperator::NotEqual);
            let tests = if written.mnemonic == "cbz" { (equal, different) } else { (different, equal) };
            let left = value(left, assembler)?;
            assembler.branch_on(tests, (left, Expression::Constant(0)), label)?;
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
            let suffix = mnemonic.strip_prefix("b.").or_else(|| mnemonic.strip_prefix('b'));
            match suffix.filter(|test| test.len() == 2).and_then(branch_test) {
                Some(tests) => {
                    let [label] = written.exactly()?;
                    assembler.branch(tests, label)?;
                }
                None => in_one_piece(&written, assembler)?,
            }
        }
    }
    Ok(())
}

/// An instruction that reads and writes in one piece.
fn in_one_piece(written: &Written<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    const OPERATORS: [(&str, &str); 8] = [
        ("cas", "cas"),
        ("swp", "swap"),
        ("ldadd", "add"),
        ("ldset", "or"),
        ("ldclr", "clear"),
        ("ldeor", "xor"),
        ("ldsmax", "max"),
        ("ldsmin", "min"),
    ];
    let unsupported = || written.unsupported(SUPPORTED);
    let gives_back = !written.mnemonic.starts_with("st");
    // `STADD` is `LDADD` without a register for what was there.
    let mnemonic = if gives_back { written.mnemonic.clone() } else { written.mnemonic.replacen("st", "ld", 1) };
    let known = OPERATORS.into_iter().find_map(|(name, operator)| Some((operator, mnemonic.strip_prefix(name)?)));
    let (operator, suffix) = known.ok_or_else(unsupported)?;
    let marks = match suffix {
        "" => Marks::NONE,
        "a" if gives_back => Marks::ACQUIRE,
        "l" => Marks::RELEASE,
        "al" if gives_back => Marks::ACQUIRE.and(Marks::RELEASE),
        "b" | "h" | "ab" | "ah" | "lb" | "lh" | "alb" | "alh" => {
            return Err(written.head.error("accesses to bytes and half words are not supported").with_help(SUPPORTED));
        }
        _ => return Err(unsupported()),
    };
    let kind = InstructionKind::Rmw(marks);
    if operator == "cas" {
        let [expected, new, target] = written.exactly()?;
        let target = address(target, assembler)?;
        let values = (value(expected, assembler)?, value(new, assembler)?);
        return assembler.compare_exchange(kind, target, target_of(expected)?.named(), values, false);
    }
    let operator: Modify = modify(operator).ok_or_else(unsupported)?;
    let (source, register, target) = if gives_back {
        let [source, register, target] = written.exactly()?;
        (source, target_of(register)?, target)
    } else {
        let [source, target] = written.exactly()?;
        (source, Register { name: NOWHERE.to_owned(), span: source.span() }, target)
    };
    let target = address(target, assembler)?;
    let source = value(source, assembler)?;
    let span = written.head.span();
    assembler.modify(kind, target, Some(register.named()), |old| operator(old, source, span))
}

/// `ADD X1,X2,X3`, `ADD X1,X2,W3,SXTW` or `ADD X1,X2,#1`; with `S` behind it compares the result with 0.
fn calculate(written: &Written<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let [target, left, right] = match written.operands[..] {
        [target, left, right, extension] => {
            if !matches!(extension.text.to_ascii_uppercase().as_str(), "SXTW" | "UXTW" | "SXTX" | "UXTX") {
                return Err(extension.error("expected SXTW or UXTW"));
            }
            [target, left, right]
        }
        _ => written.exactly()?,
    };
    let target = target_of(target)?;
    let is_register = |operand| register_of(operand).is_ok_and(|register| register.name != ZERO);
    if written.mnemonic == "add" && is_register(left) && is_register(right) {
        add_registers(&target, &register_of(left)?, &register_of(right)?, assembler);
        return Ok(());
    }
    let (keeps_flags, name) = match written.mnemonic.strip_suffix('s') {
        Some(name) => (true, name),
        None => (false, written.mnemonic.as_str()),
    };
    let name = match name {
        "eor" => "xor",
        "orr" => "or",
        name => name,
    };
    let operator = modify(name).ok_or_else(|| written.unsupported(SUPPORTED))?;
    if name == "add" && is_register(left) && assembler.holds_address(&register_of(left)?.name) {
        let offset = value(right, assembler)?;
        assembler.advance(target.named(), register_of(left)?.named(), offset);
        return Ok(());
    }
    let result = operator(value(left, assembler)?, value(right, assembler)?, written.head.span());
    if keeps_flags {
        assembler.set_flags(target.named(), result);
    } else {
        assembler.set(target.named(), result);
    }
    Ok(())
}

/// `CSEL X1,X2,X3,EQ`, `CSINC X1,X2,X3,EQ`, which adds 1 to the second, or `CSET X1,EQ`.
fn select(written: &Written<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let (target, then, mut otherwise, test) = if written.mnemonic == "cset" {
        let [target, test] = written.exactly()?;
        (target, Expression::Constant(1), Expression::Constant(0), test)
    } else {
        let [target, then, otherwise, test] = written.exactly()?;
        (target, value(then, assembler)?, value(otherwise, assembler)?, test)
    };
    if written.mnemonic == "csinc" {
        otherwise = assembler.binary(BinaryOperator::Add, otherwise, Expression::Constant(1));
    }
    let tests = branch_test(&test.text.to_ascii_lowercase());
    let (operator, _) = tests.ok_or_else(|| test.error("expected EQ, NE, LT, LE, GT or GE"))?;
    let span = written.head.span();
    let zero = Box::new(Expression::Constant(0));
    let condition = Expression::Binary(operator, Box::new(assembler.flags()), zero, span);
    assembler.set(target_of(target)?.named(), choice(condition, then, otherwise, span));
    Ok(())
}

/// `[X1]`, `[X1,#0]`, `[X1,X2]`, `[X1,W2,SXTW]` or `[X1,X2,LSL #2]`.
fn address(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Address, Diagnostic> {
    let inner = operand.between("[", "]").ok_or_else(|| operand.error("expected an address, such as `[X1]`"))?;
    let parts = inner.split(',');
    let (base, offset, extension) = match parts[..] {
        [base] => return register_of(base)?.indirect(assembler),
        [base, offset] => (base, offset, None),
        [base, offset, extension] => (base, offset, Some(extension)),
        _ => return Err(inner.error("expected a register, two, or two and an extension, such as `[X1,W2,SXTW]`")),
    };
    if offset.text.starts_with('#') && extension.is_none() {
        let base = register_of(base)?.indirect(assembler)?;
        return assembler.displaced(base, offset.behind(1));
    }
    let base = register_of(base)?.indirect(assembler)?;
    let mut index = value(offset, assembler)?;
    if let Some(extension) = extension {
        index = shifted(index, extension, assembler)?;
    }
    Ok(assembler.offset(base, index))
}

/// `SXTW`, `UXTW` or `LSL`, with or without `#2`.
fn shifted(index: Expression, extension: Piece<'_>, assembler: &Assembler<'_>) -> Result<Expression, Diagnostic> {
    let (word, amount) = extension.word();
    let is_known = matches!(word.text.to_ascii_uppercase().as_str(), "SXTW" | "UXTW" | "SXTX" | "LSL");
    let shift = if amount.text.is_empty() { Some(0) } else { amount.strip("#").and_then(Piece::integer) };
    match shift.filter(|shift| is_known && (0..=4).contains(shift)) {
        Some(0) => Ok(index),
        Some(shift) => Ok(assembler.binary(BinaryOperator::Multiply, index, Expression::Constant(1 << shift))),
        None => Err(extension.error("expected SXTW, UXTW or LSL, with a shift up to #4 or without")),
    }
}

fn register_of(operand: Piece<'_>) -> Result<Register, Diagnostic> {
    let name = register(operand.text).ok_or_else(|| operand.error("expected a register, such as `X1` or `W1`"))?;
    Ok(Register { name, span: operand.span() })
}

/// A register to be written; nothing comes of what is written to the zero register.
fn target_of(operand: Piece<'_>) -> Result<Register, Diagnostic> {
    let Register { name, span } = register_of(operand)?;
    Ok(Register { name: if name == ZERO { NOWHERE.to_owned() } else { name }, span })
}

fn constant(operand: Piece<'_>) -> Option<Expression> {
    operand.strip("#").and_then(Piece::integer).map(Expression::Constant)
}

/// `X1`, `XZR` or `#1`.
fn value(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Expression, Diagnostic> {
    if let Some(constant) = constant(operand) {
        return Ok(constant);
    }
    let expected = |_| operand.error("expected a register or a constant, such as `X1` or `#1`");
    let register = register_of(operand).map_err(expected)?;
    if register.name == ZERO {
        return Ok(Expression::Constant(0));
    }
    Ok(register.value(assembler))
}
