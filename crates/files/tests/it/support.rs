//! Shared helpers.

use std::{collections::BTreeMap, fs, io::Read, os::unix::fs::PermissionsExt, path::Path};

use files::{CreateOptions, Error, RootDirectory, RootedPath};

pub(crate) fn path(text: &str) -> RootedPath {
    RootedPath::parse(text).unwrap()
}

/// `jail/` is the tree; `outside/secret` must not be reachable.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) root: RootDirectory,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// In memory, for tests with thousands of files: on a disk each takes milliseconds.
    pub(crate) fn in_memory() -> Self {
        Self::at(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn at(dir: tempfile::TempDir) -> Self {
        fs::create_dir(dir.path().join("jail")).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        put(&dir.path().join("outside/secret"), "secret");
        let root = RootDirectory::open(&dir.path().join("jail")).unwrap();
        Self { dir, root }
    }

    pub(crate) fn jail(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join("jail").join(name)
    }

    pub(crate) fn outside(&self) -> std::path::PathBuf {
        self.dir.path().join("outside")
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, name: &str) {
        std::os::unix::fs::symlink(target, self.jail(name)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Result<String, Error> {
        let (mut file, _) = self.root.open_read(&path(name))?;
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<files::WriteOutcome, Error> {
        let mut file = self.root.create(&path(name), CreateOptions::default())?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    pub(crate) fn outside_is_untouched(&self) {
        let outside =
            BTreeMap::from([("secret".to_owned(), Thing::File { content: b"secret".into(), mode: 0o644 })]);
        assert_eq!(tree(&self.outside()), outside);
    }
}

/// Writes a file with mode 644, whatever the umask.
pub(crate) fn put(at: &Path, text: &str) {
    fs::write(at, text).unwrap();
    fs::set_permissions(at, fs::Permissions::from_mode(0o644)).unwrap();
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    File { content: Vec<u8>, mode: u32 },
    Directory { mode: u32 },
    Link(std::path::PathBuf),
    Other,
}

/// Everything below `top`, for comparing.
pub(crate) fn tree(top: &Path) -> BTreeMap<String, Thing> {
    let mut things = BTreeMap::new();
    let mut pending = vec![top.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let at = entry.unwrap().path();
            let meta = fs::symlink_metadata(&at).unwrap();
            let mode = meta.permissions().mode() & 0o7777;
            let thing = if meta.is_dir() {
                pending.push(at.clone());
                Thing::Directory { mode }
            } else if meta.is_symlink() {
                Thing::Link(fs::read_link(&at).unwrap())
            } else if meta.is_file() {
                // Files that an archive made unreadable are not compared.
                Thing::File { content: fs::read(&at).unwrap_or_default(), mode }
            } else {
                Thing::Other
            };
            things.insert(at.strip_prefix(top).unwrap().to_string_lossy().into_owned(), thing);
        }
    }
    things
}

/// Matches an error's cause by pattern.
macro_rules! assert_cause {
    ($result:expr, $cause:pat) => {
        match $result {
            Err(error) if matches!(error.cause(), $cause) => {}
            other => panic!("expected {}, got {other:?}", stringify!($cause)),
        }
    };
}
pub(crate) use assert_cause;
