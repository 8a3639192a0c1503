//! The OpenAI Chat Completions API, which opencode and pi use.

use serde_json::{Value, json};

use super::{
    conversation::{Conversation, Turn, list, text_of},
    dialect::Ids,
    frames::{Frame, Frames, argument_pieces, pieces, words},
    reply::{Answer, Part, Stop},
    tools::Tool,
};

pub(super) fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation::default();
    for tool in list(body, "tools") {
        let function = &tool["function"];
        let schema = function["parameters"].clone();
        conversation.tools.add(&function["name"], Tool { schema, ..Tool::default() });
    }
    for message in list(body, "messages") {
        let text = || text_of(&message["content"]);
        match message["role"].as_str() {
            Some("system" | "developer") => conversation.instructed = true,
            Some("assistant") => {
                conversation.turns.push(Turn::Model { calls: list(message, "tool_calls").len() });
            }
            Some("tool") => conversation.turns.push(Turn::Result(text())),
            _ => conversation.turns.push(Turn::User(text())),
        }
    }
    let format = &body["response_format"];
    let structured = format["type"].as_str().is_some_and(|kind| kind != "text");
    conversation.schema = structured.then(|| format["json_schema"]["schema"].clone());
    conversation
}

pub(super) fn whole(answer: &Answer, ids: &mut Ids, model: &str) -> Value {
    let text = Some(answer.whole_text()).filter(|text| !text.is_empty());
    let mut message = json!({ "role": "assistant", "content": text });
    let calls = answer.parts.iter().filter_map(|part| match part {
        Part::Call(call) => {
            let function = json!({ "name": call.name, "arguments": call.input.as_text() });
            Some(json!({ "id": ids.next("call_"), "type": "function", "function": function }))
        }
        _ => None,
    });
    let calls: Vec<_> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason(answer.stop) });
    json!({
        "id": ids.next("chatcmpl-"), "object": "chat.completion", "created": 0, "model": model,
        "choices": [choice], "usage": usage(),
    })
}

pub(super) fn stream(answer: &Answer, ids: &mut Ids, model: &str) -> Vec<Frame> {
    // All chunks of one answer carry the same id.
    let id = ids.next("chatcmpl-");
    let chunk = |choices: Value| json!({ "id": id, "object": "chat.completion.chunk", "created": 0, "model": model, "choices": choices });
    let delta = |delta: Value| chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]));
    let mut frames = Frames::default();
    frames.data(&delta(json!({ "role": "assistant", "content": "" })));
    let mut calls = 0;
    for part in &answer.parts {
        match part {
            Part::Cut => return frames.cut(),
            Part::Wait(time) => frames.wait(*time),
            Part::Text(text) => {
                pieces(text).into_iter().for_each(|text| frames.data(&delta(json!({ "content": text }))));
            }
            Part::Think(text) => {
                let pieces = pieces(text).into_iter();
                pieces.for_each(|text| frames.data(&delta(json!({ "reasoning_content": text }))));
            }
            Part::Slow { over, text } => {
                for (word, time) in words(text, *over) {
                    frames.data(&delta(json!({ "content": word })));
                    frames.pause(time);
                }
            }
            Part::Call(call) => {
                // Only the first chunk of a call has its id and name; clients assign later chunks by `index`.
                let function = json!({ "name": call.name, "arguments": "" });
                let start = json!({ "index": calls, "id": ids.next("call_"), "type": "function", "function": function });
                frames.data(&delta(json!({ "tool_calls": [start] })));
                for piece in argument_pieces(&call.input.as_text()) {
                    let more = json!({ "index": calls, "function": { "arguments": piece } });
                    frames.data(&delta(json!({ "tool_calls": [more] })));
                }
                calls += 1;
            }
        }
    }
    frames.data(&chunk(json!([{ "index": 0, "delta": {}, "finish_reason": finish_reason(answer.stop) }])));
    // The API sends the usage in a chunk of its own without choices, then a marker that is not JSON.
    let mut last = chunk(json!([]));
    last["usage"] = usage();
    frames.data(&last);
    frames.data(&"[DONE]");
    frames.end()
}

fn usage() -> Value {
    json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 })
}

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Calls => "tool_calls",
        Stop::Tokens => "length",
    }
}

/// The error body of both OpenAI APIs, Chat Completions and Responses.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "invalid_api_key",
        429 => "rate_limit_exceeded",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
}
