//! What programs do on weak memory, by execution: the analysis is checked against it (method §10).
//!
//! [`axiomatic`] enumerates the executions of a loop-free (or unrolled) program and keeps those that the axioms of a memory model allow.

pub mod axiomatic;
