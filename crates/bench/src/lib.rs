//! Load generators and floors for `cargo xtask bench`.
//!
//! Two programs are built from this crate. `bench-stub` is the agent behind every measured server. `bench-load`
//! starts the servers, generates load and prints its measurements as JSON.
//!
//! Both programs share the cores with the server under test, so CPU time that they use makes the server look slower.
//! They therefore write HTTP by hand, count messages by searching bytes instead of parsing JSON, and allocate their
//! buffers before a measurement starts.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark fails by panicking")]

mod chunked;
mod clock;
pub mod floor;
mod followed;
mod head;
mod http;
mod lab;
mod lent;
mod load;
pub mod measure;
mod readers;
mod report;
mod server;
mod session;
mod spinner;
mod stamp;
pub mod stub;
mod tally;
mod watchers;

use testkit::proc;

pub use lab::{Lab, Subject};
pub use report::{Machine, Report};
pub use spinner::{Spinners, spin};
