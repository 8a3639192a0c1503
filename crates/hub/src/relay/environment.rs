//! What a session uses of a device, while it does.

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::relay::{Binding, Family, MethodInfo, RelayContext, RelayError, RelayErrorCode, RequestLimits};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::{acceptance::Allowed, connection::Connection, store::EnvironmentEntry};

/// How many requests of an environment go on at a time: half of what a device answers at a time, as others use it
/// too.
pub(crate) const REQUESTS_MAX: usize = 32;

/// How many of these may be of one family: what takes long leaves room for the others.
pub(crate) const FAMILY_REQUESTS_MAX: usize = 24;

/// What a session uses of a device. All requests of it are its own: what becomes of others is not seen here.
pub(crate) struct Environment {
    pub(crate) entry: Arc<EnvironmentEntry>,
    lease: Mutex<Lease>,
    places: Arc<Semaphore>,
    families: [Arc<Semaphore>; Family::ALL.len()],
    over: CancellationToken,
    /// How often it has changed what may be used.
    changes: watch::Sender<u64>,
}

/// What may be used, for as long as that holds.
#[derive(Clone)]
pub(crate) struct Lease {
    pub(crate) allowed: Arc<Allowed>,
    /// Cancelled when less may be used than this.
    pub(crate) revoked: CancellationToken,
}

/// A request that goes on: a place among all, and among those of its family if it may take long.
pub(crate) struct Place {
    _among_all: OwnedSemaphorePermit,
    _of_family: Option<OwnedSemaphorePermit>,
}

impl Environment {
    pub(crate) fn new(entry: Arc<EnvironmentEntry>, allowed: Allowed) -> Self {
        let lease = Lease { allowed: Arc::new(allowed), revoked: CancellationToken::new() };
        Self {
            entry,
            lease: Mutex::new(lease),
            places: Arc::new(Semaphore::new(REQUESTS_MAX)),
            families: std::array::from_fn(|_| Arc::new(Semaphore::new(FAMILY_REQUESTS_MAX))),
            over: CancellationToken::new(),
            changes: watch::Sender::new(0),
        }
    }

    /// What may be used now.
    pub(crate) fn lease(&self) -> Lease {
        self.lease.lock().clone()
    }

    /// This may be used from now on. What goes on is ended if it is not all that there was.
    pub(crate) fn renew(&self, allowed: Allowed) {
        let mut lease = self.lease.lock();
        if *lease.allowed == allowed {
            return;
        }
        let is_less = !lease.allowed.is_within(&allowed);
        lease.allowed = Arc::new(allowed);
        if is_less {
            std::mem::take(&mut lease.revoked).cancel();
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// Nothing may be used any more.
    pub(crate) fn end(&self) {
        let mut lease = self.lease.lock();
        lease.allowed = Arc::default();
        lease.revoked.cancel();
        self.over.cancel();
    }

    /// Changes whenever other things may be used.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Waits until nothing may be used any more.
    pub(crate) async fn ended(&self) {
        self.over.cancelled().await;
    }

    /// A place for one more request.
    ///
    /// # Errors
    /// `provider_error` if there is none.
    pub(crate) fn enter(&self, row: &MethodInfo) -> Result<Place, RelayError> {
        let busy =
            |limit: usize| busy("too many requests of this environment are open; try again later", limit);
        let among_all = self.places.clone().try_acquire_owned().map_err(|_| busy(REQUESTS_MAX))?;
        let of_family =
            Family::ALL.iter().position(|known| *known == row.family).map(|at| &self.families[at]);
        // Who has begun much can still end it.
        let of_family = of_family
            .filter(|_| !row.controls_running_operation())
            .map(|places| places.clone().try_acquire_owned());
        let of_family = of_family.transpose();
        let full = |_| busy(FAMILY_REQUESTS_MAX).with("capability", row.family.as_str());
        Ok(Place { _among_all: among_all, _of_family: of_family.map_err(full)? })
    }

    /// How many requests go on.
    pub(crate) fn pending(&self) -> usize {
        REQUESTS_MAX - self.places.available_permits()
    }

    /// What can be used of the device as it is connected.
    pub(crate) fn effective(&self, allowed: &Allowed, connection: &Connection) -> Allowed {
        // It may be accepted for commands because of what others are granted.
        allowed.and(&connection.accepted()).in_sandbox(connection.shell.as_deref())
    }

    /// What it is made of now.
    pub(crate) fn binding(&self, connection: &Connection) -> Binding {
        self.bind(&connection.id, self.effective(&self.lease().allowed, connection))
    }

    /// The same while its device is away: what is granted.
    pub(crate) fn binding_without_device(&self) -> Binding {
        self.bind("", (*self.lease().allowed).clone())
    }

    fn bind(&self, connection: &str, allowed: Allowed) -> Binding {
        let mut metadata = Map::new();
        metadata.insert("environment_id".into(), self.entry.id.to_string().into());
        Binding {
            connection_id: connection.to_owned(),
            client_id: self.entry.client_id.clone(),
            roots: allowed.roots,
            capabilities: allowed.families.into_iter().collect(),
            metadata,
        }
    }

    /// The session that its requests are made for, if it was made for one. A client cannot name another in the context of a
    /// request: the hub could not tell whether that is true, and both records would state it.
    pub(crate) fn session(&self) -> Option<String> {
        self.entry.session_id.as_ref().map(ToString::to_string)
    }

    /// What a request is made for: what whoever asked said, bound to what this environment is for.
    pub(crate) fn context(&self, said: Option<RelayContext>, terms: RequestLimits) -> RelayContext {
        let session_id = self.session();
        let mut context = RelayContext { session_id, ..said.unwrap_or_default() };
        let entry = &self.entry;
        context.run_id = entry.run_id.clone().or(context.run_id);
        context.workspace_id = Some(entry.workspace.to_string());
        if let Some(scope) = &entry.scope_id {
            context.more.insert("scope_id".into(), Value::from(scope.as_str()));
        }
        context.terms = Some(terms);
        context
    }
}

/// What a runtime is told that asks for more than goes on at a time.
pub(crate) fn busy(why: &str, limit: usize) -> RelayError {
    RelayError::new(RelayErrorCode::ProviderError, why).with("reason", "busy").with("limit", limit)
}

/// What a runtime is told when it asks for what is not there.
pub(crate) fn unavailable(family: Family, why: &str) -> RelayError {
    RelayError::new(RelayErrorCode::CapabilityUnavailable, why).with("capability", family.as_str())
}
