//! The requests from the start of the server to a session that accepts prompts.

use protocol::{Event, agents::AgentMode, event::AgentStarted, sessions::AgentError};
use serde_json::{Value, json};

use super::{
    OpencodeAdapter, model_list,
    server_calls::{CallPurpose, escaped},
    turn_fault::failed_request,
    wire_session::{
        OpencodeAgent, OpencodeConfig, OpencodeFile, OpencodeMcpStatus, PermissionRule, SessionInfo,
    },
};
use crate::{
    Fact, Out, lenient, mcp_unavailable,
    offers::{check_mode, with_build},
};

/// The mode of agents that only other agents can start.
const SUBAGENT: &str = "subagent";

/// The status of an MCP server that could not be started.
const MCP_FAILED: &str = "failed";

impl OpencodeAdapter {
    pub(super) fn list_modes(&mut self, out: &mut Out) {
        self.calls.get(CallPurpose::ListModes, format!("/agent{}", self.directory), out);
    }

    pub(super) fn handle_answer(&mut self, call: u64, status: u16, body: &[u8], out: &mut Out) {
        let Some(purpose) = self.calls.take_answered(call) else {
            return self.add_unparsed(body, "a response to an unknown request", out);
        };
        let is_success = (200..300).contains(&status);
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        match purpose {
            CallPurpose::ResumeSession if status == 404 => {
                let message = failed_request(status, body);
                out.event(Event::Error(AgentError::ResumeFailed { message }));
                self.create_session(out);
            }
            CallPurpose::ListModes
            | CallPurpose::ListModels
            | CallPurpose::ReadConfig
            | CallPurpose::CreateSession
            | CallPurpose::ResumeSession
                if !is_success =>
            {
                let message = failed_request(status, body);
                out.facts.push(Fact::Failed(AgentError::StartFailed { message }));
            }
            CallPurpose::ListModes => self.modes_listed(&answer, out),
            CallPurpose::ListModels => self.models_listed(&answer, out),
            CallPurpose::ReadConfig => {
                let config: OpencodeConfig = lenient::object(&answer);
                self.prompts.set_default_model(config.model.as_deref());
                self.read_mcp_status(out);
            }
            CallPurpose::ReadMcpStatus => self.mcp_servers_started(&answer, out),
            CallPurpose::CreateSession => self.session_opened(lenient::object(&answer), false, out),
            CallPurpose::ResumeSession => self.session_opened(lenient::object(&answer), true, out),
            CallPurpose::Prompt(input) => {
                if !is_success {
                    self.prompt_refused(input, &failed_request(status, body), out);
                }
            }
            CallPurpose::ReadPlan(key) => {
                let file: OpencodeFile = lenient::object(&answer);
                self.ask_for_approval(&key, file.content.as_deref(), out);
            }
            // The request or the turn that the call is about has ended meanwhile.
            CallPurpose::Notice(_) if is_success || status == 404 => {}
            CallPurpose::Notice(action) => {
                let message = format!("could not {action}: {}", failed_request(status, body));
                out.event(Event::Error(AgentError::Other { message }));
            }
        }
    }

    fn modes_listed(&mut self, answer: &Value, out: &mut Out) {
        let agents = answer.as_array().into_iter().flatten().map(lenient::object::<OpencodeAgent>);
        let modes = agents.filter_map(|agent| {
            let is_mode = agent.mode.as_deref() != Some(SUBAGENT) && agent.hidden != Some(true);
            let name = agent.name.filter(|_| is_mode)?;
            let description = agent.description.unwrap_or_default();
            Some(AgentMode { id: name.clone(), name, description })
        });
        // `build` stands for the default behaviour of any server.
        self.offers.modes = with_build(modes.collect());
        if let Err(error) = check_mode(&self.offers.modes, self.prompts.mode()) {
            return out.facts.push(Fact::Failed(error));
        }
        if self.asks_models || self.prompts.chooses_model() {
            let path = format!("/config/providers{}", self.directory);
            return self.calls.get(CallPurpose::ListModels, path, out);
        }
        self.send_offers(out);
    }

    fn models_listed(&mut self, answer: &Value, out: &mut Out) {
        let models = model_list::parse(answer);
        if let Err(error) = self.prompts.check_model(&models) {
            return out.facts.push(Fact::Failed(error));
        }
        self.offers.models = Some(models);
        self.send_offers(out);
    }

    fn send_offers(&mut self, out: &mut Out) {
        out.facts.push(Fact::Offers(self.offers.clone()));
        if self.prompts.has_model() {
            return self.read_mcp_status(out);
        }
        self.calls.get(CallPurpose::ReadConfig, format!("/config{}", self.directory), out);
    }

    fn read_mcp_status(&mut self, out: &mut Out) {
        if self.has_mcp {
            // The server answers when all MCP servers have started or have failed to.
            return self.calls.get(CallPurpose::ReadMcpStatus, format!("/mcp{}", self.directory), out);
        }
        self.open_session(out);
    }

    fn mcp_servers_started(&mut self, answer: &Value, out: &mut Out) {
        for (name, server) in answer.as_object().into_iter().flatten() {
            let OpencodeMcpStatus { status, error } = lenient::object(server);
            if status.as_deref() == Some(MCP_FAILED) {
                out.facts.push(mcp_unavailable(name, error.as_deref().unwrap_or("it failed")));
            }
        }
        self.open_session(out);
    }

    fn open_session(&mut self, out: &mut Out) {
        match &self.resume {
            Some(id) => {
                let path = format!("/session/{}{}", escaped(id), self.directory);
                self.calls.get(CallPurpose::ResumeSession, path, out);
            }
            None => self.create_session(out),
        }
    }

    fn create_session(&mut self, out: &mut Out) {
        let body = json!({ "permission": self.policy.rules() });
        self.calls.post(CallPurpose::CreateSession, format!("/session{}", self.directory), Some(body), out);
    }

    fn session_opened(&mut self, info: SessionInfo, is_resumed: bool, out: &mut Out) {
        let Some(id) = info.id else {
            let message = "the server created a session without an id".into();
            return out.facts.push(Fact::Failed(AgentError::ProtocolError { message }));
        };
        self.session = Some(id.clone());
        if is_resumed && !self.policy.restore(&info.permission) {
            let rules = self.policy.rules();
            self.add_rules(&rules, out);
        }
        let started = AgentStarted {
            model: self.prompts.model(),
            mode: Some(self.prompts.mode().to_owned()),
            version: info.version,
            resumed: is_resumed,
        };
        out.facts.push(Fact::Started { agent_session_id: Some(id), started });
        out.facts.push(Fact::Ready);
    }

    /// Adds rules to those of the session.
    pub(super) fn add_rules(&mut self, rules: &[PermissionRule], out: &mut Out) {
        let path = self.session_path("");
        let body = json!({ "permission": rules });
        self.calls.patch(CallPurpose::Notice("change the rules"), path, body, out);
    }

    /// The path of a resource of the session.
    pub(super) fn session_path(&self, resource: &str) -> String {
        let session = escaped(self.session.as_deref().unwrap_or_default());
        format!("/session/{session}{resource}{}", self.directory)
    }
}
