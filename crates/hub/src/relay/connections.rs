//! The devices that are connected, by name.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::RwLock;
use protocol::relay::ClientId;
use tokio::sync::watch;

use super::connection::Connection;

/// What a connection is told whose place another takes.
const REPLACED: &str = "replaced by a newer connection of the same device";

/// The devices that are connected. A clone is the same.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Inner>);

struct Inner {
    all: RwLock<BTreeMap<ClientId, Arc<Connection>>>,
    /// How often that has changed.
    changes: watch::Sender<u64>,
}

/// Another copy of the device is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another instance of this device is connected; stop that one first")]
pub(crate) struct Another;

impl Default for Connections {
    fn default() -> Self {
        Self(Arc::new(Inner { all: RwLock::default(), changes: watch::Sender::new(0) }))
    }
}

impl Connections {
    /// The connection of a device.
    pub(crate) fn get(&self, id: &ClientId) -> Option<Arc<Connection>> {
        self.0.all.read().get(id).cloned()
    }

    /// All of them.
    pub(crate) fn list(&self) -> Vec<Arc<Connection>> {
        self.0.all.read().values().cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.all.read().len()
    }

    /// Changes whenever a device comes, goes, or says how it is.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// A device may be otherwise than before.
    pub(crate) fn changed(&self) {
        self.0.changes.send_modify(|count| *count += 1);
    }

    /// Whether a copy of a device may come: another copy of it is not there.
    pub(crate) fn may_come(&self, id: &ClientId, instance: &str) -> Result<(), Another> {
        match self.0.all.read().get(id) {
            Some(there) if there.instance_id != instance => Err(Another),
            _ => Ok(()),
        }
    }

    /// A device has come. It takes the place of the connection that it had before.
    pub(crate) fn add(&self, connection: Arc<Connection>) -> Result<(), Another> {
        let mut all = self.0.all.write();
        if all.get(&connection.client_id).is_some_and(|it| it.instance_id != connection.instance_id) {
            return Err(Another);
        }
        let replaced = all.insert(connection.client_id.clone(), connection);
        drop(all);
        if let Some(replaced) = replaced {
            replaced.peer.close(REPLACED);
        }
        self.changed();
        Ok(())
    }

    /// A connection has ended.
    pub(crate) fn remove(&self, connection: &Arc<Connection>) {
        let mut all = self.0.all.write();
        if all.get(&connection.client_id).is_some_and(|known| Arc::ptr_eq(known, connection)) {
            all.remove(&connection.client_id);
        }
        drop(all);
        self.changed();
    }
}
