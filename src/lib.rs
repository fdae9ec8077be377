//! Finds where a concurrent program needs fences and locks to stay sequentially consistent on weak memory.
//!
//! seqcon takes the sequentially consistent state space of a program, or explores it from a specification, and tells
//! what can go wrong when the same program runs on TSO (x86), PSO (SPARC), ARMv7 or POWER, and how few fences and
//! locks prevent it. The modules are the stations of the data, in the order in which it passes them; a station only
//! knows those before it. Each one's page names the definition it implements ("method §n" is the section of the
//! method's description in `docs/method.md`). Which station knows which is drawn, and tested, in
//! `docs/architecture.md`.
//!
//! | station | computes | method |
//! |---|---|---|
//! | `text` | where something stands in a text, and how it is shown | |
//! | [`lang`] | programs, from specifications | |
//! | [`program`] | the one program representation and its evaluator | §1 |
//! | [`property`] | what can be asked of a program under a memory model | |
//! | [`specification`] | a text with its program, ready to be explored | |
//! | [`export`] | programs in other tools' languages | |
//! | [`explore`] | the state space of a program | §2 |
//! | [`lts`] | labels and transitions, from `.aut` text | §1 |
//! | [`outline`] | threads, instructions, control states and sites for fences, by number | §9 |
//! | [`facts`] | which label follows which, which are enabled together | §2 |
//! | [`memory`] | memory models as tables | §4 |
//! | `aeg` | the abstract event graph: vertices, dependencies, program order, conflicts | §3, §6 |
//! | `safety` | which accesses can overtake which | §5 |
//! | `cycles` | critical cycles, delays, torn instructions | §7, §8 |
//! | [`insertion`] | the fewest fences that meet what is asked for, by whomever | §9 |
//! | `placement` | where fences go, and which locks are taken by whom | §8, §9 |
//! | [`analysis`] | all of it, and the result that reports take | §10 |
//! | `caveat` | what must be known before an answer is believed | |
//! | `source` | where its instructions stand in a specification | |
//! | [`provenance`] | how to repeat a run | |
//! | [`report`] | text, CSV, JSON, HTML, DOT, SARIF, litmus tests | |
//! | `weak` | what a program does on weak memory, by execution | §10, §11 |
//! | [`repair`] | suggestions in the program and in its text | |
//! | `regular` | small regular languages: what store buffers can hold | |
//! | [`budget`] | what a command may use: time and memory | |
//! | `confirm` | which delays some run needs | §11 |
//! | [`trial`] | whether a program is right under a memory model, with suggestions put in | §10 |
//! | [`engines`] | published methods behind one trait: who decides which property | |
//! | [`check`] | what is wrong in a text, for editors | |
//! | [`fix`] | a specification with what it needs put in | §10 |
//!
//! What is linked is for users; the others are the crate's own, open to its tests alone (the feature `internals`).
//!
//! The shortest use of the library:
//!
//! ```
//! use seqcon::analysis::{Analysis, Options};
//! use seqcon::{Profile, facts, memory::MemoryModel};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store_buffering = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("lts/sb.aut");
//! let extraction = facts::load(&store_buffering, &facts::extract::Options::default(), &facts::extract::NoProgress)?;
//! let analysis = Analysis::new(extraction.facts, Profile::Sound);
//! let tso = MemoryModel::named("tso").expect("built in");
//! assert_eq!(analysis.run(&tso, &Options::default()).fences.len(), 2);
//! # Ok(())
//! # }
//! ```

/// Graphs and their algorithms, in the version that [`EventGraph`] is of.
pub use petgraph;

pub use aeg::{Accesses, EventGraph, Profile, Relation, Vertex};
pub use caveat::Caveat;
pub use cycles::{Atomicity, ConflictRule, Cycle, Delay, Findings, Listing, Segment};
pub use ids::{InstrId, ThreadId, VertexId};
pub use placement::cost::Costs;
pub use placement::{Method, Minimality, Placement};
pub use source::Source;
pub use weak::axiomatic;
pub use weak::verify::Verdict;

pub mod analysis;
pub mod budget;
pub mod check;
pub mod compare;
pub mod engines;
pub mod explore;
pub mod export;
pub mod facts;
pub mod fix;
pub mod insertion;
pub mod lang;
pub mod litmus;
pub mod lts;
pub mod memory;
pub mod ordering;
pub mod outline;
pub mod program;
pub mod property;
pub mod provenance;
pub mod repair;
pub mod report;
pub mod specification;
pub mod trial;

#[cfg(feature = "cli")]
pub mod cli;

// Dead code in these is found by the compiler, as nobody outside can use it; tests look inside.
cfg_if::cfg_if! {
    if #[cfg(feature = "internals")] {
        pub mod aeg;
        mod atomic_fences;
        pub mod caveat;
        pub mod confirm;
        pub mod cycles;
        pub mod environment;
        pub mod ids;
        pub mod kinds;
        pub mod natural;
        pub mod placement;
        pub mod readings;
        pub mod regular;
        pub mod safety;
        pub mod source;
        pub mod text;
        pub mod weak;
    } else {
        mod aeg;
        mod atomic_fences;
        mod caveat;
        mod confirm;
        mod cycles;
        mod environment;
        mod ids;
        mod kinds;
        mod natural;
        mod placement;
        mod readings;
        #[allow(dead_code, reason = "a whole kernel: not every operation has an engine that asks for it")]
        mod regular;
        mod safety;
        mod source;
        mod text;
        mod weak;
    }
}
