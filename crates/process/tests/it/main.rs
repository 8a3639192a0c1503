//! Misbehaving children, all of them real processes.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly, and may read its environment"
)]

mod support;

mod lines;
mod orphans;
mod parent;
mod pty;
mod raw;
mod spawn;
mod stderr;
mod stdin;
mod stop;
