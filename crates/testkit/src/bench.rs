//! Load generators and floors for `cargo xtask bench`.
