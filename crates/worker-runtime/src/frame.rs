//! How a record lies in the journal: its JSON without `seq`, which is the journal's own number, and behind it what the
//! agent said in its own words, which few readers want.

use bytes::{BufMut, Bytes, BytesMut};
use jiff::Timestamp;
use protocol::{AgentName, Event, EventId, Record, SessionId};
use serde::{Serialize, de::IgnoredAny};

/// A record without its place and the agent's own words.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body<'a> {
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

/// A frame for the journal.
pub(crate) fn encode(body: &Body<'_>, raw: Option<&[u8]>) -> Bytes {
    // A wire type always can be serialised.
    let json = serde_json::to_vec(body).unwrap_or_default();
    let mut frame = BytesMut::with_capacity(4 + json.len() + raw.map_or(0, <[u8]>::len));
    frame.put_u32_le(u32::try_from(json.len()).unwrap_or(u32::MAX));
    frame.put_slice(&json);
    match raw {
        // A line break can only stand between the words of JSON, and a stream of events would end the event there.
        Some(raw) if serde_json::from_slice::<IgnoredAny>(raw).is_ok() => {
            frame.extend(raw.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }));
        }
        Some(raw) => {
            frame.put_slice(&serde_json::to_vec(&String::from_utf8_lossy(raw)).unwrap_or_default());
        }
        None => {}
    }
    frame.freeze()
}

/// Writes the JSON of the record that lies in `frame` at the place `seq`.
pub fn render(seq: u64, frame: &[u8], include_raw: bool, out: &mut BytesMut) {
    let (body, raw) = parts(frame);
    out.put_slice(b"{\"seq\":");
    out.put_slice(itoa::Buffer::new().format(seq).as_bytes());
    out.put_u8(b',');
    let body = body.strip_prefix(b"{").unwrap_or(body);
    match include_raw && !raw.is_empty() {
        true => {
            out.put_slice(body.strip_suffix(b"}").unwrap_or(body));
            out.put_slice(b",\"raw\":");
            out.put_slice(raw);
            out.put_u8(b'}');
        }
        false => out.put_slice(body),
    }
}

/// The record that lies in `frame` at the place `seq`.
pub fn decode(seq: u64, frame: &[u8], include_raw: bool) -> serde_json::Result<Record> {
    let mut json = BytesMut::new();
    render(seq, frame, include_raw, &mut json);
    serde_json::from_slice(&json)
}

/// The record without its place, and the agent's own words.
pub(crate) fn parts(frame: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = frame.split_first_chunk() else { return (b"{}", b"") };
    rest.split_at_checked(u32::from_le_bytes(*length) as usize).unwrap_or((rest, b""))
}

#[cfg(test)]
mod tests {
    use protocol::{event::Status, sessions::State};
    use serde_json::json;

    use super::*;

    fn frame(raw: Option<&[u8]>) -> Bytes {
        let event = Event::Status(Status { state: State::Idle, detail: None });
        encode(
            &Body {
                id: EventId::mint(),
                time: Timestamp::UNIX_EPOCH,
                session_id: &"s".parse().unwrap(),
                agent: &"mock".parse().unwrap(),
                agent_session_id: Some("native"),
                event: &event,
                synthetic: true,
            },
            raw,
        )
    }

    /// sessions #4: `includeRaw` adds the agent's own payload, and nothing else.
    #[test]
    fn the_agents_own_words_are_there_for_whoever_asks() {
        let with = decode(7, &frame(Some(br#"{"a": 1}"#)), true).unwrap();
        assert_eq!((with.seq, &with.raw), (7, &Some(json!({ "a": 1 }))));
        let without = decode(7, &frame(Some(br#"{"a": 1}"#)), false).unwrap();
        assert_eq!(without.raw, None);
        assert_eq!(without.agent_session_id.as_deref(), Some("native"));
        assert!(without.synthetic);
    }

    /// A record is one line, whatever the agent wrote between its words.
    #[test]
    fn a_record_has_no_line_breaks() {
        let mut json = BytesMut::new();
        render(1, &frame(Some(b"{\"a\":\r\n 1}\r")), true, &mut json);
        assert!(!json.contains(&b'\r') && !json.contains(&b'\n'), "{json:?}");
        assert_eq!(decode(1, &frame(Some(b"{\"a\":\r1}\r")), true).unwrap().raw, Some(json!({ "a": 1 })));
    }

    #[test]
    fn words_that_are_no_json_are_a_text() {
        assert_eq!(decode(1, &frame(Some(b"oh \xff")), true).unwrap().raw, Some(json!("oh \u{fffd}")));
        assert_eq!(decode(1, &frame(None), true).unwrap().raw, None);
    }
}
