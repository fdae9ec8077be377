//! What an instruction is, whatever it is called: what a comparison and a fingerprint go by.
//!
//! Names are often numbers, and change when something is put in before. So the identity of an instruction is made of
//! its thread, the nearest control states around it that have a name in the text, what it says (without what only
//! keeps order: `atomic`, marks), and, of several that have all this in common, which of them it is in their order.
//! A fence between two instructions is in none of this, so putting one in changes no identity but that of fences. A
//! state space knows no control states and no text: there it is thread, labels and order.
//!
//! A control state has a name of its own if that is a word of the text and not a number: the others are called by
//! their places, or after others.

use super::names;
use crate::analysis::Outcome;
use crate::ids::{ControlId, InstrId};
use crate::ordering::Marks;
use crate::outline::{Control, Outline};
use crate::source::Source;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// The identities of all instructions, by number; no two are the same.
#[must_use]
pub fn identities(outcome: &Outcome) -> Vec<String> {
    let accesses = &outcome.accesses;
    let outline = &accesses.outline;
    let around = outcome.source.as_ref().map(|source| Around::new(outline, source));
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    let identity = |instr: InstrId| {
        let (thread, _) = accesses.names_of(instr);
        let states = around.as_ref().and_then(|around| around.states(outline, instr));
        let states = states.map_or(String::new(), |(from, to)| format!(" {from} -> {to}"));
        let mut identity = format!("{thread}{states}: {}", without_order(&text(outcome, instr)));
        let known = alike.entry(identity.clone()).or_default();
        *known += 1;
        if *known > 1 {
            identity += &format!(" #{known}");
        }
        identity
    };
    outline.instrs().map(identity).collect()
}

/// What the instruction says: as it is written, or as its labels show it.
#[must_use]
pub fn text(outcome: &Outcome, instr: InstrId) -> String {
    let written = outcome.source.as_ref().and_then(|source| source.text_of(instr));
    written.unwrap_or_else(|| names::instruction_text(outcome, instr))
}

/// The text without the words that only keep order, and without the brackets that stand for one step.
fn without_order(text: &str) -> &str {
    let mut rest = text.trim();
    let words = || Marks::NAMES.iter().map(|&(name, _)| name).chain(["atomic", "acq_rel"]);
    let strip = |rest: &str, word: &str| rest.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '[', '(']));
    while let Some(word) = words().find(|word| strip(rest, word)) {
        rest = rest[word.len()..].trim_start();
    }
    rest.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).map_or(rest, str::trim)
}

/// The nearest control states with names of their own, before and behind each.
struct Around {
    before: Vec<Option<ControlId>>,
    behind: Vec<Option<ControlId>>,
}

impl Around {
    fn new(outline: &Outline, source: &Source) -> Around {
        let is_word = |c: char| c.is_alphanumeric() || "_'$#".contains(c);
        let words: HashSet<&str> = source.text.split(|c: char| !is_word(c)).collect();
        let has_own_name = |control: &Control| {
            let name = control.name.as_str();
            !name.chars().all(|c| c.is_ascii_digit()) && words.contains(name)
        };
        let named: Vec<ControlId> = (0..outline.controls.len())
            .map(ControlId::new)
            .filter(|control| has_own_name(&outline.controls[control.index()]))
            .collect();
        let way = |instr: InstrId| outline.instruction(instr).way;
        let next = |control: &Control| control.ways_out.iter().filter_map(|&out| Some(way(out)?.to)).collect();
        let previous = |control: &Control| control.ways_in.iter().filter_map(|&into| Some(way(into)?.from)).collect();
        Around { before: nearest(outline, &named, next), behind: nearest(outline, &named, previous) }
    }

    /// The names of those around an instruction, `?` where there is none; nothing if all are.
    fn states<'o>(&self, outline: &'o Outline, instr: InstrId) -> Option<(&'o str, &'o str)> {
        let way = outline.instruction(instr).way?;
        let name = |control: Option<ControlId>| control.map(|control| outline.controls[control.index()].name.as_str());
        let (from, to) = (name(self.before[way.from.index()]), name(self.behind[way.to.index()]));
        (from.is_some() || to.is_some()).then(|| (from.unwrap_or("?"), to.unwrap_or("?")))
    }
}

/// For each control state the nearest of some, going from these on; of equally near ones the first.
fn nearest(outline: &Outline, some: &[ControlId], next: impl Fn(&Control) -> Vec<ControlId>) -> Vec<Option<ControlId>> {
    let mut found: Vec<Option<ControlId>> = vec![None; outline.controls.len()];
    some.iter().for_each(|&control| found[control.index()] = Some(control));
    let mut open: VecDeque<ControlId> = some.iter().copied().collect();
    while let Some(control) = open.pop_front() {
        for reached in next(&outline.controls[control.index()]) {
            if found[reached.index()].is_none() {
                found[reached.index()] = found[control.index()];
                open.push_back(reached);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::without_order;

    #[test]
    fn words_that_keep_order_are_no_part_of_it() {
        for (text, left) in [
            ("x := 1", "x := 1"),
            ("atomic [x := x + 1]", "x := x + 1"),
            ("atomic [x = 0; x := 1]", "x = 0; x := 1"),
            ("[x = 0; x := 1]", "x = 0; x := 1"),
            ("release x := 1", "x := 1"),
            ("atomic relaxed acquire [x := 1]", "x := 1"),
            ("atomic_flag := 1", "atomic_flag := 1"),
            ("[acquire] r := x", "[acquire] r := x"),
        ] {
            assert_eq!(without_order(text), left, "{text}");
        }
    }
}
