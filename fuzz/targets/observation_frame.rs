//! Any text is a frame of an observation stream or is refused, by a viewer and by the hub; both understand a frame alike.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use protocol::{Event, SessionId, observation::ObservationFrame};

/// The decoder of the hub, which reads the stream of a runtime without copying the events.
#[path = "../../crates/hub/src/feed/heard.rs"]
mod heard;

use heard::Heard;

static WORKER: LazyLock<Option<SessionId>> = LazyLock::new(|| "w".parse().ok());

fuzz_target!(|text: &str| {
    let frame = serde_json::from_str::<ObservationFrame>(text);
    if let Ok(frame) = &frame {
        let again = serde_json::to_string(frame).map(|text| serde_json::from_str::<ObservationFrame>(&text));
        assert!(again.is_ok_and(|again| again.is_ok_and(|again| again == *frame)));
    }
    let Some(worker) = &*WORKER else { return };
    if let Ok(Heard::Event { place, replay, payload, event, .. }) = Heard::parse(text, worker) {
        assert!(serde_json::from_str::<Event>(payload).is_ok_and(|again| again == event));
        if let Ok(ObservationFrame::Event { envelope }) = frame {
            assert_eq!((&envelope.worker_id, &*envelope.cursor), (worker, &*place));
            assert_eq!((envelope.replay, envelope.payload), (replay, event));
        }
    }
});
