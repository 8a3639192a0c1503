//! The mock's side of ACP: JSON-RPC in, steps done, JSON-RPC out.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufWriter, Write},
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::script::{self, Step};

/// Written to standard output by `/garbage`: text, a lone number, invalid UTF-8 and a NUL.
const GARBAGE: &[u8] = b"this is not JSON\n42\n\xff\xfe broken \xc3\n{\"half\": \nnul \0 inside\n";

pub(super) struct Server<W: Write> {
    output: BufWriter<W>,
    sessions: u64,
    requests: u64,
    turn: Option<Turn>,
}

/// A prompt that is being worked on.
struct Turn {
    request: Box<RawValue>,
    session: String,
    steps: VecDeque<Step>,
    /// The id of our own request to the client that the turn waits for.
    asked: Option<u64>,
}

/// Whether to go on serving.
enum Next {
    Continue,
    Exit(u8),
}

#[derive(Deserialize)]
struct Incoming {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
}

impl<W: Write> Server<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output: BufWriter::with_capacity(64 << 10, output), sessions: 0, requests: 0, turn: None }
    }

    pub(super) fn serve(mut self, mut input: impl BufRead) -> io::Result<u8> {
        let mut line = String::new();
        loop {
            line.clear();
            if input.read_line(&mut line)? == 0 {
                return Ok(0);
            }
            let next = match serde_json::from_str::<Incoming>(&line) {
                Ok(message) => self.on_message(message)?,
                Err(_) => {
                    self.fail(None, -32700, "this line is not a JSON-RPC message")?;
                    Next::Continue
                }
            };
            self.output.flush()?;
            if let Next::Exit(code) = next {
                return Ok(code);
            }
        }
    }

    fn on_message(&mut self, message: Incoming) -> io::Result<Next> {
        match (message.method.as_deref(), message.id) {
            (Some(method), Some(id)) => self.on_request(method, id, &message.params),
            (Some("session/cancel"), None) => self.on_cancel(),
            (None, Some(id)) => self.on_answer(&id, &message.result),
            _ => Ok(Next::Continue),
        }
    }

    fn on_request(&mut self, method: &str, id: Box<RawValue>, params: &Value) -> io::Result<Next> {
        match method {
            "initialize" => self.answer(
                &id,
                &json!({
                    "protocolVersion": 1,
                    "agentInfo": { "name": "mock", "title": "Mock agent", "version": env!("CARGO_PKG_VERSION") },
                    "agentCapabilities": { "loadSession": false, "promptCapabilities": {} },
                    "authMethods": [],
                }),
            )?,
            "authenticate" | "session/set_mode" => self.answer(&id, &json!({}))?,
            "session/new" => {
                self.sessions += 1;
                let modes = json!({
                    "currentModeId": "build",
                    "availableModes": [{ "id": "build", "name": "Build" }, { "id": "plan", "name": "Plan" }],
                });
                self.answer(&id, &json!({ "sessionId": format!("mock-{}", self.sessions), "modes": modes }))?;
            }
            "session/prompt" if self.turn.is_some() => self.fail(Some(&id), -32600, "a turn is running already")?,
            "session/prompt" => return self.on_prompt(id, params),
            _ => self.fail(Some(&id), -32601, &format!("the mock has no method `{method}`"))?,
        }
        Ok(Next::Continue)
    }

    fn on_prompt(&mut self, request: Box<RawValue>, params: &Value) -> io::Result<Next> {
        let blocks = params["prompt"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let steps = script::parse(&texts.join("\n")).collect();
        self.turn = Some(Turn { request, session, steps, asked: None });
        self.advance()
    }

    fn on_cancel(&mut self) -> io::Result<Next> {
        self.end_turn("cancelled")?;
        Ok(Next::Continue)
    }

    fn on_answer(&mut self, id: &RawValue, result: &Value) -> io::Result<Next> {
        let Some(turn) = &mut self.turn else { return Ok(Next::Continue) };
        if turn.asked.is_none_or(|asked| asked.to_string() != id.get()) {
            return Ok(Next::Continue);
        }
        turn.asked = None;
        let chosen = result["outcome"]["optionId"].as_str().or(result["outcome"]["outcome"].as_str());
        let said = format!("permission answered: {}", chosen.unwrap_or("nothing"));
        self.update(
            &json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": said } }),
        )?;
        self.advance()
    }

    /// Does the steps of the turn until one has to wait.
    fn advance(&mut self) -> io::Result<Next> {
        while let Some(turn) = &mut self.turn {
            let Some(step) = turn.steps.pop_front() else {
                self.end_turn("end_turn")?;
                break;
            };
            match step {
                Step::Say(text) => self.say(&text)?,
                Step::Think(text) => self.update(
                    &json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": text } }),
                )?,
                Step::Chunks(count) => (1..=count).try_for_each(|n| self.say(&format!("chunk {n} ")))?,
                Step::Updates { count, bytes } => {
                    let text = "x".repeat(bytes);
                    (0..count).try_for_each(|_| self.say(&text))?;
                }
                Step::Tool => self.tool()?,
                Step::Permission => {
                    self.ask_permission()?;
                    break;
                }
                Step::Garbage => self.output.write_all(GARBAGE)?,
                Step::Hang => break,
                Step::Crash(code) => {
                    eprintln!("mock: crashing with code {code}, as told");
                    return Ok(Next::Exit(code));
                }
            }
        }
        Ok(Next::Continue)
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        self.update(
            &json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
        )
    }

    fn tool(&mut self) -> io::Result<()> {
        self.update(&json!({
            "sessionUpdate": "tool_call", "toolCallId": "call-1", "title": "List files", "kind": "execute",
            "status": "pending", "rawInput": { "command": "ls" },
        }))?;
        self.update(&json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed",
            "content": [{ "type": "content", "content": { "type": "text", "text": "README.md" } }],
        }))
    }

    fn ask_permission(&mut self) -> io::Result<()> {
        self.requests += 1;
        let Some(turn) = &mut self.turn else { return Ok(()) };
        turn.asked = Some(self.requests);
        let params = json!({
            "sessionId": turn.session,
            "toolCall": { "toolCallId": "call-2", "title": "Remove everything", "kind": "delete", "status": "pending" },
            "options": [
                { "optionId": "allow", "name": "Allow", "kind": "allow_once" },
                { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
            ],
        });
        let id = self.requests;
        self.write(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }),
        )
    }

    fn update(&mut self, update: &Value) -> io::Result<()> {
        let session = self.turn.as_ref().map(|turn| turn.session.as_str()).unwrap_or_default();
        let params = json!({ "sessionId": session, "update": update });
        self.write(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
    }

    fn end_turn(&mut self, reason: &str) -> io::Result<()> {
        let Some(turn) = self.turn.take() else { return Ok(()) };
        self.answer(&turn.request, &json!({ "stopReason": reason }))
    }

    fn answer(&mut self, id: &RawValue, result: &Value) -> io::Result<()> {
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    fn fail(&mut self, id: Option<&RawValue>, code: i64, message: &str) -> io::Result<()> {
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.output, message)?;
        self.output.write_all(b"\n")
    }
}
