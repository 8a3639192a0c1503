//! User processes: real programs, with pipes and terminals.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod ending;
mod limits;
mod pipes;
mod starting;
mod support;
mod terminal;
