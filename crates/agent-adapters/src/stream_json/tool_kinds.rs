//! Kinds and titles of tool calls, as clients show them.

use protocol::message::ToolKind;
use serde_json::Value;

/// The longest title. Clients get the whole text as part of the input.
const TITLE_CHARS_MAX: usize = 200;

/// The kind of the tool `name`.
pub(crate) fn tool_kind(name: &str) -> ToolKind {
    match name {
        "Read" | "NotebookRead" | "look_at" | "read_thread" | "read_mcp_resource" => ToolKind::Read,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" | "create_file" | "edit_file" | "undo_edit" => {
            ToolKind::Edit
        }
        "Glob" | "Grep" | "LS" | "ToolSearch" | "finder" | "glob" | "find_thread" | "librarian" => {
            ToolKind::Search
        }
        "Bash" | "BashOutput" | "PowerShell" | "KillShell" | "Monitor" => ToolKind::Execute,
        "WebFetch" | "WebSearch" | "web_search" | "read_web_page" => ToolKind::Fetch,
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" | "todo_write" | "oracle" => {
            ToolKind::Think
        }
        "AskUserQuestion" => ToolKind::Ask,
        "EnterPlanMode" | "ExitPlanMode" => ToolKind::SwitchMode,
        "Agent" | "Task" => ToolKind::Agent,
        _ if name.starts_with("mcp__") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// The title of a call with these arguments: its command, its file, …
pub(crate) fn call_title(input: &Value) -> Option<String> {
    // The arguments that describe a call, the most specific first.
    const DESCRIPTIVE: [&str; 13] = [
        "command",
        "cmd",
        "file_path",
        "path",
        "notebook_path",
        "url",
        "pattern",
        "query",
        "skill",
        "subject",
        "description",
        "prompt",
        "objective",
    ];
    let text = |name: &&str| input.get(*name)?.as_str().filter(|text| !text.is_empty());
    DESCRIPTIVE.iter().find_map(text).map(|title| title.chars().take(TITLE_CHARS_MAX).collect())
}
