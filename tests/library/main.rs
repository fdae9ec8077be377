//! What the library answers, on texts, bundled programs and the corpus.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod array_names;
mod arrows;
mod aut_reading;
mod automata_parsing;
mod bad_input;
mod bundled_state_spaces;
mod cat_models;
mod changing_files;
mod comments;
mod corpus_facts;
mod dot;
mod export;
mod facts_files;
mod graph_reading;
mod kinds;
mod known_answers;
mod label_dialects;
mod lasting_names;
mod litmus_corpus;
mod litmus_export;
mod litmus_herd;
mod litmus_languages;
mod litmus_reading;
mod memorax_table;
mod ordering;
mod parquet_tools;
mod partial_coherence_tables;
mod passed_twice;
mod property_ladder;
mod property_specifications;
mod published_facts;
mod regressions;
mod remmex_conditions;
mod remmex_parsing;
mod remmex_programs;
mod remmex_tables;
mod rmm_corpus;
mod rmm_fences;
mod rmm_parsing;
mod runs;
mod sarif;
mod shards;
mod slco_document;
mod slco_habits;
mod slco_parsing;
mod slco_properties;
mod specification_headers;
mod specifications;
mod sql_engines;
mod svg;
mod toys;
mod unseen_steps;
