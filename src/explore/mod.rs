//! The sequentially consistent state space of a program: explored breadth-first, in parallel, in memory.
//!
//! | part | holds |
//! |---|---|
//! | [`layout`] | how a state is packed into as few bits as its values need |
//! | [`forgetting`] | which locals are never read again |
//! | [`store`] | all states in the order of discovery |
//! | [`table`] | the table that finds them |
//! | [`successors`] | the steps of a state: taken instructions and blocked evaluations (method §2) |
//! | [`blocks`] | states expanded block by block, in parallel: for programs here, and for who has other states |
//! | [`collect`] | what a worker sees of its part of a block |
//! | [`driver`] | the parallel breadth-first search of a program |
//! | [`progress`] | what was found so far, repacked when a field becomes too narrow |
//! | [`run`] | the shortest run that leads to a state |
//! | [`watch`] | the same limits, for other searches |
//! | [`observe`] | who watches: facts on the fly, the `.aut` writer |
//!
//! States are numbered as a sequential breadth-first search finds them, whatever the number of threads: see [`driver`].

pub mod blocks;
mod collect;
pub mod driver;
mod forgetting;
pub mod layout;
pub mod observe;
mod progress;
mod run;
pub mod store;
pub mod successors;
pub mod table;
pub mod watch;

pub use driver::{Exploration, Limits, Stop, Violation, explore};
