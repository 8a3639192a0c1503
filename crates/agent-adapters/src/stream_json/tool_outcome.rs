//! The outcome of a tool call, as the agent reports it.

use serde::Deserialize;

use super::{file_diff::PatchHunk, message_block::ToolResultBlock};
use crate::lenient;

/// The outcome of a tool call, as the agent reports it.
pub(crate) struct ToolOutcome {
    /// The result for the model.
    pub(crate) block: ToolResultBlock,
    /// The result for programs.
    pub(crate) structured: StructuredResult,
    /// Whether the call was rejected or interrupted.
    pub(crate) was_prevented: bool,
}

/// The result of a call in the form that Claude Code has for programs. Each tool has some of the fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct StructuredResult {
    /// Of a command.
    pub(crate) exit_code: Option<i64>,
    /// The changed file.
    #[serde(deserialize_with = "lenient::text")]
    pub(crate) file_path: Option<String>,
    /// The change as hunks.
    #[serde(deserialize_with = "lenient::list")]
    pub(crate) structured_patch: Vec<PatchHunk>,
    /// The change as a unified diff.
    #[serde(deserialize_with = "lenient::text")]
    pub(crate) unified: Option<String>,
    /// `create` for a new file, which has no patch.
    #[serde(rename = "type")]
    pub(crate) change: String,
    /// The text of a new file.
    pub(crate) content: String,
}
