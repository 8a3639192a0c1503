//! Real MCP clients over HTTP, and a device in memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without `&`")]

mod calls;
mod descriptions;
mod device;
mod raw;
mod revisions;
mod sessions;
mod stage;
