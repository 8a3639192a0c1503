//! Sessions, messages and events as text for people.

use protocol::{
    Event, EventRecord, Message,
    message::{MessageRole, PartContent},
    sessions::{AgentError, MessageAccepted, Session, SessionInputList, SessionList, SessionSnapshot},
    wait::{QuestionRequest, WaitRequest},
};
use serde::Serialize;

use crate::output::{card, or_dash, plain, plain_json, table, time};

/// Longest text in a table cell.
const CELL_CHARS_MAX: usize = 80;

pub(crate) fn list(list: SessionList) -> String {
    let rows = list.items.into_iter().map(|session| {
        [
            session.id.to_string(),
            session.agent.to_string(),
            name(&session.state),
            session.queued_inputs.to_string(),
            session.open_waits.to_string(),
            session.newest_seq.to_string(),
            time(Some(session.updated_at)),
            or_dash(session.title),
        ]
    });
    table(["ID", "AGENT", "STATE", "QUEUED", "WAITS", "EVENTS", "UPDATED", "TITLE"], rows)
}

pub(crate) fn session_card(session: &Session) -> String {
    let usage = &session.usage;
    card([
        ("id", session.id.to_string()),
        ("title", or_dash(session.title.as_ref())),
        ("agent", session.agent.to_string()),
        ("agent session", or_dash(session.agent_session_id.as_ref())),
        ("mode", session.agent_mode.clone()),
        ("permissions", name(&session.permission_mode)),
        ("model", or_dash(session.model.as_ref())),
        ("variant", or_dash(session.variant.as_ref())),
        ("directory", session.directory.clone()),
        ("state", name(&session.state)),
        ("turn", or_dash(session.turn_id)),
        ("queued", session.queued_inputs.to_string()),
        ("waits", session.open_waits.to_string()),
        ("tokens", format!("{} in, {} out", usage.input_tokens + usage.cached_tokens, usage.output_tokens)),
        ("cost", or_dash(usage.cost_usd.map(|cost| format!("${cost:.4}")))),
        ("error", or_dash(session.error.as_ref().map(agent_error))),
        ("created", time(Some(session.created_at))),
        ("updated", time(Some(session.updated_at))),
        ("events", session.newest_seq.to_string()),
    ])
}

pub(super) fn sent(sent: &MessageAccepted) -> String {
    card([
        ("input", sent.input_id.to_string()),
        ("turn", sent.turn_id.to_string()),
        ("state", name(&sent.state)),
    ])
}

pub(super) fn inputs(list: SessionInputList) -> String {
    let rows = list.items.into_iter().map(|input| {
        [
            input.id.to_string(),
            name(&input.state),
            input.author.to_string(),
            time(Some(input.accepted_at)),
            truncate(&input.message),
        ]
    });
    table(["ID", "STATE", "AUTHOR", "ACCEPTED", "MESSAGE"], rows)
}

pub(super) fn snapshot(snapshot: &SessionSnapshot) -> String {
    let mut lines = vec![session_card(&snapshot.session), String::new()];
    if snapshot.has_earlier {
        lines.push("[earlier messages are not shown: list them with `tombolo api sessions messages`]".into());
    }
    lines.extend(snapshot.messages.iter().map(message));
    lines.extend(
        snapshot
            .waits
            .iter()
            .map(|wait| format!("open wait: {} {}", wait.id, plain(&summarize_request(&wait.request)))),
    );
    lines.extend(
        snapshot.inputs.iter().map(|input| format!("queued: {} {}", input.id, truncate(&input.message))),
    );
    lines.join("\n")
}

/// An event on one line: its number, its kind and its content.
pub(super) fn record(record: &EventRecord) -> String {
    let json = serde_json::to_value(&record.event).unwrap_or_default();
    let (kind, fields) = json.as_object().and_then(|object| object.iter().next()).unzip();
    let content = match &record.event {
        Event::Message(message) => format!("{} {}", name(&message.role), summary(message)),
        Event::MessageDelta(delta) => format!("{} {}", delta.message_id, delta.text),
        Event::Error(error) => agent_error(error),
        Event::PermissionAsked(request) => format!("{} {}: {}", request.id, request.tool, request.title),
        Event::QuestionAsked(request) => format!("{} {}", request.id, question(request)),
        _ => fields.map(|fields| plain_json(fields.to_string().as_bytes())).unwrap_or_default(),
    };
    let kind = kind.map_or("unknown", String::as_str);
    format!("{:>6}  {kind:<18}  {}", record.seq, plain(&content))
}

/// A message: its author or role, then its parts.
pub(super) fn message(message: &Message) -> String {
    let speaker = match (&message.author, message.role) {
        (Some(author), _) => author.to_string(),
        (None, role) => name(&role),
    };
    let mut lines = vec![format!("{}:", plain(&speaker))];
    for part in &message.parts {
        let text = content(&part.content);
        lines.extend(text.lines().map(|line| format!("  {}", plain(line))));
    }
    lines.join("\n")
}

fn summary(message: &Message) -> String {
    let parts: Vec<_> = message.parts.iter().map(|part| content(&part.content)).collect();
    match message.role {
        MessageRole::User => truncate(&parts.join(" ")),
        _ => parts.join(" "),
    }
}

pub(super) fn content(content: &PartContent) -> String {
    match content {
        PartContent::Text { text } => text.clone(),
        PartContent::Reasoning { text } => format!("(thinking) {text}"),
        PartContent::ToolCall(call) => {
            format!("[{}] {} ({})", call.name, call.title.as_deref().unwrap_or_default(), name(&call.status))
        }
        PartContent::ToolResult(result) => {
            let changed = result.diffs.iter().map(|diff| format!("\nchanged {}", diff.path));
            format!("{}{}", result.output, changed.collect::<String>())
        }
        PartContent::File { name, uri, .. } => {
            format!("[file] {}", name.as_ref().or(uri.as_ref()).map_or("", String::as_str))
        }
        PartContent::Image { mime_type, .. } => format!("[image] {mime_type}"),
        PartContent::Unparsed { raw, error } => format!("[unparsed: {error}] {raw}"),
        PartContent::Unknown(content) => serde_json::to_string(content).unwrap_or_default(),
    }
}

/// The question or permission request on one line.
fn summarize_request(request: &WaitRequest) -> String {
    match request {
        WaitRequest::Permission(permission) => format!("{}: {}", permission.tool, permission.title),
        WaitRequest::Question(request) => question(request),
    }
}

fn question(question: &QuestionRequest) -> String {
    match &question.plan {
        Some(plan) => format!("plan: {}", truncate(plan)),
        None => {
            let questions: Vec<_> = question.questions.iter().map(|item| item.question.as_str()).collect();
            questions.join(" / ")
        }
    }
}

/// An agent's error on one line: its kind and its message.
pub(super) fn agent_error(error: &AgentError) -> String {
    let json = serde_json::to_value(error).unwrap_or_default();
    let (kind, fields) = json.as_object().and_then(|object| object.iter().next()).unzip();
    let message = fields.and_then(|fields| fields["message"].as_str().map(str::to_owned));
    let message = message.or_else(|| fields.map(ToString::to_string)).unwrap_or_default();
    let named = fields.and_then(|fields| fields["server"].as_str().or(fields["skill"].as_str()));
    let named = named.map(|name| format!(" `{name}`")).unwrap_or_default();
    format!("{}{named}: {message}", kind.map_or("unknown", String::as_str))
}

/// The spelling of an enum value on the wire.
fn name(value: &impl Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

fn truncate(text: &str) -> String {
    match text.char_indices().nth(CELL_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
