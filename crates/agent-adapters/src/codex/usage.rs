//! What turns take. Codex counts for the whole thread.

use protocol::event::TokenUsage;
use serde::Deserialize;

/// Tells what a turn took from what the thread has taken.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// What the thread had taken when the turn began, if that was told.
    before: Option<Tokens>,
    /// What was read last while the turn runs.
    now: Option<Reading>,
    /// What the thread had taken when that was last told.
    latest: Option<Tokens>,
}

/// What `thread/tokenUsage/updated` says.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reading {
    total: Tokens,
    /// Of the last answer of the model.
    last: Tokens,
    model_context_window: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tokens {
    total_tokens: u64,
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

impl Meter {
    /// A turn begins.
    pub(super) fn begin(&mut self) {
        self.before = self.latest;
        self.now = None;
    }

    /// What was read, while the turn runs or, if `earlier`, of one before it.
    pub(super) fn read(&mut self, reading: Reading, earlier: bool) {
        self.latest = Some(reading.total);
        if earlier && self.now.is_none() {
            self.before = Some(reading.total);
            return;
        }
        self.before.get_or_insert_with(|| reading.total.without(&reading.last));
        self.now = Some(reading);
    }

    /// What the turn took; none if nothing was told.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let reading = self.now?;
        let taken = reading.total.without(&self.before.unwrap_or_default());
        Some(TokenUsage {
            input_tokens: taken.input_tokens.saturating_sub(taken.cached_input_tokens),
            output_tokens: taken.output_tokens,
            cached_tokens: taken.cached_input_tokens,
            reasoning_tokens: taken.reasoning_output_tokens,
            cost_usd: None,
            context_tokens: Some(reading.last.total_tokens),
            context_window: reading.model_context_window,
        })
    }
}

impl Tokens {
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

    fn reading(total: u64, last: u64) -> Reading {
        let tokens =
            |count: u64| json!({ "inputTokens": count, "cachedInputTokens": count / 2, "outputTokens": 1 });
        serde_json::from_value(json!({ "total": tokens(total), "last": tokens(last) })).unwrap()
    }

    /// sessions-8: `turnEnded{reason,usage}`.
    #[test]
    fn a_turn_takes_what_the_thread_has_taken_since() {
        let mut meter = Meter::default();
        // Of a turn before this process.
        meter.read(reading(500, 100), true);
        meter.begin();
        assert_eq!(meter.usage(), None);
        // Before the conversation is shortened the last reading is told again.
        meter.read(reading(500, 100), false);
        meter.read(reading(600, 100), false);
        meter.read(reading(800, 200), false);
        let usage = meter.usage().unwrap();
        assert_eq!((usage.input_tokens, usage.cached_tokens, usage.context_tokens), (150, 150, Some(0)));
        meter.begin();
        meter.begin();
        meter.read(reading(810, 0), false);
        assert_eq!(meter.usage().unwrap().input_tokens, 5);
    }
}
