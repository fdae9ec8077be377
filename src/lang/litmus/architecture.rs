//! The architectures of litmus tests, and what each of them calls things.

use super::assembler::Assembler;
use super::piece::Piece;
use super::{aarch64, arm, ppc, riscv, x86, x86_64};
use crate::lang::Diagnostic;

/// What a test is written for: a processor architecture, or C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// x86, in the notation of its makers.
    X86,
    /// x86 with 64 bits, in the notation of AT&T.
    X86With64Bits,
    /// POWER.
    Ppc,
    /// ARM, version 7.
    Arm,
    /// ARM, version 8, with 64 bits.
    AArch64,
    /// RISC-V.
    RiscV,
    /// C11.
    C,
}

impl Architecture {
    /// All of them, with their names in tests.
    const NAMES: [(Architecture, &'static str); 8] = [
        (Architecture::X86, "X86"),
        (Architecture::X86With64Bits, "X86_64"),
        (Architecture::Ppc, "PPC"),
        (Architecture::Arm, "ARM"),
        (Architecture::AArch64, "AArch64"),
        (Architecture::AArch64, "AARCH64"),
        (Architecture::RiscV, "RISCV"),
        (Architecture::C, "C"),
    ];

    /// The architecture of that name.
    pub(super) fn named(name: Piece<'_>) -> Result<Architecture, Diagnostic> {
        let known = Architecture::NAMES.into_iter().find(|(_, known)| *known == name.text);
        known.map(|(architecture, _)| architecture).ok_or_else(|| {
            let names: Vec<&str> = Architecture::NAMES.iter().map(|(_, name)| *name).collect();
            name.error(format!("the architecture `{}` is not supported", name.text))
                .with_help(format!("supported: {}", names.join(", ")))
        })
    }

    /// The name of its memory model.
    #[must_use]
    pub fn memory_model(self) -> &'static str {
        match self {
            Architecture::X86 | Architecture::X86With64Bits => "tso",
            Architecture::Ppc => "power",
            Architecture::Arm => "armv7",
            Architecture::AArch64 => "armv8",
            Architecture::RiscV => "riscv",
            Architecture::C => "rc11",
        }
    }

    /// The register of that name; in C, the variable.
    pub(super) fn register(self, name: Piece<'_>) -> Result<String, Diagnostic> {
        let register = match self {
            Architecture::X86 => x86::register(name.text),
            Architecture::X86With64Bits => x86_64::register(name.text),
            Architecture::Ppc => ppc::register(name.text),
            Architecture::Arm => arm::register(name.text),
            Architecture::AArch64 => aarch64::register(name.text),
            Architecture::RiscV => riscv::register(name.text),
            Architecture::C => name.is_name().then(|| name.text.to_owned()),
        };
        register.ok_or_else(|| name.error(format!("`{}` is no register of this architecture", name.text)))
    }

    /// One instruction of assembly.
    pub(super) fn assemble(self, code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
        match self {
            Architecture::X86 => x86::assemble(code, assembler),
            Architecture::X86With64Bits => x86_64::assemble(code, assembler),
            Architecture::Ppc => ppc::assemble(code, assembler),
            Architecture::Arm => arm::assemble(code, assembler),
            Architecture::AArch64 => aarch64::assemble(code, assembler),
            Architecture::RiscV => riscv::assemble(code, assembler),
            Architecture::C => Err(code.error("this is no statement of C")),
        }
    }
}

/// A symbolic register, `%x0`: one that the tools which run tests choose.
pub fn symbolic(name: &str) -> Option<String> {
    let rest = name.strip_prefix('%')?;
    let is_name = !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| format!("sym_{rest}"))
}
