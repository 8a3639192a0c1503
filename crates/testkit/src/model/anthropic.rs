//! The Anthropic Messages API, which Claude Code and Amp use.

use serde_json::{Value, json};

use super::{
    conversation::{Conversation, Turn, list, text_of},
    dialect::Ids,
    frames::{Frame, Frames, argument_pieces, pieces, words},
    reply::{Answer, Part, Stop},
    tools::Tool,
};

/// The API signs thinking blocks, and agents store the signature and send it back. The scripted model ignores it.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// In plan mode Claude Code names the file for the plan only in prose. These phrases precede its path.
const PLAN_FILE: [&str; 2] = ["plan at /", "plan file already exists at /"];

pub(super) fn read(body: &Value) -> Conversation {
    let mut conversation =
        Conversation { instructed: !text_of(&body["system"]).is_empty(), ..Default::default() };
    for tool in list(body, "tools") {
        let schema = tool["input_schema"].clone();
        conversation.tools.add(&tool["name"], Tool { schema, ..Tool::default() });
    }
    for message in list(body, "messages") {
        read_message(message, &mut conversation);
    }
    let format =
        [&body["output_config"]["format"], &body["output_format"]].into_iter().find(|it| it.is_object());
    conversation.schema = format.map(|format| format.get("schema").cloned().unwrap_or_default());
    conversation
}

fn read_message(message: &Value, conversation: &mut Conversation) {
    let content = &message["content"];
    let text = [json!({ "type": "text", "text": content })];
    let blocks = content.as_array().map_or(text.as_slice(), Vec::as_slice);
    let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
    // Searched in messages of all roles: Claude Code also sends `system` messages, and the path may be in one.
    if let Some(file) = plan_file(&text_of(content)) {
        conversation.plan_file = Some(file);
    }
    match message["role"].as_str() {
        Some("assistant") => conversation.turns.push(Turn::Model { calls: of("tool_use").count() }),
        Some("user") => {
            // Results first: text in the same message may be a new prompt, while the results belong to the old one.
            let results = of("tool_result").map(|block| Turn::Result(text_of(&block["content"])));
            conversation.turns.extend(results);
            conversation.turns.extend(of("text").map(|block| Turn::User(text_of(&block["text"]))));
        }
        _ => {}
    }
}

/// The path of the plan file, if `text` names it: it starts after one of the phrases and ends with `.md`.
fn plan_file(text: &str) -> Option<String> {
    let after = PLAN_FILE.iter().filter_map(|mark| text.rsplit_once(mark)).map(|(_, after)| after).next()?;
    let path = after.split(char::is_whitespace).next()?;
    let end = path.find(".md")?;
    Some(format!("/{}.md", &path[..end]))
}

pub(super) fn whole(answer: &Answer, ids: &mut Ids, model: &str) -> Value {
    let content: Vec<_> = answer
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) | Part::Slow { text, .. } => Some(json!({ "type": "text", "text": text })),
            Part::Think(text) => {
                Some(json!({ "type": "thinking", "thinking": text, "signature": SIGNATURE }))
            }
            Part::Call(call) => Some(json!({
                "type": "tool_use", "id": ids.next("toolu_"), "name": call.name, "input": call.input.as_object(),
            })),
            Part::Wait(_) | Part::Cut => None,
        })
        .collect();
    let mut message = message(ids, model, 20);
    message["content"] = json!(content);
    message["stop_reason"] = json!(stop_reason(answer.stop));
    message
}

/// Each part becomes one content block: a start event without content, the content as deltas, and a stop event.
pub(super) fn stream(answer: &Answer, ids: &mut Ids, model: &str) -> Vec<Frame> {
    let mut frames = Frames::default();
    frames.named(&json!({ "type": "message_start", "message": message(ids, model, 1) }));
    let mut index = 0;
    for part in &answer.parts {
        let start = match part {
            Part::Cut => return frames.cut(),
            Part::Wait(time) => {
                frames.wait(*time);
                continue;
            }
            Part::Text(_) | Part::Slow { .. } => json!({ "type": "text", "text": "" }),
            Part::Think(_) => json!({ "type": "thinking", "thinking": "", "signature": "" }),
            Part::Call(call) => {
                json!({ "type": "tool_use", "id": ids.next("toolu_"), "name": call.name, "input": {} })
            }
        };
        frames.named(&json!({ "type": "content_block_start", "index": index, "content_block": start }));
        deltas(part, index, &mut frames);
        frames.named(&json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    }
    let delta = json!({ "stop_reason": stop_reason(answer.stop), "stop_sequence": null });
    frames.named(&json!({ "type": "message_delta", "delta": delta, "usage": usage(20) }));
    frames.named(&json!({ "type": "message_stop" }));
    frames.end()
}

fn deltas(part: &Part, index: usize, frames: &mut Frames) {
    let mut delta = |delta: Value| {
        frames.named(&json!({ "type": "content_block_delta", "index": index, "delta": delta }))
    };
    match part {
        Part::Text(text) => {
            pieces(text).into_iter().for_each(|text| delta(json!({ "type": "text_delta", "text": text })));
        }
        Part::Think(text) => {
            let pieces = pieces(text).into_iter();
            pieces.for_each(|text| delta(json!({ "type": "thinking_delta", "thinking": text })));
            delta(json!({ "type": "signature_delta", "signature": SIGNATURE }));
        }
        Part::Call(call) => {
            let input = call.input.as_object().to_string();
            let pieces = argument_pieces(&input).into_iter();
            pieces.for_each(|text| delta(json!({ "type": "input_json_delta", "partial_json": text })));
        }
        Part::Slow { over, text } => {
            for (word, time) in words(text, *over) {
                let delta = json!({ "type": "text_delta", "text": word });
                frames.named(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                frames.pause(time);
            }
        }
        Part::Wait(_) | Part::Cut => {}
    }
}

fn message(ids: &mut Ids, model: &str, output: u32) -> Value {
    json!({
        "id": ids.next("msg_"), "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage(output),
    })
}

fn usage(output: u32) -> Value {
    json!({
        "input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": output,
    })
}

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::Calls => "tool_use",
        Stop::Tokens => "max_tokens",
    }
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}
