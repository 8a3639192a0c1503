//! Wire types of `/v1/search`, which finds text in all sessions of a daemon.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentName, SessionId, message::MessageRole};

/// The response of `GET /v1/search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchPage {
    /// The hits: the most recently created session first, and the messages of one session in their order. A page may be empty
    /// although others follow, because the daemon reads a limited amount per request.
    pub items: Vec<SearchHit>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    pub next_cursor: Option<String>,
}

/// A title or a message that contains the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The session.
    pub session_id: SessionId,
    /// The agent of the session.
    pub agent: AgentName,
    /// The title of the session.
    pub title: Option<String>,
    /// The message; `null` if the title contains the text.
    pub message_id: Option<String>,
    /// The role of the speaker; `null` for a title.
    pub role: Option<MessageRole>,
    /// When the message, or the session, was created.
    pub created_at: Option<Timestamp>,
    /// The text around the first occurrence, with `…` where it is cut. White space is collapsed.
    pub snippet: String,
}

crate::schema::wire_types! {
    sent: SearchPage, SearchHit;
}
