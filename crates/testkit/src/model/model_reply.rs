//! An answer of the model, independent of the vendor's API.

use std::time::Duration;

use serde_json::Value;

/// The model's response to one request: an answer, or an HTTP error.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ModelReply {
    Answer(ModelAnswer),
    Fail { status: u16, message: String },
}

/// A successful answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelAnswer {
    pub(super) parts: Vec<AnswerPart>,
    pub(super) stop: StopReason,
}

/// One element of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AnswerPart {
    Text(String),
    Think(String),
    Slow {
        over: Duration,
        text: String,
    },
    Wait(Duration),
    Call(ModelToolCall),
    /// Breaks the connection. Later parts are not sent.
    Cut,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelToolCall {
    pub(super) name: String,
    pub(super) input: ToolArguments,
    /// The tool's namespace, in the Responses API; other APIs have none.
    pub(super) namespace: Option<String>,
}

/// The arguments of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ToolArguments {
    Json(Value),
    /// Free text, for a tool without a schema, such as Codex's `apply_patch`.
    Text(String),
}

impl ToolArguments {
    /// The arguments as one string, which is how the OpenAI APIs send them.
    pub(super) fn as_text(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The arguments as a JSON object, which is how the Anthropic and Gemini APIs send them.
    pub(super) fn as_object(&self) -> Value {
        match self {
            Self::Json(value) => value.clone(),
            Self::Text(text) => serde_json::json!({ "input": text }),
        }
    }
}

/// Why an answer ends: it is complete, it calls tools, or it reached the token limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopReason {
    End,
    Calls,
    Tokens,
}

impl ModelAnswer {
    /// A complete answer that consists of one text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![AnswerPart::Text(text.into())], stop: StopReason::End }
    }

    /// The text of all parts, without reasoning.
    pub(super) fn whole_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            AnswerPart::Text(text) | AnswerPart::Slow { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The sum of all pauses: the delay of the response if the answer is not streamed.
    pub(super) fn time(&self) -> Duration {
        let times = self.parts.iter().filter_map(|part| match part {
            AnswerPart::Wait(time) | AnswerPart::Slow { over: time, .. } => Some(*time),
            _ => None,
        });
        times.sum()
    }

    /// Whether the connection breaks before the end of the answer.
    pub(super) fn is_cut(&self) -> bool {
        self.parts.contains(&AnswerPart::Cut)
    }
}
