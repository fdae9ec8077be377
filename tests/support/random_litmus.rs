//! Random litmus tests without loops, for four architectures: two to four threads, dependencies, light fences, marks
//! on accesses (ARMv8), and instructions that read and write in one piece (ARMv8, RISC-V), most of them no fences.
//!
//! A test is kept as lines of assembly, one for each instruction of the program that is read from it, so that fences
//! and marks that are suggested for the program can be put into the text for herd7.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::insertion::Fences;
use seqcon::memory::FenceStrength;
use seqcon::ordering::Marks;
use seqcon::outline::{Outline, Place};
use seqcon::program::Program;
use std::collections::BTreeMap;
use std::fmt::Write;

/// An architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    Power,
    Armv7,
    Armv8,
    Riscv,
}

impl Architecture {
    pub const ALL: [Architecture; 4] =
        [Architecture::Power, Architecture::Armv7, Architecture::Armv8, Architecture::Riscv];

    /// Our name of its memory model.
    pub fn memory_model(self) -> &'static str {
        match self {
            Architecture::Power => "power",
            Architecture::Armv7 => "armv7",
            Architecture::Armv8 => "armv8",
            Architecture::Riscv => "riscv",
        }
    }

    /// herd7's.
    pub fn cat(self) -> &'static str {
        match self {
            Architecture::Power => "ppc.cat",
            Architecture::Armv7 => "arm.cat",
            Architecture::Armv8 => "aarch64.cat",
            Architecture::Riscv => "riscv.cat",
        }
    }

    fn head(self) -> &'static str {
        match self {
            Architecture::Power => "PPC",
            Architecture::Armv7 => "ARM",
            Architecture::Armv8 => "AArch64",
            Architecture::Riscv => "RISCV",
        }
    }

    fn value(self, number: usize) -> String {
        match self {
            Architecture::Power => format!("r{number}"),
            Architecture::Armv7 => format!("R{number}"),
            Architecture::Armv8 => format!("W{number}"),
            Architecture::Riscv => format!("x{}", number + 5),
        }
    }

    fn pointer(self, location: usize) -> String {
        match self {
            Architecture::Power => format!("r{}", 20 + location),
            Architecture::Armv7 => format!("R{}", 10 + location),
            Architecture::Armv8 => format!("X{}", 20 + location),
            Architecture::Riscv => format!("x{}", 28 + location),
        }
    }

    fn load(self, to: &str, from: &str) -> String {
        match self {
            Architecture::Power => format!("lwz {to},0({from})"),
            Architecture::Armv7 | Architecture::Armv8 => format!("LDR {to},[{from}]"),
            Architecture::Riscv => format!("lw {to},0({from})"),
        }
    }

    fn store(self, value: &str, to: &str) -> String {
        match self {
            Architecture::Power => format!("stw {value},0({to})"),
            Architecture::Armv7 | Architecture::Armv8 => format!("STR {value},[{to}]"),
            Architecture::Riscv => format!("sw {value},0({to})"),
        }
    }

    fn constant(self, to: &str, value: usize) -> String {
        match self {
            Architecture::Power => format!("li {to},{value}"),
            Architecture::Armv7 | Architecture::Armv8 => format!("MOV {to},#{value}"),
            Architecture::Riscv => format!("ori {to},x0,{value}"),
        }
    }

    /// Zero, made of a value.
    fn zero(self, to: &str, of: &str) -> String {
        match self {
            Architecture::Power | Architecture::Riscv => format!("xor {to},{of},{of}"),
            Architecture::Armv7 | Architecture::Armv8 => format!("EOR {to},{of},{of}"),
        }
    }

    fn plus(self, register: &str, value: usize) -> String {
        match self {
            Architecture::Power | Architecture::Riscv => format!("addi {register},{register},{value}"),
            Architecture::Armv7 | Architecture::Armv8 => format!("ADD {register},{register},#{value}"),
        }
    }

    /// Whether an instruction can read and write in one piece.
    fn has_swap(self) -> bool {
        matches!(self, Architecture::Armv8 | Architecture::Riscv)
    }

    /// A swap: without marks, acquire, release, or both.
    fn swap(self, marks: usize, written: &str, read: &str, pointer: &str) -> String {
        if self == Architecture::Riscv {
            return format!("amoswap.w{} {read},{written},({pointer})", ["", ".aq", ".rl", ".aq.rl"][marks]);
        }
        format!("{} {written},{read},[{pointer}]", ["SWP", "SWPA", "SWPL", "SWPAL"][marks])
    }

    /// A load or a store with a mark, if there are such.
    fn with_mark(self, text: String, rng: &mut StdRng) -> String {
        if self != Architecture::Armv8 || !rng.random_bool(0.25) {
            return text;
        }
        let load = ["LDAR ", "LDAPR "][rng.random_range(0..2)];
        text.replacen("LDR ", load, 1).replacen("STR ", "STLR ", 1)
    }

    /// A branch on a value, to the next instruction.
    fn branch(self, on: &str, label: &str) -> Vec<String> {
        match self {
            Architecture::Power => vec![format!("cmpw {on},{on}"), format!("beq {label}")],
            Architecture::Armv7 => vec![format!("CMP {on},{on}"), format!("BNE {label}")],
            Architecture::Armv8 => vec![format!("CBNZ {on},{label}")],
            Architecture::Riscv => vec![format!("bne {on},x0,{label}")],
        }
    }

    fn fences(self) -> &'static [&'static str] {
        match self {
            Architecture::Power => &["lwsync", "sync", "isync"],
            Architecture::Armv7 => &["DMB ST", "DMB", "ISB"],
            Architecture::Armv8 => &["DMB LD", "DMB ST", "DMB SY", "ISB"],
            Architecture::Riscv => &["fence w,w", "fence r,rw", "fence rw,w", "fence.tso", "fence rw,rw", "fence r,r"],
        }
    }

    /// What is suggested, as this architecture writes it.
    fn fence(self, strength: FenceStrength) -> String {
        match (self, strength) {
            (Architecture::Power, FenceStrength::Lightweight) => "lwsync".to_owned(),
            (Architecture::Power, _) => "sync".to_owned(),
            (Architecture::Armv7 | Architecture::Armv8, FenceStrength::Stores) => "DMB ST".to_owned(),
            (Architecture::Armv8, FenceStrength::Loads) => "DMB LD".to_owned(),
            (Architecture::Armv7, _) => "DMB".to_owned(),
            (Architecture::Armv8, _) => "DMB SY".to_owned(),
            (Architecture::Riscv, FenceStrength::Stores) => "fence w,w".to_owned(),
            (Architecture::Riscv, FenceStrength::Loads) => "fence r,rw".to_owned(),
            (Architecture::Riscv, FenceStrength::Lightweight) => "fence.tso".to_owned(),
            (Architecture::Riscv, FenceStrength::Between(before, after)) => format!("fence {before},{after}"),
            (Architecture::Riscv, _) => "fence rw,rw".to_owned(),
        }
    }
}

/// A line: perhaps a label, and an instruction.
#[derive(Clone, Debug)]
struct Line {
    label: Option<String>,
    text: String,
}

/// A test.
#[derive(Clone, Debug)]
pub struct RandomTest {
    pub architecture: Architecture,
    threads: Vec<Vec<Line>>,
    /// For each thread the registers that are read into.
    loaded: Vec<Vec<String>>,
}

const LOCATIONS: [&str; 3] = ["x", "y", "z"];

impl RandomTest {
    pub fn new(architecture: Architecture, rng: &mut StdRng) -> RandomTest {
        // Four take herd7 long.
        let threads = if rng.random_bool(0.04) { 4 } else { rng.random_range(2..=3) };
        let mut test = RandomTest { architecture, threads: Vec::new(), loaded: Vec::new() };
        let mut value = 0;
        for number in 0..threads {
            let accesses = match threads {
                2 => 2..=3,
                3 => 2..=2,
                _ => 1..=2,
            };
            let accesses = rng.random_range(accesses);
            let (lines, loaded) = thread((architecture, number), rng, &mut value, accesses);
            test.threads.push(lines);
            test.loaded.push(loaded);
        }
        test
    }

    /// Its text, with a condition that asks for nothing and all that can be seen.
    pub fn text(&self) -> String {
        let architecture = self.architecture;
        let mut text = format!("{} random\n{{\n", architecture.head());
        for thread in 0..self.threads.len() {
            for (location, name) in LOCATIONS.iter().enumerate() {
                write!(text, "{thread}:{}={name}; ", architecture.pointer(location)).unwrap();
            }
            text.push('\n');
        }
        text.push_str("}\n");
        // A label has a cell of its own: herd7 wants that.
        let cells: Vec<Vec<String>> = self
            .threads
            .iter()
            .map(|lines| {
                let cells = lines.iter().flat_map(|line| {
                    line.label.iter().map(|label| format!("{label}:")).chain([line.text.clone()]).collect::<Vec<_>>()
                });
                cells.filter(|cell| !cell.is_empty()).collect()
            })
            .collect();
        let rows = cells.iter().map(Vec::len).max().unwrap_or(0);
        let names: Vec<String> = (0..cells.len()).map(|thread| format!("P{thread}")).collect();
        writeln!(text, " {} ;", names.join(" | ")).unwrap();
        for row in 0..rows {
            let cell = |thread: &Vec<String>| thread.get(row).cloned().unwrap_or_default();
            writeln!(text, " {} ;", cells.iter().map(cell).collect::<Vec<_>>().join(" | ")).unwrap();
        }
        let registers = self.loaded.iter().enumerate().flat_map(|(thread, registers)| {
            registers.iter().map(move |register| format!("{thread}:{};", register.replace('W', "X")))
        });
        let seen: String = registers.chain(LOCATIONS.iter().map(|name| format!("{name};"))).collect();
        write!(text, "locations [{seen}]\nexists (x=77)\n").unwrap();
        text
    }

    /// With fences and marks in place, which are for the program that this text is read as; nothing if an instruction
    /// cannot carry its mark, or a fence is on one way of a branch alone.
    pub fn with(&self, program: &Program, fences: &Fences) -> Option<RandomTest> {
        let outline = Outline::of_program(program);
        let mut test = self.clone();
        // For each thread what is put in before a line, with whether jumps to that line pass it, too.
        let mut inserted: BTreeMap<(usize, usize), Vec<(bool, String)>> = BTreeMap::new();
        for (site, &strength) in fences {
            let at = outline.at(site.instr)?;
            let known = program.instruction(at);
            // The control state before an instruction has the number of its line.
            let (thread, line) = (at.thread.index(), known.from.index());
            let is_branch = known.condition.is_some();
            let fence = self.architecture.fence(strength);
            let mut put = |before: usize, jumps: bool| {
                inserted.entry((thread, before)).or_default().push((jumps, fence.clone()));
            };
            match site.place {
                Place::After if is_branch => return None,
                Place::After => put(line + 1, false),
                Place::State => put(known.to.index(), true),
                Place::Before => put(line, true),
                Place::On => {
                    let text = &mut test.threads[thread][line].text;
                    *text = marked(text, strength)?;
                }
                Place::Inside(_) => return None,
            }
        }
        // From the last to the first, so that lines keep their numbers.
        for ((thread, before), fences) in inserted.into_iter().rev() {
            let lines = &mut test.threads[thread];
            // Those that jumps pass, too, come last, and so stand where the label is.
            let (passed, skipped): (Vec<_>, Vec<_>) = fences.into_iter().partition(|(jumps, _)| *jumps);
            for (jumps, text) in passed.into_iter().chain(skipped) {
                let label = lines.get_mut(before).filter(|_| jumps).and_then(|line| line.label.take());
                lines.insert(before, Line { label, text });
            }
        }
        Some(test)
    }
}

/// A load or a store with marks, as ARMv8 has it.
fn marked(text: &str, strength: FenceStrength) -> Option<String> {
    let FenceStrength::Marks(marks) = strength else { return None };
    if text.contains("SXTW") {
        return None;
    }
    let (old, new) = if marks.has(Marks::RELEASE) {
        ("STR ", "STLR ")
    } else if marks.has(Marks::ACQUIRE) {
        ("LDR ", "LDAR ")
    } else {
        ("LDR ", "LDAPR ")
    };
    text.starts_with(old).then(|| text.replacen(old, new, 1))
}

fn thread(
    (architecture, position): (Architecture, usize),
    rng: &mut StdRng,
    value: &mut usize,
    accesses: usize,
) -> (Vec<Line>, Vec<String>) {
    let mut lines: Vec<Line> = Vec::new();
    let mut loaded: Vec<String> = Vec::new();
    let mut next = 1;
    let mut register = || {
        next += 1;
        architecture.value(next - 1)
    };
    let mut label = None;
    let put = |lines: &mut Vec<Line>, label: &mut Option<String>, text: String| {
        lines.push(Line { label: label.take(), text });
    };
    for number in 0..accesses {
        let locations = if rng.random_bool(0.7) { 2 } else { 3 };
        let location = rng.random_range(0..locations);
        let pointer = architecture.pointer(location);
        if number > 0 && rng.random_bool(0.25) {
            let fence = (*architecture.fences().choose(rng).unwrap()).to_owned();
            put(&mut lines, &mut label, fence);
        }
        let source = loaded.choose(rng).cloned().filter(|_| rng.random_bool(0.5));
        let how = rng.random_range(0..3);
        if let (Some(source), 2) = (&source, how) {
            // herd7 wants labels that no other thread has.
            let name = format!("L{position}{number}");
            for text in architecture.branch(source, &name) {
                put(&mut lines, &mut label, text);
            }
            label = Some(name);
        }
        if how != 0 && architecture.has_swap() && rng.random_bool(0.12) {
            *value += 1;
            let (written, read) = (register(), register());
            put(&mut lines, &mut label, architecture.constant(&written, *value));
            // Most are no fences.
            let marks = *[0, 0, 1, 2, 3].choose(rng).unwrap();
            put(&mut lines, &mut label, architecture.swap(marks, &written, &read, &pointer));
            loaded.push(read);
            continue;
        }
        let is_write = rng.random_bool(0.5);
        let addressed = source.as_ref().filter(|_| how == 0).map(|source| {
            let zero = register();
            put(&mut lines, &mut label, architecture.zero(&zero, source));
            zero
        });
        if is_write {
            *value += 1;
            let written = register();
            match &source {
                Some(source) if how == 1 => {
                    put(&mut lines, &mut label, architecture.zero(&written, source));
                    put(&mut lines, &mut label, architecture.plus(&written, *value));
                }
                _ => put(&mut lines, &mut label, architecture.constant(&written, *value)),
            }
            let text = match &addressed {
                None => architecture.with_mark(architecture.store(&written, &pointer), rng),
                Some(zero) => indexed(architecture, "st", &written, &pointer, zero, &mut |text| {
                    put(&mut lines, &mut label, text);
                }),
            };
            put(&mut lines, &mut label, text);
        } else {
            let read = register();
            let text = match &addressed {
                None => architecture.with_mark(architecture.load(&read, &pointer), rng),
                Some(zero) => indexed(architecture, "ld", &read, &pointer, zero, &mut |text| {
                    put(&mut lines, &mut label, text);
                }),
            };
            put(&mut lines, &mut label, text);
            loaded.push(read);
        }
    }
    (lines, loaded)
}

/// An access whose address depends on a register that is zero.
fn indexed(
    architecture: Architecture,
    which: &str,
    value: &str,
    pointer: &str,
    zero: &str,
    put: &mut dyn FnMut(String),
) -> String {
    let is_load = which == "ld";
    match architecture {
        Architecture::Power => format!("{} {value},{zero},{pointer}", if is_load { "lwzx" } else { "stwx" }),
        Architecture::Armv7 => format!("{} {value},[{zero},{pointer}]", if is_load { "LDR" } else { "STR" }),
        Architecture::Armv8 => format!("{} {value},[{pointer},{zero},SXTW]", if is_load { "LDR" } else { "STR" }),
        Architecture::Riscv => {
            put(format!("add {zero},{pointer},{zero}"));
            if is_load { architecture.load(value, zero) } else { architecture.store(value, zero) }
        }
    }
}
