//! How an event looks on the stream: rendered once, as server-sent events, and shared by all readers.

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};
use journal::{Gap, Seq};
use protocol::acp::AcpProcessExit;
use serde_json::json;

/// The most of an unparsed line that readers are shown.
pub(crate) const UNPARSED_BYTES_MAX: usize = 64 << 10;

const BEFORE_ID: &[u8] = b"event: message\nid: ";
const BEFORE_DATA: &[u8] = b"\ndata: ";
const END: &[u8] = b"\n\n";

/// The most that a frame is longer than its message.
pub(crate) const OVERHEAD_MAX: usize = BEFORE_ID.len() + 20 + BEFORE_DATA.len() + END.len();

/// Renders a message of the agent and tells where in the frame its JSON stands.
pub(crate) fn message(seq: Seq, json: &[u8], out: &mut BytesMut) -> Range<usize> {
    let mut digits = itoa::Buffer::new();
    let id = digits.format(seq.get()).as_bytes();
    out.put_slice(BEFORE_ID);
    out.put_slice(id);
    out.put_slice(BEFORE_DATA);
    put_one_line(json, out);
    out.put_slice(END);
    let start = BEFORE_ID.len() + id.len() + BEFORE_DATA.len();
    start..start + json.len()
}

/// Renders a line that is no message, or what is known of one that was too long to keep.
pub(crate) fn unparsed(line: &[u8], bytes: u64, out: &mut BytesMut) {
    let shown = &line[..line.len().min(UNPARSED_BYTES_MAX)];
    let data = json!({
        "text": String::from_utf8_lossy(shown),
        "bytes": bytes,
        "truncated": shown.len() as u64 != bytes,
    });
    control("unparsed", &data, out);
}

/// Renders the end of the agent's process.
pub(crate) fn exited(exit: &AcpProcessExit, out: &mut BytesMut) {
    control("exited", &json!(exit), out);
}

/// Tells a reader that events between its position and `oldest` are gone.
pub fn gap(gap: Gap) -> Bytes {
    let mut out = BytesMut::new();
    control("gap", &json!({ "oldest": gap.oldest.get(), "newest": gap.newest.get() }), &mut out);
    out.freeze()
}

/// Control events carry no id: they are not part of what the agent said.
fn control(event: &str, data: &serde_json::Value, out: &mut BytesMut) {
    let text = format!("event: {event}\ndata: {data}\n\n");
    out.extend_from_slice(text.as_bytes());
}

/// A raw line break in JSON can only be space between tokens, and would end the `data:` line.
fn put_one_line(json: &[u8], out: &mut BytesMut) {
    let start = out.len();
    out.put_slice(json);
    if memchr::memchr2(b'\r', b'\n', json).is_some() {
        blank_line_breaks(&mut out[start..]);
    }
}

/// Turns line breaks into spaces.
pub(crate) fn blank_line_breaks(json: &mut [u8]) {
    for byte in json {
        if matches!(byte, b'\r' | b'\n') {
            *byte = b' ';
        }
    }
}
