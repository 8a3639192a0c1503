//! Wire types of `/v1/acp`: instances, one ACP process each.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentName, ServerId};

/// The response of `GET /v1/acp`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpInstanceList {
    /// Every instance, sorted by id.
    pub items: Vec<AcpInstance>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// One ACP process and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpInstance {
    /// The id that the client chose.
    pub server_id: ServerId,
    /// The agent that it runs.
    pub agent: AgentName,
    /// The life-cycle state.
    pub state: AcpInstanceState,
    /// The process id while it runs.
    pub pid: Option<u32>,
    /// When the process was last started.
    pub started_at: Option<Timestamp>,
    /// How the process ended; `null` while it runs.
    pub exit: Option<AcpProcessExit>,
    /// The number of requests that wait for the agent's response.
    pub pending_requests: u64,
    /// The number of stream readers.
    pub subscribers: u64,
    /// How long the instance is retained without readers and requests; `null` if until it is deleted.
    pub linger_ms: Option<u64>,
    /// The events that can be read from the stream.
    pub events: EventRange,
}

/// The life-cycle state of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AcpInstanceState {
    /// Registered, but its process is not running yet.
    Starting,
    /// Its process is running.
    Running,
    /// Its process ended; the next request that names the agent starts a new one.
    Exited,
}

/// How the process of an instance ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpProcessExit {
    /// The exit code, unless a signal ended the process.
    pub code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
    /// The last lines of its standard error.
    pub stderr_tail: String,
}

/// The events that a stream can be read from; both are 0 before the first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRange {
    /// The id of the oldest stored event.
    pub oldest: u64,
    /// The id of the newest event.
    pub newest: u64,
}

/// The body of `PUT /v1/acp/{server_id}`, which sets how the process of an instance is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PrepareInstanceRequest {
    /// The agent to run.
    pub agent: AgentName,
    /// Its working directory; the daemon's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables added to its environment. No response contains them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Arguments added after the agent's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Deletes the instance after this many milliseconds without a reader of its stream and without a pending message.
    /// It applies when the instance is created. If left out, the instance stays until it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800_000))]
    pub linger_ms: Option<u64>,
}

crate::schema::wire_types! {
    received: PrepareInstanceRequest;
    sent: AcpInstanceList, AcpInstance;
}
