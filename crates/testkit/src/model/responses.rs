//! The OpenAI Responses API, which Codex uses.

use serde_json::{Value, json};

use super::{
    answer_frames::{AnswerFrame, AnswerFrames, pieces, words},
    conversation::{Conversation, ConversationTurn, list, text_of},
    model_api::IdGenerator,
    model_reply::{AnswerPart, ModelAnswer, ModelToolCall, StopReason, ToolArguments},
    offered_tools::{OfferedTool, OfferedTools},
};

pub(super) fn parse_request(body: &Value) -> Conversation {
    let mut conversation =
        Conversation { has_system_prompt: !text_of(&body["instructions"]).is_empty(), ..Default::default() };
    for tool in list(body, "tools") {
        read_tool(tool, &mut conversation.tools);
    }
    if let Some(text) = body["input"].as_str() {
        conversation.turns.push(ConversationTurn::User(text.into()));
    }
    for item in list(body, "input") {
        read_item(item, &mut conversation);
    }
    let format = &body["text"]["format"];
    let structured = format["type"].as_str().is_some_and(|kind| kind != "text");
    conversation.schema = structured.then(|| format.get("schema").cloned().unwrap_or_default());
    conversation
}

fn read_tool(tool: &Value, tools: &mut OfferedTools) {
    let one = |tool: &Value, namespace: Option<&Value>| OfferedTool {
        schema: tool["parameters"].clone(),
        namespace: namespace.and_then(Value::as_str).map(str::to_owned),
        freeform: tool["type"] == "custom",
    };
    if tool["type"] == "namespace" {
        for inner in list(tool, "tools") {
            tools.add(&inner["name"], one(inner, Some(&tool["name"])));
        }
        return;
    }
    // Tools that OpenAI runs itself, such as `web_search`, have a type and no name.
    let name = tool.get("name").unwrap_or(&tool["type"]);
    tools.add(name, one(tool, None));
}

fn read_item(item: &Value, conversation: &mut Conversation) {
    // Text, calls and results are separate items of one list, so an answer with a text and two calls yields three
    // model turns. Only the sum of their calls matters.
    let turns = &mut conversation.turns;
    match (item["type"].as_str().unwrap_or("message"), item["role"].as_str()) {
        ("message", Some("assistant")) => turns.push(ConversationTurn::Model { calls: 0 }),
        ("message", Some("user")) => turns.push(ConversationTurn::User(text_of(&item["content"]))),
        // With its newest models Codex sends its tools as an input item instead of in `tools`.
        ("additional_tools", _) => {
            list(item, "tools").iter().for_each(|tool| read_tool(tool, &mut conversation.tools));
        }
        (kind, _) if kind.ends_with("_call") => turns.push(ConversationTurn::Model { calls: 1 }),
        (kind, _) if kind.ends_with("_output") => {
            turns.push(ConversationTurn::Result(text_of(&item["output"])))
        }
        _ => {}
    }
}

pub(super) fn response_body(answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Value {
    let mut response = response(ids, model);
    let output: Vec<_> = answer.parts.iter().filter_map(|part| item(part, ids)).collect();
    complete(&mut response, answer.stop, &output);
    response
}

/// Each part becomes one output item. The API announces it empty (`output_item.added`), sends its content as deltas,
/// and repeats it whole (`output_item.done`); the closing event repeats all items.
pub(super) fn stream_frames(answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Vec<AnswerFrame> {
    let mut events = ResponseEvents::default();
    let mut response = response(ids, model);
    events.push("response.created", json!({ "response": response }));
    let mut output = Vec::new();
    for part in &answer.parts {
        match part {
            AnswerPart::Cut => return events.frames.end_with_cut(),
            AnswerPart::Wait(time) => {
                events.frames.push_wait(*time);
                continue;
            }
            _ => {}
        }
        let Some(item) = item(part, ids) else { continue };
        let index = output.len();
        events.push("response.output_item.added", json!({ "output_index": index, "item": opened(&item) }));
        match part {
            AnswerPart::Call(call) => events.call(call, index, &item),
            AnswerPart::Think(text) => events.think(text, index, &item),
            part => events.text(part, index, &item),
        }
        events.push("response.output_item.done", json!({ "output_index": index, "item": item }));
        output.push(item);
    }
    complete(&mut response, answer.stop, &output);
    let end = if answer.stop == StopReason::Tokens { "response.incomplete" } else { "response.completed" };
    events.push(end, json!({ "response": response }));
    events.frames.finish()
}

/// Adds events to the stream. The API numbers them from 0, without gaps.
#[derive(Default)]
struct ResponseEvents {
    frames: AnswerFrames,
    sequence_number: u64,
}

impl ResponseEvents {
    fn push(&mut self, kind: &str, mut event: Value) {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(self.sequence_number);
        self.sequence_number += 1;
        self.frames.push_named(&event);
    }

    fn text(&mut self, part: &AnswerPart, index: usize, item: &Value) {
        let whole = &item["content"][0];
        let place = |key: &str, value: Value| json!({ "output_index": index, "item_id": item["id"], "content_index": 0, key: value });
        let mut empty = whole.clone();
        empty["text"] = json!("");
        self.push("response.content_part.added", place("part", empty));
        match part {
            AnswerPart::Slow { over, text } => {
                for (word, time) in words(text, *over) {
                    self.push("response.output_text.delta", place("delta", json!(word)));
                    self.frames.push_pause(time);
                }
            }
            _ => {
                for piece in pieces(whole["text"].as_str().unwrap_or_default()) {
                    self.push("response.output_text.delta", place("delta", json!(piece)));
                }
            }
        }
        self.push("response.output_text.done", place("text", whole["text"].clone()));
        self.push("response.content_part.done", place("part", whole.clone()));
    }

    fn think(&mut self, text: &str, index: usize, item: &Value) {
        let place = |key: &str, value: Value| json!({ "output_index": index, "item_id": item["id"], "summary_index": 0, key: value });
        let part = |text: &str| json!({ "type": "summary_text", "text": text });
        self.push("response.reasoning_summary_part.added", place("part", part("")));
        for piece in pieces(text) {
            self.push("response.reasoning_summary_text.delta", place("delta", json!(piece)));
        }
        self.push("response.reasoning_summary_text.done", place("text", json!(text)));
        self.push("response.reasoning_summary_part.done", place("part", part(text)));
    }

    fn call(&mut self, call: &ModelToolCall, index: usize, item: &Value) {
        let (kind, key) = match call.input {
            ToolArguments::Text(_) => ("custom_tool_call_input", "input"),
            ToolArguments::Json(_) => ("function_call_arguments", "arguments"),
        };
        let place =
            |key: &str| json!({ "output_index": index, "item_id": item["id"], key: call.input.as_text() });
        self.push(&format!("response.{kind}.delta"), place("delta"));
        self.push(&format!("response.{kind}.done"), place(key));
    }
}

fn response(ids: &mut IdGenerator, model: &str) -> Value {
    let id = ids.next("resp_");
    json!({ "id": id, "object": "response", "created_at": 0, "model": model, "status": "in_progress", "output": [] })
}

fn complete(response: &mut Value, stop: StopReason, output: &[Value]) {
    response["status"] = json!("completed");
    if stop == StopReason::Tokens {
        response["status"] = json!("incomplete");
        response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    }
    response["output"] = json!(output);
    response["usage"] = json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 20,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 120,
    });
}

/// The finished output item of a part; `None` for a pause or a broken connection.
fn item(part: &AnswerPart, ids: &mut IdGenerator) -> Option<Value> {
    let id = ids.next("item_");
    match part {
        AnswerPart::Text(text) | AnswerPart::Slow { text, .. } => {
            let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
            Some(
                json!({ "id": id, "type": "message", "role": "assistant", "status": "completed", "content": content }),
            )
        }
        AnswerPart::Think(text) => {
            let summary = json!([{ "type": "summary_text", "text": text }]);
            Some(json!({ "id": id, "type": "reasoning", "summary": summary, "encrypted_content": null }))
        }
        AnswerPart::Call(call) => {
            let (kind, key) = match call.input {
                ToolArguments::Text(_) => ("custom_tool_call", "input"),
                ToolArguments::Json(_) => ("function_call", "arguments"),
            };
            let mut item = json!({
                "id": id, "type": kind, "call_id": ids.next("call_"), "name": call.name, "status": "completed",
                key: call.input.as_text(),
            });
            if let Some(namespace) = &call.namespace {
                item["namespace"] = json!(namespace);
            }
            Some(item)
        }
        AnswerPart::Wait(_) | AnswerPart::Cut => None,
    }
}

/// The item as `output_item.added` announces it: in progress and without content.
fn opened(item: &Value) -> Value {
    let mut item = item.clone();
    for (key, empty) in
        [("content", json!([])), ("summary", json!([])), ("arguments", json!("")), ("input", json!(""))]
    {
        if item.get(key).is_some() {
            item[key] = empty;
        }
    }
    if item.get("status").is_some() {
        item["status"] = json!("in_progress");
    }
    item
}
