//! The initial state of a litmus test: its entries.
//!
//! ```text
//! entry    = [type] place ["=" value]
//! place    = location | "[" location "]" | location "[" length "]" | [["P"] thread ":"] register
//! value    = integer | ["&"] location | "{" integer {"," integer} "}"
//! ```
//!
//! Of a type only the size of its values is of interest, for offsets into arrays. A symbolic register (`%x0`) without
//! a thread is meant in every thread that has it. Without a value, everything is 0.

use super::architecture::Architecture;
use super::locations::{INT_SIZE, Locations};
use super::piece::Piece;
use crate::ids::{LocationAt, ThreadAt};
use crate::lang::Diagnostic;
use crate::text::counted;

/// The most elements of an array.
const MAX_LENGTH: usize = 4096;

/// An entry for a register.
pub struct RegisterEntry {
    /// Of which thread; of all, if it is symbolic.
    pub thread: Option<ThreadAt>,
    /// Which.
    pub register: String,
    /// What it holds.
    pub value: RegisterValue,
}

/// What a register holds at the start.
#[derive(Clone, Copy)]
pub enum RegisterValue {
    /// A number.
    Integer(i64),
    /// The address of a location.
    Address(LocationAt),
}

/// Who reads entries.
pub struct Entries<'l> {
    /// The architecture.
    pub architecture: Architecture,
    /// How many threads there are.
    pub threads: usize,
    /// The locations, which get their values.
    pub locations: &'l mut Locations,
}

impl Entries<'_> {
    /// Reads an entry; gives it back if it is one for a register.
    pub fn read(&mut self, entry: Piece<'_>) -> Result<Option<RegisterEntry>, Diagnostic> {
        let (left, right) = match entry.text.find('=') {
            Some(equals) => (entry.part(0, equals).trimmed(), Some(entry.behind(equals + 1).trimmed())),
            None => (entry, None),
        };
        let (ty, place, length) = declared(left)?;
        let size = size_of(ty)?;
        if right.is_none() && ty.text.is_empty() && length.is_none() {
            return Err(malformed(entry, "expected `=`"));
        }
        if let Some(colon) = place.text.find(':') {
            let thread = thread_number(place.part(0, colon).trimmed(), self.threads)?;
            let register = self.architecture.register(place.behind(colon + 1).trimmed())?;
            return Ok(Some(RegisterEntry { thread: Some(thread), register, value: self.register_value(right)? }));
        }
        if place.text.starts_with('%') {
            let register = self.architecture.register(place)?;
            return Ok(Some(RegisterEntry { thread: None, register, value: self.register_value(right)? }));
        }
        if !place.is_name() {
            return Err(malformed(place, "expected a location, or a register such as `0:r1`"));
        }
        let location = self.locations.position(place);
        let values = self.values(right, length)?;
        self.locations.initialise(location, values, size);
        Ok(None)
    }

    fn register_value(&mut self, right: Option<Piece<'_>>) -> Result<RegisterValue, Diagnostic> {
        let Some(right) = right else { return Ok(RegisterValue::Integer(0)) };
        let name = right.strip("&").unwrap_or(right);
        match right.integer() {
            Some(value) => Ok(RegisterValue::Integer(value)),
            None if name.is_name() => {
                let location = self.locations.position(name);
                self.locations.point(location);
                Ok(RegisterValue::Address(location))
            }
            None => Err(malformed(right, "expected an integer or a location")),
        }
    }

    fn values(&mut self, right: Option<Piece<'_>>, length: Option<Piece<'_>>) -> Result<Vec<i64>, Diagnostic> {
        let values = match right {
            None => Vec::new(),
            Some(right) => match right.between("{", "}") {
                Some(inner) if inner.text.is_empty() => Vec::new(),
                Some(inner) => inner.split(',').into_iter().map(|value| self.value(value)).collect::<Result<_, _>>()?,
                None => vec![self.value(right)?],
            },
        };
        let Some(length) = length else { return Ok(if values.is_empty() { vec![0] } else { values }) };
        let number = match length.text {
            "" => Some(values.len()),
            _ => length.integer().and_then(|number| usize::try_from(number).ok()),
        };
        let number = number.filter(|number| (1..=MAX_LENGTH).contains(number));
        let number = number.ok_or_else(|| length.error(format!("expected a length from 1 to {MAX_LENGTH}")))?;
        if values.len() > number {
            return Err(length.error(format!("{} for {}", counted(values.len(), "value"), counted(number, "element"))));
        }
        Ok(values.into_iter().chain(std::iter::repeat(0)).take(number).collect())
    }

    fn value(&mut self, piece: Piece<'_>) -> Result<i64, Diagnostic> {
        let name = piece.strip("&").unwrap_or(piece);
        match piece.integer() {
            Some(value) => Ok(value),
            None if name.is_name() => {
                let location = self.locations.position(name);
                Ok(self.locations.point(location))
            }
            None => Err(malformed(piece, "expected an integer or a location")),
        }
    }
}

fn malformed(piece: Piece<'_>, message: &str) -> Diagnostic {
    piece.error(message).with_help("an entry of the initial state is `x=1`, `int x[2]={1,2}`, `0:r1=1` or `0:r1=x`")
}

/// The type of an entry, which may be empty, what it is for, and its length, if it is an array.
fn declared(left: Piece<'_>) -> Result<(Piece<'_>, Piece<'_>, Option<Piece<'_>>), Diagnostic> {
    let nothing = left.part(0, 0);
    if let Some(inner) = left.between("[", "]") {
        return Ok((nothing, inner, None));
    }
    let (left, length) = match left.text.find('[') {
        Some(open) if left.text.ends_with(']') => (left.part(0, open).trimmed(), left.behind(open).between("[", "]")),
        Some(open) => return Err(left.part(open, open + 1).error("this `[` is not closed")),
        None => (left, None),
    };
    // The name is what is behind the last blank or star.
    let begin = left
        .text
        .rfind(|c: char| c.is_whitespace() || c == '*')
        .map_or(0, |at| at + left.text[at..].chars().next().map_or(0, char::len_utf8));
    Ok((left.part(0, begin).trimmed(), left.behind(begin).trimmed(), length))
}

/// How many bytes a value of a type has.
fn size_of(ty: Piece<'_>) -> Result<i64, Diagnostic> {
    if ty.text.ends_with('*') {
        return Ok(8);
    }
    let mut size = INT_SIZE;
    for word in ty.text.split_whitespace() {
        size = match word {
            "volatile" | "const" | "_Atomic" | "signed" | "unsigned" => continue,
            "char" | "int8_t" | "uint8_t" | "atomic_char" | "bool" | "atomic_bool" => 1,
            "short" | "int16_t" | "uint16_t" => 2,
            "int" | "int32_t" | "uint32_t" | "atomic_int" | "atomic_uint" | "atomic_t" => INT_SIZE,
            "long" | "int64_t" | "uint64_t" | "intptr_t" | "uintptr_t" | "atomic_long" => 8,
            _ => {
                return Err(ty.error(format!("`{word}` is no type that is known here")).with_help(
                    "known: int, char, short, long, intN_t and uintN_t of 8 to 64 bits, atomic_int, atomic_long",
                ));
            }
        };
    }
    Ok(size)
}

/// `0` or `P0`.
pub fn thread_number(piece: Piece<'_>, threads: usize) -> Result<ThreadAt, Diagnostic> {
    let digits = piece.text.strip_prefix('P').unwrap_or(piece.text);
    digits.parse().ok().filter(|&number: &usize| number < threads).map(ThreadAt::new).ok_or_else(|| {
        let help = format!("the threads are P0 to P{}", threads.saturating_sub(1));
        piece.error(format!("there is no thread `{}`", piece.text)).with_help(help)
    })
}
