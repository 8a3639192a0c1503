//! `tool.*`: what a device can do beyond files and commands.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Approval, Family, Json, Risk, ToolName, fault};

/// A tool (A.8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolDescriptor {
    /// Its name.
    pub name: ToolName,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// A JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// The family that it belongs to.
    #[serde(default = "tools")]
    pub capability: Family,
    /// What can come of it.
    pub risk: Risk,
    /// Who must be asked before, as far as the device is concerned.
    pub approval_policy: Approval,
}

fn tools() -> Family {
    Family::Tools
}

/// Tools: all that there are, those to add, or those that were added. Each is read by itself, so that one that makes no
/// sense does not take the others with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolList {
    /// The tools, as they were said.
    #[schemars(with = "Vec<ToolDescriptor>")]
    pub tools: Vec<Json>,
}

impl ToolList {
    /// Tools of ours.
    pub fn of(tools: &[ToolDescriptor]) -> Self {
        Self { tools: tools.iter().map(Json::of).collect() }
    }

    /// The tools, and those that are none: also each that has the name of one before it.
    pub fn read(&self) -> (Vec<ToolDescriptor>, Vec<Rejected>) {
        let (mut tools, mut rejected) = (Vec::new(), Vec::new());
        let mut names = HashSet::new();
        for said in &self.tools {
            match said.object::<ToolDescriptor>() {
                Ok(tool) if names.insert(tool.name.clone()) => tools.push(tool),
                Ok(tool) => {
                    let reason = "another tool has the same name".into();
                    rejected.push(Rejected { name: tool.name.into(), reason });
                }
                Err(error) => rejected.push(Rejected { name: name(said), reason: fault::of(&error) }),
            }
        }
        (tools, rejected)
    }
}

/// The name of what is no tool; empty if it has none.
fn name(said: &Json) -> String {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    said.object().map(|named: Named| named.name).unwrap_or_default()
}

/// Which tools were added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Registered {
    /// Those that were.
    pub registered: Vec<ToolName>,
    /// Those that were not.
    #[serde(default)]
    pub rejected: Vec<Rejected>,
}

/// A tool that was not added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rejected {
    /// Its name, which may be what is wrong with it.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Takes tools away, or says that they were taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unregistration {
    /// Their names.
    pub names: Vec<ToolName>,
}

/// Which tools were taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unregistered {
    /// Those that were there.
    pub unregistered: Vec<ToolName>,
}

/// Uses a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallTool {
    /// The tool.
    pub name: ToolName,
    /// What for.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// A name for this use, by which it can be cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResult {
    /// For the model.
    pub content: ToolContent,
    /// For programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Whether it is the story of a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// What a tool answers to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ToolContent {
    /// A text.
    Text(String),
    /// Texts, pictures and others.
    Parts(Vec<ToolPart>),
}

/// A part of what a tool answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolPart {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Its bytes in base64.
        data: String,
        /// What they are.
        mime_type: String,
    },
    /// An artifact.
    Artifact {
        /// Which.
        artifact_id: String,
        /// What it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// Something that this version does not know, as it was said.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// Stops a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelTool {
    /// The use of it.
    pub call_id: String,
}
