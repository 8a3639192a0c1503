//! The journal as its users see it: one suite for both backends, and what only the one on disk can do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests, which are outside of test functions"
)]

mod backend;
mod file;
mod killed;
mod model;
mod store;
mod suite;
