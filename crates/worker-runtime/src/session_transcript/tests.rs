use jiff::Timestamp;
use proptest::prelude::*;
use protocol::{SessionProjection, sessions::SessionSnapshot};
use serde_json::{Value, json};

use super::*;

/// An event with the message `name`.
fn message_event(name: usize, text: &str) -> Event {
    let part = json!({ "id": "0", "type": "text", "text": text });
    serde_json::from_value(
        json!({ "message": { "id": name.to_string(), "role": "assistant", "parts": [part] } }),
    )
    .unwrap()
}

fn is_earlier(event: &Event) -> bool {
    matches!(event, Event::Message(message) if message.older_than_snapshot)
}

/// A snapshot that has only messages.
fn snapshot(messages: Vec<Message>, has_earlier: bool, seq: u64) -> SessionSnapshot {
    let case: Value =
        serde_json::from_str(include_str!("../../../../fixtures/session/edge-long.json")).unwrap();
    let mut snapshot: SessionSnapshot = serde_json::from_value(case["start"].clone()).unwrap();
    (snapshot.messages, snapshot.has_earlier, snapshot.seq) = (messages, has_earlier, seq);
    snapshot
}

#[test]
fn an_event_for_an_older_message_is_marked_and_the_message_is_stored_at_once() {
    let mut transcript = SessionTranscript::default();
    for name in 0..=LAST_MAX {
        let mut event = message_event(name, "new");
        transcript.apply(&mut event);
        assert!(!is_earlier(&event));
    }
    let mut among_the_last = message_event(1, "changed");
    transcript.apply(&mut among_the_last);
    assert!(!is_earlier(&among_the_last) && !transcript.is_due());
    let mut before = message_event(0, "changed");
    transcript.apply(&mut before);
    assert!(is_earlier(&before) && transcript.is_due());
    assert_eq!(transcript.len(), LAST_MAX as u64 + 1);
}

proptest! {
    /// sessions-12, observation-71: a viewer that starts from a snapshot has the same messages as one that saw all events, also if
    /// messages change that no snapshot contains any more.
    #[test]
    fn a_snapshot_and_what_follows_are_the_whole(names in prop::collection::vec(0usize..130, 1..300), cut in 0usize..300) {
        let mut transcript = SessionTranscript::default();
        let mut viewer = None;
        for (seq, name) in names.iter().enumerate() {
            if seq == cut.min(names.len() - 1) {
                let (messages, has_earlier) = transcript.last();
                viewer = Some(SessionProjection::new(snapshot(messages, has_earlier, seq as u64)));
            }
            let mut event = message_event(*name, &seq.to_string());
            transcript.apply(&mut event);
            if let Some(viewer) = &mut viewer {
                viewer.apply(&event, Timestamp::UNIX_EPOCH);
            }
        }
        let seen = viewer.unwrap().snapshot();
        prop_assert_eq!((seen.messages, seen.has_earlier), transcript.last());
    }
}
