//! What the agent says: messages and their parts.

use std::{
    collections::{HashMap, HashSet},
    mem,
};

use protocol::{
    Event, Message,
    message::{DeltaKind, MessageDelta, MessagePart, MessageRole, PartContent},
};
use serde_json::Value;

use super::{Opencode, tools::Tools};
use crate::Out;

/// Parts that say nothing a reader needs: the bounds of a step, the state of the files, what was tried before.
const PASSED_OVER: [&str; 7] =
    ["step-start", "step-finish", "snapshot", "patch", "retry", "agent", "subtask"];

/// What was said in this turn, as far as it may go on.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The agent's messages, and the tool call that each is part of the inside of.
    own: HashMap<String, Option<String>>,
    /// What users said, in this turn and the one before it.
    users: (HashSet<String>, HashSet<String>),
    /// What kind of text a part holds.
    texts: HashMap<String, DeltaKind>,
    pub(super) tools: Tools,
}

impl Messages {
    pub(super) fn new<'a>(mcp: impl Iterator<Item = &'a String>) -> Self {
        Self { tools: Tools::new(mcp), ..Self::default() }
    }

    /// More of a text; whether it was understood.
    pub(super) fn delta(&self, said: &Value, out: &mut Out) -> bool {
        let texts = (said["messageID"].as_str(), said["partID"].as_str(), said["delta"].as_str());
        let (Some(message), Some(part), Some(text)) = texts else { return false };
        let Some(kind) = self.texts.get(part) else { return false };
        if said["field"] != "text" {
            return false;
        }
        let (message_id, part_id) = (message.to_owned(), part.to_owned());
        out.event(Event::MessageDelta(MessageDelta {
            message_id,
            part_id,
            kind: *kind,
            text: text.to_owned(),
        }));
        true
    }

    /// The turn is over: what is still open of it will not go on.
    pub(super) fn close(&mut self, out: &mut Out) {
        for (message, part) in self.tools.abandoned() {
            self.told(&message, vec![part], out);
        }
        self.own.clear();
        self.texts.clear();
        self.users.1 = mem::take(&mut self.users.0);
    }

    fn is_user(&self, message: &str) -> bool {
        self.users.0.contains(message) || self.users.1.contains(message)
    }

    fn told(&self, message: &str, parts: Vec<MessagePart>, out: &mut Out) {
        out.event(Event::Message(Message {
            parent_tool_call_id: self.own.get(message).cloned().flatten(),
            ..Message::new(message, MessageRole::Assistant, parts)
        }));
    }

    /// A text that is begun, or is now whole.
    fn text(&mut self, message: &str, part: &Value, kind: DeltaKind, out: &mut Out) -> bool {
        let (Some(id), Some(text)) = (part["id"].as_str(), part["text"].as_str()) else { return false };
        self.texts.insert(id.to_owned(), kind);
        if !text.is_empty() {
            let text = text.to_owned();
            let content = match kind {
                DeltaKind::Reasoning => PartContent::Reasoning { text },
                _ => PartContent::Text { text },
            };
            self.told(message, vec![MessagePart { id: id.to_owned(), content }], out);
        }
        true
    }
}

impl Opencode {
    /// A message was begun, or has changed; whether it was understood.
    pub(super) fn message(&mut self, own: bool, of: &str, info: &Value, out: &mut Out) -> bool {
        let Some(id) = info["id"].as_str() else { return false };
        match info["role"].as_str() {
            Some("user") => {
                self.messages.users.0.insert(id.to_owned());
                if own {
                    self.asked(info, out);
                }
            }
            Some("assistant") => {
                if own {
                    self.answering(info, out);
                }
                if self.turn.is_some() && !self.messages.own.contains_key(id) {
                    let parent = self.children.get(of).cloned().flatten();
                    self.messages.own.insert(id.to_owned(), parent);
                    self.messages.told(id, Vec::new(), out);
                }
            }
            _ => return false,
        }
        true
    }

    /// A part was begun, or has changed; whether it was understood.
    pub(super) fn part(&mut self, own: bool, of: &str, part: &Value, out: &mut Out) -> bool {
        let (Some(message), Some(kind)) = (part["messageID"].as_str(), part["type"].as_str()) else {
            return false;
        };
        if self.messages.is_user(message) {
            // What a user says is known from whoever said it, and the rest is what the server tells the model.
            if kind == "compaction" && own {
                self.compacting(out);
            }
            return true;
        }
        if let ("step-finish", Some(turn)) = (kind, &mut self.turn) {
            turn.step(part, own);
        }
        if PASSED_OVER.contains(&kind) {
            return true;
        }
        if !self.messages.own.contains_key(message) {
            // The end of something that was told as ended.
            return self.turn.is_none() || message <= self.ended.as_str();
        }
        match kind {
            "text" => self.messages.text(message, part, DeltaKind::Text, out),
            "reasoning" => self.messages.text(message, part, DeltaKind::Reasoning, out),
            "tool" => self.tool(of, message, part, out),
            "file" => {
                let Some(part) = file(part) else { return false };
                self.messages.told(message, vec![part], out);
                true
            }
            _ => false,
        }
    }

    fn tool(&mut self, of: &str, message: &str, part: &Value, out: &mut Out) -> bool {
        let Some(call) = part["callID"].as_str() else { return false };
        // A subagent has a session of its own, whose messages are the inside of this call.
        if let Some(child) = part["state"]["metadata"]["sessionId"].as_str()
            && child != of
        {
            self.children.insert(child.to_owned(), Some(call.to_owned()));
        }
        let Some(said) = self.messages.tools.update(message, call, part) else { return false };
        if !said.parts.is_empty() {
            self.messages.told(message, said.parts, out);
        }
        if let Some(text) = said.more {
            let (message_id, part_id) = (message.to_owned(), format!("{call}:result"));
            out.event(Event::MessageDelta(MessageDelta {
                message_id,
                part_id,
                kind: DeltaKind::ToolOutput,
                text,
            }));
        }
        true
    }
}

/// A file or picture that was given as one.
pub(super) fn file(part: &Value) -> Option<MessagePart> {
    let (id, mime, url) = (part["id"].as_str()?, part["mime"].as_str()?, part["url"].as_str()?);
    let data = url.split_once(";base64,").map(|(_, data)| data.to_owned());
    let uri = data.is_none().then(|| url.to_owned());
    let content = if mime.starts_with("image/") {
        PartContent::Image { mime_type: mime.to_owned(), data, uri }
    } else {
        let (name, mime_type) = (part["filename"].as_str().map(str::to_owned), Some(mime.to_owned()));
        PartContent::File { name, mime_type, uri: Some(url.to_owned()), text: None }
    };
    Some(MessagePart { id: id.to_owned(), content })
}
