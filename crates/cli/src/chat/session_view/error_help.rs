//! Explains an agent's error to the user: what happened, and what to do about it.

use protocol::{AgentName, sessions::AgentError};

/// An agent's error in words.
pub(in crate::chat) struct ErrorHelp {
    pub(in crate::chat) problem: String,
    pub(in crate::chat) remedy: Option<String>,
}

impl ErrorHelp {
    pub(in crate::chat) fn new(error: &AgentError, agent: &AgentName) -> Self {
        match error {
            AgentError::TokenError { message } => Self::with_remedy(
                "the model provider rejected the agent's credentials",
                message,
                format!(
                    "log in with {agent} where the daemon runs, or set its API key; `tombolo credentials extract` lists the \
                     credentials it finds"
                ),
            ),
            AgentError::ProcessExited { code, signal, stderr } => {
                let how = match (code, signal) {
                    (Some(code), _) => format!(" with code {code}"),
                    (None, Some(signal)) => format!(" on signal {signal}"),
                    (None, None) => String::new(),
                };
                let last_line = stderr.trim_end().lines().last().unwrap_or_default();
                Self::with_remedy(
                    &format!("the agent exited{how}"),
                    last_line,
                    "send a message to restart it".into(),
                )
            }
            AgentError::InstallFailed { message } => Self::with_remedy(
                "the agent could not be installed",
                message,
                format!("run `tombolo api agents install {agent}` to try again and see the details"),
            ),
            AgentError::StartFailed { message } => Self::with_remedy(
                "the agent could not be started",
                message,
                "run `tombolo api agents list` to see which agents are available".into(),
            ),
            AgentError::Timeout { message } => Self::with_remedy(
                "the agent did not answer in time",
                message,
                "send a message to restart it".into(),
            ),
            AgentError::Unsupported { feature, message } => Self::with_remedy(
                &format!("the agent does not support this ({feature})"),
                message,
                "leave that option out".into(),
            ),
            AgentError::McpUnavailable { server, message } => Self::with_remedy(
                &format!("the agent works without the MCP server `{server}`"),
                message,
                "correct or remove the server, then start a new session".into(),
            ),
            AgentError::SkillUnavailable { skill, message } => Self::with_remedy(
                &format!("the agent works without the skill `{skill}`"),
                message,
                "correct or remove the skill, then start a new session".into(),
            ),
            AgentError::ModelError { status, message } => {
                let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
                Self::with_remedy(
                    &format!("the model request failed{status}"),
                    message,
                    "send the message again; if that fails too, check the status page of the model provider"
                        .into(),
                )
            }
            AgentError::ResumeFailed { message } => Self::with_remedy(
                "the agent could not restore the conversation",
                message,
                "it continues without the earlier messages; repeat what it has to know".into(),
            ),
            AgentError::StorageError { message } => Self::with_remedy(
                "the daemon could not store the session",
                message,
                "free some disk space in the daemon's data directory".into(),
            ),
            AgentError::ProtocolError { message } | AgentError::Other { message } => {
                Self { problem: message.clone(), remedy: None }
            }
            AgentError::Unknown(error) => {
                Self { problem: serde_json::to_string(error).unwrap_or_default(), remedy: None }
            }
        }
    }

    fn with_remedy(problem: &str, message: &str, remedy: String) -> Self {
        Self { problem: format!("{problem}: {message}"), remedy: Some(remedy) }
    }
}
