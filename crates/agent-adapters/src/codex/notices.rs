//! What Codex says without being asked.

use protocol::{
    Event,
    event::{AgentPlan, PlanStep, PlanStepState},
};
use serde_json::Value;

use super::{Codex, error, turn};
use crate::{Fact, Out, mcp_unavailable};

/// What is known and says nothing that a session wants to know, or says again what is told elsewhere.
const IGNORED: &[&str] = &[
    "account/gatewayOAuth/changed",
    "account/login/completed",
    "account/rateLimits/updated",
    "account/updated",
    "app/list/updated",
    // For those who write clients.
    "deprecationNotice",
    "fs/changed",
    "hook/completed",
    "hook/started",
    "item/autoApprovalReview/completed",
    "item/autoApprovalReview/started",
    "item/commandExecution/terminalInteraction",
    // An item is told whole when it is completed.
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/reasoning/summaryPartAdded",
    "mcpServer/oauthLogin/completed",
    "model/safetyBuffering/updated",
    "model/verification",
    "modelProvider/authRecoveryCompleted",
    "modelProvider/authRecoveryStarted",
    "project/changed",
    "rawResponse/completed",
    "rawResponseItem/completed",
    "remoteControl/status/changed",
    "skills/changed",
    // The item of a compaction is told.
    "thread/compacted",
    "thread/environment/connected",
    "thread/goal/cleared",
    "thread/goal/updated",
    "thread/name/updated",
    "thread/prediction/updated",
    "thread/project/updated",
    "thread/queue/changed",
    "thread/readState/changed",
    "thread/settings/updated",
    // The answer to our request says the same.
    "thread/started",
    // What it waits for is asked, and what went wrong is told.
    "thread/status/changed",
    // The changes are told by file.
    "turn/diff/updated",
    "turn/moderationMetadata",
];

impl Codex {
    /// Codex says something; why it was not understood otherwise.
    pub(super) fn noticed(&mut self, method: &str, params: &Value, out: &mut Out) -> Result<(), String> {
        let thread = params["threadId"].as_str();
        // What an agent of the agent says is its own; only its items are told.
        let own = thread.is_none() || thread == self.thread.as_deref();
        match method {
            "item/started" | "item/completed" => return self.item(method, params, out),
            "turn/started" if own => match params.pointer("/turn/id").and_then(Value::as_str) {
                Some(id) => self.turn_started(id, out),
                None => return Err("a turn without an id".into()),
            },
            "turn/completed" if own => return self.turn_completed(&params["turn"], out),
            "turn/started" | "turn/completed" => {}
            "turn/plan/updated" if own => out.event(Event::Plan(plan(&params["plan"]))),
            "turn/plan/updated" => {}
            "thread/tokenUsage/updated" => return self.used(own, params),
            "error" => self.failed(own, params, out),
            "serverRequest/resolved" => {
                if let Some(ask) = self.asks.resolved(&params["requestId"]) {
                    ask.kind.withdrawn(&mut self.items, out);
                    out.facts.push(Fact::Withdrawn { key: ask.key });
                }
            }
            "mcpServer/startupStatus/updated" => {
                let name = params["name"].as_str().unwrap_or_default();
                if params["status"] == "failed" {
                    let why = params["error"].as_str().unwrap_or("it could not be started");
                    out.facts.push(mcp_unavailable(name, why));
                }
                if params["status"] != "starting" {
                    self.server_settled(name, out);
                }
            }
            "model/rerouted" => {
                let model = |key: &str| params[key].as_str().unwrap_or("another model").to_owned();
                self.status(format!("{} answers for {}", model("toModel"), model("fromModel")), out);
            }
            "warning"
            | "guardianWarning"
            | "configWarning"
            | "item/mcpToolCall/progress"
            | "autoApprovalReview/strictReviewRequired"
            | "thread/environment/disconnected" => {
                let said = params["message"].as_str().or_else(|| params["summary"].as_str());
                self.status(said.unwrap_or(method), out);
            }
            _ if IGNORED.contains(&method) => {}
            _ if self.items.grow(method, params, out) => {}
            _ => return Err(format!("unknown notification `{method}`")),
        }
        Ok(())
    }

    fn item(&mut self, method: &str, params: &Value, out: &mut Out) -> Result<(), String> {
        let thread = params["threadId"].as_str().unwrap_or_default();
        let own = self.thread.as_deref() == Some(thread);
        let item = &params["item"];
        let completed = method == "item/completed";
        match item["type"].as_str() {
            Some("userMessage") => {
                let input = item["clientId"].as_str().filter(|_| own).and_then(turn::input);
                if !completed {
                    // What comes now answers it.
                    self.items.turn_page(thread);
                    self.consumed(input.as_ref(), out);
                }
                if input.is_some() {
                    return Ok(());
                }
            }
            Some("plan") if own && completed => {
                let plan = item["text"].as_str().map(str::to_owned);
                self.turn.iter_mut().for_each(|turn| turn.plan.clone_from(&plan));
            }
            Some("contextCompaction") => {
                if own && !completed {
                    self.status("the agent is compacting the conversation", out);
                }
                return Ok(());
            }
            _ => {}
        }
        let parent = if own { None } else { self.items.parent(thread) };
        if completed {
            self.items.completed(thread, parent, item, out)
        } else {
            self.items.started(thread, parent, item, out)
        }
    }

    fn used(&mut self, own: bool, params: &Value) -> Result<(), String> {
        // It comes after each answer of the model and all that was done about it.
        self.items.turn_page(params["threadId"].as_str().unwrap_or_default());
        if own {
            let reading = serde_json::from_value(params["tokenUsage"].clone());
            let turn = self.turn.as_ref().and_then(|turn| turn.id.as_deref());
            let earlier = turn != params["turnId"].as_str();
            self.meter.read(reading.map_err(|error| error.to_string())?, earlier);
        }
        Ok(())
    }

    /// Something went wrong. If it is not tried again the end of the turn says the same.
    fn failed(&mut self, own: bool, params: &Value, out: &mut Out) {
        let error = &params["error"];
        if !own || params["willRetry"] == true {
            let words = [&error["message"], &error["additionalDetails"]];
            let words: Vec<_> = words.into_iter().filter_map(Value::as_str).collect();
            return self.status(words.join(": "), out);
        }
        match &mut self.turn {
            Some(turn) => turn.error = Some(error::read(error)),
            None => out.event(Event::Error(error::read(error).1)),
        }
    }
}

fn plan(steps: &Value) -> AgentPlan {
    let step = |step: &Value| PlanStep {
        text: step["step"].as_str().unwrap_or_default().to_owned(),
        state: serde_json::from_value(step["status"].clone()).unwrap_or(PlanStepState::Other),
    };
    AgentPlan { steps: steps.as_array().into_iter().flatten().map(step).collect() }
}
