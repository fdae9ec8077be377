//! The program's text, cut where instructions begin and end.
//!
//! With a specification it is its text; without one, the instructions of each thread in the order of the event
//! graph's rows, as their labels say them. Several threads may be described by one text (a class with several
//! objects), so a piece may belong to several instructions.

use super::drawing::Drawing;
use crate::analysis::Outcome;
use crate::ids::{InstrId, ThreadId};
use crate::report::names;
use crate::source::Source;
use serde::Serialize;
use std::collections::BTreeSet;

/// The text, line by line.
#[derive(Serialize)]
pub struct Listing {
    /// The name of the specification, if there is one.
    path: Option<String>,
    lines: Vec<Line>,
}

#[derive(Serialize, Debug, PartialEq, Eq)]
struct Line {
    /// It begins a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<usize>,
    pieces: Vec<Piece>,
}

/// A piece of a line, and the instructions that it belongs to.
#[derive(Serialize, Debug, PartialEq, Eq)]
struct Piece {
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instructions: Vec<usize>,
}

impl Listing {
    pub fn of(outcome: &Outcome, drawing: &Drawing) -> Listing {
        match &outcome.source {
            Some(source) => Listing {
                path: Some(source.path.clone()),
                lines: of_source(source, outcome.accesses.outline.instructions.len()),
            },
            None => Listing { path: None, lines: of_labels(outcome, drawing) },
        }
    }
}

fn of_source(source: &Source, num_of_instructions: usize) -> Vec<Line> {
    let spans = (0..num_of_instructions).filter_map(|instr| {
        let span = source.span(InstrId::new(instr))?;
        Some((span.start, span.end, instr))
    });
    cut(&source.text, &spans.collect::<Vec<_>>())
}

/// The lines of a text, cut at the ends of the spans (begin, end, instruction).
fn cut(text: &str, spans: &[(usize, usize, usize)]) -> Vec<Line> {
    let mut starts: Vec<usize> = vec![0];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1));
    if starts.last() == Some(&text.len()) && starts.len() > 1 {
        starts.pop();
    }
    let line_of = |offset: usize| starts.partition_point(|&start| start <= offset).saturating_sub(1);
    let mut spans_of_line: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); starts.len()];
    for &span in spans.iter().filter(|(begin, end, _)| begin < end) {
        spans_of_line[line_of(span.0)..=line_of(span.1 - 1)].iter_mut().for_each(|list| list.push(span));
    }
    let line = |(number, spans): (usize, Vec<(usize, usize, usize)>)| {
        let start = starts[number];
        let next = starts.get(number + 1).copied().unwrap_or(text.len());
        let end = start + text[start..next].trim_end_matches(['\n', '\r']).len();
        let ends = spans.iter().flat_map(|&(begin, end, _)| [begin, end]);
        let inside = ends.filter(|&offset| start < offset && offset < end && text.is_char_boundary(offset));
        let cuts: BTreeSet<usize> = inside.chain([start, end]).collect();
        let cuts: Vec<usize> = cuts.into_iter().collect();
        let piece = |ends: &[usize]| Piece {
            text: text[ends[0]..ends[1]].to_owned(),
            instructions: spans
                .iter()
                .filter(|span| span.0 <= ends[0] && ends[1] <= span.1)
                .map(|span| span.2)
                .collect(),
        };
        Line { thread: None, pieces: cuts.windows(2).map(piece).collect() }
    };
    spans_of_line.into_iter().enumerate().map(line).collect()
}

fn of_labels(outcome: &Outcome, drawing: &Drawing) -> Vec<Line> {
    let accesses = &outcome.accesses;
    let mut lines = Vec::new();
    for thread in 0..accesses.threads.len() {
        lines.push(Line { thread: Some(thread), pieces: Vec::new() });
        let mut instructions: Vec<usize> = (0..accesses.outline.instructions.len())
            .filter(|&instr| accesses.outline.instructions[instr].thread == ThreadId::new(thread))
            .collect();
        instructions.sort_by_key(|&instr| drawing.rows[instr]);
        lines.extend(instructions.into_iter().map(|instr| {
            let name =
                Piece { text: format!("{}: ", accesses.outline.instructions[instr].name), instructions: Vec::new() };
            let text = names::instruction_text(outcome, InstrId::new(instr));
            Line { thread: None, pieces: vec![name, Piece { text, instructions: vec![instr] }] }
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, spans: &[(usize, usize, usize)]) -> Vec<Vec<(String, Vec<usize>)>> {
        let piece = |piece: Piece| (piece.text, piece.instructions);
        cut(text, spans).into_iter().map(|line| line.pieces.into_iter().map(piece).collect()).collect()
    }

    fn piece(text: &str, instructions: &[usize]) -> (String, Vec<usize>) {
        (text.to_owned(), instructions.to_vec())
    }

    #[test]
    fn lines_are_cut_at_instructions() {
        assert_eq!(
            pieces("a { x; y }\r\n\nb\n", &[(4, 5, 0), (7, 8, 1), (7, 8, 2)]),
            [
                vec![piece("a { ", &[]), piece("x", &[0]), piece("; ", &[]), piece("y", &[1, 2]), piece(" }", &[])],
                vec![],
                vec![piece("b", &[])]
            ]
        );
    }

    #[test]
    fn an_instruction_may_go_over_lines() {
        assert_eq!(pieces("[é;\n y]", &[(0, 8, 0)]), [vec![piece("[é;", &[0])], vec![piece(" y]", &[0])]]);
        assert_eq!(pieces("", &[]), [Vec::<(String, Vec<usize>)>::new()]);
    }
}
