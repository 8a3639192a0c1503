//! The agent's session: opened, resumed and configured before the first turn.

use protocol::{Event, event::AgentStarted, sessions::AgentError};
use serde_json::{Value, json};

use super::{
    initialize::{AcpCapabilities, AcpInitializeResult},
    mcp_servers,
    pending_choices::PendingChoices,
    rpc_error::RpcError,
    sent_requests::{SentRequest, SentRequests},
    session_setup::SessionSetup,
};
use crate::{Fact, Options, Out, lenient, mcp_unavailable, unsupported};

/// The version of the protocol that the adapter uses.
const VERSION: u64 = 1;

/// The agent's session.
pub(super) struct AcpSession {
    pub(super) options: Options,
    /// The agent's own name of the session.
    pub(super) id: Option<String>,
    /// The agent's version.
    version: Option<String>,
    capabilities: AcpCapabilities,
    /// Whether the agent has the extension `_session/steering`.
    pub(super) supports_steering: bool,
    choices: Option<PendingChoices>,
    /// Whether the agent replays an old session, whose updates are known already.
    pub(super) is_loading: bool,
    is_ready: bool,
}

impl AcpSession {
    pub(super) fn new(options: Options) -> Self {
        Self {
            options,
            id: None,
            version: None,
            capabilities: AcpCapabilities::default(),
            supports_steering: false,
            choices: None,
            is_loading: false,
            is_ready: false,
        }
    }

    /// Sends the first request.
    pub(super) fn initialize(&self, sent: &mut SentRequests, out: &mut Out) {
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {
                "fs": { "readTextFile": false, "writeTextFile": false },
                "terminal": false,
                "elicitation": { "form": {} },
            },
            "clientInfo": { "name": "tombolo", "title": "Tombolo", "version": env!("CARGO_PKG_VERSION") },
        });
        sent.send("initialize", &params, SentRequest::Initialize, out);
    }

    /// Handles the answer to `initialize`.
    pub(super) fn initialized(&mut self, result: &Value, sent: &mut SentRequests, out: &mut Out) {
        let result: AcpInitializeResult = lenient::object(result);
        self.supports_steering = result.supports_steering();
        self.version = result.agent_info.version;
        self.capabilities = result.agent_capabilities;
        let lacking = mcp_servers::unreachable(&self.options.mcp, &self.capabilities.mcp_capabilities);
        for (server, transport) in lacking {
            let message = format!("the agent does not support MCP over {transport}");
            out.facts.push(mcp_unavailable(server, message));
        }
        self.open(sent, out);
    }

    /// Opens a new session, or resumes the one in the options.
    fn open(&mut self, sent: &mut SentRequests, out: &mut Out) {
        let servers = mcp_servers::reachable(&self.options.mcp, &self.capabilities.mcp_capabilities);
        let mut params = json!({ "cwd": self.options.directory, "mcpServers": servers });
        let Some(resume) = self.options.resume.clone() else {
            return sent.send("session/new", &params, SentRequest::OpenSession { resumed: false }, out);
        };
        params["sessionId"] = resume.into();
        let purpose = SentRequest::OpenSession { resumed: true };
        if self.capabilities.supports_resume() {
            sent.send("session/resume", &params, purpose, out);
        } else if self.capabilities.load_session {
            self.is_loading = true;
            sent.send("session/load", &params, purpose, out);
        } else {
            let message = "the agent cannot go on with an earlier conversation".into();
            self.open_anew(message, sent, out);
        }
    }

    /// Handles the refusal to open or resume a session.
    pub(super) fn open_failed(
        &mut self,
        resumed: bool,
        error: RpcError,
        sent: &mut SentRequests,
        out: &mut Out,
    ) {
        if resumed {
            self.open_anew(error.into_message(), sent, out);
        } else {
            out.facts.push(Fact::Failed(error.into_agent_error()));
        }
    }

    /// Opens a new session instead of the one that could not be resumed, and reports that.
    fn open_anew(&mut self, message: String, sent: &mut SentRequests, out: &mut Out) {
        out.event(Event::Error(AgentError::ResumeFailed { message }));
        self.is_loading = false;
        self.options.resume = None;
        self.open(sent, out);
    }

    /// Handles the agent's answer that the session is open.
    pub(super) fn opened(&mut self, resumed: bool, result: &Value, sent: &mut SentRequests, out: &mut Out) {
        self.is_loading = false;
        let mut setup = SessionSetup::from_value(result);
        self.id = setup.session_id.take().or_else(|| self.options.resume.clone());
        let started = AgentStarted {
            model: setup.model().map(str::to_owned),
            mode: setup.mode().map(str::to_owned),
            version: self.version.clone(),
            resumed,
        };
        let choices = PendingChoices::new(&self.options, setup);
        out.facts.push(Fact::Offers(choices.offers()));
        out.facts.push(Fact::Started { agent_session_id: self.id.clone(), started });
        self.choices = Some(choices);
        self.set_next_choice(sent, out);
    }

    /// Handles the answer to the request that set a choice.
    pub(super) fn choice_set(
        &mut self,
        feature: &'static str,
        outcome: Result<Value, RpcError>,
        sent: &mut SentRequests,
        out: &mut Out,
    ) {
        match outcome {
            Ok(result) => {
                if let Some(choices) = &mut self.choices {
                    choices.update_options(&result);
                }
                self.set_next_choice(sent, out);
            }
            Err(error) => out.facts.push(Fact::Failed(unsupported(feature, error.into_message()))),
        }
    }

    /// Sets the session's next choice. After the last one, the agent is ready.
    fn set_next_choice(&mut self, sent: &mut SentRequests, out: &mut Out) {
        let request = match self.choices.as_mut().map_or(Ok(None), PendingChoices::next_request) {
            Ok(Some(request)) => request,
            Ok(None) => {
                if !std::mem::replace(&mut self.is_ready, true) {
                    out.facts.push(Fact::Ready);
                }
                return;
            }
            Err(error) => return out.facts.push(Fact::Failed(error)),
        };
        let mut params = request.params;
        params["sessionId"] = self.id.clone().into();
        sent.send(request.method, &params, SentRequest::Choice(request.feature), out);
    }

    /// Whether the agent has the mode.
    pub(super) fn has_mode(&self, id: &str) -> bool {
        self.choices.as_ref().is_some_and(|choices| choices.has_mode(id))
    }
}
