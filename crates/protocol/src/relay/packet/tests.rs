use base64::{Engine, prelude::BASE64_STANDARD};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::relay::{RawJson, RelayError, RelayErrorCode, tests::fixture};

fn answer(bytes: &[u8]) -> Response {
    let result =
        RawJson::from_value(&json!({ "encoding": "binary" })).with_bytes(Bytes::copy_from_slice(bytes));
    Response { id: "req_1".into(), outcome: Ok(result) }
}

fn binary(frame: &str, bytes: &[u8]) -> Bytes {
    let mut message = u32::try_from(frame.len()).unwrap().to_be_bytes().to_vec();
    message.extend_from_slice(frame.as_bytes());
    message.extend_from_slice(bytes);
    message.into()
}

/// relay-4: a response with bytes is the frame, with its length before it, and the bytes behind it.
#[test]
fn bytes_lie_behind_their_frame() {
    let Packet::Binary(message) = answer(&[0, 255, 7]).into() else { panic!("text") };
    let frame = r#"{"type":"response","id":"req_1","result":{"encoding":"binary"}}"#;
    assert_eq!(message, binary(frame, &[0, 255, 7]));
}

/// relay-4, relay-12: binary messages are read and written as the fixtures say.
#[test]
fn binary_messages_are_as_the_fixtures_say() {
    #[derive(Deserialize)]
    struct Said {
        message: String,
        response: Value,
        bytes: String,
    }
    for Said { message, response, bytes } in fixture::<Said>("binary") {
        let [message, bytes] =
            [message, bytes].map(|text| Bytes::from(BASE64_STANDARD.decode(text).unwrap()));
        let said = Packet::read(&message).unwrap();
        assert_eq!(said.outcome.as_ref().unwrap().bytes(), &bytes);
        assert_eq!(serde_json::from_str::<Value>(&Frame::Response(said.clone()).write()).unwrap(), response);
        assert_eq!(Packet::from(said), Packet::Binary(message));
    }
}

/// relay-4: without bytes every frame is one text.
#[test]
fn without_bytes_it_is_text() {
    assert!(matches!(answer(&[]).into(), Packet::Text(_)));
    let failed = Response {
        id: "req_1".into(),
        outcome: Err(RelayError::new(RelayErrorCode::NotFound, "it is gone")),
    };
    assert!(matches!(failed.into(), Packet::Text(_)));
}

/// relay-9: what is no response with a result is told, and nothing else happens.
#[test]
fn only_a_result_has_bytes() {
    for wrong in [
        Bytes::new(),
        Bytes::from_static(&[0, 0, 0]),
        Bytes::from_static(&[0, 0, 0, 1]),
        Bytes::from_static(&[255, 255, 255, 255, b'{', b'}']),
        binary("{}", b"x"),
        binary("\u{7f}", b"x"),
        binary(r#"{"type":"ping","id":"a","ts":"2026-01-01T00:00:00Z"}"#, b"x"),
        binary(r#"{"type":"request","id":"a","method":"file.read","params":{}}"#, b"x"),
        binary(
            r#"{"type":"response","id":"a","error":{"code":"not_found","message":"m","recoverable":true}}"#,
            b"x",
        ),
    ] {
        assert!(Packet::read(&wrong).is_err(), "{wrong:?}");
    }
}

proptest! {
    /// relay-4: what is read is what was written.
    #[test]
    fn a_binary_message_is_read_as_it_was_written(bytes in prop::collection::vec(any::<u8>(), 1..100)) {
        let Packet::Binary(message) = answer(&bytes).into() else { panic!("text") };
        prop_assert_eq!(Packet::read(&message), Ok(answer(&bytes)));
    }

    /// relay-9: whatever comes, nobody falls over it.
    #[test]
    fn anything_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Packet::read(&bytes.into());
    }
}
