//! The runtimes that the hub knows.

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc};

use client::{Client, Endpoint, Token};
use jiff::Timestamp;
use parking_lot::RwLock;
use protocol::{RuntimeId, Workspace, hub::RuntimeKind};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::{
    Remote, Runtime, metrics, private,
    reach::{Reach, State},
    runtime::{Hop, Joined},
    secret::{NewToken, digest},
};

/// What a token that lets a daemon join begins with.
const PREFIX: &str = "tombolo_join_";

/// Names that routes have beside those of runtimes.
const RESERVED: [&str; 1] = ["join-tokens"];

/// The runtimes that the hub knows, in a file that only its owner can read.
pub struct Registry {
    path: PathBuf,
    all: RwLock<BTreeMap<RuntimeId, Registered>>,
    /// How often that has changed.
    changes: watch::Sender<u64>,
}

/// A runtime that the hub knows. Where it is and how it is spoken to stays with the hub.
#[derive(Clone)]
pub struct Registered {
    /// The workspace that it belongs to.
    pub workspace: Workspace,
    /// Since when.
    pub added_at: Timestamp,
    /// How the hub comes to it.
    pub kind: RuntimeKind,
    /// How it is asked and watched.
    pub runtime: Arc<dyn Runtime>,
    /// Whether it could be reached.
    reach: Reach,
    /// Where its tunnels end, if it comes by itself.
    joined: Option<Arc<Joined>>,
    /// What is kept of it, unless it is only there while this process is.
    entry: Option<Entry>,
}

/// A runtime as the file has it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: RuntimeId,
    /// A file of before there were workspaces has none.
    #[serde(default)]
    workspace: Workspace,
    #[serde(flatten)]
    way: Way,
    added_at: Timestamp,
}

/// How the hub comes to a runtime, as the file has it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Way {
    Remote {
        endpoint: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<String>,
    },
    Joined {
        /// Of the token that lets it join.
        join_digest: String,
    },
}

/// Why the registry cannot be used, or not so.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The file cannot be read or written.
    #[error("could not {doing} the runtimes that are registered")]
    File {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// There is one of that name.
    #[error("there is a runtime `{0}` already")]
    Taken(RuntimeId),
    /// What is said of the runtime cannot be used.
    #[error("runtime `{id}`: {reason}")]
    Invalid {
        /// The runtime.
        id: RuntimeId,
        /// Why.
        reason: String,
    },
}

impl Registry {
    /// Reads the file, if there is one.
    ///
    /// # Errors
    /// If it cannot be read, or a runtime in it cannot be used.
    pub fn open(path: PathBuf) -> Result<Self, RegistryError> {
        let entries: Vec<Entry> =
            private::read(&path).map_err(|source| RegistryError::File { doing: "read", source })?;
        let mut all = BTreeMap::new();
        for entry in entries {
            all.insert(entry.id.clone(), Registered::new(entry)?);
        }
        Ok(Self { path, all: RwLock::new(all), changes: watch::Sender::new(0) })
    }

    /// All names, in order.
    pub fn list(&self) -> Vec<(RuntimeId, Registered)> {
        self.all.read().iter().map(|(id, registered)| (id.clone(), registered.clone())).collect()
    }

    /// Changes whenever a runtime comes or goes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The runtime of that name.
    pub fn get(&self, id: &RuntimeId) -> Option<Registered> {
        self.all.read().get(id).cloned()
    }

    /// Adds a runtime to a workspace, and writes that down.
    ///
    /// # Errors
    /// If the name is taken, what is said cannot be used, or the file cannot be written.
    pub fn add(
        &self,
        (id, workspace): (RuntimeId, Workspace),
        endpoint: &str,
        token: Option<&str>,
    ) -> Result<Registered, RegistryError> {
        let way = Way::Remote { endpoint: endpoint.to_owned(), token: token.map(str::to_owned) };
        let entry = Entry { id: id.clone(), workspace, way, added_at: Timestamp::now() };
        let registered = Registered::new(entry)?;
        self.insert(id, registered.clone())?;
        Ok(registered)
    }

    /// Adds a runtime that is to come by itself, and writes that down: what lets it, and nothing else.
    ///
    /// # Errors
    /// If the name is taken or cannot be used, or the file cannot be written.
    pub fn invite(&self, id: RuntimeId, workspace: Workspace) -> Result<NewToken, RegistryError> {
        let token = NewToken::mint(PREFIX)
            .map_err(|source| RegistryError::File { doing: "make a token for", source })?;
        let way = Way::Joined { join_digest: token.digest() };
        let entry = Entry { id: id.clone(), workspace, way, added_at: Timestamp::now() };
        self.insert(id, Registered::new(entry)?)?;
        Ok(token)
    }

    /// Adds a runtime that is there as long as this process is; it is not written down.
    ///
    /// # Errors
    /// If the name is taken or cannot be used.
    pub fn attach(&self, id: RuntimeId, runtime: Arc<dyn Runtime>) -> Result<(), RegistryError> {
        let (workspace, added_at, kind) = (Workspace::default(), Timestamp::now(), RuntimeKind::Local);
        let (runtime, reach) = noted(&id, runtime);
        self.insert(id, Registered { workspace, added_at, kind, runtime, reach, joined: None, entry: None })
    }

    /// The runtime that this token lets join.
    pub(crate) fn joining(&self, token: &str) -> Option<(RuntimeId, Arc<Joined>)> {
        let digest = digest(token);
        let all = self.all.read();
        all.iter().find_map(|(id, registered)| match &registered.entry.as_ref()?.way {
            Way::Joined { join_digest } if *join_digest == digest => {
                Some((id.clone(), registered.joined.clone()?))
            }
            _ => None,
        })
    }

    /// Ends the tunnels of those that came by themselves.
    pub(crate) fn shutdown(&self) {
        self.all.read().values().filter_map(|registered| registered.joined.as_ref()).for_each(|j| j.end());
    }

    fn insert(&self, id: RuntimeId, registered: Registered) -> Result<(), RegistryError> {
        if RESERVED.contains(&id.as_str()) {
            return Err(RegistryError::Invalid { id, reason: "no runtime can have this name".into() });
        }
        let mut all = self.all.write();
        if all.contains_key(&id) {
            return Err(RegistryError::Taken(id));
        }
        let kept = registered.entry.is_some();
        let mut next = all.clone();
        next.insert(id, registered);
        if kept {
            self.write(&next)?;
        }
        *all = next;
        self.changes.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Removes a runtime, and writes that down; whether there was one. A tunnel to it ends, and no other can be made.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn remove(&self, id: &RuntimeId) -> Result<bool, RegistryError> {
        let mut all = self.all.write();
        let mut next = all.clone();
        let Some(removed) = next.remove(id) else { return Ok(false) };
        self.write(&next)?;
        *all = next;
        self.changes.send_modify(|count| *count += 1);
        if let Some(joined) = removed.joined {
            joined.end();
        }
        Ok(true)
    }

    /// Tells how many runtimes there are.
    pub(crate) fn register(&self, registry: &mut prometheus_client::registry::Registry) {
        let all = self.all.read();
        metrics::register_runtimes(registry, all.values().map(|it| (it.kind, it.state())));
    }

    fn write(&self, all: &BTreeMap<RuntimeId, Registered>) -> Result<(), RegistryError> {
        let entries: Vec<&Entry> = all.values().filter_map(|registered| registered.entry.as_ref()).collect();
        private::write(&self.path, &entries).map_err(|source| RegistryError::File { doing: "write", source })
    }
}

impl Registered {
    fn new(entry: Entry) -> Result<Self, RegistryError> {
        let (workspace, added_at) = (entry.workspace.clone(), entry.added_at);
        let (kind, runtime, joined): (_, Arc<dyn Runtime>, _) = match &entry.way {
            Way::Remote { endpoint, token } => {
                let remote = remote(endpoint, token.as_deref());
                let remote =
                    remote.map_err(|reason| RegistryError::Invalid { id: entry.id.clone(), reason })?;
                (RuntimeKind::Remote, Arc::new(remote), None)
            }
            Way::Joined { .. } => {
                let joined = Arc::new(Joined::new());
                (RuntimeKind::Joined, joined.clone(), Some(joined))
            }
        };
        let (runtime, reach) = noted(&entry.id, runtime);
        Ok(Self { workspace, added_at, kind, runtime, reach, joined, entry: Some(entry) })
    }

    /// How it is, where that is known without asking, or else how it was when it was last asked.
    fn state(&self) -> State {
        self.runtime.is_up().map_or_else(|| self.reach.state(), State::now)
    }
}

/// The way to a runtime, and what is noted on it.
fn noted(id: &RuntimeId, runtime: Arc<dyn Runtime>) -> (Arc<dyn Runtime>, Reach) {
    let reach = Reach::default();
    (Arc::new(Hop { id: id.clone(), runtime, reach: reach.clone() }), reach)
}

/// A runtime at an address; or why there can be none.
fn remote(endpoint: &str, token: Option<&str>) -> Result<Remote, String> {
    let endpoint: Endpoint = endpoint.parse().map_err(|_| "its address cannot be used")?;
    let token = token.map(str::parse::<Token>).transpose();
    let token = token.map_err(|error| format!("its token cannot be used: {error}"))?;
    let client = Client::new(endpoint, token.as_ref()).map_err(|_| "it cannot be spoken to")?;
    Ok(Remote::new(client))
}

/// Neither where it is nor its token is shown.
impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registered").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.all.read().keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of before there were workspaces is read, and a workspace is kept.
    #[test]
    fn a_workspace_is_kept_and_may_be_missing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runtimes.json");
        let old = r#"[{ "id": "old", "endpoint": "http://127.0.0.1:9", "addedAt": "2026-01-01T00:00:00Z" }]"#;
        std::fs::write(&path, old).unwrap();
        let (new, lab) = ("new".parse().unwrap(), "lab".parse().unwrap());
        Registry::open(path.clone()).unwrap().add((new, lab), "http://127.0.0.1:9", None).unwrap();
        let list = Registry::open(path).unwrap().list();
        let workspaces: Vec<_> = list.iter().map(|(_, registered)| registered.workspace.as_str()).collect();
        assert_eq!(workspaces, ["lab", "default"]);
    }
}
