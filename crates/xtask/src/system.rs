//! Installs Debian packages that the tests need.

use std::{fs, os::unix::fs::MetadataExt};

use crate::sh;

/// Installs `package` unless `program` is there. Without root or apt it prints what is missing: the tests that need the
/// program then fail and say so.
pub(crate) fn install(program: &str, package: &str, needed_by: &str) -> anyhow::Result<()> {
    if sh::is_there(program, &[]) {
        return Ok(());
    }
    let is_root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
    if is_root && sh::is_there("apt-get", &[]) {
        sh::run("apt-get update --quiet")?;
        return sh::run(&format!("apt-get install --yes --quiet --no-install-recommends {package}"));
    }
    println!("{package} is not installed, so {needed_by} will fail: run `apt-get install {package}` as root");
    Ok(())
}
