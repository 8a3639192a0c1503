//! What went wrong with a model, in the universal words.

use protocol::{event::TurnEndReason, sessions::AgentError};
use serde_json::Value;

/// What the error of a turn says, and how the turn ended by it.
pub(super) fn read(error: &Value) -> (TurnEndReason, AgentError) {
    let said = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
    let message = body_message(&said).unwrap_or_else(|| said.clone());
    // Either a word, or an object with the word as its only member.
    let info = &error["codexErrorInfo"];
    let word = info.as_str().or_else(|| Some(info.as_object()?.keys().next()?)).unwrap_or_default();
    let told = info.as_object().and_then(|info| info.values().next()?["httpStatusCode"].as_u64());
    let status = told.and_then(|status| status.try_into().ok()).or_else(|| status(word, &said));
    match (word, status) {
        ("cyberPolicy" | "misalignmentPolicyViolation", _) => {
            (TurnEndReason::Refused, AgentError::ModelError { status, message })
        }
        ("unauthorized", _) | (_, Some(401 | 403)) => {
            (TurnEndReason::Failed, AgentError::TokenError { message })
        }
        // A provider that takes its key from a variable which is not there.
        _ if said.starts_with("Missing environment variable") => {
            (TurnEndReason::Failed, AgentError::TokenError { message })
        }
        ("sandboxError" | "threadRollbackFailed" | "tooManyDenials", _) => {
            (TurnEndReason::Failed, AgentError::Other { message })
        }
        _ => (TurnEndReason::Failed, AgentError::ModelError { status, message }),
    }
}

/// The status that stands behind what is said without one.
fn status(word: &str, said: &str) -> Option<u16> {
    match word {
        "badRequest" => Some(400),
        "modelNotFound" => Some(404),
        "rateLimitExceeded" | "usageLimitExceeded" => Some(429),
        "internalServerError" => Some(500),
        "serverOverloaded" => Some(503),
        _ => serde_json::from_str::<Value>(said).ok()?.pointer("/error/code")?.as_u64()?.try_into().ok(),
    }
}

/// The message of an answer that is told as it came.
fn body_message(said: &str) -> Option<String> {
    let body: Value = serde_json::from_str(said).ok()?;
    Some(body.pointer("/error/message")?.as_str()?.to_owned())
}
