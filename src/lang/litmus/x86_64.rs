//! x86 with 64 bits, in the notation of AT&T, as herd has it: `movl (x),%eax` reads, `movl $1,(x)` writes; what is
//! written comes last, and the size is the last letter of the mnemonic. Everything else is as for
//! [x86](super::x86).

use super::assembler::Assembler;
use super::operands::Register;
use super::piece::Piece;
use super::x86::{Line, Notation, Operand, run};
use crate::lang::Diagnostic;

const SUPPORTED: &str = "supported: mov, xchg, [lock] inc dec add sub xor and or xadd cmpxchg, cmp, all of these with \
                         l or q behind; je jne jl jle jg jge jmp, mfence, sfence, lfence, nop";

const NOTATION: Notation = Notation { operand, accumulator: "RAX", supported: SUPPORTED, target_first: false };

/// The register of that name, with 64 bits: `eax` is `RAX`.
pub fn register(name: &str) -> Option<String> {
    const OLD: [&str; 8] = ["AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP"];
    let upper = name.strip_prefix('%').unwrap_or(name).to_ascii_uppercase();
    if let Some(rest) = upper.strip_prefix(['E', 'R']).filter(|rest| OLD.contains(rest)) {
        return Some(format!("R{rest}"));
    }
    let number = upper.strip_prefix('R').and_then(|rest| rest.trim_end_matches('D').parse::<u8>().ok());
    number.filter(|number| (8..16).contains(number)).map(|number| format!("R{number}"))
}

/// One instruction.
pub fn assemble(code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
    const SIZED: [&str; 11] = ["mov", "xchg", "inc", "dec", "add", "sub", "xor", "and", "or", "xadd", "cmpxchg"];
    let line = Line::new(code, &NOTATION);
    let stem = line.mnemonic().strip_suffix(['l', 'q']).filter(|stem| SIZED.contains(stem) || *stem == "cmp");
    let stem = stem.map(str::to_owned);
    match stem {
        Some(stem) => run(&line.named(&stem), assembler),
        None => run(&line, assembler),
    }
}

/// `%eax`, `$1`, `(x)`, `x`, or `(%rax)` where the register holds an address.
fn operand(operand: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<Operand, Diagnostic> {
    if let Some(number) = operand.strip("$") {
        let number = number.integer().ok_or_else(|| number.error("expected an integer"))?;
        return Ok(Operand::Constant(number));
    }
    if operand.text.starts_with('%') {
        let name = register(operand.text).ok_or_else(|| operand.error("expected a register, such as `%eax`"))?;
        return Ok(Operand::Register(Register { name, span: operand.span() }));
    }
    let inner = operand.between("(", ")").or_else(|| operand.between("[", "]")).unwrap_or(operand);
    if inner.text.starts_with('%') {
        let name = register(inner.text).ok_or_else(|| inner.error("expected a register, such as `%rax`"))?;
        return assembler.indirect(&name, inner.span()).map(Operand::Memory);
    }
    if inner.is_name() {
        return Ok(Operand::Memory(assembler.direct(inner)));
    }
    Err(inner.error("expected a register, a constant or a location, such as `%eax`, `$1` or `(x)`"))
}
