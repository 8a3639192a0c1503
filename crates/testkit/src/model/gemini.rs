//! The Gemini API, which gemini-cli uses.

use serde_json::{Value, json};

use super::{
    answer_frames::{AnswerFrame, AnswerFrames, pieces, words},
    conversation::{Conversation, ConversationTurn, list, text_of},
    model_api::IdGenerator,
    model_reply::{AnswerPart, ModelAnswer, StopReason},
    offered_tools::OfferedTool,
};

/// The file of a plan. In plan mode gemini-cli puts it into a directory of its own.
const PLAN_FILE: &str = "plan.md";

pub(super) fn parse_request(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        has_system_prompt: !text_of(&body["systemInstruction"]).is_empty(),
        ..Default::default()
    };
    for function in list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations")) {
        let schema = function.get("parametersJsonSchema").unwrap_or(&function["parameters"]).clone();
        conversation.tools.add(&function["name"], OfferedTool { schema, ..OfferedTool::default() });
    }
    conversation.plan_file = conversation.tools.wants_plan_file().then(|| PLAN_FILE.into());
    for content in list(body, "contents") {
        read_content(content, &mut conversation.turns);
    }
    let config = &body["generationConfig"];
    let schema = config.get("responseJsonSchema").or(config.get("responseSchema"));
    let structured = config["responseMimeType"] == "application/json";
    conversation.schema = structured.then(|| schema.cloned().unwrap_or_default());
    conversation
}

fn read_content(content: &Value, turns: &mut Vec<ConversationTurn>) {
    let parts = list(content, "parts");
    if content["role"] == "model" {
        let calls = parts.iter().filter(|part| part.get("functionCall").is_some()).count();
        turns.push(ConversationTurn::Model { calls });
        return;
    }
    let responses = parts.iter().filter_map(|part| part.get("functionResponse"));
    turns.extend(responses.map(|response| ConversationTurn::Result(response["response"].to_string())));
    let texts: Vec<_> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    if !texts.is_empty() {
        turns.push(ConversationTurn::User(texts.join("\n")));
    }
}

pub(super) fn response_body(answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Value {
    let parts = answer.parts.iter().filter_map(|part| match part {
        AnswerPart::Text(text) | AnswerPart::Slow { text, .. } => Some(json!({ "text": text })),
        AnswerPart::Think(text) => Some(json!({ "text": text, "thought": true })),
        AnswerPart::Call(_) => Some(call(part, ids)),
        AnswerPart::Wait(_) | AnswerPart::Cut => None,
    });
    let parts: Vec<_> = parts.collect();
    chunk(ids, model, &json!(parts), Some(answer.stop))
}

pub(super) fn stream_frames(answer: &ModelAnswer, ids: &mut IdGenerator, model: &str) -> Vec<AnswerFrame> {
    let mut frames = AnswerFrames::default();
    for part in &answer.parts {
        match part {
            AnswerPart::Cut => return frames.end_with_cut(),
            AnswerPart::Wait(time) => frames.push_wait(*time),
            AnswerPart::Text(text) => {
                for text in pieces(text) {
                    frames.push_data(&chunk(ids, model, &json!([{ "text": text }]), None));
                }
            }
            AnswerPart::Think(text) => {
                for text in pieces(text) {
                    frames.push_data(&chunk(ids, model, &json!([{ "text": text, "thought": true }]), None));
                }
            }
            AnswerPart::Slow { over, text } => {
                for (word, time) in words(text, *over) {
                    frames.push_data(&chunk(ids, model, &json!([{ "text": word }]), None));
                    frames.push_pause(time);
                }
            }
            AnswerPart::Call(_) => {
                let parts = json!([call(part, ids)]);
                frames.push_data(&chunk(ids, model, &parts, None));
            }
        }
    }
    frames.push_data(&chunk(ids, model, &json!([{ "text": "" }]), Some(answer.stop)));
    frames.finish()
}

fn call(part: &AnswerPart, ids: &mut IdGenerator) -> Value {
    let AnswerPart::Call(call) = part else { return Value::Null };
    json!({ "functionCall": { "id": ids.next("fc"), "name": call.name, "args": call.input.as_object() } })
}

fn chunk(ids: &mut IdGenerator, model: &str, parts: &Value, stop: Option<StopReason>) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if let Some(stop) = stop {
        // Unlike Anthropic and Chat Completions, Gemini has no finish reason of its own for tool calls.
        candidate["finishReason"] = json!(if stop == StopReason::Tokens { "MAX_TOKENS" } else { "STOP" });
    }
    json!({
        "candidates": [candidate], "modelVersion": model, "responseId": ids.next("r"),
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120 },
    })
}

pub(super) fn error_body(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({ "error": { "code": status, "message": message, "status": kind } })
}
