//! One place that a component can be had from: a source of its row, by itself or through a mirror.

use std::collections::BTreeMap;

use super::{
    Fault,
    digest::Checksum,
    http::{Mirror, host},
};
use agent_catalog::{Component, Platform, Source, Version, Want};

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

    /// The address of the file of `version`, as the vendor has it.
    pub(crate) fn url(&self, version: &Version, want: &Want) -> Result<String, Fault> {
        let Source::Download { url, latest_url, .. } = self.source else {
            return Err(Fault::Answer("the source is not a file".into()));
        };
        let newest = latest_url.as_ref().filter(|_| *want == Want::Latest);
        self.fill(newest.unwrap_or(url), version.as_str())
    }

    /// The checksum that the catalog pins for `version`. `row` is the component of this offer.
    pub(crate) fn pinned(&self, row: &Component, version: &Version) -> Result<Option<Checksum>, Fault> {
        match self.source {
            Source::Download { url, sha256, .. } => {
                // The pin belongs to a file. An entry of the ACP registry has the same URL for every version.
                if self.fill(url, version.as_str())? != self.fill(url, row.version.as_str())? {
                    return Ok(None);
                }
                sha256.get(&self.platform).map(|pin| Checksum::sha256(pin)).transpose()
            }
            Source::NpmTarball { integrity: Some(integrity), .. } if *version == row.version => {
                integrity.of(self.platform).map(Checksum::pinned_npm).transpose()
            }
            Source::NpmInstall { integrity: Some(integrity), .. } if *version == row.version => {
                Checksum::pinned_npm(integrity).map(Some)
            }
            Source::NpmTarball { .. } | Source::NpmInstall { .. } | Source::Pypi { .. } => Ok(None),
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
