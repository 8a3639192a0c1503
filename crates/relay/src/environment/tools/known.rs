//! Which tools a device has, as far as it has told.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use protocol::relay::{
    ToolName,
    tool::{ToolDescriptor, ToolList},
};
use tokio::sync::watch;

use crate::tool_schema::ToolSchema;

/// How many tools are known at most; a model could not choose among more.
const TOOLS_MAX: usize = 1024;

/// Which tools a device has, as far as it has told.
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
    /// All of them; none if the device has not been asked.
    pub(super) fn list(&self) -> Option<Vec<ToolDescriptor>> {
        let tools = self.tools.lock();
        Some(tools.as_ref()?.values().map(|tool| tool.descriptor.clone()).collect())
    }

    pub(super) fn schema(&self, name: &ToolName) -> Option<Arc<ToolSchema>> {
        Some(self.tools.lock().as_ref()?.get(name)?.schema.clone())
    }

    /// The device has said which there are: taken if it has told nothing else since it was asked.
    pub(super) fn set(&self, list: &ToolList, asked: u64) -> bool {
        let mut tools = self.tools.lock();
        if *self.version.borrow() != asked {
            return false;
        }
        // The first time nothing has changed for anybody.
        if tools.replace(BTreeMap::new()).is_some() {
            self.changed();
        }
        insert(tools.get_or_insert_default(), list);
        true
    }

    /// There are more.
    pub(crate) fn add(&self, list: &ToolList) {
        // Before it was asked there is nothing to follow.
        let mut tools = self.tools.lock();
        if let Some(tools) = tools.as_mut() {
            insert(tools, list);
        }
        self.changed();
    }

    /// Some are gone.
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

/// Tools that make no sense, or want what cannot be checked, are left out.
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
