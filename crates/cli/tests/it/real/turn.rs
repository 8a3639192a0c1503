//! One turn, as the updates told it.

use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Turn {
    /// What the agent said.
    pub(super) text: String,
    /// What it thought.
    pub(super) thoughts: String,
    /// What it told as said by the user.
    pub(super) user: String,
    /// The permissions that it asked for.
    pub(super) asked: Vec<Value>,
    /// Everything else that it told, tool calls among them.
    pub(super) updates: Vec<Value>,
    /// The answer to the prompt, or the error in its place.
    pub(super) result: Option<Result<Value, Value>>,
}

impl Turn {
    pub(super) fn take(&mut self, update: &Value) {
        let text = update["content"]["text"].as_str().unwrap_or_default();
        match update["sessionUpdate"].as_str() {
            Some("agent_message_chunk") => self.text += text,
            Some("agent_thought_chunk") => self.thoughts += text,
            Some("user_message_chunk") => self.user += text,
            _ => self.updates.push(update.clone()),
        }
    }

    /// Why the turn ended; empty if it failed.
    pub(super) fn stop(&self) -> &str {
        match &self.result {
            Some(Ok(result)) => result["stopReason"].as_str().unwrap_or_default(),
            _ => "",
        }
    }

    /// Whether a tool call was told, or a change of one.
    pub(super) fn has_tool_call(&self) -> bool {
        let kind = |update: &Value| {
            update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call"))
        };
        self.updates.iter().any(kind)
    }
}
