//! Workers as people see them through the hub, against a runtime that does as it is told.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod access;
mod bus;
mod faults;
mod histories;
mod policy;
mod relay;
mod viewer;
mod watched;
