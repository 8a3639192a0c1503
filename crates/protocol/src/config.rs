//! Wire types of `/v1/config`: the MCP servers and skills of a directory.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::json_object;

/// One MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum McpServer {
    /// A program that communicates over its standard streams.
    Local {
        /// The program, or the program and its arguments.
        command: McpServerCommand,
        /// Arguments after those of `command`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// Variables added to its environment.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        /// Whether agents use it; they do if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enabled: Option<bool>,
        /// The time limit of a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    },
    /// A server that communicates over HTTP.
    Remote {
        /// Its URL.
        url: String,
        /// The transport; `http` if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transport: Option<McpTransport>,
        /// Headers of every request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
        /// OAuth settings: `false` disables OAuth.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        oauth: Option<McpOauth>,
        /// Whether agents use it; they do if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enabled: Option<bool>,
        /// The time limit of a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    },
}

/// A program, or a program and its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum McpServerCommand {
    /// The program alone.
    Program(String),
    /// The program and its arguments.
    Line(
        #[serde(deserialize_with = "some_words")]
        #[schemars(with = "Vec<String>", length(min = 1))]
        Vec<String>,
    ),
}

fn some_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    if words.is_empty() { Err(de::Error::invalid_length(0, &"a program")) } else { Ok(words) }
}

/// The transport of a remote MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum McpTransport {
    /// Streamable HTTP.
    Http,
    /// The older pair of SSE and POST.
    Sse,
}

/// How a client obtains access to a remote MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum McpOauth {
    /// OAuth with discovery, on or off.
    Enabled(bool),
    /// A client that was registered by hand.
    Client(
        #[serde(deserialize_with = "json_object::one")]
        #[schemars(with = "McpOauthClient")]
        McpOauthClient,
    ),
}

/// An OAuth client that was registered by hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpOauthClient {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The scope to request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// Skills from one or more sources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Skill {
    /// Where the skills come from.
    #[serde(deserialize_with = "json_object::non_empty")]
    #[schemars(with = "Vec<SkillSource>", length(min = 1))]
    pub sources: Vec<SkillSource>,
}

/// A source of skills.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SkillSource {
    /// The kind of the source.
    #[serde(rename = "type")]
    pub kind: SkillSourceKind,
    /// `owner/name`, a git URL or a directory.
    pub source: String,
    /// Only the skills with these names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// The branch, tag or commit.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The directory within the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subpath: Option<String>,
}

/// The kind of a skill source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SkillSourceKind {
    /// A repository on GitHub.
    Github,
    /// Any git repository.
    Git,
    /// A directory of the sandbox.
    Local,
}

/// All MCP servers of a directory, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerList {
    /// The servers.
    pub items: BTreeMap<String, McpServer>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// All skills of a directory, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillList {
    /// The skills.
    pub items: BTreeMap<String, Skill>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

crate::schema::wire_types! {
    received: McpServer, Skill;
    sent: McpServerList, SkillList;
}
