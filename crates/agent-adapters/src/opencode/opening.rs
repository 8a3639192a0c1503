//! From a server to a session that can be told things.

use protocol::{Event, agents::AgentMode, event::AgentStarted, sessions::AgentError};
use serde_json::{Value, json};

use super::{
    Opencode,
    calls::{Purpose, escaped},
    fault, models,
};
use crate::{
    Fact, Out, mcp_unavailable,
    offers::{check_mode, with_build},
};

impl Opencode {
    pub(super) fn open(&mut self, out: &mut Out) {
        self.calls.get(Purpose::Modes, format!("/agent{}", self.directory), out);
    }

    pub(super) fn answered(&mut self, call: u64, status: u16, body: &[u8], out: &mut Out) {
        let Some(purpose) = self.calls.answered(call) else {
            return self.not_understood(body, "a response to an unknown request", out);
        };
        let good = (200..300).contains(&status);
        let said: Value = serde_json::from_slice(body).unwrap_or_default();
        match purpose {
            Purpose::Resume if status == 404 => {
                let message = fault::answer(status, body);
                out.event(Event::Error(AgentError::ResumeFailed { message }));
                self.create(out);
            }
            Purpose::Modes | Purpose::Models | Purpose::Config | Purpose::Create | Purpose::Resume
                if !good =>
            {
                let message = fault::answer(status, body);
                out.facts.push(Fact::Failed(AgentError::StartFailed { message }));
            }
            Purpose::Modes => self.modes(&said, out),
            Purpose::Models => self.models(&said, out),
            Purpose::Config => {
                self.prompts.default_model(said["model"].as_str());
                self.after_config(out);
            }
            Purpose::Mcp => self.mcp(&said, out),
            Purpose::Create => self.opened(&said, false, out),
            Purpose::Resume => self.opened(&said, true, out),
            Purpose::Prompt(input) => {
                if !good {
                    self.refused(input, &fault::answer(status, body), out);
                }
            }
            Purpose::Plan(key) => self.plan_text(&key, said["content"].as_str(), out),
            // It is gone: what it was about has ended meanwhile.
            Purpose::Notice(_) if good || status == 404 => {}
            Purpose::Notice(doing) => {
                let message = format!("could not {doing}: {}", fault::answer(status, body));
                out.event(Event::Error(AgentError::Other { message }));
            }
        }
    }

    fn modes(&mut self, said: &Value, out: &mut Out) {
        let usable =
            |mode: &&Value| mode["mode"] != "subagent" && mode["hidden"] != true && mode["name"].is_string();
        let usable = said.as_array().into_iter().flatten().filter(usable);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let modes = usable.map(|said| AgentMode {
            id: text(&said["name"]),
            name: text(&said["name"]),
            description: text(&said["description"]),
        });
        // `build` is the default behaviour of whatever the server has.
        self.offers.modes = with_build(modes.collect());
        if let Err(error) = check_mode(&self.offers.modes, self.prompts.mode()) {
            return out.facts.push(Fact::Failed(error));
        }
        if self.asks_models || self.prompts.chooses_model() {
            let path = format!("/config/providers{}", self.directory);
            return self.calls.get(Purpose::Models, path, out);
        }
        self.offered(out);
    }

    fn models(&mut self, said: &Value, out: &mut Out) {
        let models = models::read(said);
        if let Err(error) = self.prompts.check(&models) {
            return out.facts.push(Fact::Failed(error));
        }
        self.offers.models = Some(models);
        self.offered(out);
    }

    fn offered(&mut self, out: &mut Out) {
        out.facts.push(Fact::Offers(self.offers.clone()));
        if self.prompts.has_model() {
            return self.after_config(out);
        }
        self.calls.get(Purpose::Config, format!("/config{}", self.directory), out);
    }

    fn after_config(&mut self, out: &mut Out) {
        if self.has_mcp {
            // It answers when they are there, or are known not to be.
            return self.calls.get(Purpose::Mcp, format!("/mcp{}", self.directory), out);
        }
        self.enter(out);
    }

    fn mcp(&mut self, said: &Value, out: &mut Out) {
        for (name, server) in said.as_object().into_iter().flatten() {
            if server["status"] == "failed" {
                let why = server["error"].as_str().unwrap_or("it failed");
                out.facts.push(mcp_unavailable(name, why));
            }
        }
        self.enter(out);
    }

    fn enter(&mut self, out: &mut Out) {
        match &self.resume {
            Some(id) => {
                let path = format!("/session/{}{}", escaped(id), self.directory);
                self.calls.get(Purpose::Resume, path, out);
            }
            None => self.create(out),
        }
    }

    fn create(&mut self, out: &mut Out) {
        let body = json!({ "permission": self.policy.rules() });
        self.calls.post(Purpose::Create, format!("/session{}", self.directory), Some(body), out);
    }

    fn opened(&mut self, info: &Value, resumed: bool, out: &mut Out) {
        let Some(id) = info["id"].as_str() else {
            let message = "the server created a session without an id".into();
            return out.facts.push(Fact::Failed(AgentError::ProtocolError { message }));
        };
        self.session = Some(id.to_owned());
        if resumed && !self.policy.recall(&info["permission"]) {
            let rules = self.policy.rules();
            self.amend(&rules, out);
        }
        let started = AgentStarted {
            model: self.prompts.model(),
            mode: Some(self.prompts.mode().to_owned()),
            version: info["version"].as_str().map(str::to_owned),
            resumed,
        };
        out.facts.push(Fact::Started { agent_session_id: Some(id.to_owned()), started });
        out.facts.push(Fact::Ready);
    }

    /// Adds rules to those of the session.
    pub(super) fn amend(&mut self, rules: &Value, out: &mut Out) {
        let path = self.path("");
        self.calls.patch(Purpose::Notice("change the rules"), path, json!({ "permission": rules }), out);
    }

    /// The path of something of the session.
    pub(super) fn path(&self, what: &str) -> String {
        format!("/session/{}{what}{}", escaped(self.session.as_deref().unwrap_or_default()), self.directory)
    }
}
