//! The public behaviour of journals: one suite for both backends, and tests for the one on disk.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests, which are outside of test functions"
)]

mod backend;
mod file;
mod full_disk;
mod killed;
mod model;
mod store;
mod suite;
