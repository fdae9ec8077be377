//! What is done to the bits of sets and relations over few events.
//!
//! A set is a row of bits, a relation one row for each event, in memory that the caller owns: an evaluation allocates
//! once. A row takes one word as long as there are at most 64 events, and then the innermost loops have none over
//! words. The sequence `r ; s` takes the union of the rows of `s` that a row of `r` names: quadratic in the events,
//! for few pairs less. The transitive closure is Warshall's, cubic divided by the width of a word. For cycles, events
//! without successors are taken away until none is left.

const BITS: usize = u64::BITS as usize;

/// How many events there are, and words in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The events.
    pub size: usize,
    /// The words of a row.
    pub words: usize,
}

impl Shape {
    /// For so many events.
    #[must_use]
    pub fn new(size: usize) -> Shape {
        Shape { size, words: size.div_ceil(BITS) }
    }

    /// The bits of a word of a row that mean events.
    fn mask(self, word: usize) -> u64 {
        let bits = self.size - word * BITS;
        if bits >= BITS { u64::MAX } else { (1 << bits) - 1 }
    }
}

fn has(row: &[u64], event: usize) -> bool {
    row[event / BITS] >> (event % BITS) & 1 == 1
}

fn add(row: &mut [u64], event: usize) {
    row[event / BITS] |= 1 << (event % BITS);
}

/// The events of a row.
fn members(row: &[u64]) -> impl Iterator<Item = usize> + '_ {
    row.iter().enumerate().flat_map(|(word, &bits)| {
        let mut bits = bits;
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let event = word * BITS + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                event
            })
        })
    })
}

/// All that is not there: of a set or of a relation.
pub fn complement(shape: Shape, result: &mut [u64], of: &[u64]) {
    for (at, (to, from)) in result.iter_mut().zip(of).enumerate() {
        *to = !from & shape.mask(at % shape.words);
    }
}

/// `a ; b`.
pub fn sequence(shape: Shape, result: &mut [u64], a: &[u64], b: &[u64]) {
    if shape.words == 1 {
        for (to, &row) in result.iter_mut().zip(a) {
            let (mut bits, mut union) = (row, 0);
            while bits != 0 {
                union |= b[bits.trailing_zeros() as usize];
                bits &= bits - 1;
            }
            *to = union;
        }
        return;
    }
    let words = shape.words;
    for event in 0..shape.size {
        let to = &mut result[event * words..(event + 1) * words];
        to.fill(0);
        for via in members(&a[event * words..(event + 1) * words]) {
            to.iter_mut().zip(&b[via * words..(via + 1) * words]).for_each(|(to, from)| *to |= from);
        }
    }
}

/// The transitive closure, in place.
pub fn close(shape: Shape, rows: &mut [u64]) {
    let words = shape.words;
    if words == 1 {
        for via in 0..shape.size {
            let more = rows[via];
            if more != 0 {
                rows.iter_mut().for_each(|row| *row |= more & (*row >> via & 1).wrapping_neg());
            }
        }
        return;
    }
    for via in 0..shape.size {
        for from in (0..shape.size).filter(|from| *from != via) {
            if has(&rows[from * words..(from + 1) * words], via) {
                for word in 0..words {
                    rows[from * words + word] |= rows[via * words + word];
                }
            }
        }
    }
}

/// Adds the identity, in place.
pub fn reflect(shape: Shape, rows: &mut [u64]) {
    for event in 0..shape.size {
        add(&mut rows[event * shape.words..], event);
    }
}

/// `a^-1`.
pub fn invert(shape: Shape, result: &mut [u64], a: &[u64]) {
    result.fill(0);
    for from in 0..shape.size {
        for to in members(&a[from * shape.words..(from + 1) * shape.words]) {
            add(&mut result[to * shape.words..], from);
        }
    }
}

/// `[set]`.
pub fn identity_on(shape: Shape, result: &mut [u64], set: &[u64]) {
    result.fill(0);
    members(&set[..shape.words]).for_each(|event| add(&mut result[event * shape.words..], event));
}

/// `a * b`, of sets.
pub fn product(shape: Shape, result: &mut [u64], a: &[u64], b: &[u64]) {
    for event in 0..shape.size {
        let row = &mut result[event * shape.words..(event + 1) * shape.words];
        if has(a, event) { row.copy_from_slice(&b[..shape.words]) } else { row.fill(0) }
    }
}

/// The pairs that start in a set.
pub fn starting_in(shape: Shape, result: &mut [u64], set: &[u64], a: &[u64]) {
    for event in 0..shape.size {
        let rows = event * shape.words..(event + 1) * shape.words;
        if has(set, event) { result[rows.clone()].copy_from_slice(&a[rows]) } else { result[rows].fill(0) }
    }
}

/// The pairs that end in a set.
pub fn ending_in(shape: Shape, result: &mut [u64], a: &[u64], set: &[u64]) {
    for (at, (to, from)) in result.iter_mut().zip(a).enumerate() {
        *to = from & set[at % shape.words];
    }
}

/// Where pairs start.
pub fn domain(shape: Shape, result: &mut [u64], a: &[u64]) {
    result.fill(0);
    for event in 0..shape.size {
        if a[event * shape.words..(event + 1) * shape.words].iter().any(|word| *word != 0) {
            add(result, event);
        }
    }
}

/// Where pairs end.
pub fn range(shape: Shape, result: &mut [u64], a: &[u64]) {
    result.fill(0);
    for row in a.chunks_exact(shape.words.max(1)) {
        result.iter_mut().zip(row).for_each(|(to, from)| *to |= from);
    }
}

/// Whether no event is related to itself.
#[must_use]
pub fn is_irreflexive(shape: Shape, rows: &[u64]) -> bool {
    (0..shape.size).all(|event| !has(&rows[event * shape.words..], event))
}

/// Whether there is no cycle.
#[must_use]
pub fn is_acyclic(shape: Shape, rows: &[u64]) -> bool {
    if shape.words == 1 {
        let mut left = shape.mask(0);
        loop {
            let (before, mut bits) = (left, left);
            while bits != 0 {
                let event = bits.trailing_zeros();
                bits &= bits - 1;
                left &= !(u64::from(rows[event as usize] & left == 0) << event);
            }
            if left == 0 || left == before {
                return left == 0;
            }
        }
    }
    let mut left: Vec<u64> = (0..shape.words).map(|word| shape.mask(word)).collect();
    loop {
        let before = left.clone();
        for event in 0..shape.size {
            let row = &rows[event * shape.words..(event + 1) * shape.words];
            if row.iter().zip(&left).all(|(row, left)| row & left == 0) {
                left[event / BITS] &= !(1 << (event % BITS));
            }
        }
        let is_empty = left.iter().all(|word| *word == 0);
        if is_empty || left == before {
            return is_empty;
        }
    }
}
