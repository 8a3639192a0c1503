//! Test harness for the workspace's own tests and benchmarks: starts the real daemon and hub, reads their event
//! streams, and serves a scripted model to real agents.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test helper reports failure by panicking")]

mod daemon;
pub mod homes;
mod hub;
pub mod mirror;
pub mod model;
mod mounted;
pub mod proc;
mod sse;
pub mod tls;
mod within;

pub use self::sse::{Event, Events};
pub use daemon::{Daemon, DaemonOptions, users_places};
pub use hub::{Hub, HubOptions};
pub use mounted::Mounted;
pub use within::{within, within_blocking};
