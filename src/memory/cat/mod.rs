//! Memory models as texts in the language *cat* (Alglave, Cousot and Maranget, "Syntax and semantics of the weak
//! consistency model specification language cat", 2016), as far as the models here need it.
//!
//! | step | module |
//! |---|---|
//! | text → words → statements, with places | [`lexer`], [`parser`], [`syntax`] |
//! | statements → a graph of typed nodes, with polarity | [`compile`], [`graph`] |
//! | base sets and relations | [`names`] |
//! | events, and how they communicate | [`execution`] |
//! | axioms on an execution | [`evaluate`], [`matrix`] |
//!
//! What is read: `let`, `let rec … and …`, functions, `include`, `acyclic`, `irreflexive` and `empty` (with `~`,
//! `flag`, `as`), the operators `| & \ ; * + ? ^-1 ~ [S] S*T`, `domain`, `range`, `0`, `_`. A text is typed (sets and
//! relations) when it is read. `show` and `unshow` are passed over.
//!
//! The built-in models are in `src/memory/cat/models/`, one file each ([`builtin`]).
//!
//! ```
//! use seqcon::memory::cat::Axioms;
//!
//! assert!(Axioms::from_text("mine.cat", "acyclic po | rf | co | fr as sc").is_ok());
//! let error = Axioms::from_text("mine.cat", "acyclic po | rfx").unwrap_err().to_string();
//! assert!(error.starts_with("mine.cat:1:14: error: there is no set or relation `rfx`"), "{error}");
//! ```

pub mod axioms;
mod compile;
pub mod error;
pub mod evaluate;
pub mod execution;
pub mod graph;
pub mod lexer;
pub mod matrix;
pub mod names;
pub mod parser;
pub mod relation;
pub mod syntax;

pub use axioms::{Axioms, Refusal};
pub use error::CatError;

use super::Known;
use std::sync::{Arc, OnceLock};

/// The text of a built-in model, if it has axioms.
#[must_use]
pub fn text(known: Known) -> Option<&'static str> {
    match known {
        Known::Sc => Some(include_str!("models/sc.cat")),
        Known::Tso => Some(include_str!("models/tso.cat")),
        Known::Pso => Some(include_str!("models/pso.cat")),
        Known::Armv8 => Some(include_str!("models/armv8.cat")),
        Known::Riscv => Some(include_str!("models/riscv.cat")),
        Known::Armv7 => Some(include_str!("models/armv7.cat")),
        Known::Power => Some(include_str!("models/power.cat")),
        Known::Rc11 => Some(include_str!("models/rc11.cat")),
        Known::Rmo | Known::Alpha => None,
    }
}

/// The axioms of a built-in model, if it has some; each text is read once.
///
/// # Panics
/// Never: a unit test reads every built-in text.
#[must_use]
pub fn builtin(known: Known) -> Option<Arc<Axioms>> {
    static READ: [OnceLock<Arc<Axioms>>; Known::ALL.len()] = [const { OnceLock::new() }; Known::ALL.len()];
    let text = text(known)?;
    let read = || {
        let axioms = Axioms::embedded(&format!("{known}.cat"), text);
        Arc::new(axioms.unwrap_or_else(|error| panic!("built-in models are well-formed: {error}")))
    };
    let position = Known::ALL.iter().position(|other| *other == known)?;
    Some(Arc::clone(READ[position].get_or_init(read)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_text_is_read_and_forbids_early_whatever_it_forbids() {
        for known in Known::ALL {
            let Some(axioms) = builtin(known) else { continue };
            assert!(axioms.is_coherent(), "{known}");
            let monotone = axioms.axioms().iter().filter(|axiom| !axiom.is_flag).all(|axiom| axiom.is_monotone);
            assert!(monotone, "{known}");
            assert!(axioms.axioms().iter().all(|axiom| axiom.name.is_some()), "{known}");
        }
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        for (text, expected) in [
            ("acyclic po |", "t.cat:1:13: error: expected a set or a relation, found the end of the text"),
            ("let x = po\nacyclic y", "t.cat:2:9: error: there is no set or relation `y`"),
            ("acyclic po-lok", "did you mean `po-loc`?"),
            ("acyclic [po]", "t.cat:1:10: error: this is a relation, and a set is expected"),
            ("acyclic R", "t.cat:1:9: error: this is a set, and a relation is expected"),
            ("acyclic po | R", "this is a relation, and a set is expected"),
            ("acyclic po * po", "this is a relation, and a set is expected"),
            ("acyclic R;po", "this is a set, and a relation is expected"),
            ("let f(x) = x\nacyclic f", "`f` is a function"),
            ("let f(x) = x\nacyclic f(po, po)", "`f` takes 1 arguments, here are 2"),
            ("acyclic po(rf)", "`po` is no function"),
            ("let rec f(x) = x", "cannot be recursive"),
            ("let rec r = po \\ r\nacyclic r", "it has no least solution"),
            ("let rec r = po | ~s and s = r\nacyclic r", "it has no least solution"),
            ("acyclic (po", "expected `)`"),
            ("(* a (* b *) acyclic po", "this comment does not end"),
            ("include \"x.cat\"", "only files can include files"),
            ("procedure f() = end", "is no part of the cat that is read here"),
            ("acyclic po ! rf", "`!` begins no word of cat"),
            ("let x = po in acyclic x", "write two `let`s"),
            ("acyclic po as", "expected the name of the axiom"),
            ("flag po", "expected `acyclic`, `irreflexive` or `empty`"),
        ] {
            let error = Axioms::from_text("t.cat", text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn hostile_texts_are_refused_and_long_ones_are_not() {
        let deep = |open: &str, close: &str| format!("empty {}po{}", open.repeat(50_000), close.repeat(50_000));
        let functions: String = (1..60).map(|n| format!("let f{n}(x) = f{}(x) | f{}(x^-1)\n", n - 1, n - 1)).collect();
        let chain: String = (1..5000).map(|n| format!("let f{n}(x) = f{}(x)\n", n - 1)).collect();
        for text in [
            deep("(", ")"),
            deep("[domain(", ")]"),
            deep("~", ""),
            deep("", "^-1"),
            deep("po \\ ", ""),
            deep("f ", ""),
            deep("(po;", ")"),
            format!("let f0(x) = x\n{functions}empty f59(po)"),
            format!("let f0(x) = x\n{chain}empty f4999(po)"),
        ] {
            let error = Axioms::from_text("t.cat", &text).expect_err("hostile").to_string();
            assert!(error.contains("nested") || error.contains("too large"), "{error}");
        }
        let long = format!("acyclic po {}", "| rf ; co & fr ".repeat(5000));
        assert!(Axioms::from_text("t.cat", &long).is_ok());
    }

    #[test]
    fn precedence_is_that_of_herd() {
        let node = |text: &str| {
            let axioms = Axioms::from_text("t.cat", &format!("empty {text}")).unwrap_or_else(|error| panic!("{error}"));
            let graph = axioms.graph();
            let shown = graph.nodes.iter().map(|node| format!("{:?}", node.op)).collect::<Vec<_>>();
            (shown, axioms.axioms()[0].operand)
        };
        for (bare, with_brackets) in [
            ("po | rf ; co", "po | (rf ; co)"),
            ("po ; rf \\ co", "po ; (rf \\ co)"),
            ("po ; rf & co", "po ; (rf & co)"),
            ("po \\ rf & co", "po \\ (rf & co)"),
            ("po \\ rf \\ co", "(po \\ rf) \\ co"),
            ("R*W & po", "(R*W) & po"),
            ("~po^-1 & rf", "(~(po^-1)) & rf"),
            ("~R*W", "(~R)*W"),
            ("po* ; rf", "(po*) ; rf"),
            ("po* | rf", "(po*) | rf"),
            ("fencerel SYNC ; po", "fencerel(SYNC) ; po"),
            ("po+?^-1", "((po+)?)^-1"),
        ] {
            assert_eq!(node(bare), node(with_brackets), "{bare}");
        }
    }

    #[test]
    fn names_with_two_meanings_are_what_is_wanted() {
        let same = ["let sync = po;[sync];po\nempty sync", "empty sync", "empty fencerel(sync)", "empty po;[SYNC];po"];
        let ops = |text: &str| {
            let axioms = Axioms::from_text("t.cat", text).unwrap_or_else(|error| panic!("{error}"));
            axioms.graph().nodes.iter().map(|node| format!("{:?}", node.op)).collect::<Vec<_>>()
        };
        same.iter().for_each(|text| assert_eq!(ops(text), ops(same[0]), "{text}"));
        let of_c11 = Axioms::from_text("t.cat", "empty [A] | [ACQ]").unwrap();
        let of_arm = Axioms::from_text("t.cat", "empty [A] | [Q]").unwrap();
        let first = |axioms: &Axioms| axioms.graph().nodes[0].op.clone();
        assert_ne!(first(&of_c11), first(&of_arm));
    }
}
