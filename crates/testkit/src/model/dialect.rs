//! The vendors' APIs that the scripted model implements, and the choice of one by request path.

use serde_json::Value;

use super::{anthropic, chat, conversation::Conversation, frames::Frame, gemini, reply::Answer, responses};

/// A vendor's model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The Anthropic Messages API.
    Anthropic,
    /// The OpenAI Responses API.
    Responses,
    /// The OpenAI Chat Completions API.
    Chat,
    /// The Gemini API.
    Gemini,
}

impl Dialect {
    /// The API of a request path. Only the end of the path counts, because agents put different prefixes before it.
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

    /// Whether the agent requests a streamed answer: Gemini by the path, the other APIs by a field of the body.
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

    /// The response body of an answer that is not streamed.
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

/// Generates ids that are unique within one model. Agents store them in transcripts and match tool results by them.
#[derive(Debug, Default)]
pub(super) struct Ids(u64);

impl Ids {
    pub(super) fn next(&mut self, prefix: &str) -> String {
        self.0 += 1;
        format!("{prefix}{:08}", self.0)
    }
}
