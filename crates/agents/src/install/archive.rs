//! Getting hold of an archive: out of the cache, or over the network and into the cache.

use std::path::PathBuf;

use protocol::agents::InstallPhase;
use serde_json::Value;

use super::{
    Fault,
    digest::Checksum,
    download::{self, Fetched, blocking},
    http::Http,
    npm::{self, NpmConfig},
    offer::Offer,
    work::Work,
};
use crate::{
    Archive, Source, Version, Want,
    table::{Latest, LatestForm, Published},
};

/// An archive that is what it should be.
#[derive(Debug)]
pub(super) struct Verified {
    pub(super) path: PathBuf,
    pub(super) archive: Archive,
    pub(super) program: String,
    pub(super) sha256: String,
    /// Whether it was compared with a checksum that somebody published.
    pub(super) verified: bool,
    /// Whether it is of no use once it is unpacked.
    pub(super) temporary: bool,
}

/// Which version is meant.
pub(super) async fn version(work: &Work<'_>, offer: &Offer<'_>, want: &Want) -> Result<Version, Fault> {
    match want {
        Want::Exact(version) => return Ok(version.clone()),
        Want::Pinned => return Ok(work.row.version.clone()),
        Want::Latest => {}
    }
    let http = work.http().await?;
    match offer.source {
        Source::Download { latest: Some(latest), .. } => newest(&http, offer, latest).await,
        Source::NpmTarball { package, .. } | Source::NpmInstall { package, .. } => {
            npm::latest(&http, &work.npm, &offer.fill(package, "")?).await
        }
        Source::Download { .. } | Source::Pypi { .. } => Err(Fault::NoLatest),
    }
}

async fn newest(http: &Http, offer: &Offer<'_>, latest: &Latest) -> Result<Version, Fault> {
    let url = offer.place(&latest.url)?;
    let answer = http.text(&url, |request| request).await?.ok_or(Fault::NoLatest)?;
    match latest.form {
        LatestForm::Text => answer.trim().parse().map_err(|error| Fault::Answer(format!("{error}"))),
        LatestForm::Github => {
            let release: Value =
                serde_json::from_str(&answer).map_err(|error| Fault::Answer(error.to_string()))?;
            offer.version_of_tag(release["tag_name"].as_str().ok_or(Fault::NoLatest)?)
        }
    }
}

/// The archive of one version; nothing if this source has none.
pub(super) async fn get(
    work: &Work<'_>,
    offer: &Offer<'_>,
    version: &Version,
    want: &Want,
) -> Result<Verified, Fault> {
    let plan = Plan::of(offer, version, want)?;
    if let Some(cache) = work.cache.clone() {
        let name = plan.name.clone();
        work.teller.phase(InstallPhase::Verifying);
        let kept = blocking("read the download cache", move || Ok(cache.get(&name))).await?;
        if let Some(kept) = kept {
            return Ok(plan.verified(kept.path, kept.sha256, kept.verified, false));
        }
        work.teller.phase(InstallPhase::Resolving);
    }
    let (fetched, verified) = plan.fetch(work, offer, version).await?;
    let Some(cache) = work.cache.clone() else {
        return Ok(plan.verified(fetched.path, fetched.sha256, verified, true));
    };
    let (name, path, sha256) = (plan.name.clone(), fetched.path.clone(), fetched.sha256.clone());
    let kept = blocking("cache the download", move || cache.put(&name, &path, &sha256, verified)).await;
    match kept {
        Ok(path) => Ok(plan.verified(path, fetched.sha256, verified, false)),
        // A cache that cannot be written is no reason not to install.
        Err(_) if fetched.path.exists() => Ok(plan.verified(fetched.path, fetched.sha256, verified, true)),
        Err(fault) => Err(fault),
    }
}

/// What to fetch, and what to make of it.
struct Plan<'a> {
    /// Its name in the cache.
    name: String,
    archive: Archive,
    program: String,
    from: From<'a>,
}

enum From<'a> {
    Url { url: String, known: Option<&'a str>, published: Option<&'a Published> },
    Npm { package: String, release: String },
}

impl<'a> Plan<'a> {
    fn of(offer: &Offer<'a>, version: &Version, want: &Want) -> Result<Self, Fault> {
        let fill = |text: &str| offer.fill(text, version.as_str());
        match offer.source {
            Source::Download { url, latest_url, checksum, sha256, archive, program, .. } => {
                let named = fill(url)?;
                let url = match latest_url {
                    Some(url) if *want == Want::Latest => fill(url)?,
                    _ => named.clone(),
                };
                Ok(Self {
                    archive: archive.of(&url),
                    program: fill(program)?,
                    name: format!("{named} {version}"),
                    from: From::Url {
                        url,
                        known: sha256.get(&offer.platform).map(String::as_str),
                        published: checksum.as_ref(),
                    },
                })
            }
            Source::NpmTarball { package, release, program, .. } => {
                let (package, release) = (fill(package)?, fill(release)?);
                Ok(Self {
                    archive: Archive::TarGz,
                    program: fill(program)?,
                    name: format!("npm {package}@{release}"),
                    from: From::Npm { package, release },
                })
            }
            Source::NpmInstall { .. } | Source::Pypi { .. } => {
                Err(Fault::Answer("the source is not an archive".into()))
            }
        }
    }

    fn verified(&self, path: PathBuf, sha256: String, verified: bool, temporary: bool) -> Verified {
        Verified { path, archive: self.archive, program: self.program.clone(), sha256, verified, temporary }
    }

    async fn fetch(
        &self,
        work: &Work<'_>,
        offer: &Offer<'_>,
        version: &Version,
    ) -> Result<(Fetched, bool), Fault> {
        let http = work.http().await?;
        let (places, checksum) = match &self.from {
            From::Url { url, known, published } => {
                let checksum = match (known, published) {
                    (Some(known), _) => Some(Checksum::sha256(known)?),
                    (None, Some(published)) => find(&http, offer, published, version).await?,
                    (None, None) => None,
                };
                (vec![offer.place(url)?], checksum)
            }
            From::Npm { package, release } => {
                let tarball = npm::tarball(&http, &work.npm, package, release).await?;
                (tarball.urls, tarball.checksum)
            }
        };
        let _permit = work.downloads.acquire().await;
        let mut last = Fault::NoLatest;
        for url in &places {
            let authorization = match self.from {
                From::Npm { .. } => work.npm.authorization(url),
                From::Url { .. } => None,
            };
            let request = download::Request { url, authorization, checksum: checksum.as_ref() };
            match download::fetch(&http, &request, &work.parts(), work.teller).await {
                Ok(fetched) => return Ok((fetched, checksum.is_some())),
                Err(fault @ (Fault::NoSpace | Fault::Checksum { .. })) => return Err(fault),
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }
}

/// A checksum that is published; nothing if it is not.
async fn find(
    http: &Http,
    offer: &Offer<'_>,
    published: &Published,
    version: &Version,
) -> Result<Option<Checksum>, Fault> {
    let url = offer.place(&offer.fill(&published.url, version.as_str())?)?;
    let Some(answer) = http.text(&url, |request| request).await? else { return Ok(None) };
    let document: Value = serde_json::from_str(&answer).map_err(|error| Fault::Answer(error.to_string()))?;
    let pointer = offer.fill(&published.pointer, version.as_str())?;
    document.pointer(&pointer).and_then(Value::as_str).map(Checksum::sha256).transpose()
}

/// How npm is asked where it is configured to be.
pub(super) async fn npm_config(work: &super::Inner) -> NpmConfig {
    NpmConfig::read(&work.config.environment, &work.config.search_path).await
}
