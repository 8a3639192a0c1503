//! Supplies the MCP servers and skills that `/v1/config` stores for a directory to the agents of sessions.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use futures_util::future::BoxFuture;
use protocol::config::{McpServer, Skill};
use tracing::warn;
use worker_runtime::{DirectorySettings, Settings};

use crate::{
    config_store::{ConfigDirectory, ConfigStore},
    skills::SkillResolver,
};

/// The stored settings of directories.
pub(crate) struct StoredDirectorySettings {
    store: ConfigStore,
    skills: Arc<SkillResolver>,
}

impl StoredDirectorySettings {
    pub(crate) fn new(store: ConfigStore, skills: SkillResolver) -> Self {
        Self { store, skills: Arc::new(skills) }
    }
}

impl Settings for StoredDirectorySettings {
    fn for_directory(
        &self,
        directory: PathBuf,
        session_skills: BTreeMap<String, Skill>,
    ) -> BoxFuture<'static, DirectorySettings> {
        let store = self.store.clone();
        let skills = self.skills.clone();
        Box::pin(async move {
            let (mcp, mut entries) = load(&store, &directory).await;
            entries.extend(session_skills);
            let (skills, warnings) = skills.resolve(&directory, &entries).await;
            DirectorySettings { mcp, skills, warnings }
        })
    }
}

/// Loads the stored settings. An agent is useful without them too, so a file that cannot be read is only logged.
async fn load(
    store: &ConfigStore,
    directory: &std::path::Path,
) -> (BTreeMap<String, McpServer>, BTreeMap<String, Skill>) {
    let Some(key) = directory.to_str().and_then(|path| ConfigDirectory::try_from(path.to_owned()).ok())
    else {
        return Default::default();
    };
    let (mcp, skills) = tokio::join!(store.mcp.list(&key), store.skills.list(&key));
    for problem in [mcp.as_ref().err(), skills.as_ref().err()].into_iter().flatten() {
        warn!(problem = problem.problem().detail, "could not read the configuration of a directory");
    }
    let mut mcp = mcp.unwrap_or_default();
    mcp.retain(|_, server| is_enabled(server));
    (mcp, skills.unwrap_or_default())
}

fn is_enabled(server: &McpServer) -> bool {
    let (McpServer::Local { enabled, .. } | McpServer::Remote { enabled, .. }) = server;
    *enabled != Some(false)
}
