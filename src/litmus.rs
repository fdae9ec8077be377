//! The classic litmus programs, bundled as state spaces, and what the analysis says about them.
//!
//! Each program is a shape of memory accesses whose outcome tells memory models apart. A model *allows* the outcome
//! that SC forbids exactly when the analysis finds something to fence in the program; where axioms judge cycles, they
//! do here, too. The verdicts are computed, never typed in:
//!
//! ```text
//!   SB (store buffering)      MP (message passing)      LB (load buffering)
//!   x := 1  |  y := 1         x := 1  |  r := f         r := x  |  s := y
//!   r := y  |  s := x         f := 1  |  s := x         y := 1  |  x := 1
//!   r = s = 0                 r = 1, s = 0              r = s = 1
//!
//!   IRIW                                        2+2W                  WRC
//!   x := 1 | y := 1 | r := x | t := y           x := 1  |  y := 1     x := 1 | r := x | s := y
//!                   | s := y | u := x           y := 2  |  x := 2              y := 1 | t := x
//!   r = t = 1, s = u = 0                        x = y = 1             r = s = 1, t = 0
//!
//!   S                         R
//!   x := 2  |  r := y         x := 1  |  y := 2
//!   y := 1  |  x := 1         y := 1  |  r := x
//!   x = 2, r = 1              y = 2, r = 0
//! ```

use crate::aeg::Profile;
use crate::analysis::{Analysis, ModelOutcome, Options};
use crate::facts::extract::{self, NoProgress, extract};
use crate::kinds::outcome::by_axioms;
use crate::lts::error::Error;
use crate::lts::source::Bytes;
use crate::memory::MemoryModel;

/// The bundled programs: name and state space.
pub const PROGRAMS: [(&str, &str); 8] = [
    ("SB", include_str!("../lts/sb.aut")),
    ("MP", include_str!("../lts/mp-poll.aut")),
    ("LB", include_str!("../lts/lb.aut")),
    ("IRIW", include_str!("../lts/iriw.aut")),
    ("2+2W", include_str!("../lts/2+2w.aut")),
    ("S", include_str!("../lts/s.aut")),
    ("R", include_str!("../lts/r.aut")),
    ("WRC", include_str!("../lts/wrc.aut")),
];

/// Analyses the bundled programs under a memory model.
///
/// # Errors
/// If a bundled state space cannot be read: a defect of this build.
pub fn verdicts(model: &MemoryModel) -> Result<Vec<(&'static str, ModelOutcome)>, Error> {
    PROGRAMS
        .iter()
        .map(|(name, text)| {
            let source = Bytes::from_bytes(name, text.as_bytes().to_vec())?;
            let facts = extract(&source, &extract::Options::default(), &NoProgress)?.facts;
            let (analysis, options) = (Analysis::new(facts, Profile::Sound), Options::default());
            Ok((*name, by_axioms(&analysis, model, &options, analysis.run(model, &options))))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which outcomes the architectures allow, from the literature on litmus tests: "Herding cats" and the x86-TSO
    /// and SPARC documents.
    #[test]
    fn verdicts_are_those_of_the_literature() {
        let forbidden = |name: &str| {
            let verdicts =
                verdicts(&MemoryModel::named(name).expect("built in")).expect("bundled programs are well-formed");
            verdicts.into_iter().filter(|(_, outcome)| outcome.is_clean()).map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(forbidden("sc"), ["SB", "MP", "LB", "IRIW", "2+2W", "S", "R", "WRC"]);
        assert_eq!(forbidden("tso"), ["MP", "LB", "IRIW", "2+2W", "S", "WRC"]);
        assert_eq!(forbidden("pso"), ["LB", "IRIW", "WRC"]);
        for weak in ["rmo", "alpha", "armv8", "armv7", "power"] {
            assert_eq!(forbidden(weak), [""; 0], "{weak}");
        }
    }
}
