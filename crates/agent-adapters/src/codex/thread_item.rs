//! Items of a thread as `item/started` and `item/completed` send them.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{command_action::CommandAction, item_content::CodexContent};
use crate::lenient;

/// An item of a thread.
#[derive(Debug, Default)]
pub(super) struct CodexThreadItem {
    pub(super) id: Option<String>,
    pub(super) status: CodexItemStatus,
    pub(super) body: CodexItemBody,
}

/// The state of an item. Only calls of tools have one, and not all of them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexItemStatus {
    Failed,
    Declined,
    Interrupted,
    /// Running, completed, or a state that this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

/// The part of an item that depends on its type.
#[derive(Debug, Default)]
pub(super) enum CodexItemBody {
    AgentMessage(AgentMessageItem),
    Plan(PlanItem),
    Reasoning(ReasoningItem),
    UserMessage(UserMessageItem),
    HookPrompt(HookPromptItem),
    EnteredReviewMode,
    ExitedReviewMode(ReviewItem),
    ContextCompaction,
    CommandExecution(CommandExecutionItem),
    FileChange(FileChangeItem),
    McpToolCall(McpToolCallItem),
    DynamicToolCall(DynamicToolCallItem),
    CollabAgentToolCall(CollabAgentItem),
    SubAgentActivity(SubAgentActivityItem),
    WebSearch(WebSearchItem),
    ImageView(ImageViewItem),
    ImageGeneration(ImageGenerationItem),
    Sleep(SleepItem),
    /// A type that this version does not know.
    #[default]
    Unknown,
}

impl CodexThreadItem {
    /// Parses an item. A field of an unexpected type counts as missing.
    pub(super) fn parse(item: &Value) -> Self {
        let ItemHeader { id, kind, status } = lenient::object(item);
        let body = kind.map(|kind| CodexItemBody::parse(&kind, item)).unwrap_or_default();
        Self { id, status: status.unwrap_or_default(), body }
    }
}

impl CodexItemBody {
    fn parse(kind: &str, item: &Value) -> Self {
        match kind {
            "agentMessage" => Self::AgentMessage(lenient::object(item)),
            "plan" => Self::Plan(lenient::object(item)),
            "reasoning" => Self::Reasoning(lenient::object(item)),
            "userMessage" => Self::UserMessage(lenient::object(item)),
            "hookPrompt" => Self::HookPrompt(lenient::object(item)),
            "enteredReviewMode" => Self::EnteredReviewMode,
            "exitedReviewMode" => Self::ExitedReviewMode(lenient::object(item)),
            "contextCompaction" => Self::ContextCompaction,
            "commandExecution" => Self::CommandExecution(lenient::object(item)),
            "fileChange" => Self::FileChange(lenient::object(item)),
            "mcpToolCall" => Self::McpToolCall(lenient::object(item)),
            "dynamicToolCall" => Self::DynamicToolCall(lenient::object(item)),
            "collabAgentToolCall" => Self::CollabAgentToolCall(lenient::object(item)),
            "subAgentActivity" => Self::SubAgentActivity(lenient::object(item)),
            "webSearch" => Self::WebSearch(lenient::object(item)),
            "imageView" => Self::ImageView(lenient::object(item)),
            "imageGeneration" => Self::ImageGeneration(lenient::object(item)),
            "sleep" => Self::Sleep(lenient::object(item)),
            _ => Self::Unknown,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ItemHeader {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    status: Option<CodexItemStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AgentMessageItem {
    pub(super) text: Option<String>,
    /// Questions that Codex asks outside of `item/tool/requestUserInput`.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) questions: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PlanItem {
    pub(super) text: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReasoningItem {
    /// The summary of the thoughts, in sections.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) summary: Vec<String>,
    /// The thoughts themselves, from models that show them.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) content: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct UserMessageItem {
    /// The `clientUserMessageId` of the request that sent the message.
    pub(super) client_id: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) content: Vec<CodexContent>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HookPromptItem {
    #[serde(deserialize_with = "lenient::list")]
    pub(super) fragments: Vec<CodexContent>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReviewItem {
    pub(super) review: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CommandExecutionItem {
    pub(super) command: Option<String>,
    pub(super) cwd: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) command_actions: Vec<CommandAction>,
    pub(super) aggregated_output: Option<String>,
    pub(super) exit_code: Option<i32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FileChangeItem {
    /// The changes as Codex sent them, which clients see as the input of the call.
    pub(super) changes: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct McpToolCallItem {
    pub(super) server: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) arguments: Value,
    /// A [`McpToolError`], or null.
    pub(super) error: Value,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) result: McpToolResult,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct McpToolError {
    pub(super) message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct McpToolResult {
    #[serde(deserialize_with = "lenient::list")]
    pub(super) content: Vec<CodexContent>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DynamicToolCallItem {
    pub(super) tool: Option<String>,
    pub(super) arguments: Value,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) content_items: Vec<CodexContent>,
    pub(super) success: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CollabAgentItem {
    pub(super) tool: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) model: Option<String>,
    /// The threads of the subagents that the call started or used.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) receiver_thread_ids: Vec<String>,
    /// A [`CollabAgentState`] for each thread.
    pub(super) agents_states: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CollabAgentState {
    pub(super) status: Option<String>,
    pub(super) message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SubAgentActivityItem {
    pub(super) kind: Option<String>,
    pub(super) agent_path: Option<String>,
    pub(super) agent_thread_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebSearchItem {
    pub(super) query: Option<String>,
    pub(super) action: Value,
    pub(super) results: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ImageViewItem {
    pub(super) path: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ImageGenerationItem {
    pub(super) revised_prompt: Option<String>,
    pub(super) saved_path: Option<String>,
    /// The picture in base64.
    pub(super) result: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SleepItem {
    pub(super) duration_ms: Value,
}
