//! Errors without the messages of agents and devices, which can repeat a thought or the output of a tool.

use protocol::{ProblemKind, sessions::AgentError};
use serde_json::{Map, Value};

/// Members of a problem document that the hub or the daemon writes in its own words.
const PROBLEM_MEMBERS: [&str; 5] = ["type", "title", "status", "detail", "requestId"];

/// Hides the message of an agent's error, and keeps its kind.
pub(super) fn hide_error_message(error: &mut AgentError) {
    match error {
        AgentError::ProcessExited { stderr: message, .. }
        | AgentError::TokenError { message }
        | AgentError::InstallFailed { message }
        | AgentError::StartFailed { message }
        | AgentError::Timeout { message }
        | AgentError::Unsupported { message, .. }
        | AgentError::ModelError { message, .. }
        | AgentError::ResumeFailed { message }
        | AgentError::ProtocolError { message }
        | AgentError::McpUnavailable { message, .. }
        | AgentError::SkillUnavailable { message, .. }
        | AgentError::StorageError { message }
        | AgentError::Other { message } => message.clear(),
        AgentError::Unknown(members) => members.values_mut().for_each(|member| *member = Value::Null),
    }
}

/// Hides the messages of agents in a problem, a session or a list of sessions.
pub(super) fn hide_error_messages(value: &mut Value) {
    match value {
        Value::Object(members) if is_problem(members) => hide_problem_message(members),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::Array(warnings) if name == "warnings" => {
                        warnings.iter_mut().for_each(hide_in_error);
                    }
                    error
                        if name == "error" && serde_json::from_value::<AgentError>(error.clone()).is_ok() =>
                    {
                        hide_in_error(error);
                    }
                    other => hide_error_messages(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_error_messages),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn hide_in_error(value: &mut Value) {
    if let Ok(mut error) = serde_json::from_value::<AgentError>(value.clone()) {
        hide_error_message(&mut error);
        *value = serde_json::to_value(error).unwrap_or_default();
    }
}

fn is_problem(members: &Map<String, Value>) -> bool {
    let kind = members.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.starts_with("urn:problem:"))
}

/// The problem is edited as JSON rather than parsed: a newer daemon may send kinds and members that this hub does not know.
fn hide_problem_message(problem: &mut Map<String, Value>) {
    problem.retain(|name, _| PROBLEM_MEMBERS.contains(&name.as_str()));
    let kind = problem.get("type").cloned().and_then(|kind| serde_json::from_value(kind).ok());
    if quotes_agent_or_device(kind) {
        let title = kind.map_or("An error occurred", ProblemKind::title);
        problem.insert("detail".into(), title.into());
        problem.insert("title".into(), title.into());
    }
}

/// Whether the details of such a problem can quote an agent, a device or a program. A kind that this hub does not know can.
fn quotes_agent_or_device(kind: Option<ProblemKind>) -> bool {
    let Some(kind) = kind else { return true };
    matches!(
        kind,
        ProblemKind::AgentStart
            | ProblemKind::AgentExited
            | ProblemKind::AgentTimeout
            | ProblemKind::InstallFailed
            | ProblemKind::ProcessStart
            | ProblemKind::UnsupportedFeature
            | ProblemKind::DeviceFailed
            | ProblemKind::RelayRefused
    )
}
