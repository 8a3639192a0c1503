use proptest::{collection::vec, option, prelude::*, sample::Index};
use serde_json::{Map, json};

use super::*;
use crate::relay::{
    CancelFrame, Encoding, EventFrame, Frame, PingFrame, RawJson, RelayContext, RelayError, RelayErrorCode,
    Request, Response, StreamFrame,
};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any::<String>(), inner), 0..4).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn json() -> impl Strategy<Value = RawJson> {
    prop_oneof![1 => Just(Value::Null), 4 => value()].prop_map(|value| RawJson::from_value(&value))
}

fn error() -> impl Strategy<Value = RelayError> {
    (0..RelayErrorCode::ALL.len(), any::<String>(), any::<bool>(), vec((any::<String>(), value()), 0..3))
        .prop_map(|(code, message, recoverable, details)| RelayError {
            code: RelayErrorCode::ALL[code],
            message,
            recoverable,
            details: details.into_iter().collect(),
        })
}

fn context() -> impl Strategy<Value = RelayContext> {
    let name = || option::of(any::<String>());
    (name(), name(), name(), name(), vec(("x_[a-z]{0,8}", value()), 0..3)).prop_map(
        |(session_id, run_id, tool_call_id, workspace_id, more)| RelayContext {
            session_id,
            run_id,
            tool_call_id,
            workspace_id,
            terms: None,
            more: more.into_iter().collect::<Map<_, _>>(),
        },
    )
}

fn frame() -> impl Strategy<Value = Frame> {
    let text = any::<String>;
    let encoding = option::of(prop_oneof![Just(Encoding::Utf8), Just(Encoding::Base64)]);
    prop_oneof![
        (text(), json()).prop_map(|(event, payload)| Frame::Event(EventFrame { event, payload })),
        (text(), text(), json(), option::of(context())).prop_map(|(id, method, params, context)| {
            Frame::Request(Request { id, method, params, context })
        }),
        (text(), prop_oneof![json().prop_map(Ok), error().prop_map(Err)])
            .prop_map(|(id, outcome)| Frame::Response(Response { id, outcome })),
        (text(), text(), option::of(any::<u64>()), json(), encoding).prop_map(
            |(id, event, seq, data, encoding)| {
                Frame::Stream(StreamFrame { id, event, seq, data, encoding })
            }
        ),
        (text(), option::of(text())).prop_map(|(id, reason)| Frame::Cancel(CancelFrame { id, reason })),
        (text(), text()).prop_map(|(id, ts)| Frame::Ping(PingFrame { id, ts })),
        (text(), text()).prop_map(|(id, ts)| Frame::Pong(PingFrame { id, ts })),
    ]
}

/// Objects that look like frames: fields of frames with any values.
fn almost() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        "hello",
        "event",
        "request",
        "response",
        "stream",
        "cancel",
        "ping",
        "pong",
        "[a-z]{0,5}"
    ];
    let field = prop_oneof![
        "id",
        "ts",
        "event",
        "payload",
        "method",
        "params",
        "context",
        "result",
        "error",
        "seq",
        "data",
        "reason",
        "protocol",
        "client_id",
        "client_kind",
        "client_version",
        "capabilities",
        "encoding"
    ];
    (kind, vec((field, value()), 0..8)).prop_map(|(kind, fields)| {
        let mut frame: Map<_, _> = fields.into_iter().collect();
        frame.insert("type".into(), json!(kind));
        Value::Object(frame).to_string()
    })
}

/// What is read once is read again from what is written.
fn is_stable(text: &str) -> Result<(), TestCaseError> {
    if let Ok(frame) = Frame::read(text) {
        prop_assert_eq!(Frame::read(&frame.write()), Ok(frame));
    }
    Ok(())
}

proptest! {
    /// relay-9: any text either is a frame or is refused.
    #[test]
    fn any_text_is_a_frame_or_a_refusal(text in any::<String>(), almost in almost()) {
        is_stable(&text)?;
        is_stable(&almost)?;
    }

    /// relay-9: also a frame that was cut or changed on its way.
    #[test]
    fn a_broken_frame_is_a_frame_or_a_refusal(nth in any::<Index>(), at in any::<Index>(), with in ".{0,2}") {
        let frames = fixture::<Value>("frames");
        let text: Vec<char> = nth.get(&frames).to_string().chars().collect();
        let at = at.index(text.len());
        let cut: String = text[..at].iter().collect();
        let rest: String = text[at + 1..].iter().collect();
        is_stable(&cut)?;
        is_stable(&format!("{cut}{with}{rest}"))?;
    }

    /// relay-12: a frame survives the way.
    #[test]
    fn a_frame_is_read_as_it_was_written(frame in frame()) {
        let text = frame.write();
        prop_assert_eq!(Frame::read(&text), Ok(frame));
    }
}

/// What is nested deeper than can be read passes through, and is the same as nothing else.
#[test]
fn a_value_that_is_nested_too_deep_is_passed_on_unread() {
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(100_000), "]".repeat(100_000));
    let frame = |inner: &str| {
        Frame::read(&format!(r#"{{"type":"response","id":"r","result":{}}}"#, deep(inner))).unwrap()
    };
    assert_eq!(Frame::read(&frame("1").write()), Ok(frame("1")));
    assert_ne!(frame("1"), frame("2"));
}
