//! Choices, made in all combinations.

/// A sequence of choices, replayed and extended until all have been made: depth-first search without a copy of the
/// state.
#[derive(Default)]
pub(super) struct Choices {
    made: Vec<(usize, usize)>,
    next: usize,
}

impl Choices {
    /// One of so many.
    pub(super) fn choose(&mut self, options: usize) -> usize {
        if self.next == self.made.len() {
            self.made.push((0, options));
        }
        self.next += 1;
        self.made[self.next - 1].0
    }

    /// To the next sequence, if there is one.
    pub(super) fn advance(&mut self) -> bool {
        self.made.truncate(self.next);
        self.next = 0;
        while let Some((chosen, options)) = self.made.pop() {
            if chosen + 1 < options {
                self.made.push((chosen + 1, options));
                return true;
            }
        }
        false
    }
}
