//! For our own tests and benchmarks: a harness for the real program, a reader of its streams, load and floors.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test helper fails by panicking")]

pub mod bench;
mod daemon;
pub mod mirror;
mod sse;
mod within;

pub use daemon::{Daemon, DaemonOptions};
pub use sse::{Event, Events};
pub use within::{within, within_blocking};
