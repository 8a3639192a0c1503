//! The public behaviour, in real directories and with hostile concurrent processes.
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
