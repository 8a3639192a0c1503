//! The sandbox of commands that a device lends is made by bubblewrap, which comes with the system.

use std::{fs, os::unix::fs::MetadataExt};

use crate::sh;

/// Installs it where that is ours to do, and otherwise says what is missing: the tests of the sandbox fail then.
pub(crate) fn run() -> anyhow::Result<()> {
    if sh::is_there("bwrap", &[]) {
        return Ok(());
    }
    let is_root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
    if is_root && sh::is_there("apt-get", &[]) {
        sh::run("apt-get update --quiet")?;
        return sh::run("apt-get install --yes --quiet --no-install-recommends bubblewrap");
    }
    println!(
        "bubblewrap is missing: install it, or the tests of the sandbox fail (`apt-get install bubblewrap`)"
    );
    Ok(())
}
