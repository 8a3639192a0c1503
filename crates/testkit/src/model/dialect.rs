//! The APIs that the model speaks, and which one a path belongs to.

use serde_json::Value;

use super::{anthropic, chat, conversation::Conversation, frames::Frame, gemini, reply::Answer, responses};

/// An API of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini.
    Gemini,
}

impl Dialect {
    /// The API whose path this is. Agents put what they like before it.
    pub(super) fn of(path: &str) -> Option<Self> {
        let ends = |end| path.ends_with(end);
        if ends("/messages") {
            Some(Self::Anthropic)
        } else if ends("/responses") {
            Some(Self::Responses)
        } else if ends("/chat/completions") {
            Some(Self::Chat)
        } else if ends(":generateContent") || ends(":streamGenerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// Whether the answer is to be streamed.
    pub(super) fn streams(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.ends_with(":streamGenerateContent"),
            _ => body["stream"] == true,
        }
    }

    pub(super) fn read(self, body: &Value) -> Conversation {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    /// An answer in one piece.
    pub(super) fn whole(self, answer: &Answer, ids: &mut Ids, model: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(answer, ids, model),
            Self::Responses => responses::whole(answer, ids, model),
            Self::Chat => chat::whole(answer, ids, model),
            Self::Gemini => gemini::whole(answer, ids, model),
        }
    }

    pub(super) fn stream(self, answer: &Answer, ids: &mut Ids, model: &str) -> Vec<Frame> {
        match self {
            Self::Anthropic => anthropic::stream(answer, ids, model),
            Self::Responses => responses::stream(answer, ids, model),
            Self::Chat => chat::stream(answer, ids, model),
            Self::Gemini => gemini::stream(answer, ids, model),
        }
    }

    pub(super) fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::error(status, message),
            Self::Responses | Self::Chat => chat::error(status, message),
            Self::Gemini => gemini::error(status, message),
        }
    }
}

/// Ids that no other answer of this model has: agents keep them in their transcripts.
#[derive(Debug, Default)]
pub(super) struct Ids(u64);

impl Ids {
    pub(super) fn next(&mut self, prefix: &str) -> String {
        self.0 += 1;
        format!("{prefix}{:08}", self.0)
    }
}
