//! What is known of something that is installed: `manifest.json` in its directory.

use std::{fs, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Fault;
use agent_catalog::{ComponentName, Platform, Version};

/// The name of the file.
pub(super) const NAME: &str = "manifest.json";

/// What is known of something that is installed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// What it is.
    pub component: ComponentName,
    /// Its version.
    pub version: Version,
    /// The machine that it is for.
    pub platform: Platform,
    /// Its program, below the directory that holds this file.
    pub program: String,
    /// Where it came from.
    pub source: String,
    /// The SHA-256 of the archive that it came in, if it came in one.
    pub sha256: Option<String>,
    /// Whether everything in it was compared with checksums that are published or pinned.
    pub verified: bool,
    /// When it was installed.
    pub installed_at: Timestamp,
}

impl Manifest {
    /// Of what is in `directory`; nothing if it is not whole.
    pub(crate) fn read(directory: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(directory.join(NAME)).ok()?).ok()
    }

    pub(crate) fn write(&self, directory: &Path) -> Result<(), Fault> {
        let doing = "write the manifest";
        let text =
            serde_json::to_vec_pretty(self).map_err(|error| Fault::Local { doing, source: error.into() })?;
        fs::write(directory.join(NAME), text).map_err(Fault::local(doing))
    }
}
