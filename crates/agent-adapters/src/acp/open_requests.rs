//! Requests of the agent that a person has yet to answer: permissions, plans and forms.

use std::collections::BTreeMap;

use protocol::wait::{APPROVE, PermissionAnswer, QuestionItem, QuestionOption};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    permission_request::{ALLOW_ALWAYS, ALLOW_ONCE, AcpPermissionRequest, PermissionOption, REJECT, select},
    rpc_message,
    tracked_tool_call::tool_kind,
};
use crate::{Asking, Fact, Out, PermissionAsk, QuestionAsk, Reply, form::Form, lenient};

/// Requests of the agent that a person has yet to answer, by their ids as JSON.
#[derive(Default)]
pub(super) struct AcpOpenRequests(BTreeMap<String, AcpOpenRequest>);

enum AcpOpenRequest {
    Permission { options: Vec<PermissionOption> },
    Plan { options: Vec<PermissionOption> },
    Form(Form),
}

/// The request `elicitation/create`, without its form.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ElicitationHeader {
    mode: Option<String>,
    message: String,
    tool_call_id: Option<String>,
}

/// The notification that the agent no longer needs an answer.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CancelRequestParams {
    request_id: Value,
}

impl AcpOpenRequests {
    /// Asks a person to approve a plan.
    pub(super) fn ask_plan(
        &mut self,
        id: &Value,
        request: AcpPermissionRequest,
        plan: String,
        out: &mut Out,
    ) {
        let AcpPermissionRequest { tool_call, options } = request;
        let asking = Asking::Question(QuestionAsk {
            call_id: tool_call.tool_call_id,
            questions: vec![approval(tool_call.title.unwrap_or_default())],
            plan: Some(plan),
        });
        self.ask(id, AcpOpenRequest::Plan { options }, asking, out);
    }

    /// Asks a person for permission.
    pub(super) fn ask_permission(&mut self, id: &Value, request: AcpPermissionRequest, out: &mut Out) {
        let always_allows = request.always_allows();
        let AcpPermissionRequest { tool_call, options } = request;
        let title = tool_call.title.unwrap_or_default();
        let asking = Asking::Permission(PermissionAsk {
            call_id: tool_call.tool_call_id,
            tool: tool_call.name.unwrap_or_else(|| title.clone()),
            kind: tool_kind(tool_call.kind.as_deref().unwrap_or_default()),
            reason: None,
            input: tool_call.raw_input,
            always_allows,
            title,
        });
        self.ask(id, AcpOpenRequest::Permission { options }, asking, out);
    }

    /// Asks a person to fill in the form of the request `line`. The adapter declines other kinds of elicitation.
    pub(super) fn ask_form(&mut self, line: &[u8], id: &Value, params: &Value, out: &mut Out) {
        let (header, form): (ElicitationHeader, _) = (lenient::object(params), Form::from_request(line));
        if header.mode.is_some_and(|mode| mode != "form") || form.is_empty() {
            return out.line(&rpc_message::response(id, &json!({ "action": "decline" })));
        }
        let questions = form.questions(&header.message);
        let asking = Asking::Question(QuestionAsk { call_id: header.tool_call_id, questions, plan: None });
        self.ask(id, AcpOpenRequest::Form(form), asking, out);
    }

    fn ask(&mut self, id: &Value, request: AcpOpenRequest, asking: Asking, out: &mut Out) {
        let key = id.to_string();
        self.0.insert(key.clone(), request);
        out.facts.push(Fact::Asked { key, asking });
    }

    /// Sends the agent a person's answer.
    pub(super) fn answer(&mut self, key: &str, reply: &Reply, out: &mut Out) {
        let Some(request) = self.0.remove(key) else { return };
        let id = request_id(key);
        out.line(&match (request, reply) {
            (AcpOpenRequest::Permission { options }, Reply::Permission(PermissionAnswer::Once)) => {
                select(&id, &options, &ALLOW_ONCE)
            }
            (AcpOpenRequest::Permission { options }, Reply::Permission(PermissionAnswer::Always)) => {
                select(&id, &options, &ALLOW_ALWAYS)
            }
            (AcpOpenRequest::Plan { options }, Reply::Answers(answers)) if is_approval(answers) => {
                select(&id, &options, &ALLOW_ONCE)
            }
            (AcpOpenRequest::Permission { options } | AcpOpenRequest::Plan { options }, _) => {
                select(&id, &options, &REJECT)
            }
            (AcpOpenRequest::Form(form), Reply::Answers(answers)) => {
                rpc_message::response(&id, &json!({ "action": "accept", "content": form.filled(answers) }))
            }
            (AcpOpenRequest::Form(_), _) => rpc_message::response(&id, &json!({ "action": "decline" })),
        });
    }

    /// Answers all requests of an interrupted turn with its cancellation, for which an agent may wait.
    pub(super) fn cancel_all(&mut self, out: &mut Out) {
        for (key, request) in std::mem::take(&mut self.0) {
            let result = match request {
                AcpOpenRequest::Form(_) => json!({ "action": "cancel" }),
                AcpOpenRequest::Permission { .. } | AcpOpenRequest::Plan { .. } => {
                    json!({ "outcome": { "outcome": "cancelled" } })
                }
            };
            out.line(&rpc_message::response(&request_id(&key), &result));
            out.facts.push(Fact::Withdrawn { key });
        }
    }

    /// Withdraws the request that the notification `$/cancel_request` names.
    pub(super) fn withdraw(&mut self, params: &Value, out: &mut Out) {
        let CancelRequestParams { request_id } = lenient::object(params);
        let key = request_id.to_string();
        if self.0.remove(&key).is_some() {
            out.facts.push(Fact::Withdrawn { key });
        }
    }

    /// Withdraws all requests of a turn that has ended.
    pub(super) fn withdraw_all(&mut self, out: &mut Out) {
        let open = std::mem::take(&mut self.0);
        out.facts.extend(open.into_keys().map(|key| Fact::Withdrawn { key }));
    }
}

/// The JSON-RPC id of a request.
fn request_id(key: &str) -> Value {
    serde_json::from_str(key).unwrap_or_default()
}

fn is_approval(answers: &[Vec<String>]) -> bool {
    matches!(answers, [chosen] if matches!(&chosen[..], [label] if label == APPROVE))
}

fn approval(question: String) -> QuestionItem {
    let choice = |label: &str| QuestionOption { label: label.into(), description: None };
    QuestionItem {
        question,
        header: Some("Plan".into()),
        options: vec![choice(APPROVE), choice(protocol::wait::REJECT)],
        allows_custom: true,
        ..QuestionItem::default()
    }
}
