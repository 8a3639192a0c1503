//! `tool.*`: functions of a device beyond files and commands.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ApprovalPolicy, Family, RawJson, ToolName, ToolRisk, parse_error};

/// Description of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolDescriptor {
    /// Unique name on the device.
    pub name: ToolName,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Map<String, Value>,
    /// JSON Schema of the structured content of results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Map<String, Value>>,
    /// Hints about what the tool does. They are claims of the tool's author; `risk` and `approval_policy` decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// The capability family that the tool belongs to.
    #[serde(default = "tools")]
    pub capability: Family,
    /// Risk of using the tool.
    pub risk: ToolRisk,
    /// The approval that the device requires. The policy of the runtime can be stricter.
    pub approval_policy: ApprovalPolicy,
}

/// Hints about what a tool does, as in MCP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolAnnotations {
    /// Whether it changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether it may delete or overwrite something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Whether a repeated call with the same arguments changes nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Whether it reaches other systems, such as the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

/// Payload of the stream event `progress` of `tool.call`: how far the tool is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolProgress {
    /// How much is done. It grows with each event.
    pub progress: f64,
    /// How much there is to do, if the tool knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A message for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

fn tools() -> Family {
    Family::Tools
}

/// A list of tools: all tools of a device, tools to register, or newly registered tools. Each tool is parsed
/// separately, so that one invalid tool does not invalidate the others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolList {
    /// The tools, not parsed yet.
    #[schemars(with = "Vec<ToolDescriptor>")]
    pub tools: Vec<RawJson>,
}

impl ToolList {
    /// Creates a list from tool descriptions.
    pub fn from_tools(tools: &[ToolDescriptor]) -> Self {
        Self { tools: tools.iter().map(RawJson::from_value).collect() }
    }

    /// Parses the tools. Rejects those that are invalid or repeat an earlier name.
    pub fn read(&self) -> (Vec<ToolDescriptor>, Vec<RejectedTool>) {
        let (mut tools, mut rejected) = (Vec::new(), Vec::new());
        let mut names = HashSet::new();
        for tool in &self.tools {
            match tool.object::<ToolDescriptor>() {
                Ok(tool) if names.insert(tool.name.clone()) => tools.push(tool),
                Ok(tool) => {
                    let reason = "another tool has the same name".into();
                    rejected.push(RejectedTool { name: tool.name.into(), reason });
                }
                Err(error) => rejected
                    .push(RejectedTool { name: declared_name(tool), reason: parse_error::describe(&error) }),
            }
        }
        (tools, rejected)
    }
}

/// The name of an invalid tool; empty if it has none.
fn declared_name(tool: &RawJson) -> String {
    #[derive(Deserialize)]
    struct DeclaredName {
        name: String,
    }
    tool.object().map(|declared: DeclaredName| declared.name).unwrap_or_default()
}

/// Result of `tool.register`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolsRegistered {
    /// Names of the registered tools.
    pub registered: Vec<ToolName>,
    /// Tools that were not registered.
    #[serde(default)]
    pub rejected: Vec<RejectedTool>,
}

/// A tool that was not registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedTool {
    /// Name of the tool, possibly invalid.
    pub name: String,
    /// Reason for the rejection.
    pub reason: String,
}

/// Parameters of `tool.unregister`, and payload of the event `tool.unregistered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnregisterTools {
    /// Names of the tools.
    pub names: Vec<ToolName>,
}

/// Result of `tool.unregister`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolsUnregistered {
    /// Names of the tools that were registered before.
    pub unregistered: Vec<ToolName>,
}

/// Parameters of `tool.call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallTool {
    /// Name of the tool.
    pub name: ToolName,
    /// Arguments, as the input schema of the tool describes them.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Identifies the call, for `tool.cancel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallResult {
    /// Content for the model.
    pub content: ToolContent,
    /// Structured content for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Whether the tool failed; the content then describes the failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// Content of a tool result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ToolContent {
    /// Plain text.
    Text(String),
    /// A list of parts, such as text and images.
    Parts(Vec<ToolPart>),
}

/// A part of a tool result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// The image in base64.
        data: String,
        /// MIME type of the image.
        mime_type: String,
    },
    /// A stored artifact.
    Artifact {
        /// Id of the artifact.
        artifact_id: String,
        /// MIME type of the artifact.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// A part of another type, forwarded unchanged: audio, embedded resources and links as MCP writes them, or a part that this
    /// version does not know.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// Parameters of `tool.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelTool {
    /// Id of the call.
    pub call_id: String,
}
