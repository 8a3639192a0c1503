//! What a request would do, for its owner.

use base64::{Engine, prelude::BASE64_STANDARD};
use device::Subject;
use protocol::relay::{
    Encoding, Request, RootId,
    file::{CreateMode, DeleteFile, MakeDir, WriteFile},
    method::{FileDelete, FileMkdir, FileWrite, Method, ShellStart, ToolCall},
    shell::{Program, StartCommand},
    tool::CallTool,
};
use serde_json::{Value, json};

use super::Field;

/// How much is shown of what is written into a file: enough to see what it is. How much there is of it is said besides.
const CONTENT_CHARS_MAX: usize = 2000;
const CONTENT_LINES_MAX: usize = 40;

/// What a request would do.
pub(super) struct About {
    /// In a few words.
    pub(super) wants: String,
    /// What must be known of it, whole.
    pub(super) fields: Vec<Field>,
    /// What is written into a file, as far as it is shown.
    pub(super) content: Option<Field>,
}

impl About {
    pub(super) fn of(asked: device::Question<'_>) -> Self {
        let Request { method, params, .. } = asked.request;
        let known = match method.as_str() {
            name if name == ShellStart::ROW.name => {
                ShellStart::params(params).map(|start| command(&start, asked.subject))
            }
            name if name == ToolCall::ROW.name => ToolCall::params(params).map(tool),
            name if name == FileWrite::ROW.name => FileWrite::params(params).map(|file| write(&file)),
            name if name == FileMkdir::ROW.name => FileMkdir::params(params).map(|dir| make(&dir)),
            name if name == FileDelete::ROW.name => FileDelete::params(params).map(|file| delete(&file)),
            _ => Ok(anything(asked.request)),
        };
        // Who would do it refuses what makes no sense; until then it is shown as it is.
        known.unwrap_or_else(|_| anything(asked.request))
    }

    fn new(wants: impl Into<String>, fields: Vec<Field>) -> Self {
        Self { wants: wants.into(), fields, content: None }
    }
}

fn command(start: &StartCommand, subject: Option<&Subject>) -> About {
    let what = match start.program() {
        Some(Program::Line(line)) => Field::text("what", line),
        Some(Program::Argv(..)) | None => Field::line("what", &json!(start.argv).to_string()),
    };
    let many = match what.line_count() {
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
    fields.extend(at.map(|at| Field::line("where", at.as_str())));
    fields.extend(start.env.iter().map(|(name, value)| Field::line("env", &format!("{name}={value}"))));
    fields.push(Field::line("later", "while it runs it may be typed into, which is not asked about"));
    About::new(format!("run a command{many}{terminal}{background}"), fields)
}

fn tool(call: CallTool) -> About {
    let arguments = Value::Object(call.arguments).to_string();
    About::new(format!("use the tool {}", call.name), vec![Field::line("what", &arguments)])
}

fn write(file: &WriteFile) -> About {
    let how = match (file.append, file.create.unwrap_or_default()) {
        (_, CreateMode::New) => "write a new file",
        (false, CreateMode::Always) => "write a file, in place of one that may be there",
        (false, CreateMode::Existing) => "write a file, in place of one that is there",
        (true, CreateMode::Always) => "append to a file that may be there",
        (true, CreateMode::Existing) => "append to a file that is there",
    };
    let unless = if file.if_match.is_some() { ", unless it has changed" } else { "" };
    let (bytes, encoding) = match file.encoding {
        Encoding::Utf8 => (file.content.clone().into_bytes(), "utf-8"),
        // What is none is refused by who would write it.
        Encoding::Base64 => (BASE64_STANDARD.decode(&file.content).unwrap_or_default(), "base64"),
    };
    let size = bytes.len();
    let (content, how_much) = match String::from_utf8(bytes) {
        Ok(text) => {
            let beginning = beginning(&text);
            let is_whole = beginning.len() == text.len();
            (Some(Field::text("what", &beginning)), if is_whole { "" } else { ", shown in part" })
        }
        Err(_) => (None, ", not shown as it is no text"),
    };
    let fields = vec![
        spot(&file.root_id, file.path.as_str()),
        Field::line("size", &format!("{size} bytes, sent as {encoding}{how_much}")),
    ];
    About { content, ..About::new(format!("{how}{unless}"), fields) }
}

fn make(dir: &MakeDir) -> About {
    let above = if dir.parents { ", and those above it" } else { "" };
    About::new(format!("make a directory{above}"), vec![spot(&dir.root_id, dir.path.as_str())])
}

fn delete(file: &DeleteFile) -> About {
    let what = match file.recursive {
        true => "delete a file, or a directory with everything in it",
        false => "delete a file or an empty directory",
    };
    About::new(what, vec![spot(&file.root_id, file.path.as_str())])
}

fn anything(request: &Request) -> About {
    About::new(format!("ask for {}", request.method), vec![Field::text("what", request.params.as_str())])
}

fn spot(root: &RootId, path: &str) -> Field {
    Field::line("where", &format!("{root}:{path}"))
}

/// As much of a text as is shown.
fn beginning(text: &str) -> String {
    let mut lines = text.split_inclusive('\n').take(CONTENT_LINES_MAX).flat_map(str::chars);
    lines.by_ref().take(CONTENT_CHARS_MAX).collect()
}
