//! Requests of the app server as universal permissions and questions.

use protocol::{
    message::{ToolCall, ToolKind, ToolStatus},
    wait::{QuestionItem, QuestionOption},
};
use serde_json::json;

use super::{
    command_action::{command_kind, command_text},
    file_changes::FileChanges,
    item_messages::ItemMessages,
    open_requests::ExpectedAnswer,
    server_request::{
        CodexQuestion, CodexQuestionOption, CodexServerRequest, CodexServerRequestBody,
        CommandApprovalParams, ElicitationRequestParams, FileChangeApprovalParams, PermissionsApprovalParams,
        UserInputParams,
    },
};
use crate::{Asking, Out, PermissionAsk, QuestionAsk, form::Form};

/// Converts a request and updates the call that waits for it. The error describes why the request cannot be answered.
/// `line` is the request as Codex sent it: the order of a form's fields counts.
pub(super) fn convert(
    request: CodexServerRequest,
    line: &[u8],
    items: &mut ItemMessages,
    out: &mut Out,
) -> Result<(ExpectedAnswer, Asking), String> {
    match request.body {
        CodexServerRequestBody::CommandApproval { item_id: call, params } => {
            items.set_status(&call, ToolStatus::Pending, out);
            let asking = Asking::Permission(command_permission(&call, params));
            Ok((ExpectedAnswer::Approval { call }, asking))
        }
        CodexServerRequestBody::FileChangeApproval { item_id: call, params } => {
            items.set_status(&call, ToolStatus::Pending, out);
            let asking = Asking::Permission(file_change_permission(&call, params, items));
            Ok((ExpectedAnswer::Approval { call }, asking))
        }
        CodexServerRequestBody::PermissionsApproval { item_id, params } => {
            let PermissionsApprovalParams { permissions: rights, cwd, reason } = params;
            let permission = PermissionAsk {
                // Codex does not send the item in most cases.
                call_id: Some(item_id).filter(|call| items.call(call).is_some()),
                tool: "permissions".into(),
                kind: ToolKind::Other,
                title: rights.to_string(),
                reason,
                input: json!({ "permissions": rights, "cwd": cwd }),
                always_allows: vec![rights.to_string()],
            };
            Ok((ExpectedAnswer::Rights { rights }, Asking::Permission(permission)))
        }
        CodexServerRequestBody::UserInput { item_id: call, params } => {
            let (question_ids, questions): (_, Vec<_>) = params.questions().map(question).unzip();
            items.begin_call(&request.thread_id, question_call(&call, &params, &questions), out);
            let question = QuestionAsk { call_id: Some(call.clone()), questions, plan: None };
            Ok((ExpectedAnswer::Answers { call, question_ids }, Asking::Question(question)))
        }
        CodexServerRequestBody::Elicitation(params) => elicitation(params, line, items, out),
    }
}

fn command_permission(call: &str, params: CommandApprovalParams) -> PermissionAsk {
    let command = command_text(params.command.as_deref(), &params.command_actions);
    let host = params.network_approval_context.host;
    PermissionAsk {
        call_id: Some(call.to_owned()),
        tool: "commandExecution".into(),
        kind: if host.is_some() { ToolKind::Fetch } else { command_kind(&params.command_actions) },
        title: host.clone().unwrap_or_else(|| command.clone()),
        reason: params.reason,
        input: json!({ "command": params.command, "cwd": params.cwd }),
        always_allows: vec![host.unwrap_or(command)],
    }
}

fn file_change_permission(
    call: &str,
    params: FileChangeApprovalParams,
    items: &ItemMessages,
) -> PermissionAsk {
    let input = items.call(call).map(|call| call.input.clone()).unwrap_or_default();
    let changes = FileChanges::from_input(&input);
    let paths = || changes.paths().into_iter().map(str::to_owned).collect();
    PermissionAsk {
        call_id: Some(call.to_owned()),
        tool: "fileChange".into(),
        kind: changes.kind(),
        title: changes.title(),
        reason: params.reason,
        always_allows: params.grant_root.map_or_else(paths, |root| vec![root]),
        input,
    }
}

/// A question with its id.
fn question(question: CodexQuestion) -> (String, QuestionItem) {
    let option = |option: CodexQuestionOption| {
        Some(QuestionOption { label: option.label?, description: option.description })
    };
    let options: Vec<_> = question.options().filter_map(option).collect();
    let item = QuestionItem {
        question: question.question.unwrap_or_default(),
        header: question.header,
        allows_custom: question.is_other == Some(true) || options.is_empty(),
        options,
        ..QuestionItem::default()
    };
    (question.id.unwrap_or_default(), item)
}

/// The call that asks the questions. Codex sends no item for it.
fn question_call(call: &str, params: &UserInputParams, questions: &[QuestionItem]) -> ToolCall {
    ToolCall {
        call_id: call.to_owned(),
        name: "request_user_input".into(),
        kind: ToolKind::Ask,
        title: questions.first().map(|item| item.question.clone()),
        input: json!({ "questions": params.questions }),
        status: ToolStatus::Pending,
    }
}

fn elicitation(
    params: ElicitationRequestParams,
    line: &[u8],
    items: &mut ItemMessages,
    out: &mut Out,
) -> Result<(ExpectedAnswer, Asking), String> {
    let form = match params.mode.as_deref() {
        Some("form" | "openai/form" | "openaiForm") => Form::from_request(line),
        // The MCP server only wants to continue.
        Some("url") => Form::empty(),
        mode => return Err(format!("unknown elicitation mode `{}`", mode.unwrap_or_default())),
    };
    let server = params.server_name.unwrap_or_default();
    let call = items.only_call_of(&server);
    if let Some(call) = &call {
        items.set_status(call, ToolStatus::Pending, out);
    }
    let can_persist = params.meta.persist.iter().any(|scope| scope == "session");
    let message = params.message.unwrap_or_default();
    let asking = if form.is_empty() {
        let known = call.as_deref().and_then(|call| items.call(call));
        let tool = known.map_or(server, |call| call.name.clone());
        Asking::Permission(PermissionAsk {
            call_id: call.clone(),
            title: message,
            reason: params.url.or(params.meta.tool_description),
            input: params.meta.tool_params,
            always_allows: if can_persist { vec![tool.clone()] } else { Vec::new() },
            tool,
            kind: ToolKind::Mcp,
        })
    } else {
        let questions = form.questions(&message);
        Asking::Question(QuestionAsk { call_id: call.clone(), questions, plan: None })
    };
    Ok((ExpectedAnswer::Elicitation { call, form, can_persist }, asking))
}
