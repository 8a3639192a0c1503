//! What Codex asks.

use std::collections::BTreeMap;

use protocol::{
    message::{ToolCall, ToolKind, ToolStatus},
    wait::{PermissionAnswer, QuestionItem, QuestionOption},
};
use serde_json::{Value, json};

use super::{files, items::Items, tools};
use crate::{Asking, Out, PermissionAsk, QuestionAsk, Reply, form::Form};

/// What is asked and has not been answered.
#[derive(Debug, Default)]
pub(super) struct Asks(BTreeMap<String, Ask>);

/// One thing that is asked.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) key: String,
    /// The request that waits.
    pub(super) id: Value,
    pub(super) kind: Kind,
}

/// What kind of answer is wanted.
#[derive(Debug)]
pub(super) enum Kind {
    /// Whether a call may go on.
    Approval { call: String },
    /// Whether the agent may have these rights.
    Rights { rights: Value },
    /// Answers to questions of these names, for a call.
    Answers { call: String, names: Vec<String> },
    /// What an MCP server wants to know, or whether one of its tools may be used, by a call if that is known.
    Elicitation { call: Option<String>, form: Form, lasting: bool },
}

impl Asks {
    /// Notes a request; the key for its answer.
    pub(super) fn open(&mut self, id: &Value, kind: Kind) -> String {
        let key = id.to_string();
        self.0.insert(key.clone(), Ask { key: key.clone(), id: id.clone(), kind });
        key
    }

    /// What was asked under a key; it is not asked any more.
    pub(super) fn close(&mut self, key: &str) -> Option<Ask> {
        self.0.remove(key)
    }

    /// Codex no longer waits; what it asked, unless we have answered.
    pub(super) fn resolved(&mut self, id: &Value) -> Option<Ask> {
        self.0.remove(&id.to_string())
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Reads a request; why it cannot be answered otherwise.
pub(super) fn read(
    line: &[u8],
    method: &str,
    params: &Value,
    items: &mut Items,
    out: &mut Out,
) -> Result<(Kind, Asking), String> {
    let Some(thread) = params["threadId"].as_str() else {
        return Err("a request without a thread id".into());
    };
    let call = || params["itemId"].as_str().map(str::to_owned).ok_or("a request without an item id");
    match method {
        "item/commandExecution/requestApproval" => {
            let call = call()?;
            let ask = command(&call, params);
            items.set_status(&call, ToolStatus::Pending, out);
            Ok((Kind::Approval { call }, Asking::Permission(ask)))
        }
        "item/fileChange/requestApproval" => {
            let call = call()?;
            let ask = change(&call, params, items);
            items.set_status(&call, ToolStatus::Pending, out);
            Ok((Kind::Approval { call }, Asking::Permission(ask)))
        }
        "item/permissions/requestApproval" => {
            let rights = params["permissions"].clone();
            let ask = PermissionAsk {
                // Most often the item is not told.
                call_id: Some(call()?).filter(|call| items.call(call).is_some()),
                tool: "permissions".into(),
                kind: ToolKind::Other,
                title: rights.to_string(),
                reason: reason(params),
                input: json!({ "permissions": rights, "cwd": params["cwd"] }),
                always_allows: vec![rights.to_string()],
            };
            Ok((Kind::Rights { rights }, Asking::Permission(ask)))
        }
        "item/tool/requestUserInput" => {
            let call = call()?;
            let (names, questions) = questions(&params["questions"]);
            items.call_begins(thread, question_call(&call, params, &questions), out);
            let ask = QuestionAsk { call_id: Some(call.clone()), questions, plan: None };
            Ok((Kind::Answers { call, names }, Asking::Question(ask)))
        }
        "mcpServer/elicitation/request" => elicited(line, params, items, out),
        _ => Err(format!("unknown method `{method}`")),
    }
}

fn reason(params: &Value) -> Option<String> {
    params["reason"].as_str().map(str::to_owned)
}

fn command(call: &str, params: &Value) -> PermissionAsk {
    let command = tools::command(params);
    // A host to be reached, where it is about that.
    let network = params["networkApprovalContext"]["host"].as_str();
    PermissionAsk {
        call_id: Some(call.to_owned()),
        tool: "commandExecution".into(),
        kind: if network.is_some() {
            ToolKind::Fetch
        } else {
            tools::command_kind(&params["commandActions"])
        },
        title: network.map_or_else(|| command.clone(), str::to_owned),
        reason: reason(params),
        input: json!({ "command": params["command"], "cwd": params["cwd"] }),
        always_allows: vec![network.map_or(command, str::to_owned)],
    }
}

fn change(call: &str, params: &Value, items: &Items) -> PermissionAsk {
    let input = items.call(call).map(|call| call.input.clone()).unwrap_or_default();
    let changes = &input["changes"];
    let root = params["grantRoot"].as_str();
    let paths: Vec<String> = files::paths(changes).into_iter().map(str::to_owned).collect();
    PermissionAsk {
        call_id: Some(call.to_owned()),
        tool: "fileChange".into(),
        kind: files::kind(changes),
        title: files::title(changes),
        reason: reason(params),
        always_allows: root.map_or(paths, |root| vec![root.to_owned()]),
        input,
    }
}

fn questions(asked: &Value) -> (Vec<String>, Vec<QuestionItem>) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let one = |question: &Value| {
        let options = question["options"].as_array().into_iter().flatten();
        let choice = |option: &Value| {
            Some(QuestionOption { label: text(&option["label"])?, description: text(&option["description"]) })
        };
        let options: Vec<_> = options.filter_map(choice).collect();
        let allows_custom = question["isOther"] == true || options.is_empty();
        let item = QuestionItem {
            question: text(&question["question"]).unwrap_or_default(),
            header: text(&question["header"]),
            options,
            allows_custom,
            ..QuestionItem::default()
        };
        (text(&question["id"]).unwrap_or_default(), item)
    };
    asked.as_array().into_iter().flatten().map(one).unzip()
}

/// The call behind a question, which is no item.
fn question_call(call: &str, params: &Value, questions: &[QuestionItem]) -> ToolCall {
    ToolCall {
        call_id: call.to_owned(),
        name: "request_user_input".into(),
        kind: ToolKind::Ask,
        title: questions.first().map(|item| item.question.clone()),
        input: json!({ "questions": params["questions"] }),
        status: ToolStatus::Pending,
    }
}

fn elicited(line: &[u8], params: &Value, items: &mut Items, out: &mut Out) -> Result<(Kind, Asking), String> {
    let server = params["serverName"].as_str().unwrap_or_default();
    let form = match params["mode"].as_str() {
        Some("form" | "openai/form" | "openaiForm") => Form::from_request(line),
        // It only wants to go on.
        Some("url") => Form::empty(),
        mode => return Err(format!("unknown elicitation mode `{}`", mode.unwrap_or_default())),
    };
    let call = items.call_of(server);
    if let Some(call) = &call {
        items.set_status(call, ToolStatus::Pending, out);
    }
    let meta = &params["_meta"];
    let lasting =
        meta["persist"].as_array().is_some_and(|persist| persist.iter().any(|how| how == "session"));
    let message = params["message"].as_str().unwrap_or_default();
    let asking = if form.is_empty() {
        let known = call.as_deref().and_then(|call| items.call(call));
        let tool = known.map_or_else(|| server.to_owned(), |call| call.name.clone());
        Asking::Permission(PermissionAsk {
            call_id: call.clone(),
            title: message.to_owned(),
            reason: params["url"].as_str().or_else(|| meta["tool_description"].as_str()).map(str::to_owned),
            input: meta["tool_params"].clone(),
            always_allows: if lasting { vec![tool.clone()] } else { Vec::new() },
            tool,
            kind: ToolKind::Mcp,
        })
    } else {
        let questions = form.questions(message);
        Asking::Question(QuestionAsk { call_id: call.clone(), questions, plan: None })
    };
    Ok((Kind::Elicitation { call, form, lasting }, asking))
}

impl Kind {
    /// The answer to the request.
    pub(super) fn answer(&self, reply: &Reply) -> Value {
        use PermissionAnswer::{Always, Once};
        match (self, reply) {
            (Self::Approval { .. }, Reply::Permission(Once)) => json!({ "decision": "accept" }),
            (Self::Approval { .. }, Reply::Permission(Always)) => json!({ "decision": "acceptForSession" }),
            // The model is told, and goes on; `cancel` would end the turn.
            (Self::Approval { .. }, _) => json!({ "decision": "decline" }),
            (Self::Rights { rights }, Reply::Permission(Once)) => granted(rights, "turn"),
            (Self::Rights { rights }, Reply::Permission(Always)) => granted(rights, "session"),
            (Self::Rights { .. }, _) => granted(&Value::Null, "turn"),
            (Self::Answers { names, .. }, Reply::Answers(answers)) => {
                let answer = |answers: &Vec<String>| json!({ "answers": answers });
                let answers = names.iter().cloned().zip(answers.iter().map(answer));
                json!({ "answers": answers.collect::<serde_json::Map<_, _>>() })
            }
            (Self::Answers { .. }, _) => json!({ "answers": {} }),
            (Self::Elicitation { form, lasting, .. }, Reply::Permission(answer @ (Once | Always))) => {
                let meta = (*lasting && *answer == Always).then(|| json!({ "persist": "session" }));
                json!({ "action": "accept", "content": form.filled(&[]), "_meta": meta })
            }
            (Self::Elicitation { form, .. }, Reply::Answers(answers)) => {
                json!({ "action": "accept", "content": form.filled(answers), "_meta": null })
            }
            (Self::Elicitation { .. }, _) => json!({ "action": "decline", "content": null, "_meta": null }),
        }
    }

    /// The call that waited goes on, or is done if it was only the question.
    pub(super) fn settled(&self, reply: &Reply, items: &mut Items, out: &mut Out) {
        match self {
            Self::Answers { call, .. } => {
                let status = match reply {
                    Reply::Answers(_) => ToolStatus::Completed,
                    Reply::Permission(_) | Reply::Dismissed => ToolStatus::Cancelled,
                };
                let output = match reply {
                    Reply::Answers(answers) => Some(answers.concat().join("\n")),
                    Reply::Permission(_) | Reply::Dismissed => None,
                };
                items.call_ends(call, status, output, out);
            }
            Self::Approval { call } | Self::Elicitation { call: Some(call), .. } => {
                if matches!(reply, Reply::Permission(PermissionAnswer::Reject) | Reply::Dismissed) {
                    items.refuse(call);
                } else {
                    items.set_status(call, ToolStatus::Running, out);
                }
            }
            Self::Rights { .. } | Self::Elicitation { call: None, .. } => {}
        }
    }

    /// Codex no longer asks.
    pub(super) fn withdrawn(&self, items: &mut Items, out: &mut Out) {
        if let Self::Answers { call, .. } = self {
            items.call_ends(call, ToolStatus::Cancelled, None, out);
        }
    }
}

fn granted(rights: &Value, scope: &str) -> Value {
    let rights = rights.as_object().into_iter().flatten().filter(|(_, right)| !right.is_null());
    let rights: serde_json::Map<_, _> = rights.map(|(name, right)| (name.clone(), right.clone())).collect();
    json!({ "permissions": rights, "scope": scope })
}
