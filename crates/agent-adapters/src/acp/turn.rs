//! The agent's turn: from the prompt until its response.

use protocol::{
    Event, InputId,
    event::{TokenUsage, TurnEndReason},
    message::DeltaKind,
};
use serde_json::Value;

use super::{
    message_builder::MessageBuilder,
    open_requests::AcpOpenRequests,
    permission_request::{ALLOW_ONCE, AcpPermissionRequest, select},
    plan_files::PlanFiles,
    prompt_result::PromptResult,
    rpc_error::RpcError,
    session_update::SessionUpdate,
    tool_call_update::ToolCallContent,
};
use crate::{Fact, Out};

/// The agent's turn. Updates that the agent sends outside a turn are handled in the same way.
pub(super) struct AcpTurn {
    /// The prompt that runs.
    prompt: Option<InputId>,
    /// The prompt on which the agent has not shown any work yet.
    unconfirmed: Option<InputId>,
    pub(super) message: MessageBuilder,
    pub(super) requests: AcpOpenRequests,
    plan_files: PlanFiles,
    /// How full the model's context is.
    context: TokenUsage,
}

impl AcpTurn {
    pub(super) fn new(run: &str) -> Self {
        Self {
            prompt: None,
            unconfirmed: None,
            message: MessageBuilder::new(run),
            requests: AcpOpenRequests::default(),
            plan_files: PlanFiles::default(),
            context: TokenUsage::default(),
        }
    }

    /// Begins a turn.
    pub(super) fn begin(&mut self, prompt: InputId, out: &mut Out) {
        // An agent that restarted in the middle of a turn may have sent text before it gets the prompt.
        self.end_greeting(out);
        self.prompt = Some(prompt);
        self.unconfirmed = Some(prompt);
    }

    /// Completes a message that the agent sent outside any turn.
    pub(super) fn end_greeting(&mut self, out: &mut Out) {
        if self.prompt.is_none() {
            self.message.end_message(out);
        }
    }

    /// Ends the turn with the response to its prompt.
    pub(super) fn end(&mut self, prompt: InputId, outcome: Result<Value, RpcError>, out: &mut Out) {
        self.confirm_work(out);
        self.message.end_turn(out);
        self.requests.withdraw_all(out);
        if self.prompt == Some(prompt) {
            self.prompt = None;
        }
        out.facts.push(match outcome {
            Ok(result) => {
                let result = PromptResult::from_value(&result);
                let usage = result.token_usage(self.context);
                Fact::TurnEnded { reason: result.end_reason(), usage, error: None }
            }
            Err(error) => {
                let error = Some(error.into_agent_error());
                Fact::TurnEnded { reason: TurnEndReason::Failed, usage: None, error }
            }
        });
    }

    /// Reports, once, that the agent works on its prompt.
    fn confirm_work(&mut self, out: &mut Out) {
        out.facts.extend(self.unconfirmed.take().map(Fact::Consumed));
    }

    /// Applies an update, which `line` carried.
    pub(super) fn apply_update(&mut self, line: &[u8], update: SessionUpdate, out: &mut Out) {
        if self.prompt.is_some() && update.shows_work() {
            self.confirm_work(out);
        }
        match update {
            SessionUpdate::MessageChunk(block) => self.message.add_block(block, DeltaKind::Text, out),
            SessionUpdate::ThoughtChunk(block) => self.message.add_block(block, DeltaKind::Reasoning, out),
            SessionUpdate::ToolCall(update) => {
                self.plan_files.remember(&update);
                self.message.update_tool_call(*update, out);
            }
            SessionUpdate::Plan(plan) => out.event(Event::Plan(plan)),
            SessionUpdate::Commands(commands) => out.event(Event::CommandsUpdated(commands)),
            SessionUpdate::Usage(usage) => {
                self.context.context_tokens = usage.used;
                self.context.context_window = usage.size;
            }
            SessionUpdate::SessionInfo | SessionUpdate::Echo => {}
            SessionUpdate::Unknown(kind) => {
                self.message.add_unparsed(line, format!("there is no update `{kind}`"), out);
            }
        }
    }

    /// Handles the agent's request for permission. Where `allows_all`, the call is allowed without a question; a plan never is.
    pub(super) fn request_permission(&mut self, id: &Value, params: &Value, allows_all: bool, out: &mut Out) {
        self.confirm_work(out);
        let request = AcpPermissionRequest::from_params(params);
        let mut call = request.tool_call.clone();
        // Text in the request describes the call and is no result of it, but a diff shows the change that it will make.
        call.content.retain(|content| matches!(content, ToolCallContent::Diff { .. }));
        self.message.update_tool_call(call, out);
        if let Some(plan) = self.plan_files.submitted_plan(&request.tool_call) {
            self.requests.ask_plan(id, request, plan, out);
        } else if allows_all {
            out.line(&select(id, &request.options, &ALLOW_ONCE));
        } else {
            self.requests.ask_permission(id, request, out);
        }
    }
}
