//! Errors of a turn.

use std::collections::BTreeMap;

use protocol::{event::TurnEndReason, sessions::AgentError};
use serde::Deserialize;
use serde_json::Value;

use crate::lenient;

/// An error as `error` and `turn/completed` send it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CodexTurnError {
    pub(super) message: Option<String>,
    pub(super) additional_details: Option<String>,
    codex_error_info: Option<CodexErrorInfo>,
}

/// The kind of an error: a word, or an object with the word as its only member.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum CodexErrorInfo {
    Word(String),
    Detailed(BTreeMap<String, Value>),
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ErrorDetails {
    http_status_code: Option<u16>,
}

/// The body of a provider's response, which Codex passes on in the message of an error.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ProviderResponse {
    #[serde(deserialize_with = "lenient::field")]
    error: ProviderError,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProviderError {
    message: Option<String>,
    code: Option<u16>,
}

impl CodexErrorInfo {
    fn word(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Detailed(details) => details.keys().next().map_or("", String::as_str),
        }
    }

    fn http_status(&self) -> Option<u16> {
        match self {
            Self::Word(_) => None,
            Self::Detailed(details) => {
                lenient::object::<ErrorDetails>(details.values().next()?).http_status_code
            }
        }
    }
}

/// The universal error, and how a turn with this error ended.
pub(super) fn universal_error(error: &Value) -> (TurnEndReason, AgentError) {
    let parsed: CodexTurnError = lenient::object(error);
    let text = parsed.message.unwrap_or_else(|| error.to_string());
    let provider = serde_json::from_str(&text).ok();
    let provider: ProviderError =
        provider.map(|body: Value| lenient::object::<ProviderResponse>(&body).error).unwrap_or_default();
    let message = provider.message.unwrap_or_else(|| text.clone());
    let info = parsed.codex_error_info;
    let word = info.as_ref().map_or("", CodexErrorInfo::word);
    let named = info.as_ref().and_then(CodexErrorInfo::http_status);
    let status = named.or_else(|| implied_status(word)).or(provider.code);
    match (word, status) {
        ("cyberPolicy" | "misalignmentPolicyViolation", _) => {
            (TurnEndReason::Refused, AgentError::ModelError { status, message })
        }
        ("unauthorized", _) | (_, Some(401 | 403)) => {
            (TurnEndReason::Failed, AgentError::TokenError { message })
        }
        // A provider whose key comes from a variable that does not exist.
        _ if text.starts_with("Missing environment variable") => {
            (TurnEndReason::Failed, AgentError::TokenError { message })
        }
        ("sandboxError" | "threadRollbackFailed" | "tooManyDenials", _) => {
            (TurnEndReason::Failed, AgentError::Other { message })
        }
        _ => (TurnEndReason::Failed, AgentError::ModelError { status, message }),
    }
}

/// The HTTP status for which a kind of error stands.
fn implied_status(word: &str) -> Option<u16> {
    match word {
        "badRequest" => Some(400),
        "modelNotFound" => Some(404),
        "rateLimitExceeded" | "usageLimitExceeded" => Some(429),
        "internalServerError" => Some(500),
        "serverOverloaded" => Some(503),
        _ => None,
    }
}
