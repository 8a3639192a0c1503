//! What the tools are, for people.

use protocol::message::ToolKind;
use serde_json::Value;

use super::text;

/// How long a title may be; the input has the rest.
const TITLE_CHARS_MAX: usize = 200;

/// What kind of tool has this name.
pub(crate) fn kind(name: &str) -> ToolKind {
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

/// What a call does: its command, its file, …; none if the input does not tell.
pub(crate) fn title(input: &Value) -> Option<String> {
    // In the order in which they tell most of what is about to happen.
    const TELLING: [&str; 13] = [
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
    TELLING.iter().find_map(|key| text(input, key)).map(|title| title.chars().take(TITLE_CHARS_MAX).collect())
}
