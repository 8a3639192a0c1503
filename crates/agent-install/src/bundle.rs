//! Agents in one file, for machines without a network.
//!
//! A bundle is a compressed tar: for each component `<component>.json` with its manifest and checksum, and behind it
//! `<component>.tar` with everything that is installed. It is written from what is installed here, and each component is
//! put into place as any other: verified, whole, by a rename.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, BufReader, Read, Seek, Write},
    path::Path,
    sync::Arc,
};

use files::private_file;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

use super::{
    Ask, BundleError, Error, Fault, Installer, MissingChecksum, Store, UnverifiedPolicy,
    digest::{Checksum, Hasher},
    lock::Lock,
    manifest::Manifest,
    progress::Teller,
    store::Stored,
    unpack,
    work::off_thread,
};
use agent_catalog::{ComponentName, Definition, Platform};

/// How hard a bundle is compressed: binaries get little smaller beyond this, and much slower.
const LEVEL: i32 = 6;

/// The largest description of a component.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 10;

/// What a bundle says of one component.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Description {
    manifest: Manifest,
    /// The SHA-256 of the tar that follows.
    tar_sha256: String,
}

impl Installer {
    /// Writes everything that these agents need into one file, after installing what is missing.
    pub async fn bundle(
        &self,
        agents: &[Arc<Definition>],
        unverified: UnverifiedPolicy,
        out: &Path,
    ) -> Result<Vec<Manifest>, BundleError> {
        let mut stored = BTreeMap::new();
        for agent in agents {
            let ask = Ask { apart: true, unverified, ..Ask::default() };
            let outcome = self.install(agent, &ask).await?.finish().await?;
            // Where the bundle is unpacked, nothing can be added.
            if let Some((_, error)) = outcome.failed.into_iter().next() {
                return Err(error.into());
            }
            let components = agent.components().into_iter().filter(|name| !self.inner.is_given(name));
            for name in components {
                let one =
                    self.inner.store.current(&name).ok_or_else(|| Fault::NoProgram(name.to_string()))?;
                stored.insert(name, one);
            }
        }
        let stored: Vec<_> = stored.into_values().collect();
        let manifests = stored.iter().map(|one| one.manifest.clone()).collect();
        let out = out.to_path_buf();
        off_thread(move || write(&stored, &out)).await?;
        Ok(manifests)
    }

    /// Installs what is in a bundle, or of that only what these agents need; what was installed.
    pub async fn unbundle(
        &self,
        path: &Path,
        agents: &[Arc<Definition>],
        unverified: UnverifiedPolicy,
    ) -> Result<Vec<Manifest>, BundleError> {
        let platform = self.inner.platform.clone().map_err(|error| Arc::new(Error::from(error)))?;
        let wanted =
            (!agents.is_empty()).then(|| agents.iter().flat_map(|agent| agent.components()).collect());
        let store = self.inner.store.clone();
        let (path, runtime) = (path.to_path_buf(), Handle::current());
        let read = move || {
            let accepted = Accepted { platform, wanted, unverified };
            read(&store, &path, &accepted, &runtime)
        };
        Ok(off_thread(read).await?)
    }
}

/// Writes a bundle of what is installed.
fn write(components: &[Stored], out: &Path) -> Result<(), Fault> {
    let written = private_file::write_with(out, |file| {
        let mut bundle = tar::Builder::new(zstd::Encoder::new(file, LEVEL)?);
        for stored in components {
            append(&mut bundle, stored)?;
        }
        bundle.into_inner()?.finish().map(drop)
    });
    written.map_err(Fault::local("write the bundle"))
}

fn append(bundle: &mut tar::Builder<impl Write>, stored: &Stored) -> io::Result<()> {
    // Written down first: the checksum comes before what it is of.
    let mut inner = tar::Builder::new(tempfile::tempfile()?);
    inner.follow_symlinks(false);
    inner.append_dir_all(".", &stored.found.tree)?;
    let mut tar = inner.into_inner()?;
    tar.rewind()?;
    let mut hasher = Hasher::new(None);
    let bytes = hasher.read(&tar)?;
    tar.rewind()?;
    let tar_sha256 = hasher.finish(None).map_err(io::Error::other)?;
    let description =
        serde_json::to_vec_pretty(&Description { manifest: stored.manifest.clone(), tar_sha256 })?;
    let name = stored.manifest.component.as_str();
    member(bundle, &format!("{name}.json"), description.len() as u64, description.as_slice())?;
    member(bundle, &format!("{name}.tar"), bytes, tar)
}

fn member(
    bundle: &mut tar::Builder<impl Write>,
    name: &str,
    bytes: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    bundle.append_data(&mut header, name, content)
}

/// Which components of a bundle are installed.
struct Accepted {
    platform: Platform,
    /// All, if none.
    wanted: Option<BTreeSet<ComponentName>>,
    unverified: UnverifiedPolicy,
}

impl Accepted {
    /// Whether to install a component.
    ///
    /// # Errors
    /// If it is wanted, but may not or cannot be installed here.
    fn takes(&self, manifest: &Manifest) -> Result<bool, Fault> {
        if self.wanted.as_ref().is_some_and(|wanted| !wanted.contains(&manifest.component)) {
            return Ok(false);
        }
        if manifest.platform != self.platform {
            return Err(Fault::Platform(self.platform));
        }
        let unverified = || MissingChecksum::Bundled(manifest.component.clone());
        self.unverified.check(manifest.verified.then_some(()).ok_or_else(unverified))?;
        Ok(true)
    }
}

/// Installs what is accepted of a bundle; what was installed. Blocks, in a thread of `runtime`.
fn read(store: &Store, path: &Path, accepted: &Accepted, runtime: &Handle) -> Result<Vec<Manifest>, Fault> {
    let damaged = |error: io::Error| Fault::Unpack(format!("the bundle is damaged: {error}"));
    let file = File::open(path).map_err(Fault::local("open the bundle"))?;
    let mut bundle = tar::Archive::new(zstd::Decoder::new(BufReader::new(file)).map_err(damaged)?);
    let mut members = bundle.entries().map_err(damaged)?;
    let mut installed = Vec::new();
    while let Some(description) = members.next() {
        let mut text = Vec::new();
        description.map_err(damaged)?.take(DESCRIPTION_BYTES_MAX).read_to_end(&mut text).map_err(damaged)?;
        let description: Description =
            serde_json::from_slice(&text).map_err(|error| Fault::Unpack(format!("not a bundle: {error}")))?;
        let Some(tar) = members.next() else { return Err(damaged(io::ErrorKind::UnexpectedEof.into())) };
        if !accepted.takes(&description.manifest)? {
            continue;
        }
        take(store, &description, tar.map_err(damaged)?, runtime)?;
        installed.push(description.manifest);
    }
    Ok(installed)
}

fn take(store: &Store, description: &Description, tar: impl Read, runtime: &Handle) -> Result<(), Fault> {
    let manifest = &description.manifest;
    let (teller, _) = Teller::new();
    let lock = runtime.block_on(Lock::take(&store.of(&manifest.component), &teller));
    let _lock = lock.map_err(|error| Fault::Needs(std::sync::Arc::new(error)))?;
    let stage = store.stage(&manifest.component)?;
    let expected = Checksum::sha256(&description.tar_sha256)?;
    let mut hashed = Hashed { reader: tar, hasher: Hasher::new(Some(&expected)) };
    let unpacked = unpack::tar(&mut hashed, stage.path());
    // What is left behind the end of the archive counts too, and a wrong checksum says more than a bad archive.
    io::copy(&mut hashed, &mut io::sink()).map_err(|error| Fault::Unpack(error.to_string()))?;
    hashed.hasher.finish(Some(&expected))?;
    unpacked?;
    unpack::make_executable(stage.path(), &manifest.program)?;
    store.commit(&stage, manifest)?;
    Ok(())
}

/// Hashes what is read through it.
struct Hashed<R> {
    reader: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}
