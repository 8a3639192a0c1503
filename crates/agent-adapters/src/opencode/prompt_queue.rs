//! Prompts that the server has not taken up.

use std::{collections::VecDeque, path::Path};

use protocol::{
    InputId,
    agents::AgentModel,
    sessions::{AgentError, MessageAttachment},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    OpencodeAdapter,
    server_calls::{CallPurpose, escaped},
};
use crate::{
    Fact, Options, Out, Prompt,
    offers::{check_model, check_variant},
};

/// The mode in which the agent only plans.
const PLAN: &str = "plan";

/// The prompts that the server has not taken up, and the options that are sent with each.
#[derive(Debug)]
pub(super) struct PromptQueue {
    mode: String,
    /// The model that the session chooses.
    chosen: Option<String>,
    /// The provider and the model of the prompts.
    model: Option<(String, String)>,
    variant: Option<String>,
    /// The prompts in their order. A message of the adapter itself has no id.
    waiting: VecDeque<Option<InputId>>,
}

/// The body of a prompt.
#[derive(Serialize)]
struct PromptBody<'a> {
    agent: &'a str,
    parts: &'a [Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
}

#[derive(Serialize)]
struct ModelChoice<'a> {
    #[serde(rename = "providerID")]
    provider_id: &'a str,
    #[serde(rename = "modelID")]
    model_id: &'a str,
}

impl PromptQueue {
    pub(super) fn new(options: &Options) -> Self {
        let (mode, variant) = (options.agent_mode.clone(), options.variant.clone());
        let (chosen, model) = (options.model.clone(), options.model.as_deref().and_then(split));
        Self { mode, chosen, model, variant, waiting: VecDeque::new() }
    }

    pub(super) fn mode(&self) -> &str {
        &self.mode
    }

    /// Whether the session chooses a model or a variant of one.
    pub(super) fn chooses_model(&self) -> bool {
        self.chosen.is_some() || self.variant.is_some()
    }

    /// Rejects a model or a variant that the server does not have. The server itself would accept both, and fail in the turn.
    pub(super) fn check_model(&self, models: &[AgentModel]) -> Result<(), AgentError> {
        let chosen = self.chosen.as_deref();
        chosen.map_or(Ok(()), |chosen| check_model(models, chosen))?;
        let variant = self.variant.as_deref();
        variant.map_or(Ok(()), |variant| check_variant(models, chosen, variant))
    }

    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Sets the configured model. It goes with every prompt too: the server stays with the model of the last prompt, even if
    /// there is no such model.
    pub(super) fn set_default_model(&mut self, model: Option<&str>) {
        self.model = model.and_then(split);
    }

    pub(super) fn model(&self) -> Option<String> {
        self.model.as_ref().map(|(provider, model)| format!("{provider}/{model}"))
    }

    /// Whether a prompt waits.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Removes the next prompt, which the agent takes up. None if it is the adapter's own.
    pub(super) fn take_next(&mut self) -> Option<InputId> {
        self.waiting.pop_front().flatten()
    }

    /// Removes all prompts, which the agent will not take up. Returns those of clients.
    pub(super) fn take_all(&mut self) -> Vec<InputId> {
        self.waiting.drain(..).flatten().collect()
    }

    fn body(&self, planning: bool, parts: &[Value]) -> Value {
        // Only in this mode the agent can request the approval of its plan.
        let mode = if planning && self.mode == "build" { PLAN } else { &self.mode };
        let model = self.model.as_ref().map(|(provider_id, model_id)| ModelChoice { provider_id, model_id });
        json!(PromptBody { agent: mode, parts, model, variant: self.variant.as_deref() })
    }
}

impl OpencodeAdapter {
    /// Sends a prompt of a client.
    pub(super) fn send_prompt(&mut self, prompt: &Prompt, out: &mut Out) {
        let mut parts = Vec::new();
        if !prompt.text.is_empty() || prompt.attachments.is_empty() {
            parts.push(json!({ "type": "text", "text": prompt.text }));
        }
        parts.extend(prompt.attachments.iter().map(attachment));
        self.send_parts(Some(prompt.id), &parts, out);
    }

    /// Sends a message of the adapter itself.
    pub(super) fn send_own_message(&mut self, text: &str, out: &mut Out) {
        self.send_parts(None, &[json!({ "type": "text", "text": text })], out);
    }

    fn send_parts(&mut self, input: Option<InputId>, parts: &[Value], out: &mut Out) {
        let body = self.prompts.body(self.policy.is_planning(), parts);
        self.prompts.waiting.push_back(input);
        let path = self.session_path("/prompt_async");
        self.calls.post(CallPurpose::Prompt(input), path, Some(body), out);
    }

    /// Handles a prompt that the server did not accept.
    pub(super) fn prompt_refused(&mut self, input: Option<InputId>, reason: &str, out: &mut Out) {
        let Some(at) = self.prompts.waiting.iter().position(|waiting| *waiting == input) else { return };
        self.prompts.waiting.remove(at);
        if let Some(input) = input {
            out.facts.push(Fact::Refused { input, reason: reason.to_owned() });
        }
        self.turn_not_begun(reason, out);
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

/// The type of a file by its name. The server itself reads files of the type `text/plain`; others go to the model as they are.
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
