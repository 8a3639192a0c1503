//! The mock's side of ACP: reads JSON-RPC, runs the steps of each prompt, writes JSON-RPC.

use std::{
    collections::{HashMap, VecDeque},
    io::{self, BufRead, BufWriter, Write},
    ops::ControlFlow,
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    client_request::{self, ClientRequest},
    script::{self, PromptStep},
    session_memory::{self, SessionMemory},
};

/// Written to standard output by `/garbage`: text, a lone number, invalid UTF-8 and a NUL.
const GARBAGE: &[u8] = b"this is not JSON\n42\n\xff\xfe broken \xc3\n{\"half\": \nnul \0 inside\n";

/// Serves one client.
pub(super) struct MockServer<W: Write> {
    output: BufWriter<W>,
    sessions: u64,
    requests: u64,
    memories: HashMap<String, SessionMemory>,
    /// The client has allowed removals for good.
    removal_always_allowed: bool,
    turn: Option<PromptTurn>,
}

/// The prompt whose steps are running.
struct PromptTurn {
    request: Box<RawValue>,
    session: String,
    steps: VecDeque<PromptStep>,
    /// The request to the client whose answer the turn awaits.
    awaited: Option<AwaitedAnswer>,
    /// The turn does nothing until it is cancelled or steered.
    hangs: bool,
}

/// A request to the client that has no answer yet.
struct AwaitedAnswer {
    id: u64,
    topic: &'static str,
}

/// Whether to serve further messages, or to exit with a code.
type ServeFlow = ControlFlow<u8>;

/// A request, notification or response of the client.
#[derive(Deserialize)]
struct ClientMessage {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
}

impl<W: Write> MockServer<W> {
    pub(super) fn new(output: W) -> Self {
        Self {
            output: BufWriter::with_capacity(64 << 10, output),
            sessions: 0,
            requests: 0,
            memories: HashMap::new(),
            removal_always_allowed: false,
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
            let next = match serde_json::from_str::<ClientMessage>(&line) {
                Ok(message) => self.on_message(message)?,
                Err(_) => {
                    self.fail(None, -32700, "this line is not a JSON-RPC message")?;
                    ServeFlow::Continue(())
                }
            };
            self.output.flush()?;
            if let ServeFlow::Break(code) = next {
                return Ok(code);
            }
        }
    }

    fn on_message(&mut self, message: ClientMessage) -> io::Result<ServeFlow> {
        match (message.method.as_deref(), message.id) {
            (Some(method), Some(id)) => self.on_request(method, id, &message.params),
            (Some("session/cancel"), None) => self.on_cancel(),
            (None, Some(id)) => self.on_answer(&id, &message.result),
            _ => Ok(ServeFlow::Continue(())),
        }
    }

    fn on_request(&mut self, method: &str, id: Box<RawValue>, params: &Value) -> io::Result<ServeFlow> {
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
                let session = session_memory::session_id(self.sessions);
                self.open(&session, params);
                let mut opened = offered_choices();
                opened["sessionId"] = session.into();
                self.answer(&id, &opened)?;
            }
            "session/load" => {
                let session = params["sessionId"].as_str().unwrap_or_default();
                let updates = self.memories.get_mut(session).map(SessionMemory::take_updates).unwrap_or_default();
                self.open(session, params);
                for update in updates {
                    self.update_session(session, &update)?;
                }
                self.answer(&id, &offered_choices())?;
            }
            "_session/steering" => return self.on_steering(&id, params),
            "session/prompt" if self.turn.is_some() => self.fail(Some(&id), -32600, "a turn is running already")?,
            "session/prompt" => return self.on_prompt(id, params),
            _ => self.fail(Some(&id), -32601, &format!("the mock has no method `{method}`"))?,
        }
        Ok(ServeFlow::Continue(()))
    }

    fn open(&mut self, session: &str, params: &Value) {
        let mut memory = SessionMemory::new(params["cwd"].as_str().unwrap_or_default(), session);
        let servers = params["mcpServers"].as_array().map(Vec::as_slice).unwrap_or_default();
        memory.servers =
            servers.iter().filter_map(|server| Some(server["name"].as_str()?.to_owned())).collect();
        self.memories.insert(session.to_owned(), memory);
    }

    fn on_prompt(&mut self, request: Box<RawValue>, params: &Value) -> io::Result<ServeFlow> {
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let steps = steps(params);
        let blocks = params["prompt"].as_array().into_iter().flatten();
        for block in blocks {
            let update = json!({ "sessionUpdate": "user_message_chunk", "content": block });
            self.memories.entry(session.clone()).or_default().record(&update);
        }
        self.turn = Some(PromptTurn { request, session, steps, awaited: None, hangs: false });
        self.advance()
    }

    /// Adds steps to the running turn. A turn that hangs continues with them.
    fn on_steering(&mut self, id: &RawValue, params: &Value) -> io::Result<ServeFlow> {
        let Some(turn) = &mut self.turn else {
            self.answer(id, &json!({ "outcome": "rejected" }))?;
            return Ok(ServeFlow::Continue(()));
        };
        turn.steps.extend(steps(params));
        let was_hanging = std::mem::take(&mut turn.hangs);
        self.answer(id, &json!({ "outcome": "accepted" }))?;
        if was_hanging { self.advance() } else { Ok(ServeFlow::Continue(())) }
    }

    fn on_cancel(&mut self) -> io::Result<ServeFlow> {
        self.end_turn("cancelled")?;
        Ok(ServeFlow::Continue(()))
    }

    fn on_answer(&mut self, id: &RawValue, result: &Value) -> io::Result<ServeFlow> {
        let Some(turn) = &mut self.turn else { return Ok(ServeFlow::Continue(())) };
        let Some(awaited) = turn.awaited.take_if(|awaited| awaited.id.to_string() == id.get()) else {
            return Ok(ServeFlow::Continue(()));
        };
        let topic = awaited.topic;
        let answer = client_request::answer_in(result);
        self.removal_always_allowed |= answer == "always";
        if let Some(call) = client_request::allowed_call(topic, &answer) {
            let update = json!({
                "sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed",
                "content": [{ "type": "content", "content": { "type": "text", "text": "removed" } }],
            });
            self.update(&update)?;
        }
        self.say(&format!("{topic} answered: {answer}"))?;
        self.advance()
    }

    /// Runs the steps of the turn until one has to wait.
    fn advance(&mut self) -> io::Result<ServeFlow> {
        while let Some(turn) = &mut self.turn {
            let Some(step) = turn.steps.pop_front() else {
                self.end_turn("end_turn")?;
                break;
            };
            let session = turn.session.clone();
            match step {
                PromptStep::Permission if self.removal_always_allowed => self.say("permission not needed")?,
                PromptStep::Permission => return self.ask(client_request::permission(&session)),
                PromptStep::Question => return self.ask(client_request::question(&session)),
                PromptStep::Approve(plan) => return self.ask(client_request::approval(&session, &plan)),
                PromptStep::Hang => {
                    turn.hangs = true;
                    break;
                }
                PromptStep::Fail { code, message } => {
                    let Some(turn) = self.turn.take() else { break };
                    self.fail(Some(&turn.request), code, &message)?;
                }
                PromptStep::Crash(code) => {
                    eprintln!("mock: crashing with code {code}, as told");
                    return Ok(ServeFlow::Break(code));
                }
                step => self.run_step(&session, step)?,
            }
        }
        Ok(ServeFlow::Continue(()))
    }

    /// Runs a step that neither waits for the client nor ends the turn.
    fn run_step(&mut self, session: &str, step: PromptStep) -> io::Result<()> {
        match step {
            PromptStep::Say(text) => self.say(&text),
            PromptStep::Think(text) => self.update(
                &json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": text } }),
            ),
            PromptStep::Chunks(count) => (1..=count).try_for_each(|n| self.say(&format!("chunk {n} "))),
            PromptStep::Drip { count, pause } => (1..=count).try_for_each(|n| {
                self.output.flush()?;
                pause_for(pause);
                self.say(&format!("chunk {n} "))
            }),
            PromptStep::Updates { count, bytes } => {
                let text = "x".repeat(bytes);
                (0..count).try_for_each(|_| self.say(&text))
            }
            PromptStep::Tool => self.tool(),
            PromptStep::Edit => self.edit(),
            PromptStep::Plan => self.update(&json!({ "sessionUpdate": "plan", "entries": [
                { "content": "Read the code", "priority": "high", "status": "completed" },
                { "content": "Change it", "priority": "high", "status": "in_progress" },
                { "content": "Run the tests", "priority": "low", "status": "pending" },
            ] })),
            PromptStep::Commands => self.update(&json!({ "sessionUpdate": "available_commands_update", "availableCommands": [
                { "name": "review", "description": "Looks at a change", "input": { "hint": "which one" } },
            ] })),
            PromptStep::Remember(text) => {
                self.memories.entry(session.to_owned()).or_default().remember(&text)?;
                self.say("remembered")
            }
            PromptStep::Recall => {
                let text = self.memories.get(session).map(SessionMemory::recall).unwrap_or_default();
                self.say(&format!("recalled: {text}"))
            }
            PromptStep::Servers => {
                let names = self.memories.get(session).map(|memory| memory.servers.join(", "));
                self.say(&format!("servers: {}", names.unwrap_or_default()))
            }
            PromptStep::Garbage => self.output.write_all(GARBAGE),
            // `advance` runs these.
            PromptStep::Permission
            | PromptStep::Question
            | PromptStep::Approve(_)
            | PromptStep::Hang
            | PromptStep::Fail { .. }
            | PromptStep::Crash(_) => Ok(()),
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

    fn ask(&mut self, request: ClientRequest) -> io::Result<ServeFlow> {
        self.requests += 1;
        let id = self.requests;
        let ClientRequest { method, params, topic } = request;
        if let Some(turn) = &mut self.turn {
            turn.awaited = Some(AwaitedAnswer { id, topic });
        }
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(ServeFlow::Continue(()))
    }

    fn update(&mut self, update: &Value) -> io::Result<()> {
        let session = self.turn.as_ref().map(|turn| turn.session.clone()).unwrap_or_default();
        self.update_session(&session, update)
    }

    fn update_session(&mut self, session: &str, update: &Value) -> io::Result<()> {
        self.memories.entry(session.to_owned()).or_default().record(update);
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

fn steps(params: &Value) -> VecDeque<PromptStep> {
    let blocks = params["prompt"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    script::parse(&texts.join("\n")).collect()
}

fn offered_choices() -> Value {
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
fn pause_for(pause: std::time::Duration) {
    std::thread::sleep(pause);
}
