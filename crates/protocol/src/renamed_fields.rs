//! Tests that old spellings of renamed fields are still read, from disk and from older peers.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{audit, device, hub, inbox, lending, message, people, presence, processes, sessions, wait};

const AT: &str = "2026-01-01T00:00:00Z";

/// Reads `old`, and checks that it is written with the new spelling.
fn check<T: Serialize + DeserializeOwned>(old: Value, old_name: &str, new_name: &str) {
    let value = old[old_name].clone();
    let written = upgraded::<T>(old);
    assert_eq!(written[new_name], value);
    assert!(written.get(old_name).is_none(), "{written}");
}

/// The same value with the new spelling.
fn upgraded<T: Serialize + DeserializeOwned>(old: Value) -> Value {
    serde_json::to_value(serde_json::from_value::<T>(old).unwrap()).unwrap()
}

#[test]
fn old_field_names_are_still_read() {
    let session = json!({
        "id": "s", "agent": "mock", "agentSessionId": null, "title": null, "agentMode": "build",
        "permissionMode": "default", "model": null, "variant": null, "directory": "/", "state": "idle", "turnId": null,
        "queued": 0, "waits": 0, "usage": {}, "error": null, "capabilities": {}, "createdAt": AT, "updatedAt": AT, "newest": 3,
    });
    check::<sessions::Session>(session.clone(), "newest", "newestSeq");
    check::<sessions::Session>(session.clone(), "queued", "queuedInputs");
    check::<sessions::Session>(session, "waits", "openWaits");
    let viewer = json!({ "user": "ana", "sockets": 1, "sinceAt": AT });
    check::<presence::PresentViewer>(viewer, "sinceAt", "connectedAt");
    check::<presence::RecentDriver>(json!({ "user": "ana", "lastAt": AT }), "lastAt", "lastActiveAt");
    let user = json!({ "name": "ana", "admin": false, "everywhere": "viewer", "roles": {}, "createdAt": AT });
    check::<people::User>(user.clone(), "everywhere", "defaultRole");
    check::<people::User>(user, "admin", "isAdmin");
    check::<people::UpdateUserRequest>(json!({ "admin": true }), "admin", "isAdmin");
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

#[test]
fn old_field_names_of_waits_are_still_read() {
    let id = "wat_0198a8ce4d0e7b3c8f1e2d3c4b5a6978";
    let permission = json!({
        "id": id, "turnId": null, "callId": null, "tool": "bash", "kind": "execute", "title": "ls", "reason": null,
        "input": {}, "always": ["ls"],
    });
    check::<wait::PermissionRequest>(permission.clone(), "always", "alwaysAllows");
    let question =
        json!({ "question": "Which?", "header": null, "options": [], "multiple": false, "custom": true });
    check::<wait::QuestionItem>(question.clone(), "multiple", "allowsMultiple");
    check::<wait::QuestionItem>(question, "custom", "allowsCustom");
    let settlement = json!({ "outcome": { "permission": "once" }, "author": null, "at": AT });
    check::<wait::WaitSettlement>(settlement, "at", "settledAt");

    let permission = json!({ "permission": upgraded::<wait::PermissionRequest>(permission) });
    let wait = json!({
        "id": id, "runtimeId": "box", "sessionId": "s", "turnId": null, "ask": permission, "openedAt": AT,
        "expiresAt": null, "default": "reject", "settled": null,
    });
    for (old_name, new_name) in [("ask", "request"), ("default", "defaultAnswer"), ("settled", "settlement")]
    {
        check::<wait::Wait>(wait.clone(), old_name, new_name);
        check::<inbox::InboxWait>(wait.clone(), old_name, new_name);
    }
    let inbox = json!({ "items": [], "unavailable": ["box"], "nextCursor": null });
    check::<inbox::WaitInbox>(inbox, "unavailable", "unavailableRuntimes");
    let snapshot = json!({ "type": "snapshot", "waits": [], "unavailable": ["box"] });
    check::<inbox::InboxEvent>(snapshot, "unavailable", "unavailableRuntimes");
}

#[test]
fn old_names_of_times_and_logs_are_still_read() {
    check::<processes::ProcessExit>(json!({ "code": 0, "signal": null, "at": AT }), "at", "exitedAt");
    let exited = json!({ "type": "exited", "code": 0, "signal": null, "at": AT });
    check::<processes::TerminalEvent>(exited, "at", "exitedAt");
    let logged = json!({ "seq": 1, "stream": "stdout", "at": AT, "text": "a" });
    check::<processes::ProcessLogEntry>(logged, "at", "loggedAt");
    let message = json!({ "id": "m", "role": "assistant", "earlier": true, "parts": [] });
    check::<message::Message>(message, "earlier", "olderThanSnapshot");
    let entry = json!({
        "at": AT, "user": null, "token": null, "peer": null, "verb": "sessions.send", "runtime": null, "worker": null,
        "method": "POST", "path": "/", "status": 200, "durationMs": 1,
    });
    check::<audit::AuditEntry>(entry.clone(), "at", "receivedAt");
    check::<audit::AuditEntry>(entry, "verb", "action");
    let error = json!({ "at": AT, "method": "file.read", "code": "not_found", "message": "gone" });
    check::<device::RecentError>(error, "at", "failedAt");
}

#[test]
fn old_field_names_of_lending_are_still_read() {
    let status = json!({
        "devices": [], "environments": [], "audit": { "seq": 1, "hash": null }, "policyVersion": 0,
        "disabledWorkspaces": [], "waits": [], "remembered": [],
    });
    check::<lending::RelayStatus>(status.clone(), "audit", "auditHead");
    check::<lending::RelayStatus>(status, "remembered", "rememberedApprovals");
    let pairing = json!({ "code": "c", "claimSecret": "s", "expiresAt": AT, "pollMs": 2000 });
    check::<lending::PairingStarted>(pairing, "pollMs", "pollIntervalMs");
    let connection = json!({
        "connectionId": "c", "connectedAt": AT, "capabilities": [], "roots": [], "latencyUs": null, "isPaused": false,
    });
    let device = json!({
        "clientId": "laptop", "workspace": "default", "connection": connection, "states": [], "tools": [],
        "pending": 1, "errors": [], "unknownEvents": 0,
    });
    check::<lending::DeviceStatus>(device.clone(), "states", "capabilityStates");
    check::<lending::DeviceStatus>(device, "pending", "pendingRequests");
}
