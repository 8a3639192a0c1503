//! Frames as a runtime says them.

use std::borrow::Cow;

use jiff::Timestamp;
use protocol::{
    Event, SessionId,
    observation::{StreamControl, StreamDiagnostic},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// What a runtime said.
pub(super) enum Heard<'a> {
    Event {
        /// What the runtime calls the place.
        place: Cow<'a, str>,
        time: Option<Timestamp>,
        /// It is in the snapshot that was said before.
        replay: bool,
        /// The event as it was said, …
        payload: &'a str,
        /// … and as it is understood.
        event: Event,
    },
    /// Something is wrong with its stream.
    Diagnostic(StreamDiagnostic),
    /// What comes next has just happened.
    Live,
    /// Something else about its stream, or what only a newer hub understands.
    Other,
}

/// It is no frame, or none of this worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// A frame, as far as it matters here.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    envelope: Option<Envelope<'a>>,
    diagnostic: Option<StreamDiagnostic>,
    control: Option<Value>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    cursor: Cow<'a, str>,
    #[serde(borrow)]
    worker_id: Cow<'a, str>,
    time: Option<Timestamp>,
    #[serde(default)]
    replay: bool,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl<'a> Heard<'a> {
    /// Understands a frame of the stream of `worker`.
    pub(super) fn parse(text: &'a str, worker: &SessionId) -> Result<Self, Malformed> {
        let frame: Frame<'_> = serde_json::from_str(text).map_err(|_| Malformed)?;
        match (&*frame.kind, frame.envelope, frame.diagnostic) {
            ("control", ..) => {
                let control = frame.control.and_then(|control| serde_json::from_value(control).ok());
                Ok(if control == Some(StreamControl::Live) { Self::Live } else { Self::Other })
            }
            ("event", Some(envelope), _) if envelope.worker_id == worker.as_str() => {
                let payload = envelope.payload.get();
                let event = serde_json::from_str(payload).map_err(|_| Malformed)?;
                let Envelope { cursor: place, time, replay, .. } = envelope;
                Ok(Self::Event { place, time, replay, payload, event })
            }
            ("diagnostic", _, Some(diagnostic)) => Ok(Self::Diagnostic(diagnostic)),
            ("event" | "diagnostic", ..) => Err(Malformed),
            _ => Ok(Self::Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::Index};

    use super::*;

    /// Frames of every kind, to be broken.
    const FRAMES: [&str; 3] = [
        r#"{"kind":"event","envelope":{"cursor":"c\u00e4","event_id":"c","worker_id":"w","replay":true,"time":"2026-01-01T00:00:00Z","payload":{"turnStarted":{"turnId":"t","inputs":[1,{"a":null}]}}}}"#,
        r#"{"kind":"diagnostic","diagnostic":{"leg":"runtime","code":"runtime.lagged","message":"m","retryable":true,"details":{"cursor":"c"}}}"#,
        r#"{"kind":"control","control":{"type":"resumed","resume":"ok"}}"#,
    ];

    /// What may stand anywhere in their place.
    const OTHERS: [&str; 7] = ["null", "true", "-1e9", r#""""#, "[]", "{}", r#"{"a":1,"b":[{}]}"#];

    /// How many values there are in it, itself included.
    fn count(value: &Value) -> usize {
        1 + children(&mut value.clone()).map(|child| count(child)).sum::<usize>()
    }

    /// Puts another in the place of the value that so many come before.
    fn replace(value: &mut Value, before: &mut usize, other: &Value) {
        match before.checked_sub(1) {
            None => *value = other.clone(),
            Some(fewer) => {
                *before = fewer;
                for child in children(value) {
                    let within = count(child);
                    if *before < within {
                        return replace(child, before, other);
                    }
                    *before -= within;
                }
            }
        }
    }

    fn children(value: &mut Value) -> Box<dyn Iterator<Item = &mut Value> + '_> {
        match value {
            Value::Array(items) => Box::new(items.iter_mut()),
            Value::Object(fields) => Box::new(fields.values_mut()),
            _ => Box::new(std::iter::empty()),
        }
    }

    proptest! {
        /// observation-76: whatever a runtime says, and whatever the hub says to people, can be read or is refused; what is
        /// taken for an event has a payload that is one.
        #[test]
        fn anything_can_be_heard(
            frame in 0..FRAMES.len(),
            changes in vec((any::<Index>(), any::<u8>(), 0..3_u8), 0..4),
            (node, other) in (any::<Index>(), 0..OTHERS.len()),
            noise in vec(any::<u8>(), 0..64),
        ) {
            let mut replaced: Value = serde_json::from_str(FRAMES[frame]).unwrap();
            let nodes = count(&replaced);
            replace(&mut replaced, &mut node.index(nodes), &serde_json::from_str(OTHERS[other]).unwrap());
            let mut broken = FRAMES[frame].as_bytes().to_vec();
            for (at, byte, how) in changes {
                let at = at.index(broken.len());
                match how {
                    0 => broken[at] = byte,
                    1 => broken.truncate(at + 1),
                    _ => broken.insert(at, byte),
                }
            }
            for bytes in [broken, noise, replaced.to_string().into_bytes()] {
                let text = String::from_utf8_lossy(&bytes);
                if let Ok(Heard::Event { payload, .. }) = Heard::parse(&text, &"w".parse().unwrap()) {
                    prop_assert!(serde_json::from_str::<Event>(payload).is_ok());
                }
                if let Ok(frame) = serde_json::from_str::<protocol::observation::ObservationFrame>(&text) {
                    let again = serde_json::to_string(&frame).unwrap();
                    prop_assert_eq!(serde_json::from_str::<protocol::observation::ObservationFrame>(&again).unwrap(), frame);
                }
            }
        }
    }

    /// observation-19, observation-36: what is no frame, or is of another worker, is malformed; what is newer is passed over.
    #[test]
    fn what_is_no_frame_of_the_worker_is_malformed() {
        let worker = "w".parse().unwrap();
        let event = |worker: &str| {
            format!(
                r#"{{"kind":"event","envelope":{{"cursor":"c","worker_id":"{worker}","payload":{{"x":1}}}}}}"#
            )
        };
        assert!(matches!(Heard::parse(&event("w"), &worker), Ok(Heard::Event { payload: r#"{"x":1}"#, .. })));
        for (text, live) in [
            (r#"{"kind":"newer","a":1}"#, false),
            (r#"{"kind":"control","control":{"type":"newer"}}"#, false),
            (r#"{"kind":"control","control":{"type":"live"}}"#, true),
        ] {
            assert!(matches!(
                (Heard::parse(text, &worker), live),
                (Ok(Heard::Other), false) | (Ok(Heard::Live), true)
            ));
        }
        for text in ["", "{}", "[]", r#"{"kind":"event"}"#, r#"{"kind":"diagnostic"}"#, &event("other")] {
            assert!(matches!(Heard::parse(text, &worker), Err(Malformed)), "{text}");
        }
    }
}
