//! `resource.*`: provider objects that outlive a request.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Availability;

/// Parameters of `resource.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListResources {
    /// List only resources of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// All resources of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceList {
    /// The resources.
    pub resources: Vec<Resource>,
}

/// A provider object that outlives a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resource {
    /// Identifies the resource.
    pub resource_id: String,
    /// Kind of resource, such as `browser_session`.
    pub kind: String,
    /// Current state.
    pub state: Availability,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Whether its state can be exported and restored.
    pub resumable: bool,
}

/// Parameters of `resource.get`, `resource.dispose` and `resource.export_state`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRef {
    /// The resource.
    pub resource_id: String,
}

/// Parameters of `resource.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateResource {
    /// Kind of resource.
    pub kind: String,
    /// Options of the provider.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// The run that owns the resource. The resource is disposed when the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// Exported state of a resource, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceState {
    /// The state.
    pub state: Value,
    /// Whether only the provider can read it.
    pub opaque: bool,
}

/// Parameters of `resource.restore_state`: creates a resource from exported state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreResource {
    /// Kind of resource.
    pub kind: String,
    /// The exported state.
    pub state: Value,
}
