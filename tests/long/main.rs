//! What takes longest: random programs by the thousand under weak machines, and the larger parts of the corpus.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod axiomatic_machines;
mod differential_store_buffers;
mod fewest;
mod outside_judges;
mod parser_mutations;
mod persist_families;
mod persist_table;
mod robustness_corpus;
mod trencher_counts;
mod trust;
mod weak_machines;
