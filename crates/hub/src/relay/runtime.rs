//! A runtime that uses a device over a WebSocket, with the same frames.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use protocol::relay::{EventFrame, Family, Hello, RawJson, RelayError, RelayErrorCode, RelayEvent, Request};
use relay::{Ask, Handler, Part, Peer, Refused, Reply, Side, Socket, Unsent};
use serde_json::{Map, Value};
use server::ServerWebSocket;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::{Relay, connection::Connection, environment::Environment};

/// Speaks with a runtime until the connection or the environment ends.
pub(crate) async fn serve(
    relay: Relay,
    environment: Arc<Environment>,
    socket: ServerWebSocket,
    stop: CancellationToken,
) {
    let desk = Desk { relay: relay.clone(), environment: Arc::clone(&environment) };
    let (peer, driver) = Peer::start(Socket::new(socket), desk, Side::Server, relay.limits());
    let mut driver = std::pin::pin!(driver);
    let why = tokio::select! {
        _ = &mut driver => return,
        () = stop.cancelled() => "the hub is shutting down",
        () = environment.ended() => "the environment has ended",
        () = pass_on_events(&relay, &environment, &peer) => "the hub is shutting down",
    };
    peer.close(why);
    driver.await;
}

/// Tells the runtime what happens on the device, whichever connection it has.
async fn pass_on_events(relay: &Relay, environment: &Environment, peer: &Peer) {
    if peer.accepted().await.is_err() {
        return std::future::pending().await;
    }
    let mut changes = relay.connections.changes();
    loop {
        changes.mark_unchanged();
        let Some(connection) = relay.connections.get(&environment.entry.client_id) else {
            if changes.changed().await.is_err() {
                return;
            }
            continue;
        };
        let mut events = connection.events();
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    // If the runtime is gone that is seen elsewhere.
                    Ok(frame) if concerns(environment, &frame) => {
                        drop(peer.event(frame.event, frame.payload).await);
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                },
                changed = changes.changed() => {
                    let same = relay.connections.get(&environment.entry.client_id);
                    if changed.is_err() || !same.is_some_and(|same| Arc::ptr_eq(&same, &connection)) {
                        break;
                    }
                }
            }
        }
    }
}

/// Whether an event is for whoever uses this environment: it is about what it may use. What happens to a resource is told
/// where it was made, in the stream of its request.
fn concerns(environment: &Environment, frame: &EventFrame) -> bool {
    let has = |family| environment.lease().allowed.families.contains(&family);
    match frame.read() {
        Ok(Some(RelayEvent::CapabilityUpdated(updated))) => has(updated.capability),
        Ok(Some(RelayEvent::ToolRegistered(_) | RelayEvent::ToolUnregistered(_))) => has(Family::Tools),
        Ok(Some(RelayEvent::ProviderPaused(_) | RelayEvent::ProviderResumed(_))) => true,
        _ => false,
    }
}

/// Who answers a runtime.
struct Desk {
    relay: Relay,
    environment: Arc<Environment>,
}

#[async_trait]
impl Handler for Desk {
    async fn hello(&self, hello: Hello) -> Result<Map<String, Value>, Refused> {
        hello.check().map_err(|invalid| Refused(invalid.to_string()))?;
        let connection = self.relay.connections.get(&self.environment.entry.client_id);
        let id = connection.as_ref().map(|connection| connection.id.clone()).unwrap_or_default();
        let allowed = self.environment.lease().allowed;
        // While the device is away it is accepted for what is granted.
        let effective = match &connection {
            Some(connection) => self.environment.effective(&allowed, connection),
            None => (*allowed).clone(),
        };
        match serde_json::to_value(Connection::acceptance(&id, &effective)) {
            Ok(Value::Object(accepted)) => Ok(accepted),
            _ => Err(Refused("the hub failed".into())),
        }
    }

    async fn request(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError> {
        let Request { method, params, context, .. } = request;
        let ask = Ask::new(method, params);
        let ask = match context {
            Some(context) => ask.context(context),
            None => ask,
        };
        let mut call = self.relay.ask(&self.environment, ask);
        let mut is_wanted = true;
        loop {
            let part = tokio::select! {
                part = call.next() => part,
                // The device says when it has ended, and only then does the runtime hear it.
                () = reply.cancelled(), if is_wanted => {
                    is_wanted = false;
                    call.cancel();
                    continue;
                }
            };
            match part {
                Some(Part::Stream(frame)) => match reply.pass_on(frame).await {
                    Ok(()) | Err(Unsent::Cancelled) => {}
                    Err(unsent) => return Err(unsent.into()),
                },
                Some(Part::Outcome(outcome)) => return outcome,
                None => {
                    return Err(RelayError::new(
                        RelayErrorCode::RelayDisconnected,
                        "the device disconnected",
                    ));
                }
            }
        }
    }

    fn event(&self, _: EventFrame) {}
}
