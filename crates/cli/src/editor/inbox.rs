//! What the agent says, on its way to the editor.

use std::cell::RefCell;

use client::{EventKind, Events};
use protocol::acp::AcpProcessExit;

use super::{pending::Pending, writer::Writer};
use crate::{
    exit::{Failure, Outcome, say},
    output::plain,
};

/// The most of a line that is no message that is shown.
const UNPARSED_CHARS_MAX: usize = 300;

/// Passes every message on, byte for byte, until there will be none.
pub(super) async fn run(mut events: Events, writer: &Writer, pending: &RefCell<Pending>) -> Outcome {
    while let Some(event) = events.next().await? {
        match event.kind {
            EventKind::Message { .. } => {
                pending.borrow_mut().heard(event.data.as_bytes());
                writer.line(event.data).await.map_err(|_| Failure::Closed)?;
            }
            EventKind::Gap => {
                let kept = plain(&event.data);
                return Err(Failure::Missed(format!(
                    "the agent said more than the daemon keeps while the connection was cut or the editor did not \
                     read, and messages are missing: {kept} is what there is"
                )));
            }
            EventKind::Exited => return Err(ended(&event.data)),
            EventKind::Unparsed => {
                let line: String = event.data.chars().take(UNPARSED_CHARS_MAX).collect();
                say(&plain(&format!("tombolo: the agent wrote a line that is no message: {line}")));
            }
            // What a newer daemon says beside the messages is not for the editor.
            EventKind::Other(_) => {}
        }
    }
    let how = "the instance is gone: it was deleted, or the daemon was started anew".into();
    Err(Failure::AgentEnded { how, last_words: String::new() })
}

fn ended(data: &str) -> Failure {
    let Ok(exit) = serde_json::from_str::<AcpProcessExit>(data) else {
        return Failure::AgentEnded { how: "the agent ended".into(), last_words: String::new() };
    };
    let how = match (exit.code, exit.signal) {
        (Some(code), _) => format!("the agent ended with code {code}"),
        (None, Some(signal)) => format!("the agent was ended by signal {signal}"),
        (None, None) => "the agent ended".into(),
    };
    Failure::AgentEnded { how, last_words: exit.stderr_tail }
}
