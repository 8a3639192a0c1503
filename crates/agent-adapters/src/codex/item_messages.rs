//! Messages that are made of items: one message for each response of the model with all calls that it makes.

use std::collections::HashMap;

use protocol::{
    Event, Message,
    message::{MessagePart, MessageRole, PartContent, ToolCall, ToolResult, ToolStatus},
};

use super::{
    item_content::joined_text,
    message_parts::{call_part, reasoning_parts, result_part, text_parts},
    notification::CodexItemDelta,
    open_item::OpenCodexItem,
    subagent_threads::SubagentThreads,
    thread_item::{CodexItemBody, CodexThreadItem, UserMessageItem},
    tool_calls,
};
use crate::Out;

/// The most calls without a result that stay open after their turn: commands that still run in the background.
const UNSETTLED_MAX: usize = 256;

/// The messages of all threads, and their open items.
#[derive(Debug)]
pub(super) struct ItemMessages {
    run: String,
    message_count: u64,
    item_count: u64,
    /// The message to which a thread adds its items.
    current: HashMap<String, String>,
    open: HashMap<String, OpenCodexItem>,
    subagents: SubagentThreads,
}

/// The thread of an item.
#[derive(Debug, Clone)]
pub(super) struct ItemThread {
    pub(super) id: String,
    /// The call that started the thread, if it is a subagent's.
    pub(super) parent: Option<String>,
}

impl ItemMessages {
    pub(super) fn new(run: String) -> Self {
        let (current, open, subagents) = Default::default();
        Self { run, message_count: 0, item_count: 0, current, open, subagents }
    }

    /// Mints the id of a new message.
    pub(super) fn next_message_id(&mut self) -> String {
        self.message_count += 1;
        format!("{}.{}", self.run, self.message_count)
    }

    /// Makes the next item of a thread begin another message.
    pub(super) fn end_message(&mut self, thread: &str) {
        self.current.remove(thread);
    }

    /// The call that started the thread of a subagent, as far as that is known.
    pub(super) fn parent_call(&self, thread: &str) -> Option<String> {
        self.subagents.parent_call(thread)
    }

    /// The only open call of a tool of an MCP server. None if there are several.
    pub(super) fn only_call_of(&self, server: &str) -> Option<String> {
        let prefix = tool_calls::mcp_name(server, "");
        let calls = self.open.values().filter(|open| !open.is_settled).filter_map(|open| open.call.as_ref());
        let mut of_server = calls.filter(|call| call.name.starts_with(&prefix));
        let call = of_server.next()?;
        of_server.next().is_none().then(|| call.call_id.clone())
    }

    pub(super) fn call(&self, id: &str) -> Option<&ToolCall> {
        self.open.get(id)?.call.as_ref()
    }

    /// Handles `item/started`.
    pub(super) fn start_item(
        &mut self,
        thread: &ItemThread,
        item: &CodexThreadItem,
        out: &mut Out,
    ) -> Result<(), String> {
        let id = item_id(item)?;
        match &item.body {
            CodexItemBody::AgentMessage(_) | CodexItemBody::Plan(_) | CodexItemBody::Reasoning(_) => {
                self.begin(thread, id, None, out);
            }
            // Items that are no calls are sent when they are complete.
            body => {
                if let Some(call) = tool_calls::running_call(id, body) {
                    self.subagents.record(id, body);
                    self.begin(thread, id, Some(call), out);
                    self.send_call(id, out);
                }
            }
        }
        Ok(())
    }

    /// Handles `item/completed`.
    pub(super) fn complete_item(
        &mut self,
        thread: &ItemThread,
        item: &CodexThreadItem,
        out: &mut Out,
    ) -> Result<(), String> {
        let id = item_id(item)?;
        let parts = match &item.body {
            CodexItemBody::AgentMessage(message) if !message.questions.is_empty() => {
                return Err("an unexpected question item".into());
            }
            CodexItemBody::AgentMessage(message) => text_parts(id, message.text.as_deref()),
            CodexItemBody::Plan(plan) => text_parts(id, plan.text.as_deref()),
            CodexItemBody::HookPrompt(prompt) => text_parts(id, Some(&joined_text(&prompt.fragments))),
            CodexItemBody::ExitedReviewMode(review) => text_parts(id, review.review.as_deref()),
            CodexItemBody::EnteredReviewMode => Vec::new(),
            CodexItemBody::Reasoning(reasoning) => reasoning_parts(id, reasoning),
            CodexItemBody::UserMessage(message) => {
                self.add_user_message(message, out);
                return Ok(());
            }
            _ => return self.complete_call(thread, id, item, out),
        };
        if !parts.is_empty() {
            self.begin(thread, id, None, out);
        }
        let open = self.open.remove(id);
        if let Some(open) = open.filter(|_| !parts.is_empty()) {
            out.event(open.message(parts));
        }
        Ok(())
    }

    /// Appends to an open item. Returns whether there is such an item.
    pub(super) fn append(&mut self, mut delta: CodexItemDelta, out: &mut Out) -> bool {
        let (Some(id), Some(text)) = (delta.item_id.take(), delta.delta.take()) else { return false };
        let Some(open) = self.open.get_mut(&id) else { return false };
        open.append(&id, &delta, text, out);
        true
    }

    pub(super) fn set_status(&mut self, id: &str, status: ToolStatus, out: &mut Out) {
        if let Some(call) = self.open.get_mut(id).and_then(|open| open.call.as_mut()) {
            call.status = status;
            self.send_call(id, out);
        }
    }

    /// Records that a person refused a call.
    pub(super) fn mark_refused(&mut self, id: &str) {
        if let Some(open) = self.open.get_mut(id) {
            open.is_refused = true;
        }
    }

    /// Begins a call for which Codex sends no item, such as a question.
    pub(super) fn begin_call(&mut self, thread: &str, call: ToolCall, out: &mut Out) {
        let id = call.call_id.clone();
        let thread = ItemThread { id: thread.to_owned(), parent: None };
        self.begin(&thread, &id, Some(call), out);
        self.send_call(&id, out);
    }

    /// Ends a call that [`Self::begin_call`] began.
    pub(super) fn end_call(&mut self, id: &str, status: ToolStatus, output: Option<String>, out: &mut Out) {
        let Some(mut open) = self.open.remove(id) else { return };
        let Some(mut call) = open.call.take() else { return };
        call.status = status;
        let result =
            output.map(|output| ToolResult { call_id: id.to_owned(), output, ..ToolResult::default() });
        let mut parts = vec![call_part(call)];
        parts.extend(result.map(result_part));
        out.event(open.message(parts));
    }

    /// Closes all open items, because the turn is over. Calls stay known: their result may still come.
    pub(super) fn settle(&mut self, out: &mut Out) {
        let mut open: Vec<_> = self.open.values_mut().filter(|open| !open.is_settled).collect();
        open.sort_by_key(|open| open.number);
        for open in open {
            open.settle(out);
        }
        self.open.retain(|_, open| open.call.is_some());
        if self.open.len() > UNSETTLED_MAX {
            self.open.clear();
        }
        self.current.clear();
    }

    fn complete_call(
        &mut self,
        thread: &ItemThread,
        id: &str,
        item: &CodexThreadItem,
        out: &mut Out,
    ) -> Result<(), String> {
        let Some(mut call) = tool_calls::running_call(id, &item.body) else {
            return Err("an item of an unknown type".into());
        };
        self.subagents.record(id, &item.body);
        let (status, result) = tool_calls::outcome(id, item);
        self.begin(thread, id, None, out);
        let Some(open) = self.open.remove(id) else { return Ok(()) };
        // The interrupt or the refusal is the reason for which such a call fails.
        let was_stopped = (open.is_settled || open.is_refused) && status == ToolStatus::Failed;
        call.status = if was_stopped { ToolStatus::Cancelled } else { status };
        let mut parts = vec![call_part(call)];
        parts.extend(result.map(result_part));
        parts.extend(tool_calls::pictures(id, &item.body));
        out.event(open.message(parts));
        Ok(())
    }

    /// Adds a user message that we did not send.
    fn add_user_message(&mut self, message: &UserMessageItem, out: &mut Out) {
        let content = PartContent::Text { text: joined_text(&message.content) };
        out.event(Event::Message(Message::new(
            self.next_message_id(),
            MessageRole::User,
            vec![MessagePart { id: "0".into(), content }],
        )));
    }

    /// Opens an item in the current message of its thread, which is sent before its first item. An open item stays as it is.
    fn begin(&mut self, thread: &ItemThread, id: &str, call: Option<ToolCall>, out: &mut Out) {
        if self.open.get(id).is_some_and(|open| call.is_none() || !open.is_settled) {
            return;
        }
        let current = self.current.get(&thread.id).cloned();
        let is_new_message = current.is_none();
        let message_id = current.unwrap_or_else(|| self.next_message_id());
        self.current.insert(thread.id.clone(), message_id.clone());
        self.item_count += 1;
        let open = OpenCodexItem::new(self.item_count, message_id, thread.parent.clone(), call);
        if is_new_message && open.call.is_none() {
            out.event(open.message(Vec::new()));
        }
        self.open.insert(id.to_owned(), open);
    }

    fn send_call(&self, id: &str, out: &mut Out) {
        if let Some(open) = self.open.get(id) {
            let parts = open.call.clone().map(call_part).into_iter().collect();
            out.event(open.message(parts));
        }
    }
}

fn item_id(item: &CodexThreadItem) -> Result<&str, String> {
    item.id.as_deref().ok_or_else(|| "an item without an id".into())
}
