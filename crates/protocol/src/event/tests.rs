use serde_json::json;

use super::*;
use crate::message::{MessagePart, MessageRole, PartContent};

#[track_caller]
fn survives(value: &Value) -> Event {
    let event: Event = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(&serde_json::to_value(&event).unwrap(), value);
    event
}

/// sessions-8: an event is an object whose only member is named after its kind.
#[test]
fn an_event_is_tagged_by_its_only_member() {
    let event = Event::Message(Message::new(
        "m",
        MessageRole::Assistant,
        vec![MessagePart { id: "0".into(), content: PartContent::Text { text: "hi".into() } }],
    ));
    let wire = json!({ "message": { "id": "m", "role": "assistant", "parts": [{ "id": "0", "type": "text", "text": "hi" }] } });
    assert_eq!(serde_json::to_value(&event).unwrap(), wire);
    assert_eq!(survives(&wire), event);
    let error = json!({ "error": { "processExited": { "code": 1, "signal": null, "stderr": "oh" } } });
    assert!(matches!(survives(&error), Event::Error(AgentError::ProcessExited { code: Some(1), .. })));
}

/// sessions-8: events, parts and states of a newer version are preserved at every depth.
#[test]
fn what_is_not_known_is_kept() {
    assert!(matches!(survives(&json!({ "budgetAsked": { "id": 1 } })), Event::Unknown(_)));
    assert!(matches!(
        survives(&json!({ "error": { "outOfLuck": {} } })),
        Event::Error(AgentError::Unknown(_))
    ));
    let part = json!({ "message": { "id": "m", "role": "assistant",
        "parts": [{ "id": "0", "type": "hologram", "depth": 3 }] } });
    let Event::Message(message) = survives(&part) else { panic!("not a message") };
    assert!(matches!(message.parts[0].content, PartContent::Unknown(_)));
}
