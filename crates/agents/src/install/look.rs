//! Finding what is there already: in the store, or on the `PATH`.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use process::Spec;

use super::{Inner, tool};
use crate::{ComponentName, Found, Release};

/// How long a program may take to say its version.
const VERSION_MAX: Duration = Duration::from_secs(10);

/// A component that is there.
#[derive(Debug, Clone)]
pub(crate) struct Present {
    pub(crate) found: Found,
    /// Whether we installed it.
    pub(crate) managed: bool,
}

/// What a program on the `PATH` said when it was asked for its version; asked again when the file changes.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) changed: Option<SystemTime>,
    pub(super) release: Option<Release>,
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
        if let Some(said) = self.said.lock().get(program)
            && said.changed == changed
        {
            return said.release;
        }
        let answer = tool::run(&Spec::new(program).arg("--version"), VERSION_MAX).await;
        let release = answer.ok().and_then(|text| Release::find(&text));
        self.said.lock().insert(program.clone(), Said { changed, release });
        release
    }
}
