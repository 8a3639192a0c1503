//! The runtime by itself: sessions with a real agent process, watched over a real socket, without a daemon.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which are outside of test functions")]

mod lost;
mod observed;
mod runtime;
mod secrets;
mod silent_agent;
