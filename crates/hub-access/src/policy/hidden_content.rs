//! Hides thoughts, tool output and paths.
//!
//! Thoughts and tool output are emptied and stay in their place. A path becomes `***`, also if it arrives in several deltas:
//! text that may be the beginning of a path is held back until a later delta decides. Content that only a newer hub
//! understands may be anything, so it is hidden as soon as thoughts or tool output are.

use std::collections::HashMap;

use protocol::{
    Event, Message,
    event::AgentPlan,
    message::{DeltaKind, MessageDelta, MessageRole, PartContent, ToolKind},
    sessions::{AgentError, Session, SessionSnapshot},
    wait::{PermissionRequest, Wait, WaitRequest},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    PathRules, Redactor, StreamRedactor,
    error_message::{hide_error_message, hide_error_messages},
    lost_parts::text,
    paths::MASK,
    scanner::PathScanner,
    tool_input::{hide_contents, hide_path_members},
};

/// How many texts of a worker can grow at a time. The deltas of others are hidden until the whole text arrives.
const TEXTS_MAX: usize = 1024;

/// The name shown for a tool that only thinks: agents without tool names put the thought into the name.
const THINK: &str = "think";

/// The content that is hidden from a role.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HiddenContent {
    /// Hide the agent's thoughts.
    pub thinking: bool,
    /// Hide the output of tools and their changes to files, also in the input of a call and in a wait.
    pub tool_output: bool,
    /// Hide these paths, wherever they occur.
    pub paths: PathRules,
    /// Show directories of sessions relative to a root. Without a rule, owners see absolute paths and others do not.
    pub directories: Option<bool>,
}

impl HiddenContent {
    pub(super) fn is_nothing(&self) -> bool {
        !self.hides_words() && self.paths.is_empty()
    }

    /// Whether thoughts or tool output are hidden, whatever the text is.
    fn hides_words(&self) -> bool {
        self.thinking || self.tool_output
    }

    fn message(&self, message: &mut Message) {
        for part in &mut message.parts {
            self.content(message.role, &mut part.content);
        }
    }

    fn content(&self, role: MessageRole, content: &mut PartContent) {
        match content {
            PartContent::Reasoning { text } if self.thinking => text.clear(),
            PartContent::ToolCall(call) if self.thinking && call.kind == ToolKind::Think => {
                (call.title, call.input) = (None, Value::Null);
                call.name = THINK.into();
            }
            PartContent::ToolCall(call) if self.tool_output => hide_contents(call.kind, &mut call.input),
            PartContent::ToolResult(result) if self.tool_output => {
                result.output.clear();
                result.diffs.clear();
            }
            // Attachments of users are not output.
            PartContent::File { text, uri, name, .. } if self.tool_output && role != MessageRole::User => {
                (*text, *uri, *name) = (None, None, None);
            }
            PartContent::Image { data, uri, .. } if self.tool_output && role != MessageRole::User => {
                (*data, *uri) = (None, None);
            }
            PartContent::Unparsed { raw, error } if self.hides_words() => {
                *raw = Value::Null;
                error.clear();
            }
            PartContent::Unknown(members) if self.hides_words() => members.retain(|name, _| name == "type"),
            _ => {}
        }
    }

    /// The thought of a tool that only thinks, and the contents and paths of files that a tool would write.
    fn permission(&self, request: &mut PermissionRequest) {
        if self.thinking && request.kind == ToolKind::Think {
            (request.tool, request.title) = (THINK.into(), THINK.into());
            (request.reason, request.input) = (None, Value::Null);
            request.always_allows.clear();
        }
        if self.tool_output {
            hide_contents(request.kind, &mut request.input);
        }
        if self.paths.text(&request.title) != request.title {
            hide_path_members(&mut request.input);
        }
    }

    /// An agent's words about an error: they can repeat a thought or the output of a tool.
    fn error(&self, error: &mut AgentError) {
        if self.hides_words() {
            hide_error_message(error);
        }
    }

    fn wait_request(&self, wait: &mut Wait) {
        if let WaitRequest::Permission(ask) = &mut wait.request {
            self.permission(ask);
        }
    }

    fn hides(&self, kind: DeltaKind) -> bool {
        match kind {
            DeltaKind::Text => false,
            DeltaKind::Reasoning => self.thinking,
            DeltaKind::ToolOutput => self.tool_output,
            DeltaKind::Other => self.hides_words(),
        }
    }

    /// Hides the paths in every text of the value; `None` if the value cannot be expressed without them. With `whole`, each
    /// text is treated as one path, because its meaning is not known.
    fn without_paths<T: Serialize + DeserializeOwned>(&self, told: T, whole: bool) -> Option<T> {
        if self.paths.is_empty() {
            return Some(told);
        }
        let mut value = serde_json::to_value(&told).ok()?;
        match self.paths.hide(&mut value, whole) {
            true => serde_json::from_value(value).ok(),
            false => Some(told),
        }
    }
}

impl Redactor for HiddenContent {
    fn redact_stream(&self) -> Box<dyn StreamRedactor> {
        Box::new(ContentStreamRedactor { hidden: self.clone(), texts: HashMap::new() })
    }

    fn value(&self, mut value: Value) -> Value {
        if self.hides_words() {
            hide_error_messages(&mut value);
        }
        self.paths.hide(&mut value, false);
        value
    }

    fn wait(&self, mut wait: Wait) -> Option<Wait> {
        self.wait_request(&mut wait);
        self.without_paths(wait, false)
    }
}

/// Redacts the events of one worker.
struct ContentStreamRedactor {
    hidden: HiddenContent,
    /// The growing texts, by message and part.
    texts: HashMap<(String, String), PathScanner>,
}

impl StreamRedactor for ContentStreamRedactor {
    fn begin(&mut self, snapshot: &SessionSnapshot) {
        self.texts.clear();
        for message in &snapshot.messages {
            self.replace_texts(message);
        }
        // While a turn runs, the last text may still grow, and so may a path at its end.
        let last = snapshot.messages.last().filter(|_| snapshot.session.turn_id.is_some());
        let last = last.and_then(|message| Some((&message.id, message.parts.last()?)));
        if let Some((message, part)) = last
            && let Some(text) = text(&part.content)
            && let Some((paths, scanner)) = self.follow(message, &part.id)
        {
            *scanner = PathScanner::default();
            scanner.push(paths, text);
        }
    }

    fn lose(&mut self, message: &str, part: &str) {
        if let Some((_, scanner)) = self.follow(message, part) {
            *scanner = PathScanner::lost();
        }
    }

    fn event(&mut self, event: &Event) -> Option<Event> {
        let mut shown = event.clone();
        match &mut shown {
            Event::MessageDelta(delta) => delta.text = self.grow(delta),
            Event::Message(message) => {
                self.replace_texts(message);
                self.hidden.message(message);
            }
            Event::TurnEnded(_) => self.end_texts(),
            Event::Snapshot(snapshot) => {
                self.begin(snapshot);
                **snapshot = self.snapshot((**snapshot).clone());
                return Some(shown);
            }
            Event::PermissionAsked(ask) => self.hidden.permission(ask),
            Event::Error(error) => self.hidden.error(error),
            Event::Unknown(members) if self.hidden.hides_words() => {
                members.values_mut().for_each(|member| *member = Value::Null);
            }
            _ => {}
        }
        if !matches!(shown, Event::MessageDelta(_)) {
            let is_newer = matches!(shown, Event::Unknown(_));
            shown = self.hidden.without_paths(shown, is_newer).unwrap_or(Event::Unknown(Map::new()));
        }
        (shown != *event).then_some(shown)
    }

    fn snapshot(&self, mut snapshot: SessionSnapshot) -> SessionSnapshot {
        for message in &mut snapshot.messages {
            self.hidden.message(message);
            for part in &mut message.parts {
                let key = (message.id.clone(), part.id.clone());
                let is_held = self.texts.get(&key).is_some_and(PathScanner::is_holding);
                if let Some(text) = text_mut(&mut part.content).filter(|_| is_held) {
                    *text = PathScanner::default().push(&self.hidden.paths, text);
                }
            }
        }
        snapshot.waits.iter_mut().for_each(|wait| self.hidden.wait_request(wait));
        snapshot.session.error.iter_mut().for_each(|error| self.hidden.error(error));
        let bare = bare(&snapshot);
        self.hidden.without_paths(snapshot, false).unwrap_or(bare)
    }
}

impl ContentStreamRedactor {
    /// The scanner for the text of a part; `None` if too many texts grow.
    fn follow(&mut self, message: &str, part: &str) -> Option<(&PathRules, &mut PathScanner)> {
        if self.hidden.paths.is_empty() {
            return None;
        }
        let key = (message.to_owned(), part.to_owned());
        if self.texts.len() >= TEXTS_MAX && !self.texts.contains_key(&key) {
            return None;
        }
        Some((&self.hidden.paths, self.texts.entry(key).or_default()))
    }

    /// The next piece of a text, as far as it can be shown.
    fn grow(&mut self, delta: &MessageDelta) -> String {
        if self.hidden.hides(delta.kind) {
            return String::new();
        }
        if self.hidden.paths.is_empty() {
            return delta.text.clone();
        }
        let followed = self.follow(&delta.message_id, &delta.part_id);
        followed.map(|(paths, scanner)| scanner.push(paths, &delta.text)).unwrap_or_default()
    }

    /// Ends the texts with their turn. An agent that continues one nevertheless is still followed.
    fn end_texts(&mut self) {
        if self.texts.len() > TEXTS_MAX / 2 {
            self.texts.clear();
        }
        self.texts.values_mut().for_each(|scanner| drop(scanner.release()));
    }

    /// Starts over with the whole texts of a message, which may still grow.
    fn replace_texts(&mut self, message: &Message) {
        for part in &message.parts {
            let Some(text) = text(&part.content) else { continue };
            if let Some((paths, scanner)) = self.follow(&message.id, &part.id) {
                *scanner = PathScanner::default();
                scanner.push(paths, text);
                scanner.release();
            }
        }
    }
}

/// A snapshot without any text, for one that cannot be redacted.
fn bare(snapshot: &SessionSnapshot) -> SessionSnapshot {
    let session = Session {
        agent_session_id: None,
        title: None,
        agent_mode: String::new(),
        model: None,
        variant: None,
        directory: MASK.into(),
        error: None,
        ..snapshot.session.clone()
    };
    SessionSnapshot {
        seq: snapshot.seq,
        session,
        messages: Vec::new(),
        has_earlier: true,
        waits: Vec::new(),
        inputs: Vec::new(),
        plan: AgentPlan::default(),
        commands: Vec::new(),
    }
}

/// As [`text`], but mutable.
fn text_mut(content: &mut PartContent) -> Option<&mut String> {
    match content {
        PartContent::Text { text } | PartContent::Reasoning { text } => Some(text),
        PartContent::ToolResult(result) => Some(&mut result.output),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
