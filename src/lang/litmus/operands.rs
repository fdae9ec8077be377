//! What the assembly languages have in common: a mnemonic, then operands with commas between.

use super::assembler::{Address, Assembler};
use super::piece::Piece;
use crate::lang::Diagnostic;
use crate::program::{BinaryOperator, Expression, Span};

/// An instruction as it is written.
pub struct Written<'t> {
    /// What it does, in lower case.
    pub mnemonic: String,
    /// The mnemonic in the text.
    pub head: Piece<'t>,
    /// On what.
    pub operands: Vec<Piece<'t>>,
}

impl<'t> Written<'t> {
    /// Takes the text of an instruction apart.
    pub fn new(code: Piece<'t>) -> Written<'t> {
        let end = code.text.find(char::is_whitespace).unwrap_or(code.text.len());
        let head = code.part(0, end);
        let rest = code.behind(end).trimmed();
        let operands = if rest.text.is_empty() { Vec::new() } else { split_outside_brackets(rest) };
        Written { mnemonic: head.text.to_ascii_lowercase(), head, operands }
    }

    /// Exactly so many operands.
    pub fn exactly<const N: usize>(&self) -> Result<[Piece<'t>; N], Diagnostic> {
        <[Piece<'t>; N]>::try_from(self.operands.clone()).map_err(|operands| {
            let count = if N == 1 { "one operand".to_owned() } else { format!("{N} operands") };
            self.head.error(format!("`{}` takes {count}, this has {}", self.head.text, operands.len()))
        })
    }

    /// An error: the architecture is read, but not this instruction.
    pub fn unsupported(&self, supported: &str) -> Diagnostic {
        self.head.error(format!("the instruction `{}` is not supported", self.head.text)).with_help(supported)
    }
}

fn split_outside_brackets(piece: Piece<'_>) -> Vec<Piece<'_>> {
    let mut parts = Vec::new();
    let (mut begin, mut depth) = (0, 0_usize);
    for (at, character) in piece.text.char_indices() {
        match character {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(piece.part(begin, at).trimmed());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(piece.behind(begin).trimmed());
    parts
}

/// A register in the text: its name, and where it stands.
pub struct Register {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

impl Register {
    /// By name, with its place.
    pub fn named(&self) -> (&str, Span) {
        (&self.name, self.span)
    }

    /// Its value.
    pub fn value(&self, assembler: &mut Assembler<'_>) -> Expression {
        assembler.value(&self.name, self.span)
    }

    /// What is at the address that it holds.
    pub fn indirect(&self, assembler: &mut Assembler<'_>) -> Result<Address, Diagnostic> {
        assembler.indirect(&self.name, self.span)
    }
}

/// The sum of two registers goes to a third; one of the two may hold an address.
pub fn add_registers(target: &Register, left: &Register, right: &Register, assembler: &mut Assembler<'_>) {
    let (base, offset) = if assembler.holds_address(&right.name) { (right, left) } else { (left, right) };
    let offset = offset.value(assembler);
    assembler.advance(target.named(), base.named(), offset);
}

/// The address that is the sum of two registers, of which one holds an address.
pub fn sum_of_registers(
    first: &Register,
    second: &Register,
    assembler: &mut Assembler<'_>,
) -> Result<Address, Diagnostic> {
    let is_second = assembler.holds_address(&second.name);
    let (base, index) = if is_second { (second, first) } else { (first, second) };
    let base = base.indirect(assembler)?;
    let index = index.value(assembler);
    Ok(assembler.offset(base, index))
}

/// The test of a conditional branch and its contrary, by the last letters of its mnemonic.
pub fn branch_test(suffix: &str) -> Option<(BinaryOperator, BinaryOperator)> {
    use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    Some(match suffix {
        "eq" | "e" | "z" => (Equal, NotEqual),
        "ne" | "nz" => (NotEqual, Equal),
        "lt" | "l" => (Less, GreaterEqual),
        "ge" => (GreaterEqual, Less),
        "gt" | "g" => (Greater, LessEqual),
        "le" => (LessEqual, Greater),
        _ => return None,
    })
}
