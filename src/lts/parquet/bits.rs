//! The encodings of numbers in Parquet pages: runs of equal and packed numbers, and packed differences.
//!
//! Nothing is trusted: what does not fit into the bytes, or gives more numbers than were asked for, is `None`.

use bytes::Bytes;
use std::ops::Range;

/// How many numbers of a page are at hand at a time.
pub(super) const PIECE: usize = 1 << 12;

/// Some bytes, from the front.
pub(super) struct Cursor<'b> {
    pub(super) rest: &'b [u8],
}

impl<'b> Cursor<'b> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// A number in groups of seven bits, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let &[byte] = self.take(1)? else { return None };
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok()
    }

    /// A signed number whose sign is its lowest bit.
    fn zigzag(&mut self) -> Option<u64> {
        let value = self.varint()?;
        Some((value >> 1) ^ (value & 1).wrapping_neg())
    }

    /// Four bytes, the lowest first.
    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}

/// Calls `each` with numbers of `width` bits, those at these positions.
fn unpack(bytes: &[u8], width: usize, positions: Range<usize>, mut each: impl FnMut(u64)) {
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    for position in positions.map(|number| number * width) {
        let (start, shift) = (position / 8, position % 8);
        // Most have eight bytes in front of them, and fit into these.
        let value = match bytes.get(start..start + 8) {
            Some(window) if width <= 56 => u64::from_le_bytes(window.try_into().unwrap_or_default()) >> shift,
            _ => {
                let mut window = [0; 16];
                let end = bytes.len().min(start + 16);
                let window_bytes = bytes.get(start..end).unwrap_or_default();
                window[..window_bytes.len()].copy_from_slice(window_bytes);
                (u128::from_le_bytes(window) >> shift) as u64
            }
        };
        each(value & mask);
    }
}

/// Runs of equal numbers and of packed numbers, of at most 32 bits each, read piece by piece: a page may have a million
/// of them, and memory for all would cost more than reading them.
pub(super) struct Runs {
    bytes: Bytes,
    width: usize,
    /// Where the next run begins.
    next: usize,
    run: Run,
}

/// What is left of a run.
enum Run {
    Equal {
        value: u32,
        left: usize,
    },
    Packed {
        /// Its bytes.
        bytes: Range<usize>,
        /// Which of its numbers.
        numbers: Range<usize>,
    },
}

impl Runs {
    /// None, if numbers have no such width.
    pub(super) fn new(bytes: Bytes, width: usize) -> Option<Runs> {
        (width <= 32).then_some(Runs { bytes, width, next: 0, run: Run::Equal { value: 0, left: 0 } })
    }

    /// Appends the next numbers, so many.
    pub(super) fn read(&mut self, count: usize, values: &mut Vec<u32>) -> Option<()> {
        let end = values.len() + count;
        while values.len() < end {
            let wanted = end - values.len();
            match &mut self.run {
                Run::Equal { value, left } if *left > 0 => {
                    let taken = wanted.min(*left);
                    *left -= taken;
                    values.resize(values.len() + taken, *value);
                }
                Run::Packed { bytes, numbers } if numbers.start < numbers.end => {
                    let taken = numbers.start..numbers.end.min(numbers.start + wanted);
                    numbers.start = taken.end;
                    // Writers may leave out the bytes behind the last number.
                    if bytes.len() * 8 < taken.end.checked_mul(self.width)? {
                        return None;
                    }
                    unpack(&self.bytes[bytes.clone()], self.width, taken, |value| values.push(value as u32));
                }
                _ => self.run = self.next_run()?,
            }
        }
        Some(())
    }

    fn next_run(&mut self) -> Option<Run> {
        let mut cursor = Cursor { rest: &self.bytes[self.next..] };
        let header = cursor.length()?;
        let length = header >> 1;
        if length == 0 {
            return None;
        }
        let run = if header & 1 == 0 {
            let mut value = [0; 4];
            let bytes = cursor.take(self.width.div_ceil(8))?;
            value[..bytes.len()].copy_from_slice(bytes);
            Run::Equal { value: u32::from_le_bytes(value), left: length }
        } else {
            let start = self.bytes.len() - cursor.rest.len();
            let most = length.checked_mul(self.width)?.min(cursor.rest.len());
            cursor.take(most)?;
            Run::Packed { bytes: start..start + most, numbers: 0..length.checked_mul(8)? }
        };
        self.next = self.bytes.len() - cursor.rest.len();
        Some(run)
    }

    /// The position of the first of the next numbers, so many, that is zero, if one is; for numbers of one bit, each of
    /// which says whether there is a value.
    pub(super) fn first_zero(mut self, count: usize) -> Option<Option<usize>> {
        let mut position = 0;
        let mut piece = Vec::new();
        while position < count {
            let wanted = count - position;
            match &mut self.run {
                Run::Equal { value: 1.., left } if *left > 0 => {
                    position += wanted.min(*left);
                    *left = 0;
                }
                _ => {
                    piece.clear();
                    self.read(wanted.min(PIECE), &mut piece)?;
                    if let Some(zero) = piece.iter().position(|&number| number == 0) {
                        return Some(Some(position + zero));
                    }
                    position += piece.len();
                }
            }
        }
        Some(None)
    }
}

/// Packed differences (DELTA_BINARY_PACKED), `count` numbers; what stands behind them remains in `cursor`.
pub(super) fn differences(cursor: &mut Cursor<'_>, count: usize, values: &mut Vec<u64>) -> Option<()> {
    let (block, miniblocks, total) = (cursor.length()?, cursor.length()?, cursor.length()?);
    let mut value = cursor.zigzag()?;
    if total != count {
        return None;
    }
    if count == 0 {
        return Some(());
    }
    let numbers = block.checked_div(miniblocks).filter(|&numbers| numbers > 0 && numbers % 32 == 0)?;
    values.push(value);
    let mut left = count - 1;
    while left > 0 {
        let least = cursor.zigzag()?;
        for &width in cursor.take(miniblocks)? {
            if left == 0 {
                break;
            }
            let width = usize::from(width);
            if width > 64 {
                return None;
            }
            let bytes = cursor.take((numbers / 8).checked_mul(width)?)?;
            let some = numbers.min(left);
            unpack(bytes, width, 0..some, |difference| {
                value = value.wrapping_add(least).wrapping_add(difference);
                values.push(value);
            });
            left -= some;
        }
    }
    Some(())
}
