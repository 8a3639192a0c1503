//! The frames of an observation, as JSON text.

use bytes::{BufMut, Bytes, BytesMut};
use journal::Epoch;
use protocol::{
    Event, SessionId,
    observation::{
        DiagnosticKind, EventEnvelope, ObservationFrame, StreamControl, StreamDiagnostic, StreamLeg,
    },
    sessions::SessionSnapshot,
};
use serde_json::json;
use tracing::warn;

use crate::frame::parts;

/// The text between the fields before the event and the event itself in an encoded record.
const EVENT: &[u8] = b",\"event\":";
/// The end of an encoded record of a synthetic event.
const SYNTHETIC: &[u8] = b",\"synthetic\":true}";

/// The text before the time in an encoded record.
const TIME: &[u8] = b"\"time\":\"";

/// Renders the frames of one worker.
pub(super) struct FrameRenderer {
    worker: SessionId,
    epoch: String,
}

impl FrameRenderer {
    pub(super) fn new(worker: SessionId, epoch: Epoch) -> Self {
        Self { worker, epoch: epoch.to_string() }
    }

    /// The state of the worker. Its event id cannot be that of an event in the journal.
    pub(super) fn snapshot(&self, snapshot: SessionSnapshot) -> Bytes {
        let cursor = format!("{}-{}", self.epoch, snapshot.seq);
        let envelope = EventEnvelope {
            event_id: format!("snapshot:{cursor}"),
            cursor,
            runtime_id: None,
            worker_id: self.worker.clone(),
            time: None,
            replay: false,
            payload: Event::Snapshot(Box::new(snapshot)),
        };
        text(&ObservationFrame::Event { envelope: envelope.into() })
    }

    /// An event as the journal stores it. A record without an event is left out, with a diagnostic in its place.
    pub(super) fn event(&self, seq: u64, frame: &[u8], replay: bool) -> Bytes {
        let (body, _) = parts(frame);
        let Some(event) = cut_event(body) else {
            warn!(session = %self.worker, seq, "left out an event that cannot be encoded");
            return text(&ObservationFrame::Diagnostic { diagnostic: self.skipped(seq) });
        };
        let mut out = BytesMut::with_capacity(event.len() + 256);
        let mut number = itoa::Buffer::new();
        let number = number.format(seq).as_bytes();
        out.put_slice(b"{\"kind\":\"event\",\"envelope\":{\"cursor\":\"");
        for after in [&b"\",\"event_id\":\""[..], b"\",\"worker_id\":\""] {
            out.put_slice(self.epoch.as_bytes());
            out.put_u8(b'-');
            out.put_slice(number);
            out.put_slice(after);
        }
        out.put_slice(self.worker.as_str().as_bytes());
        if let Some(time) = cut_time(body) {
            out.put_slice(b"\",\"time\":\"");
            out.put_slice(time);
        }
        out.put_slice(b"\",");
        if replay {
            out.put_slice(b"\"replay\":true,");
        }
        out.put_slice(b"\"payload\":");
        out.put_slice(event);
        out.put_slice(b"}}");
        out.freeze()
    }
}

impl FrameRenderer {
    fn skipped(&self, seq: u64) -> StreamDiagnostic {
        let kind = DiagnosticKind::SerializeFailed;
        let message = "an event could not be encoded and was left out";
        let mut diagnostic = StreamDiagnostic::new(StreamLeg::Runtime, kind, message);
        diagnostic.details = Some(json!({ "cursor": format!("{}-{seq}", self.epoch) }));
        diagnostic
    }
}

/// Whether this is the last event of a worker: the session was deleted.
pub(super) fn is_end(frame: &[u8]) -> bool {
    cut_event(parts(frame).0).is_some_and(|event| event.starts_with(b"{\"ended\":"))
}

/// A control frame.
pub(super) fn control(control: StreamControl) -> Bytes {
    text(&ObservationFrame::Control { control })
}

fn text(frame: &ObservationFrame) -> Bytes {
    // Serialisation of a wire type cannot fail.
    serde_json::to_vec(frame).unwrap_or_default().into()
}

/// The event in an encoded record; `None` if the record has none. The fields before it are strings, in which JSON escapes quotes, so
/// the first occurrence of the separator is the right one.
fn cut_event(body: &[u8]) -> Option<&[u8]> {
    let rest = &body[find(body, EVENT)? + EVENT.len()..];
    let event = rest.strip_suffix(SYNTHETIC).or(rest.strip_suffix(b"}"))?;
    std::str::from_utf8(event).ok().map(|_| event)
}

fn cut_time(body: &[u8]) -> Option<&[u8]> {
    let time = &body[find(body, TIME)? + TIME.len()..];
    time.split(|byte| *byte == b'"').next()
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use protocol::{
        EventId,
        event::SessionStatus,
        message::{DeltaKind, MessageDelta},
        sessions::SessionState,
    };
    use serde_json::Map;

    use super::*;
    use crate::frame::{RecordBody, encode};

    fn check(event: &Event, synthetic: bool, native: Option<&str>) {
        let body = RecordBody {
            id: EventId::mint(),
            time: Timestamp::UNIX_EPOCH,
            session_id: &"s".parse().unwrap(),
            agent: &"mock".parse().unwrap(),
            agent_session_id: native,
            event,
            synthetic,
        };
        let frames = FrameRenderer::new("s".parse().unwrap(), Epoch::from_bits(255.try_into().unwrap()));
        let frame = frames.event(7, &encode(&body, Some(b"raw"), &mut Vec::new()), true);
        let ObservationFrame::Event { envelope } = serde_json::from_slice(&frame).unwrap() else {
            panic!("{frame:?}")
        };
        let cursor = "00000000000000ff-7".to_owned();
        let expected = EventEnvelope {
            event_id: cursor.clone(),
            cursor,
            runtime_id: None,
            worker_id: "s".parse().unwrap(),
            time: Some(Timestamp::UNIX_EPOCH),
            replay: true,
            payload: event.clone(),
        };
        assert_eq!(*envelope, expected);
    }

    /// observation-14: events are forwarded as they are; what they say is not mistaken for what they are wrapped in.
    #[test]
    fn an_event_is_cut_out_of_its_record() {
        let status = Event::Status(SessionStatus {
            state: SessionState::Idle,
            detail: Some(r#","event":{"x":1}"#.into()),
        });
        check(&status, false, None);
        check(&status, true, Some(r#","event":"#));
        check(&Event::Unknown(Map::from_iter([("newer".into(), true.into())])), true, None);
        let delta = MessageDelta {
            message_id: "m".into(),
            part_id: "0".into(),
            kind: DeltaKind::Text,
            text: r#"","synthetic":true}"#.into(),
        };
        check(&Event::MessageDelta(delta), false, Some("native"));
    }
}
