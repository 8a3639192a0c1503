//! Components as they were installed, kept beside the archives: the next home gets links to the same files.
//!
//! `trees/<name>/tree` holds the files and `kept.json` what they were when they were kept. The name holds the origin of the
//! component, so that what came from one mirror is not used in place of another's. A tree in which a file has changed since,
//! in whichever home, is not used again. Where files cannot be linked, such as from another filesystem, nothing is kept, and
//! the archives have to do.
//!
//! Versions of Tombolo before this kept trees without an origin in the same directory. Their names are different, so they
//! are never used, and go away like all that was not used for longest.
//!
//! Linking some thousand files takes longer than everything else that a first use does. So `spare` is a tree that was
//! linked in advance: the next home gets it by one rename, and another is made in its place when there is time.

use std::{
    fs::{self, Metadata},
    io,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{
    manifest::{self, Manifest},
    origin::OriginKey,
};
use agent_catalog::{ComponentName, Platform, Version};

/// How many trees are kept; the one that was not used for longest goes first.
const TREES_MAX: usize = 64;

/// How many threads make links.
const LINKERS: usize = 4;

const KEPT: &str = "kept.json";
const TREE: &str = "tree";
const SPARE: &str = "spare";

/// Components as they were installed.
#[derive(Debug, Clone)]
pub(crate) struct Trees {
    directory: PathBuf,
}

/// The name of a tree: what it is, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeName(String);

impl TreeName {
    pub(crate) fn new(
        component: &ComponentName,
        version: &Version,
        platform: Platform,
        origin: &OriginKey,
    ) -> Self {
        Self(format!("{component}-{version}-{platform}-{}", origin.digest()))
    }
}

/// What a tree was when it was kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    manifest: Manifest,
    /// Directories before what they hold.
    entries: Vec<Entry>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    path: PathBuf,
    what: What,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum What {
    Directory,
    File { bytes: u64, modified_at: (i64, i64) },
    Link { to: PathBuf },
}

impl Trees {
    /// Below the directory of the cache.
    pub(crate) fn new(cache: &Path) -> Self {
        Self { directory: cache.join("trees") }
    }

    /// Keeps what is installed in `installed`.
    pub(crate) fn keep(&self, name: &TreeName, manifest: &Manifest, installed: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let stage = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.directory)?;
        let mut entries = Vec::new();
        list(installed, Path::new(""), &mut entries)?;
        link(&entries, installed, &stage.path().join(TREE))?;
        let kept = Kept { manifest: manifest.clone(), entries };
        fs::write(stage.path().join(KEPT), serde_json::to_vec(&kept)?)?;
        let place = self.of(name);
        let _ = fs::remove_dir_all(&place); // kept before, or not there
        fs::rename(stage.path(), place)?;
        self.bound(TREES_MAX)
    }

    /// Whether there is such a tree.
    pub(crate) fn has(&self, name: &TreeName) -> bool {
        self.of(name).exists()
    }

    /// Puts a component into `stage`, which is empty, if it is here and unchanged.
    pub(crate) fn take(&self, name: &TreeName, stage: &Path) -> Option<Manifest> {
        let place = self.of(name);
        let kept = Kept::read(&place)?;
        let taken = match fs::rename(place.join(SPARE), stage) {
            Ok(()) => unchanged(&kept.entries, stage),
            Err(_) => link(&kept.entries, &place.join(TREE), stage), // it was taken, or is not made yet
        };
        if taken.is_err() {
            let _ = fs::remove_dir_all(&place); // it will be kept anew
            return None;
        }
        // The time of the last use decides what goes first.
        let _ = fs::File::open(&place).and_then(|place| place.set_modified(SystemTime::now()));
        Some(kept.manifest)
    }

    /// Makes the spare of a component that is kept, unless there is one.
    pub(crate) fn stock(&self, name: &TreeName) -> io::Result<()> {
        let place = self.of(name);
        let spare = place.join(SPARE);
        let Some(kept) = Kept::read(&place).filter(|_| !spare.exists()) else { return Ok(()) };
        let stage = tempfile::Builder::new().prefix(".new-").tempdir_in(&place)?;
        link(&kept.entries, &place.join(TREE), stage.path())?;
        fs::rename(stage.path(), spare)
    }

    fn of(&self, name: &TreeName) -> PathBuf {
        self.directory.join(&name.0)
    }

    fn bound(&self, most: usize) -> io::Result<()> {
        let used = |entry: &fs::DirEntry| entry.metadata().and_then(|about| about.modified()).ok();
        let mut trees: Vec<_> = fs::read_dir(&self.directory)?.collect::<Result<_, _>>()?;
        trees.sort_by_key(used);
        for tree in trees.iter().take(trees.len().saturating_sub(most)) {
            let _ = fs::remove_dir_all(tree.path()); // somebody else may have been faster
        }
        Ok(())
    }
}

impl Kept {
    fn read(place: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(place.join(KEPT)).ok()?).ok()
    }
}

/// Lists what is in a directory, but for the manifest, which is written anew wherever it is.
fn list(root: &Path, below: &Path, entries: &mut Vec<Entry>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let path = below.join(entry?.file_name());
        if path == Path::new(manifest::NAME) {
            continue;
        }
        let what = what(&root.join(&path))?;
        let deeper = (what == What::Directory).then(|| path.clone());
        entries.push(Entry { path, what });
        if let Some(deeper) = deeper {
            list(root, &deeper, entries)?;
        }
    }
    Ok(())
}

fn what(path: &Path) -> io::Result<What> {
    let about: Metadata = fs::symlink_metadata(path)?;
    Ok(if about.is_dir() {
        What::Directory
    } else if about.is_symlink() {
        What::Link { to: fs::read_link(path)? }
    } else {
        What::File { bytes: about.len(), modified_at: (about.mtime(), about.mtime_nsec()) }
    })
}

/// Makes the same tree in `to`, of the same files; an error if one of them is not what it was.
fn link(entries: &[Entry], from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut files = Vec::new();
    for Entry { path, what } in entries {
        match what {
            What::Directory => fs::create_dir(to.join(path))?,
            What::Link { to: target } if fs::read_link(from.join(path))? == *target => {
                symlink(target, to.join(path))?;
            }
            What::Link { .. } => return Err(changed(path)),
            What::File { .. } => files.push((path, what)),
        }
    }
    // A package may be ten thousand files.
    let share = files.len().div_ceil(LINKERS).max(1);
    std::thread::scope(|scope| {
        let linkers = files.chunks(share).map(|files| scope.spawn(|| link_files(files, from, to)));
        let failed = |_| Err(io::Error::other("a thread failed"));
        Vec::from_iter(linkers).into_iter().try_for_each(|linker| linker.join().unwrap_or_else(failed))
    })
}

fn link_files(files: &[(&PathBuf, &What)], from: &Path, to: &Path) -> io::Result<()> {
    for (path, was) in files {
        let new = to.join(path);
        fs::hard_link(from.join(path), &new)?;
        if what(&new)? != **was {
            return Err(changed(path));
        }
    }
    Ok(())
}

/// An error if something in `tree` is not what it was.
fn unchanged(entries: &[Entry], tree: &Path) -> io::Result<()> {
    for entry in entries {
        if what(&tree.join(&entry.path))? != entry.what {
            return Err(changed(&entry.path));
        }
    }
    Ok(())
}

fn changed(path: &Path) -> io::Error {
    io::Error::other(format!("`{}` changed during installation", path.display()))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use tempfile::TempDir;

    use super::*;

    struct Place(TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(TempDir::new().unwrap());
            fs::create_dir_all(place.installed().join("bin/deep")).unwrap();
            fs::write(place.installed().join("bin/program"), "program").unwrap();
            fs::write(place.installed().join(manifest::NAME), "of this home").unwrap();
            symlink("program", place.installed().join("bin/alias")).unwrap();
            place
        }

        fn installed(&self) -> PathBuf {
            self.0.path().join("installed")
        }

        fn trees(&self) -> Trees {
            Trees::new(&self.0.path().join("cache"))
        }

        fn keep(&self, version: &str) -> io::Result<()> {
            self.trees().keep(&name(version), &manifest(version), &self.installed())
        }

        fn stock(&self, version: &str) -> io::Result<()> {
            self.trees().stock(&name(version))
        }

        fn spare(&self, version: &str) -> PathBuf {
            self.trees().of(&name(version)).join(SPARE)
        }

        fn take(&self, version: &str) -> (Option<Manifest>, TempDir) {
            let stage = TempDir::new_in(self.0.path()).unwrap();
            (self.trees().take(&name(version), stage.path()), stage)
        }
    }

    fn name(version: &str) -> TreeName {
        let Manifest { component, version, platform, .. } = manifest(version);
        TreeName::new(&component, &version, platform, &OriginKey::of_url("https://a.example"))
    }

    fn manifest(version: &str) -> Manifest {
        Manifest {
            component: "x".parse().unwrap(),
            version: version.parse().unwrap(),
            platform: Platform::here().unwrap(),
            program: "bin/program".into(),
            source: "a test".into(),
            sha256: None,
            verified: true,
            installed_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_next_home_gets_the_same_files() {
        let place = Place::new();
        place.keep("1.0.0").unwrap();
        place.keep("1.0.0").unwrap();
        let (taken, stage) = place.take("1.0.0");
        assert_eq!(taken, Some(manifest("1.0.0")));
        let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
        assert_eq!(inode(stage.path().join("bin/program")), inode(place.installed().join("bin/program")));
        assert_eq!(fs::read_link(stage.path().join("bin/alias")).unwrap(), Path::new("program"));
        assert!(stage.path().join("bin/deep").is_dir());
        assert!(!stage.path().join(manifest::NAME).exists(), "each home has its own");
        assert_eq!(place.take("2.0.0").0, None);
    }

    #[test]
    fn a_tree_of_another_origin_is_not_taken() {
        let place = Place::new();
        place.keep("1.0.0").unwrap();
        let Manifest { component, version, platform, .. } = manifest("1.0.0");
        let other = TreeName::new(&component, &version, platform, &OriginKey::of_url("https://b.example"));
        let stage = TempDir::new_in(place.0.path()).unwrap();
        assert!(!place.trees().has(&other) && place.trees().take(&other, stage.path()).is_none());
        assert!(place.trees().has(&name("1.0.0")));
    }

    #[test]
    fn what_was_changed_in_one_home_does_not_come_to_another() {
        let place = Place::new();
        place.keep("1.0.0").unwrap();
        fs::write(place.installed().join("bin/program"), "altered").unwrap();
        assert_eq!(place.take("1.0.0").0, None);
        place.keep("1.0.0").unwrap();
        assert!(place.take("1.0.0").0.is_some());
        fs::remove_file(
            place
                .trees()
                .directory
                .read_dir()
                .unwrap()
                .next()
                .unwrap()
                .unwrap()
                .path()
                .join("tree/bin/alias"),
        )
        .unwrap();
        assert_eq!(place.take("1.0.0").0, None);
    }

    #[test]
    fn a_spare_is_taken_once_and_made_again() {
        let place = Place::new();
        place.keep("1.0.0").unwrap();
        let spare = place.spare("1.0.0");
        place.stock("1.0.0").unwrap();
        let inode = fs::metadata(&spare).unwrap().ino();
        place.stock("1.0.0").unwrap();
        let (taken, stage) = place.take("1.0.0");
        assert_eq!(taken, Some(manifest("1.0.0")));
        assert_eq!(fs::metadata(stage.path()).unwrap().ino(), inode, "it was renamed, not linked");
        assert_eq!(fs::read(stage.path().join("bin/program")).unwrap(), b"program");
        assert!(!spare.exists());
        assert!(place.take("1.0.0").0.is_some(), "without a spare it is linked");
        place.stock("1.0.0").unwrap();
        assert!(spare.exists());
        place.stock("2.0.0").unwrap();
        assert!(!place.spare("2.0.0").exists(), "nothing is kept of that version");
    }

    #[test]
    fn a_spare_of_which_a_file_has_changed_is_not_taken() {
        let place = Place::new();
        place.keep("1.0.0").unwrap();
        place.stock("1.0.0").unwrap();
        fs::write(place.installed().join("bin/program"), "altered").unwrap();
        assert_eq!(place.take("1.0.0").0, None);
        assert_eq!(place.take("1.0.0").0, None, "nor is the tree it came from");
    }

    #[test]
    fn the_tree_that_was_not_used_for_longest_goes_first() {
        let place = Place::new();
        for version in ["1.0.0", "2.0.0", "3.0.0"] {
            place.keep(version).unwrap();
        }
        assert!(place.take("1.0.0").0.is_some());
        place.trees().bound(2).unwrap();
        let there = ["1.0.0", "2.0.0", "3.0.0"].map(|version| place.take(version).0.is_some());
        assert_eq!(there, [true, false, true]);
    }
}
