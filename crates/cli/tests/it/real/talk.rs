//! A conversation with an agent through the daemon: requests go in, everything comes back on the stream.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};
use testkit::{EventStream, ServerSentEvent, TestDaemon, within};

use super::turn::Turn;
use crate::secs;

/// How long an agent may take to say hello: the first one to say it is installed before, and its program of 300 MB
/// comes from a disk.
const START: u64 = 240;

/// How long an agent may be silent. On a busy machine some take half a minute for their first session.
const PATIENCE: u64 = 90;

/// How often a fact is looked at that nobody announces.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How permissions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// With the option of this kind.
    Choose(&'static str),
    /// Not until the turn is cancelled.
    Withhold,
}

pub(super) const ALLOW: Consent = Consent::Choose("allow_once");
pub(super) const REJECT: Consent = Consent::Choose("reject_once");

pub(super) struct Talk<'a> {
    daemon: &'a TestDaemon,
    instance: String,
    stream: EventStream,
    ids: u64,
    /// What the agent said of itself.
    pub(super) hello: Value,
    /// What the last new session offers, such as modes and models.
    pub(super) offered: Value,
    pub(super) consent: Consent,
    /// Permissions that were asked and not answered, by their id.
    open: Vec<Value>,
    turn: Turn,
    answers: Vec<Value>,
}

impl<'a> Talk<'a> {
    pub(super) async fn start(daemon: &'a TestDaemon, instance: &str) -> Self {
        let capabilities =
            json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
        let client = json!({ "name": "tombolo-tests", "version": "0.1.0" });
        let params =
            json!({ "protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": client });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let path = format!("/v1/acp/{instance}");
        let response = within(secs(START), daemon.post(&path, &message)).await;
        let hello: Value = response.json().await.expect("an answer");
        let hello = hello["result"].clone();
        assert_eq!(hello["protocolVersion"], 1, "{hello}");
        Self {
            stream: daemon.events(instance, None).await,
            daemon,
            instance: instance.into(),
            ids: 1,
            hello,
            offered: Value::Null,
            consent: Consent::Withhold,
            open: Vec::new(),
            turn: Turn::default(),
            answers: Vec::new(),
        }
    }

    /// The id of a new session.
    pub(super) async fn session(&mut self, directory: &Path) -> String {
        let new = self.request("session/new", json!({ "cwd": directory, "mcpServers": [] })).await;
        self.offered = new.expect("a session");
        self.offered["sessionId"].as_str().expect("the session's id").to_owned()
    }

    /// One whole turn.
    pub(super) async fn prompt(&mut self, session: &str, text: &str) -> Turn {
        let id = self.begin(session, text).await;
        self.end(id).await
    }

    /// Begins a turn; the value is to be given to [`end`](Self::end).
    pub(super) async fn begin(&mut self, session: &str, text: &str) -> u64 {
        self.turn = Turn::default();
        let prompt = json!([{ "type": "text", "text": text }]);
        self.ask("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await
    }

    /// Waits for the end of a turn.
    pub(super) async fn end(&mut self, id: u64) -> Turn {
        let result = self.answer(id).await;
        let mut turn = std::mem::take(&mut self.turn);
        turn.result = Some(result);
        turn
    }

    /// Reads on until the turn shows this.
    pub(super) async fn until(&mut self, shown: impl Fn(&Turn) -> bool) {
        while !shown(&self.turn) {
            self.read().await;
        }
    }

    /// Reads on until this holds, which nobody announces.
    pub(super) async fn until_fact(&mut self, fact: impl Fn() -> bool) {
        let limit = tokio::time::Instant::now() + secs(PATIENCE);
        while !fact() {
            assert!(tokio::time::Instant::now() < limit, "{:?}", self.turn);
            if let Ok(event) = tokio::time::timeout(LOOK_AGAIN, self.stream.next()).await {
                self.on_event(event).await;
            }
        }
    }

    /// Cancels the turn, and answers what it had asked, as a client must.
    pub(super) async fn cancel(&mut self, session: &str) {
        self.send(
            &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }),
        )
        .await;
        for id in std::mem::take(&mut self.open) {
            let result = json!({ "outcome": { "outcome": "cancelled" } });
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
        }
    }

    /// The result of a request, or the agent's error.
    pub(super) async fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// What was said since the last turn ended.
    pub(super) fn said(&self) -> &Turn {
        &self.turn
    }

    async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.ids += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.ids, "method": method, "params": params })).await;
        self.ids
    }

    async fn answer(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == id) {
                let mut answer = self.answers.swap_remove(at);
                return match answer.get_mut("error") {
                    Some(error) => Err(error.take()),
                    None => Ok(answer["result"].take()),
                };
            }
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let event = within(secs(PATIENCE), self.stream.next()).await;
        self.on_event(event).await;
    }

    async fn on_event(&mut self, event: Option<ServerSentEvent>) {
        let event = event.expect("the stream goes on");
        if event.event != "message" {
            assert_eq!(event.event, "unparsed", "{}", event.data);
            return;
        }
        let message: Value = serde_json::from_str(&event.data).expect("a message is JSON");
        match (message["method"].as_str(), message.get("id")) {
            (Some("session/update"), None) => self.turn.take(&message["params"]["update"]),
            (Some("session/request_permission"), Some(_)) => self.on_permission(&message).await,
            (Some(_), Some(id)) => {
                let error = json!({ "code": -32601, "message": "not here" });
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error })).await;
            }
            (None, Some(_)) => self.answers.push(message),
            _ => {}
        }
    }

    async fn on_permission(&mut self, message: &Value) {
        self.turn.asked.push(message["params"].clone());
        let Consent::Choose(kind) = self.consent else {
            self.open.push(message["id"].clone());
            return;
        };
        let options = message["params"]["options"].as_array().expect("options");
        let option = options.iter().find(|option| option["kind"] == kind).expect("an option of that kind");
        let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
        self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "outcome": outcome } })).await;
    }

    /// A request is answered on the stream, so that its place among the updates is seen.
    async fn send(&self, message: &Value) {
        let post = self.daemon.request(reqwest::Method::POST, &format!("/v1/acp/{}", self.instance));
        let post = post.header("prefer", "respond-async").json(message);
        let response = within(secs(PATIENCE), post.send()).await.expect("an answer");
        assert_eq!(response.status(), 202, "{message}: {:?}", response.text().await);
    }
}
