//! Requests, their context and their cancellation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{RawJson, RequestLimits};

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Identifies the request. Must differ from all pending requests of the same sender.
    pub id: String,
    /// Method name, such as `file.read`.
    pub method: String,
    /// Parameters of the method.
    #[serde(default = "RawJson::empty")]
    pub params: RawJson,
    /// The session and run for which the request is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RelayContext>,
}

/// The origin of a request. Forwarded unchanged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelayContext {
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Limits of this request, set by the relay server. The server discards limits that a runtime sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<RequestLimits>,
    /// Unknown fields, forwarded unchanged.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Cancels a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelFrame {
    /// Id of the request.
    pub id: String,
    /// Reason for the cancellation, such as `user_cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
