//! Forwards messages from the agent to the editor.

use std::cell::RefCell;

use client::{AcpEventKind, AcpEvents};
use protocol::acp::AcpProcessExit;

use super::{editor_writer::EditorWriter, open_requests::OpenRequests};
use crate::{
    exit::{CommandError, CommandResult, say},
    output::plain,
};

/// How much of an unparsed line is printed.
const UNPARSED_CHARS_MAX: usize = 300;

/// Forwards every message unchanged until the stream ends.
pub(super) async fn forward(
    mut events: AcpEvents,
    writer: &EditorWriter,
    open_requests: &RefCell<OpenRequests>,
) -> CommandResult {
    while let Some(event) = events.next().await? {
        match event.kind {
            AcpEventKind::Message { .. } => {
                open_requests.borrow_mut().remove_answered(event.data.as_bytes());
                writer.line(event.data).await.map_err(|_| CommandError::Closed)?;
            }
            AcpEventKind::Gap => {
                let retained = plain(&event.data);
                return Err(CommandError::Missed(format!(
                    "messages from the agent were lost: while the connection was down or the editor did not read, the \
                     agent sent more than the daemon retains ({retained}); restart the agent in the editor"
                )));
            }
            AcpEventKind::Exited => return Err(agent_exited(&event.data)),
            AcpEventKind::Unparsed => {
                let line: String = event.data.chars().take(UNPARSED_CHARS_MAX).collect();
                say(&plain(&format!("tombolo: the agent wrote a line that is not an ACP message: {line}")));
            }
            // AcpEvents of a newer daemon that this version does not know are not meant for the editor.
            AcpEventKind::Other(_) => {}
        }
    }
    let how = "the instance no longer exists: it was deleted, or the daemon was restarted".into();
    Err(CommandError::AgentEnded { how, last_words: String::new() })
}

fn agent_exited(data: &str) -> CommandError {
    let Ok(exit) = serde_json::from_str::<AcpProcessExit>(data) else {
        return CommandError::AgentEnded { how: "the agent exited".into(), last_words: String::new() };
    };
    let how = match (exit.code, exit.signal) {
        (Some(code), _) => format!("the agent exited with code {code}"),
        (None, Some(signal)) => format!("the agent was killed by signal {signal}"),
        (None, None) => "the agent exited".into(),
    };
    CommandError::AgentEnded { how, last_words: exit.stderr_tail }
}
