//! The workspaces of the hub's resources, for the guard.

use std::sync::Arc;

use hub_access::{WorkspaceLookup, WorkspaceResource};
use protocol::WorkspaceName;

use crate::{Registry, relay::Relay};

/// Finds the workspace of runtimes in the registry, and of everything else in the relay.
pub(crate) struct ResourceWorkspaces {
    registry: Arc<Registry>,
    relay: Relay,
}

impl ResourceWorkspaces {
    pub(crate) fn new(registry: Arc<Registry>, relay: Relay) -> Self {
        Self { registry, relay }
    }
}

impl WorkspaceLookup for ResourceWorkspaces {
    fn workspace_of(&self, resource: &WorkspaceResource) -> Option<WorkspaceName> {
        let state = || self.relay.store.now();
        match resource {
            WorkspaceResource::Runtime(id) => self.registry.get(id).map(|registered| registered.workspace),
            WorkspaceResource::Device(id) => state().device(id).ok().map(|device| device.workspace.clone()),
            WorkspaceResource::Grant(id) => {
                let state = state();
                let grant = state.grant(*id).ok()?;
                state.device(&grant.client_id).ok().map(|device| device.workspace.clone())
            }
            WorkspaceResource::Environment(id) => {
                self.relay.environment(*id).ok().map(|environment| environment.entry.workspace.clone())
            }
            WorkspaceResource::RememberedApproval(id) => {
                let state = state();
                let approval = state.remembered().find(|approval| approval.id == *id)?;
                let device = state.device(&approval.client_id);
                Some(device.map_or_else(|_| WorkspaceName::default(), |device| device.workspace.clone()))
            }
        }
    }
}
