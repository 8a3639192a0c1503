//! One real server process, shared by many sessions.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod opencode;
