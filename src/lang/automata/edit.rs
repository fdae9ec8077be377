//! Puts fences into the text of a program: a state between, and a transition with the fence from there on. Everything else stays byte for byte as it is.
//!
//! ```text
//! transition q0 q1 write 1 0            transition q0 q0_f1 write 1 0
//!                                       transition q0_f1 q1 mfence
//! q0 : x = 1 ; goto q1                  q0 : x = 1 ; goto q0_f1
//!                                       q0_f1 : fence ; goto q1
//! ```
//!
//! A transition makes one access, so a fence never belongs inside of it. What is said of one copy of a thread is put into all of them, since they have one text.

use super::syntax::Transition;
use super::{paper, tools};
use crate::program::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The text with a fence after each of these instructions, given by their spans.
#[must_use]
pub fn fenced(text: &str, transitions: &BTreeSet<Span>) -> String {
    let is_paper = paper::is_one(text);
    let source = if is_paper { paper::parse(text) } else { tools::parse("", text) };
    // A text that was read once is read again.
    let Ok(source) = source else { return text.to_owned() };
    let all = || source.threads.iter().flat_map(|thread| &thread.transitions);
    let by_end: HashMap<usize, &Transition> = all().map(|transition| (transition.span.end, transition)).collect();
    let mut names: HashSet<String> =
        all().flat_map(|transition| [&transition.from, &transition.to]).map(|name| name.text.clone()).collect();
    let mut replaced: BTreeMap<usize, (Span, String)> = BTreeMap::new();
    let mut added: BTreeMap<usize, String> = BTreeMap::new();
    // A region ends where its `unlock` does.
    for transition in transitions.iter().filter_map(|span| by_end.get(&span.end)) {
        let (from, to) = (&transition.from.text, &transition.to);
        let mut number = 1;
        let between = loop {
            let candidate = format!("{from}_f{number}");
            if names.insert(candidate.clone()) {
                break candidate;
            }
            number += 1;
        };
        let line_start = text[..transition.span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent: String = text[line_start..].chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        added.insert(
            transition.span.end,
            match is_paper {
                true => format!("\n{indent}{between} : fence ; goto {}", to.text),
                false => format!("\n{indent}transition {between} {} mfence", to.text),
            },
        );
        replaced.insert(to.span.start, (to.span, between));
    }
    let mut result = String::with_capacity(text.len() + 40 * transitions.len());
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

#[cfg(test)]
mod tests {
    use super::fenced;
    use crate::lang;
    use std::collections::BTreeSet;

    fn all_fenced(text: &str) -> String {
        let program = lang::parse("test.txt", text).expect("a right text").program;
        let instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
        fenced(text, &instructions.map(|instruction| instruction.span).collect::<BTreeSet<_>>())
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
}
