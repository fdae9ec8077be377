//! Definitions that are known to miss violations.

use super::{Caveat, Topic};
use crate::aeg::Profile;
use crate::cycles::ConflictRule;

/// What is said of them; `conflicts` are those that apply.
#[must_use]
pub fn caveats(profile: Profile, conflicts: ConflictRule) -> Vec<Caveat> {
    let profile = match profile {
        Profile::Sound => None,
        Profile::Literal => Some(
            "--profile literal has no program order across waits, and is known to miss violations: what is suggested may not be enough",
        ),
        Profile::Published => Some(
            "--profile published has the definitions of the paper, which are known to miss violations: what is suggested may not be enough",
        ),
    };
    let conflicts = match (profile, conflicts) {
        (None, ConflictRule::Concurrent) => Some(
            "--conflicts concurrent takes only accesses that are enabled together for conflicts, and is known to miss violations: what is suggested may not be enough",
        ),
        _ => None,
    };
    profile.into_iter().chain(conflicts).map(|sentence| Caveat::new(Topic::Definitions, sentence)).collect()
}
