//! What the model answers, whatever API it is asked through.

use std::time::Duration;

use serde_json::Value;

/// An answer, or a failure in its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Answer(Answer),
    Fail { status: u16, message: String },
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) parts: Vec<Part>,
    pub(super) stop: Stop,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Text(String),
    Think(String),
    Slow {
        over: Duration,
        text: String,
    },
    Wait(Duration),
    Call(Call),
    /// The connection breaks here.
    Cut,
}

/// A tool that is called.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) input: Input,
    /// The group of tools that it belongs to, where the API has groups.
    pub(super) namespace: Option<String>,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    Json(Value),
    /// For tools that take text as it is.
    Text(String),
}

impl Input {
    /// As one string, as most APIs send it.
    pub(super) fn as_text(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// As an object, as the other APIs send it.
    pub(super) fn as_object(&self) -> Value {
        match self {
            Self::Json(value) => value.clone(),
            Self::Text(text) => serde_json::json!({ "input": text }),
        }
    }
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    End,
    Calls,
    Tokens,
}

impl Answer {
    /// An answer that is one text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())], stop: Stop::End }
    }

    /// All its text, without the thoughts.
    pub(super) fn whole_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) | Part::Slow { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// How long it takes when it is not streamed.
    pub(super) fn time(&self) -> Duration {
        let times = self.parts.iter().filter_map(|part| match part {
            Part::Wait(time) | Part::Slow { over: time, .. } => Some(*time),
            _ => None,
        });
        times.sum()
    }

    /// Whether the connection breaks before its end.
    pub(super) fn is_cut(&self) -> bool {
        self.parts.contains(&Part::Cut)
    }
}
