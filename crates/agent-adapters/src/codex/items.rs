//! Items, of which messages are made: one message for each answer of the model with all that was done about it.

use std::collections::HashMap;

use protocol::{
    Event, Message,
    message::{
        DeltaKind, MessageDelta, MessagePart, MessageRole, PartContent, ToolCall, ToolResult, ToolStatus,
    },
};
use serde_json::Value;

use super::{
    parts::{call_part, raw_section, reasoning, result_id, result_part, section, text_part, texts},
    tools,
};
use crate::Out;

/// How many calls without a result are remembered after their turn: commands that still run in the background.
const UNSETTLED_MAX: usize = 256;

/// The items of all threads.
#[derive(Debug)]
pub(super) struct Items {
    run: String,
    /// Messages so far; they are named by their number.
    messages: u64,
    /// Items so far.
    begun: u64,
    /// The message that a thread is saying.
    pages: HashMap<String, String>,
    /// Items that have begun, by their id.
    open: HashMap<String, Open>,
    /// The calls that threads of agents of the agent belong to.
    parents: HashMap<String, String>,
    /// The last call that began an agent of the agent.
    spawned: Option<String>,
}

/// An item that has begun.
#[derive(Debug)]
struct Open {
    /// Its place among all.
    number: u64,
    message: String,
    parent: Option<String>,
    /// The call, if it is one.
    call: Option<ToolCall>,
    /// What was told of it so far in deltas, by part: a part that is cut off is told whole all the same.
    texts: Vec<(String, DeltaKind, String)>,
    /// Whether its result was told of: what it gives goes there.
    has_result: bool,
    /// Whether its turn is over.
    settled: bool,
    /// Whether somebody did not allow it.
    refused: bool,
}

impl Items {
    pub(super) fn new(run: String) -> Self {
        let (pages, open, parents) = Default::default();
        Self { run, messages: 0, begun: 0, pages, open, parents, spawned: None }
    }

    /// A name for a message.
    pub(super) fn name(&mut self) -> String {
        self.messages += 1;
        format!("{}.{}", self.run, self.messages)
    }

    /// What a thread says next is another message.
    pub(super) fn turn_page(&mut self, thread: &str) {
        self.pages.remove(thread);
    }

    /// The call that a thread of an agent of the agent belongs to, as far as that is known.
    pub(super) fn parent(&self, thread: &str) -> Option<String> {
        self.parents.get(thread).or(self.spawned.as_ref()).cloned()
    }

    /// The only open call of a tool of an MCP server.
    pub(super) fn call_of(&self, server: &str) -> Option<String> {
        let prefix = tools::mcp_name(server, "");
        let mut calls = self.open.values().filter(|open| !open.settled).filter_map(|open| open.call.as_ref());
        let mut of_server = calls.by_ref().filter(|call| call.name.starts_with(&prefix));
        let call = of_server.next()?;
        of_server.next().is_none().then(|| call.call_id.clone())
    }

    /// What a call is called with.
    pub(super) fn call(&self, id: &str) -> Option<&ToolCall> {
        self.open.get(id)?.call.as_ref()
    }

    /// An item begins.
    pub(super) fn started(
        &mut self,
        thread: &str,
        parent: Option<String>,
        item: &Value,
        out: &mut Out,
    ) -> Result<(), String> {
        let Some(id) = item["id"].as_str() else { return Err("an item without an id".into()) };
        match item["type"].as_str().unwrap_or_default() {
            "agentMessage" | "plan" | "reasoning" => {
                self.begin(thread, parent, id, None, out);
            }
            _ => {
                if let Some(call) = tools::call(item) {
                    self.children(item);
                    self.begin(thread, parent, id, Some(call), out);
                    self.tell_call(id, out);
                }
                // Others are told when they are complete.
            }
        }
        Ok(())
    }

    /// An item is complete.
    pub(super) fn completed(
        &mut self,
        thread: &str,
        parent: Option<String>,
        item: &Value,
        out: &mut Out,
    ) -> Result<(), String> {
        let Some(id) = item["id"].as_str() else { return Err("an item without an id".into()) };
        let parts = match item["type"].as_str().unwrap_or_default() {
            "agentMessage" if item["questions"].as_array().is_some_and(|questions| !questions.is_empty()) => {
                return Err("an unexpected question item".into());
            }
            "agentMessage" | "plan" => texts(id, &item["text"]),
            "userMessage" => return self.foreign(item, out),
            "hookPrompt" => texts(id, &tools::joined(&item["fragments"]).into()),
            "exitedReviewMode" => texts(id, &item["review"]),
            "enteredReviewMode" => Vec::new(),
            "reasoning" => reasoning(id, item),
            _ => return self.call_completed(thread, parent, item, out),
        };
        if !parts.is_empty() {
            self.begin(thread, parent, id, None, out);
        }
        let open = self.open.remove(id);
        if let Some(open) = open.filter(|_| !parts.is_empty()) {
            out.event(message(&open, MessageRole::Assistant, parts));
        }
        Ok(())
    }

    /// More of an item; whether that is what it was.
    pub(super) fn grow(&mut self, method: &str, params: &Value, out: &mut Out) -> bool {
        let (Some(id), Some(text)) = (params["itemId"].as_str(), params["delta"].as_str()) else {
            return false;
        };
        let Some(open) = self.open.get_mut(id) else { return false };
        let (part, kind) = match method {
            "item/agentMessage/delta" | "item/plan/delta" => (id.to_owned(), DeltaKind::Text),
            "item/reasoning/summaryTextDelta" => (section(id, &params["summaryIndex"]), DeltaKind::Reasoning),
            "item/reasoning/textDelta" => (raw_section(id, &params["contentIndex"]), DeltaKind::Reasoning),
            "item/commandExecution/outputDelta" => {
                if !std::mem::replace(&mut open.has_result, true) {
                    let result = ToolResult { call_id: id.to_owned(), ..ToolResult::default() };
                    out.event(message(open, MessageRole::Assistant, vec![result_part(result)]));
                }
                (result_id(id), DeltaKind::ToolOutput)
            }
            _ => return false,
        };
        if kind != DeltaKind::ToolOutput {
            match open.texts.iter_mut().find(|(known, ..)| *known == part) {
                Some((_, _, so_far)) => so_far.push_str(text),
                None => open.texts.push((part.clone(), kind, text.to_owned())),
            }
        }
        let message_id = open.message.clone();
        out.event(Event::MessageDelta(MessageDelta {
            message_id,
            part_id: part,
            kind,
            text: text.to_owned(),
        }));
        true
    }

    /// A call waits, goes on, or is given up.
    pub(super) fn set_status(&mut self, id: &str, status: ToolStatus, out: &mut Out) {
        if let Some(call) = self.open.get_mut(id).and_then(|open| open.call.as_mut()) {
            call.status = status;
            self.tell_call(id, out);
        }
    }

    /// A call is not allowed.
    pub(super) fn refuse(&mut self, id: &str) {
        if let Some(open) = self.open.get_mut(id) {
            open.refused = true;
        }
    }

    /// A call that is no item, such as a question, begins on a thread.
    pub(super) fn call_begins(&mut self, thread: &str, call: ToolCall, out: &mut Out) {
        let id = call.call_id.clone();
        self.begin(thread, None, &id, Some(call), out);
        self.tell_call(&id, out);
    }

    /// A call that is no item has given this.
    pub(super) fn call_ends(&mut self, id: &str, status: ToolStatus, output: Option<String>, out: &mut Out) {
        let Some(mut open) = self.open.remove(id) else { return };
        let Some(mut call) = open.call.take() else { return };
        call.status = status;
        let result =
            output.map(|output| ToolResult { call_id: id.to_owned(), output, ..ToolResult::default() });
        let mut parts = vec![call_part(call)];
        parts.extend(result.map(result_part));
        out.event(message(&open, MessageRole::Assistant, parts));
    }

    /// The turn is over: what was cut off is told whole, and calls without a result are cancelled.
    pub(super) fn settle(&mut self, out: &mut Out) {
        let mut open: Vec<_> = self.open.values_mut().filter(|open| !open.settled).collect();
        open.sort_by_key(|open| open.number);
        for open in open {
            open.settled = true;
            let mut parts: Vec<_> = open.texts.drain(..).map(text_part).collect();
            if let Some(call) = &mut open.call {
                call.status = ToolStatus::Cancelled;
                parts.push(call_part(call.clone()));
            }
            if !parts.is_empty() {
                out.event(message(open, MessageRole::Assistant, parts));
            }
        }
        self.open.retain(|_, open| open.call.is_some());
        if self.open.len() > UNSETTLED_MAX {
            self.open.clear();
        }
        self.pages.clear();
    }

    fn call_completed(
        &mut self,
        thread: &str,
        parent: Option<String>,
        item: &Value,
        out: &mut Out,
    ) -> Result<(), String> {
        let Some(mut call) = tools::call(item) else { return Err("an item of an unknown type".into()) };
        self.children(item);
        let (status, result) = tools::outcome(item);
        let id = call.call_id.clone();
        self.begin(thread, parent, &id, None, out);
        let Some(open) = self.open.remove(&id) else { return Ok(()) };
        // What fails after it was interrupted or refused was ended by that.
        let ended = (open.settled || open.refused) && status == ToolStatus::Failed;
        call.status = if ended { ToolStatus::Cancelled } else { status };
        let mut parts = vec![call_part(call)];
        parts.extend(result.map(result_part));
        parts.extend(tools::pictures(item));
        out.event(message(&open, MessageRole::Assistant, parts));
        Ok(())
    }

    /// Something was said to Codex, and not by us.
    fn foreign(&mut self, item: &Value, out: &mut Out) -> Result<(), String> {
        let content = PartContent::Text { text: tools::joined(&item["content"]) };
        out.event(Event::Message(Message::new(
            self.name(),
            MessageRole::User,
            vec![MessagePart { id: "0".into(), content }],
        )));
        Ok(())
    }

    /// Notes which threads an item has begun.
    fn children(&mut self, item: &Value) {
        let Some(id) = item["id"].as_str() else { return };
        match item["type"].as_str() {
            Some("collabAgentToolCall") if item["tool"] == "spawnAgent" => self.spawned = Some(id.to_owned()),
            Some("subAgentActivity") => {}
            _ => return,
        }
        let threads =
            item["receiverThreadIds"].as_array().into_iter().flatten().chain([&item["agentThreadId"]]);
        for thread in threads.filter_map(Value::as_str) {
            self.parents.entry(thread.to_owned()).or_insert_with(|| id.to_owned());
        }
    }

    /// Opens an item on its thread's page, which is told before its first item. One that is open stays as it is.
    fn begin(
        &mut self,
        thread: &str,
        parent: Option<String>,
        id: &str,
        call: Option<ToolCall>,
        out: &mut Out,
    ) {
        if self.open.get(id).is_some_and(|open| call.is_none() || !open.settled) {
            return;
        }
        let known = self.pages.get(thread).cloned();
        let name = known.clone().unwrap_or_else(|| self.name());
        self.pages.insert(thread.to_owned(), name.clone());
        self.begun += 1;
        let (texts, number) = (Vec::new(), self.begun);
        let open = Open {
            number,
            message: name,
            parent,
            call,
            texts,
            has_result: false,
            settled: false,
            refused: false,
        };
        if known.is_none() && open.call.is_none() {
            out.event(message(&open, MessageRole::Assistant, Vec::new()));
        }
        self.open.insert(id.to_owned(), open);
    }

    fn tell_call(&self, id: &str, out: &mut Out) {
        if let Some(open) = self.open.get(id) {
            let parts = open.call.clone().map(call_part).into_iter().collect();
            out.event(message(open, MessageRole::Assistant, parts));
        }
    }
}

fn message(open: &Open, role: MessageRole, parts: Vec<MessagePart>) -> Event {
    Event::Message(Message {
        parent_tool_call_id: open.parent.clone(),
        ..Message::new(open.message.clone(), role, parts)
    })
}
