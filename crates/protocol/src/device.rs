//! Commands that the owner sends to a running device over a local socket, and its replies. Each is one line of JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::relay::{ClientId, Family, RelayErrorCode, Root, RootId, RootMode, Sha256, VirtualPath};

/// A command of the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "camelCase", deny_unknown_fields)]
pub enum DeviceControlCommand {
    /// Reports the status.
    Status,
    /// Rejects new requests until `resume`.
    Pause {
        /// The reason, shown to users of the device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Accepts requests again.
    Resume,
    /// Discards all remembered approvals.
    Forget,
    /// Cancels all requests and exits.
    Stop,
}

/// The reply to a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeviceReply {
    /// The status after the command.
    Status(Box<LocalDeviceStatus>),
    /// The command could not be parsed.
    Error(String),
}

/// The status of a running device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalDeviceStatus {
    /// The id of the device.
    pub client_id: ClientId,
    /// The owner's label.
    pub label: Option<String>,
    /// The version of Tombolo.
    pub version: String,
    /// The process id.
    pub pid: u32,
    /// When it was started.
    pub started_at: Timestamp,
    /// The URL of the hub.
    pub hub: String,
    /// Whether it accepts requests.
    pub lending: LendingState,
    /// The state of the connection to the hub.
    pub connection: HubConnectionState,
    /// The lent capabilities.
    pub lent: LentCapabilities,
    /// The sessions that used it recently, most recent first.
    pub sessions: Vec<RecentSession>,
    /// The running requests.
    pub running: Vec<RunningRequest>,
    /// Recent errors, newest first.
    pub last_errors: Vec<RecentError>,
    /// The head of its audit log.
    pub audit: Option<AuditHead>,
}

/// Whether a device accepts requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum LendingState {
    /// Requests are accepted.
    Active,
    /// New requests are rejected.
    Paused {
        /// The reason.
        reason: Option<String>,
    },
    /// The device has stopped.
    Stopped,
}

/// The state of the connection to the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HubConnectionState {
    /// Connecting.
    Calling,
    /// Connected.
    Connected {
        /// The id.
        connection_id: String,
        /// When it was established.
        since: Timestamp,
        /// The capability families that the hub accepted.
        accepted_capabilities: Vec<Family>,
        /// The directories that the hub accepted.
        accepted_roots: Vec<Root>,
        /// The round-trip time of the last heartbeat.
        latency_ms: Option<f64>,
    },
    /// Disconnected; the device retries.
    Away {
        /// The reason.
        reason: String,
    },
}

/// The capabilities that an owner lends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LentCapabilities {
    /// The lent directories.
    pub roots: Vec<LentDirectory>,
    /// The sandbox that commands run in; `null` if commands are not lent.
    pub shell: Option<String>,
    /// The number of tools; `null` if tools are not lent.
    pub tool_count: Option<u64>,
}

/// A lent directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LentDirectory {
    /// The id.
    pub root_id: RootId,
    /// The path that models see.
    pub virtual_path: VirtualPath,
    /// Whether it may be written to.
    pub mode: RootMode,
    /// The path on this machine, which is never sent to the hub.
    pub directory: String,
}

/// A session that used the device recently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentSession {
    /// The session; `null` for requests without one.
    pub session_id: Option<String>,
    /// The number of its requests.
    pub requests: u64,
    /// When it made the last one.
    #[serde(alias = "lastAt")]
    pub last_request_at: Timestamp,
}

/// A running request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningRequest {
    /// The method.
    pub method: String,
    /// The session.
    pub session_id: Option<String>,
    /// The run.
    pub run_id: Option<String>,
    /// When it was established.
    pub started_at: Timestamp,
    /// The path of the file, if it concerns one.
    pub virtual_path: Option<VirtualPath>,
    /// A summary without contents.
    pub summary: Map<String, Value>,
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentError {
    /// When it failed.
    #[serde(alias = "at")]
    pub failed_at: Timestamp,
    /// The method.
    pub method: String,
    /// The error code.
    pub code: RelayErrorCode,
    /// The error message.
    pub message: String,
}

/// The newest entry of an audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditHead {
    /// The path of the log.
    pub file: String,
    /// The sequence number of the newest entry.
    pub seq: u64,
    /// The hash of the newest entry; `null` if the log is empty.
    pub hash: Option<Sha256>,
}
