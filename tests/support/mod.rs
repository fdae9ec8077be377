//! What several test files share. Each folder of tests is one program, which has this as its module `support`.

// Every folder of tests is a crate of its own and uses a part of this.
#![allow(dead_code)]

pub mod adapters;
pub mod all_cycles;
pub mod analyse;
pub mod chromium;
pub mod coded_models;
pub mod command;
pub mod corpus;
pub mod demands;
pub mod doubles;
pub mod engines;
pub mod herd;
pub mod interleavings;
pub mod litmus;
pub mod machines;
pub mod mcrl2;
pub mod mini;
pub mod mutation;
pub mod outcomes;
pub mod pages;
pub mod programs;
pub mod python;
pub mod random;
pub mod random_facts;
pub mod random_litmus;
pub mod random_mini;
pub mod random_ordered;
pub mod random_program;
pub mod random_programs;
pub mod random_slco;
pub mod reference;
pub mod repair;
pub mod rewriting;
pub mod shards;
pub mod split;
pub mod store_buffers;
pub mod tools;
pub mod traces;
pub mod trust;
pub mod waiting;

use seqcon::facts::extract::{Extraction, NoProgress, Options, extract};
use seqcon::lts::error::Error;
use seqcon::lts::source::Bytes;

/// Extracts the facts of a text.
pub fn facts_of(text: impl AsRef<[u8]>, options: &Options) -> Result<Extraction, Error> {
    let source = Bytes::from_bytes("test.aut", text.as_ref().to_vec())?;
    extract(&source, options, &NoProgress)
}

/// The message of the error that reading the text gives.
pub fn message_of(text: impl AsRef<[u8]>, options: &Options) -> String {
    match facts_of(text, options) {
        Ok(extraction) => panic!("this should be refused, but gave {extraction:?}"),
        Err(error) => error.to_string(),
    }
}

/// Runs `work` with so many rayon threads.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool").install(work)
}
