//! The line of type `result`, which ends a turn of Claude Code.

use std::collections::BTreeMap;

use protocol::{
    event::{TokenUsage, TurnEndReason},
    sessions::AgentError,
};
use serde::Deserialize;
use serde_json::Value;

use super::model_failure::ModelFailure;
use crate::{lenient, stream_json::api_message::ApiUsage};

/// The line of type `result`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TurnResult {
    #[serde(deserialize_with = "lenient::text")]
    subtype: Option<String>,
    is_error: bool,
    stop_reason: Option<String>,
    terminal_reason: String,
    api_error_status: Option<u16>,
    #[serde(deserialize_with = "lenient::text")]
    result: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    errors: Vec<String>,
    #[serde(deserialize_with = "lenient::field")]
    usage: Option<ApiUsage>,
    /// By model, of this turn.
    #[serde(deserialize_with = "lenient::field")]
    model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
    /// By model, since the process started.
    #[serde(rename = "modelUsage", deserialize_with = "lenient::field")]
    model_usage: BTreeMap<String, ModelUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ModelUsage {
    #[serde(rename = "costUSD")]
    cost_usd: Option<f64>,
    #[serde(rename = "contextWindow")]
    context_window: Option<u64>,
}

impl TurnResult {
    pub(super) fn from_value(line: &Value) -> Self {
        lenient::object(line)
    }

    /// Why the turn ended, and the error that ended it. `failure` is the failure that the last message reported.
    pub(super) fn end(&self, failure: Option<ModelFailure>) -> (TurnEndReason, Option<AgentError>) {
        if self.terminal_reason.starts_with("aborted") {
            return (TurnEndReason::Interrupted, None);
        }
        if !self.is_error {
            let reason = match self.stop_reason.as_deref() {
                Some("max_tokens" | "model_context_window_exceeded") => TurnEndReason::MaxTokens,
                Some("refusal") => TurnEndReason::Refused,
                _ => TurnEndReason::Completed,
            };
            return (reason, None);
        }
        match failure {
            Some(failure) if failure.is_output_limit() => (TurnEndReason::MaxTokens, None),
            Some(failure) => (TurnEndReason::Failed, Some(failure.into_agent_error())),
            None => (TurnEndReason::Failed, Some(self.agent_error())),
        }
    }

    /// The error that the result itself reports.
    pub(super) fn agent_error(&self) -> AgentError {
        let message = match (&self.result, &self.subtype) {
            (Some(text), _) => text.clone(),
            (None, Some(subtype)) if self.errors.is_empty() => subtype.clone(),
            (None, None) if self.errors.is_empty() => "no reason was given".into(),
            (None, _) => self.errors.join("\n"),
        };
        match self.api_error_status {
            Some(401 | 403) => AgentError::TokenError { message },
            Some(status) => AgentError::ModelError { status: Some(status), message },
            None if message.contains("No conversation found") => AgentError::ResumeFailed { message },
            None => AgentError::Other { message },
        }
    }

    /// The tokens of the turn, with the size of the conversation after its last message.
    pub(super) fn token_usage(&self, context_tokens: Option<u64>) -> Option<TokenUsage> {
        let usage = self.usage?;
        // `total_cost_usd` covers all turns, and starts at zero again in a new process.
        let models = self.model_usage_since_last_result.as_ref();
        let cost =
            models.map(|models| models.values().filter_map(|model| model.cost_usd).fold(0.0, |a, b| a + b));
        let windows = self.model_usage.values().filter_map(|model| model.context_window);
        Some(TokenUsage { cost_usd: cost, context_tokens, context_window: windows.max(), ..usage.into() })
    }
}
