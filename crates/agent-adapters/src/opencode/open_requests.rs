//! Requests of the server that wait for an answer: permissions, questions, and approvals of a plan.

use std::collections::HashMap;

use protocol::{
    message::ToolKind,
    wait::{APPROVE, PermissionAnswer, QuestionItem, QuestionOption, REJECT},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    OpencodeAdapter,
    permission_policy::{PermissionDecision, is_plan_file},
    server_calls::{CallPurpose, escaped},
    wire_request::{PermissionAsked, QuestionAsked},
};
use crate::{Asking, Fact, Out, PermissionAsk, QuestionAsk, Reply, lenient};

/// The tool that requests the approval of a plan.
const PLAN_EXIT: &str = "plan_exit";

/// The message to the model when a person does not allow an action. Without a message the server would end the turn.
const NOT_ALLOWED: &str = "The user does not allow this. Do not try it again in this way.";

/// The message to the model when it would do more than read.
const NOT_YET: &str = "Only reading is allowed until the user has approved the plan.";

/// The requests that wait for an answer, by the server's id.
#[derive(Debug, Default)]
pub(super) struct OpencodeRequests {
    open: HashMap<String, OpencodeRequest>,
}

#[derive(Debug)]
enum OpencodeRequest {
    Permission { permission: String, always: Vec<String> },
    Question,
    Plan(QuestionAsk),
}

/// The input of [`PLAN_EXIT`].
#[derive(Default, Deserialize)]
#[serde(default)]
struct PlanExitInput {
    plan: Option<String>,
}

impl OpencodeRequests {
    /// Removes a request that the server reports as answered. If it is still open, another client has answered it, or
    /// the server has withdrawn it.
    pub(super) fn settle(&mut self, key: &str, out: &mut Out) {
        if let Some((key, _)) = self.open.remove_entry(key) {
            out.facts.push(Fact::Withdrawn { key });
        }
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}

impl OpencodeAdapter {
    /// Handles a request for permission. Returns whether it can be answered.
    pub(super) fn permission_asked(&mut self, asked: PermissionAsked, out: &mut Out) -> bool {
        let PermissionAsked { id: Some(key), permission, patterns, always, tool, metadata } = asked else {
            return false;
        };
        let permission = permission.unwrap_or_default();
        let call = tool.call_id;
        if let (Some(call), Some(diff)) = (&call, metadata.get("diff").and_then(Value::as_str)) {
            self.messages.tools.set_proposed_diff(call, diff);
        }
        match self.policy.decide(&permission, &patterns) {
            PermissionDecision::Allow => {
                self.reply_to_permission(&key, json!({ "reply": "once" }), out);
                return true;
            }
            PermissionDecision::Refuse => {
                self.reject_permission(&key, NOT_YET, out);
                return true;
            }
            PermissionDecision::Ask => {}
        }
        let known = call.as_deref().and_then(|call| self.messages.tools.call(call));
        let tool = known.map_or_else(|| permission.clone(), |call| call.name.clone());
        let mut input = metadata;
        input.extend(known.and_then(|call| call.input.as_object().cloned()).unwrap_or_default());
        let asking = Asking::Permission(PermissionAsk {
            call_id: call,
            kind: kind(&permission, self.messages.tools.kind(&tool)),
            tool,
            title: title(&input, &patterns),
            reason: reason(&permission, &patterns),
            input: input.into(),
            always_allows: always.clone(),
        });
        self.requests.open.insert(key.clone(), OpencodeRequest::Permission { permission, always });
        out.facts.push(Fact::Asked { key, asking });
        true
    }

    /// Handles a question. Returns whether it can be answered.
    pub(super) fn question_asked(&mut self, asked: QuestionAsked, out: &mut Out) -> bool {
        let QuestionAsked { id: Some(key), questions, tool } = asked else { return false };
        let questions = questions.into_iter().map(|question| question.0).collect();
        let question = QuestionAsk { call_id: tool.call_id, questions, plan: None };
        let call = question.call_id.as_deref().and_then(|call| self.messages.tools.call(call));
        if call.is_some_and(|call| call.name == PLAN_EXIT) {
            self.read_plan(key, question, out);
        } else {
            self.requests.open.insert(key.clone(), OpencodeRequest::Question);
            out.facts.push(Fact::Asked { key, asking: Asking::Question(question) });
        }
        true
    }

    /// Reads the plan before a person decides about it. It is in a file that the question names.
    fn read_plan(&mut self, key: String, question: QuestionAsk, out: &mut Out) {
        let text = question.questions.first().map_or("", |item| item.question.as_str());
        let path = text.split_whitespace().find(|word| is_plan_file(word)).map(str::to_owned);
        self.requests.open.insert(key.clone(), OpencodeRequest::Plan(question));
        match path {
            Some(path) => {
                let path = format!("/file/content{}&path={}", self.directory, escaped(&path));
                self.calls.get(CallPurpose::ReadPlan(key), path, out);
            }
            None => self.ask_for_approval(&key, None, out),
        }
    }

    /// Asks a person to approve the plan with this text. Without a text the plan is in the call, or is the question itself.
    pub(super) fn ask_for_approval(&mut self, key: &str, text: Option<&str>, out: &mut Out) {
        let Some(OpencodeRequest::Plan(question)) = self.requests.open.get(key) else { return };
        let mut question = question.clone();
        let call = question.call_id.as_ref().and_then(|call| self.messages.tools.call(call));
        let in_call = || lenient::object::<PlanExitInput>(&call?.input).plan;
        let in_question = || question.questions.first().map(|item| item.question.clone()).unwrap_or_default();
        let in_file = text.filter(|text| !text.trim().is_empty()).map(str::to_owned);
        question.plan = Some(in_file.or_else(in_call).unwrap_or_else(in_question));
        let choice = |label: &str, description: &str| QuestionOption {
            label: label.into(),
            description: Some(description.into()),
        };
        question.questions = vec![QuestionItem {
            question: "Approve the plan?".into(),
            header: Some("Plan".into()),
            options: vec![choice(APPROVE, "Start implementing"), choice(REJECT, "Continue planning")],
            allows_custom: true,
            ..QuestionItem::default()
        }];
        out.facts.push(Fact::Asked { key: key.to_owned(), asking: Asking::Question(question) });
    }

    pub(super) fn answer_request(&mut self, key: &str, reply: Reply, out: &mut Out) {
        // A request that is no longer open was withdrawn, or ended with its turn.
        let Some(request) = self.requests.open.remove(key) else { return };
        match (request, reply) {
            (OpencodeRequest::Permission { permission, always }, Reply::Permission(answer)) => match answer {
                PermissionAnswer::Once => self.reply_to_permission(key, json!({ "reply": "once" }), out),
                PermissionAnswer::Always => {
                    // The server's own `always` would apply to every session of the directory.
                    let rules = self.policy.allow(&permission, &always);
                    self.add_rules(&rules, out);
                    self.reply_to_permission(key, json!({ "reply": "once" }), out);
                }
                PermissionAnswer::Reject => self.reject_permission(key, NOT_ALLOWED, out),
            },
            (OpencodeRequest::Permission { .. }, _) => self.reject_permission(key, NOT_ALLOWED, out),
            (OpencodeRequest::Question, Reply::Answers(answers)) => {
                self.answer_question(key, &json!(answers), out);
            }
            (OpencodeRequest::Plan(_), Reply::Answers(answers)) => self.decide_plan(key, answers, out),
            (OpencodeRequest::Question | OpencodeRequest::Plan(_), _) => self.dismiss_question(key, out),
        }
    }

    fn decide_plan(&mut self, key: &str, answers: Vec<Vec<String>>, out: &mut Out) {
        let answer = answers.into_iter().flatten().next().unwrap_or_default();
        if answer == APPROVE {
            let rules = self.policy.approve_plan();
            self.add_rules(&rules, out);
            return self.answer_question(key, &json!([["Yes"]]), out);
        }
        if let Some(turn) = &mut self.turn
            && answer != REJECT
            && !answer.trim().is_empty()
        {
            // The server accepts no reasons: any other text is an approval.
            turn.feedback = Some(format!("The plan is not approved: {answer}"));
        }
        self.answer_question(key, &json!([["No"]]), out);
    }

    /// Rejects a permission with a reason. The server rejects all other open requests too, without a reason, and ends the turn
    /// for that.
    fn reject_permission(&mut self, key: &str, reason: &str, out: &mut Out) {
        if let Some(turn) = &mut self.turn {
            turn.feedback = Some(reason.to_owned());
        }
        self.reply_to_permission(key, json!({ "reply": "reject", "message": reason }), out);
    }

    fn reply_to_permission(&mut self, key: &str, body: Value, out: &mut Out) {
        let path = format!("/permission/{}/reply{}", escaped(key), self.directory);
        self.calls.post(CallPurpose::Notice("answer a permission"), path, Some(body), out);
    }

    fn answer_question(&mut self, key: &str, answers: &Value, out: &mut Out) {
        let path = format!("/question/{}/reply{}", escaped(key), self.directory);
        let body = Some(json!({ "answers": answers }));
        self.calls.post(CallPurpose::Notice("answer a question"), path, body, out);
    }

    fn dismiss_question(&mut self, key: &str, out: &mut Out) {
        let path = format!("/question/{}/reject{}", escaped(key), self.directory);
        self.calls.post(CallPurpose::Notice("dismiss a question"), path, None, out);
    }
}

fn kind(permission: &str, of_tool: ToolKind) -> ToolKind {
    match permission {
        "bash" => ToolKind::Execute,
        "edit" => ToolKind::Edit,
        "webfetch" => ToolKind::Fetch,
        _ => of_tool,
    }
}

fn title(input: &Map<String, Value>, patterns: &[String]) -> String {
    let named = ["command", "filepath", "filePath", "url"];
    let title = named.iter().find_map(|name| input.get(*name)?.as_str());
    title.map_or_else(|| patterns.join(", "), str::to_owned)
}

/// Why the server requests a permission that is not about a tool.
fn reason(permission: &str, patterns: &[String]) -> Option<String> {
    match permission {
        "external_directory" => Some(format!("outside the session's directory: {}", patterns.join(", "))),
        "doom_loop" => Some("the same tool call was repeated many times".into()),
        _ => None,
    }
}
