//! What an agent asks: permissions, plans and forms.

use std::collections::BTreeMap;

use protocol::wait::{APPROVE, PermissionAnswer, QuestionItem, QuestionOption, REJECT};
use serde_json::{Value, json};

use super::{
    super::{Asking, Fact, Out, PermissionAsk, QuestionAsk, Reply, form::Form},
    text,
    tools::tool_kind,
};

/// What an agent asks and nobody has answered, by its id as JSON.
#[derive(Default)]
pub(super) struct Asks(BTreeMap<String, Ask>);

enum Ask {
    Permission { options: Vec<Value> },
    Plan { options: Vec<Value> },
    Form(Form),
}

impl Asks {
    /// The agent asks for permission, or for the approval of a plan. Where everything is allowed, it has the permission.
    pub(super) fn permission(
        &mut self,
        id: &Value,
        params: &Value,
        plan: Option<String>,
        free: bool,
        out: &mut Out,
    ) {
        let call = &params["toolCall"];
        let options = params["options"].as_array().cloned().unwrap_or_default();
        let call_id = call["toolCallId"].as_str().map(str::to_owned);
        if let Some(plan) = plan {
            let asking = Asking::Question(QuestionAsk {
                call_id,
                questions: vec![approval(text(&call["title"]))],
                plan: Some(plan),
            });
            self.0.insert(id.to_string(), Ask::Plan { options });
            return out.facts.push(Fact::Asked { key: id.to_string(), asking });
        }
        if free {
            return out.line(&selected(id, &options, &["allow_once", "allow_always"]));
        }
        let title = text(&call["title"]);
        let always = options.iter().filter(|option| option["kind"] == "allow_always");
        let asking = Asking::Permission(PermissionAsk {
            call_id,
            tool: call["name"].as_str().unwrap_or(&title).to_owned(),
            kind: tool_kind(call["kind"].as_str().unwrap_or_default()),
            reason: None,
            input: call["rawInput"].clone(),
            always_allows: always.map(|option| text(&option["name"])).collect(),
            title,
        });
        self.0.insert(id.to_string(), Ask::Permission { options });
        out.facts.push(Fact::Asked { key: id.to_string(), asking });
    }

    /// The agent has a form to fill in. `line` is its request.
    pub(super) fn form(&mut self, line: &[u8], id: &Value, params: &Value, out: &mut Out) {
        let form = Form::from_request(line);
        if params["mode"].as_str().is_some_and(|mode| mode != "form") || form.is_empty() {
            return out.line(&json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "decline" } }));
        }
        let questions = form.questions(params["message"].as_str().unwrap_or_default());
        let call_id = params["toolCallId"].as_str().map(str::to_owned);
        let asking = Asking::Question(QuestionAsk { call_id, questions, plan: None });
        self.0.insert(id.to_string(), Ask::Form(form));
        out.facts.push(Fact::Asked { key: id.to_string(), asking });
    }

    /// Tells the agent what was answered.
    pub(super) fn answer(&mut self, key: &str, reply: &Reply, out: &mut Out) {
        let Some(ask) = self.0.remove(key) else { return };
        let id: Value = serde_json::from_str(key).unwrap_or_default();
        let answer = match (ask, reply) {
            (Ask::Permission { options }, Reply::Permission(PermissionAnswer::Once)) => {
                selected(&id, &options, &["allow_once", "allow_always"])
            }
            (Ask::Permission { options }, Reply::Permission(PermissionAnswer::Always)) => {
                selected(&id, &options, &["allow_always", "allow_once"])
            }
            (Ask::Plan { options }, Reply::Answers(answers)) if approves(answers) => {
                selected(&id, &options, &["allow_once", "allow_always"])
            }
            (Ask::Permission { options } | Ask::Plan { options }, _) => {
                selected(&id, &options, &["reject_once", "reject_always"])
            }
            (Ask::Form(form), Reply::Answers(answers)) => {
                let result = json!({ "action": "accept", "content": form.filled(answers) });
                json!({ "jsonrpc": "2.0", "id": id, "result": result })
            }
            (Ask::Form(_), _) => json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "decline" } }),
        };
        out.line(&answer);
    }

    /// The turn is interrupted: what is asked is answered by that, and the agent may wait for the answer.
    pub(super) fn cancel_all(&mut self, out: &mut Out) {
        for (key, ask) in std::mem::take(&mut self.0) {
            let id: Value = serde_json::from_str(&key).unwrap_or_default();
            let result = match ask {
                Ask::Form(_) => json!({ "action": "cancel" }),
                Ask::Permission { .. } | Ask::Plan { .. } => json!({ "outcome": { "outcome": "cancelled" } }),
            };
            out.line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            out.facts.push(Fact::Withdrawn { key });
        }
    }

    /// The agent no longer asks.
    pub(super) fn withdraw(&mut self, id: &Value, out: &mut Out) {
        let key = id.to_string();
        if self.0.remove(&key).is_some() {
            out.facts.push(Fact::Withdrawn { key });
        }
    }

    /// The turn is over, and with it what was asked.
    pub(super) fn withdraw_all(&mut self, out: &mut Out) {
        let open = std::mem::take(&mut self.0);
        out.facts.extend(open.into_keys().map(|key| Fact::Withdrawn { key }));
    }
}

/// Whether somebody approves a plan.
fn approves(answers: &[Vec<String>]) -> bool {
    matches!(answers, [chosen] if matches!(&chosen[..], [label] if label == APPROVE))
}

fn approval(question: String) -> QuestionItem {
    let choice = |label: &str| QuestionOption { label: label.into(), description: None };
    QuestionItem {
        question,
        header: Some("Plan".into()),
        options: vec![choice(APPROVE), choice(REJECT)],
        allows_custom: true,
        ..QuestionItem::default()
    }
}

/// Chooses the first option of one of these kinds; what options are called differs from agent to agent.
fn selected(id: &Value, options: &[Value], kinds: &[&str]) -> Value {
    let found = kinds.iter().find_map(|kind| options.iter().find(|option| option["kind"] == **kind));
    let outcome = match found {
        Some(option) => json!({ "outcome": "selected", "optionId": option["optionId"] }),
        None => json!({ "outcome": "cancelled" }),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } })
}
