//! The edges of a cycle under a memory model, named in diy's vocabulary by what is between the two accesses of a
//! thread.
//!
//! Program order alone is `PodRR`. Under a memory model the order of the two reads may be kept, by a fence that is in
//! place or by a dependency that the model counts: then the cycle is another one, `DpAddrdR`. Everything that names a
//! cycle (the drawing, the tables, all reports, the litmus test) names it here, so they agree. (A test for an
//! architecture that is not the model's own has a fence wherever the model keeps an order by itself, which the cycle
//! has not: its comment says so.)
//!
//! Where a limit has ended the analysis nobody can tell what is between, nor without an event graph: then all names are
//! those of program order.

use super::litmus::assembly::assembly;
use super::litmus::links::{Link, Links};
use super::litmus::target::Target;
use crate::analysis::{ModelOutcome, Outcome};
use crate::cycles::{Cycle, Edge, Segment, SegmentVerdict, Step};
use crate::memory::Kind;
use std::cell::OnceCell;

/// The names of edges under one memory model.
pub struct Edges<'a> {
    outcome: &'a Outcome,
    result: &'a ModelOutcome,
    /// Made when the first edge is named: a result without cycles needs none.
    links: OnceCell<Links<'a>>,
}

impl<'a> Edges<'a> {
    /// Under the model of a result.
    #[must_use]
    pub fn new(outcome: &'a Outcome, result: &'a ModelOutcome) -> Edges<'a> {
        Edges { outcome, result, links: OnceCell::new() }
    }

    /// The accesses of a cycle with the edges that leave them. A segment moves within its instruction if its verdict
    /// says so, or if program order does not give the move: then the instruction is atomic or locked.
    #[must_use]
    pub fn steps(&self, cycle: &Cycle, verdicts: &[SegmentVerdict]) -> Vec<Step> {
        let Outcome { accesses, analysis, .. } = self.outcome;
        let in_order =
            |Segment { entry, exit }| analysis.as_ref().is_none_or(|known| known.order.contains(entry, exit));
        let mut steps = cycle.steps(accesses, |position| {
            let torn = verdicts.get(position).is_some_and(|verdict| verdict.torn);
            torn || !in_order(cycle.segments[position])
        });
        let Some(links) = self.links() else { return steps };
        let mut inner = steps.iter_mut().filter(|step| matches!(step.edge, Edge::Program | Edge::Sideways));
        for segment in cycle.segments.iter().filter(|segment| segment.entry != segment.exit) {
            let Some(step) = inner.next().filter(|step| step.edge == Edge::Program) else { continue };
            let kinds = (accesses.vertex(segment.entry).kind, accesses.vertex(segment.exit).kind);
            let link = links.between(segment.entry, segment.exit).unwrap_or(Link::Plain);
            step.name = name(link, kinds, &step.name, self.fence());
        }
        steps
    }

    /// The cycle in diy's vocabulary.
    #[must_use]
    pub fn diy_name(&self, cycle: &Cycle, verdicts: &[SegmentVerdict]) -> String {
        let names: Vec<String> = self.steps(cycle, verdicts).into_iter().map(|step| step.name).collect();
        names.join(" ")
    }

    /// What keeps two accesses of a thread in order; nobody knows without an event graph, and a search in it that is
    /// cut off cannot tell.
    pub(super) fn links(&self) -> Option<&Links<'a>> {
        let (outcome, result) = (self.outcome, self.result);
        let graph = &outcome.analysis.as_ref()?.graph;
        let links = || Links::new(graph, &result.model, &result.findings.in_place);
        graph.budget.exhausted().is_none().then(|| self.links.get_or_init(links))
    }

    /// What a fence of the program is called in names.
    fn fence(&self) -> &'static str {
        assembly(Target::of(&self.result.model).architecture).fence_name()
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
