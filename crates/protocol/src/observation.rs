//! What is said on an observation stream: frames of the runtime and of the backend, and what can go wrong with them.
//!
//! Both legs have the same three kinds of frames. What a newer peer says beyond this is left out, not refused.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Event, RuntimeId, SessionId, lending::RelayCall, presence::WorkerPresence};

/// A frame of either stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ObservationFrame {
    /// Something happened.
    Event {
        /// What, and where in the stream.
        envelope: Box<EventEnvelope>,
    },
    /// Something is wrong with the stream.
    Diagnostic {
        /// What.
        diagnostic: StreamDiagnostic,
    },
    /// Something about the stream itself.
    Control {
        /// What.
        control: StreamControl,
    },
}

/// An event and its place in the stream of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventEnvelope {
    /// Stands for "this was the last event that I received"; means nothing to anybody but who issued it.
    pub cursor: String,
    /// The name of the event: the same cursor, or `snapshot:` and the cursor that a snapshot covers.
    pub event_id: String,
    /// The runtime that the worker is of; only on the stream of a backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<RuntimeId>,
    /// The worker.
    pub worker_id: SessionId,
    /// When it was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// It is in the snapshot that was sent before: whoever keeps a state passes over it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replay: bool,
    /// What happened.
    pub payload: Event,
}

/// Something about the stream itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamControl {
    /// What follows was missed since the cursor.
    Resumed {
        /// Whether all of it is there.
        resume: ResumeOutcome,
    },
    /// What follows has just happened.
    Live,
    /// Nothing happened for a while.
    Heartbeat,
    /// Who is there for the worker has changed; only on the stream of a backend.
    Presence(WorkerPresence),
    /// Something was asked of a device for the worker, or came of it; only on the stream of a backend.
    Relay(Box<RelayCall>),
    /// What a newer peer says.
    #[serde(other)]
    Unknown,
}

/// How a stream goes on after a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResumeOutcome {
    /// With everything that came after it.
    Ok,
    /// With what is left of it.
    Gap,
    /// From a new snapshot on.
    Reset,
}

/// Something is wrong with a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamDiagnostic {
    /// What, for programs: a leg and a trouble, such as `runtime.cursor_expired`.
    pub code: String,
    /// What, for people.
    pub message: String,
    /// More of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl StreamDiagnostic {
    /// A trouble on a leg.
    pub fn new(leg: StreamLeg, trouble: DiagnosticKind, message: impl Into<String>) -> Self {
        Self { code: format!("{leg}.{trouble}"), message: message.into(), details: None }
    }

    /// Where, and what, if it is one that we know.
    pub fn known(&self) -> Option<(StreamLeg, DiagnosticKind)> {
        let (leg, trouble) = self.code.split_once('.')?;
        Some((leg.parse().ok()?, trouble.parse().ok()?))
    }
}

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamLeg {
    /// From the runtime to the backend.
    Runtime,
    /// From the backend to the client.
    Backend,
}

/// What can go wrong with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The cursor cannot be read.
    CursorMalformed,
    /// The cursor was not issued here, or for another worker, or in an earlier life of it.
    CursorUnknown,
    /// What came after the cursor is no longer kept.
    CursorExpired,
    /// There is no such worker.
    WorkerNotFound,
    /// The worker cannot be observed now.
    WorkerUnavailable,
    /// The runtime cannot be reached.
    RuntimeUnavailable,
    /// The runtime has gone away.
    UpstreamDisconnect,
    /// The peer said something that nobody understands.
    MalformedFrame,
    /// The peer said something where it may only listen.
    ObservationOnly,
    /// The peer did not read fast enough.
    Lagged,
    /// The peer may not see this.
    Denied,
    /// An event could not be written.
    SerializeFailed,
}

/// How a stream ends.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEnd {
    /// What to tell before.
    pub diagnostic: Option<StreamDiagnostic>,
    /// How the socket is closed.
    pub code: StreamCloseCode,
}

impl StreamEnd {
    /// Because of this trouble.
    pub fn with(leg: StreamLeg, trouble: DiagnosticKind, message: impl Into<String>) -> Self {
        Self::because(StreamDiagnostic::new(leg, trouble, message))
    }

    /// Because of what is told.
    pub fn because(diagnostic: StreamDiagnostic) -> Self {
        let close = diagnostic.known().and_then(|(_, trouble)| trouble.close());
        Self { diagnostic: Some(diagnostic), code: close.unwrap_or(StreamCloseCode::INTERNAL) }
    }

    /// Because there is nothing to tell any more.
    pub fn silently(code: StreamCloseCode) -> Self {
        Self { diagnostic: None, code }
    }
}

/// How a WebSocket is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamCloseCode(pub u16);

impl StreamCloseCode {
    /// There is nothing more to say.
    pub const NORMAL: Self = Self(1000);
    /// The server goes away.
    pub const AWAY: Self = Self(1001);
    /// The peer asked for what it cannot have.
    pub const POLICY: Self = Self(1008);
    /// The server cannot go on.
    pub const INTERNAL: Self = Self(1011);
    /// The peer may come again.
    pub const TRY_LATER: Self = Self(1013);
}

impl DiagnosticKind {
    /// Every trouble there is.
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

    /// How the stream is closed that ends with it; none if it goes on.
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

/// A word that names none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no such code")]
pub struct UnknownDiagnostic;

impl FromStr for DiagnosticKind {
    type Err = UnknownDiagnostic;

    fn from_str(text: &str) -> Result<Self, UnknownDiagnostic> {
        Self::ALL.into_iter().find(|trouble| trouble.name() == text).ok_or(UnknownDiagnostic)
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

    /// observation-64: the codes are stable words, with the leg before them; unknown ones are kept.
    #[test]
    fn a_code_is_a_leg_and_a_trouble() {
        for trouble in DiagnosticKind::ALL {
            for leg in [StreamLeg::Runtime, StreamLeg::Backend] {
                let diagnostic = StreamDiagnostic::new(leg, trouble, "");
                assert_eq!(diagnostic.known(), Some((leg, trouble)), "{}", diagnostic.code);
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

    /// observation-64: which troubles end a stream.
    #[test]
    fn some_troubles_end_a_stream() {
        let going_on = DiagnosticKind::ALL.into_iter().filter(|trouble| trouble.close().is_none());
        let going_on: Vec<_> = going_on.map(|trouble| trouble.to_string()).collect();
        assert_eq!(
            going_on,
            ["runtime_unavailable", "upstream_disconnect", "malformed_frame", "serialize_failed"]
        );
    }
}
