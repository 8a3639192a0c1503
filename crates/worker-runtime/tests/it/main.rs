//! The runtime without a daemon: sessions with a real agent process, observed over a real socket.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which are outside of test functions")]

mod lost;
mod observed;
mod runtime;
mod secrets;
mod silent_agent;
mod stored;
