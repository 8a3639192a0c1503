//! Builds programs as they are published: with the profile `dist`, and with flags that a profile cannot hold.

use std::path::PathBuf;

use anyhow::Context;

use crate::sh;

/// The target whose default linker is lld.
const LLD_TARGET: &str = "x86_64-unknown-linux-gnu";

/// The linker script that discards unwind tables.
const UNWIND_TABLES_SCRIPT: &str = "crates/cli/no-unwind-tables.ld";

/// A build of the profile `dist` for one target.
#[derive(Debug)]
pub(crate) struct PublishedBuild {
    target: String,
}

impl PublishedBuild {
    /// A build for this machine.
    pub(crate) fn for_host() -> anyhow::Result<Self> {
        let about = String::from_utf8(sh::command("rustc").arg("-vV").output()?.stdout)?;
        let host = about.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(Self { target: host.context("`rustc -vV` does not print the host")?.to_owned() })
    }

    /// A build for the target triple `target`.
    pub(crate) fn for_target(target: &str) -> Self {
        Self { target: target.to_owned() }
    }

    /// The target triple.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Builds the programs of a package and returns the directory that contains them.
    ///
    /// The target is always named, even if it is this machine: otherwise cargo would use the flags for procedural macros and
    /// build scripts too, which do need unwind tables.
    pub(crate) fn build(&self, package: &str) -> anyhow::Result<PathBuf> {
        let mut cargo = sh::command("cargo");
        cargo.args(["build", "--profile", "dist", "--package", package, "--bins", "--target", &self.target]);
        cargo.arg("--config").arg(format!("build.rustflags={:?}", self.flags()));
        sh::status(&mut cargo)?;
        Ok(sh::target_dir()?.join(&self.target).join("dist"))
    }

    /// Flags for lld: the default linker of one target only. GNU ld cannot fold functions.
    fn flags(&self) -> Vec<String> {
        if self.target != LLD_TARGET {
            return Vec::new();
        }
        vec![
            // Derived code is often the same for several types.
            "-Clink-arg=-Wl,--icf=all".to_owned(),
            // The program is stripped and aborts on a panic, so only a debugger would read its unwind tables. They took
            // 2.5 of 26 MB. A panic still prints its message and place.
            format!("-Clink-arg=-Wl,-T,{}", sh::root().join(UNWIND_TABLES_SCRIPT).display()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    /// The crates with a level of their own in a profile of the workspace's manifest.
    fn crates_of(profile: &str) -> BTreeSet<String> {
        let manifest = fs::read_to_string(sh::root().join("Cargo.toml")).unwrap();
        let (_, section) = manifest.split_once(&format!("[profile.{profile}.package]\n")).unwrap();
        let lines = section.lines().take_while(|line| !line.starts_with('['));
        lines.filter_map(|line| Some(line.split_once(" = {")?.0.to_owned())).collect()
    }

    /// `dist` inherits what it does not name, so a crate that `release` leaves unoptimised would be published like that.
    #[test]
    fn dist_names_every_crate_that_release_names() {
        let (release, dist) = (crates_of("release"), crates_of("dist"));
        assert!(!release.is_empty());
        assert_eq!(release.difference(&dist).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}
