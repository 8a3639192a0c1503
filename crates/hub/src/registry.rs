//! The runtimes that the hub knows.

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc};

use client::{Client, Endpoint, Token};
use jiff::Timestamp;
use parking_lot::RwLock;
use protocol::RuntimeId;
use serde::{Deserialize, Serialize};

use crate::{Remote, Runtime, metrics, private, reach::Reach};

/// The runtimes that the hub knows, in a file that only its owner can read.
pub struct Registry {
    path: PathBuf,
    all: RwLock<BTreeMap<RuntimeId, Registered>>,
}

/// A runtime that the hub knows. Where it is and how it is spoken to stays with the hub.
#[derive(Clone)]
pub struct Registered {
    /// Since when.
    pub added_at: Timestamp,
    /// How its workers are watched.
    pub runtime: Arc<dyn Runtime>,
    /// How it is asked.
    pub client: Client,
    /// Whether it could be reached.
    pub(crate) reach: Reach,
    entry: Entry,
}

/// A runtime as the file has it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: RuntimeId,
    endpoint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    added_at: Timestamp,
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
        Ok(Self { path, all: RwLock::new(all) })
    }

    /// All names, in order.
    pub fn list(&self) -> Vec<(RuntimeId, Registered)> {
        self.all.read().iter().map(|(id, registered)| (id.clone(), registered.clone())).collect()
    }

    /// The runtime of that name.
    pub fn get(&self, id: &RuntimeId) -> Option<Registered> {
        self.all.read().get(id).cloned()
    }

    /// Adds a runtime, and writes that down.
    ///
    /// # Errors
    /// If the name is taken, what is said cannot be used, or the file cannot be written.
    pub fn add(
        &self,
        id: RuntimeId,
        endpoint: &str,
        token: Option<&str>,
    ) -> Result<Registered, RegistryError> {
        let (endpoint, token) = (endpoint.to_owned(), token.map(str::to_owned));
        let entry = Entry { id: id.clone(), endpoint, token, added_at: Timestamp::now() };
        let registered = Registered::new(entry)?;
        let mut all = self.all.write();
        if all.contains_key(&id) {
            return Err(RegistryError::Taken(id));
        }
        let mut next = all.clone();
        next.insert(id, registered.clone());
        self.write(&next)?;
        *all = next;
        Ok(registered)
    }

    /// Removes a runtime, and writes that down; whether there was one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn remove(&self, id: &RuntimeId) -> Result<bool, RegistryError> {
        let mut all = self.all.write();
        let mut next = all.clone();
        if next.remove(id).is_none() {
            return Ok(false);
        }
        self.write(&next)?;
        *all = next;
        Ok(true)
    }

    /// Tells how many runtimes there are.
    pub(crate) fn register(&self, registry: &mut prometheus_client::registry::Registry) {
        let all = self.all.read();
        metrics::register_runtimes(registry, all.values().map(|registered| registered.reach.state()));
    }

    fn write(&self, all: &BTreeMap<RuntimeId, Registered>) -> Result<(), RegistryError> {
        let entries: Vec<&Entry> = all.values().map(|registered| &registered.entry).collect();
        private::write(&self.path, &entries).map_err(|source| RegistryError::File { doing: "write", source })
    }
}

impl Registered {
    fn new(entry: Entry) -> Result<Self, RegistryError> {
        let invalid = |reason: String| RegistryError::Invalid { id: entry.id.clone(), reason };
        let endpoint: Endpoint =
            entry.endpoint.parse().map_err(|_| invalid("its address cannot be used".into()))?;
        let token = entry.token.as_deref().map(str::parse::<Token>).transpose();
        let token = token.map_err(|error| invalid(format!("its token cannot be used: {error}")))?;
        let client = Client::new(endpoint, token.as_ref());
        let client = client.map_err(|_| invalid("it cannot be spoken to".into()))?;
        let reach = Reach::default();
        let runtime = Arc::new(Remote::noting(client.clone(), reach.clone()));
        Ok(Self { added_at: entry.added_at, runtime, client, reach, entry })
    }
}

/// Neither where it is nor its token is shown.
impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registered").field("id", &self.entry.id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.all.read().keys()).finish()
    }
}
