//! What the command `seqcon` does, run as users run it.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod abstraction_command;
mod adapters;
mod batch_command;
mod bounded_verdicts;
mod caveats;
mod check_command;
mod cli;
mod compare_command;
mod convert_command;
mod cycle_names;
mod double_access;
mod editors;
mod engines_and_properties;
mod explore_command;
mod fewest_command;
mod help;
mod html_at_first_sight;
mod html_report;
mod info;
mod limits;
mod litmus_command;
mod matrix_command;
mod models_by_rules;
mod never_command;
mod one_way;
mod ordering;
mod packages;
mod paper_table;
mod persistence_at_states;
mod persistence_command;
mod python;
mod readings;
mod readme;
mod runs;
mod several_models;
mod shards;
#[cfg(unix)]
mod streams_and_files;
mod summary_line;
mod terminal;
mod verify_command;
