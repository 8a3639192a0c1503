//! The installation of one component.

use std::{path::PathBuf, sync::Arc, time::Duration};

use jiff::Timestamp;
use process::ProcessSpec;
use protocol::agents::InstallPhase;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::{
    Cache, Error, Fault, Inner, Installed, UnverifiedPolicy,
    archive::{self, LocalArchive, npm_config},
    error::Attempt,
    http::Http,
    lock::Lock,
    look::Present,
    manifest::Manifest,
    npm::NpmConfig,
    offer::{Offer, offers},
    origin::OriginKey,
    packages,
    progress::Teller,
    store::Stored,
    trees::{TreeName, Trees},
    unpack,
};
use agent_catalog::{Component, ComponentName, Source, Version, Want};

/// How long after an installation the next home is thought of. Agents start in less on the machines that we measured.
const RESTOCK: Duration = Duration::from_secs(3);

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Task {
    pub(super) component: ComponentName,
    pub(super) want: Want,
    /// Whether to install it again, from a server and not from a cache.
    pub(super) again: bool,
    /// What to do with files that cannot be verified.
    pub(super) unverified: UnverifiedPolicy,
}

/// The installation of one component, with all that it works with.
pub(super) struct Work<'a> {
    pub(super) inner: &'a Arc<Inner>,
    pub(super) name: &'a ComponentName,
    pub(super) row: &'a Component,
    pub(super) npm: NpmConfig,
    pub(super) cache: Option<Cache>,
    pub(super) unverified: UnverifiedPolicy,
    pub(super) downloads: &'a Semaphore,
    pub(super) teller: &'a Teller,
}

/// Installs a component, unless it is there.
pub(super) async fn run(inner: &Arc<Inner>, task: &Task, teller: &Teller) -> Result<Installed, Error> {
    let name = &task.component;
    let platform = inner.platform.clone()?;
    let unsupported = || Error::Unsupported { component: name.clone(), platform };
    let catalog = inner.catalog.read().clone();
    let row = catalog.component(name).ok_or_else(unsupported)?;
    let offers = offers(row, platform, &inner.config.mirrors);
    if offers.is_empty() {
        return Err(unsupported());
    }
    let _lock = Lock::take(&inner.store.of(name), teller).await?;
    // Whoever held the lock may have done it.
    if let Some(stored) = there(inner, task)? {
        return Ok(done(stored, true));
    }
    if let Some((stored, tree)) = linked(inner, task, row, &offers).await {
        inner.restock(tree);
        return Ok(done(stored, false));
    }
    let work = Work {
        inner,
        name,
        row,
        npm: npm_config(inner).await,
        cache: inner.config.cache.clone().map(Cache::new),
        unverified: task.unverified,
        downloads: &inner.downloads,
        teller,
    };
    let mut attempts = Vec::new();
    for offer in &offers {
        let from = offer.label();
        teller.source(&from);
        teller.phase(InstallPhase::Resolving);
        match work.take(offer, task).await {
            Ok(installed) => return Ok(installed),
            // The next one would only fill the disk again.
            Err(Fault::NoSpace) => return Err(Error::NoSpace(name.clone())),
            Err(fault) => {
                tracing::info!(component = %name, %from, %fault, "an installation source failed");
                attempts.push(Attempt { from, fault: Arc::new(fault) });
            }
        }
    }
    Err(Error::of_attempts(name.clone(), attempts))
}

fn there(inner: &Inner, task: &Task) -> Result<Option<Stored>, Error> {
    if task.again {
        return Ok(None);
    }
    match &task.want {
        Want::Pinned => Ok(inner.store.current(&task.component)),
        Want::Exact(version) => use_stored(inner, &task.component, version),
        Want::Latest => Ok(None),
    }
}

/// Installs what another home has installed from one of `offers`, without asking a server.
async fn linked(
    inner: &Arc<Inner>,
    task: &Task,
    row: &Component,
    offers: &[Offer<'_>],
) -> Option<(Stored, TreeName)> {
    let trees = Trees::new(inner.config.cache.as_deref()?);
    let version = match &task.want {
        Want::Pinned => &row.version,
        Want::Exact(version) => version,
        Want::Latest => return None,
    };
    if task.again {
        return None;
    }
    // A source whose origin is unknown, such as npm without a configured registry, has no tree.
    let names = offers.iter().filter_map(|offer| inner.tree_name(task, row, offer, version).ok());
    let (names, store, component) = (Vec::from_iter(names), inner.store.clone(), task.component.clone());
    let linked = off_thread(move || {
        for name in names.into_iter().filter(|name| trees.has(name)) {
            let stage = store.stage(&component)?;
            if let Some(kept) = trees.take(&name, stage.path()) {
                let manifest = Manifest { installed_at: Timestamp::now(), ..kept };
                return Ok(Some((store.place(&stage, &manifest)?, name)));
            }
        }
        Ok(None)
    });
    linked.await.ok().flatten()
}

/// Uses a version that is there.
fn use_stored(inner: &Inner, name: &ComponentName, version: &Version) -> Result<Option<Stored>, Error> {
    let Some(stored) = inner.store.get(name, version) else { return Ok(None) };
    inner.store.use_version(name, version).map_err(Error::store("choose the version"))?;
    Ok(Some(stored))
}

fn done(stored: Stored, already: bool) -> Installed {
    Installed { version: Some(stored.manifest.version), found: stored.found, already }
}

impl Inner {
    /// The name of what `offer` has, as another home may have installed it.
    fn tree_name(
        &self,
        task: &Task,
        row: &Component,
        offer: &Offer<'_>,
        version: &Version,
    ) -> Result<TreeName, Fault> {
        let environment = &self.config.environment;
        // npm itself is not asked for its registry: that takes longer than to link what is there.
        let npm = NpmConfig::of_files(environment);
        let key = OriginKey::of_offer(offer, row, version, &task.want, &npm, environment)?;
        Ok(TreeName::new(&task.component, version, offer.platform, &key))
    }

    /// Links a component for the next home, once the agent of this one had time to start.
    fn restock(&self, tree: TreeName) {
        let Some(trees) = self.config.cache.as_deref().map(Trees::new) else { return };
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            if stop.run_until_cancelled(tokio::time::sleep(RESTOCK)).await.is_some() {
                // Only the next home would notice.
                let stock = move || trees.stock(&tree);
                let _ = tokio::task::spawn_blocking(stock).await;
            }
        });
    }
}

impl Work<'_> {
    /// Installs from one source.
    async fn take(&self, offer: &Offer<'_>, task: &Task) -> Result<Installed, Fault> {
        let version = archive::version(self, offer, &task.want).await?;
        if !task.again
            && let Ok(Some(stored)) = use_stored(self.inner, self.name, &version)
        {
            return Ok(done(stored, true));
        }
        let mut manifest = Manifest {
            component: self.name.clone(),
            version: version.clone(),
            platform: offer.platform,
            program: String::new(),
            source: offer.label(),
            sha256: None,
            verified: false,
            installed_at: Timestamp::now(),
        };
        let stage = match offer.source {
            Source::Download { .. } | Source::NpmTarball { .. } => {
                let archive = archive::get(self, offer, &version, task).await?;
                self.teller.phase(InstallPhase::Unpacking);
                manifest.program = archive.program.clone();
                manifest.sha256 = Some(archive.sha256.clone());
                manifest.verified = archive.verified;
                self.unpacked(archive).await?
            }
            Source::NpmInstall { package, program, omit_optional, .. } => {
                let stage = self.inner.store.stage(self.name)?;
                let asked = packages::Npm {
                    package,
                    version: &version,
                    program: program.as_deref(),
                    omit_optional: *omit_optional,
                    pinned: offer.pinned(self.row, &version)?,
                    again: task.again,
                    unverified: task.unverified,
                };
                let installed = packages::npm(self, &asked, stage.path()).await?;
                (manifest.program, manifest.verified) = (installed.program, installed.verified);
                stage
            }
            Source::Pypi { packages, program } => {
                let stage = self.inner.store.stage(self.name)?;
                let packages: Result<Vec<_>, _> =
                    packages.iter().map(|package| offer.fill(package, version.as_str())).collect();
                packages::pypi(self, &packages?, task.again, stage.path()).await?;
                // By the tool, with what the index publishes.
                (manifest.program, manifest.verified) = (program.clone(), true);
                stage
            }
        };
        let store = self.inner.store.clone();
        let parts = self.parts();
        // Another home must not get what was not verified: there it may not be allowed, or a checksum may be known.
        let tree = self.inner.tree_name(task, self.row, offer, &version).ok().filter(|_| manifest.verified);
        let trees = self.inner.config.cache.as_deref().map(Trees::new);
        let kept = trees.zip(tree.clone());
        let stored = off_thread(move || {
            unpack::make_executable(stage.path(), &manifest.program)?;
            let stored = store.commit(&stage, &manifest)?;
            if let Some((trees, tree)) = kept {
                // Only the next home would notice.
                let _ = trees.keep(&tree, &stored.manifest, &stored.found.tree);
            }
            // What came of other tries is of no use any more.
            let _ = std::fs::remove_dir_all(parts);
            Ok(stored)
        });
        let stored = stored.await?;
        if let Some(tree) = tree {
            self.inner.restock(tree);
        }
        Ok(done(stored, false))
    }

    /// A stage that holds what is in an archive.
    async fn unpacked(&self, from: LocalArchive) -> Result<TempDir, Fault> {
        let stage = self.inner.store.stage(self.name)?;
        let cache = self.cache.clone();
        off_thread(move || {
            match unpack::unpack(&from.path, from.archive, stage.path(), &from.program) {
                Ok(()) => from.keep(cache.as_ref()),
                Err(fault) => {
                    from.discard();
                    return Err(fault);
                }
            }
            Ok(stage)
        })
        .await
    }

    /// Something that this component requires: as it is there, or installed now.
    pub(super) async fn need(&self, name: &str) -> Result<Present, Fault> {
        let name = packages::name(name)?;
        let min = self.row.requires.get(&name).copied();
        if let Some(present) = self.inner.look(&name, min).await {
            return Ok(present);
        }
        self.teller.phase(InstallPhase::Waiting);
        let task =
            Task { component: name.clone(), want: Want::Pinned, again: false, unverified: self.unverified };
        let outcome = super::outcome(&name, self.inner.start(task)).await;
        outcome.map_err(|error| match &*error {
            Error::NoSpace(_) => Fault::NoSpace,
            _ => Fault::Needs(error),
        })?;
        let missing = Fault::NoProgram(name.to_string());
        self.inner.look(&name, min).await.ok_or(missing)
    }

    /// Who asks servers, with the certificates that npm trusts.
    pub(super) async fn http(&self) -> Result<Http, Fault> {
        let http = self.inner.http(self.npm.certificates());
        http.map_err(|error| Fault::Needs(Arc::new(error)))
    }

    /// Where downloads go that are not whole.
    pub(super) fn parts(&self) -> PathBuf {
        self.inner.store.parts(self.name)
    }

    /// A tool without the variables that are ours alone.
    pub(super) fn scrubbed(&self, mut spec: ProcessSpec) -> ProcessSpec {
        spec.env_remove = self.inner.config.env_remove.clone();
        spec
    }
}

/// Runs what waits for the disk where waiting is allowed.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(Fault::Local { doing: "unpack the archive", source: std::io::Error::other(error) })
    })
}
