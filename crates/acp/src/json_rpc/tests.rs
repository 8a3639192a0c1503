use proptest::prelude::*;

use super::*;

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn check(text: &str, expected: Result<JsonRpcMessage<'_>, InvalidEnvelope>) {
    assert_eq!(JsonRpcMessage::parse_client(text.as_bytes()), expected, "{text}");
}

#[test]
fn requests_notifications_and_responses_are_distinguished() {
    check(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, Ok(JsonRpcMessage::Request { id: "1" }));
    check(
        r#" {"method":"m","params":[{}],"id":"a","jsonrpc":"2.0"} "#,
        Ok(JsonRpcMessage::Request { id: "\"a\"" }),
    );
    check(r#"{"jsonrpc":"2.0","method":"m"}"#, Ok(JsonRpcMessage::Notification));
    check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Ok(JsonRpcMessage::Response { id: "1" }));
    check(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, Ok(JsonRpcMessage::Response { id: "1" }));
    check(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, Ok(JsonRpcMessage::Response { id: "null" }));
}

/// acp-9: ids are compared as they are written.
#[test]
fn ids_keep_their_spelling() {
    for id in ["1", "1.0", "\"1\"", "-0", "1e3", "\"\\u0031\""] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        check(&text, Ok(JsonRpcMessage::Request { id }));
    }
}

/// acp-11: a body that is not one JSON-RPC envelope is rejected with a reason.
#[test]
fn everything_else_is_rejected() {
    check("[]", Err(InvalidEnvelope::Batch));
    check(r#"[{"jsonrpc":"2.0","method":"m"}]"#, Err(InvalidEnvelope::Batch));
    check(r#"{"id":1,"method":"m"}"#, Err(InvalidEnvelope::Version));
    check(r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, Err(InvalidEnvelope::Version));
    for id in ["null", "true", "{}", "[1]"] {
        check(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#), Err(InvalidEnvelope::Id));
    }
    check(r#"{"jsonrpc":"2.0","id":1,"method":5}"#, Err(InvalidEnvelope::Method));
    check(r#"{"jsonrpc":"2.0","id":1}"#, Err(InvalidEnvelope::Kind));
    check(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":2}"#, Err(InvalidEnvelope::Kind));
    check(r#"{"jsonrpc":"2.0"}"#, Err(InvalidEnvelope::Kind));
    for text in
        ["", "nul", "1", "\"x\"", r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, "{} {}", "{\"a\":\n"]
    {
        assert!(
            matches!(JsonRpcMessage::parse_client(text.as_bytes()), Err(InvalidEnvelope::Json(_))),
            "{text}"
        );
    }
    assert_eq!(
        JsonRpcMessage::parse_client(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"),
        Err(InvalidEnvelope::Utf8(27))
    );
}

/// acp-13: nesting costs no stack, so no depth can break the bridge.
#[test]
fn deep_nesting_is_just_a_message() {
    let text = format!(r#"{{"method":"m","params":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(JsonRpcMessage::parse_agent(text.as_bytes()), Ok(JsonRpcMessage::Notification));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = JsonRpcMessage::parse_client(&bytes);
        let _ = JsonRpcMessage::parse_agent(&bytes);
    }
}
