//! Installing, against a mirror on the loopback that serves archives of the shapes that the vendors have.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod bundle;
mod certificates;
mod faults;
mod installing;
mod login_key;
mod mirror;
mod real;
mod together;
mod verification;
