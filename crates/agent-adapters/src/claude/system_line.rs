//! Lines of type `system`: reports of the program around the model.

use protocol::{
    event::AgentStarted,
    message::{MessagePart, MessageRole, PartContent},
};
use serde::Deserialize;
use serde_json::Value;

use super::{Claude, Fact, Out, line_handler::publish_commands};
use crate::{
    lenient,
    stream_json::{
        mcp_servers::{McpServerStatus, warn_of_failed},
        message,
    },
};

/// The subtypes of lines that repeat other lines or are not about the session.
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

/// The beginning of every turn.
#[derive(Default, Deserialize)]
#[serde(default)]
struct InitLine {
    #[serde(deserialize_with = "lenient::text")]
    session_id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    model: Option<String>,
    #[serde(rename = "permissionMode", deserialize_with = "lenient::text")]
    permission_mode: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    claude_code_version: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    mcp_servers: Vec<McpServerStatus>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StatusLine {
    #[serde(deserialize_with = "lenient::text")]
    status: Option<String>,
    #[serde(rename = "permissionMode", deserialize_with = "lenient::text")]
    permission_mode: Option<String>,
}

/// The announcement of another attempt to reach the model.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ApiRetryLine {
    error_status: Option<u64>,
    #[serde(deserialize_with = "lenient::text")]
    error: Option<String>,
    attempt: f64,
    max_retries: f64,
    retry_delay_ms: f64,
}

/// The start or end of a task, such as a subagent.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskLine {
    #[serde(deserialize_with = "lenient::text")]
    tool_use_id: Option<String>,
    is_backgrounded: bool,
}

/// A line for people. The text is in one of these fields.
#[derive(Default, Deserialize)]
#[serde(default)]
struct NoticeLine {
    #[serde(deserialize_with = "lenient::text")]
    uuid: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    content: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    text: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    message: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    detail: Option<String>,
}

impl Claude {
    pub(super) fn handle_system_line(
        &mut self,
        subtype: &str,
        line: &Value,
        out: &mut Out,
    ) -> Result<(), String> {
        match subtype {
            "init" => self.handle_init(lenient::object(line), out),
            "status" => {
                let StatusLine { status, permission_mode } = lenient::object(line);
                self.set_agent_mode(permission_mode.as_deref());
                match status.as_deref() {
                    Some("compacting") => {
                        let detail = "the agent is compacting the conversation".into();
                        self.set_status_detail(Some(detail), out);
                    }
                    Some("requesting") => {}
                    None => self.set_status_detail(None, out),
                    Some(_) => return Err("a status of an unknown name".into()),
                }
            }
            "api_retry" => {
                let retry: ApiRetryLine = lenient::object(line);
                self.set_status_detail(Some(retry.describe()), out);
            }
            "commands_changed" => publish_commands(line, out),
            "task_started" => {
                let task: TaskLine = lenient::object(line);
                self.background.extend(task.tool_use_id.filter(|_| task.is_backgrounded));
            }
            "task_notification" => {
                let task: TaskLine = lenient::object(line);
                let task = task.tool_use_id.unwrap_or_default();
                if self.background.remove(&task) {
                    let lost = self.calls.cancel(|open| open.parent.as_ref() == Some(&task));
                    out.facts.extend(lost.into_iter().map(Fact::Event));
                }
            }
            known if IGNORED_SYSTEM.contains(&known) || known.starts_with("ui_") => {}
            _ => return self.show_notice(lenient::object(line), out),
        }
        Ok(())
    }

    fn handle_init(&mut self, line: InitLine, out: &mut Out) {
        self.set_agent_mode(line.permission_mode.as_deref());
        warn_of_failed(&mut self.awaited_servers, &line.mcp_servers, out);
        let session = line.session_id;
        if self.session.is_none() || (session.is_some() && self.session != session) {
            let started = AgentStarted {
                model: line.model,
                mode: line.permission_mode,
                version: line.claude_code_version,
                resumed: self.is_resumed && self.session.is_none(),
            };
            self.session.clone_from(&session);
            out.facts.push(Fact::Started { agent_session_id: session, started });
        }
        self.note_work(out);
    }

    fn set_agent_mode(&mut self, mode: Option<&str>) {
        if let Some(mode) = mode {
            self.is_planning = mode == "plan";
        }
    }

    /// Shows the text of a line of an unknown type: it is meant for people.
    fn show_notice(&mut self, line: NoticeLine, out: &mut Out) -> Result<(), String> {
        let text = line.content.or(line.text).or(line.message).or(line.detail);
        let content = PartContent::Text { text: text.ok_or("a line of an unknown type")? };
        let id = line.uuid.unwrap_or_else(|| self.ids.mint());
        out.event(message(&id, MessageRole::System, None, vec![MessagePart { id: "0".into(), content }]));
        Ok(())
    }
}

impl ApiRetryLine {
    fn describe(self) -> String {
        let reason = match (self.error_status, self.error) {
            (Some(status), _) => format!("the model's server answered {status}"),
            (None, Some(error)) => error,
            (None, None) => "the model's server did not answer".into(),
        };
        let Self { attempt, max_retries, retry_delay_ms, .. } = self;
        let delay = retry_delay_ms / 1000.0;
        format!("{reason}; attempt {attempt} of {max_retries} follows in {delay:.1} s")
    }
}
