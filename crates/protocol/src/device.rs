//! What the owner of a device says to it while it is lent, and what it tells: a line of JSON each, over a local socket.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::relay::{ClientId, Code, Family, Mode, Root, RootId, Sha256, VirtualPath};

/// What its owner says to a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "camelCase", deny_unknown_fields)]
pub enum DeviceCommand {
    /// How is it?
    Status,
    /// Begin nothing new for now.
    Pause {
        /// Why, for those who use it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Go on.
    Resume,
    /// Ask again about everything that was agreed to.
    Forget,
    /// End, and everything that goes on.
    Stop,
}

/// What a device answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeviceReply {
    /// How it is, after what was said to it.
    Status(Box<LocalDeviceStatus>),
    /// It could not make sense of it.
    Error(String),
}

/// How a device is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalDeviceStatus {
    /// Which device.
    pub client_id: ClientId,
    /// What its owner calls it.
    pub label: Option<String>,
    /// The version of its program.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Since when it runs.
    pub started_at: Timestamp,
    /// Where its hub is.
    pub hub: String,
    /// Whether it does what it is asked.
    pub lending: LendingState,
    /// How its connection is.
    pub connection: HubConnectionState,
    /// What its owner lends.
    pub lent: LentCapabilities,
    /// Who used it lately, the last first.
    pub sessions: Vec<RecentSession>,
    /// What goes on.
    pub running: Vec<RunningRequest>,
    /// What went wrong lately, the last first.
    pub last_errors: Vec<RecentError>,
    /// Its own record of everything that was asked of it.
    pub audit: Option<AuditHead>,
}

/// Whether a device does what it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum LendingState {
    /// It does.
    Active,
    /// It begins nothing new.
    Paused {
        /// Why.
        reason: Option<String>,
    },
    /// It has ended.
    Stopped,
}

/// How the connection to the hub is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HubConnectionState {
    /// It is being made.
    Calling,
    /// It is there.
    Connected {
        /// Its name.
        connection_id: String,
        /// Since when.
        since: Timestamp,
        /// The families that the hub has accepted.
        accepted_capabilities: Vec<Family>,
        /// The directories among them.
        accepted_roots: Vec<Root>,
        /// How long the hub took to answer the last heartbeat.
        latency_ms: Option<f64>,
    },
    /// It is not there, and is tried again.
    Away {
        /// Why.
        reason: String,
    },
}

/// What an owner lends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LentCapabilities {
    /// Directories.
    pub roots: Vec<LentDirectory>,
    /// What commands run in; none if there are no commands.
    pub shell: Option<String>,
    /// How many tools there are; none if there can be none.
    pub tool_count: Option<u64>,
}

/// A directory that is lent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LentDirectory {
    /// Its name.
    pub root_id: RootId,
    /// Where a model sees it.
    pub virtual_path: VirtualPath,
    /// What may be done in it.
    pub mode: Mode,
    /// Where it is on this machine, which is told to nobody else.
    pub directory: String,
}

/// A session that used the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentSession {
    /// Which; none for requests that say none.
    pub session_id: Option<String>,
    /// How many requests it has made.
    pub requests: u64,
    /// When the last of them was made.
    pub last_at: Timestamp,
}

/// A request that goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningRequest {
    /// What was asked.
    pub method: String,
    /// For which session.
    pub session_id: Option<String>,
    /// For which run.
    pub run_id: Option<String>,
    /// Since when.
    pub started_at: Timestamp,
    /// Which file.
    pub virtual_path: Option<VirtualPath>,
    /// More about it, without contents.
    pub summary: Map<String, Value>,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentError {
    /// When.
    pub at: Timestamp,
    /// What was asked.
    pub method: String,
    /// What kind of failure.
    pub code: Code,
    /// What was answered.
    pub message: String,
}

/// The end of an audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditHead {
    /// Its file.
    pub file: String,
    /// The number of the last entry.
    pub seq: u64,
    /// Its hash; none if there is no entry.
    pub hash: Option<Sha256>,
}
