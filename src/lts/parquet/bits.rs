//! The encodings of numbers in Parquet pages: runs of equal and packed numbers, and packed differences.
//!
//! Nothing is trusted: what does not fit into the bytes, or gives more numbers than were asked for, is `None`.

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

/// Calls `each` with `count` numbers of `width` bits each.
fn unpack(bytes: &[u8], width: usize, count: usize, mut each: impl FnMut(u64)) {
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    for position in (0..count).map(|number| number * width) {
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

/// Runs of equal numbers and of packed numbers, `count` numbers of `width` bits in all.
pub(super) fn runs(bytes: &[u8], width: usize, count: usize, values: &mut Vec<u32>) -> Option<()> {
    if width > 32 {
        return None;
    }
    let mut cursor = Cursor { rest: bytes };
    let end = values.len() + count;
    while values.len() < end {
        let header = cursor.length()?;
        let (length, left) = (header >> 1, end - values.len());
        if header & 1 == 0 {
            let mut value = [0; 4];
            let bytes = cursor.take(width.div_ceil(8))?;
            value[..bytes.len()].copy_from_slice(bytes);
            if length == 0 {
                return None;
            }
            values.resize(values.len() + length.min(left), u32::from_le_bytes(value));
        } else {
            let numbers = length.checked_mul(8)?.min(left);
            if numbers == 0 {
                return None;
            }
            // Writers may leave out the bytes behind the last number.
            let most = length.checked_mul(width)?.min(cursor.rest.len());
            let bytes = cursor.take(most)?;
            if bytes.len() * 8 < numbers * width {
                return None;
            }
            unpack(bytes, width, numbers, |value| values.push(value as u32));
        }
    }
    Some(())
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
            unpack(bytes, width, some, |difference| {
                value = value.wrapping_add(least).wrapping_add(difference);
                values.push(value);
            });
            left -= some;
        }
    }
    Some(())
}
