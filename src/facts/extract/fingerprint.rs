//! The hash of a shard: the sum of hashes of its transitions, each over the two states and the label as it was
//! understood. It depends neither on the order of lines nor on the format, so a shard is known again however it was
//! written. Of what is no copy, but for the names of internal steps, the sums differ up to a chance of 2⁻⁶⁴.

use super::chunks::Body;
use super::labels::{INTERNAL, Known};
use crate::facts::file::Checksum;
use crate::facts::quotient::{Meaning, space};
use crate::lts::space::Transition;
use std::sync::atomic::{AtomicU64, Ordering};

/// The hashes of labels as they are understood.
pub(super) struct LabelHashes {
    of_label: Vec<u64>,
    internal: u64,
}

impl LabelHashes {
    pub(super) fn of(known: &Known) -> LabelHashes {
        let hash = |label: &Meaning| {
            let mut checksum = Checksum::default();
            checksum.add(space::text(label).as_bytes());
            checksum.0
        };
        LabelHashes {
            of_label: known.labels.iter().map(|label| hash(&Some(label.clone()))).collect(),
            internal: hash(&None),
        }
    }

    pub(super) fn of_transition(&self, transition: &Transition, label: u32) -> u64 {
        let label = if label == INTERNAL { self.internal } else { self.of_label[label as usize] };
        // One after the other, each mixed well: this is a sum, and must not depend on what is near what.
        [transition.from, label, transition.to].into_iter().fold(0, |hash, part| mixed(hash ^ mixed(part)))
    }
}

/// A number of which every bit depends on every bit of another one (the end of MurmurHash3).
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let number = (number ^ number >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (number ^ number >> 33).wrapping_add(0x9e37_79b9_7f4a_7c15)
}

/// What is in each of several inputs: how many transitions, and their hash.
pub(super) struct Contents {
    hashes: LabelHashes,
    of_input: Vec<(AtomicU64, AtomicU64)>,
}

impl Contents {
    /// Of several inputs; nobody asks for that of one.
    pub(super) fn of_several(bodies: &[Body<'_>], known: &Known) -> Option<Contents> {
        let of_input = bodies.iter().map(|_| Default::default()).collect();
        (bodies.len() > 1).then(|| Contents { hashes: LabelHashes::of(known), of_input })
    }

    /// These transitions are in an input; `label` tells what their labels were understood as.
    pub(super) fn add(&self, input: usize, transitions: &[Transition], label: impl Fn(u32) -> u32) {
        let hash = |transition: &Transition| self.hashes.of_transition(transition, label(transition.label));
        let sum = transitions.iter().map(hash).fold(0, u64::wrapping_add);
        let (count, total) = &self.of_input[input];
        count.fetch_add(transitions.len() as u64, Ordering::Relaxed);
        total.fetch_add(sum, Ordering::Relaxed);
    }

    /// The first input that has the same transitions as one before it, and that one.
    pub(super) fn repeated(&self) -> Option<(usize, usize)> {
        let at = |input: usize| {
            let (count, hash) = &self.of_input[input];
            (count.load(Ordering::Relaxed), hash.load(Ordering::Relaxed))
        };
        let earlier = |input: usize| (0..input).find(|&other| at(other) == at(input)).map(|other| (other, input));
        (0..self.of_input.len()).filter(|&input| at(input).0 > 0).find_map(earlier)
    }
}
