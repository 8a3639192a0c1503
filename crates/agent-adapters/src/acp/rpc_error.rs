//! Errors in the agent's JSON-RPC responses.

use protocol::sessions::AgentError;
use serde::Deserialize;
use serde_json::Value;

use crate::{is_token_error, lenient, status_in};

/// The code of an error that demands a login first.
const AUTH_REQUIRED: i64 = -32000;

/// The error in a JSON-RPC response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RpcError {
    code: i64,
    message: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    data: RpcErrorData,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RpcErrorData {
    details: Option<String>,
    message: Option<String>,
}

impl RpcError {
    pub(super) fn from_value(error: &Value) -> Self {
        lenient::object(error)
    }

    /// The message without details.
    pub(super) fn into_message(self) -> String {
        self.message.unwrap_or_else(|| "the agent gave no reason".into())
    }

    /// Classifies the error.
    pub(super) fn into_agent_error(mut self) -> AgentError {
        let (code, details) = (self.code, self.data.details.take().or(self.data.message.take()));
        let mut message = self.into_message();
        if let Some(details) = details {
            message = format!("{message}: {details}");
        }
        // gemini-cli uses the HTTP status of the model's server as code.
        let status = u16::try_from(code).ok().filter(|status| (400..600).contains(status));
        if code == AUTH_REQUIRED || is_token_error(status, &message) {
            return AgentError::TokenError { message };
        }
        match status.or_else(|| status_in(&message)) {
            Some(status) => AgentError::ModelError { status: Some(status), message },
            None => AgentError::Other { message },
        }
    }
}
