//! The program as its users meet it: real processes, real sockets, one home per test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod acp;
mod cli;
mod daemon;

use std::time::Duration;

/// The program under test.
const TOMBOLO: &str = env!("CARGO_BIN_EXE_tombolo");

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
