//! What holds of random programs and texts.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod automata_semantics;
mod beginnings;
mod buffer_automata;
mod deadlocks;
mod exploration;
mod facts_extraction;
mod kinds;
mod kinds_of_programs;
mod partial_coherence;
mod persistence;
mod persistence_abstraction;
mod property_cycles;
mod property_determinism;
mod property_insertion;
mod property_placement;
mod property_repair;
mod property_unsafe_pairs;
mod property_witnesses;
mod quotients;
mod regular_languages;
mod robustness_bounds;
mod single_buffer;
mod slco_mutations;
mod state_space_formats;
mod store_buffers_engine;
mod store_fence_costs;
mod store_fences;
