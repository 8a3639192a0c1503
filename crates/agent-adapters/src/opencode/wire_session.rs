//! Sessions, errors and the state of the server as it sends them.

use serde::{Deserialize, Serialize};

use crate::lenient;

/// A session of the server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionInfo {
    pub(super) id: Option<String>,
    /// The session whose subagent has this one.
    #[serde(rename = "parentID")]
    pub(super) parent_id: Option<String>,
    /// The version of the server that created the session.
    pub(super) version: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) permission: Vec<PermissionRule>,
}

/// A rule of a session. The last rule that matches an action decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PermissionRule {
    pub(super) permission: String,
    pub(super) pattern: String,
    pub(super) action: String,
}

/// An error of a message, of a session, or in place of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeError {
    pub(super) name: Option<String>,
    pub(super) message: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) data: OpencodeErrorData,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct OpencodeErrorData {
    pub(super) message: Option<String>,
    /// The HTTP status of the model's provider.
    pub(super) status_code: Option<u16>,
}

/// An item of the answer of `/agent`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeAgent {
    pub(super) name: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) hidden: Option<bool>,
    pub(super) description: Option<String>,
}

/// The answer of `/config`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeConfig {
    pub(super) model: Option<String>,
}

/// An entry of the answer of `/mcp`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeMcpStatus {
    pub(super) status: Option<String>,
    pub(super) error: Option<String>,
}

/// The answer of `/file/content`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeFile {
    pub(super) content: Option<String>,
}
