//! What an agent says in one turn: one message of texts, thoughts and tool calls, in order.

use std::collections::BTreeMap;

use protocol::{
    Event, Message,
    message::{DeltaKind, MessageDelta, MessagePart, MessageRole, PartContent},
};
use serde_json::Value;

use super::{super::Out, tools::Tool};

/// What an agent says in one turn.
pub(super) struct Speech {
    run: String,
    /// How many messages were named.
    names: u64,
    message: Option<String>,
    /// How many texts and thoughts the message has.
    parts: u64,
    open: Option<Open>,
    /// The tool calls of the turn, by their ids, and the message that each is part of.
    tools: BTreeMap<String, (String, Tool)>,
}

/// The text or thought that is being said.
struct Open {
    part: String,
    thought: bool,
    text: String,
}

impl Speech {
    pub(super) fn new(run: &str) -> Self {
        Self { run: run.into(), names: 0, message: None, parts: 0, open: None, tools: BTreeMap::new() }
    }

    /// The name of a new message.
    pub(super) fn name(&mut self) -> String {
        self.names += 1;
        format!("{}.{}", self.run, self.names)
    }

    /// More of a text or a thought.
    pub(super) fn say(&mut self, content: &Value, thought: bool, out: &mut Out) {
        let Some(text) = content["text"].as_str().filter(|_| content["type"] == "text") else {
            return self.show(content, out);
        };
        if self.open.as_ref().is_some_and(|open| open.thought != thought) {
            self.close(out);
        }
        let message_id = self.message(out);
        let open = self.open.get_or_insert_with(|| {
            self.parts += 1;
            Open { part: (self.parts - 1).to_string(), thought, text: String::new() }
        });
        open.text.push_str(text);
        let kind = if thought { DeltaKind::Reasoning } else { DeltaKind::Text };
        let delta = MessageDelta { message_id, part_id: open.part.clone(), kind, text: text.into() };
        out.event(Event::MessageDelta(delta));
    }

    /// Something that is no text: a picture, a link.
    fn show(&mut self, content: &Value, out: &mut Out) {
        self.close(out);
        let message = self.message(out);
        self.parts += 1;
        let string = |name: &str| content[name].as_str().map(str::to_owned);
        let content = match content["type"].as_str().unwrap_or_default() {
            "image" => PartContent::Image {
                mime_type: string("mimeType").unwrap_or_default(),
                data: string("data"),
                uri: string("uri"),
            },
            "resource_link" => PartContent::File {
                name: string("name"),
                mime_type: string("mimeType"),
                uri: string("uri"),
                text: None,
            },
            "resource" => PartContent::File {
                name: None,
                mime_type: content["resource"]["mimeType"].as_str().map(str::to_owned),
                uri: content["resource"]["uri"].as_str().map(str::to_owned),
                text: content["resource"]["text"].as_str().map(str::to_owned),
            },
            kind => PartContent::Unparsed {
                raw: content.clone(),
                error: format!("unknown content type `{kind}`"),
            },
        };
        let part = MessagePart { id: (self.parts - 1).to_string(), content };
        out.event(Event::Message(of_agent(message, vec![part])));
    }

    /// News of a tool call, which may be the first of it.
    pub(super) fn tool(&mut self, update: &Value, out: &mut Out) {
        let Some(id) = update["toolCallId"].as_str() else { return };
        self.close(out);
        let message = match self.tools.get(id) {
            Some((message, _)) => message.clone(),
            None => self.message(out),
        };
        let (_, tool) = self.tools.entry(id.into()).or_insert_with(|| (message.clone(), Tool::new(id)));
        let parts = tool.update(update);
        if !parts.is_empty() {
            out.event(Event::Message(of_agent(message, parts)));
        }
    }

    /// The turn is over: what is open is told whole, and what never ended was cancelled.
    pub(super) fn end(&mut self, out: &mut Out) {
        self.end_message(out);
        for (_, (message, mut tool)) in std::mem::take(&mut self.tools) {
            out.facts.extend(
                tool.cancel()
                    .map(|part| super::super::Fact::Event(Event::Message(of_agent(message, vec![part])))),
            );
        }
    }

    /// What is said next is another message.
    pub(super) fn end_message(&mut self, out: &mut Out) {
        self.close(out);
        self.message = None;
        self.parts = 0;
    }

    fn close(&mut self, out: &mut Out) {
        let Some(Open { part, thought, text }) = self.open.take() else { return };
        let content = if thought { PartContent::Reasoning { text } } else { PartContent::Text { text } };
        let message = self.message(out);
        out.event(Event::Message(of_agent(message, vec![MessagePart { id: part, content }])));
    }

    /// The message that is being said; a new one is told before anything is said of it.
    fn message(&mut self, out: &mut Out) -> String {
        if let Some(message) = &self.message {
            return message.clone();
        }
        let name = self.name();
        out.event(Event::Message(of_agent(name.clone(), Vec::new())));
        self.message = Some(name.clone());
        name
    }
}

fn of_agent(id: String, parts: Vec<MessagePart>) -> Message {
    Message::new(id, MessageRole::Assistant, parts)
}
