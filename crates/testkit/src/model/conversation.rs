//! What an agent sends to a model, whatever API it speaks.

use serde_json::Value;

use super::tools::Tools;

/// One request for an answer.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// What was said so far, oldest first.
    pub(super) turns: Vec<Turn>,
    /// What the model may call.
    pub(super) tools: Tools,
    /// Whether there are instructions besides what was said.
    pub(super) instructed: bool,
    /// The schema that the answer must fit; empty if any JSON will do.
    pub(super) schema: Option<Value>,
    /// The file that the agent wants a plan to be written to before it is put to the user.
    pub(super) plan_file: Option<String>,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// By the user, or by the agent in the user's name.
    User(String),
    /// By the model, with this many calls.
    Model { calls: usize },
    /// What came of a call.
    Result(String),
}

/// The text in a piece of content, in any of the shapes that the APIs have.
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

/// The elements of a list; none if there is no list.
pub(super) fn list<'a>(body: &'a Value, key: &str) -> &'a [Value] {
    body[key].as_array().map(Vec::as_slice).unwrap_or_default()
}
