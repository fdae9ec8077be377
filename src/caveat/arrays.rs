//! Names that may mean the same memory and were taken for one location.

use super::{Caveat, Topic, listed};
use crate::aeg::AbstractEventGraph;

/// What is said of them, array by array.
#[must_use]
pub fn caveats(graph: &AbstractEventGraph) -> Vec<Caveat> {
    let sentence = |names: &[String]| {
        let listed = listed(names.iter().cloned());
        format!(
            "{listed} are taken to be one location, as they may overlap; indices that are numbers tell elements apart"
        )
    };
    graph.taken_together.iter().map(|(_, names)| Caveat::new(Topic::TakenTogether, sentence(names))).collect()
}
