//! Claude Code's request to use a tool: permissions, questions and plans all have this form.

use protocol::{
    message::ToolKind,
    wait::{APPROVE, PermissionAnswer, QuestionItem, QuestionOption, REJECT},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::permission_rule::ClaudePermissionRule;
use crate::{
    Asking, PermissionAsk, QuestionAsk, Reply, lenient,
    stream_json::tool_kinds::{call_title, tool_kind},
};

/// Texts for the model.
const NOT_ALLOWED: &str = "The user did not allow this. Go on without it, or in another way.";
const NOT_ANSWERED: &str = "The user does not want to answer. Go on as you see fit.";
const NOT_APPROVED: &str = "The user did not approve the plan. Do not carry it out.";

/// A request to use a tool, which waits for its answer.
#[derive(Debug)]
pub(super) struct ClaudeToolRequest {
    pub(super) tool: String,
    /// The arguments, which clients see as they are and the answer repeats.
    pub(super) input: Value,
    /// The tool call, if the agent has announced it.
    pub(super) call_id: Option<String>,
    /// Whether a subagent makes the request. A subagent continues when the turn ends.
    pub(super) is_of_subagent: bool,
    reason: Option<String>,
    /// The changes of the permission rules that Claude Code suggests.
    suggestions: Vec<ClaudePermissionRule>,
}

/// A control request.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CanUseTool {
    subtype: String,
    #[serde(deserialize_with = "lenient::text")]
    tool_name: Option<String>,
    input: Option<Value>,
    #[serde(deserialize_with = "lenient::text")]
    tool_use_id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    agent_id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    description: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    decision_reason: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    permission_suggestions: Vec<ClaudePermissionRule>,
}

/// The arguments of `AskUserQuestion` and `ExitPlanMode`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct QuestionToolInput {
    plan: String,
    #[serde(deserialize_with = "lenient::list")]
    questions: Vec<ClaudeQuestion>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeQuestion {
    question: String,
    #[serde(deserialize_with = "lenient::text")]
    header: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    options: Vec<ClaudeQuestionOption>,
    multi_select: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeQuestionOption {
    label: String,
    #[serde(deserialize_with = "lenient::text")]
    description: Option<String>,
}

impl ClaudeToolRequest {
    /// Parses a control request; `None` for another request, or one without tool or arguments.
    pub(super) fn from_value(request: &Value) -> Option<Self> {
        let request: CanUseTool = lenient::object(request);
        let (tool, input) = (request.tool_name?, request.input?);
        if request.subtype != "can_use_tool" {
            return None;
        }
        // For a file the description is only its name, which the title contains.
        let title = call_title(&input).unwrap_or_default();
        let description = request.description.filter(|description| !title.ends_with(description.as_str()));
        Some(Self {
            tool,
            input,
            call_id: request.tool_use_id,
            is_of_subagent: request.agent_id.is_some(),
            reason: request.decision_reason.or(description),
            suggestions: request.permission_suggestions,
        })
    }

    /// Whether the request needs more than a yes or no.
    pub(super) fn is_question(&self) -> bool {
        self.is_plan() || self.tool == "AskUserQuestion"
    }

    /// Whether the request submits a plan for approval.
    pub(super) fn is_plan(&self) -> bool {
        self.tool == "ExitPlanMode"
    }

    /// Whether the tool may change something.
    pub(super) fn writes(&self) -> bool {
        use ToolKind::{Delete, Edit, Execute, Move};
        matches!(tool_kind(&self.tool), Edit | Delete | Move | Execute)
    }

    /// The request for people.
    pub(super) fn asking(&self, is_planning: bool) -> Asking {
        if self.is_question() {
            let input = self.question_input();
            let (questions, plan) = if self.is_plan() {
                (vec![approval()], Some(input.plan))
            } else {
                (input.questions.into_iter().map(QuestionItem::from).collect(), None)
            };
            return Asking::Question(QuestionAsk { call_id: self.call_id.clone(), questions, plan });
        }
        Asking::Permission(PermissionAsk {
            call_id: self.call_id.clone(),
            tool: self.tool.clone(),
            kind: tool_kind(&self.tool),
            title: call_title(&self.input).unwrap_or_else(|| self.tool.clone()),
            reason: self.reason.clone(),
            input: self.input.clone(),
            always_allows: self
                .lasting_rules(is_planning)
                .iter()
                .flat_map(ClaudePermissionRule::describe)
                .collect(),
        })
    }

    fn question_input(&self) -> QuestionToolInput {
        lenient::object(&self.input)
    }

    /// The response to the agent. `after_plan` is the mode that follows the approval of a plan.
    pub(super) fn response(&self, reply: &Reply, is_planning: bool, after_plan: &str) -> Value {
        match reply {
            _ if self.is_plan() => self.plan_response(reply, after_plan),
            Reply::Permission(PermissionAnswer::Once) if !self.is_question() => self.allow(&[]),
            Reply::Permission(PermissionAnswer::Always) if !self.is_question() => {
                self.allow(&self.lasting_rules(is_planning))
            }
            Reply::Answers(answers) if self.is_question() => self.answers_response(answers),
            _ if self.is_question() => deny(NOT_ANSWERED),
            _ => deny(NOT_ALLOWED),
        }
    }

    /// The response that allows the call and changes the rules for the rest of the session.
    pub(super) fn allow(&self, rules: &[ClaudePermissionRule]) -> Value {
        let mut response = Map::from_iter([
            ("behavior".to_owned(), json!("allow")),
            ("updatedInput".to_owned(), self.input.clone()),
        ]);
        if !rules.is_empty() {
            let rules = rules.iter().map(ClaudePermissionRule::for_session).collect();
            response.insert("updatedPermissions".into(), Value::Array(rules));
        }
        response.into()
    }

    /// The rules that the answer `always` adds.
    ///
    /// Claude Code suggests to write rules into the project; here they hold in the session. The suggestion to allow all edits
    /// counts only without a narrower one, and not in plan mode, which it would end.
    pub(super) fn lasting_rules(&self, is_planning: bool) -> Vec<ClaudePermissionRule> {
        let suggested = |condition: fn(&ClaudePermissionRule) -> bool| {
            self.suggestions.iter().filter(move |rule| condition(rule)).cloned()
        };
        let mut rules: Vec<_> = suggested(ClaudePermissionRule::allows_calls).collect();
        if !rules.is_empty() {
            rules.extend(suggested(ClaudePermissionRule::adds_directories));
        } else if !is_planning {
            rules.extend(suggested(ClaudePermissionRule::accepts_edits));
        }
        rules
    }

    fn plan_response(&self, reply: &Reply, after_plan: &str) -> Value {
        let answer = match reply {
            Reply::Answers(answers) => answers.iter().flatten().next().map_or(REJECT, String::as_str),
            Reply::Permission(PermissionAnswer::Once | PermissionAnswer::Always) => APPROVE,
            Reply::Permission(PermissionAnswer::Reject) | Reply::Dismissed => REJECT,
        };
        match answer {
            APPROVE => self.allow(&[ClaudePermissionRule::set_mode(after_plan)]),
            REJECT => deny(NOT_APPROVED),
            feedback => deny(&format!("{NOT_APPROVED} The user says: {feedback}")),
        }
    }

    /// The response with the chosen labels by the text of the question.
    fn answers_response(&self, answers: &[Vec<String>]) -> Value {
        let questions = self.question_input().questions.into_iter().map(|item| item.question);
        let questions = questions.filter(|question| !question.is_empty());
        let chosen: Map<_, _> = questions
            .zip(answers)
            .filter(|(_, answer)| !answer.is_empty())
            .map(|(question, answer)| (question, answer.join(", ").into()))
            .collect();
        let mut input = self.input.clone();
        if let Some(input) = input.as_object_mut() {
            input.insert("answers".into(), chosen.into());
        }
        json!({ "behavior": "allow", "updatedInput": input })
    }
}

/// The response that denies the call and tells the model why.
pub(super) fn deny(reason: &str) -> Value {
    json!({ "behavior": "deny", "message": reason, "interrupt": false })
}

/// Whether a response allows the call.
pub(super) fn is_allowed(response: &Value) -> bool {
    response.get("behavior").is_some_and(|behavior| behavior == "allow")
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

impl From<ClaudeQuestion> for QuestionItem {
    fn from(question: ClaudeQuestion) -> Self {
        let choice = |option: ClaudeQuestionOption| QuestionOption {
            label: option.label,
            description: option.description,
        };
        Self {
            question: question.question,
            header: question.header,
            options: question.options.into_iter().map(choice).collect(),
            allows_multiple: question.multi_select == Some(true),
            allows_custom: true,
            ..Self::default()
        }
    }
}
