//! Frames of observation streams: from a runtime to the backend, and from the backend to its viewers.
//!
//! Both legs use the same three kinds of frames. Frames of newer versions are skipped, not rejected.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Event, RuntimeId, SessionId, lending::RelayCall, presence::WorkerPresence};

/// A frame of an observation stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ObservationFrame {
    /// An event of the session.
    Event {
        /// The event and its position in the stream.
        envelope: Box<EventEnvelope>,
    },
    /// A problem with the stream.
    Diagnostic {
        /// The content.
        diagnostic: StreamDiagnostic,
    },
    /// A change of the stream itself.
    Control {
        /// The content.
        control: StreamControl,
    },
}

/// An event and its position in the stream of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventEnvelope {
    /// The opaque position of this event: a client sends it back to resume after the event.
    pub cursor: String,
    /// The id of the event: its cursor, or `snapshot:` and the cursor that a snapshot covers.
    pub event_id: String,
    /// The runtime of the worker; only on the stream of a backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<RuntimeId>,
    /// The worker.
    pub worker_id: SessionId,
    /// When the event was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Whether the snapshot that was sent before includes this event: a client that applied the snapshot skips it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replay: bool,
    /// The event.
    pub payload: Event,
}

/// A change of the stream itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamControl {
    /// The events since the cursor follow.
    Resumed {
        /// Whether they are complete.
        resume: ResumeOutcome,
    },
    /// The replay is complete: live events follow.
    Live,
    /// Sent when there was no event for a while.
    Heartbeat,
    /// The viewers or drivers of the worker changed; only on the stream of a backend.
    Presence(WorkerPresence),
    /// A request to a device for this worker started or ended; only on the stream of a backend.
    Relay(Box<RelayCall>),
    /// A control of a newer version.
    #[serde(other)]
    Unknown,
}

/// How a stream resumes after a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResumeOutcome {
    /// All events after the cursor follow.
    Ok,
    /// Some events after the last one are no longer stored. A snapshot that includes them follows, then the rest.
    Gap,
    /// The stream is another one, as its runtime started over. A snapshot follows, and earlier cursors are unknown.
    Reset,
}

/// A problem with a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamDiagnostic {
    /// A code for programs: the leg and the kind of problem, such as `runtime.cursor_expired`.
    pub code: String,
    /// A message for people.
    pub message: String,
    /// Further details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl StreamDiagnostic {
    /// Creates a diagnostic of a leg.
    pub fn new(leg: StreamLeg, kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self { code: format!("{leg}.{kind}"), message: message.into(), details: None }
    }

    /// The leg and kind, if this version knows the code.
    pub fn known(&self) -> Option<(StreamLeg, DiagnosticKind)> {
        let (leg, kind) = self.code.split_once('.')?;
        Some((leg.parse().ok()?, kind.parse().ok()?))
    }
}

/// One of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamLeg {
    /// From the runtime to the backend.
    Runtime,
    /// From the backend to the client.
    Backend,
}

/// A kind of problem with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The cursor is malformed.
    CursorMalformed,
    /// The cursor belongs to another server, another worker or an earlier epoch.
    CursorUnknown,
    /// The events after the cursor are no longer stored.
    CursorExpired,
    /// The worker does not exist.
    WorkerNotFound,
    /// The worker cannot be observed at the moment.
    WorkerUnavailable,
    /// The runtime cannot be reached.
    RuntimeUnavailable,
    /// The connection to the runtime was lost.
    UpstreamDisconnect,
    /// The peer sent a frame that cannot be parsed.
    MalformedFrame,
    /// The peer sent data on a stream that it may only read.
    ObservationOnly,
    /// The peer did not read fast enough.
    Lagged,
    /// The peer is not permitted to observe the worker.
    Denied,
    /// An event could not be serialised.
    SerializeFailed,
}

/// How a stream ends.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEnd {
    /// The diagnostic to send before the close frame.
    pub diagnostic: Option<StreamDiagnostic>,
    /// The code of the close frame.
    pub code: StreamCloseCode,
}

impl StreamEnd {
    /// Ends with a diagnostic of this kind.
    pub fn new(leg: StreamLeg, kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self::with_diagnostic(StreamDiagnostic::new(leg, kind, message))
    }

    /// Ends with this diagnostic.
    pub fn with_diagnostic(diagnostic: StreamDiagnostic) -> Self {
        let close = diagnostic.known().and_then(|(_, kind)| kind.close());
        Self { diagnostic: Some(diagnostic), code: close.unwrap_or(StreamCloseCode::INTERNAL) }
    }

    /// Ends without a diagnostic.
    pub fn without_diagnostic(code: StreamCloseCode) -> Self {
        Self { diagnostic: None, code }
    }
}

/// A WebSocket close code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamCloseCode(pub u16);

impl StreamCloseCode {
    /// The stream is complete.
    pub const NORMAL: Self = Self(1000);
    /// The server is shutting down.
    pub const AWAY: Self = Self(1001);
    /// The peer's request was rejected.
    pub const POLICY: Self = Self(1008);
    /// The server failed.
    pub const INTERNAL: Self = Self(1011);
    /// The peer may reconnect.
    pub const TRY_LATER: Self = Self(1013);
}

impl DiagnosticKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::CursorMalformed,
        Self::CursorUnknown,
        Self::CursorExpired,
        Self::WorkerNotFound,
        Self::WorkerUnavailable,
        Self::RuntimeUnavailable,
        Self::UpstreamDisconnect,
        Self::MalformedFrame,
        Self::ObservationOnly,
        Self::Lagged,
        Self::Denied,
        Self::SerializeFailed,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::CursorMalformed => "cursor_malformed",
            Self::CursorUnknown => "cursor_unknown",
            Self::CursorExpired => "cursor_expired",
            Self::WorkerNotFound => "worker_not_found",
            Self::WorkerUnavailable => "worker_unavailable",
            Self::RuntimeUnavailable => "runtime_unavailable",
            Self::UpstreamDisconnect => "upstream_disconnect",
            Self::MalformedFrame => "malformed_frame",
            Self::ObservationOnly => "observation_only",
            Self::Lagged => "lagged",
            Self::Denied => "denied",
            Self::SerializeFailed => "serialize_failed",
        }
    }

    /// The close code of a stream that ends with this problem; `None` if the stream continues.
    pub fn close(self) -> Option<StreamCloseCode> {
        match self {
            Self::CursorMalformed
            | Self::CursorUnknown
            | Self::CursorExpired
            | Self::WorkerNotFound
            | Self::ObservationOnly
            | Self::Denied => Some(StreamCloseCode::POLICY),
            Self::WorkerUnavailable | Self::Lagged => Some(StreamCloseCode::TRY_LATER),
            Self::RuntimeUnavailable
            | Self::UpstreamDisconnect
            | Self::MalformedFrame
            | Self::SerializeFailed => None,
        }
    }
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for StreamLeg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runtime => "runtime",
            Self::Backend => "backend",
        })
    }
}

/// The text is not a known code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no such code")]
pub struct UnknownDiagnostic;

impl FromStr for DiagnosticKind {
    type Err = UnknownDiagnostic;

    fn from_str(text: &str) -> Result<Self, UnknownDiagnostic> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(UnknownDiagnostic)
    }
}

impl FromStr for StreamLeg {
    type Err = UnknownDiagnostic;

    fn from_str(text: &str) -> Result<Self, UnknownDiagnostic> {
        match text {
            "runtime" => Ok(Self::Runtime),
            "backend" => Ok(Self::Backend),
            _ => Err(UnknownDiagnostic),
        }
    }
}

crate::schema::wire_types! {
    sent: ObservationFrame;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{event::SessionStatus, sessions::SessionState};

    /// observation-24, observation-26: the form of a frame; DESIGN: the payload is the universal event as it is.
    #[test]
    fn a_frame_looks_like_this() {
        let payload = Event::Status(SessionStatus { state: SessionState::Idle, detail: None });
        let envelope = EventEnvelope {
            cursor: "00000000000000ff-7".into(),
            event_id: "00000000000000ff-7".into(),
            runtime_id: None,
            worker_id: "s".parse().unwrap(),
            time: None,
            replay: false,
            payload,
        };
        let json = json!({ "kind": "event", "envelope": {
            "cursor": "00000000000000ff-7", "event_id": "00000000000000ff-7", "worker_id": "s",
            "payload": { "status": { "state": "idle", "detail": null } },
        } });
        assert_eq!(
            serde_json::to_value(ObservationFrame::Event { envelope: envelope.into() }).unwrap(),
            json
        );
        let control =
            ObservationFrame::Control { control: StreamControl::Resumed { resume: ResumeOutcome::Ok } };
        assert_eq!(
            serde_json::to_value(control).unwrap(),
            json!({ "kind": "control", "control": { "type": "resumed", "resume": "ok" } })
        );
    }

    /// observation-77: a later version may put several workers on one socket: every event names its worker, and fields, kinds and
    /// controls that this version does not know, such as a revision or a generation, do not hide what it knows.
    #[test]
    fn a_frame_leaves_room() {
        let event = |more: serde_json::Value| {
            let mut envelope = json!({
                "cursor": "c", "event_id": "c", "runtime_id": "box", "worker_id": "s",
                "payload": { "status": { "state": "idle", "detail": null } },
            });
            envelope.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let frame = json!({ "kind": "event", "envelope": envelope, "subscription": 7 });
            serde_json::from_value::<ObservationFrame>(frame).unwrap()
        };
        let newer = event(json!({ "generation": 3, "subject": { "revision": 9 } }));
        assert_eq!(newer, event(json!({})));
        let ObservationFrame::Event { envelope } = newer else { panic!("an event stays an event") };
        assert_eq!((envelope.runtime_id.unwrap().as_str(), envelope.worker_id.as_str()), ("box", "s"));
        let control =
            json!({ "kind": "control", "control": { "type": "subscribed", "workers": ["s", "t"] } });
        assert_eq!(
            serde_json::from_value::<ObservationFrame>(control).unwrap(),
            ObservationFrame::Control { control: StreamControl::Unknown }
        );
    }

    /// observation-64: the codes are stable words, with the leg before them; unknown ones are kept.
    #[test]
    fn a_code_is_a_leg_and_a_kind() {
        for kind in DiagnosticKind::ALL {
            for leg in [StreamLeg::Runtime, StreamLeg::Backend] {
                let diagnostic = StreamDiagnostic::new(leg, kind, "");
                assert_eq!(diagnostic.known(), Some((leg, kind)), "{}", diagnostic.code);
            }
        }
        assert_eq!(
            StreamDiagnostic::new(StreamLeg::Runtime, DiagnosticKind::CursorExpired, "").code,
            "runtime.cursor_expired"
        );
        let newer: StreamDiagnostic =
            serde_json::from_value(json!({ "code": "runtime.on_fire", "message": "hot" })).unwrap();
        assert_eq!((newer.known(), newer.code.as_str()), (None, "runtime.on_fire"));
    }

    /// observation-64: which kinds end a stream.
    #[test]
    fn some_kinds_of_problem_end_a_stream() {
        let going_on = DiagnosticKind::ALL.into_iter().filter(|kind| kind.close().is_none());
        let going_on: Vec<_> = going_on.map(|kind| kind.to_string()).collect();
        assert_eq!(
            going_on,
            ["runtime_unavailable", "upstream_disconnect", "malformed_frame", "serialize_failed"]
        );
    }
}
