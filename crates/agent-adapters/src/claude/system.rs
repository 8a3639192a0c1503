//! Lines of type `system`: what the program around the model tells.

use protocol::{
    event::AgentStarted,
    message::{MessagePart, MessageRole, PartContent},
};
use serde_json::Value;

use super::{Claude, Fact, Out};
use crate::stream_json::{mcp, message, text};

/// Those that say nothing which is not told in another way, or nothing about the session.
const IGNORED_SYSTEM: [&str; 34] = [
    "background_tasks_changed",
    "code_change_published",
    "compact_boundary",
    "control_request_progress",
    "dev_intent",
    "elicitation_complete",
    "feedback_draft_queued",
    "file_snapshot",
    "files_persisted",
    "hook_progress",
    "hook_response",
    "hook_started",
    "inherited_asks_settled",
    "memory_recall",
    "memory_saved",
    "per_turn_effort_changed",
    "permission_check_status",
    "permission_denied",
    "permission_retry",
    "plugin_install",
    "post_turn_summary",
    "scheduled_task_fire",
    "session_metadata",
    "session_state_changed",
    "session_title_changed",
    "stop_hook_summary",
    "task_progress",
    "task_summary",
    "task_updated",
    "thinking",
    "thinking_tokens",
    "turn_duration",
    "vcs_state_changed",
    "worker_shutting_down",
];

impl Claude {
    pub(super) fn system(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        match text(line, "subtype").unwrap_or_default() {
            "init" => self.init(line, out),
            "status" => {
                self.mode(line);
                match text(line, "status") {
                    Some("compacting") => {
                        self.note(Some("the agent is compacting the conversation".into()), out)
                    }
                    Some("requesting") => {}
                    None => self.note(None, out),
                    Some(_) => return Err("a status of an unknown name".into()),
                }
            }
            "api_retry" => self.note(Some(retry(line)), out),
            "commands_changed" => self.commands(line, out),
            "task_started" if line.get("is_backgrounded") == Some(&Value::Bool(true)) => {
                self.background.extend(text(line, "tool_use_id").map(str::to_owned));
            }
            "task_started" => {}
            "task_notification" => {
                let task = text(line, "tool_use_id").unwrap_or_default();
                if self.background.remove(task) {
                    let lost = self.calls.abandon(|open| open.parent.as_deref() == Some(task));
                    out.facts.extend(lost.into_iter().map(Fact::Event));
                }
            }
            known if IGNORED_SYSTEM.contains(&known) || known.starts_with("ui_") => {}
            // What is meant for people is told to them, whatever it is.
            _ => {
                let keys = ["content", "text", "message", "detail"];
                let said = keys.iter().find_map(|key| text(line, key)).ok_or("a line of an unknown type")?;
                let content = PartContent::Text { text: said.into() };
                let id = text(line, "uuid").map_or_else(|| self.name(), Into::into);
                out.event(message(
                    &id,
                    MessageRole::System,
                    None,
                    vec![MessagePart { id: "0".into(), content }],
                ));
            }
        }
        Ok(())
    }

    /// It says who it is, at the beginning of every turn.
    fn init(&mut self, line: &Value, out: &mut Out) {
        self.mode(line);
        mcp::warn_of_failed(&mut self.servers, line, out);
        let owned = |key: &str| text(line, key).map(str::to_owned);
        let session = owned("session_id");
        if self.session.is_none() || (session.is_some() && self.session != session) {
            let started = AgentStarted {
                model: owned("model"),
                mode: owned("permissionMode"),
                version: owned("claude_code_version"),
                resumed: self.resumed && self.session.is_none(),
            };
            self.session.clone_from(&session);
            out.facts.push(Fact::Started { agent_session_id: session, started });
        }
        self.begin(out);
    }

    fn mode(&mut self, line: &Value) {
        if let Some(mode) = text(line, "permissionMode") {
            self.planning = mode == "plan";
        }
    }
}

fn retry(line: &Value) -> String {
    let number = |key: &str| line.get(key).and_then(Value::as_f64).unwrap_or_default();
    let why = match line.get("error_status").and_then(Value::as_u64) {
        Some(status) => format!("the model's server answered {status}"),
        None => text(line, "error").unwrap_or("the model's server did not answer").to_owned(),
    };
    let (attempt, most) = (number("attempt"), number("max_retries"));
    format!("{why}; attempt {attempt} of {most} follows in {:.1} s", number("retry_delay_ms") / 1000.0)
}
