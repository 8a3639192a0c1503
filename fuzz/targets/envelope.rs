//! Any bytes are a message or are refused; what a client may send, an agent may say.

#![no_main]

use acp::Envelope;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = Envelope::of_client(bytes) {
        assert_eq!(Envelope::of_agent(bytes), Ok(message));
    }
});
