//! Checks licences, bans and sources of all dependencies with cargo-deny.

use anyhow::bail;

use crate::sh;

pub(crate) fn run() -> anyhow::Result<()> {
    if !sh::is_there("cargo", &["deny"]) {
        bail!("cargo-deny is not installed: `cargo install cargo-deny --locked`");
    }
    sh::run("cargo deny check licenses bans sources")
}
