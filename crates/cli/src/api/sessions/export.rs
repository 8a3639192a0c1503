//! Prints a whole session with its times, for people or for programs.

use client::Client;
use protocol::{
    Message, SessionId,
    message::{MessageRole, PartContent, ToolCall, ToolResult},
    sessions::Session,
};

use super::view;
use crate::{chat::escape_controls, exit::CommandResult, output::CommandOutput};

/// The form of an exported session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExportFormat {
    Markdown,
    JsonLines,
}

/// Prints all messages of the session.
pub(super) async fn export(
    client: &Client,
    id: &SessionId,
    format: ExportFormat,
    output: CommandOutput,
) -> CommandResult {
    let mut page = client.sessions().messages(id, None, None).await?.read()?;
    let session = client.sessions().get(id).await?.read()?;
    if format == ExportFormat::Markdown {
        output.line(&escape_controls(&heading(&session)))?;
    }
    loop {
        for message in &page.items {
            match format {
                ExportFormat::Markdown => output.line(&escape_controls(&markdown(&session, message)))?,
                ExportFormat::JsonLines => {
                    output.line(&serde_json::to_string(message).unwrap_or_default())?;
                }
            }
        }
        let Some(cursor) = page.next_cursor else { return Ok(()) };
        page = client.sessions().messages(id, Some(&cursor), None).await?.read()?;
    }
}

fn heading(session: &Session) -> String {
    let Session { id, agent, directory, created_at, title, .. } = session;
    let title = title.as_deref().unwrap_or(id.as_str());
    format!("# {title}\n\nSession `{id}` with {agent} in `{directory}`, created {created_at:.0}.")
}

fn markdown(session: &Session, message: &Message) -> String {
    let speaker = match (&message.author, message.role) {
        (Some(author), _) => author.as_str(),
        (None, MessageRole::Assistant) => session.agent.as_str(),
        (None, _) => "system",
    };
    let parts = message.parts.iter().map(|part| match &part.content {
        PartContent::Text { text } => text.trim_end().to_owned(),
        PartContent::Reasoning { text } => quoted(text),
        PartContent::ToolCall(call) => tool_call(call),
        PartContent::ToolResult(result) => tool_result(result),
        other => view::content(other),
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    let time = message.created_at.map(|time| format!(", {time:.0}")).unwrap_or_default();
    format!("\n## {speaker}{time}\n\n{}", parts.join("\n\n"))
}

fn quoted(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

fn tool_call(call: &ToolCall) -> String {
    let title = call.title.as_deref().filter(|title| *title != call.name);
    format!("**{}**{}", call.name, title.map(|title| format!(": {title}")).unwrap_or_default())
}

fn tool_result(result: &ToolResult) -> String {
    let output = Some(result.output.trim_end()).filter(|output| !output.is_empty());
    let changed = result.diffs.iter().map(|diff| match &diff.unified {
        Some(unified) => format!("changed `{}`\n\n{}", diff.path, fenced("diff", unified)),
        None => format!("changed `{}`", diff.path),
    });
    output.map(|output| fenced("", output)).into_iter().chain(changed).collect::<Vec<_>>().join("\n\n")
}

/// A code block whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_code_block() {
        assert_eq!(fenced("", "a\n"), "```\na\n```");
        assert_eq!(fenced("diff", "```\n"), "````diff\n```\n````");
    }
}
