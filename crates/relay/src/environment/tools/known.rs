//! The known tools of a device.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use protocol::relay::{
    ToolName,
    tool::{ToolDescriptor, ToolList},
};
use tokio::sync::watch;

use crate::tool_schema::ToolSchema;

/// The number of tools of a device. A model could not choose among more.
const TOOLS_MAX: usize = 1024;

/// The known tools of a device.
pub(crate) struct Known {
    tools: Mutex<Option<BTreeMap<ToolName, Tool>>>,
    version: watch::Sender<u64>,
}

struct Tool {
    descriptor: ToolDescriptor,
    schema: Arc<ToolSchema>,
}

impl Default for Known {
    fn default() -> Self {
        Self { tools: Mutex::default(), version: watch::Sender::new(0) }
    }
}

impl Known {
    /// All tools; `None` before the first request.
    pub(super) fn list(&self) -> Option<Vec<ToolDescriptor>> {
        let tools = self.tools.lock();
        Some(tools.as_ref()?.values().map(|tool| tool.descriptor.clone()).collect())
    }

    pub(super) fn schema(&self, name: &ToolName) -> Option<Arc<ToolSchema>> {
        Some(self.tools.lock().as_ref()?.get(name)?.schema.clone())
    }

    /// Replaces the tools with a requested list, unless the device has sent changes since the request.
    pub(super) fn set(&self, list: &ToolList, asked: u64) -> bool {
        let mut tools = self.tools.lock();
        if *self.version.borrow() != asked {
            return false;
        }
        // The first list is not a change for subscribers.
        if tools.replace(BTreeMap::new()).is_some() {
            self.changed();
        }
        insert(tools.get_or_insert_default(), list);
        true
    }

    /// Adds tools.
    pub(crate) fn add(&self, list: &ToolList) {
        // Before the first request there is no list to update.
        let mut tools = self.tools.lock();
        if let Some(tools) = tools.as_mut() {
            insert(tools, list);
        }
        self.changed();
    }

    /// Removes tools.
    pub(crate) fn remove(&self, names: &[ToolName]) {
        let mut tools = self.tools.lock();
        if let Some(tools) = tools.as_mut() {
            names.iter().for_each(|name| drop(tools.remove(name)));
        }
        self.changed();
    }

    pub(super) fn version(&self) -> u64 {
        *self.version.borrow()
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }
}

/// Adds tools, except those that are invalid or whose schema cannot be checked.
fn insert(tools: &mut BTreeMap<ToolName, Tool>, list: &ToolList) {
    for descriptor in list.read().0 {
        if tools.len() >= TOOLS_MAX && !tools.contains_key(&descriptor.name) {
            continue;
        }
        if let Ok(schema) = ToolSchema::new(&descriptor.input_schema) {
            tools.insert(descriptor.name.clone(), Tool { descriptor, schema: Arc::new(schema) });
        }
    }
}
