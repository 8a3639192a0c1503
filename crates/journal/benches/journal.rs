//! How fast the journals are.
fn main() {}
