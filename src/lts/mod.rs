//! State spaces: reading `.aut` and Parquet files and understanding their labels.
//!
//! The data passes the files in this order: [`source`] maps or reads the bytes, [`aut`] cuts them into transitions
//! without copying anything (a graph in the [`dot`] language is translated first), [`space`] hands these out in chunks
//! and batches, [`dialect`] turns each distinct label text into a [`label::Label`]. [`writer`] and [`output`] go the
//! other way, [`copy`](mod@copy) goes from one file to another, and [`parquet`] knows tables. What is wrong with an
//! input is an [`Error`](error::Error) that names file, line and column.

pub mod aut;
pub mod copy;
pub mod dialect;
pub mod dot;
pub mod error;
pub mod label;
pub mod output;
pub mod parquet;
pub mod source;
pub mod space;
pub mod writer;

/// How a facts file begins, of whatever version: what is read in place of a state space.
pub const FACTS: &str = "seqcon-facts ";

/// Whether a text is a facts file, of this version or another, by its first bytes.
#[must_use]
pub fn is_facts(bytes: &[u8]) -> bool {
    bytes.starts_with(FACTS.as_bytes())
}
