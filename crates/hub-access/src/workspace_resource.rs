//! The resources that belong to a workspace.

use protocol::{EnvironmentId, GrantId, ProblemKind, RuntimeId, WaitId, WorkspaceName, relay::ClientId};
use server::ProblemResponse;

/// A resource of the hub. Its workspace decides which role a caller has for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceResource {
    /// A runtime.
    Runtime(RuntimeId),
    /// A device.
    Device(ClientId),
    /// A grant, which belongs to the workspace of its device.
    Grant(GrantId),
    /// An environment.
    Environment(EnvironmentId),
    /// A remembered approval, which belongs to the workspace of its device.
    RememberedApproval(WaitId),
}

/// Finds the workspace of a resource.
pub trait WorkspaceLookup: Send + Sync + 'static {
    /// The workspace that the resource belongs to; `None` if the resource does not exist.
    fn workspace_of(&self, resource: &WorkspaceResource) -> Option<WorkspaceName>;
}

impl WorkspaceResource {
    /// The answer for a resource that does not exist, and for one that the caller cannot see.
    pub fn not_found(&self) -> ProblemResponse {
        let (kind, detail) = match self {
            Self::Runtime(id) => (ProblemKind::RuntimeNotFound, format!("runtime `{id}` does not exist")),
            Self::Device(id) => (ProblemKind::DeviceNotFound, format!("device `{id}` does not exist")),
            Self::Grant(id) => (ProblemKind::GrantNotFound, format!("grant {id} does not exist")),
            Self::Environment(id) => {
                (ProblemKind::EnvironmentNotFound, format!("environment {id} does not exist"))
            }
            Self::RememberedApproval(id) => {
                (ProblemKind::WaitNotFound, format!("approval {id} does not exist"))
            }
        };
        ProblemResponse::new(kind, detail)
    }
}

/// The answer for a runtime that does not exist, and for one that the caller cannot see.
pub fn runtime_not_found(id: &RuntimeId) -> ProblemResponse {
    WorkspaceResource::Runtime(id.clone()).not_found()
}
