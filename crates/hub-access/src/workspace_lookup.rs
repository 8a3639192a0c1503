//! The guard's view of the hub's resources.

use protocol::{RuntimeId, WorkspaceName};

/// Finds the workspace that a resource belongs to.
pub trait WorkspaceLookup: Send + Sync + 'static {
    /// The workspace of a runtime; `None` if the runtime does not exist.
    fn of_runtime(&self, id: &RuntimeId) -> Option<WorkspaceName>;
}
