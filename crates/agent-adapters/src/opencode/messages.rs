//! Messages of the agent and their parts.

use std::{
    collections::{HashMap, HashSet},
    mem,
};

use protocol::{
    Event, Message,
    message::{DeltaKind, MessageDelta, MessagePart, MessageRole, PartContent},
};

use super::{
    OpencodeAdapter,
    tool_calls::{OpencodeToolCalls, result_id},
    wire_event::PartDelta,
    wire_message::{FilePart, MessageAuthor, MessageInfo, OpencodePart, OpencodePartBody, OpencodeToolPart},
};
use crate::Out;

/// The messages of the turn, which may still change.
#[derive(Debug, Default)]
pub(super) struct OpencodeMessages {
    /// The agent's messages, with the call that started the subagent of each.
    own: HashMap<String, Option<String>>,
    /// The user messages of this turn, and of the one before it.
    users: (HashSet<String>, HashSet<String>),
    /// The kind of each part with text.
    texts: HashMap<String, DeltaKind>,
    pub(super) tools: OpencodeToolCalls,
}

impl OpencodeMessages {
    pub(super) fn new<'a>(mcp_servers: impl Iterator<Item = &'a String>) -> Self {
        Self { tools: OpencodeToolCalls::new(mcp_servers), ..Self::default() }
    }

    /// Appends to a text. Returns whether the text is known.
    pub(super) fn append(&self, delta: PartDelta, out: &mut Out) -> bool {
        let PartDelta { message_id: Some(message_id), part_id: Some(part_id), field, delta: Some(text) } =
            delta
        else {
            return false;
        };
        let Some(kind) = self.texts.get(&part_id).copied() else { return false };
        if field.as_deref() != Some("text") {
            return false;
        }
        out.event(Event::MessageDelta(MessageDelta { message_id, part_id, kind, text }));
        true
    }

    /// Ends the turn: calls that are still open are cancelled.
    pub(super) fn end_turn(&mut self, out: &mut Out) {
        for (message, part) in self.tools.cancel_open() {
            self.send(&message, vec![part], out);
        }
        self.own.clear();
        self.texts.clear();
        self.users.1 = mem::take(&mut self.users.0);
    }

    fn is_user(&self, message: &str) -> bool {
        self.users.0.contains(message) || self.users.1.contains(message)
    }

    fn send(&self, message: &str, parts: Vec<MessagePart>, out: &mut Out) {
        out.event(Event::Message(Message {
            parent_tool_call_id: self.own.get(message).cloned().flatten(),
            ..Message::new(message, MessageRole::Assistant, parts)
        }));
    }

    /// Handles a text that begins, or is complete. Returns whether it is understood.
    fn update_text(
        &mut self,
        message: &str,
        id: Option<String>,
        text: Option<String>,
        kind: DeltaKind,
        out: &mut Out,
    ) -> bool {
        let (Some(id), Some(text)) = (id, text) else { return false };
        self.texts.insert(id.clone(), kind);
        if !text.is_empty() {
            let content = match kind {
                DeltaKind::Reasoning => PartContent::Reasoning { text },
                _ => PartContent::Text { text },
            };
            self.send(message, vec![MessagePart { id, content }], out);
        }
        true
    }
}

impl OpencodeAdapter {
    /// Handles a message that begins or changes. Returns whether it is understood.
    pub(super) fn message_updated(&mut self, session: &str, info: &MessageInfo, out: &mut Out) -> bool {
        let Some(id) = &info.id else { return false };
        let is_own = self.is_own(session);
        match info.role {
            Some(MessageAuthor::User) => {
                self.messages.users.0.insert(id.clone());
                if is_own {
                    self.user_message_updated(id, info, out);
                }
            }
            Some(MessageAuthor::Assistant) => {
                if is_own {
                    self.assistant_message_updated(id, info, out);
                }
                if self.turn.is_some() && !self.messages.own.contains_key(id) {
                    let parent = self.children.get(session).cloned().flatten();
                    self.messages.own.insert(id.clone(), parent);
                    self.messages.send(id, Vec::new(), out);
                }
            }
            None => return false,
        }
        true
    }

    /// Handles a part that begins or changes. Returns whether it is understood.
    pub(super) fn part_updated(&mut self, session: &str, part: OpencodePart, out: &mut Out) -> bool {
        let OpencodePart { id, message_id: message, body } = part;
        let is_own = self.is_own(session);
        if self.messages.is_user(&message) {
            // The parts of a user message are the client's own input, or additions of the server for the model.
            if is_own && matches!(body, OpencodePartBody::Compaction) {
                self.send_compaction_status(out);
            }
            return true;
        }
        if let (OpencodePartBody::StepFinish(step), Some(turn)) = (&body, &mut self.turn) {
            turn.add_usage(step, is_own);
        }
        if matches!(body, OpencodePartBody::Bookkeeping | OpencodePartBody::StepFinish(_)) {
            return true;
        }
        if !self.messages.own.contains_key(&message) {
            // The rest of a turn that has ended.
            return self.turn.is_none() || message <= self.last_answered;
        }
        match body {
            OpencodePartBody::Text { text } => {
                self.messages.update_text(&message, id, text, DeltaKind::Text, out)
            }
            OpencodePartBody::Reasoning { text } => {
                self.messages.update_text(&message, id, text, DeltaKind::Reasoning, out)
            }
            OpencodePartBody::Tool(tool) => self.tool_updated(session, &message, *tool, out),
            OpencodePartBody::File(file) => {
                let Some(part) = file_part(FilePart { id, ..file }) else { return false };
                self.messages.send(&message, vec![part], out);
                true
            }
            OpencodePartBody::Compaction
            | OpencodePartBody::Bookkeeping
            | OpencodePartBody::StepFinish(_)
            | OpencodePartBody::Unknown => false,
        }
    }

    fn tool_updated(&mut self, session: &str, message: &str, part: OpencodeToolPart, out: &mut Out) -> bool {
        let Some(call) = part.call_id.clone() else { return false };
        // A subagent has a session of its own, whose messages are inside this call.
        if let Some(child) = &part.state.metadata.session_id
            && child != session
        {
            self.children.insert(child.clone(), Some(call.clone()));
        }
        let Some(update) = self.messages.tools.update(message, &call, part) else { return false };
        if !update.parts.is_empty() {
            self.messages.send(message, update.parts, out);
        }
        if let Some(text) = update.new_output {
            out.event(Event::MessageDelta(MessageDelta {
                message_id: message.to_owned(),
                part_id: result_id(&call),
                kind: DeltaKind::ToolOutput,
                text,
            }));
        }
        true
    }
}

/// The part for a file or a picture. None if fields are missing.
pub(super) fn file_part(file: FilePart) -> Option<MessagePart> {
    let FilePart { id: Some(id), mime: Some(mime), url: Some(url), filename } = file else { return None };
    let content = if mime.starts_with("image/") {
        let data = url.split_once(";base64,").map(|(_, data)| data.to_owned());
        let uri = data.is_none().then_some(url);
        PartContent::Image { mime_type: mime, data, uri }
    } else {
        PartContent::File { name: filename, mime_type: Some(mime), uri: Some(url), text: None }
    };
    Some(MessagePart { id, content })
}
