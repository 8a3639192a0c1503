//! A device that is connected.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use protocol::{
    TokenId, WorkspaceName,
    lending::{CapabilityState, DeviceConnection, DeviceStatus, RelayCall},
    relay::{
        Availability, ClientId, DeviceOffer, EventFrame, Family, MethodInfo, ProviderPauseChanged, RawJson,
        RelayAccepted, RelayError, RelayEvent, RelayMethod, ToolName, method,
        tool::{RejectedTool, ToolDescriptor, ToolList, ToolsRegistered},
    },
};
use relay::{Ask, Peer, tool_schema::ToolSchema};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, broadcast},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{acceptance::Allowed, environment::busy};

/// How many events of a device may wait for those who use it; who is slower misses some, which events may be.
const EVENTS_MAX: usize = 256;

/// How long a device may take to hear that it is accepted for more.
const TOLD_MAX: Duration = Duration::from_millis(100);

/// How many of the last errors are remembered.
const ERRORS_MAX: usize = 16;

/// How many requests of all environments a device has at a time: some of what it answers is left for what the hub itself
/// asks, such as to end something.
const REQUESTS_MAX: usize = 60;

/// How many tools a device can have at a time.
const TOOLS_MAX: usize = 1024;

/// A device that is connected.
pub(crate) struct Connection {
    pub(crate) id: String,
    pub(crate) client_id: ClientId,
    pub(crate) workspace: WorkspaceName,
    pub(crate) token: TokenId,
    pub(crate) instance_id: String,
    pub(crate) since: Timestamp,
    pub(crate) peer: Peer,
    pub(crate) offer: DeviceOffer,
    /// What its commands run in.
    pub(crate) shell: Option<String>,
    accepted: RwLock<Arc<Allowed>>,
    states: Mutex<BTreeMap<Family, Availability>>,
    permissions: Mutex<BTreeMap<Family, CancellationToken>>,
    paused: AtomicBool,
    places: Arc<Semaphore>,
    tools: RwLock<BTreeMap<ToolName, Arc<Tool>>>,
    events: broadcast::Sender<EventFrame>,
    unknown_events: AtomicU64,
    errors: Mutex<VecDeque<RelayCall>>,
}

/// A tool of a device, ready to be used.
pub(crate) struct Tool {
    pub(crate) descriptor: ToolDescriptor,
    pub(crate) schema: ToolSchema,
}

/// Which device came, by which token.
pub(crate) struct Who {
    pub(crate) client_id: ClientId,
    pub(crate) workspace: WorkspaceName,
    pub(crate) token: TokenId,
    pub(crate) instance_id: String,
}

impl Connection {
    pub(crate) fn new(
        (id, who, peer): (String, Who, Peer),
        (offer, shell): (DeviceOffer, Option<String>),
        accepted: Arc<Allowed>,
    ) -> Self {
        let Who { client_id, workspace, token, instance_id } = who;
        Self {
            id,
            client_id,
            workspace,
            token,
            instance_id,
            since: Timestamp::now(),
            peer,
            offer,
            shell,
            accepted: RwLock::new(accepted),
            states: Mutex::default(),
            permissions: Mutex::default(),
            paused: AtomicBool::new(false),
            places: Arc::new(Semaphore::new(REQUESTS_MAX)),
            tools: RwLock::default(),
            events: broadcast::Sender::new(EVENTS_MAX),
            unknown_events: AtomicU64::new(0),
            errors: Mutex::default(),
        }
    }

    /// What it is accepted for.
    pub(crate) fn accepted(&self) -> Arc<Allowed> {
        self.accepted.read().clone()
    }

    /// It is accepted for more from now on.
    pub(crate) fn accept(&self, accepted: Arc<Allowed>) {
        *self.accepted.write() = accepted;
    }

    /// What it is told that it is accepted for.
    pub(crate) fn acceptance(id: &str, allowed: &Allowed) -> RelayAccepted {
        RelayAccepted {
            connection_id: id.to_owned(),
            accepted_capabilities: allowed.families.iter().copied().collect(),
            accepted_roots: Some(allowed.roots.clone()),
            server_time: Timestamp::now(),
            flow: None,
            extensions: Vec::new(),
        }
    }

    /// Whether a method can be used now, apart from what is granted; if not, why.
    pub(crate) fn is_available(&self, row: &MethodInfo) -> Result<(), &'static str> {
        if self.paused.load(Relaxed) && !row.controls_running_operation() {
            return Err("the device's owner has paused it");
        }
        match self.states.lock().get(&row.family) {
            Some(state) if !state.is_available() => {
                Err("the device reports that this capability is currently unavailable")
            }
            _ => Ok(()),
        }
    }

    /// A place for one more request.
    ///
    /// # Errors
    /// `provider_error` if there is none.
    pub(crate) fn enter(&self) -> Result<OwnedSemaphorePermit, RelayError> {
        let places = self.places.clone().try_acquire_owned();
        places.map_err(|_| busy("the device is busy with too many requests; try again later", REQUESTS_MAX))
    }

    /// Ends what goes on in families that the device has lost the permission for.
    pub(crate) fn drop_what_is_lost(&self) {
        let states = self.states.lock();
        let lost = states
            .iter()
            .filter(|(_, state)| matches!(state, Availability::Revoked | Availability::PermissionRequired));
        let mut permissions = self.permissions.lock();
        for (family, _) in lost {
            if let Some(permission) = permissions.remove(family) {
                permission.cancel();
            }
        }
    }

    /// Cancelled when the device loses the permission for a family.
    pub(crate) fn permission(&self, family: Family) -> CancellationToken {
        self.permissions.lock().entry(family).or_default().clone()
    }

    /// The tool of that name.
    pub(crate) fn tool(&self, name: &ToolName) -> Option<Arc<Tool>> {
        self.tools.read().get(name).cloned()
    }

    /// Takes tools; which were, and which were not.
    pub(crate) fn add_tools(&self, list: &ToolList) -> ToolsRegistered {
        put(&mut self.tools.write(), list)
    }

    /// Asks for the tools that there are; the device tells of each change.
    pub(crate) async fn learn_tools(&self) -> Result<(), RelayError> {
        let asked = self.peer.request(Ask::new(method::ToolList::INFO.name, RawJson::empty())).await;
        let list = method::ToolList::result(&asked.outcome().await?)?;
        // All at once: what is asked meanwhile finds what there was or what there is.
        let mut known = BTreeMap::new();
        put(&mut known, &list);
        *self.tools.write() = known;
        Ok(())
    }

    /// Takes tools away; which were there.
    pub(crate) fn remove_tools(&self, names: &[ToolName]) -> Vec<ToolName> {
        let mut known = self.tools.write();
        names.iter().filter(|name| known.remove(name).is_some()).cloned().collect()
    }

    /// Something happened on the device; whether what may be used of it may have changed.
    pub(crate) fn heard(&self, frame: EventFrame) -> bool {
        let changes = match frame.read() {
            Ok(Some(event)) => self.take(&event),
            // What is not known is no fault.
            Ok(None) | Err(_) => {
                self.unknown_events.fetch_add(1, Relaxed);
                return false;
            }
        };
        self.tell(frame);
        changes
    }

    fn take(&self, event: &RelayEvent) -> bool {
        match event {
            RelayEvent::CapabilityUpdated(updated) => {
                self.states.lock().insert(updated.capability, updated.state);
                return true;
            }
            RelayEvent::ProviderPaused(ProviderPauseChanged { .. }) => self.paused.store(true, Relaxed),
            RelayEvent::ProviderResumed(ProviderPauseChanged { .. }) => self.paused.store(false, Relaxed),
            RelayEvent::ToolRegistered(list) => drop(self.add_tools(list)),
            RelayEvent::ToolUnregistered(gone) => drop(self.remove_tools(&gone.names)),
            RelayEvent::ArtifactUploaded(_) | RelayEvent::ResourceUpdated(_) => {}
            // Only the other side says these.
            RelayEvent::Accepted(_) | RelayEvent::StreamCredit(_) => {}
        }
        false
    }

    /// Tells those who use the device.
    pub(crate) fn tell(&self, frame: EventFrame) {
        // Nobody may be there.
        let _ = self.events.send(frame);
    }

    /// What happens on the device from now on.
    pub(crate) fn events(&self) -> broadcast::Receiver<EventFrame> {
        self.events.subscribe()
    }

    /// Something went wrong.
    pub(crate) fn failed(&self, call: RelayCall) {
        let mut errors = self.errors.lock();
        errors.truncate(ERRORS_MAX - 1);
        errors.push_front(call);
    }

    /// How it is, in short.
    pub(crate) fn view(&self) -> DeviceConnection {
        let accepted = self.accepted();
        DeviceConnection {
            connection_id: self.id.clone(),
            connected_at: self.since,
            capabilities: accepted.families.iter().copied().collect(),
            roots: accepted.roots.clone(),
            latency_us: self.peer.latency().map(|it| u64::try_from(it.as_micros()).unwrap_or(u64::MAX)),
            is_paused: self.paused.load(Relaxed),
        }
    }

    /// How it is.
    pub(crate) fn status(&self) -> DeviceStatus {
        let states = self.states.lock();
        let states = states
            .iter()
            .map(|(capability, state)| CapabilityState { capability: *capability, state: *state });
        DeviceStatus {
            client_id: self.client_id.clone(),
            workspace: self.workspace.clone(),
            connection: self.view(),
            capability_states: states.collect(),
            tools: self.tools.read().keys().map(ToString::to_string).collect(),
            pending_requests: self.peer.held().calls as u64,
            errors: self.errors.lock().iter().cloned().collect(),
            unknown_events: self.unknown_events.load(Relaxed),
        }
    }

    /// Tells the device that it is accepted for more.
    pub(crate) async fn tell_acceptance(&self, allowed: &Allowed) {
        let accepted = RawJson::from_value(&Self::acceptance(&self.id, allowed));
        // If it is lost that is seen elsewhere; who does not listen is not waited for, as each request has its terms.
        let _ = timeout(TOLD_MAX, self.peer.event("relay.accepted", accepted)).await;
    }
}

/// Puts tools among others; which were, and which were not.
fn put(known: &mut BTreeMap<ToolName, Arc<Tool>>, list: &ToolList) -> ToolsRegistered {
    let (tools, mut rejected) = list.read();
    let mut registered = Vec::new();
    for tool in tools {
        if known.len() >= TOOLS_MAX && !known.contains_key(&tool.name) {
            let reason = format!("a device can register at most {TOOLS_MAX} tools");
            rejected.push(RejectedTool { name: tool.name.to_string(), reason });
            continue;
        }
        // The schema is somebody else's: it leads nowhere, and has an end.
        match ToolSchema::new(&tool.input_schema) {
            Ok(schema) => {
                registered.push(tool.name.clone());
                known.insert(tool.name.clone(), Arc::new(Tool { descriptor: tool, schema }));
            }
            Err(bad) => rejected.push(RejectedTool { name: tool.name.to_string(), reason: bad.to_string() }),
        }
    }
    ToolsRegistered { registered, rejected }
}
