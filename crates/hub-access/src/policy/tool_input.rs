//! The input of a tool call without the contents of files that it would write.
//!
//! Every tool names its parameters itself, so the members that are shown are listed, and all others are hidden: a tool
//! that calls the new text `body` hides it like one that calls it `content`.

use protocol::message::ToolKind;
use serde_json::Value;

use super::paths::MASK;

/// Members that name a file or a directory.
const PATHS: [&str; 14] = [
    "destination",
    "directory",
    "dst",
    "file",
    "filePath",
    "file_path",
    "filename",
    "newPath",
    "new_path",
    "notebook_path",
    "oldPath",
    "old_path",
    "path",
    "src",
];

/// Other members that say what is done where and how, and never hold what is written.
const TERMS: [&str; 30] = [
    "call_id",
    "command",
    "command_id",
    "create",
    "create_parents",
    "cwd",
    "description",
    "encoding",
    "end_line",
    "from",
    "glob",
    "limit",
    "line",
    "mode",
    "name",
    "offset",
    "overwrite",
    "pattern",
    "query",
    "recursive",
    "replaceAll",
    "replace_all",
    "root",
    "root_id",
    "sha256",
    "start_line",
    "timeout_ms",
    "to",
    "url",
    "workdir",
];

/// Members of a command's input that hold contents rather than the command.
const COMMAND_CONTENTS: [&str; 6] = ["content", "data", "env", "input", "patch", "stdin"];

/// Hides the contents in the input of a tool call.
pub(super) fn hide_contents(kind: ToolKind, input: &mut Value) {
    match kind {
        // These do not write files, or cannot be shown at all without what they are called with.
        ToolKind::Read
        | ToolKind::Search
        | ToolKind::Think
        | ToolKind::Fetch
        | ToolKind::Ask
        | ToolKind::SwitchMode
        | ToolKind::Agent => {}
        ToolKind::Execute => keep_members(input, &|name| !COMMAND_CONTENTS.contains(&name)),
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Mcp | ToolKind::Other => {
            keep_members(input, &|name| PATHS.contains(&name) || TERMS.contains(&name));
        }
    }
}

/// Hides every path that the input names by itself. A path relative to a root matches no rule as it is written, so it
/// is hidden where the title shows that the whole path is hidden.
pub(super) fn hide_path_members(input: &mut Value) {
    match input {
        Value::Object(members) => {
            for (name, member) in members {
                if PATHS.contains(&name.as_str()) && member.is_string() {
                    *member = MASK.into();
                } else {
                    hide_path_members(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_path_members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Empties the members of an object that are not shown; they stay where they were.
fn keep_members(input: &mut Value, is_shown: &dyn Fn(&str) -> bool) {
    let Value::Object(members) = input else {
        // A patch may be the whole input.
        *input = Value::Null;
        return;
    };
    for (name, member) in members {
        match member {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(_) if is_shown(name) => {}
            Value::Array(words) if is_shown(name) && words.iter().all(Value::is_string) => {}
            _ => *member = Value::Null,
        }
    }
}
