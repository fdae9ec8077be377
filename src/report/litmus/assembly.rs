//! Litmus tests in the assembly languages of herd.
//!
//! | | X86 | PPC | ARM | AArch64 | RISCV |
//! |---|---|---|---|---|---|
//! | address of the first, second access | its name | `r2`, `r4` | `R2`, `R4` | `X2`, `X4` | `x6`, `x7` |
//! | value of the first, second access | `EAX`, `EBX` | `r1`, `r3` | `R1`, `R3` | `W1`, `W3` | `x5`, `x8` |
//! | what depends on the first value | – | `r5` | `R5` | `W5` | `x9` |
//! | fence | `MFENCE` | `sync` | `DMB` | `DMB SY` | `fence rw,rw` |

use super::links::Link;
use crate::lang::litmus::Architecture;
use crate::memory::Kind;

/// An access of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Read or write.
    pub kind: Kind,
    /// The name of the location.
    pub location: String,
    /// What is written, or what is read if the cycle comes about.
    pub value: i64,
}

/// A thread of a test: one access, or two and what is between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The first access.
    pub first: Access,
    /// What is between, and the second access.
    pub second: Option<(Link, Access)>,
}

/// How an architecture writes things.
pub trait Assembly {
    /// Its name in herd.
    fn name(&self) -> &'static str;
    /// Its full fence in the vocabulary of diy.
    fn fence_name(&self) -> &'static str;
    /// The entries of the initial state for a thread.
    fn initial(&self, thread: usize, column: &Column) -> String;
    /// The instructions of a thread, and the labels between them, whose names no other thread has: herd knows them
    /// all over the test.
    fn code(&self, thread: usize, column: &Column) -> Vec<String>;
    /// The register that the first (0) or the second (1) access reads into.
    fn register(&self, position: usize) -> &'static str;
}

/// How the architecture writes things.
#[must_use]
pub fn assembly(architecture: Architecture) -> &'static dyn Assembly {
    match architecture {
        Architecture::X86 | Architecture::X86With64Bits => &X86,
        Architecture::Arm => &Arm,
        Architecture::AArch64 => &AArch64,
        Architecture::RiscV => &RiscV,
        // Nothing is written in C: POWER has what is needed for any order.
        Architecture::Ppc | Architecture::C => &Ppc,
    }
}

struct X86;
struct Ppc;
struct Arm;
struct AArch64;
struct RiscV;

impl Assembly for X86 {
    fn name(&self) -> &'static str {
        "X86"
    }

    fn fence_name(&self) -> &'static str {
        "MFence"
    }

    fn initial(&self, _: usize, _: &Column) -> String {
        String::new()
    }

    fn code(&self, _: usize, column: &Column) -> Vec<String> {
        let access = |position: usize, access: &Access| match access.kind {
            Kind::Write => format!("MOV [{}],${}", access.location, access.value),
            Kind::Read => format!("MOV {},[{}]", self.register(position), access.location),
        };
        let mut code = vec![access(0, &column.first)];
        if let Some((link, second)) = &column.second {
            // No model of x86 asks for a dependency.
            code.extend((*link == Link::Fence).then(|| "MFENCE".to_owned()));
            code.push(access(1, second));
        }
        code
    }

    fn register(&self, position: usize) -> &'static str {
        ["EAX", "EBX"][position]
    }
}

/// The label behind a thread's branch.
fn label(thread: usize) -> String {
    format!("LC{thread:02}")
}

/// The initial state of an architecture that has addresses in registers.
fn addresses(thread: usize, column: &Column, registers: [&str; 2]) -> String {
    let accesses = std::iter::once(&column.first).chain(column.second.iter().map(|(_, access)| access));
    let entry = |(access, register): (&Access, &str)| format!("{thread}:{register}={};", access.location);
    accesses.zip(registers).map(entry).collect::<Vec<_>>().join(" ")
}

impl Assembly for Ppc {
    fn name(&self) -> &'static str {
        "PPC"
    }

    fn fence_name(&self) -> &'static str {
        "Sync"
    }

    fn initial(&self, thread: usize, column: &Column) -> String {
        addresses(thread, column, ["r2", "r4"])
    }

    fn code(&self, thread: usize, column: &Column) -> Vec<String> {
        let mut code = match column.first.kind {
            Kind::Write => vec![format!("li r1,{}", column.first.value), "stw r1,0(r2)".to_owned()],
            Kind::Read => vec!["lwz r1,0(r2)".to_owned()],
        };
        let Some((link, second)) = &column.second else { return code };
        let constant = format!("li r3,{}", second.value);
        let label = label(thread);
        let lines: Vec<&str> = match (link, second.kind) {
            (Link::Plain, _) => vec![],
            (Link::Fence, _) => vec!["sync"],
            (Link::Address | Link::Data, _) => vec!["xor r5,r1,r1"],
            (Link::Control, _) => vec!["cmpw r1,r1", "beq {label}", "{label}:"],
        };
        code.extend(lines.into_iter().map(|line| line.replace("{label}", &label)));
        match (link, second.kind) {
            (Link::Address, Kind::Read) => code.push("lwzx r3,r5,r4".to_owned()),
            (Link::Address, Kind::Write) => code.extend([constant, "stwx r3,r5,r4".to_owned()]),
            (Link::Data, Kind::Write) => {
                code.extend([format!("addi r5,r5,{}", second.value), "stw r5,0(r4)".to_owned()]);
            }
            (_, Kind::Read) => code.push("lwz r3,0(r4)".to_owned()),
            (_, Kind::Write) => code.extend([constant, "stw r3,0(r4)".to_owned()]),
        }
        code
    }

    fn register(&self, position: usize) -> &'static str {
        ["r1", "r3"][position]
    }
}

impl Assembly for Arm {
    fn name(&self) -> &'static str {
        "ARM"
    }

    fn fence_name(&self) -> &'static str {
        "DMB"
    }

    fn initial(&self, thread: usize, column: &Column) -> String {
        addresses(thread, column, ["R2", "R4"])
    }

    fn code(&self, thread: usize, column: &Column) -> Vec<String> {
        let mut code = match column.first.kind {
            Kind::Write => vec![format!("MOV R1,#{}", column.first.value), "STR R1,[R2]".to_owned()],
            Kind::Read => vec!["LDR R1,[R2]".to_owned()],
        };
        let Some((link, second)) = &column.second else { return code };
        let constant = format!("MOV R3,#{}", second.value);
        let label = label(thread);
        let lines: Vec<&str> = match link {
            Link::Plain => vec![],
            Link::Fence => vec!["DMB"],
            Link::Address | Link::Data => vec!["EOR R5,R1,R1"],
            Link::Control => vec!["CMP R1,R1", "BNE {label}", "{label}:"],
        };
        code.extend(lines.into_iter().map(|line| line.replace("{label}", &label)));
        match (link, second.kind) {
            (Link::Address, Kind::Read) => code.push("LDR R3,[R5,R4]".to_owned()),
            (Link::Address, Kind::Write) => code.extend([constant, "STR R3,[R5,R4]".to_owned()]),
            (Link::Data, Kind::Write) => {
                code.extend([format!("ADD R5,R5,#{}", second.value), "STR R5,[R4]".to_owned()]);
            }
            (_, Kind::Read) => code.push("LDR R3,[R4]".to_owned()),
            (_, Kind::Write) => code.extend([constant, "STR R3,[R4]".to_owned()]),
        }
        code
    }

    fn register(&self, position: usize) -> &'static str {
        ["R1", "R3"][position]
    }
}

impl Assembly for AArch64 {
    fn name(&self) -> &'static str {
        "AArch64"
    }

    fn fence_name(&self) -> &'static str {
        "DMB.SY"
    }

    fn initial(&self, thread: usize, column: &Column) -> String {
        addresses(thread, column, ["X2", "X4"])
    }

    fn code(&self, thread: usize, column: &Column) -> Vec<String> {
        let mut code = match column.first.kind {
            Kind::Write => vec![format!("MOV W1,#{}", column.first.value), "STR W1,[X2]".to_owned()],
            Kind::Read => vec!["LDR W1,[X2]".to_owned()],
        };
        let Some((link, second)) = &column.second else { return code };
        let constant = format!("MOV W3,#{}", second.value);
        let label = label(thread);
        let lines: Vec<&str> = match link {
            Link::Plain => vec![],
            Link::Fence => vec!["DMB SY"],
            Link::Address | Link::Data => vec!["EOR W5,W1,W1"],
            Link::Control => vec!["CBNZ W1,{label}", "{label}:"],
        };
        code.extend(lines.into_iter().map(|line| line.replace("{label}", &label)));
        match (link, second.kind) {
            (Link::Address, Kind::Read) => code.push("LDR W3,[X4,W5,SXTW]".to_owned()),
            (Link::Address, Kind::Write) => code.extend([constant, "STR W3,[X4,W5,SXTW]".to_owned()]),
            (Link::Data, Kind::Write) => {
                code.extend([format!("ADD W5,W5,#{}", second.value), "STR W5,[X4]".to_owned()]);
            }
            (_, Kind::Read) => code.push("LDR W3,[X4]".to_owned()),
            (_, Kind::Write) => code.extend([constant, "STR W3,[X4]".to_owned()]),
        }
        code
    }

    fn register(&self, position: usize) -> &'static str {
        ["X1", "X3"][position]
    }
}

impl Assembly for RiscV {
    fn name(&self) -> &'static str {
        "RISCV"
    }

    fn fence_name(&self) -> &'static str {
        "Fence.rw.rw"
    }

    fn initial(&self, thread: usize, column: &Column) -> String {
        addresses(thread, column, ["x6", "x7"])
    }

    fn code(&self, thread: usize, column: &Column) -> Vec<String> {
        let mut code = match column.first.kind {
            Kind::Write => vec![format!("ori x5,x0,{}", column.first.value), "sw x5,0(x6)".to_owned()],
            Kind::Read => vec!["lw x5,0(x6)".to_owned()],
        };
        let Some((link, second)) = &column.second else { return code };
        let constant = format!("ori x8,x0,{}", second.value);
        let label = label(thread);
        let lines: Vec<&str> = match link {
            Link::Plain => vec![],
            Link::Fence => vec!["fence rw,rw"],
            Link::Address => vec!["xor x9,x5,x5", "add x9,x7,x9"],
            Link::Data => vec!["xor x9,x5,x5"],
            Link::Control => vec!["bne x5,x0,{label}", "{label}:"],
        };
        code.extend(lines.into_iter().map(|line| line.replace("{label}", &label)));
        match (link, second.kind) {
            (Link::Address, Kind::Read) => code.push("lw x8,0(x9)".to_owned()),
            (Link::Address, Kind::Write) => code.extend([constant, "sw x8,0(x9)".to_owned()]),
            (Link::Data, Kind::Write) => {
                code.extend([format!("ori x9,x9,{}", second.value), "sw x9,0(x7)".to_owned()]);
            }
            (_, Kind::Read) => code.push("lw x8,0(x7)".to_owned()),
            (_, Kind::Write) => code.extend([constant, "sw x8,0(x7)".to_owned()]),
        }
        code
    }

    fn register(&self, position: usize) -> &'static str {
        ["x5", "x8"][position]
    }
}
