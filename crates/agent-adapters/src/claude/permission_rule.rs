//! A change of Claude Code's permission rules.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::lenient;

/// A change of Claude Code's permission rules. An answer repeats it as the agent suggested it.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Value")]
pub(super) struct ClaudePermissionRule {
    raw: Value,
    fields: ClaudeRuleFields,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ClaudeRuleFields {
    #[serde(rename = "type")]
    kind: String,
    behavior: String,
    #[serde(deserialize_with = "lenient::text")]
    mode: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    rules: Vec<ToolRule>,
    #[serde(deserialize_with = "lenient::list")]
    directories: Vec<String>,
}

/// A rule for a tool, or for calls with certain arguments.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolRule {
    tool_name: String,
    #[serde(deserialize_with = "lenient::text")]
    rule_content: Option<String>,
}

impl From<Value> for ClaudePermissionRule {
    fn from(raw: Value) -> Self {
        Self { fields: lenient::object(&raw), raw }
    }
}

impl ClaudePermissionRule {
    /// The change to another mode.
    pub(super) fn set_mode(mode: &str) -> Self {
        json!({ "type": "setMode", "mode": mode }).into()
    }

    /// Whether the change allows certain calls.
    pub(super) fn allows_calls(&self) -> bool {
        self.fields.kind == "addRules" && self.fields.behavior == "allow"
    }

    /// Whether the change gives access to further directories.
    pub(super) fn adds_directories(&self) -> bool {
        self.fields.kind == "addDirectories"
    }

    /// Whether the change allows all edits.
    pub(super) fn accepts_edits(&self) -> bool {
        self.fields.kind == "setMode" && self.fields.mode.as_deref() == Some("acceptEdits")
    }

    /// The change for the rest of the session, in the form of an answer.
    pub(super) fn for_session(&self) -> Value {
        let mut raw = self.raw.clone();
        if let Some(fields) = raw.as_object_mut() {
            fields.insert("destination".into(), "session".into());
        }
        raw
    }

    /// Describes for people what the change allows.
    pub(super) fn describe(&self) -> Vec<String> {
        match self.fields.kind.as_str() {
            "addRules" => self.fields.rules.iter().map(ToolRule::describe).collect(),
            "addDirectories" => self.fields.directories.clone(),
            _ => self.fields.mode.clone().into_iter().collect(),
        }
    }
}

impl ToolRule {
    fn describe(&self) -> String {
        match &self.rule_content {
            Some(content) => format!("{}({content})", self.tool_name),
            None => self.tool_name.clone(),
        }
    }
}
