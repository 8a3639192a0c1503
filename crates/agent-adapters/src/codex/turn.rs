//! Turns: ours, each of which is one of Codex's, or more where a plan was asked about.

use protocol::{
    InputId,
    event::TurnEndReason,
    sessions::AgentError,
    wait::{APPROVE, QuestionItem, QuestionOption, REJECT},
};
use serde_json::{Value, json};

use super::{Codex, Waiting, error, prompt, settings::Mode};
use crate::{Asking, Fact, Out, Prompt, QuestionAsk, Reply};

/// What Codex is told when its plan is approved.
const IMPLEMENT: &str = "Implement the plan.";

/// What marks an input as said by ourselves.
const OURS: &str = "tombolo";

/// What was said to Codex, as it names it.
pub(super) enum Said {
    /// What somebody sent.
    Input(InputId),
    /// What was said by ourselves.
    Ours,
}

/// What was said under a name; none if it was not us who gave it.
pub(super) fn input(name: &str) -> Option<Said> {
    if name == OURS { Some(Said::Ours) } else { name.parse().ok().map(Said::Input) }
}

/// A turn that runs.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// What Codex calls the one of its turns that runs; none until that has started, and none while a plan is asked about.
    pub(super) id: Option<String>,
    /// The key under which the plan is asked about.
    plan_key: Option<String>,
    /// The plan that was made.
    pub(super) plan: Option<String>,
    /// Whether it is to end.
    interrupted: bool,
    /// What was told to be taken into it and was not taken yet.
    steered: Vec<InputId>,
    /// What is to be told so once the turn has started.
    held: Vec<Prompt>,
    /// What it begins with once the MCP servers have started.
    first: Option<(Value, InputId)>,
    /// What went wrong so far.
    pub(super) error: Option<(TurnEndReason, AgentError)>,
}

impl Turn {
    pub(super) fn plan_key(&self) -> Option<&str> {
        self.plan_key.as_deref()
    }
}

impl Codex {
    /// Begins a turn.
    pub(super) fn prompt(&mut self, prompt: &Prompt, out: &mut Out) {
        if self.turn.is_some() {
            let reason = "a turn runs".into();
            return out.facts.push(Fact::Refused { input: prompt.id, reason });
        }
        self.turn = Some(Turn::default());
        self.meter.begin();
        let params = json!({ "clientUserMessageId": prompt.id, "input": prompt::input(prompt) });
        if self.starting.is_empty() {
            return self.begin(params, Some(prompt.id), out);
        }
        self.turn.iter_mut().for_each(|turn| turn.first = Some((params.clone(), prompt.id)));
        self.status("waiting for MCP servers", out);
    }

    /// An MCP server has started, or has failed to.
    pub(super) fn server_settled(&mut self, name: &str, out: &mut Out) {
        self.starting.remove(name);
        if !self.starting.is_empty() {
            return;
        }
        if let Some((params, input)) = self.turn.as_mut().and_then(|turn| turn.first.take()) {
            self.begin(params, Some(input), out);
        }
    }

    fn begin(&mut self, mut params: Value, input: Option<InputId>, out: &mut Out) {
        params["threadId"] = json!(self.thread);
        self.settings.bring_up_to_date(&mut params);
        self.request("turn/start", &params, Waiting::TurnBegun(input), out);
    }

    /// Takes something into the turn that runs.
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
            "input": prompt::input(&prompt),
        });
        self.request("turn/steer", &params, Waiting::Steered(prompt.id), out);
    }

    pub(super) fn steer_refused(&mut self, input: InputId, reason: String, out: &mut Out) {
        // If the turn ended meanwhile this was told then.
        let Some(turn) = &mut self.turn else { return };
        if let Some(at) = turn.steered.iter().position(|steered| *steered == input) {
            turn.steered.remove(at);
            out.facts.push(Fact::Refused { input, reason });
        }
    }

    /// Ends the turn that runs. Codex says so itself once it has; its answer does not matter, and may never come.
    pub(super) fn interrupt(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        if let Some(key) = turn.plan_key.take() {
            out.facts.push(Fact::Withdrawn { key });
            return self.end(TurnEndReason::Interrupted, None, out);
        }
        if let Some((_, input)) = turn.first.take() {
            out.facts.push(Fact::Refused {
                input,
                reason: "the turn was interrupted before the message was delivered".into(),
            });
            return self.end(TurnEndReason::Interrupted, None, out);
        }
        turn.interrupted = true;
        if let Some(id) = turn.id.clone() {
            let params = json!({ "threadId": self.thread, "turnId": id });
            self.request("turn/interrupt", &params, Waiting::Done, out);
        }
    }

    /// Codex has started a turn.
    pub(super) fn turn_started(&mut self, id: &str, out: &mut Out) {
        let turn = match &mut self.turn {
            Some(turn) => turn,
            None => {
                self.meter.begin();
                out.facts.push(Fact::TurnStarted);
                self.turn.insert(Turn::default())
            }
        };
        if turn.id.as_deref() == Some(id) {
            return;
        }
        turn.id = Some(id.to_owned());
        let (interrupted, held) = (turn.interrupted, std::mem::take(&mut turn.held));
        for prompt in held {
            self.steer(prompt, out);
        }
        if interrupted {
            self.interrupt(out);
        }
    }

    /// Codex did not begin a turn.
    pub(super) fn turn_refused(&mut self, input: Option<InputId>, message: String, out: &mut Out) {
        if let Some(input) = input {
            out.facts.push(Fact::Refused { input, reason: message.clone() });
        }
        self.end(TurnEndReason::Failed, Some(AgentError::Other { message }), out);
    }

    /// Codex works on what was said.
    pub(super) fn consumed(&mut self, said: Option<&Said>, out: &mut Out) {
        let Some(Said::Input(input)) = said else { return };
        if let Some(turn) = &mut self.turn {
            turn.steered.retain(|steered| steered != input);
        }
        out.facts.push(Fact::Consumed(*input));
    }

    /// One of Codex's turns has ended, as `turn` says.
    pub(super) fn turn_completed(&mut self, completed: &Value, out: &mut Out) -> Result<(), String> {
        let Some(turn) = &mut self.turn else { return Err("no turn is running".into()) };
        if turn.id.is_some() && turn.id.as_deref() != completed["id"].as_str() {
            return Err("another turn is running".into());
        }
        let status = completed["status"].as_str().unwrap_or_default();
        if turn.interrupted || status == "interrupted" {
            // An interrupted command would go on in the background.
            let params = json!({ "threadId": self.thread });
            self.request("thread/backgroundTerminals/clean", &params, Waiting::Done, out);
        }
        match status {
            "completed" => match self.plan() {
                Some(plan) => self.ask_about(plan, out),
                None => self.end(TurnEndReason::Completed, None, out),
            },
            "interrupted" => self.end(TurnEndReason::Interrupted, None, out),
            "failed" => {
                let told = (!completed["error"].is_null()).then(|| error::read(&completed["error"]));
                let known = self.turn.as_mut().and_then(|turn| turn.error.take());
                let unknown =
                    || (TurnEndReason::Failed, AgentError::Other { message: "the turn failed".into() });
                let (reason, error) = told.or(known).unwrap_or_else(unknown);
                self.end(reason, Some(error), out);
            }
            _ => return Err("unknown status".into()),
        }
        Ok(())
    }

    /// The plan that the turn made, if it is to be asked about.
    fn plan(&mut self) -> Option<String> {
        let turn = self.turn.as_mut()?;
        if self.settings.mode != Mode::Plan || turn.interrupted { None } else { turn.plan.take() }
    }

    /// Asks about a plan, with the turn kept open.
    fn ask_about(&mut self, plan: String, out: &mut Out) {
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

    /// A plan was approved, rejected, or commented on.
    pub(super) fn plan_answered(&mut self, reply: &Reply, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        turn.plan_key = None;
        let said: Vec<&str> = match reply {
            Reply::Answers(answers) => answers.iter().flatten().map(String::as_str).collect(),
            Reply::Permission(_) | Reply::Dismissed => Vec::new(),
        };
        if said == [APPROVE] {
            let mut params = said_by_us(IMPLEMENT);
            self.settings.approve(&mut params);
            return self.begin(params, None, out);
        }
        let comment: Vec<&str> = said.into_iter().filter(|said| *said != REJECT).collect();
        if comment.is_empty() {
            self.end(TurnEndReason::Completed, None, out);
        } else {
            self.begin(said_by_us(&comment.join("\n")), None, out);
        }
    }

    /// The turn is over.
    fn end(&mut self, reason: TurnEndReason, error: Option<AgentError>, out: &mut Out) {
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

    /// What is still open of the turn is so no more.
    fn settle(&mut self, out: &mut Out) {
        self.asks.clear();
        self.items.settle(out);
    }
}

fn said_by_us(text: &str) -> Value {
    json!({ "clientUserMessageId": OURS, "input": [prompt::text(text)] })
}
