//! What is said to the agent, and how.

use std::{collections::VecDeque, path::Path};

use protocol::{
    InputId,
    agents::AgentModel,
    sessions::{AgentError, MessageAttachment},
};
use serde_json::{Value, json};

use super::{
    Opencode,
    calls::{Purpose, escaped},
};
use crate::{
    Fact, Options, Out, Prompt,
    offers::{check_model, check_variant},
};

/// The mode in which the agent only plans.
const PLAN: &str = "plan";

/// How the agent is spoken to, and what it was told and has not taken up yet.
#[derive(Debug)]
pub(super) struct Prompts {
    mode: String,
    /// The model that the session chooses.
    wanted: Option<String>,
    /// The provider and the model that prompts name.
    model: Option<(String, String)>,
    variant: Option<String>,
    /// In the order in which they were said; without a name if we said it.
    waiting: VecDeque<Option<InputId>>,
}

impl Prompts {
    pub(super) fn new(options: &Options) -> Self {
        let (mode, variant) = (options.agent_mode.clone(), options.variant.clone());
        let (wanted, model) = (options.model.clone(), options.model.as_deref().and_then(split));
        Self { mode, wanted, model, variant, waiting: VecDeque::new() }
    }

    pub(super) fn mode(&self) -> &str {
        &self.mode
    }

    /// Whether the session chooses a model or a variant of one.
    pub(super) fn chooses_model(&self) -> bool {
        self.wanted.is_some() || self.variant.is_some()
    }

    /// Rejects a model or a variant that the server does not have. The server itself would accept both, and fail in the turn.
    pub(super) fn check(&self, models: &[AgentModel]) -> Result<(), AgentError> {
        let wanted = self.wanted.as_deref();
        wanted.map_or(Ok(()), |wanted| check_model(models, wanted))?;
        let variant = self.variant.as_deref();
        variant.map_or(Ok(()), |variant| check_variant(models, wanted, variant))
    }

    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// The model that is configured. It is said with every prompt too: the server keeps to the last one it was told, even
    /// if there is no such model.
    pub(super) fn default_model(&mut self, model: Option<&str>) {
        self.model = model.and_then(split);
    }

    pub(super) fn model(&self) -> Option<String> {
        self.model.as_ref().map(|(provider, model)| format!("{provider}/{model}"))
    }

    /// Whether something was said that the agent has not taken up.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The agent takes up the next thing that it was told.
    pub(super) fn taken(&mut self) -> Option<InputId> {
        self.waiting.pop_front().flatten()
    }

    /// Nothing of what waits will be taken up: what that is.
    pub(super) fn forgotten(&mut self) -> Vec<InputId> {
        self.waiting.drain(..).flatten().collect()
    }

    fn body(&self, planning: bool, parts: &[Value]) -> Value {
        // Only in this mode the agent can ask for the approval of its plan.
        let mode = if planning && self.mode == "build" { PLAN } else { &self.mode };
        let mut body = json!({ "agent": mode, "parts": parts });
        if let Some((provider, model)) = &self.model {
            body["model"] = json!({ "providerID": provider, "modelID": model });
        }
        if let Some(variant) = &self.variant {
            body["variant"] = variant.as_str().into();
        }
        body
    }
}

impl Opencode {
    /// Says something that somebody wrote.
    pub(super) fn say(&mut self, prompt: &Prompt, out: &mut Out) {
        let mut parts = Vec::new();
        if !prompt.text.is_empty() || prompt.attachments.is_empty() {
            parts.push(json!({ "type": "text", "text": prompt.text }));
        }
        parts.extend(prompt.attachments.iter().map(attachment));
        self.prompt(Some(prompt.id), &parts, out);
    }

    /// Says something of our own.
    pub(super) fn add(&mut self, text: &str, out: &mut Out) {
        self.prompt(None, &[json!({ "type": "text", "text": text })], out);
    }

    fn prompt(&mut self, input: Option<InputId>, parts: &[Value], out: &mut Out) {
        let body = self.prompts.body(self.policy.is_planning(), parts);
        self.prompts.waiting.push_back(input);
        let path = self.path("/prompt_async");
        self.calls.post(Purpose::Prompt(input), path, Some(body), out);
    }

    /// The server did not take what it was told.
    pub(super) fn refused(&mut self, input: Option<InputId>, reason: &str, out: &mut Out) {
        let Some(at) = self.prompts.waiting.iter().position(|waiting| *waiting == input) else { return };
        self.prompts.waiting.remove(at);
        if let Some(input) = input {
            out.facts.push(Fact::Refused { input, reason: reason.to_owned() });
        }
        self.not_begun(reason, out);
    }
}

fn split(model: &str) -> Option<(String, String)> {
    let (provider, model) = model.split_once('/')?;
    (!provider.is_empty() && !model.is_empty()).then(|| (provider.to_owned(), model.to_owned()))
}

fn attachment(attachment: &MessageAttachment) -> Value {
    match attachment {
        MessageAttachment::Text { name: None, text } => json!({ "type": "text", "text": text }),
        MessageAttachment::Text { name: Some(name), text } => {
            json!({ "type": "text", "text": format!("{name}:\n{text}") })
        }
        MessageAttachment::File { path } => {
            let name = Path::new(path).file_name().map(|name| name.to_string_lossy());
            json!({ "type": "file", "mime": mime(path), "filename": name, "url": format!("file://{}", escaped(path)) })
        }
        MessageAttachment::Image { mime_type, data } => {
            let url = format!("data:{mime_type};base64,{data}");
            json!({ "type": "file", "mime": mime_type, "filename": "image", "url": url })
        }
    }
}

/// The type of a file by its name. The server reads what is `text/plain` by itself; the rest goes to the model as it is.
fn mime(path: &str) -> &'static str {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => "text/plain",
    }
}
