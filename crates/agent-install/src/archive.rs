//! Getting hold of an archive: out of the cache, or over the network.

use std::path::PathBuf;

use protocol::agents::InstallPhase;
use serde_json::Value;

use super::{
    Cache, Fault, MissingChecksum, UnverifiedPolicy,
    digest::Checksum,
    download::{self, blocking},
    http::{Http, host},
    npm::{self, NpmConfig},
    offer::Offer,
    origin::OriginKey,
    work::{Task, Work},
};
use agent_catalog::{Archive, Latest, LatestForm, Published, Source, Version, Want};

/// An archive on the disk. It has its checksum, if there is one.
#[derive(Debug)]
pub(super) struct LocalArchive {
    pub(super) path: PathBuf,
    pub(super) archive: Archive,
    pub(super) program: String,
    pub(super) sha256: String,
    /// Whether it was compared with a checksum that is pinned or published.
    pub(super) verified: bool,
    location: ArchiveLocation,
}

/// Where an archive is.
#[derive(Debug)]
enum ArchiveLocation {
    Cache,
    /// Where downloads go that are not whole. The key is the one to cache it under.
    Download(OriginKey),
}

impl LocalArchive {
    /// Moves a download into the cache after it was unpacked. An archive that cannot be unpacked is not worth keeping,
    /// and one that was not verified must not be installed again later, when a checksum may be known.
    pub(super) fn keep(&self, cache: Option<&Cache>) {
        let ArchiveLocation::Download(key) = &self.location else { return };
        if let Some(cache) = cache.filter(|_| self.verified) {
            // A cache that cannot be written is no reason not to install.
            let _ = cache.put(key, &self.path, &self.sha256);
        }
        self.discard();
    }

    /// Deletes a download that is of no use any more.
    pub(super) fn discard(&self) {
        if matches!(self.location, ArchiveLocation::Download(_)) {
            let _ = std::fs::remove_file(&self.path); // `keep` may have moved it
        }
    }
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

/// The archive of one version.
pub(super) async fn get(
    work: &Work<'_>,
    offer: &Offer<'_>,
    version: &Version,
    task: &Task,
) -> Result<LocalArchive, Fault> {
    let plan = ArchivePlan::new(work, offer, version, &task.want)?;
    // A reinstallation is for users who do not trust what is there, so it downloads.
    if !task.again
        && let Some(cached) = plan.cached(work).await?
    {
        return Ok(cached);
    }
    plan.download(work, offer, version, task.unverified).await
}

/// What to fetch, and what to make of it.
struct ArchivePlan<'a> {
    key: OriginKey,
    /// The checksum that the catalog pins.
    pinned: Option<Checksum>,
    archive: Archive,
    program: String,
    from: ArchiveSource<'a>,
}

enum ArchiveSource<'a> {
    Url { url: String, published: Option<&'a Published> },
    Npm { package: String, release: String },
}

impl<'a> ArchivePlan<'a> {
    fn new(work: &Work<'_>, offer: &Offer<'a>, version: &Version, want: &Want) -> Result<Self, Fault> {
        let fill = |text: &str| offer.fill(text, version.as_str());
        let (archive, program, from) = match offer.source {
            Source::Download { checksum, archive, program, .. } => {
                let url = offer.url(version, want)?;
                let from = ArchiveSource::Url { url: offer.place(&url)?, published: checksum.as_ref() };
                (archive.of(&url), fill(program)?, from)
            }
            Source::NpmTarball { package, release, program, .. } => {
                let from = ArchiveSource::Npm { package: fill(package)?, release: fill(release)? };
                (Archive::TarGz, fill(program)?, from)
            }
            Source::NpmInstall { .. } | Source::Pypi { .. } => {
                return Err(Fault::Answer("the source is not an archive".into()));
            }
        };
        let environment = &work.inner.config.environment;
        let key = OriginKey::of_offer(offer, work.row, version, want, &work.npm, environment)?;
        Ok(Self { key, pinned: offer.pinned(work.row, version)?, archive, program, from })
    }

    /// The archive out of the cache, which only holds what was verified.
    async fn cached(&self, work: &Work<'_>) -> Result<Option<LocalArchive>, Fault> {
        let Some(cache) = work.cache.clone() else { return Ok(None) };
        let (key, pinned) = (self.key.clone(), self.pinned.clone());
        work.teller.phase(InstallPhase::Verifying);
        let cached =
            blocking("read the download cache", move || Ok(cache.get(&key, pinned.as_ref()))).await?;
        work.teller.phase(InstallPhase::Resolving);
        Ok(cached.map(|cached| self.local(cached.path, cached.sha256, true, ArchiveLocation::Cache)))
    }

    async fn download(
        &self,
        work: &Work<'_>,
        offer: &Offer<'_>,
        version: &Version,
        unverified: UnverifiedPolicy,
    ) -> Result<LocalArchive, Fault> {
        let http = work.http().await?;
        let (urls, checksum) = match &self.from {
            ArchiveSource::Url { url, published } => {
                let checksum = match (&self.pinned, published) {
                    (Some(pinned), _) => Ok(pinned.clone()),
                    (None, Some(published)) => {
                        let found = published_checksum(&http, offer, published, version, url).await;
                        match (found, unverified) {
                            // The server of the checksums may be out of reach where the file is not.
                            (Err(_), UnverifiedPolicy::Allow) => Err(MissingChecksum::NotPublished),
                            (found, _) => found?,
                        }
                    }
                    (None, None) => Err(MissingChecksum::NotPublished),
                };
                (vec![url.clone()], checksum)
            }
            ArchiveSource::Npm { package, release } => {
                let tarball = npm::tarball(&http, &work.npm, package, release).await?;
                let missing = || MissingChecksum::Npm { package: package.clone() };
                (tarball.urls, self.pinned.clone().or(tarball.checksum).ok_or_else(missing))
            }
        };
        // Refused before the download: it may be some hundred megabytes.
        let checksum = unverified.check(checksum)?;
        let _permit = work.downloads.acquire().await;
        let mut last = Fault::NoLatest;
        for url in &urls {
            let authorization = match self.from {
                ArchiveSource::Npm { .. } => work.npm.authorization(url),
                ArchiveSource::Url { .. } => None,
            };
            let request = download::Request { url, authorization, checksum: checksum.as_ref() };
            match download::fetch(&http, &request, &work.parts(), work.teller).await {
                Ok(fetched) => {
                    let location = ArchiveLocation::Download(self.key.clone());
                    return Ok(self.local(fetched.path, fetched.sha256, checksum.is_some(), location));
                }
                Err(fault @ (Fault::NoSpace | Fault::Checksum { .. })) => return Err(fault),
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }

    fn local(
        &self,
        path: PathBuf,
        sha256: String,
        verified: bool,
        location: ArchiveLocation,
    ) -> LocalArchive {
        LocalArchive {
            path,
            archive: self.archive,
            program: self.program.clone(),
            sha256,
            verified,
            location,
        }
    }
}

/// The checksum that the vendor publishes for the file at `file`.
async fn published_checksum(
    http: &Http,
    offer: &Offer<'_>,
    published: &Published,
    version: &Version,
    file: &str,
) -> Result<Result<Checksum, MissingChecksum>, Fault> {
    let url = offer.fill(published.url(), version.as_str())?;
    // A mirror for some URLs only may have the file and not its checksum.
    let Ok(place) = offer.place(&url) else {
        return Ok(Err(MissingChecksum::NoDocument { host: host(file) }));
    };
    let Some(answer) = http.text(&place, |request| request).await? else {
        return Ok(Err(MissingChecksum::NoDocument { host: host(&place) }));
    };
    let document: Value = serde_json::from_str(&answer).map_err(|error| Fault::Answer(error.to_string()))?;
    let entry = match published {
        Published::Document { pointer, .. } => document.pointer(&offer.fill(pointer, version.as_str())?),
        Published::Github { .. } => {
            let name = file.rsplit('/').next();
            let assets = document["assets"].as_array().into_iter().flatten();
            assets.into_iter().find(|asset| asset["name"].as_str() == name).map(|asset| &asset["digest"])
        }
    };
    let checksum = entry.and_then(Value::as_str).and_then(|text| Checksum::sha256(text).ok());
    Ok(checksum.ok_or_else(|| MissingChecksum::NoUsableEntry { host: host(&place) }))
}

/// How npm is asked where it is configured to be.
pub(super) async fn npm_config(work: &super::Inner) -> NpmConfig {
    NpmConfig::read(&work.config.environment, &work.config.search_path).await
}
