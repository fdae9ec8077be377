//! Few threads of a program: runs in which the others never move are runs of the program.

use super::compiled::Compiled;
use crate::ids::ThreadAt;

/// All sets of two of so many threads.
pub fn pairs(num_of_threads: usize) -> impl Iterator<Item = Vec<ThreadAt>> + Clone {
    let behind = move |thread: ThreadAt| ThreadAt::all(num_of_threads).skip(thread.index() + 1);
    ThreadAt::all(num_of_threads).flat_map(move |first| behind(first).map(move |second| vec![first, second]))
}

/// All sets of three of so many threads.
pub fn triples(num_of_threads: usize) -> impl Iterator<Item = Vec<ThreadAt>> + Clone {
    let behind = move |thread: ThreadAt| ThreadAt::all(num_of_threads).skip(thread.index() + 1);
    pairs(num_of_threads).flat_map(move |pair| behind(pair[1]).map(move |third| [&pair[..], &[third]].concat()))
}

impl Compiled {
    /// The program in which only these threads move.
    #[must_use]
    pub fn moving(&self, group: &[ThreadAt]) -> Compiled {
        let mut compiled = self.clone();
        for (thread, still) in ThreadAt::all(compiled.threads.len()).zip(&mut compiled.threads) {
            if !group.contains(&thread) {
                still.steps.iter_mut().for_each(Vec::clear);
            }
        }
        compiled
    }
}
