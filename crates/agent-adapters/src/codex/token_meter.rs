//! The tokens that a turn uses. Codex counts for the whole thread.

use protocol::event::TokenUsage;
use serde::Deserialize;

/// Derives the usage of a turn from that of its thread.
#[derive(Debug, Default)]
pub(super) struct TokenMeter {
    /// The usage of the thread when the turn began, if known.
    before: Option<TokenCounts>,
    /// The last update during the turn.
    current: Option<ThreadTokenUsage>,
    /// The last known usage of the thread.
    latest: Option<TokenCounts>,
}

/// The usage of a thread in `thread/tokenUsage/updated`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadTokenUsage {
    total: TokenCounts,
    /// The usage of the model's last response.
    last: TokenCounts,
    model_context_window: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "struct Tokens")]
struct TokenCounts {
    total_tokens: u64,
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

impl TokenMeter {
    pub(super) fn start_turn(&mut self) {
        self.before = self.latest;
        self.current = None;
    }

    /// Records an update, of the turn that runs or of an earlier one.
    pub(super) fn update(&mut self, usage: ThreadTokenUsage, is_earlier_turn: bool) {
        self.latest = Some(usage.total);
        if is_earlier_turn && self.current.is_none() {
            self.before = Some(usage.total);
            return;
        }
        self.before.get_or_insert_with(|| usage.total.without(&usage.last));
        self.current = Some(usage);
    }

    /// The usage of the turn; none if Codex sent no update.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let current = self.current?;
        let used = current.total.without(&self.before.unwrap_or_default());
        Some(TokenUsage {
            input_tokens: used.input_tokens.saturating_sub(used.cached_input_tokens),
            output_tokens: used.output_tokens,
            cached_tokens: used.cached_input_tokens,
            reasoning_tokens: used.reasoning_output_tokens,
            cost_usd: None,
            context_tokens: Some(current.last.total_tokens),
            context_window: current.model_context_window,
        })
    }
}

impl TokenCounts {
    fn without(&self, other: &Self) -> Self {
        Self {
            total_tokens: self.total_tokens.saturating_sub(other.total_tokens),
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            cached_input_tokens: self.cached_input_tokens.saturating_sub(other.cached_input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            reasoning_output_tokens: self
                .reasoning_output_tokens
                .saturating_sub(other.reasoning_output_tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(total: u64, last: u64) -> ThreadTokenUsage {
        let tokens =
            |count: u64| json!({ "inputTokens": count, "cachedInputTokens": count / 2, "outputTokens": 1 });
        serde_json::from_value(json!({ "total": tokens(total), "last": tokens(last) })).unwrap()
    }

    /// sessions-8: `turnEnded{reason,usage}`.
    #[test]
    fn the_usage_of_a_turn_is_the_difference_of_its_thread() {
        let mut meter = TokenMeter::default();
        // Of a turn before this process.
        meter.update(usage(500, 100), true);
        meter.start_turn();
        assert_eq!(meter.usage(), None);
        // Before the conversation is shortened Codex sends the last update again.
        meter.update(usage(500, 100), false);
        meter.update(usage(600, 100), false);
        meter.update(usage(800, 200), false);
        let of_turn = meter.usage().unwrap();
        assert_eq!(
            (of_turn.input_tokens, of_turn.cached_tokens, of_turn.context_tokens),
            (150, 150, Some(0))
        );
        meter.start_turn();
        meter.start_turn();
        meter.update(usage(810, 0), false);
        assert_eq!(meter.usage().unwrap().input_tokens, 5);
    }
}
