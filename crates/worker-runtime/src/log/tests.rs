use proptest::prelude::*;
use protocol::{SessionProjection, sessions::SessionSnapshot};
use serde_json::{Value, json};

use super::*;

/// The event that tells a message of this name.
fn told(name: usize, text: &str) -> Event {
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
fn what_is_not_among_the_last_messages_is_told_so_and_written_at_once() {
    let mut log = Log::default();
    for name in 0..=LAST_MAX {
        let mut event = told(name, "new");
        log.take(&mut event, Timestamp::UNIX_EPOCH);
        assert!(!is_earlier(&event));
    }
    let mut among_the_last = told(1, "changed");
    log.take(&mut among_the_last, Timestamp::UNIX_EPOCH);
    assert!(!is_earlier(&among_the_last) && !log.is_due());
    let mut before = told(0, "changed");
    log.take(&mut before, Timestamp::UNIX_EPOCH);
    assert!(is_earlier(&before) && log.is_due());
    assert_eq!(log.len(), LAST_MAX as u64 + 1);
}

proptest! {
    /// sessions-12, observation-71: whoever begins with a snapshot knows what those know who were there all the time,
    /// also if messages are told anew that no snapshot has any more.
    #[test]
    fn a_snapshot_and_what_follows_are_the_whole(names in prop::collection::vec(0usize..130, 1..300), cut in 0usize..300) {
        let mut log = Log::default();
        let mut viewer = None;
        for (seq, name) in names.iter().enumerate() {
            if seq == cut.min(names.len() - 1) {
                let (messages, has_earlier) = log.last();
                viewer = Some(SessionProjection::new(snapshot(messages, has_earlier, seq as u64)));
            }
            let mut event = told(*name, &seq.to_string());
            log.take(&mut event, Timestamp::UNIX_EPOCH);
            if let Some(viewer) = &mut viewer {
                viewer.apply(&event, Timestamp::UNIX_EPOCH);
            }
        }
        let seen = viewer.unwrap().snapshot();
        prop_assert_eq!((seen.messages, seen.has_earlier), log.last());
    }
}
