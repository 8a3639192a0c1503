//! Test harness for the workspace's own tests and benchmarks: starts the real daemon and hub, reads their event
//! streams, and serves a scripted model to real agents.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test helper reports failure by panicking")]

pub mod agent_setup;
pub mod download_mirror;
mod event_stream;
pub mod model;
pub mod proc;
mod server_child;
mod stderr_capture;
mod test_daemon;
mod test_hub;
pub mod tls_proxy;
mod tmpfs_mount;
mod user_cache_env;
mod within;

pub use event_stream::{EventStream, ServerSentEvent};
pub use test_daemon::{TestDaemon, TestDaemonOptions};
pub use test_hub::{TestHub, TestHubOptions};
pub use tmpfs_mount::{TmpfsMount, fill_disk, free_disk};
pub use user_cache_env::user_cache_env;
pub use within::{within, within_blocking};

/// Claude Code takes this variable as the word that a container protects the user. The machine of a developer or of CI may set
/// it, a user's does not, so no server of a test inherits it.
pub const IS_SANDBOX: &str = "IS_SANDBOX";
