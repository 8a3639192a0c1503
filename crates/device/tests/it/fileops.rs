//! `file.*` on real directories.

mod basics;
mod copies;
mod delete;
mod escape;
mod jail;
mod listing;
mod search;
mod transfer;
mod watch;

use std::{path::PathBuf, sync::Arc};

use device::{Consent, Device, Fileops, Roots};
use protocol::relay::{Root, RootMode};

use crate::support::Lent;

/// `main/` is lent to be changed, `docs/` to be read; `outside/secret` is what must not be reached.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) device: Device,
    pub(crate) lent: Lent,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap()).await
    }

    /// In memory, for what touches thousands of files.
    pub(crate) async fn in_memory() -> Self {
        Self::at(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()).await
    }

    async fn at(dir: tempfile::TempDir) -> Self {
        for name in ["main", "docs", "outside"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("outside/secret"), "secret").unwrap();
        let roots = [("main", RootMode::Rw), ("docs", RootMode::Ro)]
            .map(|(id, mode)| (root(id, mode), dir.path().join(id)));
        let device = device(roots);
        Self { lent: Lent::connect(device.clone()).await, device, dir }
    }

    /// A path in the root that may be changed.
    pub(crate) fn main(&self, name: &str) -> PathBuf {
        self.dir.path().join("main").join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.main(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> String {
        std::fs::read_to_string(self.main(name)).unwrap()
    }

    pub(crate) fn outside_is_untouched(&self) {
        let names: Vec<_> = std::fs::read_dir(self.dir.path().join("outside"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["secret"]);
        assert_eq!(std::fs::read_to_string(self.dir.path().join("outside/secret")).unwrap(), "secret");
    }
}

/// Lends directories.
pub(crate) async fn lend(roots: impl IntoIterator<Item = (Root, PathBuf)>) -> Lent {
    Lent::connect(device(roots)).await
}

fn device(roots: impl IntoIterator<Item = (Root, PathBuf)>) -> Device {
    let roots = Arc::new(Roots::open(roots).unwrap());
    Device::new(vec![Box::new(Fileops::new(roots))], Consent::default())
}

pub(crate) fn root(id: &str, mode: RootMode) -> Root {
    Root {
        root_id: id.parse().unwrap(),
        label: None,
        virtual_path: format!("/workspace/{id}").parse().unwrap(),
        mode,
    }
}
