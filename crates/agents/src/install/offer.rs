//! One place that a component can be had from: a source of its row, by itself or through a mirror.

use std::collections::BTreeMap;

use super::{
    Fault,
    http::{Mirror, host},
};
use crate::{Component, Platform, Source, Version};

/// One place that a component can be had from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) source: &'a Source,
    pub(crate) mirror: Option<&'a Mirror>,
    pub(crate) platform: Platform,
}

/// Everything that a component can be had from on `platform`, in the order in which it is tried.
pub(crate) fn offers<'a>(row: &'a Component, platform: Platform, mirrors: &'a [Mirror]) -> Vec<Offer<'a>> {
    let serving = row.sources.iter().filter(|source| source.serves(platform));
    serving
        .flat_map(|source| {
            let mirrored = match source {
                Source::Download { url, .. } => mirrors.iter().filter(|mirror| mirror.serves(url)).collect(),
                _ => Vec::new(),
            };
            let through = mirrored.into_iter().map(Some).chain([None]);
            through.map(move |mirror| Offer { source, mirror, platform })
        })
        .collect()
}

impl Mirror {
    fn serves(&self, url: &str) -> bool {
        // The URL of a registry's row is the name of the platform: it is only known later.
        url.starts_with('{') || self.place(url).is_some()
    }
}

impl Offer<'_> {
    /// What it is, for people.
    pub(crate) fn label(&self) -> String {
        match (self.source, self.mirror) {
            (_, Some(mirror)) => format!("mirror {}", host(&mirror.to)),
            (Source::Download { url, .. }, None) => {
                format!("download from {}", host(&self.fill(url, "0").unwrap_or_default()))
            }
            (Source::NpmTarball { package, .. }, None) => {
                format!("npm tarball {}", self.fill(package, "0").unwrap_or_default())
            }
            (Source::NpmInstall { package, .. }, None) => format!("npm package {package}"),
            (Source::Pypi { packages, .. }, None) => {
                let names: Vec<_> = packages.iter().filter_map(|package| package.split('=').next()).collect();
                format!("PyPI package {}", names.join(" and "))
            }
        }
    }

    /// A text of the row, with what it leaves open filled in.
    pub(crate) fn fill(&self, text: &str, version: &str) -> Result<String, Fault> {
        let (platforms, targets, tag) = match self.source {
            Source::Download { platforms, targets, tag, .. } => {
                (Some(platforms), Some(targets), tag.as_str())
            }
            Source::NpmTarball { platforms, targets, .. } => (Some(platforms), Some(targets), "{version}"),
            Source::NpmInstall { .. } | Source::Pypi { .. } => (None, None, "{version}"),
        };
        let name = |names: Option<&BTreeMap<Platform, String>>| {
            let name = names.and_then(|names| names.get(&self.platform));
            name.cloned().ok_or(Fault::Platform(self.platform))
        };
        let mut text = text.to_owned();
        if text.contains("{platform}") {
            text = text.replace("{platform}", &name(platforms)?);
        }
        if text.contains("{target}") {
            text = text.replace("{target}", &name(targets)?);
        }
        Ok(text.replace("{tag}", tag).replace("{version}", version))
    }

    /// Where to fetch an address of the row from: the mirror's, if it is through one.
    pub(crate) fn place(&self, url: &str) -> Result<String, Fault> {
        match self.mirror {
            None => Ok(url.to_owned()),
            Some(mirror) => mirror
                .place(url)
                .ok_or_else(|| Fault::Answer(format!("the mirror does not serve {}", host(url)))),
        }
    }

    /// The version that a tag stands for.
    pub(crate) fn version_of_tag(&self, tag: &str) -> Result<Version, Fault> {
        let form = match self.source {
            Source::Download { tag, .. } => tag.as_str(),
            _ => "{version}",
        };
        let (before, behind) = form.split_once("{version}").unwrap_or_default();
        let version = tag.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind)).unwrap_or(tag);
        version.parse().map_err(|error| Fault::Answer(format!("{error}")))
    }
}

#[cfg(test)]
mod tests;
