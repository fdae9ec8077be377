//! Puts fences into the text of a program: a state between, and a transition with the fence from there on. Everything
//! else stays byte for byte as it is.
//!
//! ```text
//! transition q0 q1 write 1 0            transition q0 q0_f1 write 1 0
//!                                       transition q0_f1 q1 mfence
//! q0 : x = 1 ; goto q1                  q0 : x = 1 ; goto q0_f1
//!                                       q0_f1 : fence ; goto q1
//! ```
//!
//! A fence at a state is the same for all transitions that lead there: one new state, which they lead to instead, and
//! one transition with the fence, behind the last of them. Where the thread starts in the state it still does.
//!
//! A fence before a transition is one at the state where it begins, if several lead there; else one after the only one
//! that does. A transition makes one access, so a fence never belongs inside of it, and there are no words that make
//! one atomic. What is said of one copy of a thread is put into all of them, since they have one text.

use super::syntax::{Thread, Transition};
use super::{paper, tools};
use crate::lang::edit::{CannotWrite, Change};
use crate::program::{Program, Span};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Where a fence goes in the text; transitions and regions are given by their spans.
enum Spot {
    /// After it.
    After(Span),
    /// At the state where it begins.
    AtOrigin(Span),
    /// At the state that it leads to.
    AtTarget(Span),
}

impl Spot {
    /// Where a change goes; nowhere if it is a fence before a first instruction, where there is nothing to keep in
    /// order.
    fn of(program: &Program, change: Change) -> Result<Option<Spot>, CannotWrite> {
        let span = |at| program.instruction(at).span;
        Ok(match change {
            Change::Atomic(_) => return Err(CannotWrite::Atomic),
            Change::PartialFenceBefore(_, kind)
            | Change::PartialFenceAfter(_, kind)
            | Change::PartialFenceAtTarget(_, kind) => return Err(CannotWrite::PartialFence(kind)),
            Change::Mark(at, marks) => return Err(CannotWrite::Marks(at, marks)),
            Change::FenceAfter(at) => Some(Spot::After(span(at))),
            Change::FenceAtTarget(at) => Some(Spot::AtTarget(span(at))),
            Change::FenceBefore(at) => {
                let thread = program.thread(at.thread);
                let mut earlier = thread.ways_into(program.instruction(at).from);
                match (earlier.next(), earlier.next()) {
                    (Some(_), Some(_)) => Some(Spot::AtOrigin(span(at))),
                    (Some(only), None) => Some(Spot::After(thread.instruction(only).span)),
                    (None, _) => None,
                }
            }
        })
    }
}

/// The text with these changes made.
///
/// # Errors
/// If an instruction would have to become atomic.
pub fn edited(text: &str, program: &Program, changes: &[Change]) -> Result<String, CannotWrite> {
    let spots: Result<Vec<Option<Spot>>, CannotWrite> =
        changes.iter().map(|&change| Spot::of(program, change)).collect();
    Ok(fenced(text, &spots?.into_iter().flatten().collect::<Vec<Spot>>()))
}

/// The text with these fences.
fn fenced(text: &str, spots: &[Spot]) -> String {
    let is_paper = paper::is_one(text);
    let source = if is_paper { paper::parse(text) } else { tools::parse("", text) };
    // A text that was read once is read again.
    let Ok(source) = source else { return text.to_owned() };
    let mut changes =
        Changes { text, is_paper, names: HashSet::new(), replaced: BTreeMap::new(), added: BTreeMap::new() };
    let all = source.threads.iter().flat_map(|thread| &thread.transitions);
    changes.names.extend(all.flat_map(|transition| [&transition.from, &transition.to]).map(|name| name.text.clone()));
    source.threads.iter().for_each(|thread| changes.fence(thread, spots));
    changes.made()
}

/// Changes of a text.
struct Changes<'t> {
    text: &'t str,
    is_paper: bool,
    /// Names of states that are taken.
    names: HashSet<String>,
    /// By where they begin: names that give way to others.
    replaced: BTreeMap<usize, (Span, String)>,
    /// By the end of a transition: those that come behind it.
    added: BTreeMap<usize, String>,
}

impl Changes<'_> {
    /// Puts those of the fences in that belong to this thread.
    fn fence(&mut self, thread: &Thread, spots: &[Spot]) {
        // A region begins where its `lock` does and ends where its `unlock` does.
        let begins = |span: Span| thread.transitions.iter().find(move |known| known.span.start == span.start);
        let ends = |span: Span| thread.transitions.iter().find(move |known| known.span.end == span.end);
        let mut states: BTreeSet<&str> = BTreeSet::new();
        let mut after: BTreeMap<usize, &Transition> = BTreeMap::new();
        for spot in spots {
            match *spot {
                Spot::After(span) => after.extend(ends(span).map(|transition| (transition.span.end, transition))),
                Spot::AtOrigin(span) => states.extend(begins(span).map(|transition| &*transition.from.text)),
                Spot::AtTarget(span) => states.extend(ends(span).map(|transition| &*transition.to.text)),
            }
        }
        // Where what led to a state leads now.
        let mut entries: BTreeMap<&str, String> = BTreeMap::new();
        for state in states {
            let ways: Vec<&Transition> = thread.transitions.iter().filter(|way| way.to.text == state).collect();
            let Some(last) = ways.last() else { continue };
            let entry = self.fresh(state);
            self.add(last, &entry, state);
            for way in ways {
                self.replaced.insert(way.to.span.start, (way.to.span, entry.clone()));
            }
            entries.insert(state, entry);
        }
        for transition in after.into_values() {
            let between = self.fresh(&transition.from.text);
            let to = &transition.to;
            self.add(transition, &between, entries.get(&*to.text).unwrap_or(&to.text));
            self.replaced.insert(to.span.start, (to.span, between));
        }
    }

    /// A name of a state that is not taken yet.
    fn fresh(&mut self, like: &str) -> String {
        let mut number = 1;
        loop {
            let candidate = format!("{like}_f{number}");
            if self.names.insert(candidate.clone()) {
                return candidate;
            }
            number += 1;
        }
    }

    /// Adds a transition with a fence behind another one.
    fn add(&mut self, behind: &Transition, from: &str, to: &str) {
        let line_start = self.text[..behind.span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent: String = self.text[line_start..].chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        let addition = match self.is_paper {
            true => format!("\n{indent}{from} : fence ; goto {to}"),
            false => format!("\n{indent}transition {from} {to} mfence"),
        };
        self.added.entry(behind.span.end).or_default().push_str(&addition);
    }

    /// The text with the changes made.
    fn made(&self) -> String {
        let Changes { text, replaced, added, .. } = self;
        let mut result = String::with_capacity(text.len() + 40 * added.len());
        let mut from = 0;
        let mut places: BTreeSet<usize> = replaced.keys().copied().collect();
        places.extend(added.keys());
        for at in places {
            result.push_str(&text[from..at]);
            from = at;
            // At one place, a transition ends before the next one begins.
            if let Some(addition) = added.get(&at) {
                // What follows on the same line, a semicolon or a comment, stays behind its own transition.
                let rest_of_line = text[at..].find(['\n', '\r']).map_or(text.len(), |length| at + length);
                let is_rest = replaced.range(at..rest_of_line).next().is_none()
                    && text[at..rest_of_line].trim_start().chars().next().is_none_or(|c| matches!(c, ';' | '#' | '/'));
                if is_rest {
                    result.push_str(&text[at..rest_of_line]);
                    from = rest_of_line;
                }
                result.push_str(addition);
            }
            if let Some((span, name)) = replaced.get(&at) {
                result.push_str(name);
                from = span.end;
            }
        }
        result.push_str(&text[from..]);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::{CannotWrite, Change, edited};
    use crate::lang;
    use crate::program::{At, Instruction};

    /// The text with fences at instructions, given by their names.
    fn with(text: &str, change: impl Fn(At, &Instruction) -> Option<Change>) -> String {
        let program = lang::parse("test.txt", text).expect("a right text").program;
        let changes: Vec<Change> = program.instructions_at().filter_map(|(at, known)| change(at, known)).collect();
        edited(text, &program, &changes).expect("fences can be written")
    }

    fn all_fenced(text: &str) -> String {
        with(text, |at, _| Some(Change::FenceAfter(at)))
    }

    #[test]
    fn a_fence_is_a_state_between() {
        let text = "thread t\n  initial a\n  transition a # here\n b write 1 0 # x\n  transition b a_f1 lock transition a_f1 c unlock\nend\n";
        assert_eq!(
            all_fenced(text),
            "thread t\n  initial a\n  transition a # here\n a_f2 write 1 0 # x\n  transition a_f2 b mfence\n  \
             transition b a_f1 lock transition a_f1 a_f1_f1 unlock\n  transition a_f1_f1 c mfence\nend\n"
        );
        let text = "program p vars x procs process q regs init a begin\n a : x = 1 ; goto b; b:skip;goto a\nend";
        assert_eq!(
            all_fenced(text),
            "program p vars x procs process q regs init a begin\n a : x = 1 ; goto a_f1\n a_f1 : fence ; goto b; \
             b:skip;goto b_f1\n b_f1 : fence ; goto a\nend"
        );
    }

    #[test]
    fn nothing_becomes_atomic() {
        let text = "thread t initial a transition a b write 1 0 end";
        let program = lang::parse("test.txt", text).expect("a right text").program;
        let changes: Vec<Change> = program.instructions_at().map(|(at, _)| Change::Atomic(at)).collect();
        assert_eq!(edited(text, &program, &changes), Err(CannotWrite::Atomic));
    }

    /// A fence of this kind at the instruction of this name.
    fn at(name: &str, change: fn(At) -> Change) -> impl Fn(At, &Instruction) -> Option<Change> {
        move |at, instruction| (instruction.name == name).then(|| change(at))
    }

    #[test]
    fn a_fence_at_a_state_is_one_for_all_ways_into_it() {
        // The thread starts in the state, and a region leads there; another thread has a state of the same name.
        let text = "thread t\ninitial a\ntransition a b read r 0\ntransition b a write 1 1\ntransition b c lock\n transition c a unlock # d\nend\nthread u initial a transition a a noop end\n";
        let expected = "thread t\ninitial a\ntransition a b read r 0\ntransition b a_f1 write 1 1\ntransition b c lock\n transition c a_f1 unlock # d\n transition a_f1 a mfence\nend\nthread u initial a transition a a noop end\n";
        assert_eq!(with(text, at("b-a", Change::FenceAtTarget)), expected);
        assert_eq!(with(text, at("a-b", Change::FenceBefore)), expected);
        // By two instructions that lead there it is said twice, and put in once.
        let all = |at, instruction: &Instruction| (instruction.to.0 == 0).then_some(Change::FenceAtTarget(at));
        let both = with(text, all);
        assert_eq!(both.matches("mfence").count(), 2, "one in each thread: {both}");
        // What is behind a fence after an instruction leads to the one at the state.
        let two = |at, instruction: &Instruction| match &*instruction.name {
            "b-a" => Some(Change::FenceAfter(at)),
            "a-b" => Some(Change::FenceBefore(at)),
            _ => None,
        };
        assert!(with(text, two).contains("transition b b_f1 write 1 1\ntransition b_f1 a_f1 mfence\n"));
        let text = "program p vars x procs process q regs init a begin\n a : x = 1 ; goto b; b:skip;goto a\n b : skip; goto b;\nend";
        assert_eq!(
            with(text, at("b-a", Change::FenceBefore)),
            "program p vars x procs process q regs init a begin\n a : x = 1 ; goto b_f1; b:skip;goto a\n b : skip; goto b_f1;\n b_f1 : fence ; goto b\nend"
        );
    }
}
