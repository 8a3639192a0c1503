//! Where components are kept.
//!
//! ```text
//! <directory>/<component>/lock            who installs holds it
//!                         parts/          downloads that are not whole
//!                         .new-…/         an installation that is not whole: removed by the next one
//!                         <version>/      what is installed, with its manifest
//!                         current         a link to the version that is used
//! ```
//! Only names without a dot in front are ever looked at, and those come into being whole, by a rename.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::{Fault, manifest::Manifest};
use agent_catalog::{ComponentName, Found, Version};

/// How the name of an installation begins that is not whole.
const NEW: &str = ".new-";

/// Where components are kept.
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
}

/// A component that is in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Where it is.
    pub found: Found,
    /// What is known of it.
    pub manifest: Manifest,
}

impl Store {
    /// In that directory, which is made when it is needed.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The directory of a component.
    pub(crate) fn of(&self, component: &ComponentName) -> PathBuf {
        self.directory.join(component.as_str())
    }

    /// Where downloads for a component go that are not whole.
    pub(crate) fn parts(&self, component: &ComponentName) -> PathBuf {
        self.of(component).join("parts")
    }

    /// The version of a component that is used.
    pub fn current(&self, component: &ComponentName) -> Option<Stored> {
        let version = fs::read_link(self.of(component).join("current")).ok()?;
        self.get(component, &version.to_str()?.parse().ok()?)
    }

    /// One version of a component.
    pub fn get(&self, component: &ComponentName, version: &Version) -> Option<Stored> {
        let tree = self.of(component).join(version.as_str());
        let manifest = Manifest::read(&tree)?;
        let program = tree.join(&manifest.program);
        program.is_file().then_some(Stored { found: Found { program, tree }, manifest })
    }

    /// A directory to make a new installation in; it vanishes unless it is put into place. The lock must be held.
    pub(crate) fn stage(&self, component: &ComponentName) -> Result<TempDir, Fault> {
        let directory = self.of(component);
        let doing = "create a directory for the installation";
        fs::create_dir_all(&directory).map_err(Fault::local(doing))?;
        clean(&directory).map_err(Fault::local("delete the remains of an interrupted installation"))?;
        tempfile::Builder::new().prefix(NEW).tempdir_in(&directory).map_err(Fault::local(doing))
    }

    /// Puts a whole installation into place and into use: after this it is there, before it nothing was seen of it.
    pub(crate) fn commit(&self, stage: &TempDir, manifest: &Manifest) -> Result<Stored, Fault> {
        sync(stage.path()).map_err(Fault::local("write the installation to the disk"))?;
        self.place(stage, manifest)
    }

    /// The same for an installation whose files are on the disk already.
    pub(crate) fn place(&self, stage: &TempDir, manifest: &Manifest) -> Result<Stored, Fault> {
        let directory = self.of(&manifest.component);
        let target = directory.join(manifest.version.as_str());
        manifest.write(stage.path())?;
        let put = || -> io::Result<()> {
            if target.exists() {
                // The old one takes the name of the new one, which is not looked at, and goes away with it.
                renameat_with(CWD, stage.path(), CWD, &target, RenameFlags::EXCHANGE)?;
            } else {
                fs::rename(stage.path(), &target)?;
            }
            self.link_current(&manifest.component, &manifest.version)?;
            fs::File::open(&directory)?.sync_all()
        };
        put().map_err(Fault::local("put the installation into place"))?;
        self.get(&manifest.component, &manifest.version)
            .ok_or_else(|| Fault::NoProgram(manifest.program.clone()))
    }

    /// Makes an installed version the one that is used, and deletes whatever an interrupted installation left behind.
    /// The lock must be held.
    pub(crate) fn use_version(&self, component: &ComponentName, version: &Version) -> io::Result<()> {
        clean(&self.of(component))?;
        self.link_current(component, version)
    }

    fn link_current(&self, component: &ComponentName, version: &Version) -> io::Result<()> {
        let directory = self.of(component);
        let temporary = directory.join(format!("{NEW}current"));
        symlink(version.as_str(), &temporary)?;
        fs::rename(&temporary, directory.join("current"))
    }
}

/// Removes installations that were not finished.
fn clean(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(NEW) {
            let path = entry.path();
            let removed =
                if entry.file_type()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            removed?;
        }
    }
    Ok(())
}

/// Waits until everything on the filesystem of `directory` is on the disk: one call, however many files there are.
fn sync(directory: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(fs::File::open(directory)?)?)
}
