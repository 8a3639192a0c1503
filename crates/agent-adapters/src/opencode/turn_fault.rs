//! Errors of the server as ends of a turn.

use protocol::sessions::AgentError;
use serde_json::Value;

use super::wire_session::OpencodeError;
use crate::lenient;

/// The error that ends a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TurnFault {
    /// A person interrupted it.
    Aborted,
    /// The model reached its limit of tokens.
    Length,
    /// The model refused.
    Filtered,
    Error(AgentError),
}

impl From<&OpencodeError> for TurnFault {
    fn from(error: &OpencodeError) -> Self {
        let name = error.name.as_deref().unwrap_or("an error without a name");
        let message = error.data.message.as_deref().filter(|message| !message.is_empty());
        let message = message.unwrap_or(name).to_owned();
        let status = error.data.status_code;
        Self::Error(match (name, status) {
            ("MessageAbortedError", _) => return Self::Aborted,
            ("MessageOutputLengthError", _) => return Self::Length,
            ("ContentFilterError", _) => return Self::Filtered,
            ("ProviderAuthError", _) | (_, Some(401 | 403)) => AgentError::TokenError { message },
            ("APIError" | "ContextOverflowError", _) => AgentError::ModelError { status, message },
            // The server has no name for these.
            _ if message.contains("API key") => AgentError::TokenError { message },
            _ if message.contains("Model not found") => AgentError::ModelError { status: None, message },
            _ => AgentError::Other { message },
        })
    }
}

/// A description of a failed request, with the reason in the body of its answer.
pub(super) fn failed_request(status: u16, body: &[u8]) -> String {
    if status == 0 {
        return "the server did not answer".into();
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let error: OpencodeError = lenient::object(&body);
    match error.data.message.or(error.message).or(error.name) {
        Some(message) => format!("{message} (status {status})"),
        None => format!("the server answered with status {status}"),
    }
}

/// Whether the message of an error contains a stack trace.
pub(super) fn has_stack_trace(error: &OpencodeError) -> bool {
    error.data.message.as_deref().is_some_and(|message| message.contains("\n    at "))
}
