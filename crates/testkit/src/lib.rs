//! For our own tests and benchmarks: a harness for the real program, a reader of its streams,
//! a scripted model for real agents, load and floors.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test helper fails by panicking")]

pub mod bench;
mod daemon;
pub mod homes;
mod hub;
pub mod mirror;
pub mod model;
mod mounted;
mod sse;
pub mod tls;
mod within;

pub use daemon::{Daemon, DaemonOptions};
pub use hub::{Hub, HubOptions};
pub use mounted::Mounted;
pub use sse::{Event, Events};
pub use within::{within, within_blocking};
