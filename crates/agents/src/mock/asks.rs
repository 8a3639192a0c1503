//! What the mock asks its client.

use serde_json::{Value, json};

/// What it calls a permission, and the id of the tool call that needs it.
const PERMISSION: &str = "permission";
const PERMISSION_CALL: &str = "call-2";

/// Something that the mock asks: what to send, and what to call it when it says how it was answered.
pub(super) struct Ask {
    pub(super) method: &'static str,
    pub(super) params: Value,
    pub(super) name: &'static str,
}

/// Whether it may remove everything.
pub(super) fn permission(session: &str) -> Ask {
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
    Ask { method: "session/request_permission", params, name: PERMISSION }
}

/// The tool call that was allowed by this answer.
pub(super) fn allowed_call(name: &str, said: &str) -> Option<&'static str> {
    (name == PERMISSION && matches!(said, "allow" | "always")).then_some(PERMISSION_CALL)
}

/// Whether its plan is approved.
pub(super) fn approval(session: &str, plan: &str) -> Ask {
    let call = json!({
        "toolCallId": "call-4", "title": "Ready to build?", "kind": "switch_mode", "status": "pending",
        "rawInput": { "plan": plan },
    });
    let options = json!([
        { "optionId": "approve", "name": "Yes", "kind": "allow_once" },
        { "optionId": "keep-planning", "name": "No", "kind": "reject_once" },
    ]);
    let params = json!({ "sessionId": session, "toolCall": call, "options": options });
    Ask { method: "session/request_permission", params, name: "plan" }
}

/// A form with two questions: one that also takes any text, and one of which more can be chosen.
pub(super) fn question(session: &str) -> Ask {
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
    Ask { method: "elicitation/create", params, name: "question" }
}

/// How it was answered, in a word or as JSON.
pub(super) fn said(result: &Value) -> String {
    let outcome = &result["outcome"];
    match outcome["optionId"].as_str().or(outcome["outcome"].as_str()) {
        Some(chosen) => chosen.into(),
        None if result["action"] == "accept" => result["content"].to_string(),
        None => result["action"].as_str().unwrap_or("nothing").into(),
    }
}
