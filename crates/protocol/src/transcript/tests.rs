use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::{EventId, message::MessageRole};

fn text(id: &str, text: &str) -> MessagePart {
    MessagePart { id: id.into(), content: PartContent::Text { text: text.into() } }
}

fn message(id: &str, parts: Vec<MessagePart>) -> Event {
    Event::Message(Message::new(id, MessageRole::Assistant, parts))
}

fn delta(message: &str, part: &str, kind: DeltaKind, text: &str) -> Event {
    Event::MessageDelta(MessageDelta {
        message_id: message.into(),
        part_id: part.into(),
        kind,
        text: text.into(),
    })
}

fn record(seq: u64, event: Event) -> EventRecord {
    EventRecord {
        seq,
        id: EventId::mint(),
        time: Timestamp::UNIX_EPOCH,
        session_id: "s".parse().unwrap(),
        agent: "mock".parse().unwrap(),
        agent_session_id: None,
        event,
        synthetic: false,
        raw: None,
    }
}

fn folded(events: &[Event]) -> Transcript {
    let mut transcript = Transcript::default();
    for (seq, event) in (1..).zip(events) {
        assert_eq!(transcript.apply(&record(seq, event.clone())), ApplyOutcome::Applied);
    }
    transcript
}

/// sessions-9: a message is put together of its parts, however it came.
#[test]
fn parts_are_told_anew_and_grow() {
    let transcript = folded(&[
        message("m", vec![]),
        delta("m", "0", DeltaKind::Text, "Hel"),
        delta("m", "0", DeltaKind::Text, "lo"),
        delta("m", "t", DeltaKind::Reasoning, "hm"),
        delta("m", "call", DeltaKind::ToolOutput, "out"),
        message("m", vec![text("0", "Hello!")]),
    ]);
    let [said] = transcript.messages() else { panic!("{transcript:?}") };
    let result = ToolResult { call_id: "call".into(), output: "out".into(), ..ToolResult::default() };
    assert_eq!(
        said.parts,
        [
            text("0", "Hello!"),
            MessagePart { id: "t".into(), content: PartContent::Reasoning { text: "hm".into() } },
            MessagePart { id: "call".into(), content: PartContent::ToolResult(result) },
        ]
    );
}

/// sessions-12: an event that comes again changes nothing, and one that comes too early is not taken.
#[test]
fn events_are_taken_once_and_in_order() {
    let mut transcript = folded(&[message("m", vec![]), delta("m", "0", DeltaKind::Text, "a")]);
    let before = transcript.clone();
    assert_eq!(transcript.apply(&record(2, delta("m", "0", DeltaKind::Text, "a"))), ApplyOutcome::Repeated);
    assert_eq!(
        transcript.apply(&record(4, delta("m", "0", DeltaKind::Text, "c"))),
        ApplyOutcome::Gap { expected: 3 }
    );
    assert_eq!(transcript, before);
}

#[test]
fn what_is_shed_is_gone_and_the_rest_goes_on() {
    let mut transcript = folded(&[message("a", vec![]), message("b", vec![]), message("c", vec![])]);
    let shed = transcript.keep_last(1);
    assert_eq!(shed.iter().map(|message| message.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    transcript.apply(&record(4, delta("c", "0", DeltaKind::Text, "x")));
    assert_eq!(transcript.messages()[0].parts, [text("0", "x")]);
    assert!(transcript.keep_last(5).is_empty());
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    let one = (id.clone(), id, "[a-z]{0,3}", any::<bool>()).prop_map(|(at, part, said, whole)| match whole {
        true => message(at, vec![text(part, &said)]),
        false => delta(at, part, DeltaKind::Text, &said),
    });
    prop::collection::vec(one, 0..30)
}

proptest! {
    /// sessions-12: a snapshot and the later events come to the same as all events.
    #[test]
    fn a_snapshot_and_what_followed_are_the_whole(events in events(), cut in 0..30usize) {
        let cut = cut.min(events.len());
        let whole = folded(&events);
        let before = folded(&events[..cut]);
        let mut resumed = Transcript::resume(before.messages().to_vec(), cut as u64);
        for (seq, event) in (1..).zip(&events) {
            resumed.apply(&record(seq, event.clone())); // those before the snapshot are repeated
        }
        prop_assert_eq!(resumed, whole);
    }
}
