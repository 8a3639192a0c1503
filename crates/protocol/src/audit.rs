//! `/api/audit`: what was done through a hub, and by whom.

use std::net::IpAddr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RuntimeId, SessionId, TokenId, UserName};

/// The answer of `GET /api/audit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    /// The entries after `offset`, the oldest first.
    pub items: Vec<AuditRecord>,
    /// Whether there are more by now.
    pub has_more: bool,
}

/// An entry and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditRecord {
    /// Its number: each next one is one more.
    pub seq: u64,
    /// What was done.
    pub entry: AuditEntry,
}

/// Something that was done through a hub, or refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// When it was asked for.
    pub at: Timestamp,
    /// By whom; none if that is not known.
    pub user: Option<UserName>,
    /// By which token; none if there was none that is any good.
    pub token: Option<TokenId>,
    /// From where.
    pub peer: Option<IpAddr>,
    /// What was asked for, such as `sessions.send`.
    pub verb: String,
    /// Of which runtime, if of one.
    pub runtime: Option<RuntimeId>,
    /// Of which session, if of one.
    pub worker: Option<SessionId>,
    /// The method.
    pub method: String,
    /// The path, without the query; a long one is cut.
    pub path: String,
    /// How it was answered; none if whoever asked was gone before.
    pub status: Option<u16>,
    /// How long that took.
    pub duration_ms: u64,
}
