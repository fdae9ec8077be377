//! Writes a state space as Parquet: numbers as packed differences, labels by a dictionary.

use super::{INITIAL, STATES, UNFINISHED};
use crate::lts::aut::Counts;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use rustc_hash::FxHashMap;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a group: what one thread reads. Each group has its own dictionary.
const GROUP_ROWS: usize = 1 << 18;

/// Takes the transitions of a state space in the order of the rows.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    src: Vec<i64>,
    label: Vec<ByteArray>,
    dst: Vec<i64>,
    texts: FxHashMap<Box<[u8]>, ByteArray>,
}

/// A column of the schema.
fn column(name: &str, physical: Physical, logical: Option<LogicalType>) -> parquet::errors::Result<Arc<Type>> {
    let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
    column.with_logical_type(logical).build().map(Arc::new)
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(out: W) -> io::Result<Writer<W>> {
        let begin = || {
            let fields = vec![
                column("src", Physical::INT64, None)?,
                column("label", Physical::BYTE_ARRAY, Some(LogicalType::String))?,
                column("dst", Physical::INT64, None)?,
            ];
            let schema = Type::group_type_builder("transitions").with_fields(fields).build()?;
            let [src, label, dst] = ["src", "label", "dst"].map(ColumnPath::from);
            let properties = WriterProperties::builder()
                .set_created_by("seqcon".to_owned())
                .set_compression(Compression::SNAPPY)
                .set_column_dictionary_enabled(src.clone(), false)
                .set_column_encoding(src, Encoding::DELTA_BINARY_PACKED)
                .set_column_dictionary_enabled(dst.clone(), false)
                .set_column_encoding(dst, Encoding::DELTA_BINARY_PACKED)
                .set_column_dictionary_page_size_limit(label.clone(), 1 << 24)
                .set_column_statistics_enabled(label, EnabledStatistics::None)
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true)
                .build();
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
        };
        let file = begin().map_err(io::Error::other)?;
        let (src, label, dst) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Writer { file, src, label, dst, texts: FxHashMap::default() })
    }

    /// Adds a transition.
    ///
    /// # Errors
    /// If the file cannot be written, or a number needs more than 63 bits.
    pub fn transition(&mut self, from: u64, label: &[u8], to: u64) -> io::Result<()> {
        let number = |state: u64| {
            i64::try_from(state).map_err(|_| io::Error::other(format!("the state {state} needs more than 63 bits")))
        };
        self.src.push(number(from)?);
        self.dst.push(number(to)?);
        let text = match self.texts.get(label) {
            Some(text) => text.clone(),
            None => self.texts.entry(label.into()).or_insert(ByteArray::from(label.to_vec())).clone(),
        };
        self.label.push(text);
        if self.src.len() == GROUP_ROWS { self.end_group().map_err(io::Error::other) } else { Ok(()) }
    }

    fn end_group(&mut self) -> parquet::errors::Result<()> {
        let Writer { file, src, label, dst, .. } = self;
        let mut group = file.next_row_group()?;
        for position in 0.. {
            let Some(mut column) = group.next_column()? else { break };
            match position {
                0 => column.typed::<Int64Type>().write_batch(src, None, None)?,
                1 => column.typed::<ByteArrayType>().write_batch(label, None, None)?,
                _ => column.typed::<Int64Type>().write_batch(dst, None, None)?,
            };
            column.close()?;
        }
        group.close()?;
        src.clear();
        label.clear();
        dst.clear();
        Ok(())
    }

    /// Ends the file; without numbers it is marked as a part.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self, counts: Option<Counts>) -> io::Result<()> {
        let mut end = || {
            if !self.src.is_empty() {
                self.end_group()?;
            }
            let mut add = |key: &str, value: String| {
                self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
            };
            match counts {
                Some(counts) => {
                    add(INITIAL, counts.initial.to_string());
                    add(STATES, counts.states.to_string());
                }
                None => add(UNFINISHED, "true".to_owned()),
            }
            self.file.finish()
        };
        end().map(drop).map_err(io::Error::other)
    }
}
