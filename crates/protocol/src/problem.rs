//! Problem documents (RFC 9457): one row per kind; programs branch on `type`, people read `detail`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::relay::RelayError;

macro_rules! problems {
    ($($(#[$doc:meta])* $kind:ident = $status:literal $slug:literal $title:literal;)*) => {
        /// The kind of a problem: a stable name that programs may branch on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ProblemKind { $($(#[$doc])* #[doc = $title] $kind,)* }

        impl ProblemKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [ProblemKind] = &[$(ProblemKind::$kind),*];

            /// The `type` member: a URN that never changes.
            pub const fn urn(self) -> &'static str {
                match self { $(ProblemKind::$kind => concat!("urn:problem:", $slug),)* }
            }

            /// The last part of the URN.
            pub const fn slug(self) -> &'static str {
                match self { $(ProblemKind::$kind => $slug,)* }
            }

            /// The HTTP status of the response.
            pub const fn status(self) -> u16 {
                match self { $(ProblemKind::$kind => $status,)* }
            }

            /// A short sentence for people, the same for every occurrence.
            pub const fn title(self) -> &'static str {
                match self { $(ProblemKind::$kind => $title,)* }
            }
        }
    };
}

problems! {
    InvalidRequest      = 400 "invalid-request"        "The request is not valid";
    InvalidEnvelope     = 400 "invalid-envelope"       "The body is not one JSON-RPC message";
    ProcessStart        = 400 "process-start"          "The process could not be started";
    AgentRequired       = 400 "agent-required"         "A new instance needs to be told its agent";
    UnknownAgent        = 400 "unknown-agent"          "No such agent";
    InvalidPath         = 400 "invalid-path"           "The path cannot be used";
    InvalidArchive      = 400 "invalid-archive"        "The archive cannot be unpacked";
    InvalidAnswer       = 400 "invalid-answer"         "The answer does not fit the question";
    Unauthorized        = 401 "unauthorized"           "A valid bearer token is needed";
    Forbidden           = 403 "forbidden"              "This is not allowed";
    RelayRefused        = 403 "relay-refused"          "The device, its grant or a person does not allow this";
    PairingRefused      = 403 "pairing-refused"        "The device is not let in";
    HostNotAllowed      = 403 "host-not-allowed"       "The Host or Origin of the request is not allowed";
    NotFound            = 404 "not-found"              "No such thing";
    InstanceNotFound    = 404 "instance-not-found"     "No such instance";
    AgentNotFound       = 404 "agent-not-found"        "No such agent";
    ProcessNotFound     = 404 "process-not-found"      "No such process";
    PathNotFound        = 404 "path-not-found"         "No such file or directory";
    EntryNotFound       = 404 "entry-not-found"        "No such entry";
    RuntimeNotFound     = 404 "runtime-not-found"      "No such runtime";
    SessionNotFound     = 404 "session-not-found"      "No such session";
    UserNotFound        = 404 "user-not-found"         "No such user";
    TokenNotFound       = 404 "token-not-found"        "No such token";
    InputNotFound       = 404 "input-not-found"        "No such input";
    DeviceNotFound      = 404 "device-not-found"       "No such device";
    GrantNotFound       = 404 "grant-not-found"        "No such grant";
    EnvironmentNotFound = 404 "environment-not-found"  "No such environment";
    PairingNotFound     = 404 "pairing-not-found"      "No device waits with this code";
    WaitNotFound        = 404 "wait-not-found"         "No such question or permission";
    MethodNotAllowed    = 405 "method-not-allowed"     "The resource does not have this method";
    NotAcceptable       = 406 "not-acceptable"         "The response is of no type that the client accepts";
    RequestTimeout      = 408 "request-timeout"        "The request did not arrive in time";
    AgentMismatch       = 409 "agent-mismatch"         "The instance belongs to another agent";
    RuntimeTaken        = 409 "runtime-taken"          "There is a runtime of this name";
    RuntimeNamed        = 409 "runtime-named"          "The runtime is named in the files of the hub";
    DeviceTaken         = 409 "device-taken"           "There is a device of this name in another workspace";
    DeviceConnected     = 409 "device-connected"       "Another copy of the device is connected";
    LendingFull         = 409 "lending-full"           "No more devices, grants or environments can be held";
    DeviceUnavailable   = 409 "device-unavailable"     "The device is not there, or does not lend this";
    RelayCancelled      = 409 "relay-cancelled"        "The request to the device was cancelled";
    UserTaken           = 409 "user-taken"             "There is a user of this name";
    LastAdmin           = 409 "last-admin"             "Somebody must manage the hub";
    PeopleFull          = 409 "people-full"            "No more users or tokens can be held";
    IdInFlight          = 409 "id-in-flight"           "A request with this id is still running";
    InstanceRunning     = 409 "instance-running"       "The instance is already running";
    PathConflict        = 409 "path-conflict"          "The path is in the way or not of the needed kind";
    InstallUnavailable  = 409 "install-unavailable"    "The agent cannot be installed here";
    InstallUnverified   = 409 "install-unverified"     "The agent's files cannot be verified";
    NotAcp              = 409 "not-acp"                "The agent does not speak ACP";
    UnsupportedPlatform = 409 "unsupported-platform"   "The agent does not exist for this machine";
    ProcessEnded        = 409 "process-ended"          "The process has ended";
    InputClosed         = 409 "input-closed"           "The input of the process is closed";
    NotATerminal        = 409 "not-a-terminal"         "The process has no terminal";
    SessionConflict     = 409 "session-conflict"       "The session was created with other parameters";
    SessionBusy         = 409 "session-busy"           "The session is running a turn";
    UnsupportedFeature  = 409 "unsupported-feature"    "The agent cannot do this";
    InputGone           = 409 "input-gone"             "The input no longer waits";
    WaitSettled         = 409 "wait-settled"           "The question or permission was settled already";
    PairingExpired      = 410 "pairing-expired"        "The code was not confirmed in time";
    PreconditionFailed  = 412 "precondition-failed"    "The file is not what the condition says";
    PayloadTooLarge     = 413 "payload-too-large"      "The body is too large";
    UnsupportedMedia    = 415 "unsupported-media-type" "The body is of another type than needed";
    RangeNotSatisfiable = 416 "range-not-satisfiable"  "The range lies outside the file";
    KeyReused           = 422 "idempotency-key-reused" "The idempotency key belongs to another message";
    UpgradeRequired     = 426 "upgrade-required"       "This resource is spoken to over a WebSocket";
    TooManyRequests     = 429 "too-many-requests"      "Too many requests came in a short time";
    HeadersTooLarge     = 431 "headers-too-large"      "The request head is too large";
    Internal            = 500 "internal"               "Something broke on our side";
    StoreCorrupt        = 500 "store-corrupt"          "A stored file cannot be read";
    RuntimeUnavailable  = 502 "runtime-unavailable"    "The runtime cannot be reached";
    AgentStart          = 502 "agent-start"            "The agent could not be started";
    AgentExited         = 502 "agent-exited"           "The agent ended before it answered";
    InstallFailed       = 502 "install-failed"         "The agent could not be installed";
    ChecksumMismatch    = 502 "checksum-mismatch"      "What was downloaded is not what was published";
    DeviceFailed        = 502 "device-failed"          "The device could not do it, or was lost";
    AgentBusy           = 503 "agent-busy"             "The agent does not take more at the moment";
    ProcessBusy         = 503 "process-busy"           "The process does not take more at the moment";
    TooManyProcesses    = 503 "too-many-processes"     "No more processes can be started";
    TooManyConnections  = 503 "too-many-connections"   "No more connections can be served";
    TooManySessions     = 503 "too-many-sessions"      "No more sessions can be held";
    QueueFull           = 503 "queue-full"             "No more messages can wait for their turn";
    StoreLocked         = 503 "store-locked"           "The stored sessions are in use by another program";
    ShuttingDown        = 503 "shutting-down"          "The daemon is shutting down";
    AgentTimeout        = 504 "agent-timeout"          "The agent did not answer in time";
    RuntimeTimeout      = 504 "runtime-timeout"        "The runtime did not answer in time";
    DeviceTimeout       = 504 "device-timeout"         "The device did not answer in time";
    NoSpace             = 507 "no-space"               "There is no space left";
}

impl Serialize for ProblemKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.urn())
    }
}

impl<'de> Deserialize<'de> for ProblemKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let urn = Cow::<str>::deserialize(deserializer)?;
        let kind = ProblemKind::ALL.iter().find(|kind| kind.urn() == urn);
        kind.copied().ok_or_else(|| de::Error::custom(format!("unknown problem type `{urn}`")))
    }
}

impl JsonSchema for ProblemKind {
    fn schema_name() -> Cow<'static, str> {
        "ProblemKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let urns: Vec<_> = ProblemKind::ALL.iter().map(|kind| kind.urn()).collect();
        json_schema!({ "type": "string", "enum": urns })
    }
}

/// An error response of the API (`application/problem+json`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The kind of problem, for programs.
    #[serde(rename = "type")]
    pub kind: ProblemKind,
    /// A title for people, the same for every problem of this kind.
    pub title: Cow<'static, str>,
    /// The HTTP status.
    pub status: u16,
    /// A message about this occurrence.
    pub detail: String,
    /// The last lines of standard error, if a process ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// The failed attempts, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<FailedAttempt>,
    /// The error of the relay, if a device failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<Box<RelayError>>,
    /// The id of the request, as in the header `Request-Id` of the response and in the server's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedAttempt {
    /// The source that was tried.
    pub source: String,
    /// Why it failed.
    pub reason: String,
}

impl Problem {
    /// A problem of `kind` with the particulars of this occurrence.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            title: kind.title().into(),
            status: kind.status(),
            detail: detail.into(),
            stderr_tail: None,
            causes: Vec::new(),
            relay: None,
            request_id: None,
        }
    }
}

crate::schema::wire_types! {
    sent: Problem;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_distinct_names_and_error_statuses() {
        let mut urns: Vec<_> = ProblemKind::ALL.iter().map(|kind| kind.urn()).collect();
        urns.sort_unstable();
        urns.dedup();
        assert_eq!(urns.len(), ProblemKind::ALL.len());
        assert!(ProblemKind::ALL.iter().all(|kind| (400..600).contains(&kind.status())));
    }

    #[test]
    fn a_problem_survives_the_wire() {
        let problem = Problem::new(ProblemKind::AgentBusy, "its queue of 1 024 messages is full");
        let json = serde_json::to_string(&problem).unwrap();
        assert!(json.starts_with(r#"{"type":"urn:problem:agent-busy","title":"The agent does"#), "{json}");
        assert_eq!(serde_json::from_str::<Problem>(&json).unwrap(), problem);
    }
}
