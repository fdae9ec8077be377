//! x86 in the notation of its makers: `MOV EAX,[x]` reads, `MOV [x],$1` writes.
//!
//! `XCHG` with memory is locked by itself, other instructions by the prefix `LOCK`: they are atomic, and full fences.
//! `CMPXCHG` writes only if the comparison holds. What x86 does without a write buffer or past it (`MOVNTI`)
//! is refused: the models of x86 here do not know it.

use super::architecture::symbolic;
use super::assembler::{Address, Assembler, NOWHERE};
use super::expressions::{Modify, binary, modify};
use super::operands::{Register, Written, branch_test};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{BinaryOperator, Expression, InstructionKind, Marks, PartialFence, Span};

const SUPPORTED: &str = "supported: MOV, XCHG, [LOCK] INC DEC ADD SUB XOR AND OR XADD CMPXCHG, CMP, \
                         JE JNE JL JLE JG JGE JMP, MFENCE, SFENCE, LFENCE, NOP";

/// The register of that name.
pub fn register(name: &str) -> Option<String> {
    const OLD: [&str; 8] = ["AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP"];
    let upper = name.to_ascii_uppercase();
    let is_old = upper.strip_prefix(['E', 'R']).is_some_and(|rest| OLD.contains(&rest));
    let number = upper.strip_prefix('R').and_then(|rest| rest.trim_end_matches('D').parse::<u8>().ok());
    (is_old || number.is_some_and(|number| (8..16).contains(&number))).then_some(upper).or_else(|| symbolic(name))
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    run(&Line::new(code, &NOTATION), assembler)
}

const NOTATION: Notation = Notation { operand, accumulator: "EAX", supported: SUPPORTED, target_first: true };

/// How x86 is written.
pub struct Notation {
    /// Reads an operand.
    pub operand: fn(Piece<'_>, &mut Assembler<'_>) -> Result<Operand, Diagnostic>,
    /// The register that `CMPXCHG` compares with.
    pub accumulator: &'static str,
    /// What is supported, for errors.
    pub supported: &'static str,
    /// Whether the operand that is written comes first.
    pub target_first: bool,
}

/// An operand.
pub enum Operand {
    /// A constant.
    Constant(i64),
    /// A register.
    Register(Register),
    /// A location.
    Memory(Address),
}

/// An operand, and where it stands.
type Placed = (Operand, Span);

/// A line of code.
pub struct Line<'t> {
    /// What is written, without the prefix.
    written: Written<'t>,
    is_locked: bool,
    notation: &'static Notation,
}

impl<'t> Line<'t> {
    /// Takes a line apart.
    pub fn new(code: Piece<'t>, notation: &'static Notation) -> Line<'t> {
        let written = Written::new(code);
        if written.mnemonic == "lock" {
            let behind = code.behind(written.head.text.len()).trimmed();
            return Line { written: Written::new(behind), is_locked: true, notation };
        }
        Line { written, is_locked: false, notation }
    }

    /// The same instruction by another name.
    pub fn named(mut self, mnemonic: &str) -> Line<'t> {
        mnemonic.clone_into(&mut self.written.mnemonic);
        self
    }

    /// What it is called.
    pub fn mnemonic(&self) -> &str {
        &self.written.mnemonic
    }

    /// What is written, and what with.
    fn two(&self, assembler: &mut Assembler<'_>) -> Result<(Placed, Placed), Diagnostic> {
        let [first, second] = self.written.exactly()?;
        let (target, source) = if self.notation.target_first { (first, second) } else { (second, first) };
        let target = ((self.notation.operand)(target, assembler)?, target.span());
        Ok((target, ((self.notation.operand)(source, assembler)?, source.span())))
    }

    fn kind(&self) -> InstructionKind {
        if self.is_locked { InstructionKind::Atomic } else { InstructionKind::Plain }
    }

    fn error(&self, message: &str) -> Diagnostic {
        self.written.head.error(message)
    }
}

/// Reads a line.
pub fn run(line: &Line<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let Line { written, is_locked, notation } = line;
    let unsupported = || Err(written.unsupported(notation.supported));
    match written.mnemonic.as_str() {
        "mov" if !is_locked => copy(line, assembler),
        "xchg" => exchange(line, assembler),
        "xadd" => add_and_exchange(line, assembler),
        "cmpxchg" => compare_exchange(line, assembler),
        "inc" | "dec" => {
            let [target] = written.exactly()?;
            let operator = modify(if written.mnemonic == "inc" { "add" } else { "sub" });
            let target = ((notation.operand)(target, assembler)?, target.span());
            calculate(line, operator, target, Expression::Constant(1), assembler)
        }
        "add" | "sub" | "xor" | "and" | "or" => {
            let (target, source) = line.two(assembler)?;
            let source = value(source, assembler)?;
            calculate(line, modify(&written.mnemonic), target, source, assembler)
        }
        "cmp" if !is_locked => {
            let (left, right) = line.two(assembler)?;
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
        mnemonic if mnemonic.starts_with("movnt") => Err(line
            .error(&format!("`{}` passes the caches by", written.head.text))
            .with_help("the models of x86 here have no accesses that are not cached; `MOV` is one that is")),
        mnemonic => match mnemonic.strip_prefix('j').and_then(branch_test) {
            Some(tests) if !is_locked => {
                let [label] = written.exactly()?;
                assembler.branch(tests, label)
            }
            _ => unsupported(),
        },
    }
}

fn copy(line: &Line<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    match line.two(assembler)? {
        ((Operand::Memory(_), _), (Operand::Memory(_), _)) => {
            Err(line.error("`MOV` from memory to memory is no instruction of x86"))
        }
        ((Operand::Memory(to), _), source) => {
            let value = value(source, assembler)?;
            assembler.store(to, &value, Marks::NONE);
            Ok(())
        }
        ((Operand::Register(target), _), (Operand::Memory(from), _)) => {
            assembler.load(target.named(), from, Marks::NONE);
            Ok(())
        }
        ((Operand::Register(target), _), (Operand::Register(source), _)) => {
            assembler.copy(target.named(), source.named());
            Ok(())
        }
        ((Operand::Register(target), _), (Operand::Constant(value), _)) => {
            assembler.set(target.named(), Expression::Constant(value));
            Ok(())
        }
        ((Operand::Constant(_), span), _) => Err(Diagnostic::error(span, "expected a register or a location")),
    }
}

/// A location and a register, whichever comes first.
fn memory_and_register(line: &Line<'_>, assembler: &mut Assembler<'_>) -> Result<(Address, Register), Diagnostic> {
    let (first, second) = line.two(assembler)?;
    match (first.0, second.0) {
        (Operand::Memory(memory), Operand::Register(register))
        | (Operand::Register(register), Operand::Memory(memory)) => Ok((memory, register)),
        _ => Err(line.error("expected a location and a register, such as `[x],EAX`")),
    }
}

fn exchange(line: &Line<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let (memory, register) = memory_and_register(line, assembler)?;
    let new = register.value(assembler);
    assembler.modify(InstructionKind::Atomic, memory, Some(register.named()), |_| new)
}

fn add_and_exchange(line: &Line<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let (memory, register) = memory_and_register(line, assembler)?;
    let added = register.value(assembler);
    let sum = |old| binary(BinaryOperator::Add, old, added, register.span);
    assembler.modify(line.kind(), memory, Some(register.named()), sum)
}

fn compare_exchange(line: &Line<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    let (target, source) = line.two(assembler)?;
    let Operand::Memory(memory) = target.0 else {
        return Err(Diagnostic::error(target.1, "expected a location, such as `[x]`"));
    };
    let accumulator = Register { name: line.notation.accumulator.to_owned(), span: line.written.head.span() };
    let values = (accumulator.value(assembler), value(source, assembler)?);
    assembler.compare_exchange(line.kind(), memory, accumulator.named(), values, true)
}

fn calculate(
    line: &Line<'_>,
    operator: Option<Modify>,
    (target, span): (Operand, Span),
    source: Expression,
    assembler: &mut Assembler<'_>,
) -> Result<(), Diagnostic> {
    let operator = operator.ok_or_else(|| line.written.unsupported(line.notation.supported))?;
    match target {
        Operand::Memory(memory) => {
            // The operators that mention a value twice keep it first.
            let kept = matches!(line.mnemonic(), "or").then_some((NOWHERE, span));
            assembler.modify(line.kind(), memory, kept, |old| operator(old, source, span))
        }
        _ if line.is_locked => Err(Diagnostic::error(span, "`LOCK` needs a location, such as `[x]`")),
        Operand::Register(register) => {
            let value = operator(register.value(assembler), source, span);
            assembler.set(register.named(), value);
            Ok(())
        }
        Operand::Constant(_) => Err(Diagnostic::error(span, "expected a register or a location")),
    }
}

/// `EAX`, `$1`, `1`, `[x]`, or `[EAX]` where the register holds an address.
fn operand(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Operand, Diagnostic> {
    if let Some(inner) = operand.between("[", "]") {
        return memory(inner, assembler);
    }
    if let Some(number) = operand.strip("$").unwrap_or(operand).integer() {
        return Ok(Operand::Constant(number));
    }
    match register(operand.text) {
        Some(name) => Ok(Operand::Register(Register { name, span: operand.span() })),
        None => Err(operand.error("expected a register, a constant or a location, such as `EAX`, `$1` or `[x]`")),
    }
}

fn memory(inner: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Operand, Diagnostic> {
    match register(inner.text) {
        Some(name) => assembler.indirect(&name, inner.span()).map(Operand::Memory),
        None if inner.is_name() => Ok(Operand::Memory(assembler.direct(inner))),
        None => Err(inner.error("expected a location or a register; computed addresses are not supported")),
    }
}

/// A register or a constant, as a value.
fn value((operand, span): (Operand, Span), assembler: &mut Assembler<'_>) -> Result<Expression, Diagnostic> {
    match operand {
        Operand::Constant(number) => Ok(Expression::Constant(number)),
        Operand::Register(register) => Ok(register.value(assembler)),
        Operand::Memory(_) => Err(Diagnostic::error(span, "expected a register or a constant")),
    }
}
