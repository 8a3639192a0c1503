//! Resources of a device, which outlive a request.

use async_trait::async_trait;
use protocol::relay::{
    method::{
        ResourceCreate, ResourceDispose, ResourceExportState, ResourceGet, ResourceList, ResourceRestoreState,
    },
    resource::{CreateResource, ListResources, Resource, ResourceRef, ResourceState, RestoreResource},
};

use super::{Environment, Error};

/// Manages the resources of a device, which outlive a request.
#[async_trait]
pub trait ResourceRegistry: Send + Sync {
    /// Lists the resources.
    ///
    /// # Errors
    /// The error of the device or the relay.
    async fn list(&self, kind: Option<&str>) -> Result<Vec<Resource>, Error>;

    /// Reads a resource.
    ///
    /// # Errors
    /// The error of the device or the relay.
    async fn get(&self, resource_id: &str) -> Result<Resource, Error>;

    /// Creates a resource.
    ///
    /// # Errors
    /// The error of the device or the relay.
    async fn create(&self, create: CreateResource) -> Result<Resource, Error>;

    /// Closes a resource.
    ///
    /// # Errors
    /// The error of the device or the relay.
    async fn dispose(&self, resource_id: &str) -> Result<(), Error>;

    /// Saves the state of a resource.
    ///
    /// # Errors
    /// The error of the device or the relay.
    async fn export_state(&self, resource_id: &str) -> Result<ResourceState, Error>;

    /// Restores a resource from its saved state.
    ///
    /// # Errors
    /// The error of the device or the relay.
    async fn restore_state(&self, restore: RestoreResource) -> Result<Resource, Error>;
}

/// The resources of an environment.
#[derive(Debug, Clone)]
pub struct Resources(pub(super) Environment);

#[async_trait]
impl ResourceRegistry for Resources {
    async fn list(&self, kind: Option<&str>) -> Result<Vec<Resource>, Error> {
        let params = ListResources { kind: kind.map(str::to_owned) };
        Ok(self.0.ask::<ResourceList>(&params).await?.resources)
    }

    async fn get(&self, resource_id: &str) -> Result<Resource, Error> {
        Ok(self.0.ask::<ResourceGet>(&named(resource_id)).await?)
    }

    async fn create(&self, create: CreateResource) -> Result<Resource, Error> {
        Ok(self.0.ask::<ResourceCreate>(&create).await?)
    }

    async fn dispose(&self, resource_id: &str) -> Result<(), Error> {
        self.0.ask::<ResourceDispose>(&named(resource_id)).await?;
        Ok(())
    }

    async fn export_state(&self, resource_id: &str) -> Result<ResourceState, Error> {
        Ok(self.0.ask::<ResourceExportState>(&named(resource_id)).await?)
    }

    async fn restore_state(&self, restore: RestoreResource) -> Result<Resource, Error> {
        Ok(self.0.ask::<ResourceRestoreState>(&restore).await?)
    }
}

fn named(resource_id: &str) -> ResourceRef {
    ResourceRef { resource_id: resource_id.into() }
}
