//! The lines of Claude Code's output.

use serde::Deserialize;
use serde_json::Value;

use super::{model_failure::ModelFailure, turn_result::TurnResult};
use crate::{
    lenient,
    stream_json::{
        api_message::{ApiMessage, ApiUsage},
        message_block::MessageBlock,
    },
};

/// The types of lines that repeat other lines or are not about the session.
const IGNORED: [&str; 8] = [
    "active_goal",
    "auth_status",
    "conversation_reset",
    "keep_alive",
    "prompt_suggestion",
    "rate_limit_event",
    "tool_progress",
    "tool_use_summary",
];

/// A line of Claude Code's output.
pub(super) enum ClaudeLine {
    System { subtype: String },
    StreamEvent(Box<StreamEventLine>),
    Assistant(AssistantLine),
    User(UserLine),
    Result(Box<TurnResult>),
    ControlRequest(ControlRequestLine),
    ControlResponse(ControlResponseLine),
    ControlCancelRequest(ControlCancelLine),
    CommandLifecycle(CommandLifecycleLine),
    Ignored,
    Unknown,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LineKind {
    #[serde(rename = "type")]
    kind: String,
    subtype: String,
}

/// An event of the model's stream.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEventLine {
    #[serde(deserialize_with = "lenient::field")]
    pub(super) event: StreamEvent,
    /// The tool call of the subagent whose model streams.
    #[serde(deserialize_with = "lenient::text")]
    pub(super) parent_tool_use_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEvent {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) index: Option<u64>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) message: ApiMessage,
    pub(super) content_block: Option<Value>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) delta: StreamDelta,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) usage: Option<ApiUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamDelta {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) thinking: String,
}

/// Whole blocks of a message of the model, or of Claude Code itself if it reports a failure.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AssistantLine {
    #[serde(deserialize_with = "lenient::field")]
    pub(super) message: ApiMessage,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) parent_tool_use_id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    error: Option<String>,
    api_error_status: Option<u16>,
}

/// A message to the model: results of tools, and remarks of Claude Code.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct UserLine {
    #[serde(deserialize_with = "lenient::field")]
    pub(super) message: ApiMessage,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) parent_tool_use_id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) uuid: Option<String>,
    /// The result in its form for programs. It belongs to the only result in the message.
    pub(super) tool_use_result: Option<Value>,
    #[serde(deserialize_with = "lenient::list")]
    tool_result_meta: Vec<ToolResultMeta>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolResultMeta {
    id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    non_execution_kind: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    permission_decision: ClaudeDecision,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeDecision {
    decision: String,
}

/// A request of Claude Code that waits for its response.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ControlRequestLine {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) request_id: Option<String>,
    pub(super) request: Value,
}

/// The response to a control request of the adapter.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ControlResponseLine {
    #[serde(deserialize_with = "lenient::field")]
    pub(super) response: ControlResponse,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ControlResponse {
    pub(super) subtype: String,
    pub(super) request_id: String,
    pub(super) response: Value,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) error: Option<String>,
}

/// The end of a control request to which Claude Code no longer needs a response.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ControlCancelLine {
    pub(super) request_id: String,
}

/// A change of the state of an input.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CommandLifecycleLine {
    pub(super) command_uuid: String,
    pub(super) state: String,
}

impl ClaudeLine {
    pub(super) fn from_value(line: &Value) -> Self {
        let LineKind { kind, subtype } = lenient::object(line);
        match kind.as_str() {
            "system" => Self::System { subtype },
            "stream_event" => Self::StreamEvent(Box::new(lenient::object(line))),
            "assistant" => Self::Assistant(lenient::object(line)),
            "user" => Self::User(lenient::object(line)),
            "result" => Self::Result(Box::new(TurnResult::from_value(line))),
            "control_request" => Self::ControlRequest(lenient::object(line)),
            "control_response" => Self::ControlResponse(lenient::object(line)),
            "control_cancel_request" => Self::ControlCancelRequest(lenient::object(line)),
            "command_lifecycle" => Self::CommandLifecycle(lenient::object(line)),
            known if IGNORED.contains(&known) => Self::Ignored,
            _ => Self::Unknown,
        }
    }
}

impl AssistantLine {
    /// The failure that Claude Code reports in place of the model's message.
    pub(super) fn failure(&self) -> Option<ModelFailure> {
        let kind = self.error.clone()?;
        let texts = self.message.content.0.iter().filter_map(|block| match MessageBlock::from_value(block) {
            MessageBlock::Text { text } => Some(text),
            _ => None,
        });
        let message = texts.collect::<Vec<_>>().join("\n");
        Some(ModelFailure { kind, status: self.api_error_status, message })
    }
}

impl UserLine {
    /// Whether the call `id` was rejected or interrupted.
    pub(super) fn was_prevented(&self, id: Option<&str>) -> bool {
        self.tool_result_meta
            .iter()
            .filter(|meta| meta.id.as_deref() == id)
            .any(|meta| meta.non_execution_kind.is_some() || meta.permission_decision.decision == "reject")
    }
}
