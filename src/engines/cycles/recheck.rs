//! The event graph with fences and locks in place: is a torn instruction not locked, or a path of a delay left open?
//!
//! The [second look](crate::placement::recheck) that believes no placement. The event graph has more than the program
//! does: what it leaves open is perhaps not in any run, so nothing is said to be violated.

use crate::analysis::{Analysis, Options};
use crate::cycles::Atomicity;
use crate::engines::{Answer, Checker, Ground, Trouble};
use crate::memory::{FenceStrength, MemoryModel};
use crate::placement::recheck;
use crate::repair::Repair;
use crate::safety::Synchronisation;
use crate::text::counted;

/// Looks at fences under a memory model.
pub(super) struct Second<'c> {
    pub analysis: &'c Analysis,
    pub model: &'c MemoryModel,
    pub atomicity: Atomicity,
}

impl Checker for Second<'_> {
    fn check(&mut self, repair: &Repair) -> Result<Answer, Trouble> {
        let Second { analysis, model, atomicity } = *self;
        let graph = &analysis.graph;
        let findings = analysis.find(model, &Options { atomicity, ..Options::default() });
        let perhaps = |what: String| {
            Ok(Answer::Undecided(format!(
                "{what}, by the event graph; perhaps no run shows it (--engine store-buffers)"
            )))
        };
        let name = |instr| {
            let (thread, name) = graph.names_of(instr);
            format!("{thread}.{name}")
        };
        if let Some(torn) = findings.torn.iter().find(|torn| !repair.locked.contains(&torn.instr)) {
            return perhaps(format!("{} can be torn, and is not locked", name(torn.instr)));
        }
        // A fence is as strong as the model has one; one of stores is nothing here, which is safe.
        let fences = repair.full_sites().into_iter().map(|site| (site, FenceStrength::Cumulative)).collect();
        let locked = findings.in_place.locked.union(&repair.locked).copied().collect();
        let in_place = Synchronisation { fences, locked };
        for delay in &findings.delays {
            if !recheck::is_enough(graph, model, &in_place, std::slice::from_ref(delay)) {
                let (from, to) = (graph.vertex(delay.from).instr, graph.vertex(delay.to).instr);
                return perhaps(format!("{} may be executed before {}", name(to), name(from)));
            }
        }
        if let Some(limit) = graph.budget.exhausted() {
            return Ok(Answer::Undecided(format!("stopped at {limit}")));
        }
        if analysis.cut_off {
            let why = analysis.missing.as_deref().unwrap_or("a limit");
            return Ok(Answer::Undecided(format!("only a part of the state space is known: {why}")));
        }
        Ok(Answer::Holds(Ground {
            claim: "every run is sequentially consistent",
            rests_on: format!(
                "the event graph: no path of its {} is left open",
                counted(findings.delays.len(), "delay")
            ),
        }))
    }
}
