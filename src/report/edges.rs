//! The edges of a cycle under a memory model, named in diy's vocabulary by what is between the two accesses of a thread.
//!
//! [`Outcome::steps`] knows program order only: `PodRR`. Under a memory model the order of the two reads may be kept, by a fence that is in place or by a dependency that the model counts: then the
//! cycle is another one, `DpAddrdR`. The drawing and the litmus test of a cycle name it here, so they agree. (A test for an architecture that is not the model's own has a fence wherever the model keeps an
//! order by itself, which the drawing has not: its comment says so.)

use super::litmus::assembly::assembly;
use super::litmus::links::{Link, Links};
use super::litmus::target::Target;
use crate::analysis::{ModelOutcome, Outcome};
use crate::cycles::{Cycle, Edge, Step, Verdict};
use crate::memory::Kind;

/// The names of edges under one memory model.
pub struct Edges<'a> {
    outcome: &'a Outcome,
    links: Links<'a>,
    fence: &'static str,
}

impl<'a> Edges<'a> {
    /// Under the model of a result.
    #[must_use]
    pub fn new(outcome: &'a Outcome, result: &'a ModelOutcome) -> Edges<'a> {
        let links = Links::new(&outcome.analysis.graph, &result.model, &result.findings.in_place);
        Edges { outcome, links, fence: assembly(Target::of(&result.model).architecture).fence_name() }
    }

    /// The accesses of a cycle with the edges that leave them.
    #[must_use]
    pub fn steps(&self, cycle: &Cycle, verdicts: &[Verdict]) -> Vec<Step> {
        let graph = &self.outcome.analysis.graph;
        let mut steps = self.outcome.steps(cycle, verdicts);
        if graph.budget.exhausted().is_some() {
            // A search that is cut off cannot tell what is between.
            return steps;
        }
        let mut inner = steps.iter_mut().filter(|step| matches!(step.edge, Edge::Program | Edge::Sideways));
        for segment in cycle.segments.iter().filter(|segment| segment.entry != segment.exit) {
            let Some(step) = inner.next().filter(|step| step.edge == Edge::Program) else { continue };
            let kinds = (graph.vertex(segment.entry).kind, graph.vertex(segment.exit).kind);
            let link = self.links.between(segment.entry, segment.exit).unwrap_or(Link::Plain);
            step.name = name(link, kinds, &step.name, self.fence);
        }
        steps
    }
}

/// The name of the edge between two accesses of a thread; `plain` if there is nothing in between.
#[must_use]
pub fn name(link: Link, (from, to): (Kind, Kind), plain: &str, fence: &str) -> String {
    match link {
        Link::Plain => plain.to_owned(),
        Link::Fence => format!("{fence}d{from}{to}"),
        Link::Address => format!("DpAddrd{to}"),
        Link::Data => format!("DpDatad{to}"),
        Link::Control => format!("DpCtrld{to}"),
    }
}
