//! The vendors' APIs that the scripted model implements, and the choice of one by request path.

use serde_json::Value;

use super::{
    answer_frames::AnswerFrame, anthropic, chat, conversation::Conversation, gemini,
    model_reply::ModelAnswer, responses,
};

/// A vendor's model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelApi {
    /// The Anthropic Messages API.
    Anthropic,
    /// The OpenAI Responses API.
    Responses,
    /// The OpenAI Chat Completions API.
    Chat,
    /// The Gemini API.
    Gemini,
}

impl ModelApi {
    /// The API of a request path. Only the end of the path counts, because agents put different prefixes before it.
    pub(super) fn from_path(path: &str) -> Option<Self> {
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
    pub(super) fn is_streamed(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.ends_with(":streamGenerateContent"),
            _ => body["stream"] == true,
        }
    }

    pub(super) fn parse_request(self, body: &Value) -> Conversation {
        match self {
            Self::Anthropic => anthropic::parse_request(body),
            Self::Responses => responses::parse_request(body),
            Self::Chat => chat::parse_request(body),
            Self::Gemini => gemini::parse_request(body),
        }
    }

    /// The response body of an answer that is not streamed.
    pub(super) fn response_body(self, answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::response_body(answer, ids, model),
            Self::Responses => responses::response_body(answer, ids, model),
            Self::Chat => chat::response_body(answer, ids, model),
            Self::Gemini => gemini::response_body(answer, ids, model),
        }
    }

    pub(super) fn stream_frames(
        self,
        answer: &ModelAnswer,
        ids: &mut IdGenerator,
        model: &str,
    ) -> Vec<AnswerFrame> {
        match self {
            Self::Anthropic => anthropic::stream_frames(answer, ids, model),
            Self::Responses => responses::stream_frames(answer, ids, model),
            Self::Chat => chat::stream_frames(answer, ids, model),
            Self::Gemini => gemini::stream_frames(answer, ids, model),
        }
    }

    pub(super) fn error_body(self, status: u16, message: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::error_body(status, message),
            Self::Responses | Self::Chat => chat::error_body(status, message),
            Self::Gemini => gemini::error_body(status, message),
        }
    }
}

/// Generates ids that are unique within one model. Agents store them in transcripts and match tool results by them.
#[derive(Debug, Default)]
pub(super) struct IdGenerator(u64);

impl IdGenerator {
    pub(super) fn next(&mut self, prefix: &str) -> String {
        self.0 += 1;
        format!("{prefix}{:08}", self.0)
    }
}
