//! The kinds of machines that there is a program for.

use std::{collections::BTreeMap, fs};

use anyhow::Context;
use serde::Deserialize;

use crate::{sh, typescript};

/// A kind of machine, as npm tells them apart.
#[derive(Debug, Deserialize)]
pub(super) struct Platform {
    /// As `process.platform` and `process.arch` have it.
    #[serde(skip)]
    pub(super) name: String,
    /// As rustc has it.
    pub(super) target: String,
    pub(super) os: String,
    pub(super) cpu: String,
    pub(super) libc: String,
}

impl Platform {
    /// All of them, which is what the launcher knows too.
    pub(super) fn all() -> anyhow::Result<Vec<Self>> {
        let file = typescript::workspace().join("cli/platforms.json");
        let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
        let known: BTreeMap<String, Self> = serde_json::from_str(&text)?;
        Ok(known.into_iter().map(|(name, platform)| Self { name, ..platform }).collect())
    }

    pub(super) fn of(target: &str) -> anyhow::Result<Self> {
        let found = Self::all()?.into_iter().find(|platform| platform.target == target);
        found.with_context(|| format!("there is no package for {target}: see cli/platforms.json"))
    }

    /// This machine's.
    pub(super) fn here() -> anyhow::Result<Self> {
        let about = String::from_utf8(sh::command("rustc").arg("-vV").output()?.stdout)?;
        let host = about.lines().find_map(|line| line.strip_prefix("host: "));
        Self::of(host.context("rustc does not say what this machine is")?)
    }

    /// The package that has the program.
    pub(super) fn package(&self) -> String {
        format!("@tombolo/cli-{}", self.name)
    }
}
