//! What is hidden from somebody, and how what is left looks.
//!
//! What an agent thinks and what tools give become empty, and stay where they were. A path becomes `***`. A path that
//! comes in pieces is hidden too: what may be the beginning of one is shown with the piece that tells. What only a
//! newer hub understands may be anything, so it is hidden with the first of these.

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
    scanner::Scanner,
    tool_input::{hide_contents, hide_path_members},
};

/// How many texts can be said at a time in a worker; the pieces of others are hidden until they are told whole.
const TEXTS_MAX: usize = 1024;

/// What a tool that only thinks is called: agents without names for their tools put the thought there.
const THINK: &str = "think";

/// What is hidden from somebody.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HiddenContent {
    /// What the agent thinks.
    pub thinking: bool,
    /// What tools give, and what they change in files: also in the input of a call and in a wait.
    pub tool_output: bool,
    /// Paths, wherever they stand.
    pub paths: PathRules,
}

impl HiddenContent {
    pub(super) fn is_nothing(&self) -> bool {
        !self.hides_words() && self.paths.is_empty()
    }

    /// Something is hidden whatever it says.
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
            // What people attach is theirs.
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

    fn asked(&self, wait: &mut Wait) {
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

    /// Hides the paths in everything; what cannot be told without them is nothing. `whole` if nothing is known of what
    /// it is.
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
    fn look(&self) -> Box<dyn StreamRedactor> {
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
        self.asked(&mut wait);
        self.without_paths(wait, false)
    }
}

/// Looks at one worker.
struct ContentStreamRedactor {
    hidden: HiddenContent,
    /// The texts that are being said, by message and part.
    texts: HashMap<(String, String), Scanner>,
}

impl StreamRedactor for ContentStreamRedactor {
    fn begin(&mut self, snapshot: &SessionSnapshot) {
        self.texts.clear();
        for message in &snapshot.messages {
            self.told(message);
        }
        // While a turn runs, what was said last may still go on, and so may a path at its end.
        let last = snapshot.messages.last().filter(|_| snapshot.session.turn_id.is_some());
        let last = last.and_then(|message| Some((&message.id, message.parts.last()?)));
        if let Some((message, part)) = last
            && let Some(text) = text(&part.content)
            && let Some((paths, scanner)) = self.follow(message, &part.id)
        {
            *scanner = Scanner::default();
            scanner.push(paths, text);
        }
    }

    fn lose(&mut self, message: &str, part: &str) {
        if let Some((_, scanner)) = self.follow(message, part) {
            *scanner = Scanner::lost();
        }
    }

    fn event(&mut self, event: &Event) -> Option<Event> {
        let mut shown = event.clone();
        match &mut shown {
            Event::MessageDelta(delta) => delta.text = self.grow(delta),
            Event::Message(message) => {
                self.told(message);
                self.hidden.message(message);
            }
            Event::TurnEnded(_) => self.rest(),
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
                let is_held = self.texts.get(&key).is_some_and(Scanner::is_holding);
                if let Some(text) = text_mut(&mut part.content).filter(|_| is_held) {
                    *text = Scanner::default().push(&self.hidden.paths, text);
                }
            }
        }
        snapshot.waits.iter_mut().for_each(|wait| self.hidden.asked(wait));
        snapshot.session.error.iter_mut().for_each(|error| self.hidden.error(error));
        let bare = bare(&snapshot);
        self.hidden.without_paths(snapshot, false).unwrap_or(bare)
    }
}

impl ContentStreamRedactor {
    /// The text of a part from now on; nothing if there are too many.
    fn follow(&mut self, message: &str, part: &str) -> Option<(&PathRules, &mut Scanner)> {
        if self.hidden.paths.is_empty() {
            return None;
        }
        let key = (message.to_owned(), part.to_owned());
        if self.texts.len() >= TEXTS_MAX && !self.texts.contains_key(&key) {
            return None;
        }
        Some((&self.hidden.paths, self.texts.entry(key).or_default()))
    }

    /// How a text goes on, as far as it can be shown.
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

    /// Nothing that was said goes on, unless something is odd.
    fn rest(&mut self) {
        if self.texts.len() > TEXTS_MAX / 2 {
            self.texts.clear();
        }
        self.texts.values_mut().for_each(|scanner| drop(scanner.release()));
    }

    /// Texts were told whole; they may go on.
    fn told(&mut self, message: &Message) {
        for part in &message.parts {
            let Some(text) = text(&part.content) else { continue };
            if let Some((paths, scanner)) = self.follow(&message.id, &part.id) {
                *scanner = Scanner::default();
                scanner.push(paths, text);
                scanner.release();
            }
        }
    }
}

/// What is left of a snapshot of which nothing that is said can be shown.
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

/// As [`text`], to be changed.
fn text_mut(content: &mut PartContent) -> Option<&mut String> {
    match content {
        PartContent::Text { text } | PartContent::Reasoning { text } => Some(text),
        PartContent::ToolResult(result) => Some(&mut result.output),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
