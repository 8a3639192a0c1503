//! Load generators and floors for `cargo xtask bench`.
//!
//! Two programs are built from this crate. `bench-stub` is the agent behind every measured server. `bench-load`
//! starts the servers, generates load and prints its measurements as JSON.
//!
//! Both programs share the cores with the server under test, so CPU time that they use makes the server look slower.
//! They therefore write HTTP by hand, count messages by searching bytes instead of parsing JSON, and allocate their
//! buffers before a measurement starts.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark fails by panicking")]

mod bench_setup;
mod clock;
mod closed_loop_load;
mod device_process;
pub mod floor;
mod http;
mod json_rpc;
mod kill_with_parent;
mod line_counter;
mod machine;
pub mod measure;
mod piece_stamp;
mod relay_connection;
mod relay_hub;
mod run_report;
mod server_process;
mod session_event_reader;
mod spinners;
mod stream_readers;
pub mod stub_agent;
mod stub_session;
mod websocket_watcher;

use testkit::proc;

pub use bench_setup::{BenchSetup, SystemUnderTest};
pub use machine::Machine;
pub use run_report::RunReport;
pub use spinners::{Spinners, spin};
