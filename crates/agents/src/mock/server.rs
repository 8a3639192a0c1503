//! The mock's side of ACP: JSON-RPC in, steps done, JSON-RPC out.

use std::{
    collections::{HashMap, VecDeque},
    io::{self, BufRead, BufWriter, Write},
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    asks::{self, Ask},
    memory::{self, Memory},
    script::{self, Step},
};

/// Written to standard output by `/garbage`: text, a lone number, invalid UTF-8 and a NUL.
const GARBAGE: &[u8] = b"this is not JSON\n42\n\xff\xfe broken \xc3\n{\"half\": \nnul \0 inside\n";

pub(super) struct Server<W: Write> {
    output: BufWriter<W>,
    sessions: u64,
    requests: u64,
    memories: HashMap<String, Memory>,
    /// Everything may be removed.
    always: bool,
    turn: Option<Turn>,
}

/// A prompt that is being worked on.
struct Turn {
    request: Box<RawValue>,
    session: String,
    steps: VecDeque<Step>,
    /// Our own request to the client that the turn waits for: its id, and what it is about.
    asked: Option<(u64, &'static str)>,
    hangs: bool,
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
        Self {
            output: BufWriter::with_capacity(64 << 10, output),
            sessions: 0,
            requests: 0,
            memories: HashMap::new(),
            always: false,
            turn: None,
        }
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
                    "agentCapabilities": { "loadSession": true, "promptCapabilities": { "image": true } },
                    "authMethods": [],
                    "_meta": { "steering": { "supported": true } },
                }),
            )?,
            "authenticate" | "session/set_mode" | "session/set_model" => self.answer(&id, &json!({}))?,
            "session/new" => {
                self.sessions += 1;
                let session = memory::name(self.sessions);
                self.open(&session, params);
                let mut opened = opened();
                opened["sessionId"] = session.into();
                self.answer(&id, &opened)?;
            }
            "session/load" => {
                let session = params["sessionId"].as_str().unwrap_or_default();
                let told = self.memories.get_mut(session).map(Memory::take_told).unwrap_or_default();
                self.open(session, params);
                for update in told {
                    self.update_of(session, &update)?;
                }
                self.answer(&id, &opened())?;
            }
            "_session/steering" => return self.on_steering(&id, params),
            "session/prompt" if self.turn.is_some() => self.fail(Some(&id), -32600, "a turn is running already")?,
            "session/prompt" => return self.on_prompt(id, params),
            _ => self.fail(Some(&id), -32601, &format!("the mock has no method `{method}`"))?,
        }
        Ok(Next::Continue)
    }

    fn open(&mut self, session: &str, params: &Value) {
        let mut memory = Memory::new(params["cwd"].as_str().unwrap_or_default(), session);
        let servers = params["mcpServers"].as_array().map(Vec::as_slice).unwrap_or_default();
        memory.servers =
            servers.iter().filter_map(|server| Some(server["name"].as_str()?.to_owned())).collect();
        self.memories.insert(session.to_owned(), memory);
    }

    fn on_prompt(&mut self, request: Box<RawValue>, params: &Value) -> io::Result<Next> {
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let steps = steps(params);
        let blocks = params["prompt"].as_array().into_iter().flatten();
        for block in blocks {
            let update = json!({ "sessionUpdate": "user_message_chunk", "content": block });
            self.memories.entry(session.clone()).or_default().tell(&update);
        }
        self.turn = Some(Turn { request, session, steps, asked: None, hangs: false });
        self.advance()
    }

    /// Takes more into the turn; one that hangs goes on with it.
    fn on_steering(&mut self, id: &RawValue, params: &Value) -> io::Result<Next> {
        let Some(turn) = &mut self.turn else {
            self.answer(id, &json!({ "outcome": "rejected" }))?;
            return Ok(Next::Continue);
        };
        turn.steps.extend(steps(params));
        let goes_on = std::mem::take(&mut turn.hangs);
        self.answer(id, &json!({ "outcome": "accepted" }))?;
        if goes_on { self.advance() } else { Ok(Next::Continue) }
    }

    fn on_cancel(&mut self) -> io::Result<Next> {
        self.end_turn("cancelled")?;
        Ok(Next::Continue)
    }

    fn on_answer(&mut self, id: &RawValue, result: &Value) -> io::Result<Next> {
        let Some(turn) = &mut self.turn else { return Ok(Next::Continue) };
        let Some((_, what)) = turn.asked.take_if(|(asked, _)| asked.to_string() == id.get()) else {
            return Ok(Next::Continue);
        };
        let said = asks::said(result);
        self.always |= said == "always";
        if let Some(call) = asks::allowed_call(what, &said) {
            let update = json!({
                "sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed",
                "content": [{ "type": "content", "content": { "type": "text", "text": "removed" } }],
            });
            self.update(&update)?;
        }
        self.say(&format!("{what} answered: {said}"))?;
        self.advance()
    }

    /// Does the steps of the turn until one has to wait.
    fn advance(&mut self) -> io::Result<Next> {
        while let Some(turn) = &mut self.turn {
            let Some(step) = turn.steps.pop_front() else {
                self.end_turn("end_turn")?;
                break;
            };
            let session = turn.session.clone();
            match step {
                Step::Permission if self.always => self.say("permission not needed")?,
                Step::Permission => return self.ask(asks::permission(&session)),
                Step::Question => return self.ask(asks::question(&session)),
                Step::Approve(plan) => return self.ask(asks::approval(&session, &plan)),
                Step::Hang => {
                    turn.hangs = true;
                    break;
                }
                Step::Fail { code, message } => {
                    let Some(turn) = self.turn.take() else { break };
                    self.fail(Some(&turn.request), code, &message)?;
                }
                Step::Crash(code) => {
                    eprintln!("mock: crashing with code {code}, as told");
                    return Ok(Next::Exit(code));
                }
                step => self.tell(&session, step)?,
            }
        }
        Ok(Next::Continue)
    }

    /// Does a step that asks nothing and ends nothing.
    fn tell(&mut self, session: &str, step: Step) -> io::Result<()> {
        match step {
            Step::Say(text) => self.say(&text),
            Step::Think(text) => self.update(
                &json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": text } }),
            ),
            Step::Chunks(count) => (1..=count).try_for_each(|n| self.say(&format!("chunk {n} "))),
            Step::Drip { count, pause } => (1..=count).try_for_each(|n| {
                self.output.flush()?;
                rest(pause);
                self.say(&format!("chunk {n} "))
            }),
            Step::Updates { count, bytes } => {
                let text = "x".repeat(bytes);
                (0..count).try_for_each(|_| self.say(&text))
            }
            Step::Tool => self.tool(),
            Step::Edit => self.edit(),
            Step::Plan => self.update(&json!({ "sessionUpdate": "plan", "entries": [
                { "content": "Read the code", "priority": "high", "status": "completed" },
                { "content": "Change it", "priority": "high", "status": "in_progress" },
                { "content": "Run the tests", "priority": "low", "status": "pending" },
            ] })),
            Step::Commands => self.update(&json!({ "sessionUpdate": "available_commands_update", "availableCommands": [
                { "name": "review", "description": "Looks at a change", "input": { "hint": "which one" } },
            ] })),
            Step::Remember(text) => {
                self.memories.entry(session.to_owned()).or_default().keep(&text)?;
                self.say("remembered")
            }
            Step::Recall => {
                let text = self.memories.get(session).map(Memory::recall).unwrap_or_default();
                self.say(&format!("recalled: {text}"))
            }
            Step::Servers => {
                let names = self.memories.get(session).map(|memory| memory.servers.join(", "));
                self.say(&format!("servers: {}", names.unwrap_or_default()))
            }
            Step::Garbage => self.output.write_all(GARBAGE),
            // Done elsewhere.
            Step::Permission
            | Step::Question
            | Step::Approve(_)
            | Step::Hang
            | Step::Fail { .. }
            | Step::Crash(_) => Ok(()),
        }
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

    fn edit(&mut self) -> io::Result<()> {
        let diff = json!({
            "type": "diff", "path": "greeting.txt",
            "oldText": "Hello\nold friend\nbye\n", "newText": "Hello\nnew friend\nbye\n",
        });
        self.update(&json!({
            "sessionUpdate": "tool_call", "toolCallId": "call-3", "title": "Edit greeting.txt", "kind": "edit",
            "status": "in_progress", "rawInput": { "path": "greeting.txt" },
        }))?;
        self.update(&json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "call-3", "status": "completed", "content": [diff],
        }))
    }

    fn ask(&mut self, ask: Ask) -> io::Result<Next> {
        self.requests += 1;
        let (id, Ask { method, params, name }) = (self.requests, ask);
        if let Some(turn) = &mut self.turn {
            turn.asked = Some((id, name));
        }
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(Next::Continue)
    }

    fn update(&mut self, update: &Value) -> io::Result<()> {
        let session = self.turn.as_ref().map(|turn| turn.session.clone()).unwrap_or_default();
        self.update_of(&session, update)
    }

    fn update_of(&mut self, session: &str, update: &Value) -> io::Result<()> {
        self.memories.entry(session.to_owned()).or_default().tell(update);
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

fn steps(params: &Value) -> VecDeque<Step> {
    let blocks = params["prompt"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    script::parse(&texts.join("\n")).collect()
}

fn opened() -> Value {
    json!({
        "modes": {
            "currentModeId": "build",
            "availableModes": [
                { "id": "build", "name": "Build", "description": "Follows the script in the prompt." },
                { "id": "plan", "name": "Plan", "description": "Same as build." },
            ],
        },
        "models": {
            "currentModelId": "mock",
            "availableModels": [{ "modelId": "mock", "name": "No model" }],
        },
    })
}

#[expect(clippy::disallowed_methods, reason = "a pause is what was asked for")]
fn rest(pause: std::time::Duration) {
    std::thread::sleep(pause);
}
