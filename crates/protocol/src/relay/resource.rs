//! `resource.*`: things of a provider that outlive a request.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::State;

/// Lists resources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListResources {
    /// Only those of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Which resources there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceList {
    /// Every resource.
    pub resources: Vec<Resource>,
}

/// A thing of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resource {
    /// Its name.
    pub resource_id: String,
    /// What it is, such as `browser_session`.
    pub kind: String,
    /// How it is.
    pub state: State,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether its state can be exported and restored.
    pub resumable: bool,
}

/// Names a resource: to look at it, to dispose of it or to export its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRef {
    /// The resource.
    pub resource_id: String,
}

/// Makes a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateResource {
    /// What it is.
    pub kind: String,
    /// How it is made.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// The run with which it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// The state of a resource, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceState {
    /// The state.
    pub state: Value,
    /// Whether only the provider can read it.
    pub opaque: bool,
}

/// Makes a resource as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreResource {
    /// What it is.
    pub kind: String,
    /// Its state.
    pub state: Value,
}
