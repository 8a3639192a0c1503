use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::json;

use super::*;
use crate::relay::{
    Binding, EventFrame, Frame, Grant, Hello, METHODS, MethodInfo, RawJson, RelayAuditEntry, RelayError,
    RelayErrorCode, RelayEvent, Response, computer,
};

fn rewritten(frame: &Value) -> Value {
    let frame = Frame::read(&frame.to_string()).unwrap_or_else(|why| panic!("{why}: {frame}"));
    serde_json::from_str(&frame.write()).unwrap()
}

fn each_survives<T: DeserializeOwned + Serialize>(name: &str) {
    for said in fixture::<Value>(name) {
        let read: T = serde_json::from_value(said.clone()).unwrap_or_else(|why| panic!("{why}: {said}"));
        assert_eq!(serde_json::to_value(read).unwrap(), said);
    }
}

/// relay-11, relay-12, relay-19 to relay-22, relay-160: each kind of frame is read and written as it was, each capability with all its fields.
#[test]
fn every_kind_of_frame_is_written_as_it_was_read() {
    let mut kinds = BTreeSet::new();
    for frame in fixture::<Value>("frames") {
        assert_eq!(rewritten(&frame), frame);
        kinds.insert(frame["type"].as_str().unwrap().to_owned());
    }
    let all = ["cancel", "event", "hello", "ping", "pong", "request", "response", "stream"];
    assert!(kinds.iter().eq(all.iter()), "{kinds:?}");
}

/// relay-12, relay-64: each method's request and response, down to its params and its result.
#[test]
fn every_method_is_asked_and_answered_as_the_fixtures_say() {
    let mut missing: BTreeSet<_> = METHODS.iter().map(|row| row.name).collect();
    for pair in fixture::<Value>("methods") {
        assert_eq!(
            [rewritten(&pair["request"]), rewritten(&pair["response"])],
            [&pair["request"], &pair["response"]].map(Clone::clone)
        );
        let row = MethodInfo::find(pair["request"]["method"].as_str().unwrap()).unwrap();
        missing.remove(row.name);
        for (shape, said) in
            [(row.params, &pair["request"]["params"]), (row.result, &pair["response"]["result"])]
        {
            let read = shape
                .read(&RawJson::from_value(said))
                .unwrap_or_else(|why| panic!("{}: {why}: {said}", row.name));
            assert_eq!(plain(read.read().unwrap()), plain(said.clone()), "{}", row.name);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// relay-13: what is not known in params and results is left out.
#[test]
fn what_is_not_known_in_params_and_results_is_not_said_again() {
    for pair in fixture::<Value>("methods") {
        let row = MethodInfo::find(pair["request"]["method"].as_str().unwrap()).unwrap();
        for (shape, said) in
            [(row.params, &pair["request"]["params"]), (row.result, &pair["response"]["result"])]
        {
            let mut more = said.clone();
            more["of_a_newer_peer"] = json!({ "a": [1] });
            let read = shape.read(&RawJson::from_value(&more)).unwrap();
            assert_eq!(plain(read.read().unwrap()), plain(said.clone()), "{}", row.name);
        }
    }
}

/// relay-24, relay-58 to relay-60: every event with its payload.
#[test]
fn every_event_is_written_as_it_was_read() {
    let mut missing: BTreeSet<_> = RelayEvent::NAMES.iter().copied().collect();
    for said in fixture::<Value>("events") {
        assert_eq!(rewritten(&said), said);
        let frame: EventFrame = serde_json::from_value(said.clone()).unwrap();
        let event = frame.read().unwrap_or_else(|why| panic!("{why}: {said}")).unwrap();
        assert_eq!(EventFrame::from(&event), frame);
        missing.remove(frame.event.as_str());
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// relay-63: an event that is not known is no fault; one with another payload is.
#[test]
fn an_event_that_is_not_known_is_nothing() {
    let event = |event: &str, payload: Value| {
        EventFrame { event: event.into(), payload: RawJson::from_value(&payload) }.read()
    };
    assert_eq!(event("of.a.newer.peer", json!([1])).unwrap(), None);
    assert!(event("stream.credit", json!({ "id": "r" })).is_err());
    assert!(event("provider.paused", json!([])).is_err());
    let updated = event("capability.updated", json!({ "capability": "shell", "state": "dreaming" })).unwrap();
    assert!(matches!(updated, Some(RelayEvent::CapabilityUpdated(updated)) if !updated.state.is_available()));
    let families = json!(["browser", "shell", 1]);
    let time = "2026-01-01T00:00:00Z";
    let accepted = json!({ "connection_id": "c", "accepted_capabilities": families, "server_time": time });
    let Some(RelayEvent::Accepted(accepted)) = event("relay.accepted", accepted).unwrap() else { panic!() };
    assert_eq!(accepted.accepted_capabilities, [crate::relay::Family::Shell]);
}

/// relay-110, relay-126, relay-151, relay-154: bindings, grants and the audit.
#[test]
fn grants_bindings_and_the_audit_are_written_as_they_were_read() {
    each_survives::<Grant>("grants");
    each_survives::<Binding>("bindings");
    each_survives::<RelayAuditEntry>("audit");
}

/// relay-105: what is in the tree of a snapshot.
#[test]
fn elements_are_written_as_they_were_read() {
    each_survives::<computer::AccessibilityElement>("elements");
}

/// relay-40, relay-41, relay-166: every code, and no other.
#[test]
fn every_error_is_written_as_it_was_read() {
    let mut codes = Vec::new();
    for said in fixture::<Value>("errors") {
        assert_eq!(rewritten(&said), said);
        let response: Response = serde_json::from_value(said.clone()).unwrap();
        let error = response.outcome.unwrap_err();
        let ours = RelayError::new(error.code, "");
        assert_eq!(ours.recoverable, error.recoverable, "{said}");
        assert_eq!(error.code.as_str(), said["error"]["code"]);
        codes.push(error.code);
    }
    assert_eq!(codes, RelayErrorCode::ALL);
}

/// relay-13, relay-23, relay-42, relay-44: what is not known is not said again, `browser` among it; a code that is not known is not lost, and what a
/// peer does not call recoverable is not.
#[test]
fn what_is_not_known_is_tolerated_and_not_said_again() {
    for pair in fixture::<Value>("tolerated") {
        assert_eq!(rewritten(&pair["said"]), pair["means"]);
    }
}

/// relay-9: what is no frame is refused; a request that can be told by its id can be answered.
#[test]
fn what_is_no_frame_is_refused() {
    for text in fixture::<String>("refused") {
        assert!(Frame::read(&text).is_err(), "{text}");
    }
    let request = |text| Frame::read(text).unwrap_err().request;
    assert_eq!(request(r#"{"type":"request","id":"r"}"#).as_deref(), Some("r"));
    assert_eq!(request(r#"{"type":"cancel","id":"r","reason":1}"#), None);
    assert_eq!(request(r#"{"type":"hullo","id":"r"}"#), None);
}

/// relay-43: a refusal does not say again what it refuses.
#[test]
fn a_refusal_holds_no_value() {
    for text in [
        r#"{"type":"request","id":"r","method":{"hunter2":1}}"#,
        r#"{"type":"request","id":"r","method":"m","context":"hunter2"}"#,
        r#"{"type":"stream","id":"r","event":"log","data":1,"encoding":"hunter2, expected or not"}"#,
        r#"{"type":"hello","protocol":1,"client_id":"hunter2"}"#,
    ] {
        let reason = Frame::read(text).unwrap_err().reason;
        assert!(
            reason.contains("expected") && !reason.contains("hunter2") && !reason.contains("or not"),
            "{reason}"
        );
    }
}

/// relay-27: what of a hello makes no sense is named.
#[test]
fn a_hello_is_refused_by_the_name_of_a_field() {
    for said in fixture::<Value>("hello_refused") {
        let Ok(Frame::Hello(hello)) = Frame::read(&said["hello"].to_string()) else { panic!("{said}") };
        let invalid = hello.check().unwrap_err();
        assert_eq!(invalid.field, said["field"], "{said}");
        let error = RelayError::from(invalid);
        assert_eq!((error.code, &error.details["field"]), (RelayErrorCode::InvalidRequest, &said["field"]));
    }
    for said in fixture::<Value>("frames").iter().filter(|frame| frame["type"] == "hello") {
        let hello: Hello = serde_json::from_value(said.clone()).unwrap();
        assert_eq!(hello.check().unwrap().client_id.as_str(), said["client_id"]);
    }
}
