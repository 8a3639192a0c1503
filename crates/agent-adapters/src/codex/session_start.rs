//! The responses to our requests, most of which lead from the start of the process to a thread.

use protocol::{Event, event::AgentStarted, sessions::AgentError};
use serde_json::{Value, json};

use super::{
    CodexAdapter, PendingRequest,
    model_list::{self, CodexModels},
    response::{AccountReadResult, InitializeResult, ThreadOpenedResult},
    session_settings::modes,
};
use crate::{Fact, Offers, Out, lenient, unsupported};

impl CodexAdapter {
    /// Handles the response to one of our requests. The error describes why it is not understood.
    pub(super) fn handle_response(
        &mut self,
        id: u64,
        outcome: Result<Value, String>,
        out: &mut Out,
    ) -> Result<(), String> {
        let Some(pending) = self.pending.remove(&id) else {
            return Err("a response to an unknown request".into());
        };
        match (pending, outcome) {
            (PendingRequest::Initialize, Ok(result)) => self.initialized(&lenient::object(&result), out),
            (PendingRequest::Initialize, Err(message)) => {
                out.facts.push(Fact::Failed(AgentError::ProtocolError { message }));
            }
            (PendingRequest::AccountRead, outcome) => {
                // An older Codex may not know the method.
                let account: AccountReadResult = lenient::object(&outcome.unwrap_or_default());
                if account.requires_openai_auth == Some(false) {
                    // A provider of the user's own configuration has a key of its own and must not get this one.
                    self.set_skill_roots(out);
                } else {
                    self.log_in(out);
                }
            }
            (PendingRequest::Login, Ok(_)) => self.set_skill_roots(out),
            (PendingRequest::Login, Err(message)) => {
                out.facts.push(Fact::Failed(AgentError::TokenError { message }));
            }
            (PendingRequest::SkillRoots, outcome) => {
                if let Err(message) = outcome {
                    out.event(Event::Error(unsupported("skills", message)));
                }
                self.list_models(out);
            }
            (PendingRequest::ModelList, outcome) => {
                // Without a list any model is accepted.
                self.models = outcome.ok().map(|response| CodexModels::parse(&response));
                self.open_thread(out);
            }
            (PendingRequest::ThreadResume, Err(message)) => {
                out.event(Event::Error(AgentError::ResumeFailed { message }));
                self.settings.resume = None;
                self.open_thread(out);
            }
            (PendingRequest::ThreadStart, Err(message)) => {
                out.facts.push(Fact::Failed(AgentError::StartFailed { message }));
            }
            (PendingRequest::ThreadResume, Ok(result)) => {
                return self.thread_opened(lenient::object(&result), true, out);
            }
            (PendingRequest::ThreadStart, Ok(result)) => {
                return self.thread_opened(lenient::object(&result), false, out);
            }
            (PendingRequest::TurnStart(input), Err(message)) => self.turn_refused(input, message, out),
            (PendingRequest::Steer(input), Err(reason)) => self.steer_refused(input, reason, out),
            // The response names the turn too, but too early: before `turn/started` Codex accepts neither inputs nor an
            // interrupt for it.
            (PendingRequest::TurnStart(_) | PendingRequest::Steer(_), Ok(_))
            | (PendingRequest::Ignored, _) => {}
        }
        Ok(())
    }

    fn initialized(&mut self, result: &InitializeResult, out: &mut Out) {
        self.version = result.version();
        out.line(&json!({ "method": "initialized" }));
        if self.settings.login_params().is_some() {
            self.request("account/read", &json!({}), PendingRequest::AccountRead, out);
        } else {
            self.set_skill_roots(out);
        }
    }

    fn log_in(&mut self, out: &mut Out) {
        match self.settings.login_params() {
            Some(params) => self.request("account/login/start", &params, PendingRequest::Login, out),
            None => self.set_skill_roots(out),
        }
    }

    fn set_skill_roots(&mut self, out: &mut Out) {
        match self.settings.skill_params() {
            Some(params) => self.request("skills/extraRoots/set", &params, PendingRequest::SkillRoots, out),
            None => self.list_models(out),
        }
    }

    /// Lists the models where a choice is checked or shown: it costs a request.
    fn list_models(&mut self, out: &mut Out) {
        if self.settings.lists_models() {
            return self.request("model/list", &model_list::all_models(), PendingRequest::ModelList, out);
        }
        self.open_thread(out);
    }

    /// Starts a thread, or resumes that of an earlier process.
    fn open_thread(&mut self, out: &mut Out) {
        let models = self.models.as_ref().map(|models| models.shown.clone());
        out.facts.push(Fact::Offers(Offers { modes: modes(), models }));
        let (method, pending) = match self.settings.resume {
            Some(_) => ("thread/resume", PendingRequest::ThreadResume),
            None => ("thread/start", PendingRequest::ThreadStart),
        };
        let params = json!(self.settings.thread_params());
        self.request(method, &params, pending, out);
    }

    fn thread_opened(
        &mut self,
        opened: ThreadOpenedResult,
        is_resumed: bool,
        out: &mut Out,
    ) -> Result<(), String> {
        let Some(thread) = opened.thread.id.clone() else { return Err("a thread without an id".into()) };
        self.thread = Some(thread);
        if let Some(models) = &self.models
            && let Err(error) = self.settings.check_model(models, &opened)
        {
            out.facts.push(Fact::Failed(error));
            return Ok(());
        }
        self.settings.thread_opened(opened, is_resumed);
        out.facts.push(Fact::Started {
            agent_session_id: self.thread.clone(),
            started: AgentStarted {
                model: self.settings.model.clone(),
                mode: Some(self.settings.agent_mode.clone()),
                version: self.version.clone(),
                resumed: is_resumed,
            },
        });
        out.facts.push(Fact::Ready);
        Ok(())
    }
}
