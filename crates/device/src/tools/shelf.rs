//! The tools that there are now.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use protocol::relay::{
    RawJson, ToolName,
    tool::{RejectedTool, ToolDescriptor, ToolsRegistered},
};
use relay::tool_schema::ToolSchema;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::tool::Tool;

/// How many tools there may be: a model that has more to choose from chooses badly.
pub const TOOLS_MAX: usize = 256;

/// How large all that is said about them may be: it must fit in one message with something to spare.
pub const TOOLS_BYTES_MAX: usize = 768 << 10;

/// The tools that there are now. A clone is the same shelf.
#[derive(Clone, Default)]
pub struct Shelf(Arc<Inner>);

#[derive(Default)]
struct Inner {
    tools: watch::Sender<Tools>,
    sources: AtomicU64,
}

/// The tools by their names, and the names that are kept for somebody.
#[derive(Clone, Default)]
struct Tools {
    placed: BTreeMap<ToolName, Arc<Placed>>,
    kept: BTreeMap<ToolName, Source>,
}

/// Where tools come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    id: u64,
    /// What a fingerprint is made with: the same for the same owner after a restart of it.
    label: String,
}

/// A tool with what is known of it.
pub(crate) struct Placed {
    pub(crate) descriptor: ToolDescriptor,
    pub(crate) schema: ToolSchema,
    pub(crate) tool: Arc<dyn Tool>,
    /// Of all that the owner would want to know of it: whoever offers another under the same name is asked for again.
    pub(crate) fingerprint: String,
    source: Source,
    bytes: usize,
}

/// What is to be put on the shelf.
pub(crate) type Offered = (ToolDescriptor, Arc<dyn Tool>);

impl Shelf {
    /// A new source of tools.
    pub(crate) fn source(&self, label: impl Into<String>) -> Source {
        Source { id: self.0.sources.fetch_add(1, Relaxed), label: label.into() }
    }

    /// Keeps names for a source, also while it has no tools of these names.
    pub(crate) fn keep(&self, source: &Source, names: impl IntoIterator<Item = ToolName>) {
        let kept = names.into_iter().map(|name| (name, source.clone()));
        self.0.tools.send_modify(|tools| tools.kept.extend(kept));
    }

    /// Puts tools on the shelf. One that is there of the same source is replaced.
    pub(crate) fn put(&self, source: &Source, offered: Vec<Offered>) -> ToolsRegistered {
        self.change(source, offered, |_| false)
    }

    /// Puts tools on the shelf, and takes away all others of the same source.
    pub(crate) fn replace(&self, source: &Source, offered: Vec<Offered>) -> ToolsRegistered {
        let names: BTreeSet<_> = offered.iter().map(|(descriptor, _)| descriptor.name.clone()).collect();
        self.change(source, offered, |name| !names.contains(name))
    }

    /// Takes tools of a source away; those that were there.
    pub(crate) fn take(&self, source: &Source, names: &[ToolName]) -> Vec<ToolName> {
        let mut taken = Vec::new();
        self.0.tools.send_if_modified(|tools| {
            for name in names {
                if tools.placed.get(name).is_some_and(|placed| placed.source == *source) {
                    tools.placed.remove(name);
                    taken.push(name.clone());
                }
            }
            !taken.is_empty()
        });
        taken
    }

    /// Takes all tools of a source away.
    pub(crate) fn clear(&self, source: &Source) {
        self.0.tools.send_if_modified(|tools| {
            let before = tools.placed.len();
            tools.placed.retain(|_, placed| placed.source != *source);
            tools.placed.len() != before
        });
    }

    pub(crate) fn find(&self, name: &ToolName) -> Option<Arc<Placed>> {
        self.0.tools.borrow().placed.get(name).cloned()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.tools.borrow().placed.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is said about each, in the order of their names.
    pub fn descriptors(&self) -> Vec<ToolDescriptor> {
        self.0.tools.borrow().placed.values().map(|placed| placed.descriptor.clone()).collect()
    }

    /// Is told whenever there are others.
    pub(crate) fn follow(&self) -> Changes {
        Changes(self.0.tools.subscribe())
    }

    fn change(
        &self,
        source: &Source,
        offered: Vec<Offered>,
        drop: impl Fn(&ToolName) -> bool,
    ) -> ToolsRegistered {
        // Schemas are made ready before anybody has to wait.
        let ready: Vec<_> = offered.into_iter().map(|offered| Placed::new(source, offered)).collect();
        let mut said = ToolsRegistered::default();
        self.0.tools.send_if_modified(|tools| {
            let before: Vec<_> = tools.fingerprints();
            tools.placed.retain(|name, placed| placed.source != *source || !drop(name));
            for ready in ready {
                match ready.and_then(|placed| tools.place(placed)) {
                    Ok(name) => said.registered.push(name),
                    Err(rejected) => said.rejected.push(rejected),
                }
            }
            tools.fingerprints() != before
        });
        said
    }
}

/// Tells when there are other tools.
pub(crate) struct Changes(watch::Receiver<Tools>);

impl Changes {
    /// Returns when there are others; never, if there is nobody left who could change them.
    pub(crate) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }

    /// What there is now.
    pub(crate) fn now(&mut self) -> Vec<ToolDescriptor> {
        self.0.borrow_and_update().placed.values().map(|placed| placed.descriptor.clone()).collect()
    }
}

impl Tools {
    fn fingerprints(&self) -> Vec<String> {
        self.placed.values().map(|placed| placed.fingerprint.clone()).collect()
    }

    fn place(&mut self, placed: Placed) -> Result<ToolName, RejectedTool> {
        let name = placed.descriptor.name.clone();
        let rejected = |reason: &str| RejectedTool { name: name.to_string(), reason: reason.into() };
        let others = |other: &&Arc<Placed>| other.descriptor.name != name;
        let is_taken = self.placed.get(&name).is_some_and(|other| other.source != placed.source)
            || self.kept.get(&name).is_some_and(|source| *source != placed.source);
        if is_taken {
            return Err(rejected("another tool has the same name"));
        }
        if self.placed.values().filter(others).count() >= TOOLS_MAX {
            return Err(rejected("the device already offers the maximum number of tools"));
        }
        let bytes: usize = self.placed.values().filter(others).map(|other| other.bytes).sum();
        if bytes + placed.bytes > TOOLS_BYTES_MAX {
            return Err(rejected("the descriptions of all tools together are too large"));
        }
        self.placed.insert(name.clone(), Arc::new(placed));
        Ok(name)
    }
}

impl Placed {
    fn new(source: &Source, (descriptor, tool): Offered) -> Result<Self, RejectedTool> {
        let rejected = |reason: String| RejectedTool { name: descriptor.name.to_string(), reason };
        let schema =
            ToolSchema::new(&descriptor.input_schema).map_err(|error| rejected(error.to_string()))?;
        let said = RawJson::from_value(&descriptor);
        let fingerprint =
            Sha256::new().chain_update(&source.label).chain_update([0]).chain_update(said.as_str());
        let fingerprint = fingerprint.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = said.as_str().len() + 1;
        Ok(Self { descriptor, schema, tool, fingerprint, source: source.clone(), bytes })
    }
}
