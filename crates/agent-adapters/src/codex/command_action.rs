//! Codex's analysis of a shell command.

use protocol::message::ToolKind;
use serde::Deserialize;

/// One step of a shell command, as far as Codex could parse it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CommandAction {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
}

/// The command to show to people: without the shell around it where Codex names the inner command.
pub(super) fn command_text(command: Option<&str>, actions: &[CommandAction]) -> String {
    let inner = match actions {
        [action] => action.command.as_deref(),
        _ => None,
    };
    inner.or(command).unwrap_or_default().to_owned()
}

/// The kind of a command with these steps.
pub(super) fn command_kind(actions: &[CommandAction]) -> ToolKind {
    let all = |kinds: &[&str]| {
        let has_kind =
            |action: &CommandAction| action.kind.as_deref().is_some_and(|kind| kinds.contains(&kind));
        !actions.is_empty() && actions.iter().all(has_kind)
    };
    if all(&["read"]) {
        ToolKind::Read
    } else if all(&["search", "listFiles"]) {
        ToolKind::Search
    } else {
        ToolKind::Execute
    }
}
