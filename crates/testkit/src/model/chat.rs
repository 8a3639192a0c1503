//! The OpenAI Chat Completions API, which opencode and pi use.

use serde_json::{Value, json};

use super::{
    answer_frames::{AnswerFrame, AnswerFrames, argument_pieces, pieces, words},
    conversation::{Conversation, ConversationTurn, list, text_of},
    model_api::IdGenerator,
    model_reply::{AnswerPart, ModelAnswer, StopReason},
    offered_tools::OfferedTool,
};

pub(super) fn parse_request(body: &Value) -> Conversation {
    let mut conversation = Conversation::default();
    for tool in list(body, "tools") {
        let function = &tool["function"];
        let schema = function["parameters"].clone();
        conversation.tools.add(&function["name"], OfferedTool { schema, ..OfferedTool::default() });
    }
    for message in list(body, "messages") {
        let text = || text_of(&message["content"]);
        match message["role"].as_str() {
            Some("system" | "developer") => conversation.has_system_prompt = true,
            Some("assistant") => {
                conversation.turns.push(ConversationTurn::Model { calls: list(message, "tool_calls").len() });
            }
            Some("tool") => conversation.turns.push(ConversationTurn::Result(text())),
            _ => conversation.turns.push(ConversationTurn::User(text())),
        }
    }
    let format = &body["response_format"];
    let structured = format["type"].as_str().is_some_and(|kind| kind != "text");
    conversation.schema = structured.then(|| format["json_schema"]["schema"].clone());
    conversation
}

pub(super) fn response_body(answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Value {
    let text = Some(answer.whole_text()).filter(|text| !text.is_empty());
    let mut message = json!({ "role": "assistant", "content": text });
    let calls = answer.parts.iter().filter_map(|part| match part {
        AnswerPart::Call(call) => {
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

pub(super) fn stream_frames(answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Vec<AnswerFrame> {
    // All chunks of one answer carry the same id.
    let id = ids.next("chatcmpl-");
    let chunk = |choices: Value| json!({ "id": id, "object": "chat.completion.chunk", "created": 0, "model": model, "choices": choices });
    let delta = |delta: Value| chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]));
    let mut frames = AnswerFrames::default();
    frames.push_data(&delta(json!({ "role": "assistant", "content": "" })));
    let mut calls = 0;
    for part in &answer.parts {
        match part {
            AnswerPart::Cut => return frames.end_with_cut(),
            AnswerPart::Wait(time) => frames.push_wait(*time),
            AnswerPart::Text(text) => {
                pieces(text)
                    .into_iter()
                    .for_each(|text| frames.push_data(&delta(json!({ "content": text }))));
            }
            AnswerPart::Think(text) => {
                let pieces = pieces(text).into_iter();
                pieces.for_each(|text| frames.push_data(&delta(json!({ "reasoning_content": text }))));
            }
            AnswerPart::Slow { over, text } => {
                for (word, time) in words(text, *over) {
                    frames.push_data(&delta(json!({ "content": word })));
                    frames.push_pause(time);
                }
            }
            AnswerPart::Call(call) => {
                // Only the first chunk of a call has its id and name; clients assign later chunks by `index`.
                let function = json!({ "name": call.name, "arguments": "" });
                let start = json!({ "index": calls, "id": ids.next("call_"), "type": "function", "function": function });
                frames.push_data(&delta(json!({ "tool_calls": [start] })));
                for piece in argument_pieces(&call.input.as_text()) {
                    let more = json!({ "index": calls, "function": { "arguments": piece } });
                    frames.push_data(&delta(json!({ "tool_calls": [more] })));
                }
                calls += 1;
            }
        }
    }
    frames
        .push_data(&chunk(json!([{ "index": 0, "delta": {}, "finish_reason": finish_reason(answer.stop) }])));
    // The API sends the usage in a chunk of its own without choices, then a marker that is not JSON.
    let mut last = chunk(json!([]));
    last["usage"] = usage();
    frames.push_data(&last);
    frames.push_data(&"[DONE]");
    frames.finish()
}

fn usage() -> Value {
    json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 })
}

fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End => "stop",
        StopReason::Calls => "tool_calls",
        StopReason::Tokens => "length",
    }
}

/// The error body of both OpenAI APIs, Chat Completions and Responses.
pub(super) fn error_body(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "invalid_api_key",
        429 => "rate_limit_exceeded",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
}
