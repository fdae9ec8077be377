//! Code flows: the cycles and the runs that are reasons.

use super::Writer;
use super::schema::{CodeFlow, Location, LogicalLocation, Message, ThreadFlow, ThreadFlowLocation};
use crate::analysis::{Deed, Run, RunStep, Told};
use crate::cycles::{Cycle, SegmentVerdict};
use crate::ids::VertexId;
use crate::report::edges::Edges;
use crate::report::{names, runs};

impl Writer<'_> {
    /// A cycle.
    pub(super) fn cycle_flow(&self, edges: &Edges<'_>, cycle: &Cycle, verdicts: &[SegmentVerdict]) -> CodeFlow {
        let steps = edges.steps(cycle, verdicts);
        // The witness starts with the access that is executed last.
        let order = |position: usize| if position == 0 { steps.len() } else { position };
        let flow = |vertices: &[(usize, VertexId)]| {
            let accesses = &self.outcome.accesses;
            let thread = accesses.vertex(vertices[0].1).thread;
            let locations = vertices.iter().map(|&(position, vertex)| ThreadFlowLocation {
                location: Location {
                    message: Some(Message::new(format!(
                        "{} ({})",
                        names::access(accesses, vertex),
                        steps[position].name
                    ))),
                    ..self.location(accesses.vertex(vertex).instr)
                },
                execution_order: order(position),
            });
            ThreadFlow { id: accesses.threads[thread.index()].clone(), locations: locations.collect() }
        };
        let mut next = 0;
        let threads = (0..cycle.segments.len()).map(|segment| {
            let length = if cycle.is_move(segment) { 2 } else { 1 };
            let own: Vec<_> = (next..next + length).map(|position| (position, steps[position].vertex)).collect();
            next += length;
            flow(&own)
        });
        let name = edges.diy_name(cycle, verdicts);
        CodeFlow { thread_flows: threads.collect(), message: Message::new(format!("A critical cycle: {name}.")) }
    }

    /// A run: the steps of each thread, in the order of all; none if there are no steps.
    pub(super) fn run_flow(&self, told: &Told) -> Option<CodeFlow> {
        let run = told.evidence.run()?;
        let flow = |(position, thread): (usize, &String)| {
            let own = run.steps.iter().enumerate().filter(|(_, step)| step.thread.index() == position);
            let locations = own.map(|(number, step)| ThreadFlowLocation {
                location: Location { message: Some(Message::new(in_words(run, step))), ..self.place(thread, step) },
                execution_order: number + 1,
            });
            ThreadFlow { id: thread.clone(), locations: locations.collect() }
        };
        let flows = run.threads.iter().enumerate().map(flow);
        // The standard has no thread flow without a location.
        let thread_flows: Vec<ThreadFlow> = flows.filter(|flow| !flow.locations.is_empty()).collect();
        let because = told.because.split_whitespace().collect::<Vec<_>>().join(" ");
        let message = Message::new(format!("A run. {because}").trim_end());
        (!thread_flows.is_empty()).then_some(CodeFlow { message, thread_flows })
    }

    /// Where a step stands: at its instruction, or at the one that made the write.
    fn place(&self, thread: &str, step: &RunStep) -> Location {
        if let Some(instr) = step.deed.instr() {
            return self.location(instr);
        }
        let (name, fully_qualified_name) = (thread.to_owned(), thread.to_owned());
        let logical_locations = vec![LogicalLocation { name, fully_qualified_name, kind: "thread" }];
        Location { id: None, physical_location: None, logical_locations, message: None }
    }
}

/// What a step does, and what waits afterwards.
fn in_words(run: &Run, step: &RunStep) -> String {
    let does = match &step.deed {
        Deed::Executes { accesses, .. } if accesses.is_empty() => "no shared access".to_owned(),
        deed => deed.in_words(),
    };
    let waiting = runs::waiting(run, step);
    if waiting.is_empty() { does } else { format!("{does} ({waiting})") }
}
