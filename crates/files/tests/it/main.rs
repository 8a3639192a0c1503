//! The crate as its callers see it: real directories, hostile neighbours.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod append;
mod atomic;
mod hostile;
mod jail;
mod listing;
mod race;
mod remove;
mod rename;
mod stream;
mod support;
mod unpack;
