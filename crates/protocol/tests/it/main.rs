//! What other languages are tested with too.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which are outside of test functions")]

mod case;
mod fold;
