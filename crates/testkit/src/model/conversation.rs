//! An agent's request to the model, independent of the vendor's API.

use serde_json::Value;

use super::offered_tools::OfferedTools;

/// One request. Agents send the whole conversation each time, so it also shows how far the script has been played.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The messages so far, oldest first.
    pub(super) turns: Vec<ConversationTurn>,
    /// The tools that the agent offers to the model.
    pub(super) tools: OfferedTools,
    /// Whether the request has a system prompt.
    pub(super) has_system_prompt: bool,
    /// The JSON schema of a request for structured output. Null if the request wants JSON without naming a schema.
    pub(super) schema: Option<Value>,
    /// The file to which the model must write a plan before it submits the plan (Claude Code's plan mode).
    pub(super) plan_file: Option<String>,
}

/// One message or tool result of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConversationTurn {
    /// Text of the user, or text that the agent adds in the user's name, such as a reminder.
    User(String),
    /// An answer of the model with this many tool calls. The script's position is derived from their sum.
    Model { calls: usize },
    /// The result of a tool call.
    Result(String),
}

/// Extracts the text of a message's content, in any of the APIs: a string, a content block, or a list of blocks.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => {
            let inner =
                ["text", "content", "output", "refusal", "parts"].iter().find_map(|key| part.get(*key));
            inner.map(text_of).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

/// The elements of the list `body[key]`; empty if it is missing or not a list.
pub(super) fn list<'a>(body: &'a Value, key: &str) -> &'a [Value] {
    body[key].as_array().map(Vec::as_slice).unwrap_or_default()
}
