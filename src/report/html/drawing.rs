//! What the event graph shows: nodes, the edges of program order between neighbours, and the row of each instruction.
//!
//! A node is a vertex, or an instruction that never accesses anything shared (its own steps are part of the way, and
//! a fence may stand at it). Program order is a relation on all that some path joins; drawn are only its immediate
//! steps, from the last accesses of an evaluation to the first ones of the next: evaluations without accesses of an
//! instruction that has some elsewhere are passed through. Time: the number of follows-pairs times that of
//! evaluations passed through, which is small.
//!
//! Rows: each thread's instructions in reverse postorder of the way control takes, so that every step but those back
//! to the beginning of a loop goes down; where ways part, and where a loop has no beginning, the instruction that
//! comes first in the program comes first.

use crate::aeg::{Accesses, Evaluation};
use crate::ids::{InstrId, LabelId};
use std::collections::BTreeSet;

/// The event graph without conflicts, ready to be drawn.
pub struct Drawing {
    /// Instructions without vertices; they are the nodes after the vertices.
    pub quiet: Vec<InstrId>,
    /// Immediate steps of program order between nodes, sorted, each once.
    pub edges: Vec<(usize, usize)>,
    /// For each instruction its row in its thread.
    pub rows: Vec<usize>,
}

impl Drawing {
    pub fn of(accesses: &Accesses, evaluations: &[Evaluation]) -> Drawing {
        let nodes = Nodes::of(accesses, evaluations);
        let mut edges = BTreeSet::new();
        for (position, evaluation) in evaluations.iter().enumerate() {
            for event in &evaluation.events {
                // Of the events before it, those that are before no other of them.
                let is_last = |&before: &&usize| {
                    !event.before.iter().any(|&other| evaluation.events[other].before.contains(before))
                };
                for &before in event.before.iter().filter(is_last) {
                    edges.insert((evaluation.events[before].vertex.index(), event.vertex.index()));
                }
            }
            let lasts = nodes.lasts(evaluation);
            if lasts.is_empty() {
                continue;
            }
            for next in nodes.next(LabelId::new(position)) {
                for &last in &lasts {
                    edges.extend(nodes.firsts(&evaluations[next.index()]).into_iter().map(|first| (last, first)));
                }
            }
        }
        Drawing { edges: edges.into_iter().collect(), rows: rows(accesses, evaluations), quiet: nodes.quiet }
    }
}

struct Nodes<'a> {
    accesses: &'a Accesses,
    evaluations: &'a [Evaluation],
    quiet: Vec<InstrId>,
}

impl<'a> Nodes<'a> {
    fn of(accesses: &'a Accesses, evaluations: &'a [Evaluation]) -> Nodes<'a> {
        let quiet = accesses.outline.instrs().filter(|&instr| accesses.is_quiet(instr)).collect();
        Nodes { accesses, evaluations, quiet }
    }

    fn quiet_node(&self, evaluation: &Evaluation) -> Option<usize> {
        let position = self.quiet.binary_search(&evaluation.instr).ok()?;
        Some(self.accesses.vertices.len() + position)
    }

    /// The nodes that an evaluation begins with; none if it is passed through.
    fn firsts(&self, evaluation: &Evaluation) -> Vec<usize> {
        let firsts = evaluation.events.iter().filter(|event| event.before.is_empty());
        firsts.map(|event| event.vertex.index()).chain(self.quiet_node(evaluation)).collect()
    }

    /// The nodes that it ends with.
    fn lasts(&self, evaluation: &Evaluation) -> Vec<usize> {
        let is_last = |position: &usize| !evaluation.events.iter().any(|event| event.before.contains(position));
        let lasts = (0..evaluation.events.len()).filter(is_last);
        lasts.map(|position| evaluation.events[position].vertex.index()).chain(self.quiet_node(evaluation)).collect()
    }

    /// The next evaluations with nodes.
    fn next(&self, label: LabelId) -> BTreeSet<LabelId> {
        let mut passed = BTreeSet::new();
        let mut found = BTreeSet::new();
        let mut waiting = vec![label];
        while let Some(label) = waiting.pop() {
            for &next in &self.evaluations[label.index()].successors {
                let evaluation = &self.evaluations[next.index()];
                if !evaluation.events.is_empty() || self.quiet_node(evaluation).is_some() {
                    found.insert(next);
                } else if passed.insert(next) {
                    waiting.push(next);
                }
            }
        }
        found
    }
}

/// For each instruction its row in its thread.
fn rows(accesses: &Accesses, evaluations: &[Evaluation]) -> Vec<usize> {
    let num = accesses.outline.instructions.len();
    let mut successors = vec![BTreeSet::new(); num];
    let mut has_predecessor = vec![false; num];
    for evaluation in evaluations {
        let from = evaluation.instr.index();
        for &label in &evaluation.successors {
            let to = evaluations[label.index()].instr.index();
            if from != to {
                successors[from].insert(to);
                has_predecessor[to] = true;
            }
        }
    }
    let order = reverse_postorder(&successors, &beginnings(&successors, &has_predecessor));
    let mut rows = vec![0; num];
    let mut next_row = vec![0; accesses.threads.len()];
    for instr in order {
        let next = &mut next_row[accesses.thread_of(InstrId::new(instr)).index()];
        rows[instr] = *next;
        *next += 1;
    }
    rows
}

/// Where to begin so that everything is reached: what has nothing before it, then the first of what is left, again
/// and again.
fn beginnings(successors: &[BTreeSet<usize>], has_predecessor: &[bool]) -> Vec<usize> {
    let (first, rest): (Vec<usize>, Vec<usize>) = (0..successors.len()).partition(|&instr| !has_predecessor[instr]);
    let mut reached = vec![false; successors.len()];
    let mut beginnings = Vec::new();
    for instr in first.into_iter().chain(rest) {
        if reached[instr] {
            continue;
        }
        beginnings.push(instr);
        reached[instr] = true;
        let mut waiting = vec![instr];
        while let Some(instr) = waiting.pop() {
            for &next in &successors[instr] {
                if !std::mem::replace(&mut reached[next], true) {
                    waiting.push(next);
                }
            }
        }
    }
    beginnings
}

fn reverse_postorder(successors: &[BTreeSet<usize>], beginnings: &[usize]) -> Vec<usize> {
    let mut visited = vec![false; successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    // What is finished last comes first, so everything is visited from the last to the first. Without recursion:
    // threads may be long.
    for &beginning in beginnings.iter().rev() {
        if std::mem::replace(&mut visited[beginning], true) {
            continue;
        }
        let mut path = vec![(beginning, successors[beginning].iter().rev())];
        while let Some((instr, nexts)) = path.last_mut() {
            match nexts.next() {
                Some(&next) => {
                    if !std::mem::replace(&mut visited[next], true) {
                        path.push((next, successors[next].iter().rev()));
                    }
                }
                None => {
                    order.push(*instr);
                    path.pop();
                }
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(edges: &[(usize, usize)], num: usize) -> Vec<usize> {
        let mut successors = vec![BTreeSet::new(); num];
        let mut has_predecessor = vec![false; num];
        for &(from, to) in edges {
            successors[from].insert(to);
            has_predecessor[to] = true;
        }
        reverse_postorder(&successors, &beginnings(&successors, &has_predecessor))
    }

    #[test]
    fn program_order_goes_down() {
        assert_eq!(
            order(&[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 0)], 5),
            [0, 1, 2, 3, 4],
            "a loop with two ways"
        );
        assert_eq!(order(&[(2, 0), (0, 1)], 3), [2, 0, 1], "names that are not in the order of the program");
        assert_eq!(order(&[(0, 1), (2, 1)], 3), [0, 2, 1], "two beginnings");
        assert_eq!(order(&[], 2), [0, 1], "nothing is known");
        assert_eq!(order(&[(0, 1), (1, 0), (2, 3), (3, 2)], 4), [0, 1, 2, 3], "two loops");
    }

    #[test]
    fn a_long_thread_is_no_problem() {
        let edges: Vec<(usize, usize)> = (1..200_000).map(|instr| (instr - 1, instr)).collect();
        assert!(order(&edges, 200_000).into_iter().eq(0..200_000));
    }
}
