//! A column of a row group, page by page: numbers of states, or labels.
//!
//! Read are pages of both versions, plain, with a dictionary, and with packed differences; of labels also with packed
//! lengths. Nulls are damage, as is every page that says something else than the file's end says.

use super::bits::{Cursor, PIECE, Runs, differences};
use super::{Columns, Damage, Slice};
use crate::lts::space::{Reader, UNREAD};
use bytes::Buf;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::ops::Range;
use std::sync::Arc;

/// More numbers than this in one page are damage: writers make pages of about a megabyte.
const MOST_VALUES: usize = 1 << 24;

/// The pages of a column.
struct Pages<'s> {
    reader: SerializedPageReader<Slice<'s>>,
    name: &'static str,
    may_be_null: bool,
    /// The row of the file that the next page starts with, and how many follow in this group.
    row: usize,
    left: usize,
}

/// The numbers of a page without the levels before them.
struct Values {
    bytes: bytes::Bytes,
    encoding: Encoding,
    count: usize,
}

/// What comes next.
enum Next {
    Dictionary(bytes::Bytes, usize),
    Values(Values),
}

impl<'s> Pages<'s> {
    fn new(
        source: &Arc<Slice<'s>>,
        group: &RowGroupMetaData,
        (column, name): (usize, &'static str),
        rows: &Range<usize>,
    ) -> Result<Pages<'s>, Damage> {
        let chunk = group.column(column);
        let may_be_null = chunk.column_descr().max_def_level() > 0;
        let reader = SerializedPageReader::new(Arc::clone(source), chunk, rows.len(), None)
            .map_err(|error| Damage::by_library(rows.start, name, &error))?;
        Ok(Pages { reader, name, may_be_null, row: rows.start, left: rows.len() })
    }

    fn damage(&self, expected: &str, found: impl Into<String>) -> Damage {
        Damage { row: self.row, expected: format!("{expected} in the column `{}`", self.name), found: found.into() }
    }

    fn next(&mut self) -> Result<Next, Damage> {
        let page = self.reader.get_next_page().map_err(|error| Damage::by_library(self.row, self.name, &error))?;
        match page {
            None => Err(self.damage(&format!("{} more rows", self.left), "the end of the pages")),
            Some(Page::DictionaryPage { buf, num_values, .. }) => Ok(Next::Dictionary(buf, num_values as usize)),
            Some(Page::DataPage { buf, num_values, encoding, .. }) => {
                let mut cursor = Cursor { rest: &buf };
                let levels = if self.may_be_null {
                    let length = cursor.u32().map(|length| length as usize);
                    let levels = length.and_then(|length| cursor.take(length));
                    levels.ok_or_else(|| self.damage("definition levels", "the end of a page"))?
                } else {
                    &[]
                };
                let start = buf.len() - cursor.rest.len();
                self.values(&buf, levels, start, num_values as usize, encoding)
            }
            Some(Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. }) => {
                let (before, levels) = (rep_levels_byte_len as usize, def_levels_byte_len as usize);
                let start = before.saturating_add(levels);
                let levels = buf.get(before..start).ok_or_else(|| self.damage("levels", "the end of a page"))?;
                self.values(&buf, levels, start, num_values as usize, encoding)
            }
        }
    }

    fn values(
        &mut self,
        buf: &bytes::Bytes,
        levels: &[u8],
        start: usize,
        count: usize,
        encoding: Encoding,
    ) -> Result<Next, Damage> {
        if count > self.left.min(MOST_VALUES) {
            return Err(
                self.damage(&format!("a page of at most {} rows", self.left.min(MOST_VALUES)), count.to_string())
            );
        }
        if self.may_be_null {
            let present =
                Runs::new(bytes::Bytes::copy_from_slice(levels), 1).and_then(|levels| levels.first_zero(count));
            let null = present.ok_or_else(|| self.damage("definition levels", "something else"))?;
            if let Some(position) = null {
                let damage = self.damage("a value", "a null");
                return Err(Damage { row: self.row + position, ..damage });
            }
        }
        Ok(Next::Values(Values { bytes: buf.slice(start..), encoding, count }))
    }

    fn pass(&mut self, count: usize) {
        self.row += count;
        self.left -= count;
    }
}

/// The indices of a page with a dictionary.
fn indices(values: &Values) -> Option<Runs> {
    let &width = values.bytes.first()?;
    Runs::new(values.bytes.slice(1..), usize::from(width))
}

/// A column of state numbers.
pub(super) struct States<'s> {
    pages: Pages<'s>,
    is_short: bool,
    is_unsigned: bool,
    dictionary: Vec<u64>,
    /// What is left of the page at hand, and how many numbers that is.
    page: Numbers,
    left: usize,
    /// The piece of it that is decoded.
    values: Vec<u64>,
    taken: usize,
    /// Positions in the dictionary, of a piece.
    indices: Vec<u32>,
}

/// The numbers of a page.
enum Numbers {
    Plain(bytes::Bytes),
    Indices(Runs),
    /// All of them, where one says what the next one is.
    Decoded(std::vec::IntoIter<u64>),
}

impl<'s> States<'s> {
    pub(super) fn new(
        source: &Arc<Slice<'s>>,
        group: &RowGroupMetaData,
        column: (usize, &'static str),
        rows: &Range<usize>,
    ) -> Result<States<'s>, Damage> {
        let descr = group.column(column.0).column_descr();
        let (is_short, is_unsigned) = (descr.physical_type() == Type::INT32, Columns::is_unsigned(descr));
        let pages = Pages::new(source, group, column, rows)?;
        Ok(States {
            pages,
            is_short,
            is_unsigned,
            dictionary: Vec::new(),
            page: Numbers::Plain(bytes::Bytes::new()),
            left: 0,
            values: Vec::new(),
            taken: 0,
            indices: Vec::new(),
        })
    }

    /// What is left of the piece at hand; the next one, if nothing is.
    pub(super) fn ready(&mut self) -> Result<&[u64], Damage> {
        while self.taken == self.values.len() && self.pages.left > 0 {
            if self.left > 0 {
                self.next_piece()?;
                continue;
            }
            match self.pages.next()? {
                Next::Dictionary(bytes, count) => {
                    self.dictionary.clear();
                    let mut dictionary = std::mem::take(&mut self.dictionary);
                    self.plain(&bytes, count.min(MOST_VALUES), &mut dictionary)
                        .ok_or_else(|| self.pages.damage("a dictionary of numbers", "the end of a page"))?;
                    self.dictionary = dictionary;
                }
                Next::Values(values) => {
                    self.left = values.count;
                    self.page = self.open(values)?;
                }
            }
        }
        Ok(&self.values[self.taken..])
    }

    pub(super) fn take(&mut self, count: usize) {
        self.taken += count;
    }

    fn plain(&self, bytes: &[u8], count: usize, values: &mut Vec<u64>) -> Option<()> {
        if self.is_short {
            let numbers = bytes.get(..count.checked_mul(4)?)?.as_chunks::<4>().0;
            values.extend(numbers.iter().map(|number| i64::from(i32::from_le_bytes(*number)) as u64));
        } else {
            let numbers = bytes.get(..count.checked_mul(8)?)?.as_chunks::<8>().0;
            values.extend(numbers.iter().map(|number| u64::from_le_bytes(*number)));
        }
        Some(())
    }

    fn open(&self, page: Values) -> Result<Numbers, Damage> {
        let opened = match page.encoding {
            Encoding::PLAIN => Some(Numbers::Plain(page.bytes)),
            Encoding::DELTA_BINARY_PACKED => {
                let mut values = Vec::new();
                let decoded = differences(&mut Cursor { rest: &page.bytes }, page.count, &mut values);
                decoded.map(|()| Numbers::Decoded(values.into_iter()))
            }
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => indices(&page).map(Numbers::Indices),
            other => {
                return Err(self
                    .pages
                    .damage("an encoding PLAIN, RLE_DICTIONARY or DELTA_BINARY_PACKED", other.to_string()));
            }
        };
        opened.ok_or_else(|| self.pages.damage(&format!("{} numbers", page.count), "a damaged page"))
    }

    /// Decodes the next numbers of the page.
    fn next_piece(&mut self) -> Result<(), Damage> {
        let count = self.left.min(PIECE);
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        let page = std::mem::replace(&mut self.page, Numbers::Plain(bytes::Bytes::new()));
        let (decoded, page) = match page {
            Numbers::Plain(mut bytes) => {
                let decoded = self.plain(&bytes, count, &mut values);
                bytes.advance(bytes.len().min(count * if self.is_short { 4 } else { 8 }));
                (decoded, Numbers::Plain(bytes))
            }
            Numbers::Indices(mut runs) => {
                self.indices.clear();
                let decoded = runs.read(count, &mut self.indices).and_then(|()| {
                    let value = |&index: &u32| self.dictionary.get(index as usize).copied();
                    self.indices.iter().map(value).try_for_each(|value| value.map(|value| values.push(value)))
                });
                (decoded, Numbers::Indices(runs))
            }
            Numbers::Decoded(mut all) => {
                values.extend(all.by_ref().take(count));
                (Some(()), Numbers::Decoded(all))
            }
        };
        self.page = page;
        if decoded.is_none() {
            return Err(self.pages.damage(&format!("{} numbers", self.left), "a damaged page"));
        }
        match (self.is_short, self.is_unsigned) {
            (true, true) => values.iter_mut().for_each(|value| *value &= u64::from(u32::MAX)),
            (true, false) => values.iter_mut().for_each(|value| *value = i64::from(*value as i32) as u64),
            (false, _) => {}
        }
        if !self.is_unsigned
            && let Some(position) = values.iter().position(|&value| value > i64::MAX as u64)
        {
            let damage = self.pages.damage("a state number from 0", (values[position] as i64).to_string());
            return Err(Damage { row: self.pages.row + position, ..damage });
        }
        (self.values, self.taken) = (values, 0);
        self.left -= count;
        self.pages.pass(count);
        Ok(())
    }
}

/// The column of labels.
pub(super) struct Labels<'s> {
    pages: Pages<'s>,
    dictionary: Texts,
    /// By position in the dictionary: the reader's number, once it was asked.
    numbers: Vec<Option<u32>>,
    /// What is left of the page at hand, if it has positions in the dictionary, and how many.
    page: Option<Runs>,
    left: usize,
    /// The piece of it that is decoded, or all of a page of texts.
    values: Codes,
    count: usize,
    taken: usize,
}

enum Codes {
    /// Positions in the dictionary.
    Indices(Vec<u32>),
    Texts(Texts),
}

#[derive(Default)]
struct Texts {
    bytes: bytes::Bytes,
    ranges: Vec<Range<usize>>,
}

impl Texts {
    fn get(&self, position: usize) -> &[u8] {
        &self.bytes[self.ranges[position].clone()]
    }

    /// Texts with their lengths before them.
    fn plain(bytes: bytes::Bytes, count: usize) -> Option<Texts> {
        let mut cursor = Cursor { rest: &bytes };
        let mut ranges = Vec::new();
        for _ in 0..count {
            let length = cursor.u32()? as usize;
            let start = bytes.len() - cursor.rest.len();
            cursor.take(length)?;
            ranges.push(start..start + length);
        }
        Some(Texts { bytes, ranges })
    }

    /// Texts behind all of their lengths (DELTA_LENGTH_BYTE_ARRAY).
    fn behind_lengths(bytes: bytes::Bytes, count: usize) -> Option<Texts> {
        let mut cursor = Cursor { rest: &bytes };
        let mut lengths = Vec::new();
        differences(&mut cursor, count, &mut lengths)?;
        let mut ranges = Vec::with_capacity(count);
        for length in lengths {
            let length = usize::try_from(length).ok()?;
            let start = bytes.len() - cursor.rest.len();
            cursor.take(length)?;
            ranges.push(start..start + length);
        }
        Some(Texts { bytes, ranges })
    }
}

impl<'s> Labels<'s> {
    pub(super) fn new(
        source: &Arc<Slice<'s>>,
        group: &RowGroupMetaData,
        column: (usize, &'static str),
        rows: &Range<usize>,
    ) -> Result<Labels<'s>, Damage> {
        let pages = Pages::new(source, group, column, rows)?;
        let (dictionary, values) = (Texts::default(), Codes::Indices(Vec::new()));
        Ok(Labels { pages, dictionary, numbers: Vec::new(), page: None, left: 0, values, count: 0, taken: 0 })
    }

    /// How many labels are left of the piece at hand; of the next one, if none is.
    pub(super) fn ready(&mut self) -> Result<usize, Damage> {
        while self.taken == self.count && self.pages.left > 0 {
            if self.left > 0 {
                self.next_piece()?;
                continue;
            }
            match self.pages.next()? {
                Next::Dictionary(bytes, count) => {
                    self.dictionary = Texts::plain(bytes, count)
                        .ok_or_else(|| self.pages.damage("a dictionary of texts", "the end of a page"))?;
                    self.numbers = vec![None; count];
                }
                Next::Values(page) => self.open(page)?,
            }
        }
        Ok(self.count - self.taken)
    }

    pub(super) fn take(&mut self, count: usize) {
        self.taken += count;
    }

    /// The reader's number of the label so far behind those that were taken.
    #[inline]
    pub(super) fn number<R: Reader>(&mut self, position: usize, reader: &mut R) -> u32 {
        let position = self.taken + position;
        match &self.values {
            Codes::Texts(texts) => reader.label(texts.get(position)).unwrap_or(UNREAD),
            Codes::Indices(indices) => {
                let index = indices[position] as usize;
                if let Some(number) = self.numbers[index] {
                    return number;
                }
                self.numbers[index] = reader.label(self.dictionary.get(index));
                self.numbers[index].unwrap_or(UNREAD)
            }
        }
    }

    /// The same label's text.
    pub(super) fn text(&self, position: usize) -> &[u8] {
        match &self.values {
            Codes::Texts(texts) => texts.get(self.taken + position),
            Codes::Indices(indices) => self.dictionary.get(indices[self.taken + position] as usize),
        }
    }

    fn open(&mut self, page: Values) -> Result<(), Damage> {
        let count = page.count;
        let texts = match page.encoding {
            Encoding::PLAIN => Texts::plain(page.bytes, count),
            Encoding::DELTA_LENGTH_BYTE_ARRAY => Texts::behind_lengths(page.bytes, count),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                self.page = Some(indices(&page).ok_or_else(|| self.damaged(count))?);
                self.left = count;
                return Ok(());
            }
            other => {
                return Err(self
                    .pages
                    .damage("an encoding PLAIN, RLE_DICTIONARY or DELTA_LENGTH_BYTE_ARRAY", other.to_string()));
            }
        };
        self.values = Codes::Texts(texts.ok_or_else(|| self.damaged(count))?);
        (self.count, self.taken) = (count, 0);
        self.pages.pass(count);
        Ok(())
    }

    /// Decodes the next positions of the page.
    fn next_piece(&mut self) -> Result<(), Damage> {
        let count = self.left.min(PIECE);
        let mut indices = match std::mem::replace(&mut self.values, Codes::Indices(Vec::new())) {
            Codes::Indices(indices) => indices,
            Codes::Texts(_) => Vec::new(),
        };
        indices.clear();
        let read = self.page.as_mut().and_then(|runs| runs.read(count, &mut indices));
        let is_known = |&index: &u32| (index as usize) < self.numbers.len();
        if read.is_none() || !indices.iter().all(is_known) {
            return Err(self.damaged(self.left));
        }
        (self.values, self.count, self.taken) = (Codes::Indices(indices), count, 0);
        self.left -= count;
        self.pages.pass(count);
        Ok(())
    }

    fn damaged(&self, count: usize) -> Damage {
        self.pages.damage(&format!("{count} labels"), "a damaged page")
    }
}
