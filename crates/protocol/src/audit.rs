//! Wire types of `/api/audit`: the log of requests to a hub.

use std::net::IpAddr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RuntimeId, SessionId, TokenId, UserName};

/// The response of `GET /api/audit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    /// The entries after `cursor`, oldest first.
    pub items: Vec<AuditRecord>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    pub next_cursor: Option<String>,
}

/// An entry with its sequence number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditRecord {
    /// The sequence number: one more for each next entry.
    pub seq: u64,
    /// The entry.
    pub entry: AuditEntry,
}

/// A request to the hub, whether it was allowed or refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// When the hub received the request.
    #[serde(alias = "at")]
    pub received_at: Timestamp,
    /// The user; `null` if not authenticated.
    pub user: Option<UserName>,
    /// The token; `null` if there was no valid one.
    pub token: Option<TokenId>,
    /// The address of the client.
    pub peer: Option<IpAddr>,
    /// The action, such as `sessions.send`.
    #[serde(alias = "verb")]
    pub action: String,
    /// The runtime, if the request was for one.
    pub runtime: Option<RuntimeId>,
    /// The session, if the request was for one.
    pub worker: Option<SessionId>,
    /// The HTTP method.
    pub method: String,
    /// The path without the query, truncated if long.
    pub path: String,
    /// The HTTP status of the response; `null` if the client disconnected first.
    pub status: Option<u16>,
    /// The time until the response.
    pub duration_ms: u64,
}

crate::schema::wire_types! {
    sent: AuditPage;
}
