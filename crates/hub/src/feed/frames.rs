//! Frames as people get them.

use bytes::{BufMut, Bytes, BytesMut};
use jiff::Timestamp;
use protocol::{
    Event, RuntimeId, SessionId,
    observation::{EventEnvelope, ObservationFrame, StreamControl, StreamDiagnostic},
    sessions::SessionSnapshot,
};

/// How the frame of an event begins.
const EVENT: &[u8] = b"{\"kind\":\"event\",\"envelope\":{";

/// How a frame begins that tells of a request to a device.
const RELAY: &[u8] = b"{\"kind\":\"control\",\"control\":{\"type\":\"relay\",";

/// What marks an event that is in the snapshot.
const REPLAY: &[u8] = b"\"replay\":true,";

/// The frames of one worker.
pub(super) struct Frames {
    runtime: RuntimeId,
    worker: SessionId,
}

impl Frames {
    pub(super) fn new(runtime: &RuntimeId, worker: &SessionId) -> Self {
        Self { runtime: runtime.clone(), worker: worker.clone() }
    }

    /// An event as the runtime told it, in an envelope of ours.
    pub(super) fn event(&self, cursor: &str, time: Option<Timestamp>, payload: &str) -> Bytes {
        let mut out = BytesMut::with_capacity(payload.len() + 2 * cursor.len() + 256);
        out.put_slice(EVENT);
        // None of these can hold a quote or a control character.
        for (name, value) in [
            ("cursor", cursor),
            ("event_id", cursor),
            ("runtime_id", self.runtime.as_str()),
            ("worker_id", self.worker.as_str()),
        ] {
            text(&mut out, name, value);
        }
        if let Some(time) = time {
            text(&mut out, "time", &time.to_string());
        }
        out.put_slice(b"\"payload\":");
        out.put_slice(payload.as_bytes());
        out.put_slice(b"}}");
        out.freeze()
    }

    /// What the worker has come to. It can never be taken for an event.
    pub(super) fn snapshot(&self, cursor: &str, snapshot: SessionSnapshot) -> Bytes {
        let envelope = EventEnvelope {
            cursor: cursor.into(),
            event_id: format!("snapshot:{cursor}"),
            runtime_id: Some(self.runtime.clone()),
            worker_id: self.worker.clone(),
            time: None,
            replay: false,
            payload: Event::Snapshot(Box::new(snapshot)),
        };
        json(&ObservationFrame::Event { envelope: envelope.into() })
    }
}

fn text(out: &mut BytesMut, name: &str, value: &str) {
    for piece in ["\"", name, "\":\"", value, "\","] {
        out.put_slice(piece.as_bytes());
    }
}

/// Whether a frame is an event of the worker.
pub(crate) fn is_event(frame: &[u8]) -> bool {
    frame.starts_with(EVENT)
}

/// Whether a frame tells of a request to a device.
pub(super) fn is_relay(frame: &[u8]) -> bool {
    frame.starts_with(RELAY)
}

/// An event that is in the snapshot that was sent before it.
pub(crate) fn replayed(frame: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(frame.len() + REPLAY.len());
    out.put_slice(EVENT);
    out.put_slice(REPLAY);
    out.put_slice(&frame[EVENT.len()..]);
    out.freeze()
}

/// The cursor of an event.
pub(crate) fn cursor(frame: &[u8]) -> Option<&str> {
    let rest = frame.strip_prefix(EVENT)?.strip_prefix(b"\"cursor\":\"")?;
    std::str::from_utf8(rest.split(|byte| *byte == b'"').next()?).ok()
}

/// Something about the stream.
pub(crate) fn control(control: StreamControl) -> Bytes {
    json(&ObservationFrame::Control { control })
}

/// What is wrong.
pub(crate) fn diagnostic(diagnostic: &StreamDiagnostic) -> Bytes {
    json(&ObservationFrame::Diagnostic { diagnostic: diagnostic.clone() })
}

pub(super) fn json(frame: &ObservationFrame) -> Bytes {
    // A wire type always can be serialised.
    serde_json::to_vec(frame).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// observation-39, observation-40, observation-42, observation-43, observation-60: the envelope is ours and the event is as it was; a replay is marked.
    #[test]
    fn an_event_is_put_into_an_envelope_of_ours() {
        let frames = Frames::new(&"box".parse().unwrap(), &"w".parse().unwrap());
        let payload = r#"{"newer":{"a":[1,"}"]}}"#;
        let frame = frames.event("c", Some(Timestamp::UNIX_EPOCH), payload);
        assert!(is_event(&frame) && !is_event(&control(StreamControl::Live)));
        assert_eq!(cursor(&frame), Some("c"));
        for (frame, replay) in [(frame.clone(), false), (replayed(&frame), true)] {
            let ObservationFrame::Event { envelope } = serde_json::from_slice(&frame).unwrap() else {
                panic!("{frame:?}")
            };
            let expected = EventEnvelope {
                cursor: "c".into(),
                event_id: "c".into(),
                runtime_id: Some("box".parse().unwrap()),
                worker_id: "w".parse().unwrap(),
                time: Some(Timestamp::UNIX_EPOCH),
                replay,
                payload: serde_json::from_str(payload).unwrap(),
            };
            assert_eq!(*envelope, expected);
        }
    }

    /// relay-177: a frame that tells of a request to a device is known as such, so that who may not see paths does not.
    #[test]
    fn a_request_to_a_device_is_known_by_its_frame() {
        let call = serde_json::json!({
            "id": "aud_1", "environment_id": "env_0198c0de0198c0de0198c0de0198c0de", "client_id": "laptop",
            "method": "file.read", "target": "/workspace/main/a", "policy_decision": "allowed",
            "started_at": "2026-01-01T00:00:00Z",
        });
        let frame = control(StreamControl::Relay(serde_json::from_value(call).unwrap()));
        assert!(is_relay(&frame) && !is_event(&frame), "{frame:?}");
        assert!(!is_relay(&control(StreamControl::Live)));
    }
}
