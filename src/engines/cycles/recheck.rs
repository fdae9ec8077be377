//! The event graph with fences and locks in place: is a torn instruction not locked, or a path of a delay left open?
//!
//! The [second look](crate::placement::recheck) that believes no placement. What it finds is told as the cycle of a
//! delay; which fences would help is for the placement to say, so nothing is demanded.

use crate::analysis::{Analysis, Options, Told};
use crate::cycles::{Atomicity, Cycle};
use crate::engines::{Answer, Checker, Ground, Trouble};
use crate::memory::{FenceStrength, MemoryModel};
use crate::placement::recheck;
use crate::repair::Repair;
use crate::safety::Synchronisation;

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
        let fails = |cycle: &Cycle, because: String| Answer::Fails { told: self.told(cycle, because), demands: None };
        let name = |instr| {
            let (thread, name) = graph.names_of(instr);
            format!("{thread}.{name}")
        };
        let torn = findings.torn.iter().find(|torn| !repair.locked.contains(&torn.instr));
        if let Some(torn) = torn {
            return Ok(fails(&torn.witness, format!("  {} can be torn, and is not locked\n", name(torn.instr))));
        }
        // A fence is as strong as the model has one.
        let fences = repair.fences.iter().map(|&site| (site, FenceStrength::Cumulative)).collect();
        let locked = findings.in_place.locked.union(&repair.locked).copied().collect();
        let in_place = Synchronisation { fences, locked };
        for delay in &findings.delays {
            if !recheck::is_enough(graph, model, &in_place, std::slice::from_ref(delay)) {
                let (from, to) = (graph.vertex(delay.from).instr, graph.vertex(delay.to).instr);
                let because = format!("  no fence keeps {} from being executed before {}\n", name(to), name(from));
                return Ok(fails(&delay.witness, because));
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
            rests_on: format!("the event graph: no path of its {} delays is left open", findings.delays.len()),
        }))
    }
}

impl Second<'_> {
    /// The accesses of a cycle, one a line.
    fn told(&self, cycle: &Cycle, because: String) -> Told {
        let graph = &self.analysis.graph;
        let mut steps = String::new();
        for step in cycle.steps(&graph.accesses, |_| false) {
            let vertex = graph.vertex(step.vertex);
            let (thread, name) = graph.names_of(vertex.instr);
            let location = &graph.locations[vertex.location.index()];
            steps += &format!("    {thread}.{name}  {} {location}  {}\n", vertex.kind, step.name);
        }
        Told { steps, because }
    }
}
