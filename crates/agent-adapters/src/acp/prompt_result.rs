//! The agent's answer to `session/prompt`, which ends the turn.

use protocol::event::{TokenUsage, TurnEndReason};
use serde::Deserialize;
use serde_json::Value;

use crate::lenient;

/// The answer to `session/prompt`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptResult {
    stop_reason: String,
    #[serde(deserialize_with = "lenient::field")]
    usage: PromptUsage,
    #[serde(rename = "_meta", deserialize_with = "lenient::field")]
    meta: PromptMeta,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PromptUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cached_read_tokens: Option<u64>,
    thought_tokens: Option<u64>,
}

/// An extension of gemini-cli.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptMeta {
    #[serde(deserialize_with = "lenient::field")]
    quota: PromptQuota,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptQuota {
    #[serde(deserialize_with = "lenient::field")]
    token_count: QuotaTokenCount,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct QuotaTokenCount {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl PromptResult {
    pub(super) fn from_value(result: &Value) -> Self {
        lenient::object(result)
    }

    /// Why the turn ended.
    pub(super) fn end_reason(&self) -> TurnEndReason {
        match self.stop_reason.as_str() {
            "end_turn" => TurnEndReason::Completed,
            "cancelled" => TurnEndReason::Interrupted,
            "max_tokens" | "max_turn_requests" => TurnEndReason::MaxTokens,
            "refusal" => TurnEndReason::Refused,
            _ => TurnEndReason::Other,
        }
    }

    /// The tokens of the turn, added to what the agent reported of its `context`.
    pub(super) fn token_usage(&self, context: TokenUsage) -> Option<TokenUsage> {
        let quota = &self.meta.quota.token_count;
        let input = self.usage.input_tokens.or(quota.input_tokens);
        let output = self.usage.output_tokens.or(quota.output_tokens);
        if input.is_none() && output.is_none() && context == TokenUsage::default() {
            return None;
        }
        Some(TokenUsage {
            input_tokens: input.unwrap_or_default(),
            output_tokens: output.unwrap_or_default(),
            cached_tokens: self.usage.cached_read_tokens.unwrap_or_default(),
            reasoning_tokens: self.usage.thought_tokens.unwrap_or_default(),
            ..context
        })
    }
}
