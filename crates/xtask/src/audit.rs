//! Licences, bans, sources and known faults of all dependencies.

use anyhow::bail;

use crate::sh;

pub(crate) fn run() -> anyhow::Result<()> {
    if !sh::is_there("cargo", &["deny"]) {
        bail!("cargo-deny is not installed: `cargo install cargo-deny --locked`");
    }
    sh::run("cargo deny check licenses bans sources")
}
