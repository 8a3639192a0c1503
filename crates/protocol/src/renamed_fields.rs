//! Tests that old spellings of renamed fields are still read, from disk and from older peers.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{hub, lending, people, presence, sessions};

const AT: &str = "2026-01-01T00:00:00Z";

/// Reads `old`, and checks that it is written with the new spelling.
fn check<T: Serialize + DeserializeOwned>(old: Value, old_name: &str, new_name: &str) {
    let value = old[old_name].clone();
    let read: T = serde_json::from_value(old).unwrap();
    let written = serde_json::to_value(read).unwrap();
    assert_eq!(written[new_name], value);
    assert!(written.get(old_name).is_none(), "{written}");
}

#[test]
fn old_field_names_are_still_read() {
    let session = json!({
        "id": "s", "agent": "mock", "agentSessionId": null, "title": null, "agentMode": "build",
        "permissionMode": "default", "model": null, "variant": null, "directory": "/", "state": "idle", "turnId": null,
        "queued": 0, "waits": 0, "usage": {}, "error": null, "capabilities": {}, "createdAt": AT, "updatedAt": AT, "newest": 3,
    });
    check::<sessions::Session>(session, "newest", "newestSeq");
    let viewer = json!({ "user": "ana", "sockets": 1, "sinceAt": AT });
    check::<presence::PresentViewer>(viewer, "sinceAt", "connectedAt");
    check::<presence::RecentDriver>(json!({ "user": "ana", "lastAt": AT }), "lastAt", "lastActiveAt");
    let user = json!({ "name": "ana", "admin": false, "everywhere": "viewer", "roles": {}, "createdAt": AT });
    check::<people::User>(user, "everywhere", "defaultRole");
    let runtime =
        json!({ "id": "box", "workspace": "default", "kind": "remote", "isUp": true, "addedAt": AT });
    check::<hub::Runtime>(runtime, "isUp", "isReachable");
    let connection = json!({
        "connectionId": "c", "sinceAt": AT, "capabilities": [], "roots": [], "latencyUs": null, "isPaused": false,
    });
    check::<lending::DeviceConnection>(connection, "sinceAt", "connectedAt");
    let approval = json!({
        "id": "wat_0198a8ce4d0e7b3c8f1e2d3c4b5a6978", "clientId": "laptop", "scopeId": "default", "what": "file.write",
        "toolHash": null, "environmentId": null, "runId": null, "author": "ana", "at": AT,
    });
    check::<lending::RememberedApproval>(approval.clone(), "what", "operation");
    check::<lending::RememberedApproval>(approval, "at", "approvedAt");
}
