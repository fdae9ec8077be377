//! State spaces in Parquet and compressed: the same facts and the same bytes through every format, whoever has written
//! the table; and what is wrong with a table is one error.

use crate::support::corpus::corpus_dir;
use crate::support::random::random_cases;
use crate::support::reference::Lts;
use parquet::basic::{Compression, ConvertedType, Encoding, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::budget::Budget;
use seqcon::facts::Facts;
use seqcon::facts::extract::{NoProgress, Options, extract};
use seqcon::lts::copy::copy;
use seqcon::lts::output::Format;
use seqcon::lts::source::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn source(name: &str, bytes: Vec<u8>) -> Bytes {
    Bytes::from_bytes(name, bytes).expect("it can be opened")
}

fn converted(from: &Bytes, format: Format) -> Vec<u8> {
    let mut copy = copy(from, format, &Budget::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = Vec::new();
    copy.write(&mut bytes).expect("memory can be written");
    bytes
}

/// Tables of other tools do not say that they are whole.
fn whole() -> Options {
    Options { whole: true, ..Options::default() }
}

fn facts(source: &Bytes) -> Facts {
    extract(source, &whole(), &NoProgress).unwrap_or_else(|error| panic!("{error}")).facts
}

fn message(bytes: Vec<u8>) -> String {
    let refused =
        Bytes::from_bytes("t.parquet", bytes).and_then(|source| extract(&source, &Options::default(), &NoProgress));
    refused.expect_err("this should be refused").to_string()
}

/// Through every format and back: the facts stay, and the text comes back byte by byte.
fn check(text: Vec<u8>) {
    let text = source("a.aut", text);
    let expected = facts(&text);
    for format in [Format::Parquet, Format::Gzip, Format::Zstandard, Format::Aut] {
        let other = source("b", converted(&text, format));
        assert_eq!(facts(&other), expected, "{format:?}");
        assert_eq!(converted(&other, Format::Aut), text.bytes(), "{format:?}");
    }
}

#[test]
fn random_state_spaces_stay_what_they_are_through_every_format() {
    random_cases(200, |rng| check(Lts::random(rng).to_aut().into_bytes()));
}

#[test]
fn known_state_spaces_stay_what_they_are_through_every_format() {
    let own = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("lts"));
    for folder in [own, corpus_dir().map(|corpus| corpus.join("aut"))].into_iter().flatten() {
        let entries = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|name| name == "aut")).collect();
        assert!(paths.len() >= 11, "{}", folder.display());
        for path in paths {
            // In the writer's own shape, whoever has written it.
            check(converted(&Bytes::open(&path).expect("it can be opened"), Format::Aut));
        }
    }
}

/// How another tool writes a table.
#[derive(Clone, Debug)]
struct Style {
    states: States,
    repetition: Repetition,
    group_rows: usize,
    page_rows: usize,
    version: WriterVersion,
    compression: Compression,
    states_encoding: Option<Encoding>,
    labels_encoding: Option<Encoding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum States {
    Int32,
    Int64,
    Unsigned64,
}

impl Style {
    const PLAIN: Style = Style {
        states: States::Int64,
        repetition: Repetition::REQUIRED,
        group_rows: 1 << 20,
        page_rows: 1 << 20,
        version: WriterVersion::PARQUET_1_0,
        compression: Compression::UNCOMPRESSED,
        states_encoding: Some(Encoding::PLAIN),
        labels_encoding: Some(Encoding::PLAIN),
    };

    fn random(rng: &mut StdRng) -> Style {
        let states_encoding = [None, Some(Encoding::PLAIN), Some(Encoding::DELTA_BINARY_PACKED)];
        let labels_encoding = [None, Some(Encoding::PLAIN), Some(Encoding::DELTA_LENGTH_BYTE_ARRAY)];
        Style {
            states: *[States::Int32, States::Int64, States::Unsigned64].choose(rng).expect("not empty"),
            repetition: *[Repetition::REQUIRED, Repetition::OPTIONAL].choose(rng).expect("not empty"),
            group_rows: rng.random_range(1..200),
            page_rows: rng.random_range(1..200),
            version: *[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0].choose(rng).expect("not empty"),
            compression: *[Compression::UNCOMPRESSED, Compression::SNAPPY].choose(rng).expect("not empty"),
            states_encoding: *states_encoding.choose(rng).expect("not empty"),
            labels_encoding: *labels_encoding.choose(rng).expect("not empty"),
        }
    }

    /// The table of rows in which a value may be missing, with its columns in this order.
    fn table(&self, rows: &[(Option<i64>, Option<&str>, Option<i64>)], columns: [&str; 3]) -> Vec<u8> {
        let numbers = if self.states == States::Int32 { Physical::INT32 } else { Physical::INT64 };
        let unsigned = if self.states == States::Unsigned64 { ConvertedType::UINT_64 } else { ConvertedType::NONE };
        let fields = columns.map(|name| {
            let is_label = name == "label";
            let (physical, converted) =
                if is_label { (Physical::BYTE_ARRAY, ConvertedType::UTF8) } else { (numbers, unsigned) };
            let column = Type::primitive_type_builder(name, physical).with_converted_type(converted);
            Arc::new(column.with_repetition(self.repetition).build().expect("a column"))
        });
        let schema = Type::group_type_builder("schema").with_fields(fields.to_vec()).build().expect("a schema");
        let mut properties = WriterProperties::builder()
            .set_writer_version(self.version)
            .set_compression(self.compression)
            .set_data_page_row_count_limit(self.page_rows)
            .set_write_batch_size(self.page_rows.min(16));
        for name in columns {
            let path = ColumnPath::from(name);
            let encoding = if name == "label" { self.labels_encoding } else { self.states_encoding };
            properties = properties.set_column_dictionary_enabled(path.clone(), encoding.is_none());
            if let Some(encoding) = encoding {
                properties = properties.set_column_encoding(path, encoding);
            }
        }
        let mut writer =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build())).expect("a writer");
        for rows in rows.chunks(self.group_rows) {
            let mut group = writer.next_row_group().expect("a group");
            for name in columns {
                let mut column = group.next_column().expect("a column").expect("a column");
                let states = |number: usize| rows.iter().map(move |row| if number == 0 { row.0 } else { row.2 });
                let state = usize::from(name == "dst");
                let levels: Vec<i16> = match name {
                    "label" => rows.iter().map(|row| i16::from(row.1.is_some())).collect(),
                    _ => states(state).map(|value| i16::from(value.is_some())).collect(),
                };
                let levels = (self.repetition == Repetition::OPTIONAL).then_some(levels.as_slice());
                if name == "label" {
                    let labels: Vec<ByteArray> = rows.iter().filter_map(|row| row.1).map(ByteArray::from).collect();
                    column.typed::<ByteArrayType>().write_batch(&labels, levels, None).expect("it is written");
                } else if self.states == States::Int32 {
                    let states: Vec<i32> =
                        states(state).flatten().map(|state| i32::try_from(state).expect("small")).collect();
                    column.typed::<Int32Type>().write_batch(&states, levels, None).expect("it is written");
                } else {
                    let states: Vec<i64> = states(state).flatten().collect();
                    column.typed::<Int64Type>().write_batch(&states, levels, None).expect("it is written");
                }
                column.close().expect("it is closed");
            }
            group.close().expect("it is closed");
        }
        writer.into_inner().expect("it is closed")
    }
}

fn number(state: u64) -> Option<i64> {
    Some(i64::try_from(state).expect("states are small"))
}

#[test]
fn tables_of_other_tools_are_read_however_they_are_written() {
    random_cases(300, |rng| {
        let lts = Lts::random(rng);
        let style = Style::random(rng);
        let rows: Vec<_> = lts
            .transitions
            .iter()
            .map(|(from, label, to)| (number(*from), Some(label.as_str()), number(*to)))
            .collect();
        let mut columns = ["src", "label", "dst"];
        columns.rotate_left(rng.random_range(0..3));
        let table = source("t.parquet", style.table(&rows, columns));
        // Without metadata the last state is the largest one that occurs.
        let occurring = lts.transitions.iter().flat_map(|(from, _, to)| [*from, *to]).max().unwrap_or(0) + 1;
        let text = Lts { states: occurring, ..lts }.to_aut();
        assert_eq!(facts(&table), facts(&source("a.aut", text.clone().into_bytes())), "{style:?}\n{text}");
        assert_eq!(String::from_utf8(converted(&table, Format::Aut)).expect("text"), text, "{style:?}");
    });
}

#[test]
fn what_is_wrong_with_a_table_is_one_error_with_its_row() {
    let good = (Some(0), Some("T.0: a := "), Some(0));
    let columns = ["src", "label", "dst"];
    let optional = Style { repetition: Repetition::OPTIONAL, page_rows: 2, ..Style::PLAIN };
    let with = |row| vec![good, good, good, row, good];
    let cases = [
        (
            optional.table(&with((None, good.1, good.2)), columns),
            "t.parquet: row 4: expected a value in the column `src`, found a null",
        ),
        (
            optional.table(&with((good.0, None, good.2)), columns),
            "t.parquet: row 4: expected a value in the column `label`, found a null",
        ),
        (
            Style::PLAIN.table(&with((good.0, good.1, Some(-7))), columns),
            "t.parquet: row 4: expected a state number from 0 in the column `dst`, found -7",
        ),
        (Style::PLAIN.table(&with((good.0, Some("?"), good.2)), columns), "t.parquet: row 4: expected"),
        (
            Style::PLAIN.table(&[good], ["src", "label", "target"]),
            "t.parquet: expected a Parquet file with the columns src, label and dst, found the columns src, label, target;",
        ),
        (
            Style::PLAIN.table(&[good], ["src", "weight", "label"]),
            "t.parquet: expected a Parquet file with the columns src, label and dst, found the columns src, weight, label;",
        ),
    ];
    for (table, expected) in cases {
        let message = message(table);
        assert!(message.starts_with(expected), "{message}\n{expected}");
    }
    // A text where numbers should be.
    let swapped = Style { states: States::Int64, ..Style::PLAIN }.table(&[good], columns);
    let swapped: Vec<u8> = swap(&swap(&swapped, b"label", b"other"), b"src", b"sr_");
    assert!(message(swapped).contains("found the columns sr_, other, dst"));
}

/// The same bytes with one name for another of the same length.
fn swap(bytes: &[u8], name: &[u8], other: &[u8]) -> Vec<u8> {
    let mut swapped = bytes.to_vec();
    for position in 0..=bytes.len() - name.len() {
        if &bytes[position..position + name.len()] == name {
            swapped[position..position + name.len()].copy_from_slice(other);
        }
    }
    swapped
}

#[test]
fn truncated_and_damaged_tables_are_refused_or_read_and_never_a_panic() {
    let mut text = String::from("des (0,300,300)\n");
    (0..300).for_each(|state| text.push_str(&format!("({state},\"T.{}: a := \",{})\n", state % 7, (state + 1) % 300)));
    let whole = converted(&source("a.aut", text.into_bytes()), Format::Parquet);
    for length in (5..whole.len()).step_by(7) {
        let message = message(whole[..length].to_vec());
        assert!(
            message.starts_with("t.parquet: expected a Parquet file with the columns src, label and dst"),
            "{message}"
        );
    }
    random_cases(500, |rng| {
        let mut damaged = whole.clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(4..damaged.len());
            damaged[at] = rng.random();
        }
        let read = Bytes::from_bytes("t.parquet", damaged)
            .and_then(|source| extract(&source, &Options::default(), &NoProgress));
        // What is read has as many transitions as the file says.
        assert!(read.is_err() || read.is_ok_and(|read| read.facts.transitions > 0));
    });
}

/// The first rows of a table, of which all states are reached: nothing in it says that there are more.
#[test]
fn a_table_without_numbers_is_whole_only_if_somebody_says_so() {
    let label = |number: i64| if number % 2 == 0 { "T0.0: x := " } else { "T1.0: ? x" };
    let rows: Vec<_> = (0..9).map(|number| (Some(number), Some(label(number)), Some(number + 1))).collect();
    let table = source("t.parquet", Style::PLAIN.table(&rows[..5], ["src", "label", "dst"]));
    let read = extract(&table, &Options::default(), &NoProgress).expect("well formed");
    assert!(read.part.is_some_and(|reason| reason.contains("--whole")) && read.facts.cut_off);
    let read = extract(&table, &whole(), &NoProgress).expect("well formed");
    assert!(read.part.is_none() && !read.facts.cut_off);
    // What seqcon writes says it.
    let own =
        source("own", converted(&source("a.aut", b"des (0,1,2)\n(0,\"T0.0: x :=\",1)\n".to_vec()), Format::Parquet));
    assert_eq!(extract(&own, &Options::default(), &NoProgress).expect("well formed").part, None);
}

/// Pages are decoded piece by piece: runs and pages that are longer than a piece, and others.
#[test]
fn pages_of_many_rows_are_read_to_their_end() {
    for (page_rows, group_rows) in [(20_000, 30_000), (5_000, 9_000)] {
        for (states_encoding, labels_encoding) in
            [(None, None), (Some(Encoding::PLAIN), Some(Encoding::PLAIN)), (Some(Encoding::DELTA_BINARY_PACKED), None)]
        {
            let style = Style {
                page_rows,
                group_rows,
                states_encoding,
                labels_encoding,
                repetition: Repetition::OPTIONAL,
                ..Style::PLAIN
            };
            let states = 30_000_i64;
            // Long runs of one label and one source, then alternating ones.
            let row = |number: i64| {
                let label = if number < 12_000 || number % 3 == 0 { "T0.0: x := " } else { "T1.0: ? x" };
                (Some(if number < 9_000 { 0 } else { number }), Some(label), Some(number + 1))
            };
            let rows: Vec<_> = (0..states).map(row).collect();
            let lines = rows
                .iter()
                .map(|(from, label, to)| format!("({},\"{}\",{})\n", from.unwrap(), label.unwrap(), to.unwrap()));
            let text = format!("des (0,{states},{})\n{}", states + 1, lines.collect::<String>());
            let table = source("t.parquet", style.table(&rows, ["src", "label", "dst"]));
            assert!(converted(&table, Format::Aut) == text.as_bytes(), "{style:?}");
            assert_eq!(facts(&table), facts(&source("a.aut", text.into_bytes())), "{style:?}");
        }
    }
}

#[test]
fn no_bit_of_what_is_compressed_changes_unseen() {
    let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("lts/dekker.aut")).expect("it is there");
    let expected = facts(&source("a.aut", text.clone()));
    for format in [Format::Zstandard, Format::Gzip] {
        let whole = converted(&source("a.aut", text.clone()), format);
        let mut refused = 0;
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            let read =
                Bytes::from_bytes("a", damaged).and_then(|source| extract(&source, &Options::default(), &NoProgress));
            match read {
                Ok(read) => assert_eq!(read.facts, expected, "{format:?}, byte {at}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused * 10 > whole.len() * 9, "{format:?}: {refused} of {}", whole.len());
    }
}
