//! Effects of the app server's notifications.

use protocol::{
    Event,
    event::{AgentPlan, PlanStep},
};
use serde::Deserialize;

use super::{
    CodexAdapter,
    item_messages::ItemThread,
    notification::{
        CodexErrorNotice, CodexMcpServerStatus, CodexNotification, CodexNotificationBody, CodexPlanStep,
        McpStartupStatus, ModelRerouting, TokenUsageUpdate,
    },
    thread_item::{CodexItemBody, CodexThreadItem},
    token_meter::ThreadTokenUsage,
    turn::InputOrigin,
    turn_error::{self, CodexTurnError},
};
use crate::{Fact, Out, lenient, mcp_unavailable};

impl CodexAdapter {
    /// Handles a notification. The error describes why it is not understood.
    pub(super) fn handle_notification(
        &mut self,
        method: &str,
        notification: CodexNotification,
        out: &mut Out,
    ) -> Result<(), String> {
        let thread = notification.thread_id;
        // Of a subagent's thread only the items matter: the call that started it reports the rest.
        let is_own = thread.is_none() || thread == self.thread;
        match notification.body {
            CodexNotificationBody::ItemStarted(item) => return self.start_item(thread, &item, out),
            CodexNotificationBody::ItemCompleted(item) => return self.complete_item(thread, &item, out),
            CodexNotificationBody::ItemDelta(delta) => {
                if !self.items.append(delta, out) {
                    return Err(format!("unknown notification `{method}`"));
                }
            }
            CodexNotificationBody::TurnStarted(turn) if is_own => {
                self.turn_started(&turn.id.ok_or("a turn without an id")?, out);
            }
            CodexNotificationBody::TurnCompleted(turn) if is_own => return self.turn_completed(&turn, out),
            CodexNotificationBody::PlanUpdated(steps) if is_own => out.event(Event::Plan(plan(steps))),
            CodexNotificationBody::TurnStarted(_)
            | CodexNotificationBody::TurnCompleted(_)
            | CodexNotificationBody::PlanUpdated(_) => {}
            CodexNotificationBody::TokenUsageUpdated(update) => {
                return self.update_token_usage(is_own, thread, &update);
            }
            CodexNotificationBody::Error(notice) => self.handle_error(is_own, &notice, out),
            CodexNotificationBody::RequestResolved { request_id } => {
                if let Some(request) = self.requests.resolve(&request_id) {
                    request.expected.cancel_call(&mut self.items, out);
                    out.facts.push(Fact::Withdrawn { key: request.key });
                }
            }
            CodexNotificationBody::McpServerStatus(status) => self.update_mcp_server(status, out),
            CodexNotificationBody::ModelRerouted(ModelRerouting { from_model, to_model }) => {
                let name = |model: Option<String>| model.unwrap_or_else(|| "another model".into());
                self.send_status(format!("{} answers for {}", name(to_model), name(from_model)), out);
            }
            CodexNotificationBody::Status(text) => self.send_status(text, out),
            CodexNotificationBody::Ignored => {}
            CodexNotificationBody::Unknown => return Err(format!("unknown notification `{method}`")),
        }
        Ok(())
    }

    fn start_item(
        &mut self,
        thread: Option<String>,
        item: &CodexThreadItem,
        out: &mut Out,
    ) -> Result<(), String> {
        let (thread, is_own) = self.item_thread(thread);
        match &item.body {
            CodexItemBody::UserMessage(message) => {
                // The items that follow respond to this message.
                self.items.end_message(&thread.id);
                let origin = InputOrigin::of_item(message, is_own);
                self.input_consumed(origin.as_ref(), out);
                if origin.is_some() {
                    return Ok(());
                }
            }
            CodexItemBody::ContextCompaction => {
                if is_own {
                    self.send_status("the agent is compacting the conversation", out);
                }
                return Ok(());
            }
            _ => {}
        }
        self.items.start_item(&thread, item, out)
    }

    fn complete_item(
        &mut self,
        thread: Option<String>,
        item: &CodexThreadItem,
        out: &mut Out,
    ) -> Result<(), String> {
        let (thread, is_own) = self.item_thread(thread);
        match &item.body {
            CodexItemBody::UserMessage(message) if InputOrigin::of_item(message, is_own).is_some() => {
                return Ok(());
            }
            CodexItemBody::Plan(plan) if is_own => {
                if let Some(turn) = &mut self.turn {
                    turn.plan.clone_from(&plan.text);
                }
            }
            CodexItemBody::ContextCompaction => return Ok(()),
            _ => {}
        }
        self.items.complete_item(&thread, item, out)
    }

    /// The thread of an item, and whether it is the session's own.
    fn item_thread(&self, thread: Option<String>) -> (ItemThread, bool) {
        let id = thread.unwrap_or_default();
        let is_own = self.thread.as_ref() == Some(&id);
        let parent = if is_own { None } else { self.items.parent_call(&id) };
        (ItemThread { id, parent }, is_own)
    }

    fn update_token_usage(
        &mut self,
        is_own: bool,
        thread: Option<String>,
        update: &TokenUsageUpdate,
    ) -> Result<(), String> {
        // The usage follows each response of the model with all calls that it makes.
        self.items.end_message(&thread.unwrap_or_default());
        if is_own {
            let usage =
                ThreadTokenUsage::deserialize(&update.token_usage).map_err(|error| error.to_string())?;
            let turn = self.turn.as_ref().and_then(|turn| turn.id.as_deref());
            let is_earlier_turn = turn != update.turn_id.as_deref();
            self.meter.update(usage, is_earlier_turn);
        }
        Ok(())
    }

    fn update_mcp_server(&mut self, server: CodexMcpServerStatus, out: &mut Out) {
        let name = server.name.unwrap_or_default();
        if server.status == Some(McpStartupStatus::Failed) {
            let error = server.error.as_deref().unwrap_or("it could not be started");
            out.facts.push(mcp_unavailable(&name, error));
        }
        if server.status != Some(McpStartupStatus::Starting) {
            self.mcp_server_settled(&name, out);
        }
    }

    /// Handles `error`. An error that Codex does not retry ends the turn, which repeats it.
    fn handle_error(&mut self, is_own: bool, notice: &CodexErrorNotice, out: &mut Out) {
        if !is_own || notice.will_retry == Some(true) {
            let CodexTurnError { message, additional_details, .. } = lenient::object(&notice.error);
            let texts: Vec<_> = [message, additional_details].into_iter().flatten().collect();
            return self.send_status(texts.join(": "), out);
        }
        let (reason, error) = turn_error::universal_error(&notice.error);
        match &mut self.turn {
            Some(turn) => turn.error = Some((reason, error)),
            None => out.event(Event::Error(error)),
        }
    }
}

fn plan(steps: Vec<CodexPlanStep>) -> AgentPlan {
    let step = |step: CodexPlanStep| PlanStep { text: step.text, state: step.state };
    AgentPlan { steps: steps.into_iter().map(step).collect() }
}
