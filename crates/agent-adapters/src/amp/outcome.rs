//! How Amp ended: its line of type `result`, which is its last.

use protocol::{event::TurnEndReason, sessions::AgentError};
use serde_json::Value;

use crate::stream_json::text;

/// Why the turn that ran ended, and what went wrong.
pub(super) fn ended(result: &Value) -> (TurnEndReason, Option<AgentError>) {
    if !result.get("is_error").and_then(Value::as_bool).unwrap_or(false) {
        return (TurnEndReason::Completed, None);
    }
    let message = text(result, "error").or_else(|| text(result, "result")).unwrap_or("no reason was given");
    if message.starts_with("User cancelled") {
        return (TurnEndReason::Interrupted, None);
    }
    (TurnEndReason::Failed, Some(error(message)))
}

fn error(message: &str) -> AgentError {
    // Of an answer of the model's server it tells the status and the body.
    let status = message.split_whitespace().next().and_then(|word| word.parse::<u16>().ok());
    let owned = message.to_owned();
    match status.filter(|status| (400..600).contains(status)) {
        Some(401 | 403) => AgentError::TokenError { message: owned },
        Some(status) => AgentError::ModelError { status: Some(status), message: owned },
        None if message.starts_with("Unauthorized") => AgentError::TokenError { message: owned },
        None if message.contains("require user approval") => {
            AgentError::Unsupported { feature: "permissions".into(), message: owned }
        }
        None => AgentError::Other { message: owned },
    }
}
