//! Finding what is there already: in the store, or on the `PATH`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use files::private_file;
use process::ProcessSpec;
use serde::{Deserialize, Serialize};

use super::{Inner, tool};
use agent_catalog::{ComponentName, Found, Release};

/// How long a program may take to say its version.
const VERSION_MAX: Duration = Duration::from_secs(10);

/// Where in the cache is kept what programs said.
const SAID: &str = "programs.json";

/// A component that is there.
#[derive(Debug, Clone)]
pub(crate) struct Present {
    pub(crate) found: Found,
    /// Whether we installed it.
    pub(crate) managed: bool,
}

/// What a program on the `PATH` said when it was asked for its version; asked again when the file changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Said {
    changed: Option<SystemTime>,
    release: Option<Release>,
}

impl Inner {
    /// The component, if it is there and new enough: what we installed comes before what is on the `PATH`.
    pub(super) async fn look(&self, name: &ComponentName, min: Option<Release>) -> Option<Present> {
        if let Some(stored) = self.store.current(name)
            && min.is_none_or(|min| stored.manifest.version.release() >= min)
        {
            return Some(Present { found: stored.found, managed: true });
        }
        let catalog = self.catalog.read().clone();
        let on_path = catalog.component(name)?.on_path.as_ref()?;
        let program = self.config.search_path.find(Path::new(&on_path.program))?;
        if let Some(min) = min
            && self.release(&program).await.is_none_or(|release| release < min)
        {
            return None;
        }
        let tree = program.parent().map(Path::to_path_buf).unwrap_or_default();
        Some(Present { found: Found { program, tree }, managed: false })
    }

    async fn release(&self, program: &PathBuf) -> Option<Release> {
        let changed = program.metadata().and_then(|metadata| metadata.modified()).ok();
        let known = |said: &BTreeMap<PathBuf, Said>| {
            said.get(program).filter(|said| said.changed == changed).cloned()
        };
        let said = known(&self.said.lock()).or_else(|| known(&self.remembered()));
        if let Some(said) = said {
            self.said.lock().insert(program.clone(), said.clone());
            return said.release;
        }
        let answer = tool::run(&ProcessSpec::new(program).arg("--version"), VERSION_MAX).await;
        let release = answer.ok().and_then(|text| Release::find(&text));
        self.remember(program, Said { changed, release });
        release
    }

    /// What programs said to earlier processes: to ask one takes as long as to start it.
    fn remembered(&self) -> BTreeMap<PathBuf, Said> {
        let file = self.config.cache.as_ref().map(|cache| cache.join(SAID));
        let text = file.and_then(|file| fs::read(file).ok()).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn remember(&self, program: &Path, said: Said) {
        self.said.lock().insert(program.to_path_buf(), said.clone());
        let Some(cache) = &self.config.cache else { return };
        let mut all = self.remembered();
        all.retain(|program, _| program.exists());
        all.insert(program.to_path_buf(), said);
        // Whoever cannot read it asks again.
        let _ = fs::create_dir_all(cache)
            .and_then(|()| private_file::write(&cache.join(SAID), &serde_json::to_vec(&all)?));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use agent_catalog::Catalog;

    use super::*;
    use crate::{Config, Installer};

    /// A program that says its version, and notes that it was asked.
    fn program(directory: &Path, version: &str) -> PathBuf {
        let path = directory.join("program");
        let text =
            format!("#!/bin/sh\necho asked >> {}\necho v{version}\n", directory.join("asked").display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn a_program_is_asked_once_by_all_processes_and_again_when_it_changes() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Some(directory.path().join("cache"));
        let path = program(directory.path(), "1.2.3");
        let ask = async || {
            let catalog = Catalog::new(Path::new("/own"), BTreeMap::new()).unwrap();
            let installer = Installer::new(Config { cache: cache.clone(), ..Config::default() }, catalog);
            installer.inner.release(&path).await.unwrap().to_string()
        };
        assert_eq!((ask().await, ask().await), ("1.2.3".into(), "1.2.3".into()));
        program(directory.path(), "2.0.0");
        let later = SystemTime::now() + Duration::from_secs(5);
        fs::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_eq!(ask().await, "2.0.0");
        assert_eq!(fs::read_to_string(directory.path().join("asked")).unwrap().lines().count(), 2);
    }
}
