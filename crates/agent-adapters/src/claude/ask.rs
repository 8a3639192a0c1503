//! What Claude Code asks: permissions, questions and plans are all requests to use a tool.

use protocol::{
    message::ToolKind,
    wait::{APPROVE, PermissionAnswer, QuestionItem, QuestionOption, REJECT},
};
use serde_json::{Map, Value, json};

use crate::{
    Asking, PermissionAsk, QuestionAsk, Reply,
    stream_json::{list, text, tools},
};

const NOT_ALLOWED: &str = "The user did not allow this. Go on without it, or in another way.";
const NOT_ANSWERED: &str = "The user does not want to answer. Go on as you see fit.";
const NOT_APPROVED: &str = "The user did not approve the plan. Do not carry it out.";

/// A request to use a tool that waits for its answer.
#[derive(Debug)]
pub(super) struct Ask {
    /// The tool.
    pub(super) tool: String,
    /// What it is to be called with.
    pub(super) input: Value,
    /// The call, if it was told.
    pub(super) call_id: Option<String>,
    /// Whether an agent that the agent started asks; such a one goes on when the turn ends.
    pub(super) inner: bool,
    reason: Option<String>,
    suggestions: Vec<Value>,
}

impl Ask {
    /// Reads a request of the subtype `can_use_tool`. One that says too little is none.
    pub(super) fn read(request: &Value) -> Option<Self> {
        let input = request.get("input").cloned()?;
        // Of a file it says no more than its name.
        let title = tools::title(&input).unwrap_or_default();
        let described = text(request, "description").filter(|described| !title.ends_with(described));
        let reason = text(request, "decision_reason").or(described);
        Some(Self {
            tool: text(request, "tool_name")?.into(),
            input,
            call_id: text(request, "tool_use_id").map(Into::into),
            inner: text(request, "agent_id").is_some(),
            reason: reason.map(Into::into),
            suggestions: list(request, "permission_suggestions").to_vec(),
        })
    }

    /// Whether a person is asked for more than a yes or no.
    pub(super) fn is_question(&self) -> bool {
        self.is_plan() || self.tool == "AskUserQuestion"
    }

    /// Whether it is a plan that waits for approval.
    pub(super) fn is_plan(&self) -> bool {
        self.tool == "ExitPlanMode"
    }

    /// Whether it would change something.
    pub(super) fn writes(&self) -> bool {
        use ToolKind::{Delete, Edit, Execute, Move};
        matches!(tools::kind(&self.tool), Edit | Delete | Move | Execute)
    }

    /// The same for people.
    pub(super) fn asking(&self, planning: bool) -> Asking {
        if self.is_plan() {
            let plan = text(&self.input, "plan").unwrap_or_default().into();
            let questions = vec![approval()];
            return Asking::Question(QuestionAsk {
                call_id: self.call_id.clone(),
                questions,
                plan: Some(plan),
            });
        }
        if self.is_question() {
            let questions = list(&self.input, "questions").iter().map(question).collect();
            return Asking::Question(QuestionAsk { call_id: self.call_id.clone(), questions, plan: None });
        }
        Asking::Permission(PermissionAsk {
            call_id: self.call_id.clone(),
            tool: self.tool.clone(),
            kind: tools::kind(&self.tool),
            title: tools::title(&self.input).unwrap_or_else(|| self.tool.clone()),
            reason: self.reason.clone(),
            input: self.input.clone(),
            always_allows: self.lasting(planning).iter().flat_map(described).collect(),
        })
    }

    /// The answer in the agent's words.
    pub(super) fn answer(&self, reply: &Reply, planning: bool, after_plan: &str) -> Value {
        match reply {
            _ if self.is_plan() => self.judged(reply, after_plan),
            Reply::Permission(PermissionAnswer::Once) if !self.is_question() => self.allowed(Vec::new()),
            Reply::Permission(PermissionAnswer::Always) if !self.is_question() => {
                self.allowed(self.lasting(planning))
            }
            Reply::Answers(answers) if self.is_question() => self.answered(answers),
            _ if self.is_question() => denied(NOT_ANSWERED),
            _ => denied(NOT_ALLOWED),
        }
    }

    /// It may; the changes to the rules hold in this session only.
    pub(super) fn allowed(&self, rules: Vec<Value>) -> Value {
        let mut response = json!({ "behavior": "allow", "updatedInput": self.input });
        if !rules.is_empty() {
            response["updatedPermissions"] = rules.into();
        }
        response
    }

    /// What `always` would change.
    ///
    /// The agent suggests to write rules into the project; here they hold in the session. That all edits be allowed is
    /// taken only where it suggests nothing narrower, and not while it plans, which it would end.
    pub(super) fn lasting(&self, planning: bool) -> Vec<Value> {
        let of = |kind: &'static str| {
            self.suggestions.iter().filter(move |rule| text(rule, "type") == Some(kind)).cloned()
        };
        let mut rules: Vec<_> =
            of("addRules").filter(|rule| text(rule, "behavior") == Some("allow")).collect();
        if !rules.is_empty() {
            rules.extend(of("addDirectories"));
        } else if !planning {
            rules.extend(of("setMode").filter(|rule| text(rule, "mode") == Some("acceptEdits")));
        }
        for rule in &mut rules {
            rule["destination"] = "session".into();
        }
        rules
    }

    fn judged(&self, reply: &Reply, after_plan: &str) -> Value {
        let said = match reply {
            Reply::Answers(answers) => answers.iter().flatten().next().map_or(REJECT, String::as_str),
            Reply::Permission(PermissionAnswer::Once | PermissionAnswer::Always) => APPROVE,
            Reply::Permission(PermissionAnswer::Reject) | Reply::Dismissed => REJECT,
        };
        match said {
            APPROVE => {
                self.allowed(vec![json!({ "type": "setMode", "mode": after_plan, "destination": "session" })])
            }
            REJECT => denied(NOT_APPROVED),
            feedback => denied(&format!("{NOT_APPROVED} The user says: {feedback}")),
        }
    }

    fn answered(&self, answers: &[Vec<String>]) -> Value {
        let questions = list(&self.input, "questions").iter().filter_map(|item| text(item, "question"));
        let chosen: Map<_, _> = questions
            .zip(answers)
            .filter(|(_, answer)| !answer.is_empty())
            .map(|(question, answer)| (question.into(), answer.join(", ").into()))
            .collect();
        let mut response = self.allowed(Vec::new());
        if let Some(input) = response["updatedInput"].as_object_mut() {
            input.insert("answers".into(), chosen.into());
        }
        response
    }
}

/// It may not; the model is told why, and goes on.
pub(super) fn denied(why: &str) -> Value {
    json!({ "behavior": "deny", "message": why, "interrupt": false })
}

fn approval() -> QuestionItem {
    let choice = |label: &str| QuestionOption { label: label.into(), description: None };
    QuestionItem {
        question: "Do you approve this plan?".into(),
        header: Some("Plan".into()),
        options: vec![choice(APPROVE), choice(REJECT)],
        allows_custom: true,
        ..QuestionItem::default()
    }
}

fn question(item: &Value) -> QuestionItem {
    let owned = |value: &Value, key: &str| text(value, key).map(str::to_owned);
    let choice = |option: &Value| QuestionOption {
        label: owned(option, "label").unwrap_or_default(),
        description: owned(option, "description"),
    };
    QuestionItem {
        question: owned(item, "question").unwrap_or_default(),
        header: owned(item, "header"),
        options: list(item, "options").iter().map(choice).collect(),
        allows_multiple: item.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
        allows_custom: true,
        ..QuestionItem::default()
    }
}

/// What a change to the rules allows.
fn described(rule: &Value) -> Vec<String> {
    let texts = |key: &str| list(rule, key).iter().filter_map(Value::as_str).map(str::to_owned).collect();
    match text(rule, "type") {
        Some("addRules") => list(rule, "rules")
            .iter()
            .map(|rule| match (text(rule, "toolName").unwrap_or_default(), text(rule, "ruleContent")) {
                (tool, Some(content)) => format!("{tool}({content})"),
                (tool, None) => tool.into(),
            })
            .collect(),
        Some("addDirectories") => texts("directories"),
        _ => text(rule, "mode").map(str::to_owned).into_iter().collect(),
    }
}
