//! Load generators and floors for `cargo xtask bench`.
//!
//! Two programs are built of this: `bench-stub`, the agent behind every server that is measured, and `bench-load`,
//! which starts the servers, loads them and prints what it saw as JSON. They share the cores with what they measure, so
//! they speak HTTP by hand, count by looking at bytes, and allocate nothing while the clock runs.

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
