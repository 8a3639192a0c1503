use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;
use crate::{stored_input::StoredInput, stored_wait::StoredWait};

const TURN: &str = "trn_01a1eb9d8c117407a1207c79475bdae2";

/// The records of a session as this version writes them.
fn session() -> Value {
    json!({
        "version": 1,
        "create": { "agent": "mock", "agentMode": "build", "permissionMode": "default", "title": "Fix" },
        "hasSecrets": false, "directory": "/", "firstWords": null,
        "createdAt": "2026-11-17T22:25:33.088077291Z", "updatedAt": "2026-11-17T22:25:43.603052688Z",
        "agentSessionId": "native", "error": null, "runs": 1, "turn": TURN, "unfinished": true, "folded": 17,
        "messages": 2, "plan": { "steps": [] }, "commands": [],
        "usage": { "inputTokens": 0, "outputTokens": 0, "cachedTokens": 0, "reasoningTokens": 0,
            "costUsd": 0.25, "contextTokens": null, "contextWindow": null },
    })
}

fn input() -> Value {
    json!({
        "version": 1,
        "input": { "id": "inp_01a1eb9d8c117407a1207c7a2a79418c", "turnId": TURN, "author": "user",
            "message": "hello", "attachments": [{ "type": "text", "name": null, "text": "more" }],
            "state": "accepted", "acceptedAt": "2026-11-17T22:25:33.201875006Z" },
        "key": "once", "digest": "74800d86",
    })
}

fn wait() -> Value {
    json!({
        "version": 1,
        "wait": { "id": "wat_01a1eb9d8c1377aa96524433af020745", "sessionId": "fix", "turnId": TURN,
            "request": { "permission": { "id": "wat_01a1eb9d8c1377aa96524433af020745", "turnId": TURN,
                "callId": "call-2", "tool": "Bash", "kind": "execute", "title": "ls", "reason": null,
                "input": { "command": "ls" }, "alwaysAllows": [] } },
            "openedAt": "2026-11-17T22:25:33.203685926Z", "expiresAt": null, "defaultAnswer": "reject",
            "settlement": null },
        "key": "1",
    })
}

/// Reads a record and writes it again.
fn rewrite<T: Serialize + DeserializeOwned>(record: &Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_slice::<T>(&serde_json::to_vec(record)?)?)
}

/// Checks that a record with fields of a newer version, one of them inside `inner`, keeps them when it is written again.
fn check_keeps_unknown_fields<T: Serialize + DeserializeOwned>(mut record: Value, inner: &str) {
    record["budget"] = json!({ "tokens": [1, null] });
    record[inner]["sandbox"] = json!("strict");
    assert_eq!(rewrite::<T>(&record).unwrap(), record);
}

#[test]
fn a_record_that_is_written_again_keeps_the_fields_of_a_newer_version() {
    check_keeps_unknown_fields::<StoredSession>(session(), "create");
    check_keeps_unknown_fields::<StoredInput>(input(), "input");
    check_keeps_unknown_fields::<StoredWait>(wait(), "wait");
}

#[test]
fn a_record_of_a_newer_format_is_not_understood_by_accident() {
    let error = |mut record: Value, rewrite: fn(&Value) -> serde_json::Result<Value>| {
        record["version"] = json!(2);
        rewrite(&record).unwrap_err().to_string()
    };
    let errors = [
        error(session(), rewrite::<StoredSession>),
        error(input(), rewrite::<StoredInput>),
        error(wait(), rewrite::<StoredWait>),
    ];
    for error in errors {
        assert!(error.contains("a newer version of Tombolo wrote it (format 2"), "{error}");
    }
}

/// Records without a version held the request, which was one of two if it was sent again with another `validateToken`.
#[test]
fn a_record_without_a_version_gets_one_and_is_the_same_session() {
    let mut old = session();
    old.as_object_mut().unwrap().remove("version");
    old["create"]["validateToken"] = json!(false);
    let stored = StoredSession::parse(&serde_json::to_vec(&old).unwrap()).unwrap();
    let request: CreateSessionRequest = serde_json::from_value(old["create"].clone()).unwrap();
    assert_eq!(stored.options, StoredOptions::new(&request));
    assert_eq!(serde_json::to_value(stored).unwrap(), session());
}
