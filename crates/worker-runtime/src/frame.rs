//! The encoding of an event record in the journal: the length of its JSON, its JSON without `seq`, and the agent's own message.
//!
//! `seq` is the journal's number of the frame. The agent's message comes last because few readers want it.

use bytes::{BufMut, Bytes, BytesMut};
use jiff::Timestamp;
use protocol::{AgentName, Event, EventId, EventRecord, SessionId};
use serde::{Serialize, de::IgnoredAny};

/// The size of the number with which a frame starts: the length of its JSON.
const LENGTH_BYTES: usize = size_of::<u32>();

/// A record without `seq` and `raw`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordBody<'a> {
    pub(crate) id: EventId,
    pub(crate) time: Timestamp,
    pub(crate) session_id: &'a SessionId,
    pub(crate) agent: &'a AgentName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_session_id: Option<&'a str>,
    pub(crate) event: &'a Event,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) synthetic: bool,
}

/// Encodes a frame. `scratch` is a reusable buffer; its content is replaced.
pub(crate) fn encode(body: &RecordBody<'_>, raw: Option<&[u8]>, scratch: &mut Vec<u8>) -> Bytes {
    scratch.clear();
    scratch.extend_from_slice(&[0; LENGTH_BYTES]);
    // Serialisation of a wire type cannot fail.
    let _ = serde_json::to_writer(&mut *scratch, body);
    let length = u32::try_from(scratch.len() - LENGTH_BYTES).unwrap_or(u32::MAX);
    scratch[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    match raw {
        // Server-sent events end at a line break. In valid JSON it can only be white space, so a blank replaces it.
        Some(raw) if serde_json::from_slice::<IgnoredAny>(raw).is_ok() => {
            let from = scratch.len();
            scratch.extend_from_slice(raw);
            let breaks = scratch[from..].iter_mut().filter(|byte| matches!(byte, b'\r' | b'\n'));
            breaks.for_each(|byte| *byte = b' ');
        }
        Some(raw) => {
            let _ = serde_json::to_writer(&mut *scratch, &String::from_utf8_lossy(raw));
        }
        None => {}
    }
    Bytes::copy_from_slice(scratch)
}

/// Writes the JSON of the record with the number `seq` that `frame` encodes.
pub fn render(seq: u64, frame: &[u8], include_raw: bool, out: &mut BytesMut) {
    let (body, raw) = parts(frame);
    out.put_slice(b"{\"seq\":");
    out.put_slice(itoa::Buffer::new().format(seq).as_bytes());
    out.put_u8(b',');
    let body = body.strip_prefix(b"{").unwrap_or(body);
    if include_raw && !raw.is_empty() {
        out.put_slice(body.strip_suffix(b"}").unwrap_or(body));
        out.put_slice(b",\"raw\":");
        out.put_slice(raw);
        out.put_u8(b'}');
    } else {
        out.put_slice(body);
    }
}

/// Decodes the record with the number `seq`.
pub fn decode(seq: u64, frame: &[u8], include_raw: bool) -> serde_json::Result<EventRecord> {
    let mut json = BytesMut::new();
    render(seq, frame, include_raw, &mut json);
    serde_json::from_slice(&json)
}

/// Splits a frame into the JSON without `seq`, and the agent's own message.
pub(crate) fn parts(frame: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = frame.split_first_chunk() else { return (b"{}", b"") };
    rest.split_at_checked(u32::from_le_bytes(*length) as usize).unwrap_or((rest, b""))
}

#[cfg(test)]
mod tests {
    use protocol::{event::SessionStatus, sessions::SessionState};
    use serde_json::json;

    use super::*;

    fn frame(raw: Option<&[u8]>) -> Bytes {
        let event = Event::Status(SessionStatus { state: SessionState::Idle, detail: None });
        encode(
            &RecordBody {
                id: EventId::mint(),
                time: Timestamp::UNIX_EPOCH,
                session_id: &"s".parse().unwrap(),
                agent: &"mock".parse().unwrap(),
                agent_session_id: Some("native"),
                event: &event,
                synthetic: true,
            },
            raw,
            &mut Vec::new(),
        )
    }

    /// sessions-4: `includeRaw` adds the agent's own payload, and nothing else.
    #[test]
    fn the_agents_own_message_is_included_on_request() {
        let with = decode(7, &frame(Some(br#"{"a": 1}"#)), true).unwrap();
        assert_eq!((with.seq, &with.raw), (7, &Some(json!({ "a": 1 }))));
        let without = decode(7, &frame(Some(br#"{"a": 1}"#)), false).unwrap();
        assert_eq!(without.raw, None);
        assert_eq!(without.agent_session_id.as_deref(), Some("native"));
        assert!(without.synthetic);
    }

    /// A record is one line, also if the agent's JSON has line breaks.
    #[test]
    fn a_record_has_no_line_breaks() {
        let mut json = BytesMut::new();
        render(1, &frame(Some(b"{\"a\":\r\n 1}\r")), true, &mut json);
        assert!(!json.contains(&b'\r') && !json.contains(&b'\n'), "{json:?}");
        assert_eq!(decode(1, &frame(Some(b"{\"a\":\r1}\r")), true).unwrap().raw, Some(json!({ "a": 1 })));
    }

    #[test]
    fn a_message_that_is_not_json_is_a_string() {
        assert_eq!(decode(1, &frame(Some(b"oh \xff")), true).unwrap().raw, Some(json!("oh \u{fffd}")));
        assert_eq!(decode(1, &frame(None), true).unwrap().raw, None);
    }
}
