//! State spaces in Parquet: a table of transitions with the columns `src`, `label` and `dst`, of which
//! [`mod@write`] makes one and this reads any.
//!
//! The numbers of states are whole numbers of 32 or 64 bits, from 0; labels are texts. Other columns are passed over.
//! What a header says in `.aut` stands in the file's key-value metadata: `seqcon.initial`, `seqcon.states`, and
//! `seqcon.unfinished` in what is only a part. Where they are missing, because another tool has written the file, the
//! initial state is 0 and the largest number is that of the last state.
//!
//! A *row group* is read by one thread, page by page, so that it need not fit into memory. Metadata, page headers and
//! compression are the library's matter; the values of pages are decoded here (`column`), since the library gives out
//! texts where positions in the dictionary are wanted. Read is what is not compressed, or with Snappy.

mod bits;
mod column;
pub mod write;

use super::aut::Counts;
use super::error::Error;
use super::source::Bytes;
use super::space::{BATCH, Halt, Reader, Transition, UNREAD};
use column::{Labels, States};
use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::ColumnDescriptor;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::Range;
use std::sync::Arc;

/// The first and the last bytes of every file.
const MAGIC: &[u8] = b"PAR1";

/// What is asked of a file.
const IS_ONE: &str = "a Parquet file with the columns src, label and dst";
/// Whatever is wrong.
const REMEDY: &str = "is the file complete, and a table of transitions as docs/formats.md says?";

/// The key of the initial state.
const INITIAL: &str = "seqcon.initial";
/// The key of the number of states.
const STATES: &str = "seqcon.states";
/// The key of what is a part only.
const UNFINISHED: &str = "seqcon.unfinished";

/// Whether the bytes are Parquet's.
#[must_use]
pub fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Something wrong at a row, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The row.
    pub row: usize,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl Damage {
    fn by_library(row: usize, column: &str, error: &ParquetError) -> Damage {
        Damage { row, expected: format!("pages of the column `{column}`"), found: error.to_string() }
    }

    /// The message for the user.
    pub(crate) fn into_error(self, source: &Bytes) -> Error {
        Error::at_row(source.name(), self.row as u64 + 1, self.expected, self.found, REMEDY)
    }
}

/// The bytes of a file, as the library asks for them.
#[derive(Clone, Copy, Debug)]
struct Slice<'s>(&'s [u8]);

impl Length for Slice<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

impl<'s> ChunkReader for Slice<'s> {
    type T = &'s [u8];

    fn get_read(&self, start: u64) -> parquet::errors::Result<&'s [u8]> {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        self.0.get(start..).ok_or_else(|| ParquetError::EOF("the file is too short".to_owned()))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        let bytes = self.get_read(start)?.get(..length);
        bytes.map(bytes::Bytes::copy_from_slice).ok_or_else(|| ParquetError::EOF("the file is too short".to_owned()))
    }
}

/// Where the columns stand.
#[derive(Clone, Copy, Debug)]
struct Columns {
    src: usize,
    label: usize,
    dst: usize,
}

impl Columns {
    fn find(source: &Bytes, metadata: &ParquetMetaData) -> Result<Columns, Error> {
        let wrong = |found: String| Error::of_file(source.name(), IS_ONE, found, REMEDY);
        let columns = metadata.file_metadata().schema_descr().columns();
        let find = |name: &str, types: &[Type]| {
            let mut positions = (0..columns.len()).filter(|&column| columns[column].path().parts() == [name]);
            let (Some(position), None) = (positions.next(), positions.next()) else {
                let names: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
                return Err(wrong(format!("the columns {}", names.join(", "))));
            };
            let column = &columns[position];
            if column.max_rep_level() > 0 || !types.contains(&column.physical_type()) {
                let ty =
                    if column.max_rep_level() > 0 { "lists".to_owned() } else { column.physical_type().to_string() };
                return Err(wrong(format!("the column `{name}` with {ty}")));
            }
            Ok(position)
        };
        let numbers = [Type::INT32, Type::INT64];
        Ok(Columns {
            src: find("src", &numbers)?,
            label: find("label", &[Type::BYTE_ARRAY])?,
            dst: find("dst", &numbers)?,
        })
    }

    fn is_unsigned(column: &ColumnDescriptor) -> bool {
        let converted = [ConvertedType::UINT_8, ConvertedType::UINT_16, ConvertedType::UINT_32, ConvertedType::UINT_64];
        matches!(column.logical_type_ref(), Some(LogicalType::Integer(integer)) if !integer.is_signed)
            || converted.contains(&column.converted_type())
    }
}

/// What the metadata say of a state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Its numbers.
    Finished(Counts),
    /// That it is a part.
    Unfinished,
}

/// A table of transitions.
#[derive(Clone, Debug)]
pub struct Table<'s> {
    source: &'s Bytes,
    columns: Columns,
    metadata: Arc<ParquetMetaData>,
    /// The first row of each row group, and the number of rows.
    starts: Arc<[usize]>,
}

impl<'s> Table<'s> {
    /// Reads the end of the file, which says what is in it.
    ///
    /// # Errors
    /// If it is no table of transitions.
    pub fn open(source: &'s Bytes) -> Result<Table<'s>, Error> {
        let wrong = |found: String| Error::of_file(source.name(), IS_ONE, found, REMEDY);
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&Slice(source.bytes()));
        let metadata = metadata.map_err(|error| wrong(format!("one that cannot be read ({error})")))?;
        let columns = Columns::find(source, &metadata)?;
        let mut starts = vec![0_usize];
        for group in metadata.row_groups() {
            // The library takes these for granted, and would panic.
            let pages = [columns.src, columns.label, columns.dst].map(|column| group.column(column));
            let lies_in_file = |offset: i64| usize::try_from(offset).is_ok_and(|offset| offset <= source.bytes().len());
            let is_sound = |pages: &&ColumnChunkMetaData| {
                let start = pages.dictionary_page_offset().unwrap_or(pages.data_page_offset());
                lies_in_file(start)
                    && lies_in_file(pages.data_page_offset())
                    && start.checked_add(pages.compressed_size()).is_some_and(|end| end >= start && lies_in_file(end))
            };
            let is_foreign = |pages: &&&ColumnChunkMetaData| {
                !matches!(pages.compression(), Compression::UNCOMPRESSED | Compression::SNAPPY)
            };
            if let Some(other) = pages.iter().find(is_foreign) {
                let remedy = "write it with Snappy, or without compression";
                let found = format!("a column that is compressed with {}", other.compression());
                return Err(Error::of_file(source.name(), IS_ONE, found, remedy));
            }
            if !pages.iter().all(is_sound) {
                return Err(wrong("pages outside of the file".to_owned()));
            }
            let rows = usize::try_from(group.num_rows()).ok();
            let end = rows.and_then(|rows| starts[starts.len() - 1].checked_add(rows));
            starts.push(end.ok_or_else(|| wrong(format!("a group of {} rows", group.num_rows())))?);
        }
        Ok(Table { source, columns, metadata: Arc::new(metadata), starts: starts.into() })
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// How many bytes there are to a row, rounded up.
    #[must_use]
    pub fn bytes_per_row(&self) -> usize {
        self.source.bytes().len().div_ceil(self.rows().max(1))
    }

    /// The value of a key of the metadata.
    fn entry(&self, key: &str) -> Option<String> {
        let entries = self.metadata.file_metadata().key_value_metadata();
        let entry = entries.into_iter().flatten().find(|entry| entry.key == key);
        entry.map(|entry| entry.value.clone().unwrap_or_default())
    }

    /// Whether the metadata say how many states there are; then seqcon wrote it, with all transitions.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.entry(STATES).is_some()
    }

    /// What the metadata say; where they say nothing, the largest state is looked for.
    ///
    /// # Errors
    /// If a number is none, or a page is damaged.
    pub fn promise(&self) -> Result<Promise, Error> {
        let entry = |key: &str| self.entry(key);
        if entry(UNFINISHED).is_some() {
            return Ok(Promise::Unfinished);
        }
        let number = |key: &str| {
            let value = entry(key);
            let parsed = value.as_ref().map(|value| value.parse::<u64>());
            parsed.transpose().map_err(|_| {
                let found = super::error::quoted(value.unwrap_or_default().as_bytes());
                Error::of_file(self.source.name(), &format!("a number as metadata `{key}`"), found, REMEDY)
            })
        };
        let initial = number(INITIAL)?.unwrap_or(0);
        let states = match number(STATES)? {
            Some(states) => states,
            None => self.largest().map_err(|damage| damage.into_error(self.source))?.saturating_add(1),
        };
        Ok(Promise::Finished(Counts { initial, states, transitions: self.rows() as u64 }))
    }

    /// The largest state.
    fn largest(&self) -> Result<u64, Damage> {
        let of_group = |group: usize| {
            let (rows, metadata) = (self.starts[group]..self.starts[group + 1], self.metadata.row_group(group));
            let source = Arc::new(Slice(self.source.bytes()));
            let mut largest = 0;
            for column in [(self.columns.src, "src"), (self.columns.dst, "dst")] {
                let mut states = States::new(&source, metadata, column, &rows)?;
                loop {
                    let ready = states.ready()?;
                    let Some(&most) = ready.iter().max() else { break };
                    largest = largest.max(most);
                    let count = ready.len();
                    states.take(count);
                }
            }
            Ok(largest)
        };
        let groups: Vec<Result<u64, Damage>> = (0..self.starts.len() - 1).into_par_iter().map(of_group).collect();
        groups.into_iter().try_fold(0, |largest, group| group.map(|most: u64| largest.max(most)))
    }

    /// The first row of a group behind `start`, and not after `end`.
    #[must_use]
    pub fn border_after(&self, start: usize, end: usize) -> usize {
        let next = self.starts.partition_point(|&row| row <= start);
        self.starts.get(next).map_or(end, |&row| row.min(end))
    }

    /// Reads the rows between two borders.
    ///
    /// # Errors
    /// If a page is damaged, or if the reader stops.
    pub fn read<R: Reader>(&self, rows: Range<usize>, reader: &mut R) -> Result<(), Halt<R::Stop>> {
        let mut batch: Vec<Transition> = Vec::with_capacity(BATCH);
        let mut group = self.starts.partition_point(|&row| row <= rows.start) - 1;
        while self.starts[group] < rows.end {
            let of_group = self.starts[group]..self.starts[group + 1];
            let mut readers = self.readers(group, &of_group).map_err(Halt::Damage)?;
            let mut row = of_group.start;
            while row < of_group.end {
                let count = readers.ready().map_err(Halt::Damage)?.min(BATCH);
                let (from, to) =
                    (readers.src.ready().map_err(Halt::Damage)?, readers.dst.ready().map_err(Halt::Damage)?);
                for (position, (&from, &to)) in from.iter().zip(to).take(count).enumerate() {
                    let label = readers.label.number(position, reader);
                    let at = u32::try_from(row + position - rows.start).unwrap_or(u32::MAX);
                    batch.push(Transition { from, to, label, at });
                    if label == UNREAD {
                        break;
                    }
                }
                reader.batch(rows.start, &batch).map_err(Halt::Stopped)?;
                batch.clear();
                readers.take(count);
                row += count;
            }
            group += 1;
        }
        reader.end_of_chunk().map_err(Halt::Stopped)
    }

    /// The label of a row, for messages.
    #[must_use]
    pub fn label_at(&self, row: usize) -> Option<Vec<u8>> {
        let group = self.starts.partition_point(|&start| start <= row) - 1;
        let of_group = self.starts[group]..*self.starts.get(group + 1)?;
        let source = Arc::new(Slice(self.source.bytes()));
        let column = (self.columns.label, "label");
        let mut labels = Labels::new(&source, self.metadata.row_group(group), column, &of_group).ok()?;
        let mut left = row - of_group.start;
        loop {
            let ready = labels.ready().ok().filter(|&ready| ready > 0)?;
            if left < ready {
                return Some(labels.text(left).to_vec());
            }
            left -= ready;
            labels.take(ready);
        }
    }

    fn readers(&self, group: usize, rows: &Range<usize>) -> Result<Readers<'s>, Damage> {
        let (source, metadata) = (Arc::new(Slice(self.source.bytes())), self.metadata.row_group(group));
        Ok(Readers {
            src: States::new(&source, metadata, (self.columns.src, "src"), rows)?,
            label: Labels::new(&source, metadata, (self.columns.label, "label"), rows)?,
            dst: States::new(&source, metadata, (self.columns.dst, "dst"), rows)?,
        })
    }
}

/// The columns of a row group, side by side.
struct Readers<'s> {
    src: States<'s>,
    label: Labels<'s>,
    dst: States<'s>,
}

impl Readers<'_> {
    /// How many rows all columns have ready.
    fn ready(&mut self) -> Result<usize, Damage> {
        Ok(self.src.ready()?.len().min(self.label.ready()?).min(self.dst.ready()?.len()))
    }

    fn take(&mut self, count: usize) {
        self.src.take(count);
        self.label.take(count);
        self.dst.take(count);
    }
}
