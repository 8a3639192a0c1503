//! Plans that an agent submits for approval: as text, or in a file that it wrote before.

use std::collections::VecDeque;

use serde_json::Value;

/// How many files are remembered, and how long a text may be. A plan is written just before it is submitted.
const FILES_MAX: usize = 8;
const TEXT_BYTES_MAX: usize = 256 << 10;

/// How gemini-cli names the call that submits a plan: it names calls after their tools, and says of this one no more than a
/// title with the path of the file.
const SUBMIT: &str = "exit_plan_mode";

/// The Markdown files that the agent wrote last, as its diffs showed them.
#[derive(Default)]
pub(super) struct PlanFiles(VecDeque<(String, String)>);

impl PlanFiles {
    /// Notes what a tool call wrote.
    pub(super) fn note(&mut self, update: &Value) {
        for content in update["content"].as_array().into_iter().flatten() {
            let (path, text) = (content["path"].as_str(), content["newText"].as_str());
            let (Some(path), Some(text)) = (path.filter(|path| path.ends_with(".md")), text) else {
                continue;
            };
            self.0.retain(|(known, _)| known != path);
            if text.len() > TEXT_BYTES_MAX {
                continue;
            }
            if self.0.len() == FILES_MAX {
                self.0.pop_front();
            }
            self.0.push_back((path.to_owned(), text.to_owned()));
        }
    }

    /// The plan that a request for permission is about, if it is about one.
    pub(super) fn plan_of(&self, call: &Value) -> Option<String> {
        let submits = call["toolCallId"].as_str().is_some_and(|id| id.starts_with(SUBMIT));
        if !submits && call["kind"] != "switch_mode" {
            return None;
        }
        if let Some(plan) = call["rawInput"]["plan"].as_str() {
            return Some(plan.to_owned());
        }
        let title = call["title"].as_str().unwrap_or_default();
        let file = self.0.iter().rev().find(|(path, _)| title.ends_with(path.as_str()));
        match file {
            Some((_, text)) => Some(text.clone()),
            // An earlier process wrote it. The title names the file.
            None => submits.then(|| title.to_owned()),
        }
    }
}
