//! Litmus tests in herd's format, for x86, POWER and ARM (version 7).
//!
//! ```text
//! ARCHITECTURE NAME …                   X86, PPC or ARM
//! …                                     lines for other tools, left alone
//! { 0:r2=x; x=1; … }                    initial values; a register can hold the address of a location
//!  P0           | P1           ;
//!  li r1,1      | lwz r1,0(r2) ;        one instruction, or a label, in each cell
//!  …
//! locations [x; 1:r1;]                  left alone
//! exists (x=1 /\ 1:r1=0)                the final condition, see [`condition`]
//! << … >>                               left alone, as are comments: (* … *)
//! ```
//!
//! The program has a thread for each column, a local for each register, a shared variable for each location, and an
//! instruction for each cell; a conditional branch is two, one for each way. Nothing is lost that a memory model asks
//! for: `xor r3,r1,r1` is an expression that still depends on `r1`. Integers are mathematical, not 32 bits wide. What
//! is not supported (computed addresses, load-reserve and store-conditional) is refused, with its place and what is.

mod arm;
mod assembler;
pub mod condition;
mod operands;
mod piece;
mod ppc;
mod sections;
mod x86;

use super::{Diagnostic, Diagnostics, Language, Parsed};
use crate::ids::{LocationAt, ThreadAt};
use crate::program::{Program, Thread};
use crate::property::{FinalCondition, Observed, Property};
use assembler::{Assembled, Assembler, Locations, index_all};
use condition::Lookup;
use piece::{Piece, without_comments};
use sections::{Sections, sections};

/// The language; the final condition is a property.
pub const LANGUAGE: Language = Language {
    name: "litmus tests",
    extensions: &["litmus"],
    parse: |_, text| parse(text).map(Parsed::from),
    edit: None,
    insertions: None,
    instances: None,
    writes_store_fences: false,
    condition: None,
};

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// x86.
    X86,
    /// POWER.
    Ppc,
    /// ARM, version 7.
    Arm,
}

impl Architecture {
    const ALL: [(Architecture, &'static str); 3] =
        [(Architecture::X86, "X86"), (Architecture::Ppc, "PPC"), (Architecture::Arm, "ARM")];

    /// The name of its memory model.
    #[must_use]
    pub fn memory_model(self) -> &'static str {
        match self {
            Architecture::X86 => "tso",
            Architecture::Ppc => "power",
            Architecture::Arm => "armv7",
        }
    }

    fn register(self, name: &str) -> Option<String> {
        match self {
            Architecture::X86 => x86::register(name),
            Architecture::Ppc => ppc::register(name),
            Architecture::Arm => arm::register(name),
        }
    }

    fn assemble(self, code: Piece<'_>, assembler: &mut Assembler<'_>) -> Result<(), Diagnostic> {
        match self {
            Architecture::X86 => x86::assemble(code, assembler),
            Architecture::Ppc => ppc::assemble(code, assembler),
            Architecture::Arm => arm::assemble(code, assembler),
        }
    }
}

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
    let text = without_comments(text).map_err(|error| vec![error])?;
    let sections = sections(&text).map_err(|error| vec![error])?;
    let known = Architecture::ALL.into_iter().find(|(_, name)| *name == sections.architecture.text);
    let Some((architecture, _)) = known else {
        let names: Vec<&str> = Architecture::ALL.iter().map(|(_, name)| *name).collect();
        let unknown =
            sections.architecture.error(format!("the architecture `{}` is not supported", sections.architecture.text));
        return Err(vec![unknown.with_help(format!("supported: {}", names.join(", ")))]);
    };
    Reader { architecture, sections, errors: Vec::new(), locations: Locations::default() }.read()
}

struct Reader<'t> {
    architecture: Architecture,
    sections: Sections<'t>,
    errors: Vec<Diagnostic>,
    locations: Locations,
}

/// An entry of the initial state for a register.
struct RegisterEntry<'t> {
    thread: ThreadAt,
    register: String,
    value: RegisterValue,
    text: Piece<'t>,
}

enum RegisterValue {
    Integer(i64),
    Address(LocationAt),
}

impl<'t> Reader<'t> {
    fn read(mut self) -> Result<Test, Vec<Diagnostic>> {
        self.check_shape();
        let mut entries = Vec::new();
        for entry in self.sections.initial.clone() {
            match self.initial(entry) {
                Ok(found) => entries.extend(found),
                Err(error) => self.errors.push(error),
            }
        }
        let threads: Vec<Assembled> =
            ThreadAt::all(self.sections.threads.len()).map(|number| self.assemble(number, &entries)).collect();
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let mut names = Names { architecture: self.architecture, locations: self.locations, threads };
        let condition = condition::condition(self.sections.condition, &mut names).map_err(|error| vec![error])?;
        let Names { locations, threads, .. } = names;
        let mut threads: Vec<Thread> = threads.into_iter().map(|assembled| assembled.thread).collect();
        threads.iter_mut().for_each(|thread| index_all(&locations, thread));
        let program = Program { name: self.sections.name.text.to_owned(), shared: locations.variables(), threads };
        Ok(Test { architecture: self.architecture, program, condition })
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
            self.errors.push(cell.error(format!("this row has more cells than the {} threads", threads.len())));
        }
    }

    /// One entry of the initial state.
    fn initial(&mut self, entry: Piece<'t>) -> Result<Option<RegisterEntry<'t>>, Diagnostic> {
        let help = "an entry of the initial state is `x=1`, `0:r1=1` or `0:r1=x`";
        let malformed = |piece: Piece<'_>, message: &str| Err(piece.error(message).with_help(help));
        let Some(equals) = entry.text.find('=') else { return malformed(entry, "expected `=`") };
        let (left, right) = (entry.part(0, equals).trimmed(), entry.behind(equals + 1).trimmed());
        let left = left.between("[", "]").unwrap_or(left);
        let Some(colon) = left.text.find(':') else {
            if !left.is_name() {
                return malformed(left, "expected a location, or a register such as `0:r1`");
            }
            let Some(value) = right.integer() else {
                return malformed(right, "expected an integer: a location cannot hold an address");
            };
            let location = self.locations.position(left);
            self.locations.initialise(location, value);
            return Ok(None);
        };
        let thread = thread_number(left.part(0, colon).trimmed(), self.sections.threads.len())?;
        let register = register(self.architecture, left.behind(colon + 1).trimmed())?;
        let value = match right.integer() {
            Some(value) => RegisterValue::Integer(value),
            None if right.is_name() => RegisterValue::Address(self.locations.position(right)),
            None => return malformed(right, "expected an integer or a location"),
        };
        Ok(Some(RegisterEntry { thread, register, value, text: left }))
    }

    fn assemble(&mut self, number: ThreadAt, entries: &[RegisterEntry<'_>]) -> Assembled {
        let cells: Vec<Piece<'t>> =
            self.sections.rows.iter().filter_map(|row| row.get(number.index()).copied()).collect();
        let mut assembler = Assembler::new(number, &mut self.locations);
        for entry in entries.iter().filter(|entry| entry.thread == number) {
            match entry.value {
                RegisterValue::Integer(value) => assembler.initialise(&entry.register, value, entry.text.span()),
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

/// `0` or `P0`.
fn thread_number(piece: Piece<'_>, threads: usize) -> Result<ThreadAt, Diagnostic> {
    let digits = piece.text.strip_prefix('P').unwrap_or(piece.text);
    digits.parse().ok().filter(|&number: &usize| number < threads).map(ThreadAt::new).ok_or_else(|| {
        let help = format!("the threads are P0 to P{}", threads.saturating_sub(1));
        piece.error(format!("there is no thread `{}`", piece.text)).with_help(help)
    })
}

fn register(architecture: Architecture, piece: Piece<'_>) -> Result<String, Diagnostic> {
    let unknown = || piece.error(format!("`{}` is no register of this architecture", piece.text));
    architecture.register(piece.text).ok_or_else(unknown)
}

/// What a condition can name; what it names for the first time has its initial value forever.
struct Names {
    architecture: Architecture,
    locations: Locations,
    threads: Vec<Assembled>,
}

impl Lookup for Names {
    fn register(&mut self, thread: Piece<'_>, name: Piece<'_>) -> Result<Observed, Diagnostic> {
        let number = thread_number(thread, self.threads.len())?;
        let register = register(self.architecture, name)?;
        let position = self.threads[number.index()].register(&register, name.span())?;
        Ok(Observed::Local(number, position))
    }

    fn location(&mut self, name: Piece<'_>) -> Result<Observed, Diagnostic> {
        if !name.is_name() {
            return Err(name.error("expected a register such as `0:r1`, or a location"));
        }
        Ok(Observed::Shared(self.locations.position(name)))
    }
}
