//! How a state is packed: every control state and every variable element has a field of bits.
//!
//! A Boolean has one bit, a control state as many as its thread needs; an integer starts with the bits that its
//! initial value needs, and is widened when a value does not fit: the states found so far are repacked, and the
//! exploration goes on. A field never crosses the border of a 64-bit word. A layout can [forget](Layout::forgetting)
//! locals that are never read again.

use super::forgetting::DeadLocals;
use crate::ids::{ControlAt, Slot, ThreadAt};
use crate::program::compiled::Compiled;
use std::sync::Arc;

/// A field of a packed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
    least: i64,
}

/// The range of a variable element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    least: i64,
    bits: u32,
}

impl Range {
    /// A range that also has this value.
    fn widened(self, value: i64) -> Range {
        let span = if self.bits >= 64 { u64::MAX } else { (1 << self.bits) - 1 };
        let most = self.least.saturating_add_unsigned(span).max(value);
        // Below zero in powers of two, too, so that counting down does not restart at every step.
        let least = if value < self.least { value.saturating_mul(2) } else { self.least };
        Range { least, bits: bits_for(distance(least, most)) }
    }
}

/// The layout of a program's states: control states first, then variables.
#[derive(Clone, Debug)]
pub struct Layout {
    ranges: Vec<Range>,
    fields: Vec<Field>,
    words: usize,
    bytes: usize,
    num_of_threads: usize,
    /// Which slots are alike.
    kinds: Vec<usize>,
    forgotten: Option<Forgotten>,
}

/// Dead locals, and what is done to forget them.
#[derive(Clone, Debug)]
struct Forgotten {
    locals: Arc<DeadLocals>,
    /// The first value of each slot.
    initial: Arc<[i64]>,
    /// By thread and control state.
    masks: Vec<Vec<Vec<Mask>>>,
}

/// Sets the fields of a word that are forgotten.
#[derive(Clone, Copy, Debug)]
struct Mask {
    word: usize,
    kept: u64,
    bits: u64,
}

/// A value that does not fit into its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoesNotFit {
    /// The field: threads first, then slots.
    field: usize,
    /// The value.
    value: i64,
}

impl Layout {
    /// A layout that holds the initial state.
    #[must_use]
    pub fn new(compiled: &Compiled) -> Layout {
        let control = compiled.threads.iter().map(|thread| {
            let last = thread.steps.len().saturating_sub(1) as u64;
            Range { least: 0, bits: bits_for(last) }
        });
        let variables = compiled.initial.iter().zip(&compiled.is_boolean).map(|(&value, &is_boolean)| {
            if is_boolean {
                Range { least: 0, bits: 1 }
            } else {
                // Most counters and indices fit into two bits more than their first value.
                Range { least: value.min(0), bits: bits_for(distance(value.min(0), value)).max(2) }
            }
        });
        let ranges = control.chain(variables).collect();
        Layout::with_ranges(ranges, compiled.threads.len(), compiled.kinds.clone())
    }

    fn with_ranges(ranges: Vec<Range>, num_of_threads: usize, kinds: Vec<usize>) -> Layout {
        let mut fields = Vec::with_capacity(ranges.len());
        let (mut word, mut used) = (0, 0);
        for range in &ranges {
            if used + range.bits > 64 {
                word += 1;
                used = 0;
            }
            let mask = if range.bits == 64 { u64::MAX } else { (1 << range.bits) - 1 };
            // A field without bits may stand behind the last bit of a word.
            fields.push(Field { word, shift: used.min(63), mask, least: range.least });
            used += range.bits;
        }
        let bytes = 8 * word + used.div_ceil(8).max(1) as usize;
        Layout { ranges, fields, words: word + 1, bytes, num_of_threads, kinds, forgotten: None }
    }

    /// The same layout, in which dead locals have their first values.
    pub(super) fn forgetting(self, locals: Arc<DeadLocals>, initial: Arc<[i64]>) -> Layout {
        let mask = |slots: &fixedbitset::FixedBitSet| {
            let mut masks: Vec<Mask> = Vec::new();
            for slot in slots.ones() {
                let field = self.fields[self.num_of_threads + slot];
                let bits = (initial[slot].wrapping_sub(field.least) as u64) << field.shift;
                let kept = !(field.mask << field.shift);
                match masks.iter_mut().find(|mask| mask.word == field.word) {
                    Some(mask) => (mask.kept, mask.bits) = (mask.kept & kept, mask.bits | bits),
                    None => masks.push(Mask { word: field.word, kept, bits }),
                }
            }
            masks
        };
        let masks = locals.all().map(|of_thread| of_thread.map(mask).collect()).collect();
        Layout { forgotten: Some(Forgotten { locals, initial, masks }), ..self }
    }

    /// Forgets the locals of a thread that are dead at the control state that it has come to.
    #[inline]
    pub(super) fn forget(&self, packed: &mut [u64], thread: ThreadAt, control: ControlAt) {
        if let Some(forgotten) = &self.forgotten {
            for mask in &forgotten.masks[thread.index()][control.index()] {
                packed[mask.word] = packed[mask.word] & mask.kept | mask.bits;
            }
        }
    }

    /// Whether a slot is forgotten where a thread is at this control state, so that no value need fit into it.
    #[inline]
    pub(super) fn forgets(&self, thread: ThreadAt, control: ControlAt, slot: Slot) -> bool {
        self.forgotten.as_ref().is_some_and(|forgotten| forgotten.locals.at(thread, control).contains(slot.index()))
    }

    /// Number of 64-bit words of a state.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Number of bytes of a state: its words but for the unused ones of the last.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of bits of a state.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.ranges.iter().map(|range| range.bits).sum()
    }

    /// A layout in which the value fits, with room for as much again. Fields of the same kind are widened with it, as
    /// they will soon need that, too, and each time all states are packed anew.
    #[must_use]
    pub fn widened(&self, value: DoesNotFit) -> Layout {
        let mut ranges = self.ranges.clone();
        let (_, of_slots) = ranges.split_at_mut(self.num_of_threads);
        let kind = value.field.checked_sub(self.num_of_threads).map(|slot| self.kinds[slot]);
        for (range, &of) in of_slots.iter_mut().zip(&self.kinds) {
            if Some(of) == kind {
                *range = range.widened(value.value);
            }
        }
        let wider = Layout::with_ranges(ranges, self.num_of_threads, self.kinds.clone());
        match &self.forgotten {
            Some(Forgotten { locals, initial, .. }) => wider.forgetting(Arc::clone(locals), Arc::clone(initial)),
            None => wider,
        }
    }

    /// Packs a whole state.
    ///
    /// # Errors
    /// If a value does not fit into its field.
    pub fn pack(&self, control: &[ControlAt], values: &[i64], packed: &mut [u64]) -> Result<(), DoesNotFit> {
        packed.fill(0);
        for (field, state) in control.iter().enumerate() {
            self.set(packed, field, i64::from(state.0))?;
        }
        for (slot, &value) in values.iter().enumerate() {
            self.set(packed, self.num_of_threads + slot, value)?;
        }
        Ok(())
    }

    /// Unpacks a whole state.
    #[inline]
    pub fn unpack(&self, packed: &[u64], control: &mut [ControlAt], values: &mut [i64]) {
        let get = |field: &Field| (packed[field.word] >> field.shift) & field.mask;
        let (control_fields, value_fields) = self.fields.split_at(self.num_of_threads);
        for (state, field) in control.iter_mut().zip(control_fields) {
            *state = ControlAt(get(field) as u32);
        }
        for (value, field) in values.iter_mut().zip(value_fields) {
            *value = field.least.wrapping_add_unsigned(get(field));
        }
    }

    /// Replaces the control state of a thread.
    ///
    /// # Errors
    /// Never in practice: control states are known from the start.
    #[inline]
    pub fn set_control(&self, packed: &mut [u64], thread: ThreadAt, state: ControlAt) -> Result<(), DoesNotFit> {
        self.set(packed, thread.index(), i64::from(state.0))
    }

    /// Replaces the value of a slot.
    ///
    /// # Errors
    /// If the value does not fit into its field.
    #[inline]
    pub fn set_value(&self, packed: &mut [u64], slot: Slot, value: i64) -> Result<(), DoesNotFit> {
        self.set(packed, self.num_of_threads + slot.index(), value)
    }

    #[inline]
    fn set(&self, packed: &mut [u64], position: usize, value: i64) -> Result<(), DoesNotFit> {
        let field = &self.fields[position];
        let offset = value.wrapping_sub(field.least) as u64;
        if value < field.least || offset > field.mask {
            return Err(DoesNotFit { field: position, value });
        }
        let word = &mut packed[field.word];
        *word = (*word & !(field.mask << field.shift)) | (offset << field.shift);
        Ok(())
    }
}

fn distance(least: i64, most: i64) -> u64 {
    most.wrapping_sub(least) as u64
}

fn bits_for(largest: u64) -> u32 {
    64 - largest.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_lets_every_value_in_and_keeps_the_others() {
        let mut layout =
            Layout::with_ranges(vec![Range { least: 0, bits: 1 }, Range { least: 0, bits: 2 }], 1, vec![0]);
        for value in [3, 4, 17, -1, -40, 1 << 40, i64::MIN, i64::MAX] {
            let mut packed = vec![0; layout.words()];
            while let Err(problem) = layout.pack(&[ControlAt(1)], &[value], &mut packed) {
                layout = layout.widened(problem);
                packed = vec![0; layout.words()];
            }
            let (mut control, mut values) = ([ControlAt(0)], [0]);
            layout.unpack(&packed, &mut control, &mut values);
            assert_eq!((control, values), ([ControlAt(1)], [value]));
        }
        assert!(layout.bits() <= 65);
    }
}
