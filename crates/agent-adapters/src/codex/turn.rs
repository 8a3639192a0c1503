//! Turns of the session. Each is one of Codex's turns, or several where a person decides about a plan.

use protocol::{
    InputId,
    event::TurnEndReason,
    sessions::AgentError,
    wait::{APPROVE, QuestionItem, QuestionOption, REJECT},
};
use serde_json::json;

use super::{
    CodexAdapter, PendingRequest,
    notification::{CodexTurnState, CodexTurnStatus},
    session_settings::CollaborationMode,
    thread_item::UserMessageItem,
    turn_error,
    turn_input::{TurnStartParams, prompt_input, text_input},
};
use crate::{Asking, Fact, Out, Prompt, QuestionAsk, Reply};

/// The message with which we approve a plan.
const IMPLEMENT: &str = "Implement the plan.";

/// The id of messages that we send ourselves.
const OWN_MESSAGE_ID: &str = "tombolo";

/// The origin of a message that we sent.
pub(super) enum InputOrigin {
    /// A client's input.
    Client(InputId),
    /// The adapter itself.
    Adapter,
}

impl InputOrigin {
    /// The origin of the message in an item. None if we did not send it.
    pub(super) fn of_item(item: &UserMessageItem, is_own_thread: bool) -> Option<Self> {
        let id = item.client_id.as_deref().filter(|_| is_own_thread)?;
        if id == OWN_MESSAGE_ID { Some(Self::Adapter) } else { id.parse().ok().map(Self::Client) }
    }
}

/// A turn that runs.
#[derive(Debug, Default)]
pub(super) struct CodexTurn {
    /// The id of Codex's turn. None until Codex has started it, and while a person decides about a plan.
    pub(super) id: Option<String>,
    /// The key of the question about the plan.
    plan_key: Option<String>,
    /// The plan that the agent has made.
    pub(super) plan: Option<String>,
    /// Whether the turn should end.
    is_interrupted: bool,
    /// Inputs that were sent during the turn and that the agent has not taken up.
    steered: Vec<InputId>,
    /// Inputs to send once Codex has started the turn.
    held: Vec<Prompt>,
    /// The first input, which waits for the MCP servers.
    first: Option<(TurnStartParams, InputId)>,
    /// The last error.
    pub(super) error: Option<(TurnEndReason, AgentError)>,
}

impl CodexTurn {
    pub(super) fn plan_key(&self) -> Option<&str> {
        self.plan_key.as_deref()
    }
}

impl CodexAdapter {
    /// Begins a turn.
    pub(super) fn start_turn(&mut self, prompt: &Prompt, out: &mut Out) {
        if self.turn.is_some() {
            let reason = "a turn runs".into();
            return out.facts.push(Fact::Refused { input: prompt.id, reason });
        }
        self.meter.start_turn();
        let params = TurnStartParams::new(prompt.id.to_string(), prompt_input(prompt));
        let turn = self.turn.insert(CodexTurn::default());
        if self.starting_servers.is_empty() {
            return self.request_turn(params, Some(prompt.id), out);
        }
        turn.first = Some((params, prompt.id));
        self.send_status("waiting for MCP servers", out);
    }

    /// Records that an MCP server has started or has failed to, and starts the turn that waits for it.
    pub(super) fn mcp_server_settled(&mut self, name: &str, out: &mut Out) {
        self.starting_servers.remove(name);
        if !self.starting_servers.is_empty() {
            return;
        }
        if let Some((params, input)) = self.turn.as_mut().and_then(|turn| turn.first.take()) {
            self.request_turn(params, Some(input), out);
        }
    }

    fn request_turn(&mut self, mut params: TurnStartParams, input: Option<InputId>, out: &mut Out) {
        params.thread_id.clone_from(&self.thread);
        self.settings.set_collaboration_mode(&mut params);
        self.request("turn/start", &params, PendingRequest::TurnStart(input), out);
    }

    /// Adds an input to the turn that runs.
    pub(super) fn steer(&mut self, prompt: Prompt, out: &mut Out) {
        let refused = |reason: &str| Fact::Refused { input: prompt.id, reason: reason.into() };
        let Some(turn) = &mut self.turn else { return out.facts.push(refused("no turn is running")) };
        if turn.plan_key.is_some() {
            return out.facts.push(refused("the turn is waiting for an answer to its plan"));
        }
        let Some(id) = turn.id.clone() else { return turn.held.push(prompt) };
        turn.steered.push(prompt.id);
        let params = json!({
            "threadId": self.thread,
            "expectedTurnId": id,
            "clientUserMessageId": prompt.id,
            "input": prompt_input(&prompt),
        });
        self.request("turn/steer", &params, PendingRequest::Steer(prompt.id), out);
    }

    pub(super) fn steer_refused(&mut self, input: InputId, reason: String, out: &mut Out) {
        // The end of the turn has refused the input already if there is no turn.
        let Some(turn) = &mut self.turn else { return };
        if let Some(at) = turn.steered.iter().position(|steered| *steered == input) {
            turn.steered.remove(at);
            out.facts.push(Fact::Refused { input, reason });
        }
    }

    /// Interrupts the turn that runs. Codex sends a notification when the turn has ended; the response may never come.
    pub(super) fn interrupt(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        if let Some(key) = turn.plan_key.take() {
            out.facts.push(Fact::Withdrawn { key });
            return self.end_turn(TurnEndReason::Interrupted, None, out);
        }
        if let Some((_, input)) = turn.first.take() {
            out.facts.push(Fact::Refused {
                input,
                reason: "the turn was interrupted before the message was delivered".into(),
            });
            return self.end_turn(TurnEndReason::Interrupted, None, out);
        }
        turn.is_interrupted = true;
        if let Some(id) = turn.id.clone() {
            let params = json!({ "threadId": self.thread, "turnId": id });
            self.request("turn/interrupt", &params, PendingRequest::Ignored, out);
        }
    }

    /// Handles `turn/started`: only now Codex accepts further inputs and an interrupt.
    pub(super) fn turn_started(&mut self, id: &str, out: &mut Out) {
        let turn = match &mut self.turn {
            Some(turn) => turn,
            None => {
                self.meter.start_turn();
                out.facts.push(Fact::TurnStarted);
                self.turn.insert(CodexTurn::default())
            }
        };
        if turn.id.as_deref() == Some(id) {
            return;
        }
        turn.id = Some(id.to_owned());
        let (is_interrupted, held) = (turn.is_interrupted, std::mem::take(&mut turn.held));
        for prompt in held {
            self.steer(prompt, out);
        }
        if is_interrupted {
            self.interrupt(out);
        }
    }

    /// Handles the error of `turn/start`.
    pub(super) fn turn_refused(&mut self, input: Option<InputId>, message: String, out: &mut Out) {
        if let Some(input) = input {
            out.facts.push(Fact::Refused { input, reason: message.clone() });
        }
        self.end_turn(TurnEndReason::Failed, Some(AgentError::Other { message }), out);
    }

    /// Reports that Codex has taken up a message.
    pub(super) fn input_consumed(&mut self, origin: Option<&InputOrigin>, out: &mut Out) {
        let Some(InputOrigin::Client(input)) = origin else { return };
        if let Some(turn) = &mut self.turn {
            turn.steered.retain(|steered| steered != input);
        }
        out.facts.push(Fact::Consumed(*input));
    }

    /// Handles `turn/completed`.
    pub(super) fn turn_completed(&mut self, completed: &CodexTurnState, out: &mut Out) -> Result<(), String> {
        let Some(turn) = &mut self.turn else { return Err("no turn is running".into()) };
        if turn.id.is_some() && turn.id != completed.id {
            return Err("another turn is running".into());
        }
        if turn.is_interrupted || completed.status == Some(CodexTurnStatus::Interrupted) {
            // Otherwise an interrupted command would continue in the background.
            let params = json!({ "threadId": self.thread });
            self.request("thread/backgroundTerminals/clean", &params, PendingRequest::Ignored, out);
        }
        match completed.status {
            Some(CodexTurnStatus::Completed) => match self.take_plan() {
                Some(plan) => self.ask_for_approval(plan, out),
                None => self.end_turn(TurnEndReason::Completed, None, out),
            },
            Some(CodexTurnStatus::Interrupted) => self.end_turn(TurnEndReason::Interrupted, None, out),
            Some(CodexTurnStatus::Failed) => {
                let error = &completed.error;
                let own = (!error.is_null()).then(|| turn_error::universal_error(error));
                let earlier = self.turn.as_mut().and_then(|turn| turn.error.take());
                let unknown =
                    || (TurnEndReason::Failed, AgentError::Other { message: "the turn failed".into() });
                let (reason, error) = own.or(earlier).unwrap_or_else(unknown);
                self.end_turn(reason, Some(error), out);
            }
            Some(CodexTurnStatus::Other) | None => return Err("unknown status".into()),
        }
        Ok(())
    }

    /// The plan that the turn has made, if a person should decide about it.
    fn take_plan(&mut self) -> Option<String> {
        let turn = self.turn.as_mut()?;
        let is_planning = self.settings.mode == CollaborationMode::Plan;
        if !is_planning || turn.is_interrupted { None } else { turn.plan.take() }
    }

    /// Asks a person to approve a plan, and keeps the turn open meanwhile.
    fn ask_for_approval(&mut self, plan: String, out: &mut Out) {
        self.settle(out);
        let Some(turn) = &mut self.turn else { return };
        let key = format!("plan:{}", turn.id.take().unwrap_or_default());
        turn.plan_key = Some(key.clone());
        let choice = |label: &str, description: &str| QuestionOption {
            label: label.into(),
            description: Some(description.into()),
        };
        let question = QuestionItem {
            question: "Implement this plan?".into(),
            header: Some("Plan".into()),
            options: vec![
                choice(APPROVE, "The agent implements the plan"),
                choice(REJECT, "The turn ends; send a message to continue planning"),
            ],
            allows_custom: true,
            ..QuestionItem::default()
        };
        let ask = QuestionAsk { call_id: None, questions: vec![question], plan: Some(plan) };
        out.facts.push(Fact::Asked { key, asking: Asking::Question(ask) });
    }

    /// Handles the decision about a plan: an approval, a rejection, or a comment.
    pub(super) fn plan_answered(&mut self, reply: &Reply, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        turn.plan_key = None;
        let answers: Vec<&str> = match reply {
            Reply::Answers(answers) => answers.iter().flatten().map(String::as_str).collect(),
            Reply::Permission(_) | Reply::Dismissed => Vec::new(),
        };
        if answers == [APPROVE] {
            let mut params = own_message(IMPLEMENT);
            self.settings.approve_plan(&mut params);
            return self.request_turn(params, None, out);
        }
        let comment: Vec<&str> = answers.into_iter().filter(|answer| *answer != REJECT).collect();
        if comment.is_empty() {
            self.end_turn(TurnEndReason::Completed, None, out);
        } else {
            self.request_turn(own_message(&comment.join("\n")), None, out);
        }
    }

    fn end_turn(&mut self, reason: TurnEndReason, error: Option<AgentError>, out: &mut Out) {
        self.settle(out);
        let Some(turn) = self.turn.take() else { return };
        for input in turn.steered.into_iter().chain(turn.held.into_iter().map(|prompt| prompt.id)) {
            out.facts.push(Fact::Refused {
                input,
                reason: "the turn ended before the message was delivered".into(),
            });
        }
        out.facts.push(Fact::TurnEnded { reason, usage: self.meter.usage(), error });
    }

    /// Closes the requests and items of the turn that are still open.
    fn settle(&mut self, out: &mut Out) {
        self.requests.clear();
        self.items.settle(out);
    }
}

fn own_message(text: &str) -> TurnStartParams {
    TurnStartParams::new(OWN_MESSAGE_ID.into(), [text_input(text)].into_iter().collect())
}
