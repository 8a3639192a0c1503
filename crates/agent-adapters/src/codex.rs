//! Sessions over Codex's app server: JSON-RPC in lines, without the member that says so.
//!
//! A process holds one thread of ours. What the agents of its agents say comes on threads of their own and is told as
//! the inner life of the call that started them. Codex has no approval of plans: a turn that planned is kept open and
//! asked about here, and what is answered begins another of its turns within the same of ours.

mod asks;
mod error;
mod files;
mod items;
mod models;
mod notices;
mod parts;
mod prompt;
mod rpc;
mod settings;
mod tools;
mod turn;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    Event, InputId,
    event::{AgentStarted, SessionStatus},
    sessions::{AgentError, SessionState},
};
use serde_json::{Value, json};

use self::{
    asks::Asks, items::Items, models::Models, rpc::Said, settings::Settings, turn::Turn, usage::Meter,
};
use super::{Adapted, Adapter, Fact, Heard, Offers, Options, Order, Out, Reply, Transport};

pub(super) use settings::modes;

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    let settings = Settings::new(options)?;
    let args = settings.args();
    let adapter = Box::new(Codex::new(settings));
    let (env, files) = Default::default();
    Ok(Adapted { adapter, transport: Transport::Lines, args, env, files })
}

/// One app server with one thread.
struct Codex {
    settings: Settings,
    /// Requests so far; the next one's id is one more.
    requests: u64,
    /// What the answer to a request means. An answer that never comes stays here; there is one such for an interrupt.
    waiting: BTreeMap<u64, Waiting>,
    version: Option<String>,
    /// Codex's models, once it was asked.
    models: Option<Models>,
    /// What Codex calls the session.
    thread: Option<String>,
    /// The session's MCP servers that have neither started nor failed to. Codex waits for them no longer than a second,
    /// and then works without their tools; it says in the end what became of each.
    starting: BTreeSet<String>,
    turn: Option<Turn>,
    items: Items,
    asks: Asks,
    meter: Meter,
}

/// What the answer to a request means.
enum Waiting {
    Initialized,
    /// Whether the model's provider wants a login.
    AccountRead,
    LoggedIn,
    SkillsKnown,
    ModelsListed,
    Resumed,
    Begun,
    /// The turn begins, for an input unless we began it ourselves.
    TurnBegun(Option<InputId>),
    Steered(InputId),
    /// Whatever it says, what matters comes as a notice.
    Done,
}

impl Adapter for Codex {
    fn start(&mut self, out: &mut Out) {
        self.request("initialize", &settings::hello(), Waiting::Initialized, out);
    }

    fn hear(&mut self, heard: Heard<'_>, out: &mut Out) {
        let line = match heard {
            Heard::Line(line) => line,
            Heard::TooLong { bytes } => {
                let error = format!("a line of {bytes} bytes is too long");
                return out.unparsed(self.items.name(), b"", error);
            }
            // Nothing is called over HTTP, so nothing answers.
            Heard::Answer { .. } => return,
        };
        let understood = match rpc::read(line) {
            Ok(Said::Answer { id, outcome }) => self.answered(id, outcome, out),
            Ok(Said::Request { id, method, params }) => self.asked(line, &id, &method, &params, out),
            Ok(Said::Notice { method, params }) => self.noticed(&method, &params, out),
            Err(error) => Err(error),
        };
        if let Err(error) = understood {
            out.unparsed(self.items.name(), line, error);
        }
    }

    fn tell(&mut self, order: Order, out: &mut Out) {
        match order {
            Order::Prompt(prompt) => self.prompt(&prompt, out),
            Order::Steer(prompt) => self.steer(prompt, out),
            Order::Interrupt => self.interrupt(out),
            Order::Answer { key, reply } => self.answer(&key, &reply, out),
        }
    }
}

impl Codex {
    fn new(settings: Settings) -> Self {
        let items = Items::new(settings.run.clone());
        let starting = settings.servers();
        Self {
            settings,
            requests: 0,
            waiting: BTreeMap::new(),
            version: None,
            models: None,
            thread: None,
            starting,
            turn: None,
            items,
            asks: Asks::default(),
            meter: Meter::default(),
        }
    }

    fn request(&mut self, method: &str, params: &Value, waiting: Waiting, out: &mut Out) {
        self.requests += 1;
        self.waiting.insert(self.requests, waiting);
        out.line(&json!({ "id": self.requests, "method": method, "params": params }));
    }

    /// Codex answered a request of ours.
    fn answered(&mut self, id: u64, outcome: Result<Value, String>, out: &mut Out) -> Result<(), String> {
        let Some(waiting) = self.waiting.remove(&id) else {
            return Err("a response to an unknown request".into());
        };
        match (waiting, outcome) {
            (Waiting::Initialized, Ok(result)) => self.initialized(&result, out),
            (Waiting::Initialized, Err(message)) => {
                out.facts.push(Fact::Failed(AgentError::ProtocolError { message }));
            }
            // A provider of the user's own configuration has a key of its own, and must not be sent this one.
            (Waiting::AccountRead, Ok(account)) if account["requiresOpenaiAuth"] == false => {
                self.name_skills(out);
            }
            // An older Codex may not know the method.
            (Waiting::AccountRead, _) => self.log_in(out),
            (Waiting::LoggedIn, Ok(_)) => self.name_skills(out),
            (Waiting::LoggedIn, Err(message)) => {
                out.facts.push(Fact::Failed(AgentError::TokenError { message }))
            }
            (Waiting::SkillsKnown, outcome) => {
                if let Err(message) = outcome {
                    out.event(Event::Error(super::unsupported("skills", message)));
                }
                self.list_models(out);
            }
            (Waiting::ModelsListed, outcome) => {
                // Without a list any model is accepted.
                self.models = outcome.ok().map(|listed| models::read(&listed));
                self.open(out);
            }
            (Waiting::Resumed, Err(message)) => {
                out.event(Event::Error(AgentError::ResumeFailed { message }));
                self.settings.resume = None;
                self.open(out);
            }
            (Waiting::Begun, Err(message)) => {
                out.facts.push(Fact::Failed(AgentError::StartFailed { message }))
            }
            (Waiting::Resumed, Ok(result)) => return self.opened(&result, true, out),
            (Waiting::Begun, Ok(result)) => return self.opened(&result, false, out),
            (Waiting::TurnBegun(input), Err(message)) => self.turn_refused(input, message, out),
            (Waiting::Steered(input), Err(reason)) => self.steer_refused(input, reason, out),
            // The answer names the turn too, but too early: until Codex says that it has started it can be neither
            // steered nor interrupted under that name.
            (Waiting::TurnBegun(_) | Waiting::Steered(_) | Waiting::Done, _) => {}
        }
        Ok(())
    }

    /// Codex has said who it is.
    fn initialized(&mut self, result: &Value, out: &mut Out) {
        // `name/0.166.0 (Debian …)`, with the name that we gave.
        let agent = result["userAgent"].as_str().unwrap_or_default();
        let version = agent.split_once('/').and_then(|(_, rest)| rest.split_whitespace().next());
        self.version = version.map(str::to_owned);
        out.line(&json!({ "method": "initialized" }));
        match self.settings.login() {
            Some(_) => self.request("account/read", &json!({}), Waiting::AccountRead, out),
            None => self.name_skills(out),
        }
    }

    fn log_in(&mut self, out: &mut Out) {
        match self.settings.login() {
            Some(params) => self.request("account/login/start", &params, Waiting::LoggedIn, out),
            None => self.name_skills(out),
        }
    }

    fn name_skills(&mut self, out: &mut Out) {
        match self.settings.skills() {
            Some(params) => self.request("skills/extraRoots/set", &params, Waiting::SkillsKnown, out),
            None => self.list_models(out),
        }
    }

    /// Asks for the models where a choice is to be checked or shown: it costs a request.
    fn list_models(&mut self, out: &mut Out) {
        if self.settings.lists_models() {
            return self.request("model/list", &models::all(), Waiting::ModelsListed, out);
        }
        self.open(out);
    }

    /// Begins the thread, or goes on with that of an earlier process.
    fn open(&mut self, out: &mut Out) {
        let models = self.models.as_ref().map(|models| models.shown.clone());
        out.facts.push(Fact::Offers(Offers { modes: modes(), models }));
        let (method, waiting) = match self.settings.resume {
            Some(_) => ("thread/resume", Waiting::Resumed),
            None => ("thread/start", Waiting::Begun),
        };
        self.request(method, &self.settings.thread(), waiting, out);
    }

    fn opened(&mut self, result: &Value, resumed: bool, out: &mut Out) -> Result<(), String> {
        let Some(thread) = result.pointer("/thread/id").and_then(Value::as_str) else {
            return Err("a thread without an id".into());
        };
        self.thread = Some(thread.to_owned());
        if let Some(models) = &self.models
            && let Err(error) = self.settings.check_model(models, result)
        {
            out.facts.push(Fact::Failed(error));
            return Ok(());
        }
        self.settings.opened(result, resumed);
        out.facts.push(Fact::Started {
            agent_session_id: self.thread.clone(),
            started: AgentStarted {
                model: self.settings.model.clone(),
                mode: Some(self.settings.agent_mode.clone()),
                version: self.version.clone(),
                resumed,
            },
        });
        out.facts.push(Fact::Ready);
        Ok(())
    }

    /// Codex asks something. What we do not know it is told so, or it would wait for ever.
    fn asked(
        &mut self,
        line: &[u8],
        id: &Value,
        method: &str,
        params: &Value,
        out: &mut Out,
    ) -> Result<(), String> {
        match asks::read(line, method, params, &mut self.items, out) {
            Ok((kind, asking)) => {
                let key = self.asks.open(id, kind);
                out.facts.push(Fact::Asked { key, asking });
                Ok(())
            }
            Err(error) => {
                out.line(&rpc::error(id, &error));
                Err(error)
            }
        }
    }

    fn answer(&mut self, key: &str, reply: &Reply, out: &mut Out) {
        if self.turn.as_ref().is_some_and(|turn| turn.plan_key() == Some(key)) {
            return self.plan_answered(reply, out);
        }
        // What is no longer asked needs no answer.
        if let Some(ask) = self.asks.close(key) {
            out.line(&rpc::result(&ask.id, &ask.kind.answer(reply)));
            ask.kind.settled(reply, &mut self.items, out);
        }
    }

    /// Tells people something that passes.
    fn status(&self, detail: impl Into<String>, out: &mut Out) {
        let state = match (&self.thread, &self.turn) {
            (None, _) => SessionState::Starting,
            (Some(_), None) => SessionState::Idle,
            (Some(_), Some(_)) => SessionState::Running,
        };
        out.event(Event::Status(SessionStatus { state, detail: Some(detail.into()) }));
    }
}

#[cfg(test)]
mod tests;
