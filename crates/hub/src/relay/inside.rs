//! An environment as this process uses it, and as MCP tools for any agent.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use mcp_door::Door;
use parking_lot::Mutex;
use protocol::{
    EnvironmentId,
    relay::{Binding, EventFrame},
};
use relay::{Ask, Call, Requester};
use tokio::sync::{broadcast, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Relay, connection::Connection, environment::Environment};

/// Whoever asks in this process.
struct Inside {
    relay: Relay,
    environment: Arc<Environment>,
}

#[async_trait]
impl Requester for Inside {
    async fn request(&self, ask: Ask) -> Call {
        self.relay.ask(&self.environment, ask)
    }

    fn takes_bytes(&self) -> bool {
        let connection = self.relay.connections.get(&self.environment.entry.client_id);
        connection.is_some_and(|connection| connection.peer.takes_bytes())
    }
}

/// The doors for agents that speak MCP, one for each environment that has been asked for it.
#[derive(Default)]
pub(crate) struct McpDoors {
    all: Mutex<HashMap<EnvironmentId, Door>>,
    tasks: TaskTracker,
}

impl McpDoors {
    /// Waits until all are closed.
    pub(crate) async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Relay {
    /// What an environment is made of now. While its device is away it is made of what is granted.
    pub(crate) fn binding(&self, environment: &Environment) -> Binding {
        match self.connections.get(&environment.entry.client_id) {
            Some(connection) => environment.binding(&connection),
            None => environment.binding_without_device(),
        }
    }

    /// The environment for whoever uses it in this process.
    pub(crate) fn inside(&self, environment: &Arc<Environment>) -> relay::Environment {
        let inside = Inside { relay: self.clone(), environment: Arc::clone(environment) };
        relay::Environment::new(self.binding(environment), inside)
    }

    /// Where agents that speak MCP come into an environment, until it ends or `stop`. Needs a tokio runtime.
    pub(crate) fn mcp(&self, environment: &Arc<Environment>, stop: &CancellationToken) -> Door {
        let mut all = self.mcp_doors.all.lock();
        let id = environment.entry.id;
        if let Some(door) = all.get(&id) {
            return door.clone();
        }
        let (sender, receiver) = watch::channel(self.inside(environment));
        let door = Door::new(receiver, stop);
        all.insert(id, door.clone());
        let (relay, environment, closed) = (self.clone(), Arc::clone(environment), door.clone());
        let stop = stop.clone();
        self.mcp_doors.tasks.spawn(async move {
            tokio::select! {
                () = relay.keep_up(&environment, &sender) => {}
                () = environment.ended() => {}
                () = stop.cancelled() => {}
            }
            relay.mcp_doors.all.lock().remove(&id);
            closed.close().await;
        });
        door
    }

    /// Keeps the environment of a door as it is: what is granted, which device there is, which tools it has.
    async fn keep_up(&self, environment: &Arc<Environment>, sender: &watch::Sender<relay::Environment>) {
        let (mut devices, mut leases) = (self.connections.changes(), environment.changes());
        loop {
            devices.mark_unchanged();
            leases.mark_unchanged();
            let connection = self.connections.get(&environment.entry.client_id);
            let binding = self.binding(environment);
            if *sender.borrow().binding() != binding {
                sender.send_replace(self.inside(environment));
            }
            let mut events = connection.as_deref().map(Connection::events);
            loop {
                tokio::select! {
                    event = next(&mut events) => sender.borrow().heard(&event),
                    changed = devices.changed() => match changed {
                        Ok(()) => break,
                        // The hub ends.
                        Err(_) => return,
                    },
                    _ = leases.changed() => break,
                }
            }
        }
    }
}

/// The next event of a device; never if there is none.
async fn next(events: &mut Option<broadcast::Receiver<EventFrame>>) -> EventFrame {
    while let Some(heard) = events {
        match heard.recv().await {
            Ok(event) => return event,
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *events = None,
        }
    }
    std::future::pending().await
}
