//! Requests of an agent that a person answers.

use protocol::{message::ToolKind, wait::QuestionItem};
use serde_json::Value;

/// A request of an agent that a person answers.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Asking {
    /// A request for permission to use a tool.
    Permission(PermissionAsk),
    /// Questions, or a plan that waits for approval.
    Question(QuestionAsk),
}

/// A request for permission; the fields are those of [`protocol::wait::PermissionRequest`].
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "see above")]
pub struct PermissionAsk {
    pub call_id: Option<String>,
    pub tool: String,
    pub kind: ToolKind,
    pub title: String,
    pub reason: Option<String>,
    pub input: Value,
    pub always_allows: Vec<String>,
}

/// Questions; the fields are those of [`protocol::wait::QuestionRequest`].
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "see above")]
pub struct QuestionAsk {
    pub call_id: Option<String>,
    pub questions: Vec<QuestionItem>,
    pub plan: Option<String>,
}
