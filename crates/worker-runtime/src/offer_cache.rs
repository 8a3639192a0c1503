//! The modes and models that agents report, cached in a file, because asking an agent means starting it.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use agent_adapters::{Fact, Offers, fixed_modes, with_build};
use agent_catalog::Definition;
use files::private_file;
use parking_lot::Mutex;
use protocol::{
    AgentName,
    agents::{AgentModeList, AgentModelList, OfferSource},
    sessions::CreateSessionRequest,
};
use serde::{Deserialize, Serialize};
use tokio::{sync::Semaphore, task::spawn_blocking};
use tracing::debug;

use crate::{
    agent_link::AgentLink,
    launcher::{AgentStart, Launcher},
    session_secrets::SessionSecrets,
    stored_session::StoredOptions,
};

/// The name of the cache file, in the directory of the sessions.
const FILE: &str = "offers.json";

/// The number of entries: one for each agent, version and directory.
const ENTRIES_MAX: usize = 256;

/// How long an agent may take to report its modes and models. Some are 300 MB and start on a busy machine.
const ASKING_MAX: Duration = Duration::from_secs(30);

/// The modes and models that agents reported.
pub(crate) struct OfferCache {
    file: PathBuf,
    /// Read from the file when first needed.
    entries: Mutex<Option<OfferFile>>,
    /// Only one agent is started at a time for its report. Requests that waited meanwhile find the report in the cache.
    asking: Semaphore,
}

/// The entries, the one that was added last at the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct OfferFile {
    entries: VecDeque<OfferEntry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct OfferEntry {
    key: OfferKey,
    offers: Offers,
}

/// The offers of an agent depend on its version and, for example with OpenCode, on the project's configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OfferKey {
    agent: AgentName,
    version: String,
    directory: PathBuf,
}

impl OfferCache {
    /// A cache in a file below `directory`.
    pub(crate) fn new(directory: &Path) -> Self {
        let (entries, asking) = (Mutex::default(), Semaphore::new(1));
        Self { file: directory.join(FILE), entries, asking }
    }

    /// Returns the cached report of an agent; it contains models only if they were requested from the agent.
    async fn get(&self, key: &OfferKey) -> Option<Offers> {
        if self.entries.lock().is_none() {
            let file = self.file.clone();
            let read = spawn_blocking(move || {
                let bytes = std::fs::read(file).ok()?;
                serde_json::from_slice::<OfferFile>(&bytes).ok()
            });
            // An unreadable file counts as empty; the next report replaces it.
            let read = read.await.ok().flatten().unwrap_or_default();
            self.entries.lock().get_or_insert(read);
        }
        let entries = self.entries.lock();
        let mut all = entries.iter().flat_map(|file| &file.entries);
        all.find(|entry| entry.key == *key).map(|entry| entry.offers.clone())
    }

    async fn put(&self, key: OfferKey, offers: Offers) {
        let all = {
            let mut entries = self.entries.lock();
            let file = entries.get_or_insert_default();
            // Reports of other versions are outdated.
            file.entries.retain(|entry| {
                entry.key.agent != key.agent
                    || (entry.key.directory != key.directory && entry.key.version == key.version)
            });
            file.entries.push_back(OfferEntry { key, offers });
            while file.entries.len() > ENTRIES_MAX {
                file.entries.pop_front();
            }
            file.clone()
        };
        let path = self.file.clone();
        let written = spawn_blocking(move || {
            path.parent().map(private_file::create_directory).transpose()?;
            private_file::write(&path, &serde_json::to_vec(&all)?)
        });
        // Without the file, the next daemon asks the agent again.
        if let Ok(Err(error)) = written.await {
            debug!(%error, "could not store what an agent offers");
        }
    }
}

impl Launcher {
    /// The modes that sessions of an agent accept in a directory.
    pub(crate) async fn modes(&self, agent: &Arc<Definition>, directory: PathBuf) -> AgentModeList {
        if let Some(modes) = fixed_modes(agent.protocol, &agent.modes) {
            return AgentModeList { modes, source: OfferSource::Agent };
        }
        match self.offers(agent, directory).await {
            Some(offers) => AgentModeList { modes: offers.modes, source: OfferSource::Agent },
            None => AgentModeList { modes: with_build(agent.modes.clone()), source: OfferSource::Catalog },
        }
    }

    /// The models that an agent can use in a directory.
    pub(crate) async fn models(&self, agent: &Arc<Definition>, directory: PathBuf) -> AgentModelList {
        let asked = self.offers(agent, directory).await.and_then(|offers| offers.models);
        let source = if asked.is_some() { OfferSource::Agent } else { OfferSource::Catalog };
        AgentModelList { items: asked.unwrap_or_else(|| agent.models.clone()), next_cursor: None, source }
    }

    /// Returns what an agent offers in a directory: from the cache, or by starting the agent and asking it. `None` if it is not
    /// installed or does not report it.
    async fn offers(&self, agent: &Arc<Definition>, directory: PathBuf) -> Option<Offers> {
        let key = OfferKey {
            agent: agent.id.clone(),
            version: self.installer.installed_version(agent).await?,
            directory: directory.clone(),
        };
        if let Some(known) = self.offer_cache.get(&key).await {
            return Some(known);
        }
        let _asking = self.offer_cache.asking.acquire().await.ok()?;
        if let Some(known) = self.offer_cache.get(&key).await {
            return Some(known);
        }
        let asked = tokio::time::timeout(ASKING_MAX, self.ask_offers(agent, directory)).await;
        let offers = asked
            .inspect_err(|_| debug!(agent = %agent.id, "the agent did not say what it offers"))
            .ok()??;
        self.offer_cache.put(key, offers.clone()).await;
        Some(offers)
    }

    async fn ask_offers(&self, agent: &Arc<Definition>, directory: PathBuf) -> Option<Offers> {
        let start = AgentStart {
            options: StoredOptions::new(&CreateSessionRequest::new(agent.id.clone())),
            secrets: SessionSecrets::default(),
            token: None,
            private: self.config.directory.join("private").join(".offers").join(agent.id.as_str()),
            directory,
            run: "offers".into(),
            resume: None,
            asks_models: true,
        };
        let started = self.start(start).await;
        let mut link =
            started.inspect_err(|error| debug!(agent = %agent.id, ?error, "could not ask the agent")).ok()?;
        let offers = read_offers(&mut link).await;
        link.stop().await;
        offers
    }
}

/// Reads the report of an agent that has just been started; `None` if the agent cannot be used.
async fn read_offers(link: &mut AgentLink) -> Option<Offers> {
    let mut outs = vec![link.start()];
    loop {
        for out in outs {
            for fact in out.facts {
                match fact {
                    Fact::Offers(offers) => return Some(offers),
                    Fact::Ready | Fact::Failed(_) => return None,
                    _ => {}
                }
            }
            out.says.into_iter().for_each(|saying| link.send(saying));
        }
        outs = link.next_output().await?.into_iter().map(|output| output.out).collect();
    }
}
