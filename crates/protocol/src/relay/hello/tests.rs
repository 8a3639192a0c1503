use serde_json::json;

use super::*;

fn hello(capabilities: &serde_json::Value) -> Hello {
    serde_json::from_value(json!({
        "protocol": PROTOCOL, "client_id": "c", "client_kind": "k", "client_version": "1", "capabilities": capabilities,
    }))
    .unwrap()
}

/// relay-25, relay-128: only what is on is offered, and nothing by default.
#[test]
fn only_what_is_on_is_offered() {
    assert_eq!(hello(&json!({})).check().unwrap().families, BTreeSet::new());
    let root = json!({ "root_id": "a", "virtual_path": "/w/a/", "mode": "rw" });
    let offer = |on| {
        let fileops = json!({ "enabled": on, "roots": [root] });
        let (artifacts, resources) = (json!({ "enabled": true }), json!({ "enabled": false }));
        let capabilities = json!({ "fileops": fileops, "artifacts": artifacts, "resources": resources });
        hello(&capabilities).check().unwrap()
    };
    assert_eq!(offer(true).families, BTreeSet::from([Family::Fileops, Family::Artifacts]));
    assert_eq!(offer(true).roots[0].virtual_path.as_str(), "/w/a");
    assert_eq!(offer(true).roots[0].mode, RootMode::Rw);
    assert_eq!(
        (offer(false).families, offer(false).roots),
        (BTreeSet::from([Family::Artifacts]), Vec::new())
    );
}

/// relay-158: the name is that of the document, and what a newer peer adds changes nothing.
#[test]
fn what_is_added_is_the_same_version() {
    assert_eq!(PROTOCOL, "ya-environment-relay.v1");
    let said = json!({
        "protocol": "ya-environment-relay.v1", "client_id": "c", "client_kind": "k", "client_version": "1", "resume": "conn_1",
        "capabilities": { "tools": { "enabled": true, "streams": true }, "browser": { "enabled": true }, "extensions": ["file.move"] },
    });
    let said: Hello = serde_json::from_value(said).unwrap();
    assert_eq!(said.check().unwrap(), hello(&json!({ "tools": { "enabled": true } })).check().unwrap());
    assert_eq!(said.capabilities.extensions, ["file.move"], "by which what is added is agreed on");
}

/// relay-18, relay-159: another version is refused by the names of both.
#[test]
fn another_protocol_is_refused_by_the_names_of_both() {
    let why = Hello { protocol: "ya-environment-relay.v2".into(), ..hello(&json!({})) }
        .check()
        .unwrap_err()
        .to_string();
    assert!(why.contains("relay.v1") && why.contains("relay.v2"), "{why}");
}

/// relay-27: there is an end to roots.
#[test]
fn there_is_an_end_to_roots() {
    let roots = |count| {
        let root = |n| json!({ "root_id": format!("r{n}"), "virtual_path": format!("/w/{n}"), "mode": "ro" });
        hello(&json!({ "fileops": { "enabled": true, "roots": (0..count).map(root).collect::<Vec<_>>() } }))
            .check()
    };
    assert_eq!(roots(ROOTS_MAX).unwrap().roots.len(), ROOTS_MAX);
    assert_eq!(roots(ROOTS_MAX + 1).unwrap_err().field, "capabilities.fileops.roots");
}
