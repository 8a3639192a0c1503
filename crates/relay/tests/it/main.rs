//! Both ends of a connection, in one process and over WebSockets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without `&`")]

mod binary;
mod credit;
mod deadline;
mod environment;
mod flow;
mod heartbeat;
mod hello;
mod histories;
mod lifecycle;
mod lost;
mod rules;
mod socket;
mod streams;
mod support;
