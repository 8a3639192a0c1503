//! A device at the other end of a connection: who it is, what it is accepted for, and what it says.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::relay::{
    ClientId, ConnectionSide, EventFrame, Hello, MethodInfo, RawJson, RelayAccepted, RelayError,
    RelayErrorCode, RelayEvent, RelayMethod, Request, ToolName,
    method::{ToolRegister, ToolUnregister},
    tool::{self, ToolsUnregistered},
};
use relay::{CloseCode, Handler, Lost, Peer, Refused, Reply, Socket, Transport};
use serde_json::{Map, Value};
use server::ServerWebSocket;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{
    Relay,
    connection::{Connection, Who},
    note::shown,
};

/// How many tools are named in an entry.
const TOOLS_NAMED_MAX: usize = 32;

/// What the other side hears that was let in and says that it is another.
const NOT_ITSELF: &str = "the token belongs to another device";

/// How a connection with a device ended that broke a rule: what it was closed with, and which rule.
pub(crate) struct Violation {
    pub(crate) code: CloseCode,
    pub(crate) reason: String,
}

/// Speaks with a device until the connection ends.
pub(crate) async fn serve(
    relay: Relay,
    who: Who,
    socket: ServerWebSocket,
    stop: CancellationToken,
) -> Result<(), Violation> {
    let (desk, peer, driver) = Desk::start(relay.clone(), who, Socket::new(socket));
    let mut driver = std::pin::pin!(driver);
    let lost = tokio::select! {
        lost = &mut driver => lost,
        () = stop.cancelled() => {
            peer.close("the hub is shutting down");
            driver.await
        }
        () = desk.hold(&peer) => driver.await,
    };
    if let (Some(connection), true) = (desk.connection.get(), desk.is_known.load(Relaxed)) {
        relay.connections.remove(connection);
        relay.metrics.disconnected();
        info!(device = %connection.client_id, connection = connection.id, reason = %lost, "a device disconnected");
    }
    match lost {
        Lost::Fault { code, reason } => Err(Violation { code, reason }),
        Lost::Refused(reason) => Err(Violation { code: CloseCode::Policy, reason }),
        _ => Ok(()),
    }
}

/// Who answers a device.
struct Desk {
    relay: Relay,
    connection_id: String,
    client_id: ClientId,
    /// Who has come, until it has said what it offers.
    came: Mutex<Option<(Who, Peer)>>,
    /// There before the device hears that it is accepted, so that what it says then counts.
    connection: OnceLock<Arc<Connection>>,
    /// Whether others know of it.
    is_known: AtomicBool,
}

struct Answers(Arc<Desk>);

impl Desk {
    /// Who answers a device that has come, the handle of the connection, and what drives it.
    fn start(
        relay: Relay,
        who: Who,
        transport: impl Transport,
    ) -> (Arc<Self>, Peer, impl Future<Output = Lost> + Send) {
        let limits = relay.limits();
        let desk = Arc::new(Self {
            relay,
            connection_id: format!(
                "conn_{}",
                protocol::TokenId::mint().to_string().trim_start_matches("tok_")
            ),
            client_id: who.client_id.clone(),
            came: Mutex::new(None),
            connection: OnceLock::new(),
            is_known: AtomicBool::new(false),
        });
        let handler = Answers(Arc::clone(&desk));
        let (peer, driver) = Peer::start(transport, handler, relay::Side::Server, limits);
        // Nothing is heard before it is driven.
        *desk.came.lock() = Some((who, peer.clone()));
        (desk, peer, driver)
    }

    /// Registers the device once it is accepted, and then waits for ever; returns if it may not be there.
    async fn hold(&self, peer: &Peer) {
        // If it is never accepted the connection ends, and tells why.
        if peer.accepted().await.is_err() {
            return std::future::pending().await;
        }
        let Some(connection) = self.connection.get() else { return };
        let has_tools = connection.accepted().families.contains(&protocol::relay::Family::Tools);
        if let Err(another) = self.relay.connections.add(Arc::clone(connection)) {
            return peer.close(another.to_string());
        }
        self.is_known.store(true, Relaxed);
        self.relay.metrics.connected();
        info!(device = %connection.client_id, connection = connection.id, "a device connected");
        if has_tools && let Err(error) = connection.learn_tools().await {
            warn!(device = %connection.client_id, %error, "could not list a device's tools");
        }
        std::future::pending().await
    }

    fn accept(&self, hello: &Hello) -> Result<RelayAccepted, Refused> {
        let offer = hello.check().map_err(|invalid| Refused(invalid.to_string()))?;
        if offer.client_id != self.client_id {
            return Err(Refused(NOT_ITSELF.into()));
        }
        let shell = hello.capabilities.shell.as_ref().map(|shell| shell.runtime.clone());
        let granted = self.relay.granted_to_device(&offer.client_id);
        let accepted = Arc::new(granted.of(&offer, shell.as_deref()));
        let told = Connection::acceptance(&self.connection_id, &accepted);
        // A second hello ends the connection.
        if let Some((who, peer)) = self.came.lock().take() {
            let connection =
                Connection::new((self.connection_id.clone(), who, peer), (offer, shell), accepted);
            let _ = self.connection.set(Arc::new(connection));
        }
        Ok(told)
    }

    /// What a device asks of the hub; `summary` gets what is written down of it.
    fn asked(&self, request: &Request, summary: &mut Map<String, Value>) -> Result<RawJson, RelayError> {
        let row = MethodInfo::find(&request.method).ok_or_else(|| {
            let shown = shown(&request.method);
            RelayError::new(RelayErrorCode::UnknownMethod, "unknown method").with("method", shown)
        })?;
        if row.requested_by == ConnectionSide::Runtime {
            let why = "only runtimes send this method";
            return Err(RelayError::new(RelayErrorCode::InvalidRequest, why).with("method", row.name));
        }
        let connection = self.connection.get().filter(|it| it.accepted().families.contains(&row.family));
        let connection = connection.ok_or_else(|| {
            RelayError::new(RelayErrorCode::CapabilityUnavailable, "the hub did not accept this capability")
                .with("capability", row.family.as_str())
        })?;
        if row.name == ToolRegister::INFO.name {
            let list = ToolRegister::params(&request.params)?;
            let registered = connection.add_tools(&list);
            let names = &registered.registered;
            let tools = list.read().0.into_iter().filter(|tool| names.contains(&tool.name));
            let told = tool::ToolList::from_tools(&tools.collect::<Vec<_>>());
            summary.insert("tools".into(), in_short(names));
            summary.insert("rejected".into(), registered.rejected.len().into());
            connection.tell(EventFrame::from(&RelayEvent::ToolRegistered(told)));
            return Ok(RawJson::from_value(&registered));
        }
        if row.name == ToolUnregister::INFO.name {
            let gone = ToolUnregister::params(&request.params)?;
            let unregistered = connection.remove_tools(&gone.names);
            summary.insert("tools".into(), in_short(&unregistered));
            connection.tell(EventFrame::from(&RelayEvent::ToolUnregistered(gone)));
            return Ok(RawJson::from_value(&ToolsUnregistered { unregistered }));
        }
        Err(RelayError::new(
            RelayErrorCode::CapabilityUnavailable,
            "the hub does not support this capability yet",
        )
        .with("capability", row.family.as_str()))
    }
}

#[async_trait]
impl Handler for Answers {
    async fn hello(&self, hello: Hello) -> Result<Map<String, Value>, Refused> {
        let accepted = self.0.accept(&hello)?;
        match serde_json::to_value(&accepted) {
            Ok(Value::Object(accepted)) => Ok(accepted),
            _ => Err(Refused("the hub failed".into())),
        }
    }

    async fn request(&self, request: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        let Desk { relay, client_id, connection, .. } = &*self.0;
        let mut summary = Map::new();
        let outcome = self.0.asked(&request, &mut summary);
        let connection = connection.get().map(|connection| &**connection);
        let came = outcome.as_ref().map(drop);
        relay.asked_by((client_id, connection), (&request.method, summary), came).await?;
        outcome
    }

    fn event(&self, event: EventFrame) {
        if let Some(connection) = self.0.connection.get()
            && connection.heard(event)
        {
            self.0.relay.connections.changed();
        }
    }
}

/// The names of tools, as many as are written down.
fn in_short(names: &[ToolName]) -> Value {
    names.iter().take(TOOLS_NAMED_MAX).map(|name| Value::from(name.as_str())).collect()
}

#[cfg(test)]
mod tests;
