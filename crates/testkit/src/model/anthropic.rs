//! The Anthropic Messages API, which Claude Code and Amp use.

use serde_json::{Value, json};

use super::{
    answer_frames::{AnswerFrame, AnswerFrames, argument_pieces, pieces, words},
    conversation::{Conversation, ConversationTurn, list, text_of},
    model_api::IdGenerator,
    model_reply::{AnswerPart, ModelAnswer, StopReason},
    offered_tools::OfferedTool,
};

/// The API signs thinking blocks, and agents store the signature and send it back. The scripted model ignores it.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// In plan mode Claude Code names the file for the plan only in prose. These phrases precede its path.
const PLAN_FILE: [&str; 2] = ["plan at /", "plan file already exists at /"];

pub(super) fn parse_request(body: &Value) -> Conversation {
    let mut conversation =
        Conversation { has_system_prompt: !text_of(&body["system"]).is_empty(), ..Default::default() };
    for tool in list(body, "tools") {
        let schema = tool["input_schema"].clone();
        conversation.tools.add(&tool["name"], OfferedTool { schema, ..OfferedTool::default() });
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
        Some("assistant") => {
            conversation.turns.push(ConversationTurn::Model { calls: of("tool_use").count() })
        }
        Some("user") => {
            // Results first: text in the same message may be a new prompt, while the results belong to the old one.
            let results = of("tool_result").map(|block| ConversationTurn::Result(text_of(&block["content"])));
            conversation.turns.extend(results);
            conversation
                .turns
                .extend(of("text").map(|block| ConversationTurn::User(text_of(&block["text"]))));
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

pub(super) fn response_body(answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Value {
    let content: Vec<_> = answer
        .parts
        .iter()
        .filter_map(|part| match part {
            AnswerPart::Text(text) | AnswerPart::Slow { text, .. } => Some(json!({ "type": "text", "text": text })),
            AnswerPart::Think(text) => {
                Some(json!({ "type": "thinking", "thinking": text, "signature": SIGNATURE }))
            }
            AnswerPart::Call(call) => Some(json!({
                "type": "tool_use", "id": ids.next("toolu_"), "name": call.name, "input": call.input.as_object(),
            })),
            AnswerPart::Wait(_) | AnswerPart::Cut => None,
        })
        .collect();
    let mut message = message(ids, model, 20);
    message["content"] = json!(content);
    message["stop_reason"] = json!(stop_reason(answer.stop));
    message
}

/// Each part becomes one content block: a start event without content, the content as deltas, and a stop event.
pub(super) fn stream_frames(answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Vec<AnswerFrame> {
    let mut frames = AnswerFrames::default();
    frames.push_named(&json!({ "type": "message_start", "message": message(ids, model, 1) }));
    let mut index = 0;
    for part in &answer.parts {
        let start = match part {
            AnswerPart::Cut => return frames.end_with_cut(),
            AnswerPart::Wait(time) => {
                frames.push_wait(*time);
                continue;
            }
            AnswerPart::Text(_) | AnswerPart::Slow { .. } => json!({ "type": "text", "text": "" }),
            AnswerPart::Think(_) => json!({ "type": "thinking", "thinking": "", "signature": "" }),
            AnswerPart::Call(call) => {
                json!({ "type": "tool_use", "id": ids.next("toolu_"), "name": call.name, "input": {} })
            }
        };
        frames.push_named(&json!({ "type": "content_block_start", "index": index, "content_block": start }));
        deltas(part, index, &mut frames);
        frames.push_named(&json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    }
    let delta = json!({ "stop_reason": stop_reason(answer.stop), "stop_sequence": null });
    frames.push_named(&json!({ "type": "message_delta", "delta": delta, "usage": usage(20) }));
    frames.push_named(&json!({ "type": "message_stop" }));
    frames.finish()
}

fn deltas(part: &AnswerPart, index: usize, frames: &mut AnswerFrames) {
    let mut delta = |delta: Value| {
        frames.push_named(&json!({ "type": "content_block_delta", "index": index, "delta": delta }))
    };
    match part {
        AnswerPart::Text(text) => {
            pieces(text).into_iter().for_each(|text| delta(json!({ "type": "text_delta", "text": text })));
        }
        AnswerPart::Think(text) => {
            let pieces = pieces(text).into_iter();
            pieces.for_each(|text| delta(json!({ "type": "thinking_delta", "thinking": text })));
            delta(json!({ "type": "signature_delta", "signature": SIGNATURE }));
        }
        AnswerPart::Call(call) => {
            let input = call.input.as_object().to_string();
            let pieces = argument_pieces(&input).into_iter();
            pieces.for_each(|text| delta(json!({ "type": "input_json_delta", "partial_json": text })));
        }
        AnswerPart::Slow { over, text } => {
            for (word, time) in words(text, *over) {
                let delta = json!({ "type": "text_delta", "text": word });
                frames.push_named(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                frames.push_pause(time);
            }
        }
        AnswerPart::Wait(_) | AnswerPart::Cut => {}
    }
}

fn message(ids: &mut IdGenerator, model: &str, output: u32) -> Value {
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

fn stop_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End => "end_turn",
        StopReason::Calls => "tool_use",
        StopReason::Tokens => "max_tokens",
    }
}

pub(super) fn error_body(status: u16, message: &str) -> Value {
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
