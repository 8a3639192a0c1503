//! Results of one step of an adapter.

use protocol::{
    Event, Message,
    message::{MessagePart, MessageRole, PartContent},
};
use serde_json::Value;

use crate::{Fact, Saying};

/// Results of one step of an adapter: input for the agent, and new facts about it.
#[derive(Debug, Default)]
pub struct Out {
    /// Input for the agent, in order.
    pub says: Vec<Saying>,
    /// New facts, in order.
    pub facts: Vec<Fact>,
}

impl Out {
    /// Sends the agent a JSON value in one line.
    pub(crate) fn line(&mut self, value: &Value) {
        self.says.push(Saying::Line(value.to_string().into()));
    }

    /// Adds an event.
    pub(crate) fn event(&mut self, event: Event) {
        self.facts.push(Fact::Event(event));
    }

    /// Adds a system message `id` with output that the adapter does not understand: no output of an agent is dropped.
    pub(crate) fn unparsed(&mut self, id: String, output: &[u8], error: impl Into<String>) {
        let raw = serde_json::from_slice(output).unwrap_or_else(|_| String::from_utf8_lossy(output).into());
        let content = PartContent::Unparsed { raw, error: error.into() };
        self.event(Event::Message(Message::new(
            id,
            MessageRole::System,
            vec![MessagePart { id: "0".into(), content }],
        )));
    }
}
