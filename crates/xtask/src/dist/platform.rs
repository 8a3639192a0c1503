//! The platforms that the program is published for.

use std::{collections::BTreeMap, fs};

use anyhow::Context;
use serde::Deserialize;

use crate::npm::NpmWorkspace;

/// A platform that npm can distinguish from others. They are listed in `cli/platforms.json`, which the launcher reads too.
#[derive(Debug, Deserialize)]
pub(super) struct Platform {
    /// `process.platform` and `process.arch` of Node, such as `linux-x64`.
    #[serde(skip)]
    pub(super) name: String,
    /// Target triple of rustc.
    pub(super) target: String,
    pub(super) os: String,
    pub(super) cpu: String,
    pub(super) libc: String,
}

impl Platform {
    pub(super) fn all() -> anyhow::Result<Vec<Self>> {
        let file = NpmWorkspace::typescript().directory().join("cli/platforms.json");
        let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
        let platforms: BTreeMap<String, Self> = serde_json::from_str(&text)?;
        Ok(platforms.into_iter().map(|(name, platform)| Self { name, ..platform }).collect())
    }

    pub(super) fn for_target(target: &str) -> anyhow::Result<Self> {
        let found = Self::all()?.into_iter().find(|platform| platform.target == target);
        found.with_context(|| format!("no package is published for {target}: add it to cli/platforms.json"))
    }

    /// The npm package that contains the program for this platform.
    pub(super) fn package_name(&self) -> String {
        format!("@tombolo/cli-{}", self.name)
    }
}
