//! Random edits of SLCO models: whatever comes out is read, or refused with errors inside the text.

use crate::support::mutation::{Guard, mutate};
use crate::support::random::random_cases;
use rand::Rng;
use seqcon::lang::{self, Parsed};
use seqcon::program::InstructionKind;
use std::collections::BTreeSet;

/// Small models that together use all of the grammar.
const MODELS: [&str; 3] = [
    "model m { classes C { variables Byte x y := 3 Boolean[2] f := [false, true] state machines P { variables Integer z
initial A states B transitions A -> B { x := y + 1; f[1]; [f[0] and z = 1; y := -x; f[x] := not true] } 1: from B to A
} } objects o : C(y := 4) }",
    "model s { /* store buffering */ classes C { variables Integer x y state machines
t { variables Integer r initial a states b c transitions a -> b { x := 1; fence } b -> c { r := y } } // left
u { variables Integer r initial a states b c transitions a -> b { y := 1 } 2: b -> c { atomic [x = 0; r := x] } } }
objects one : C(), two : C(x := 1) }",
    "model k { classes Empty { } L { variables Byte[3] next state machines w { variables Byte i max initial a
transitions from a to a { [i < 3 or (next[i] > max % 2 ** 2) xor i <> 0; i := i - 1] } } } objects e : Empty(), l : L() }",
];

/// What is inserted by a mutation.
const FRAGMENTS: [&str; 24] = [
    "}",
    "{",
    "[",
    "]",
    "(",
    ")",
    ";",
    ":=",
    "->",
    "from",
    "to",
    "state machines",
    "variables",
    "transitions",
    "x",
    "initial",
    "-1",
    "0",
    "99999999999999999999",
    "/*",
    "not",
    "é",
    "\t\0",
    "objects",
];

#[test]
fn mutated_models_are_accepted_or_refused_with_errors_inside_the_text() {
    for text in MODELS {
        lang::parse("model.slco", text).unwrap_or_else(|errors| panic!("{errors}"));
    }
    let guard = Guard::new("SLCO");
    random_cases(4000, |rng| {
        let text = mutate(MODELS[rng.random_range(0..MODELS.len())], &FRAGMENTS, rng);
        match guard.watched(&text, |text| lang::parse("model.slco", text)) {
            Ok(Parsed { program, warnings, .. }) => {
                for warning in &warnings {
                    assert!(warning.span.start <= warning.span.end && warning.span.end <= text.len(), "{text}");
                }
                for thread in &program.threads {
                    let (mut names, mut number) = (BTreeSet::new(), 0);
                    for instruction in &thread.instructions {
                        // Fences take no number.
                        let is_fence =
                            matches!(instruction.kind, InstructionKind::Fence | InstructionKind::PartialFence(_));
                        assert_eq!(is_fence, instruction.name.contains('f'), "{text}");
                        if !is_fence {
                            assert_eq!(instruction.name, number.to_string());
                            number += 1;
                        }
                        assert!(names.insert(&instruction.name), "{text}");
                        assert!(instruction.from.max(instruction.to).index() < thread.states.len(), "{text}");
                        assert!(text.get(instruction.span.start..instruction.span.end).is_some(), "{text}");
                    }
                }
            }
            Err(diagnostics) => {
                assert!(!diagnostics.errors().is_empty());
                for error in diagnostics.errors() {
                    assert!(text.get(error.span.start..error.span.end).is_some(), "{error:?}\n{text}");
                }
                assert!(diagnostics.to_string().contains("error: "));
            }
        }
    });
}
