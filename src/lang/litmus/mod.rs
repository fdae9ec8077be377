//! Litmus tests in herd's format, for x86, POWER, ARM (versions 7 and 8), RISC-V and C.
//!
//! ```text
//! ARCHITECTURE NAME …                   X86, X86_64, PPC, ARM, AArch64, RISCV or C
//! …                                     lines for other tools, left alone
//! { 0:r2=x; x=1; … }                    the initial state, see [`initial`]
//!  P0           | P1           ;
//!  li r1,1      | lwz r1,0(r2) ;        one instruction, or a label, in each cell; for C, see [`c`]
//!  …
//! locations [x; 1:r1;]                  left alone
//! exists (x=1 /\ 1:r1=0)                the final condition, see [`condition`]
//! << … >>                               left alone, as are comments: (* … *)
//! ```
//!
//! The program has a thread for each column, a local for each register, a shared variable for each location, and an
//! instruction for each cell; a conditional branch is two, one for each way, as is a store exclusive. Nothing is lost
//! that a memory model asks for: `xor r3,r1,r1` is an expression that still depends on `r1`. Integers are
//! mathematical, not 32 bits wide, and an access is one of a whole location: parts of a location (bytes of a word,
//! words of a pair) are refused, as is all that is not supported, with its place and what is.

mod aarch64;
mod architecture;
mod arm;
mod assembler;
mod atomic;
mod c;
pub mod condition;
mod expressions;
mod initial;
mod locations;
mod operands;
mod piece;
mod pointers;
mod ppc;
mod riscv;
mod sections;
mod x86;
mod x86_64;

pub use architecture::Architecture;

use super::{Diagnostic, Diagnostics, Language, Parsed};
use crate::ids::ThreadAt;
use crate::program::{Program, Thread};
use crate::property::{FinalCondition, Observed, Property};
use crate::text::counted;
use assembler::{Assembled, Assembler};
use condition::Lookup;
use initial::{Entries, RegisterEntry, RegisterValue, thread_number};
use locations::{Locations, address_of};
use piece::{Piece, without_comments};
use sections::{Sections, sections};

/// The language; the final condition is a property.
pub const LANGUAGE: Language = Language {
    name: "litmus tests",
    extensions: &["litmus"],
    reference: "docs/formats.md#litmus-tests",
    parse: |_, text| parse(text).map(Parsed::from),
    edit: None,
    insertions: None,
    instances: None,
    writes_store_fences: false,
    writes_kinds: false,
    condition: None,
};

/// A litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// For which architecture it is.
    pub architecture: Architecture,
    /// What runs.
    pub program: Program,
    /// What is asked, if anything is.
    pub condition: Option<FinalCondition>,
}

impl From<Test> for Parsed {
    /// The program, with the condition as its property.
    fn from(test: Test) -> Parsed {
        let properties = test.condition.map(Property::Final).into_iter().collect();
        Parsed { program: test.program, properties, warnings: Vec::new() }
    }
}

/// Reads a test; `path_name` is named in errors.
///
/// # Errors
/// All that is wrong with the text.
pub fn read(path_name: &str, text: &str) -> Result<Test, Diagnostics> {
    parse(text).map_err(|errors| Diagnostics::new(path_name, text, errors))
}

/// Reads a test; the errors are in no particular order.
pub(super) fn parse(text: &str) -> Result<Test, Vec<Diagnostic>> {
    let one = |error: Diagnostic| vec![error];
    let first = sections::trimmed(text).word().0;
    if first.text == "C" {
        return c::parse(text);
    }
    let text = without_comments(text).map_err(one)?;
    let (architecture, _) = sections::head(sections::trimmed(&text)).map_err(one)?;
    let architecture = Architecture::named(architecture).map_err(one)?;
    if architecture == Architecture::C {
        return Err(vec![first.error("a test in C begins with its architecture, without a comment before it")]);
    }
    let sections = sections(&text).map_err(one)?;
    Reader { architecture, sections, errors: Vec::new(), locations: Locations::default() }.read()
}

struct Reader<'t> {
    architecture: Architecture,
    sections: Sections<'t>,
    errors: Vec<Diagnostic>,
    locations: Locations,
}

impl<'t> Reader<'t> {
    fn read(mut self) -> Result<Test, Vec<Diagnostic>> {
        self.check_shape();
        let mut entries = Vec::new();
        let threads = self.sections.threads.len();
        let mut reader = Entries { architecture: self.architecture, threads, locations: &mut self.locations };
        for &entry in &self.sections.initial {
            match reader.read(entry) {
                Ok(found) => entries.extend(found),
                Err(error) => self.errors.push(error),
            }
        }
        let threads: Vec<Assembled> = ThreadAt::all(threads).map(|number| self.assemble(number, &entries)).collect();
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let names = Names { architecture: self.architecture, locations: self.locations, threads };
        names.test(self.sections.name, self.sections.condition)
    }

    /// Threads are P0, P1, …, and no row has more cells than there are threads.
    fn check_shape(&mut self) {
        let Sections { threads, rows, .. } = &self.sections;
        for (number, name) in threads.iter().enumerate() {
            if name.text != format!("P{number}") {
                self.errors.push(name.error(format!("expected `P{number}`: threads are numbered from P0 on")));
            }
        }
        for cell in rows.iter().filter_map(|row| row.get(threads.len())) {
            self.errors.push(cell.error(format!(
                "this row has more cells than there are columns ({})",
                counted(threads.len(), "thread")
            )));
        }
    }

    fn assemble(&mut self, number: ThreadAt, entries: &[RegisterEntry]) -> Assembled {
        let cells: Vec<Piece<'t>> =
            self.sections.rows.iter().filter_map(|row| row.get(number.index()).copied()).collect();
        let mut assembler = Assembler::new(number, &mut self.locations);
        for entry in entries.iter().filter(|entry| entry.thread.is_none_or(|thread| thread == number)) {
            match entry.value {
                RegisterValue::Integer(value) => assembler.initialise(&entry.register, value),
                RegisterValue::Address(location) => assembler.point(&entry.register, location),
            }
        }
        let instructions = assembler.take_labels(&cells).unwrap_or_else(|error| {
            self.errors.push(error);
            Vec::new()
        });
        for code in instructions {
            assembler.begin(code);
            if let Err(error) = self.architecture.assemble(code, &mut assembler) {
                self.errors.push(error);
            }
        }
        assembler.finish()
    }
}

/// What a condition can name; what it names for the first time has its initial value forever.
struct Names {
    architecture: Architecture,
    locations: Locations,
    threads: Vec<Assembled>,
}

impl Names {
    /// Reads the condition, and all is known.
    fn test(mut self, name: Piece<'_>, condition: Piece<'_>) -> Result<Test, Vec<Diagnostic>> {
        let condition = condition::condition(condition, &mut self).map_err(|error| vec![error])?;
        let Names { architecture, locations, threads } = self;
        let mut threads: Vec<Thread> = threads.into_iter().map(|assembled| assembled.thread).collect();
        threads.iter_mut().for_each(|thread| locations.index_all(thread));
        let program = Program { name: name.text.to_owned(), shared: locations.variables(), threads };
        Ok(Test { architecture, program, condition })
    }
}

impl Lookup for Names {
    fn register(&mut self, thread: Piece<'_>, name: Piece<'_>) -> Result<Observed, Diagnostic> {
        let number = thread_number(thread, self.threads.len())?;
        let register = self.architecture.register(name)?;
        Ok(Observed::Local(number, self.threads[number.index()].register(&register, name.span())))
    }

    fn location(&mut self, name: Piece<'_>, element: Option<Piece<'_>>) -> Result<Observed, Diagnostic> {
        if !name.is_name() {
            return Err(name.error("expected a register such as `0:r1`, or a location"));
        }
        let location = self.locations.position(name);
        let (length, _) = self.locations.shape(location);
        let index = element.map_or(Some(0), |element| element.text.parse().ok()).filter(|&index| index < length);
        let Some(index) = index else {
            let shown = element.unwrap_or(name);
            return Err(shown.error(format!("`{}` has the elements 0 to {}", name.text, length - 1)));
        };
        Ok(Observed::Shared(self.locations.flat(location, index)))
    }

    fn address(&mut self, name: Piece<'_>) -> Result<i64, Diagnostic> {
        Ok(address_of(self.locations.position(name)))
    }
}
