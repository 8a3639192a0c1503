//! The requests that the mock sends to its client: permissions, a plan approval, a form.

use serde_json::{Value, json};

/// The topic of a permission request.
const PERMISSION: &str = "permission";

/// The id of the tool call that needs the permission.
const PERMISSION_CALL: &str = "call-2";

/// A JSON-RPC request to the client.
pub(super) struct ClientRequest {
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// Names the request in the message that reports its answer.
    pub(super) topic: &'static str,
}

/// Requests permission to remove everything.
pub(super) fn permission(session: &str) -> ClientRequest {
    let call = json!({
        "toolCallId": PERMISSION_CALL, "title": "Remove everything", "kind": "delete", "status": "pending",
        "rawInput": { "path": "build" },
    });
    let options = json!([
        { "optionId": "allow", "name": "Allow", "kind": "allow_once" },
        { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
        { "optionId": "always", "name": "Always remove", "kind": "allow_always" },
    ]);
    let params = json!({ "sessionId": session, "toolCall": call, "options": options });
    ClientRequest { method: "session/request_permission", params, topic: PERMISSION }
}

/// Returns the tool call that `answer` to a request about `topic` allows.
pub(super) fn allowed_call(topic: &str, answer: &str) -> Option<&'static str> {
    (topic == PERMISSION && matches!(answer, "allow" | "always")).then_some(PERMISSION_CALL)
}

/// Requests approval of `plan`.
pub(super) fn approval(session: &str, plan: &str) -> ClientRequest {
    let call = json!({
        "toolCallId": "call-4", "title": "Ready to build?", "kind": "switch_mode", "status": "pending",
        "rawInput": { "plan": plan },
    });
    let options = json!([
        { "optionId": "approve", "name": "Yes", "kind": "allow_once" },
        { "optionId": "keep-planning", "name": "No", "kind": "reject_once" },
    ]);
    let params = json!({ "sessionId": session, "toolCall": call, "options": options });
    ClientRequest { method: "session/request_permission", params, topic: "plan" }
}

/// Requests a form with two questions: one also accepts free text, the other accepts several choices.
pub(super) fn question(session: &str) -> ClientRequest {
    let named = |value: &str, title: &str, description: &str| json!({ "const": value, "title": title, "description": description });
    let schema = json!({
        "type": "object",
        "properties": {
            "a_colour": {
                "type": "string", "title": "Colour", "description": "Which colour should it have?",
                "oneOf": [named("r", "Red", "As a rose"), named("g", "Green", "As grass")],
            },
            "a_colour_custom": { "type": "string", "title": "Other" },
            "b_parts": {
                "type": "array", "title": "Parts", "description": "Which parts should be painted?",
                "items": { "anyOf": [named("d", "Door", ""), named("w", "Wall", "")] },
            },
        },
    });
    let params = json!({
        "mode": "form", "sessionId": session, "toolCallId": "call-5",
        "message": "Some questions", "requestedSchema": schema,
    });
    ClientRequest { method: "elicitation/create", params, topic: "question" }
}

/// Returns the answer in `result`: a word, or the content of a form as JSON.
pub(super) fn answer_in(result: &Value) -> String {
    let outcome = &result["outcome"];
    match outcome["optionId"].as_str().or(outcome["outcome"].as_str()) {
        Some(chosen) => chosen.into(),
        None if result["action"] == "accept" => result["content"].to_string(),
        None => result["action"].as_str().unwrap_or("nothing").into(),
    }
}
