//! What is said and done in one turn, as its events tell it.

use serde_json::Value;

/// What is said and done in one turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Why it ended.
    pub(super) reason: String,
    /// What the agent said.
    pub(super) text: String,
    /// What it thought.
    pub(super) thoughts: String,
    /// How many pieces of text were told before the whole.
    pub(super) deltas: usize,
    /// The tool calls as they were last told.
    pub(super) calls: Vec<Value>,
    /// The results of tools as they were last told.
    pub(super) results: Vec<Value>,
    /// What went wrong.
    pub(super) errors: Vec<Value>,
    /// What was asked.
    pub(super) permissions: Vec<Value>,
    pub(super) questions: Vec<Value>,
    pub(super) usage: Value,
}

impl Turn {
    /// Puts together what these records tell.
    pub(super) fn of(records: &[Value]) -> Self {
        let mut turn = Self::default();
        for record in records {
            let event = &record["event"];
            if event["message"]["role"] == "assistant" {
                for part in event["message"]["parts"].as_array().into_iter().flatten() {
                    turn.part(part);
                }
            }
            if event["messageDelta"]["kind"] == "text" {
                turn.deltas += 1;
            }
            turn.errors.extend(event.get("error").cloned());
            turn.permissions.extend(event.get("permissionAsked").cloned());
            turn.questions.extend(event.get("questionAsked").cloned());
            if let Some(ended) = event.get("turnEnded") {
                turn.reason = ended["reason"].as_str().unwrap_or_default().into();
                turn.usage = ended["usage"].clone();
            }
        }
        turn
    }

    fn part(&mut self, part: &Value) {
        let replace = |all: &mut Vec<Value>| match all.iter_mut().find(|known| known["id"] == part["id"]) {
            Some(known) => *known = part.clone(),
            None => all.push(part.clone()),
        };
        match part["type"].as_str().unwrap_or_default() {
            "text" => self.text += part["text"].as_str().unwrap_or_default(),
            "reasoning" => self.thoughts += part["text"].as_str().unwrap_or_default(),
            "toolCall" => replace(&mut self.calls),
            "toolResult" => replace(&mut self.results),
            _ => {}
        }
    }

    /// The last tool call of this kind.
    pub(super) fn call(&self, kind: &str) -> Option<&Value> {
        self.calls.iter().rev().find(|call| call["kind"] == kind)
    }

    /// Whether something was asked.
    pub(super) fn asked(&self) -> bool {
        !self.permissions.is_empty() || !self.questions.is_empty()
    }
}
