//! `/v1/acp`: instances, one ACP process each.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentName, ServerId};

/// The answer of `GET /v1/acp`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpInstanceList {
    /// Every instance, by its id.
    pub items: Vec<AcpInstance>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// One ACP process and its queues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpInstance {
    /// The client's name for it.
    pub server_id: ServerId,
    /// The program it runs.
    pub agent: AgentName,
    /// Where it is in its life.
    pub state: AcpInstanceState,
    /// The process id while it runs.
    pub pid: Option<u32>,
    /// When the process was last started.
    pub started_at: Option<Timestamp>,
    /// How the process ended, if it has.
    pub exit: Option<AcpProcessExit>,
    /// Requests that wait for the agent's answer.
    pub pending_requests: u64,
    /// Readers of the stream.
    pub subscribers: u64,
    /// How long it stays while nobody is there for it; `null` is until it is deleted.
    pub linger_ms: Option<u64>,
    /// The ids that can be read from the stream.
    pub events: EventRange,
}

/// Where an instance is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AcpInstanceState {
    /// Known, but its process does not run yet.
    Starting,
    /// Its process runs.
    Running,
    /// Its process has ended; the next request that names the agent starts it anew.
    Exited,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpProcessExit {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The last it wrote to standard error.
    pub stderr_tail: String,
}

/// The ids that a stream can be read from; both 0 while nothing was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRange {
    /// The oldest event that is kept.
    pub oldest: u64,
    /// The newest event.
    pub newest: u64,
}

/// `PUT /v1/acp/{server_id}`: how its process is to be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PrepareInstanceRequest {
    /// The program to run.
    pub agent: AgentName,
    /// The directory it runs in; the daemon's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables added to its environment. They are never shown again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Arguments added after the agent's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Deletes the instance once nobody was there for it for so many milliseconds: no reader of its stream, and no message
    /// on its way. Heeded when the instance is made; until it is deleted if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800_000))]
    pub linger_ms: Option<u64>,
}
