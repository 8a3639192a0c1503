//! Items that are calls of tools.

use protocol::message::{MessagePart, PartContent, ToolCall, ToolKind, ToolResult, ToolStatus};
use serde_json::{Value, json};

use super::files;

/// What a tool of an MCP server is called; the model knows it by this name.
pub(super) fn mcp_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// The call that an item is; none if it is something else.
pub(super) fn call(item: &Value) -> Option<ToolCall> {
    let (id, of) = (item["id"].as_str()?, item["type"].as_str()?);
    let word = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let (name, kind, title, input) = match of {
        "commandExecution" => {
            let command = command(item);
            let input = json!({ "command": item["command"], "cwd": item["cwd"] });
            (of.to_owned(), command_kind(&item["commandActions"]), Some(command), input)
        }
        "fileChange" => {
            let changes = &item["changes"];
            (of.to_owned(), files::kind(changes), Some(files::title(changes)), files::input(changes))
        }
        "mcpToolCall" => {
            let name = mcp_name(&word("server"), &word("tool"));
            (name, ToolKind::Mcp, None, item["arguments"].clone())
        }
        "dynamicToolCall" => (word("tool"), ToolKind::Other, None, item["arguments"].clone()),
        "collabAgentToolCall" => {
            let input = json!({ "prompt": item["prompt"], "model": item["model"] });
            (word("tool"), ToolKind::Agent, item["prompt"].as_str().map(str::to_owned), input)
        }
        "subAgentActivity" => {
            let input = json!({ "kind": item["kind"], "agent": item["agentPath"] });
            (of.to_owned(), ToolKind::Agent, Some(format!("{} {}", word("kind"), word("agentPath"))), input)
        }
        "webSearch" => {
            let input = json!({ "query": item["query"], "action": item["action"] });
            (of.to_owned(), ToolKind::Search, Some(word("query")), input)
        }
        "imageView" => (of.to_owned(), ToolKind::Read, Some(word("path")), json!({ "path": item["path"] })),
        "imageGeneration" => {
            let input = json!({ "prompt": item["revisedPrompt"] });
            (of.to_owned(), ToolKind::Other, item["revisedPrompt"].as_str().map(str::to_owned), input)
        }
        "sleep" => (of.to_owned(), ToolKind::Other, None, json!({ "durationMs": item["durationMs"] })),
        _ => return None,
    };
    let status = ToolStatus::Running;
    Some(ToolCall { call_id: id.to_owned(), name, kind, title, input, status })
}

/// What came of a call that is complete; no result if there was none because it was not allowed.
pub(super) fn outcome(item: &Value) -> (ToolStatus, Option<ToolResult>) {
    let status = match item["status"].as_str() {
        Some("failed") => ToolStatus::Failed,
        Some("declined" | "interrupted") => ToolStatus::Cancelled,
        // Others have no status, and are done when they are complete.
        _ => ToolStatus::Completed,
    };
    if status == ToolStatus::Cancelled {
        return (status, None);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let output = match item["type"].as_str().unwrap_or_default() {
        "commandExecution" => text(&item["aggregatedOutput"]),
        "mcpToolCall" if !item["error"].is_null() => text(&item["error"]["message"]),
        "mcpToolCall" => joined(&item["result"]["content"]),
        "dynamicToolCall" => joined(&item["contentItems"]),
        "collabAgentToolCall" => agents(&item["agentsStates"]),
        "webSearch" if !item["results"].is_null() => item["results"].to_string(),
        "imageGeneration" => text(&item["savedPath"]),
        _ => String::new(),
    };
    let result = ToolResult {
        call_id: item["id"].as_str().unwrap_or_default().to_owned(),
        output,
        diffs: files::diffs(&item["changes"]),
        exit_code: item["exitCode"].as_i64().and_then(|code| code.try_into().ok()),
        is_error: status == ToolStatus::Failed || item["success"] == false,
    };
    (status, Some(result))
}

/// The pictures that a call gave.
pub(super) fn pictures(item: &Value) -> Vec<MessagePart> {
    let id = item["id"].as_str().unwrap_or_default();
    let given = item["result"]["content"].as_array().into_iter().flatten();
    let given = given.filter(|content| content["type"] == "image");
    let picture = |(at, content): (usize, &Value)| MessagePart {
        id: format!("{id}:image{at}"),
        content: PartContent::Image {
            mime_type: content["mimeType"].as_str().unwrap_or("image/png").to_owned(),
            data: content["data"].as_str().map(str::to_owned),
            uri: None,
        },
    };
    let mut pictures: Vec<_> = given.enumerate().map(picture).collect();
    if let Some(data) = item["result"].as_str().filter(|_| item["type"] == "imageGeneration") {
        let content =
            PartContent::Image { mime_type: "image/png".into(), data: Some(data.to_owned()), uri: None };
        pictures.push(MessagePart { id: format!("{id}:image0"), content });
    }
    pictures
}

/// The texts of a list of content. What is neither text nor a picture is given as it came.
pub(super) fn joined(content: &Value) -> String {
    let word = |content: &Value| match (content["text"].as_str(), content["type"].as_str()) {
        (Some(text), _) => Some(text.to_owned()),
        (None, Some("image")) => None,
        (None, _) => Some(content.to_string()),
    };
    let words: Vec<_> = content.as_array().into_iter().flatten().filter_map(word).collect();
    words.join("\n")
}

/// The command that an item or a request is about, without the shell around it where Codex says so.
pub(super) fn command(of: &Value) -> String {
    let inner = match of["commandActions"].as_array().map(Vec::as_slice) {
        Some([action]) => action["command"].as_str(),
        _ => None,
    };
    inner.or_else(|| of["command"].as_str()).unwrap_or_default().to_owned()
}

/// What a command does, as far as Codex could tell.
pub(super) fn command_kind(actions: &Value) -> ToolKind {
    let actions = actions.as_array().map(Vec::as_slice).unwrap_or_default();
    let all = |kinds: &[&str]| {
        let fits = |action: &Value| action["type"].as_str().is_some_and(|kind| kinds.contains(&kind));
        !actions.is_empty() && actions.iter().all(fits)
    };
    if all(&["read"]) {
        ToolKind::Read
    } else if all(&["search", "listFiles"]) {
        ToolKind::Search
    } else {
        ToolKind::Execute
    }
}

/// What agents of the agent say of themselves.
fn agents(states: &Value) -> String {
    let states = states.as_object().into_iter().flatten();
    let state = |(_, state): (&String, &Value)| {
        let status = state["status"].as_str().unwrap_or_default().to_owned();
        state["message"].as_str().map_or(status.clone(), |message| format!("{status}: {message}"))
    };
    states.map(state).collect::<Vec<_>>().join("\n")
}
