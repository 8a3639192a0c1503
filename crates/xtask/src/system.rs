//! Programs that come with the system.

use std::{fs, os::unix::fs::MetadataExt};

use crate::sh;

/// Installs a program where that is ours to do, and otherwise says what is missing: `needed_by` fails then.
pub(crate) fn install(program: &str, package: &str, needed_by: &str) -> anyhow::Result<()> {
    if sh::is_there(program, &[]) {
        return Ok(());
    }
    let is_root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
    if is_root && sh::is_there("apt-get", &[]) {
        sh::run("apt-get update --quiet")?;
        return sh::run(&format!("apt-get install --yes --quiet --no-install-recommends {package}"));
    }
    println!("{package} is missing: install it, or {needed_by} fail (`apt-get install {package}`)");
    Ok(())
}
