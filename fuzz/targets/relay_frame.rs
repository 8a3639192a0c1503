//! Any message is a frame of the relay, which is written and read again as itself, or is refused.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use protocol::relay::{Frame, Packet};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(frame) = Frame::read(text)
    {
        let written = frame.write();
        assert_eq!(Frame::read(&written).map(|again| again.write()), Ok(written));
    }
    let message = Bytes::copy_from_slice(bytes);
    if let Ok(response) = Packet::read(&message) {
        match Packet::from(response.clone()) {
            Packet::Text(text) => assert_eq!(Frame::read(&text), Ok(Frame::Response(response))),
            Packet::Binary(written) => assert_eq!(Packet::read(&written), Ok(response)),
        }
    }
});
