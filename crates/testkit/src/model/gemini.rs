//! The Gemini API, which gemini-cli uses.

use serde_json::{Value, json};

use super::{
    conversation::{Conversation, Turn, list, text_of},
    dialect::Ids,
    frames::{Frame, Frames, pieces, words},
    reply::{Answer, Part, Stop},
    tools::Tool,
};

pub(super) fn read(body: &Value) -> Conversation {
    let mut conversation =
        Conversation { instructed: !text_of(&body["systemInstruction"]).is_empty(), ..Default::default() };
    for function in list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations")) {
        let schema = function.get("parametersJsonSchema").unwrap_or(&function["parameters"]).clone();
        conversation.tools.add(&function["name"], Tool { schema, ..Tool::default() });
    }
    for content in list(body, "contents") {
        read_content(content, &mut conversation.turns);
    }
    let config = &body["generationConfig"];
    let schema = config.get("responseJsonSchema").or(config.get("responseSchema"));
    let structured = config["responseMimeType"] == "application/json";
    conversation.schema = structured.then(|| schema.cloned().unwrap_or_default());
    conversation
}

fn read_content(content: &Value, turns: &mut Vec<Turn>) {
    let parts = list(content, "parts");
    if content["role"] == "model" {
        let calls = parts.iter().filter(|part| part.get("functionCall").is_some()).count();
        turns.push(Turn::Model { calls });
        return;
    }
    let responses = parts.iter().filter_map(|part| part.get("functionResponse"));
    turns.extend(responses.map(|response| Turn::Result(response["response"].to_string())));
    let texts: Vec<_> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    if !texts.is_empty() {
        turns.push(Turn::User(texts.join("\n")));
    }
}

pub(super) fn whole(answer: &Answer, ids: &mut Ids, model: &str) -> Value {
    let parts = answer.parts.iter().filter_map(|part| match part {
        Part::Text(text) | Part::Slow { text, .. } => Some(json!({ "text": text })),
        Part::Think(text) => Some(json!({ "text": text, "thought": true })),
        Part::Call(_) => Some(call(part, ids)),
        Part::Wait(_) | Part::Cut => None,
    });
    let parts: Vec<_> = parts.collect();
    chunk(ids, model, &json!(parts), Some(answer.stop))
}

pub(super) fn stream(answer: &Answer, ids: &mut Ids, model: &str) -> Vec<Frame> {
    let mut frames = Frames::default();
    for part in &answer.parts {
        match part {
            Part::Cut => return frames.cut(),
            Part::Wait(time) => frames.wait(*time),
            Part::Text(text) => {
                for text in pieces(text) {
                    frames.data(&chunk(ids, model, &json!([{ "text": text }]), None));
                }
            }
            Part::Think(text) => {
                for text in pieces(text) {
                    frames.data(&chunk(ids, model, &json!([{ "text": text, "thought": true }]), None));
                }
            }
            Part::Slow { over, text } => {
                for (word, time) in words(text, *over) {
                    frames.data(&chunk(ids, model, &json!([{ "text": word }]), None));
                    frames.pause(time);
                }
            }
            Part::Call(_) => {
                let parts = json!([call(part, ids)]);
                frames.data(&chunk(ids, model, &parts, None));
            }
        }
    }
    frames.data(&chunk(ids, model, &json!([{ "text": "" }]), Some(answer.stop)));
    frames.end()
}

fn call(part: &Part, ids: &mut Ids) -> Value {
    let Part::Call(call) = part else { return Value::Null };
    json!({ "functionCall": { "id": ids.next("fc"), "name": call.name, "args": call.input.as_object() } })
}

fn chunk(ids: &mut Ids, model: &str, parts: &Value, stop: Option<Stop>) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if let Some(stop) = stop {
        // Unlike Anthropic and Chat Completions, Gemini has no finish reason of its own for tool calls.
        candidate["finishReason"] = json!(if stop == Stop::Tokens { "MAX_TOKENS" } else { "STOP" });
    }
    json!({
        "candidates": [candidate], "modelVersion": model, "responseId": ids.next("r"),
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120 },
    })
}

pub(super) fn error(status: u16, message: &str) -> Value {
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
