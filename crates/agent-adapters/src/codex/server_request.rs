//! Requests of the app server: approvals, questions and elicitations.

use serde::Deserialize;
use serde_json::Value;

use super::command_action::CommandAction;
use crate::lenient;

/// A request of the app server about one of its threads.
#[derive(Debug)]
pub(super) struct CodexServerRequest {
    pub(super) thread_id: String,
    pub(super) body: CodexServerRequestBody,
}

/// The part of a request that depends on its method.
#[derive(Debug)]
pub(super) enum CodexServerRequestBody {
    CommandApproval { item_id: String, params: CommandApprovalParams },
    FileChangeApproval { item_id: String, params: FileChangeApprovalParams },
    PermissionsApproval { item_id: String, params: PermissionsApprovalParams },
    UserInput { item_id: String, params: UserInputParams },
    Elicitation(ElicitationRequestParams),
}

impl CodexServerRequest {
    /// Parses a request. The error describes why it cannot be answered; a field of an unexpected type counts as missing.
    pub(super) fn parse(method: &str, params: &Value) -> Result<Self, String> {
        let RequestScope { thread_id, item_id } = lenient::object(params);
        let thread_id = thread_id.ok_or("a request without a thread id")?;
        let item_id = item_id.ok_or("a request without an item id");
        let body = match method {
            "item/commandExecution/requestApproval" => {
                CodexServerRequestBody::CommandApproval { item_id: item_id?, params: lenient::object(params) }
            }
            "item/fileChange/requestApproval" => CodexServerRequestBody::FileChangeApproval {
                item_id: item_id?,
                params: lenient::object(params),
            },
            "item/permissions/requestApproval" => CodexServerRequestBody::PermissionsApproval {
                item_id: item_id?,
                params: lenient::object(params),
            },
            "item/tool/requestUserInput" => {
                CodexServerRequestBody::UserInput { item_id: item_id?, params: lenient::object(params) }
            }
            "mcpServer/elicitation/request" => CodexServerRequestBody::Elicitation(lenient::object(params)),
            _ => return Err(format!("unknown method `{method}`")),
        };
        Ok(Self { thread_id, body })
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RequestScope {
    thread_id: Option<String>,
    item_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CommandApprovalParams {
    pub(super) command: Option<String>,
    pub(super) cwd: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) command_actions: Vec<CommandAction>,
    pub(super) reason: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) network_approval_context: NetworkApprovalContext,
}

/// The host that a command wants to reach, if the approval is about that.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NetworkApprovalContext {
    pub(super) host: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FileChangeApprovalParams {
    pub(super) reason: Option<String>,
    /// The directory below which all changes are allowed with an approval for the session.
    pub(super) grant_root: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PermissionsApprovalParams {
    /// The rights as Codex sent them; the response repeats those that are granted.
    pub(super) permissions: Value,
    pub(super) cwd: Option<String>,
    pub(super) reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct UserInputParams {
    /// The questions as Codex sent them, which clients see as the input of the call.
    pub(super) questions: Value,
}

impl UserInputParams {
    pub(super) fn questions(&self) -> impl Iterator<Item = CodexQuestion> {
        self.questions.as_array().into_iter().flatten().map(lenient::object)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CodexQuestion {
    pub(super) id: Option<String>,
    pub(super) header: Option<String>,
    pub(super) question: Option<String>,
    /// Whether a text besides the options is an answer too.
    pub(super) is_other: Option<bool>,
    /// A [`CodexQuestionOption`] for each option.
    #[serde(deserialize_with = "lenient::list")]
    options: Vec<Value>,
}

impl CodexQuestion {
    pub(super) fn options(&self) -> impl Iterator<Item = CodexQuestionOption> {
        self.options.iter().map(lenient::object)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexQuestionOption {
    pub(super) label: Option<String>,
    pub(super) description: Option<String>,
}

/// An elicitation of an MCP server. [`Form`](crate::form::Form) parses its form.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ElicitationRequestParams {
    pub(super) server_name: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) message: Option<String>,
    pub(super) url: Option<String>,
    #[serde(rename = "_meta", deserialize_with = "lenient::field")]
    pub(super) meta: ElicitationMeta,
}

/// Codex's additions to the elicitation with which it asks for the approval of a tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ElicitationMeta {
    /// The scopes for which an approval can be stored.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) persist: Vec<String>,
    pub(super) tool_description: Option<String>,
    pub(super) tool_params: Value,
}
