//! A failed request to the model.

use protocol::sessions::AgentError;

/// A failed request to the model, which Claude Code reports as the last message of a turn.
#[derive(Debug)]
pub(super) struct ModelFailure {
    /// Claude Code's name of the error.
    pub(super) kind: String,
    /// The HTTP status of the model's server.
    pub(super) status: Option<u16>,
    pub(super) message: String,
}

impl ModelFailure {
    /// Whether the model's message was too long.
    pub(super) fn is_output_limit(&self) -> bool {
        self.kind == "max_output_tokens"
    }

    /// Classifies the failure.
    pub(super) fn into_agent_error(self) -> AgentError {
        let Self { kind, status, message } = self;
        let is_token_error =
            matches!(kind.as_str(), "authentication_failed" | "billing_error" | "oauth_org_not_allowed");
        if is_token_error || matches!(status, Some(401 | 403)) {
            AgentError::TokenError { message }
        } else {
            AgentError::ModelError { status, message }
        }
    }
}
