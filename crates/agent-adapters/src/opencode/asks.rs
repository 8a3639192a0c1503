//! What the agent asks: permissions, questions, and whether its plan is approved.

use std::collections::HashMap;

use protocol::{
    message::ToolKind,
    wait::{APPROVE, PermissionAnswer, QuestionItem, QuestionOption, REJECT},
};
use serde_json::{Map, Value, json};

use super::{
    Opencode,
    calls::{Purpose, escaped},
    policy::{self, Decision},
};
use crate::{Asking, Fact, Out, PermissionAsk, QuestionAsk, Reply};

/// The tool that asks for the approval of a plan.
const PLAN_EXIT: &str = "plan_exit";

/// What the model is told when a person does not allow something. Without a word the server would end the turn.
const NOT_ALLOWED: &str = "The user does not allow this. Do not try it again in this way.";

/// What the model is told when it would do more than read.
const NOT_YET: &str = "Only reading is allowed until the user has approved the plan.";

/// What is open.
#[derive(Debug, Default)]
pub(super) struct Asks {
    open: HashMap<String, Ask>,
}

#[derive(Debug)]
enum Ask {
    Permission { permission: String, always: Vec<String> },
    Question,
    Plan(QuestionAsk),
}

impl Asks {
    /// The server says that something was answered. If that is news, somebody else did, or nobody has to any more.
    pub(super) fn settled(&mut self, key: &Value, out: &mut Out) {
        if let Some((key, _)) = key.as_str().and_then(|key| self.open.remove_entry(key)) {
            out.facts.push(Fact::Withdrawn { key });
        }
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}

impl Opencode {
    pub(super) fn permission(&mut self, said: &Value, out: &mut Out) {
        let Some(key) = said["id"].as_str() else { return };
        let permission = said["permission"].as_str().unwrap_or_default();
        let (patterns, always) = (texts(&said["patterns"]), texts(&said["always"]));
        let call = said["tool"]["callID"].as_str();
        if let (Some(call), Some(diff)) = (call, said["metadata"]["diff"].as_str()) {
            self.messages.tools.announce(call, diff);
        }
        match self.policy.decide(permission, &patterns) {
            Decision::Allow => return self.permit(key, json!({ "reply": "once" }), out),
            Decision::Refuse => return self.reject(key, NOT_YET, out),
            Decision::Ask => {}
        }
        let known = call.and_then(|call| self.messages.tools.find(call));
        let tool = known.map_or(permission, |call| call.name.as_str());
        let mut input = said["metadata"].as_object().cloned().unwrap_or_default();
        input.extend(known.and_then(|call| call.input.as_object().cloned()).unwrap_or_default());
        let asking = Asking::Permission(PermissionAsk {
            call_id: call.map(str::to_owned),
            tool: tool.to_owned(),
            kind: kind(permission, self.messages.tools.kind(tool)),
            title: title(&input, &patterns),
            reason: reason(permission, &patterns),
            input: input.into(),
            always_allows: always.clone(),
        });
        let ask = Ask::Permission { permission: permission.to_owned(), always };
        self.asks.open.insert(key.to_owned(), ask);
        out.facts.push(Fact::Asked { key: key.to_owned(), asking });
    }

    pub(super) fn question(&mut self, said: &Value, out: &mut Out) {
        let Some(key) = said["id"].as_str() else { return };
        let call = said["tool"]["callID"].as_str();
        let questions: Vec<_> = said["questions"].as_array().into_iter().flatten().map(item).collect();
        let ask = QuestionAsk { call_id: call.map(str::to_owned), questions, plan: None };
        let known = call.and_then(|call| self.messages.tools.find(call));
        if known.is_some_and(|call| call.name == PLAN_EXIT) {
            return self.plan(key, ask, out);
        }
        self.asks.open.insert(key.to_owned(), Ask::Question);
        out.facts.push(Fact::Asked { key: key.to_owned(), asking: Asking::Question(ask) });
    }

    /// The plan is in a file, which the question names: first we get it.
    fn plan(&mut self, key: &str, ask: QuestionAsk, out: &mut Out) {
        let question = ask.questions.first().map_or("", |item| item.question.as_str());
        let path = question.split_whitespace().find(|word| policy::is_plan(word)).map(str::to_owned);
        self.asks.open.insert(key.to_owned(), Ask::Plan(ask));
        match path {
            Some(path) => {
                let path = format!("/file/content{}&path={}", self.directory, escaped(&path));
                self.calls.get(Purpose::Plan(key.to_owned()), path, out);
            }
            None => self.plan_text(key, None, out),
        }
    }

    /// The text of a plan is there, or is known not to be.
    pub(super) fn plan_text(&mut self, key: &str, text: Option<&str>, out: &mut Out) {
        let Some(Ask::Plan(ask)) = self.asks.open.get(key) else { return };
        let mut ask = ask.clone();
        let called = ask.call_id.as_ref().and_then(|call| self.messages.tools.find(call));
        let asked = ask.questions.first().map(|item| item.question.clone()).unwrap_or_default();
        let text = text.filter(|text| !text.trim().is_empty());
        let plan = text.or_else(|| called.and_then(|call| call.input["plan"].as_str())).unwrap_or(&asked);
        ask.plan = Some(plan.to_owned());
        let choice = |label: &str, description: &str| QuestionOption {
            label: label.into(),
            description: Some(description.into()),
        };
        ask.questions = vec![QuestionItem {
            question: "Approve the plan?".into(),
            header: Some("Plan".into()),
            options: vec![choice(APPROVE, "Start implementing"), choice(REJECT, "Continue planning")],
            allows_custom: true,
            ..QuestionItem::default()
        }];
        out.facts.push(Fact::Asked { key: key.to_owned(), asking: Asking::Question(ask) });
    }

    pub(super) fn reply(&mut self, key: &str, reply: Reply, out: &mut Out) {
        // One that is no longer open has been told as withdrawn, or went with its turn.
        let Some(ask) = self.asks.open.remove(key) else { return };
        match (ask, reply) {
            (Ask::Permission { permission, always }, Reply::Permission(answer)) => match answer {
                PermissionAnswer::Once => self.permit(key, json!({ "reply": "once" }), out),
                PermissionAnswer::Always => {
                    // The server's own `always` would hold for every session of the directory.
                    let rules = self.policy.allow(&permission, &always);
                    self.amend(&rules, out);
                    self.permit(key, json!({ "reply": "once" }), out);
                }
                PermissionAnswer::Reject => self.reject(key, NOT_ALLOWED, out),
            },
            (Ask::Permission { .. }, _) => self.reject(key, NOT_ALLOWED, out),
            (Ask::Question, Reply::Answers(answers)) => self.answer(key, &json!(answers), out),
            (Ask::Plan(_), Reply::Answers(answers)) => self.judge(key, answers, out),
            (Ask::Question | Ask::Plan(_), _) => self.dismiss(key, out),
        }
    }

    fn judge(&mut self, key: &str, answers: Vec<Vec<String>>, out: &mut Out) {
        let answer = answers.into_iter().flatten().next().unwrap_or_default();
        if answer == APPROVE {
            let rules = self.policy.approve();
            self.amend(&rules, out);
            return self.answer(key, &json!([["Yes"]]), out);
        }
        if let Some(turn) = &mut self.turn
            && answer != REJECT
            && !answer.trim().is_empty()
        {
            // The server knows no reasons, and takes any other text for a yes.
            turn.feedback = Some(format!("The plan is not approved: {answer}"));
        }
        self.answer(key, &json!([["No"]]), out);
    }

    /// Says no, and why. The server says no to all other open requests too, but not why, and ends the turn for that.
    fn reject(&mut self, key: &str, why: &str, out: &mut Out) {
        if let Some(turn) = &mut self.turn {
            turn.feedback = Some(why.to_owned());
        }
        self.permit(key, json!({ "reply": "reject", "message": why }), out);
    }

    fn permit(&mut self, key: &str, body: Value, out: &mut Out) {
        let path = format!("/permission/{}/reply{}", escaped(key), self.directory);
        self.calls.post(Purpose::Notice("answer a permission"), path, Some(body), out);
    }

    fn answer(&mut self, key: &str, answers: &Value, out: &mut Out) {
        let path = format!("/question/{}/reply{}", escaped(key), self.directory);
        let body = Some(json!({ "answers": answers }));
        self.calls.post(Purpose::Notice("answer a question"), path, body, out);
    }

    fn dismiss(&mut self, key: &str, out: &mut Out) {
        let path = format!("/question/{}/reject{}", escaped(key), self.directory);
        self.calls.post(Purpose::Notice("dismiss a question"), path, None, out);
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

/// Why something is asked for that is not asked for in general.
fn reason(permission: &str, patterns: &[String]) -> Option<String> {
    match permission {
        "external_directory" => Some(format!("outside the session's directory: {}", patterns.join(", "))),
        "doom_loop" => Some("the same tool call was repeated many times".into()),
        _ => None,
    }
}

fn item(said: &Value) -> QuestionItem {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let choice = |option: &Value| QuestionOption {
        label: text(&option["label"]).unwrap_or_default(),
        description: text(&option["description"]),
    };
    QuestionItem {
        question: text(&said["question"]).unwrap_or_default(),
        header: text(&said["header"]),
        options: said["options"].as_array().into_iter().flatten().map(choice).collect(),
        allows_multiple: said["multiple"] == true,
        // Any other text is an answer unless it says otherwise.
        allows_custom: said["custom"] != false,
        ..QuestionItem::default()
    }
}

fn texts(values: &Value) -> Vec<String> {
    values.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
