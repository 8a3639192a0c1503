//! The line of type `result`, which is Amp's last one.

use protocol::{event::TurnEndReason, sessions::AgentError};
use serde::Deserialize;

use crate::lenient;

/// The line of type `result`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RunResult {
    is_error: bool,
    #[serde(deserialize_with = "lenient::text")]
    error: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    result: Option<String>,
}

impl RunResult {
    /// Why the running turn ended, and the error that ended it.
    pub(super) fn end(self) -> (TurnEndReason, Option<AgentError>) {
        if !self.is_error {
            return (TurnEndReason::Completed, None);
        }
        let message = self.error.or(self.result).unwrap_or_else(|| "no reason was given".into());
        if message.starts_with("User cancelled") {
            return (TurnEndReason::Interrupted, None);
        }
        (TurnEndReason::Failed, Some(agent_error(message)))
    }
}

fn agent_error(message: String) -> AgentError {
    // An error of the model's server begins with its HTTP status.
    let status = message.split_whitespace().next().and_then(|word| word.parse::<u16>().ok());
    match status.filter(|status| (400..600).contains(status)) {
        Some(401 | 403) => AgentError::TokenError { message },
        Some(status) => AgentError::ModelError { status: Some(status), message },
        None if message.starts_with("Unauthorized") => AgentError::TokenError { message },
        None if message.contains("require user approval") => {
            AgentError::Unsupported { feature: "permissions".into(), message }
        }
        None => AgentError::Other { message },
    }
}
