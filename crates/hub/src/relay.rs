//! Devices that are lent to agents: who connects, what may be used of it by whom, and what was done.
//!
//! A device connects ([`device`]) and is accepted for what it offers, as far as it is granted ([`acceptance`]). A session uses it
//! through an [`environment`]. Whatever is asked of a device goes through one door ([`door`]): there it is decided whether it may
//! be asked, somebody is asked where that is needed, and it is written down. When what holds changes, the [`warden`] ends
//! what no longer may go on.

mod acceptance;
mod aftermath;
mod approvals;
mod commands;
mod connection;
mod connections;
pub(crate) mod device;
mod door;
mod ending;
mod environment;
mod hold;
mod inside;
mod ledger;
mod lending;
mod metrics;
mod note;
mod pairing;
mod pending;
mod running;
mod runtime;
mod starting;
pub(crate) mod store;
mod target;
mod uses;
mod warden;

use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use hub_access::{UserStore, token_digest};
use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::{
    EnvironmentId, RuntimeId, SessionId,
    lending::{EnvironmentStatus, RelayStatus},
};
use relay::Limits;
use server::ErrorChain;
use tokio_util::task::TaskTracker;
use tracing::error;

use crate::{Feeds, Registry, inbox::Inbox};
use approvals::Approvals;
use commands::Commands;
use connections::Connections;
use inside::McpDoors;
use ledger::Ledger;
use metrics::Metrics;
use pairing::Pairings;
use store::{EnvironmentEntry, Store};
use uses::Uses;

pub(crate) use approvals::Unanswered;
pub(crate) use connection::Who;
pub(crate) use environment::Environment;
pub(crate) use lending::AddError;
pub(crate) use pairing::{Claim, Error as PairingError};
pub(crate) use runtime::serve as serve_runtime;

/// The files of the relay, in the directory of the hub.
const STATE: &str = "relay.json";
const AUDIT: &str = "relay-audit.db";

/// Devices that are lent to agents. A clone is the same.
#[derive(Clone)]
pub(crate) struct Relay(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) connections: Connections,
    pub(crate) ledger: Ledger,
    pub(crate) approvals: Approvals,
    pub(crate) pairings: Pairings,
    pub(crate) metrics: Metrics,
    registry: Arc<Registry>,
    people: UserStore,
    feeds: Feeds,
    environments: Mutex<HashMap<EnvironmentId, Arc<Environment>>>,
    mcp_doors: McpDoors,
    commands: Commands,
    uses: Uses,
    frame_bytes_max: usize,
    /// What is done that nobody waits for.
    tasks: TaskTracker,
}

impl std::ops::Deref for Relay {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Why the files of the relay cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    File(#[from] std::io::Error),
    #[error(transparent)]
    Ledger(#[from] journal::durable::Error),
}

impl Relay {
    /// As its files have it, which are made if there are none. Needs a tokio runtime.
    pub(crate) async fn open(
        directory: &Path,
        (registry, feeds): (Arc<Registry>, Feeds),
        (inbox, people): (Inbox, UserStore),
        (patience, frame_bytes_max): (Duration, usize),
    ) -> Result<Self, OpenError> {
        let store = Store::open(directory.join(STATE))?;
        let ledger = Ledger::open(&directory.join(AUDIT)).await?;
        let approvals = Approvals::open(&ledger, (inbox, people.clone(), store.clone()), patience).await?;
        Ok(Self(Arc::new(Parts {
            store,
            connections: Connections::default(),
            ledger,
            approvals,
            pairings: Pairings::default(),
            metrics: Metrics::default(),
            registry,
            people,
            feeds,
            environments: Mutex::default(),
            mcp_doors: McpDoors::default(),
            commands: Commands::default(),
            uses: Uses::default(),
            frame_bytes_max,
            tasks: TaskTracker::new(),
        })))
    }

    /// How much of everything there may be on a connection.
    pub(crate) fn limits(&self) -> Limits {
        Limits { frame_bytes_max: self.frame_bytes_max, ..Limits::default() }
    }

    /// The environment of that name.
    pub(crate) fn environment(&self, id: EnvironmentId) -> Result<Arc<Environment>, store::Error> {
        let mut live = self.environments.lock();
        if let Some(environment) = live.get(&id) {
            return Ok(Arc::clone(environment));
        }
        let state = self.store.now();
        let entry = Arc::clone(state.environment(id)?);
        let allowed = self.granted_to(&state, &entry);
        let environment = Arc::new(Environment::new(entry, allowed));
        live.insert(id, Arc::clone(&environment));
        Ok(environment)
    }

    /// The environment of that name, for who has its token.
    pub(crate) fn opened(&self, id: EnvironmentId, secret: &str) -> Option<Arc<Environment>> {
        let environment = self.environment(id).ok()?;
        let entry = &environment.entry;
        (entry.digest == token_digest(secret) && !entry.has_expired(Timestamp::now())).then_some(environment)
    }

    /// How an environment is, for people.
    pub(crate) fn view(&self, environment: &Environment) -> protocol::lending::Environment {
        let entry = &environment.entry;
        let connection = self.connections.get(&entry.client_id);
        protocol::lending::Environment {
            id: entry.id,
            client_id: entry.client_id.clone(),
            runtime_id: entry.runtime_id.clone(),
            workspace: entry.workspace.clone(),
            scope_id: entry.scope_id.clone(),
            session_id: entry.session_id.clone(),
            run_id: entry.run_id.clone(),
            approvals: entry.approvals.clone(),
            created_at: entry.created_at,
            created_by: entry.created_by.clone(),
            expires_at: entry.expires_at,
            binding: connection.map(|connection| environment.binding(&connection)),
        }
    }

    /// Ends environments: what goes on in them, too; how many there were.
    pub(crate) fn end_environments(
        &self,
        ends: impl Fn(&EnvironmentEntry) -> bool,
    ) -> Result<usize, store::Error> {
        if !self.store.now().environments().any(|entry| ends(entry)) {
            return Ok(0);
        }
        self.store.change(|state, _| Ok(state.end_environments(ends)))
    }

    /// A session is gone, so is what it used.
    pub(crate) fn end_session(&self, runtime: &RuntimeId, session: &SessionId) {
        let ended = self.end_environments(|entry| {
            entry.runtime_id == *runtime && entry.session_id.as_ref() == Some(session)
        });
        if let Err(error) = ended {
            error!(error = %ErrorChain(&error), "could not end the environments of a deleted session");
        }
    }

    /// How it is with everything that is lent.
    pub(crate) fn status(&self) -> RelayStatus {
        let state = self.store.now();
        let environments = state.environments().filter_map(|entry| self.environment(entry.id).ok());
        RelayStatus {
            devices: self.connections.list().iter().map(|connection| connection.status()).collect(),
            environments: environments
                .map(|environment| EnvironmentStatus {
                    environment: self.view(&environment),
                    pending_requests: environment.pending() as u64,
                })
                .collect(),
            audit_head: self.ledger.head(),
            policy_version: state.version(),
            disabled_workspaces: state.workspaces_off().cloned().collect(),
            waits: self.approvals.list(),
            remembered_approvals: state.remembered().map(|approved| (**approved).clone()).collect(),
        }
    }

    /// Tells what was counted.
    pub(crate) fn register(&self, registry: &mut prometheus_client::registry::Registry) {
        let environments = self.store.now().environments().count() as u64;
        self.metrics.register(
            registry,
            (self.connections.len() as u64, environments, self.approvals.list().len() as u64),
        );
    }

    /// Waits until everything is written down.
    pub(crate) async fn close(&self) {
        self.mcp_doors.close().await;
        self.tasks.close();
        self.tasks.wait().await;
        self.approvals.close().await;
        self.ledger.close().await;
    }
}
