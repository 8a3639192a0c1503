//! What went wrong with an agent, and what can be done about it.

use protocol::{AgentName, sessions::AgentError};

/// What went wrong, and what to do.
pub(in crate::chat) fn describe(error: &AgentError, agent: &AgentName) -> (String, Option<String>) {
    let with = |what: &str, message: &str, todo: String| (format!("{what}: {message}"), Some(todo));
    match error {
        AgentError::TokenError { message } => with(
            "the agent has no key that its model takes",
            message,
            format!(
                "log in with {agent} where the daemon runs; `tombolo credentials extract` shows what there is"
            ),
        ),
        AgentError::ProcessExited { code, signal, stderr } => {
            let how = match (code, signal) {
                (Some(code), _) => format!("with code {code}"),
                (None, Some(signal)) => format!("by signal {signal}"),
                (None, None) => "by itself".into(),
            };
            let last = stderr.trim_end().lines().last().unwrap_or_default();
            with(&format!("the agent ended {how}"), last, "the next message starts it again".into())
        }
        AgentError::InstallFailed { message } => with(
            "the agent could not be installed",
            message,
            format!("`tombolo api agents install {agent}` tries it again and says more"),
        ),
        AgentError::StartFailed { message } => with(
            "the agent could not be started",
            message,
            "`tombolo api agents list` shows which there are".into(),
        ),
        AgentError::Timeout { message } => {
            with("the agent did not answer in time", message, "the next message starts it again".into())
        }
        AgentError::Unsupported { feature, message } => {
            with(&format!("the agent cannot do this ({feature})"), message, "leave that option out".into())
        }
        AgentError::ModelError { status, message } => {
            let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
            let todo = "send the message again; if it stays so, look at the state of the model's maker";
            with(&format!("the model could not be used{status}"), message, todo.into())
        }
        AgentError::ResumeFailed { message } => with(
            "the agent has forgotten the conversation",
            message,
            "it goes on without what was said before".into(),
        ),
        AgentError::StorageError { message } => {
            with("the daemon cannot keep what is said", message, "make room where its data is".into())
        }
        AgentError::ProtocolError { message } | AgentError::Other { message } => (message.clone(), None),
        AgentError::Unknown(said) => (serde_json::to_string(said).unwrap_or_default(), None),
    }
}
