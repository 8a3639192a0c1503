//! What `/v1/config` holds for a directory, as the agents of sessions are to have it.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use futures_util::future::BoxFuture;
use protocol::config::{McpServer, Skill};
use tracing::warn;
use worker_runtime::{DirectorySettings, Settings};

use crate::{
    skills::Skills,
    store::{Directory, Store},
};

/// The settings of directories.
pub(crate) struct Configured {
    store: Store,
    skills: Arc<Skills>,
}

impl Configured {
    pub(crate) fn new(store: Store, skills: Skills) -> Self {
        Self { store, skills: Arc::new(skills) }
    }
}

impl Settings for Configured {
    fn of(&self, directory: PathBuf, own: BTreeMap<String, Skill>) -> BoxFuture<'static, DirectorySettings> {
        let (store, skills) = (self.store.clone(), self.skills.clone());
        Box::pin(async move {
            let (mcp, mut entries) = stored(&store, &directory).await;
            entries.extend(own);
            DirectorySettings { mcp, skills: skills.resolve(&directory, &entries).await }
        })
    }
}

/// What is stored for the directory. An agent is of use without it too, so a file that cannot be read is only told.
async fn stored(
    store: &Store,
    directory: &std::path::Path,
) -> (BTreeMap<String, McpServer>, BTreeMap<String, Skill>) {
    let Some(key) = directory.to_str().and_then(|path| Directory::try_from(path.to_owned()).ok()) else {
        return Default::default();
    };
    let (mcp, skills) = tokio::join!(store.mcp.list(&key), store.skills.list(&key));
    for problem in [mcp.as_ref().err(), skills.as_ref().err()].into_iter().flatten() {
        warn!(problem = problem.problem().detail, "the configuration of a directory cannot be read");
    }
    let mut mcp = mcp.unwrap_or_default();
    mcp.retain(|_, server| is_enabled(server));
    (mcp, skills.unwrap_or_default())
}

fn is_enabled(server: &McpServer) -> bool {
    let (McpServer::Local { enabled, .. } | McpServer::Remote { enabled, .. }) = server;
    *enabled != Some(false)
}
