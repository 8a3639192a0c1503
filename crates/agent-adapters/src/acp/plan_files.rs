//! Plans that an agent submits for approval: as text, or in a file that it wrote before.

use std::collections::VecDeque;

use serde::Deserialize;

use super::tool_call_update::{AcpToolCallUpdate, ToolCallContent};
use crate::lenient;

/// The limits on remembered files. An agent writes its plan just before it submits it.
const FILES_MAX: usize = 8;
const TEXT_BYTES_MAX: usize = 256 << 10;

/// The tool with which gemini-cli submits a plan. gemini-cli begins the id of a call with its tool, and describes this call
/// only by a title with the path of the file.
const SUBMIT: &str = "exit_plan_mode";

/// The Markdown files that the agent wrote last, as its diffs showed them: path and text.
#[derive(Default)]
pub(super) struct PlanFiles(VecDeque<(String, String)>);

/// The arguments of claude-agent-acp's tool that submits a plan.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SubmittedPlan {
    plan: Option<String>,
}

impl PlanFiles {
    /// Remembers the files that a tool call wrote.
    pub(super) fn remember(&mut self, update: &AcpToolCallUpdate) {
        for content in &update.content {
            let ToolCallContent::Diff { path, new_text: Some(text), .. } = content else { continue };
            if !path.ends_with(".md") {
                continue;
            }
            self.0.retain(|(known, _)| known != path);
            if text.len() > TEXT_BYTES_MAX {
                continue;
            }
            if self.0.len() == FILES_MAX {
                self.0.pop_front();
            }
            self.0.push_back((path.clone(), text.clone()));
        }
    }

    /// The plan that a request for permission submits; `None` for any other request.
    pub(super) fn submitted_plan(&self, call: &AcpToolCallUpdate) -> Option<String> {
        let is_submit = call.tool_call_id.as_ref().is_some_and(|id| id.starts_with(SUBMIT));
        if !is_submit && call.kind.as_deref() != Some("switch_mode") {
            return None;
        }
        let SubmittedPlan { plan } = lenient::object(&call.raw_input);
        if plan.is_some() {
            return plan;
        }
        let title = call.title.as_deref().unwrap_or_default();
        let file = self.0.iter().rev().find(|(path, _)| title.ends_with(path.as_str()));
        match file {
            Some((_, text)) => Some(text.clone()),
            // An earlier process wrote the file, which the title names.
            None => is_submit.then(|| title.to_owned()),
        }
    }
}
