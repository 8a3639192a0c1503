//! Describes to the owner what a request would do.

use base64::{Engine, prelude::BASE64_STANDARD};
use device::Subject;
use protocol::relay::{
    Encoding, Request, RootId,
    file::{CreateMode, DeleteFile, MakeDirectory, WriteFile},
    method::{FileDelete, FileMkdir, FileWrite, RelayMethod, ShellStart, ToolCall},
    shell::{CommandProgram, StartCommand},
    tool::CallTool,
};
use serde_json::{Value, json};

use super::QuestionField;

/// A request in the words of the owner.
pub(super) struct RequestDescription {
    /// The action in a few words, such as `run a command`.
    pub(super) action: String,
    /// All details. The owner must have been able to read them before they can allow the request.
    pub(super) fields: Vec<QuestionField>,
}

impl RequestDescription {
    pub(super) fn new(question: device::Question<'_>) -> Self {
        let Request { method, params, .. } = question.request;
        let described = match method.as_str() {
            name if name == ShellStart::INFO.name => {
                ShellStart::params(params).map(|start| describe_command(&start, question.subject))
            }
            name if name == ToolCall::INFO.name => ToolCall::params(params).map(describe_tool_call),
            name if name == FileWrite::INFO.name => {
                FileWrite::params(params).map(|file| describe_write(&file))
            }
            name if name == FileMkdir::INFO.name => FileMkdir::params(params).map(|dir| describe_mkdir(&dir)),
            name if name == FileDelete::INFO.name => {
                FileDelete::params(params).map(|file| describe_delete(&file))
            }
            _ => Ok(describe_unknown(question.request)),
        };
        // The provider will reject invalid parameters. Until then they are shown as they are.
        described.unwrap_or_else(|_| describe_unknown(question.request))
    }

    fn from_fields(action: impl Into<String>, fields: Vec<QuestionField>) -> Self {
        Self { action: action.into(), fields }
    }
}

fn describe_command(start: &StartCommand, subject: Option<&Subject>) -> RequestDescription {
    let what = match start.program() {
        Some(CommandProgram::Line(line)) => QuestionField::text("what", line),
        Some(CommandProgram::Argv(..)) | None => QuestionField::line("what", &json!(start.argv).to_string()),
    };
    let line_count = match what.line_count() {
        1 => String::new(),
        lines => format!(" of {lines} lines"),
    };
    let terminal = if start.pty.is_some() { " in a terminal" } else { "" };
    let background = if start.background { " in the background" } else { "" };
    let mut fields = vec![what];
    let at = match subject {
        Some(Subject::Command { at, .. }) => Some(at),
        _ => start.cwd.as_ref(),
    };
    fields.extend(at.map(|at| QuestionField::line("where", at.as_str())));
    fields
        .extend(start.env.iter().map(|(name, value)| QuestionField::line("env", &format!("{name}={value}"))));
    fields.push(QuestionField::line("later", "input to the running command is allowed without asking"));
    RequestDescription::from_fields(format!("run a command{line_count}{terminal}{background}"), fields)
}

fn describe_tool_call(call: CallTool) -> RequestDescription {
    let arguments = Value::Object(call.arguments).to_string();
    RequestDescription::from_fields(
        format!("use the tool {}", call.name),
        vec![QuestionField::line("what", &arguments)],
    )
}

fn describe_write(file: &WriteFile) -> RequestDescription {
    let how = match (file.append, file.create.unwrap_or_default()) {
        (_, CreateMode::New) => "write a new file",
        (false, CreateMode::Always) => "write a file, replacing it if it exists",
        (false, CreateMode::Existing) => "replace an existing file",
        (true, CreateMode::Always) => "append to a file, creating it if it does not exist",
        (true, CreateMode::Existing) => "append to an existing file",
    };
    let condition = if file.if_match.is_some() { ", unless it has changed" } else { "" };
    let (bytes, encoding) = match file.encoding {
        Encoding::Utf8 => (file.content.clone().into_bytes(), "utf-8"),
        // The provider rejects invalid base64.
        Encoding::Base64 => (BASE64_STANDARD.decode(&file.content).unwrap_or_default(), "base64"),
    };
    let size = bytes.len();
    let (content, note) = match String::from_utf8(bytes) {
        Ok(text) => (QuestionField::text("what", &text), ""),
        Err(_) => (QuestionField::text("what", &file.content), ", shown so because it is not text"),
    };
    let fields = vec![
        content,
        location(&file.root_id, file.path.as_str()),
        QuestionField::line("size", &format!("{size} bytes, sent as {encoding}{note}")),
    ];
    RequestDescription::from_fields(format!("{how}{condition}"), fields)
}

fn describe_mkdir(dir: &MakeDirectory) -> RequestDescription {
    let parents = if dir.parents { ", including missing parents" } else { "" };
    RequestDescription::from_fields(
        format!("create a directory{parents}"),
        vec![location(&dir.root_id, dir.path.as_str())],
    )
}

fn describe_delete(file: &DeleteFile) -> RequestDescription {
    let action = if file.recursive {
        "delete a file, or a directory with all its contents"
    } else {
        "delete a file or an empty directory"
    };
    RequestDescription::from_fields(action, vec![location(&file.root_id, file.path.as_str())])
}

fn describe_unknown(request: &Request) -> RequestDescription {
    RequestDescription::from_fields(
        format!("call {}", request.method),
        vec![QuestionField::text("what", request.params.as_str())],
    )
}

fn location(root: &RootId, path: &str) -> QuestionField {
    QuestionField::line("where", &format!("{root}:{path}"))
}
