//! Renders the events of an instance as server-sent events: once each, shared by all readers.

use std::ops::Range;

use bytes::{BufMut, BytesMut};
use journal::Seq;
use protocol::acp::AcpProcessExit;
use serde_json::json;

/// How much of an unparsable line is sent to readers.
pub(crate) const UNPARSED_BYTES_MAX: usize = 64 << 10;

const BEFORE_ID: &[u8] = b"event: message\nid: ";
const BEFORE_DATA: &[u8] = b"\ndata: ";
const END: &[u8] = b"\n\n";

/// The largest difference between the length of a frame and of its message. A sequence number has up to 20 digits.
pub(crate) const OVERHEAD_MAX: usize = BEFORE_ID.len() + 20 + BEFORE_DATA.len() + END.len();

/// Renders a message of the agent. Returns the position of its JSON in the frame.
pub(crate) fn write_message(seq: Seq, json: &[u8], out: &mut BytesMut) -> Range<usize> {
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

/// Renders a line that is not a JSON-RPC message. `line` is empty if it was too long to be read; `bytes` is its length.
pub(crate) fn write_unparsed(line: &[u8], bytes: u64, out: &mut BytesMut) {
    let shown = &line[..line.len().min(UNPARSED_BYTES_MAX)];
    let data = json!({
        "text": String::from_utf8_lossy(shown),
        "bytes": bytes,
        "truncated": shown.len() as u64 != bytes,
    });
    write_control("unparsed", &data, out);
}

/// Renders the exit of the agent's process.
pub(crate) fn write_exited(exit: &AcpProcessExit, out: &mut BytesMut) {
    write_control("exited", &json!(exit), out);
}

/// Control events have no id, because they are not output of the agent and not replayed by position.
fn write_control(event: &str, data: &serde_json::Value, out: &mut BytesMut) {
    let text = format!("event: {event}\ndata: {data}\n\n");
    out.extend_from_slice(text.as_bytes());
}

/// A raw line break would end the `data:` line. In JSON it can only be white space between tokens, so a space will do.
fn put_one_line(json: &[u8], out: &mut BytesMut) {
    let start = out.len();
    out.put_slice(json);
    if memchr::memchr2(b'\r', b'\n', json).is_some() {
        blank_line_breaks(&mut out[start..]);
    }
}

/// Replaces line breaks by spaces.
pub(crate) fn blank_line_breaks(json: &mut [u8]) {
    for byte in json {
        if matches!(byte, b'\r' | b'\n') {
            *byte = b' ';
        }
    }
}
