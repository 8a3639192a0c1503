//! What goes wrong, in OpenCode's words and in ours.

use protocol::sessions::AgentError;
use serde_json::Value;

/// How an error ends a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// Somebody interrupted it.
    Aborted,
    /// The model reached its limit of tokens.
    Length,
    /// The model refused.
    Filtered,
    /// Something went wrong.
    Error(AgentError),
}

/// Reads `{name, data: {message, statusCode}}`.
pub(super) fn read(error: &Value) -> Fault {
    let data = &error["data"];
    let name = error["name"].as_str().unwrap_or("an error without a name");
    let message = data["message"].as_str().filter(|message| !message.is_empty()).unwrap_or(name).to_owned();
    let status = data["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok());
    Fault::Error(match (name, status) {
        ("MessageAbortedError", _) => return Fault::Aborted,
        ("MessageOutputLengthError", _) => return Fault::Length,
        ("ContentFilterError", _) => return Fault::Filtered,
        ("ProviderAuthError", _) | (_, Some(401 | 403)) => AgentError::TokenError { message },
        ("APIError" | "ContextOverflowError", _) => AgentError::ModelError { status, message },
        // These have no name of their own.
        _ if message.contains("API key") => AgentError::TokenError { message },
        _ if message.contains("Model not found") => AgentError::ModelError { status: None, message },
        _ => AgentError::Other { message },
    })
}

/// What the server answered in place of what it was asked for.
pub(super) fn answer(status: u16, body: &[u8]) -> String {
    if status == 0 {
        return "the server did not answer".into();
    }
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = said["data"]["message"].as_str().or(said["message"].as_str()).or(said["name"].as_str());
    match message {
        Some(message) => format!("{message} (status {status})"),
        None => format!("the server answered with status {status}"),
    }
}

/// Whether an error comes with the place in the server's code where it arose.
pub(super) fn is_trace(error: &Value) -> bool {
    error["data"]["message"].as_str().is_some_and(|message| message.contains("\n    at "))
}
