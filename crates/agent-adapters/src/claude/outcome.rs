//! How a turn of Claude Code ended: its line of type `result`.

use protocol::{
    event::{TokenUsage, TurnEndReason},
    sessions::AgentError,
};
use serde_json::Value;

use crate::stream_json::{list, text, usage};

/// Why the model could not be used, as the last message of a turn says.
#[derive(Debug)]
pub(super) struct Failure {
    kind: String,
    status: Option<u16>,
    message: String,
}

impl Failure {
    /// Reads a line of type `assistant` in which not the model speaks but the program, of an error; none if it is no such.
    pub(super) fn read(line: &Value) -> Option<Self> {
        let kind = text(line, "error")?.to_owned();
        let content = list(line.get("message")?, "content");
        let message = content.iter().filter_map(|block| text(block, "text")).collect::<Vec<_>>().join("\n");
        Some(Self { kind, status: status(line), message })
    }

    fn error(self) -> AgentError {
        let Self { kind, status, message } = self;
        let token =
            matches!(kind.as_str(), "authentication_failed" | "billing_error" | "oauth_org_not_allowed");
        if token || matches!(status, Some(401 | 403)) {
            AgentError::TokenError { message }
        } else {
            AgentError::ModelError { status, message }
        }
    }
}

/// Why a turn ended, and what went wrong.
pub(super) fn ended(result: &Value, failure: Option<Failure>) -> (TurnEndReason, Option<AgentError>) {
    let terminal = text(result, "terminal_reason").unwrap_or_default();
    if terminal.starts_with("aborted") {
        return (TurnEndReason::Interrupted, None);
    }
    if !result.get("is_error").and_then(Value::as_bool).unwrap_or(false) {
        let reason = match text(result, "stop_reason") {
            Some("max_tokens" | "model_context_window_exceeded") => TurnEndReason::MaxTokens,
            Some("refusal") => TurnEndReason::Refused,
            _ => TurnEndReason::Completed,
        };
        return (reason, None);
    }
    match failure {
        Some(failure) if failure.kind == "max_output_tokens" => (TurnEndReason::MaxTokens, None),
        Some(failure) => (TurnEndReason::Failed, Some(failure.error())),
        None => (TurnEndReason::Failed, Some(said(result))),
    }
}

/// What a result says went wrong.
pub(super) fn said(result: &Value) -> AgentError {
    let errors: Vec<_> = list(result, "errors").iter().filter_map(Value::as_str).collect();
    let message = match text(result, "result") {
        Some(text) => text.to_owned(),
        None if errors.is_empty() => text(result, "subtype").unwrap_or("no reason was given").to_owned(),
        None => errors.join("\n"),
    };
    match status(result) {
        Some(401 | 403) => AgentError::TokenError { message },
        Some(status) => AgentError::ModelError { status: Some(status), message },
        None if message.contains("No conversation found") => AgentError::ResumeFailed { message },
        None => AgentError::Other { message },
    }
}

fn status(said: &Value) -> Option<u16> {
    said.get("api_error_status")?.as_u64()?.try_into().ok()
}

/// What a turn took. `context` is what the conversation held at last, as far as that is known.
pub(super) fn took(result: &Value, context: Option<u64>) -> Option<TokenUsage> {
    let models =
        |key: &str| result.get(key).and_then(Value::as_object).into_iter().flat_map(|models| models.values());
    // `total_cost_usd` is that of all turns, and starts again with a new process.
    let costs = models("model_usage_since_last_result").filter_map(|model| model.get("costUSD")?.as_f64());
    let windows = models("modelUsage").filter_map(|model| model.get("contextWindow")?.as_u64());
    Some(TokenUsage {
        cost_usd: result
            .get("model_usage_since_last_result")
            .map(|_| costs.fold(0.0, |sum, cost| sum + cost)),
        context_tokens: context,
        context_window: windows.max(),
        ..usage(result.get("usage")?)
    })
}
