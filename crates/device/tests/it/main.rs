//! What a device does for whom it is lent to, over the engine of the relay, on real files and with real processes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without `&`")]
#![allow(clippy::disallowed_methods, reason = "a test may read its environment")]

mod agreed;
mod fileops;
mod full_disk;
mod methods;
mod owner;
mod shell;
mod support;
mod tools;
