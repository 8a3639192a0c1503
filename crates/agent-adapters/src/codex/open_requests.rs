//! Requests of the app server that wait for an answer.

use std::collections::BTreeMap;

use protocol::{message::ToolStatus, wait::PermissionAnswer};
use serde_json::{Map, Value, json};

use super::item_messages::ItemMessages;
use crate::{Out, Reply, form::Form};

/// Requests that wait for an answer, by key.
#[derive(Debug, Default)]
pub(super) struct OpenCodexRequests(BTreeMap<String, OpenCodexRequest>);

/// A request that waits for an answer.
#[derive(Debug)]
pub(super) struct OpenCodexRequest {
    pub(super) key: String,
    /// Codex's own id of the request.
    pub(super) id: Value,
    pub(super) expected: ExpectedAnswer,
}

/// The answer for which a request waits.
#[derive(Debug)]
pub(super) enum ExpectedAnswer {
    /// Whether a call may run.
    Approval { call: String },
    /// Whether the agent gets these rights.
    Rights { rights: Value },
    /// Answers to the questions with these ids, which `call` asks.
    Answers { call: String, question_ids: Vec<String> },
    /// The form of an MCP server, or the approval of one of its tools. `call` is the call that waits for it, if known.
    Elicitation { call: Option<String>, form: Form, can_persist: bool },
}

impl OpenCodexRequests {
    /// Adds a request and returns the key for its answer.
    pub(super) fn open(&mut self, id: Value, expected: ExpectedAnswer) -> String {
        let key = id.to_string();
        self.0.insert(key.clone(), OpenCodexRequest { key: key.clone(), id, expected });
        key
    }

    /// Removes the request with a key, because it is being answered.
    pub(super) fn close(&mut self, key: &str) -> Option<OpenCodexRequest> {
        self.0.remove(key)
    }

    /// Removes the request for which Codex no longer waits. None if it was answered already.
    pub(super) fn resolve(&mut self, id: &Value) -> Option<OpenCodexRequest> {
        self.0.remove(&id.to_string())
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl ExpectedAnswer {
    /// The result with which we respond to the request.
    pub(super) fn response(&self, reply: &Reply) -> Value {
        use PermissionAnswer::{Always, Once};
        match (self, reply) {
            (Self::Approval { .. }, Reply::Permission(Once)) => json!({ "decision": "accept" }),
            (Self::Approval { .. }, Reply::Permission(Always)) => json!({ "decision": "acceptForSession" }),
            // The model learns of it and continues; `cancel` would end the turn.
            (Self::Approval { .. }, _) => json!({ "decision": "decline" }),
            (Self::Rights { rights }, Reply::Permission(Once)) => granted(rights, "turn"),
            (Self::Rights { rights }, Reply::Permission(Always)) => granted(rights, "session"),
            (Self::Rights { .. }, _) => granted(&Value::Null, "turn"),
            (Self::Answers { question_ids, .. }, Reply::Answers(answers)) => {
                let answer = |answers: &Vec<String>| json!({ "answers": answers });
                let answers = question_ids.iter().cloned().zip(answers.iter().map(answer));
                json!({ "answers": answers.collect::<Map<_, _>>() })
            }
            (Self::Answers { .. }, _) => json!({ "answers": {} }),
            (Self::Elicitation { form, can_persist, .. }, Reply::Permission(answer @ (Once | Always))) => {
                let meta = (*can_persist && *answer == Always).then(|| json!({ "persist": "session" }));
                json!({ "action": "accept", "content": form.filled(&[]), "_meta": meta })
            }
            (Self::Elicitation { form, .. }, Reply::Answers(answers)) => {
                json!({ "action": "accept", "content": form.filled(answers), "_meta": null })
            }
            (Self::Elicitation { .. }, _) => json!({ "action": "decline", "content": null, "_meta": null }),
        }
    }

    /// Updates the call that waited: it continues, or is done if it consisted of the question.
    pub(super) fn update_call(&self, reply: &Reply, items: &mut ItemMessages, out: &mut Out) {
        match (self, reply) {
            (Self::Answers { call, .. }, Reply::Answers(answers)) => {
                let output = Some(answers.concat().join("\n"));
                items.end_call(call, ToolStatus::Completed, output, out);
            }
            (Self::Answers { call, .. }, Reply::Permission(_) | Reply::Dismissed) => {
                items.end_call(call, ToolStatus::Cancelled, None, out);
            }
            (Self::Approval { call } | Self::Elicitation { call: Some(call), .. }, _) => {
                if matches!(reply, Reply::Permission(PermissionAnswer::Reject) | Reply::Dismissed) {
                    items.mark_refused(call);
                } else {
                    items.set_status(call, ToolStatus::Running, out);
                }
            }
            (Self::Rights { .. } | Self::Elicitation { call: None, .. }, _) => {}
        }
    }

    /// Updates the call that waited, after Codex has withdrawn the request.
    pub(super) fn cancel_call(&self, items: &mut ItemMessages, out: &mut Out) {
        if let Self::Answers { call, .. } = self {
            items.end_call(call, ToolStatus::Cancelled, None, out);
        }
    }
}

fn granted(rights: &Value, scope: &str) -> Value {
    let rights = rights.as_object().into_iter().flatten().filter(|(_, right)| !right.is_null());
    let rights: Map<_, _> = rights.map(|(name, right)| (name.clone(), right.clone())).collect();
    json!({ "permissions": rights, "scope": scope })
}
