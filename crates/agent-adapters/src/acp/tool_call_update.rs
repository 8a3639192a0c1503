//! An update of a tool call.

use serde::Deserialize;
use serde_json::Value;

use crate::lenient;

/// The first or a later description of a tool call: agents leave out what has not changed, or what they do not know.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AcpToolCallUpdate {
    pub(super) tool_call_id: Option<String>,
    pub(super) title: Option<String>,
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) status: Option<String>,
    /// The arguments, which clients see as they are.
    pub(super) raw_input: Value,
    pub(super) raw_output: RawToolOutput,
    /// All output so far.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) content: Vec<ToolCallContent>,
    #[serde(rename = "_meta", deserialize_with = "lenient::field")]
    pub(super) meta: ToolCallMeta,
}

/// A piece of a tool call's output.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum ToolCallContent {
    Content {
        #[serde(default, deserialize_with = "lenient::field")]
        content: ToolCallText,
    },
    Diff {
        #[serde(default)]
        path: String,
        old_text: Option<String>,
        new_text: Option<String>,
    },
    #[serde(other)]
    Other,
}

/// A block of content of which only the text is shown.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(super) struct ToolCallText {
    pub(super) text: Option<String>,
}

/// Output in the agent's own form: a text, or an object with the output of a command.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(from = "Value")]
pub(super) struct RawToolOutput {
    pub(super) output: Option<String>,
    pub(super) exit_code: Option<i64>,
}

/// The output of a command; opencode calls it `output`, codex-acp `formatted_output`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawCommandOutput {
    output: Option<String>,
    formatted_output: Option<String>,
    exit_code: Option<i64>,
}

impl From<Value> for RawToolOutput {
    fn from(raw: Value) -> Self {
        if let Value::String(output) = raw {
            return Self { output: Some(output), exit_code: None };
        }
        let RawCommandOutput { output, formatted_output, exit_code } = lenient::object(&raw);
        Self { output: output.or(formatted_output), exit_code }
    }
}

/// Extensions of claude-agent-acp and codex-acp.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(super) struct ToolCallMeta {
    #[serde(rename = "claudeCode", deserialize_with = "lenient::field")]
    pub(super) claude_code: ClaudeCodeMeta,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) terminal_output: TerminalOutputMeta,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) terminal_exit: TerminalExitMeta,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaudeCodeMeta {
    pub(super) tool_name: Option<String>,
}

/// More output of a command.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(super) struct TerminalOutputMeta {
    pub(super) data: Option<String>,
}

/// The exit of a command.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(super) struct TerminalExitMeta {
    pub(super) exit_code: Option<i64>,
}
