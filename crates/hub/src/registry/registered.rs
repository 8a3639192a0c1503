//! A runtime that the hub knows.

use std::{sync::Arc, time::Duration};

use client::{Client, Endpoint, Token};
use jiff::Timestamp;
use protocol::{RuntimeId, WorkspaceName, hub::RuntimeKind};
use serde::{Deserialize, Serialize};

use super::{Identity, RegistryError};
use crate::{
    Remote, Runtime,
    reach::{Reach, State},
    runtime::{Hop, Joined},
};

/// A runtime that the hub knows. Where it is and how it is spoken to stays with the hub.
#[derive(Clone)]
pub struct Registered {
    /// The workspace that it belongs to.
    pub workspace: WorkspaceName,
    /// Since when.
    pub added_at: Timestamp,
    /// How the hub comes to it.
    pub kind: RuntimeKind,
    /// How it is asked and watched.
    pub runtime: Arc<dyn Runtime>,
    /// Whether it could be reached.
    reach: Reach,
    /// Where its tunnels end, if it comes by itself.
    pub(super) joined: Option<Arc<Joined>>,
    pub(super) origin: Origin,
}

/// Who says that there is such a runtime.
#[derive(Clone)]
pub(super) enum Origin {
    /// This process, for as long as it is there.
    Process,
    /// Somebody said so to the hub, which wrote it down.
    Told(Entry),
    /// The file of whoever runs the hub.
    Named(Entry),
}

/// A runtime as the hub writes it down.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) id: RuntimeId,
    /// A file of before there were workspaces has none.
    #[serde(default)]
    pub(super) workspace: WorkspaceName,
    #[serde(flatten)]
    pub(super) way: Way,
    pub(super) added_at: Timestamp,
}

/// How the hub comes to a runtime, as it writes it down.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum Way {
    Remote {
        endpoint: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<String>,
    },
    Joined {
        /// The digest of the join token.
        join_digest: String,
        /// The digest of the id of the daemon that joined first. Only that daemon may join from then on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        daemon_digest: Option<String>,
        /// When the token expires if no daemon has joined; never in files of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
}

impl Entry {
    pub(super) fn new(id: RuntimeId, workspace: WorkspaceName, way: Way) -> Self {
        Self { id, workspace, way, added_at: Timestamp::now() }
    }
}

impl Registered {
    /// One that is there as long as this process is.
    pub(super) fn here(id: &RuntimeId, runtime: Arc<dyn Runtime>) -> Self {
        let (workspace, added_at, kind) = (WorkspaceName::default(), Timestamp::now(), RuntimeKind::Local);
        let (runtime, reach) = noted(id, runtime);
        Self { workspace, added_at, kind, runtime, reach, joined: None, origin: Origin::Process }
    }

    /// One that somebody told the hub of.
    pub(super) fn told(entry: Entry, silence_max: Duration) -> Result<Self, RegistryError> {
        Self::new(entry, silence_max, Origin::Told)
    }

    /// One that the file of whoever runs the hub names.
    pub(super) fn named(entry: Entry, silence_max: Duration) -> Result<Self, RegistryError> {
        Self::new(entry, silence_max, Origin::Named)
    }

    fn new(
        entry: Entry,
        silence_max: Duration,
        origin: impl FnOnce(Entry) -> Origin,
    ) -> Result<Self, RegistryError> {
        let (workspace, added_at) = (entry.workspace.clone(), entry.added_at);
        let (kind, runtime, joined): (_, Arc<dyn Runtime>, _) = match &entry.way {
            Way::Remote { endpoint, token } => {
                let remote = remote(endpoint, token.as_deref(), silence_max);
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
        Ok(Self { workspace, added_at, kind, runtime, reach, joined, origin: origin(entry) })
    }

    /// How it is, where that is known without asking, or else how it was when it was last asked.
    pub(super) fn state(&self) -> State {
        self.runtime.is_up().map_or_else(|| self.reach.state(), State::now)
    }

    /// Which it is: another of the same name is another.
    pub(crate) fn identity(&self) -> Identity {
        match &self.origin {
            Origin::Process => Identity::Process,
            Origin::Told(entry) => Identity::Added(entry.added_at),
            Origin::Named(entry) => Identity::named(&entry.workspace, &entry.way),
        }
    }

    /// What the hub writes down of it.
    pub(super) fn kept(&self) -> Option<&Entry> {
        match &self.origin {
            Origin::Told(entry) => Some(entry),
            Origin::Process | Origin::Named(_) => None,
        }
    }

    /// The same runtime, which only the daemon with this digest may join from now on.
    pub(super) fn bound_to(&self, daemon: String) -> Self {
        let mut bound = self.clone();
        if let Origin::Told(Entry { way: Way::Joined { daemon_digest, .. }, .. }) = &mut bound.origin {
            *daemon_digest = Some(daemon);
        }
        bound
    }

    /// Whether the file names it.
    pub(super) fn is_named(&self) -> bool {
        matches!(self.origin, Origin::Named(_))
    }

    /// Whether the file named it in just this way.
    pub(super) fn is_named_so(&self, other: &Entry) -> bool {
        match &self.origin {
            Origin::Named(entry) => entry.workspace == other.workspace && entry.way == other.way,
            Origin::Process | Origin::Told(_) => false,
        }
    }
}

/// The way to a runtime, and what is noted on it.
fn noted(id: &RuntimeId, runtime: Arc<dyn Runtime>) -> (Arc<dyn Runtime>, Reach) {
    let reach = Reach::default();
    (Arc::new(Hop { id: id.clone(), runtime, reach: reach.clone() }), reach)
}

/// A runtime at an address; or why there can be none.
fn remote(endpoint: &str, token: Option<&str>, silence_max: Duration) -> Result<Remote, String> {
    let endpoint: Endpoint = endpoint.parse().map_err(|_| "the endpoint is not a valid URL")?;
    let token = token.map(str::parse::<Token>).transpose();
    let token = token.map_err(|error| format!("the token is invalid: {error}"))?;
    let client = Client::new(endpoint, token.as_ref()).map_err(|_| "could not create a client for it")?;
    Ok(Remote::new(client, silence_max))
}

/// Neither where it is nor its token is shown.
impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registered").field("kind", &self.kind).finish_non_exhaustive()
    }
}
