//! What npm installed, as npm records it in `node_modules/.package-lock.json`.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;

use agent_catalog::Version;

use crate::{Fault, MissingChecksum, digest::Checksum};

/// npm's record of a tree of packages.
#[derive(Debug, Deserialize)]
pub(crate) struct Lockfile {
    #[serde(default)]
    packages: BTreeMap<String, LockedPackage>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LockedPackage {
    version: Option<String>,
    /// What the registry published. npm compares it with what it downloads, but installs a package without it as well.
    integrity: Option<String>,
    /// Whether it came inside of the package that needs it.
    #[serde(default)]
    in_bundle: bool,
    /// Whether it is a link to another package of the record.
    #[serde(default)]
    link: bool,
}

impl Lockfile {
    /// The record of what is in `modules`, a directory `node_modules`.
    pub(crate) fn read(modules: &Path) -> Result<Self, Fault> {
        let text = fs::read(modules.join(".package-lock.json"))
            .map_err(Fault::local("read npm's record of what it installed"))?;
        serde_json::from_slice(&text)
            .map_err(|error| Fault::Answer(format!("npm's record of what it installed is invalid: {error}")))
    }

    /// Whether npm verified every package.
    pub(crate) fn check_verified(&self) -> Result<(), MissingChecksum> {
        let unverified = self.packages.iter().find(|(_, package)| {
            !package.in_bundle && !package.link && Checksum::npm(package.integrity.as_deref(), None).is_none()
        });
        match unverified {
            Some((place, _)) => Err(MissingChecksum::Npm { package: name(place).to_owned() }),
            None => Ok(()),
        }
    }

    /// Whether `package` is the one whose checksum is `pinned`.
    pub(crate) fn check_pin(&self, package: &str, version: &Version, pinned: &Checksum) -> Result<(), Fault> {
        let is_meant = |(place, locked): &(&String, &LockedPackage)| {
            name(place) == package && locked.version.as_deref() == Some(version.as_str())
        };
        let mut found = self.packages.iter().filter(is_meant).peekable();
        if found.peek().is_none() {
            return Err(Fault::NoProgram(package.to_owned()));
        }
        for (_, locked) in found {
            let checksum = Checksum::npm(locked.integrity.as_deref(), None);
            if checksum.as_ref() != Some(pinned) {
                let found = checksum.map_or_else(|| "none".into(), |checksum| checksum.to_string());
                return Err(Fault::Checksum { expected: pinned.to_string(), found });
            }
        }
        Ok(())
    }
}

/// The package that is at `place`, such as `node_modules/a/node_modules/@b/c`.
fn name(place: &str) -> &str {
    place.rsplit_once("node_modules/").map_or(place, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=";
    const OTHER: &str = "sha1-C+7Hteo/D9vJXQ3UfzxbwnXaijM=";

    fn lockfile(packages: &serde_json::Value) -> Lockfile {
        let root = tempfile::tempdir().unwrap();
        let text = serde_json::json!({ "lockfileVersion": 3, "packages": packages }).to_string();
        fs::write(root.path().join(".package-lock.json"), text).unwrap();
        Lockfile::read(root.path()).unwrap()
    }

    #[test]
    fn a_package_without_a_usable_checksum_is_named() {
        let verified = lockfile(&serde_json::json!({
            "../x/node_modules/@a/b": { "version": "1.0.0", "integrity": RIGHT },
            "node_modules/@a/b/node_modules/c": { "version": "1.0.0", "inBundle": true },
            "node_modules/d": { "link": true, "resolved": "elsewhere" },
        }));
        assert_eq!(verified.check_verified(), Ok(()));
        for integrity in [serde_json::Value::Null, "".into(), "md99-AAAA".into()] {
            let unverified = lockfile(&serde_json::json!({
                "node_modules/a": { "version": "1.0.0", "integrity": RIGHT },
                "node_modules/a/node_modules/@b/c": { "version": "1.0.0", "integrity": integrity },
            }));
            let missing = MissingChecksum::Npm { package: "@b/c".into() };
            assert_eq!(unverified.check_verified(), Err(missing), "{integrity}");
        }
    }

    #[test]
    fn a_pinned_package_has_its_checksum() {
        let installed = lockfile(&serde_json::json!({
            "../x/node_modules/@a/b": { "version": "1.0.0", "integrity": RIGHT },
            "node_modules/c/node_modules/@a/b": { "version": "0.9.0", "integrity": OTHER },
        }));
        let checksum = |text| Checksum::pinned_npm(text).unwrap();
        let check = |package, version: &str, pinned| {
            installed.check_pin(package, &version.parse().unwrap(), &checksum(pinned))
        };
        check("@a/b", "1.0.0", RIGHT).unwrap();
        assert!(matches!(check("@a/b", "1.0.0", OTHER), Err(Fault::Checksum { .. })));
        assert!(matches!(check("@a/b", "2.0.0", RIGHT), Err(Fault::NoProgram(_))));
    }
}
