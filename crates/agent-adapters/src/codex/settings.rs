//! How a session wants Codex to be, in Codex's words.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::PathBuf,
};

use protocol::{
    agents::AgentMode,
    config::{McpOauth, McpServer, McpServerCommand, McpTransport},
    sessions::{AgentError, PermissionMode},
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};

use super::models::Models;

use crate::{
    Options,
    offers::{BUILD, check_mode, check_model, check_variant, mode},
    unsupported,
};

/// The provider of Codex's own models.
const VENDOR: &str = "openai";

/// How a session wants Codex to be.
pub(super) struct Settings {
    pub(super) run: String,
    pub(super) agent_mode: String,
    /// The model: what was asked for, and once there is a thread what Codex uses.
    pub(super) model: Option<String>,
    /// The thread to go on with.
    pub(super) resume: Option<String>,
    /// Whether it plans.
    pub(super) mode: Mode,
    /// What the thread was last told of that; none if an earlier process may have told it something.
    told: Option<Mode>,
    effort: Option<String>,
    /// Whether Codex is asked for its models although none is chosen.
    asks_models: bool,
    token: Option<SecretString>,
    permissions: PermissionMode,
    directory: PathBuf,
    servers: Map<String, Value>,
    skills: BTreeMap<String, PathBuf>,
}

/// How Codex behaves: its collaboration mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Default,
    Plan,
}

/// The mode in which Codex makes a plan.
const PLAN: &str = "plan";

/// The modes that a session can choose: Codex's collaboration modes. `build` is another name for its default mode.
pub(crate) fn modes() -> Vec<AgentMode> {
    const DEFAULT: &str = "Works on the task, and asks before it changes or runs anything";
    vec![
        mode(BUILD, "Build", DEFAULT),
        mode("default", "Default", DEFAULT),
        mode(PLAN, "Plan", "Makes a plan, which a person approves before it is carried out"),
    ]
}

/// What is said first.
pub(super) fn hello() -> Value {
    json!({
        "clientInfo": { "name": "tombolo", "title": "Tombolo", "version": env!("CARGO_PKG_VERSION") },
        // Plans, questions and the end of what runs in the background are among what is called experimental.
        "capabilities": { "experimentalApi": true, "requestAttestation": false },
    })
}

impl Settings {
    pub(super) fn new(options: &Options) -> Result<Self, AgentError> {
        check_mode(&modes(), &options.agent_mode)?;
        let plans = options.agent_mode == PLAN || options.permission_mode == PermissionMode::Plan;
        let servers = options.mcp.iter().map(|(name, server)| Ok((name.clone(), mcp_server(name, server)?)));
        Ok(Self {
            run: options.run.clone(),
            agent_mode: options.agent_mode.clone(),
            model: options.model.clone(),
            resume: options.resume.clone(),
            mode: if plans { Mode::Plan } else { Mode::Default },
            told: None,
            effort: options.variant.clone(),
            asks_models: options.asks_models,
            token: options.token.clone(),
            permissions: options.permission_mode,
            directory: options.directory.clone(),
            servers: servers.collect::<Result<_, AgentError>>()?,
            skills: options.skills.clone(),
        })
    }

    /// Arguments of the program.
    pub(super) fn args(&self) -> Vec<OsString> {
        // The key is kept in memory: otherwise it would become the user's login, on disk.
        let ephemeral = ["-c", "cli_auth_credentials_store=\"ephemeral\""];
        if self.token.is_some() { ephemeral.map(Into::into).to_vec() } else { Vec::new() }
    }

    /// The parameters of `account/login/start`; none if the user's own login is to be used. The app server takes no key from
    /// its environment, which `codex exec` does.
    pub(super) fn login(&self) -> Option<Value> {
        let token = self.token.as_ref()?;
        Some(json!({ "type": "apiKey", "apiKey": token.expose_secret() }))
    }

    /// Whether Codex is asked for its models.
    pub(super) fn lists_models(&self) -> bool {
        self.asks_models || self.model.is_some() || self.effort.is_some()
    }

    /// Rejects a model or a variant that Codex does not have. Of a provider from the user's own configuration Codex cannot
    /// know the models: its list has only those of its vendor.
    pub(super) fn check_model(&self, models: &Models, opened: &Value) -> Result<(), AgentError> {
        let model = self.model.as_deref().or(opened["model"].as_str()).unwrap_or_default();
        if models.known.iter().any(|known| known.id == model) {
            let check = |effort| check_variant(&models.known, Some(model), effort);
            return self.effort.as_deref().map_or(Ok(()), check);
        }
        let is_vendors = opened["modelProvider"] == VENDOR;
        self.model.as_ref().filter(|_| is_vendors).map_or(Ok(()), |model| check_model(&models.shown, model))
    }

    /// The names of the MCP servers that it is to use.
    pub(super) fn servers(&self) -> BTreeSet<String> {
        let used = self.servers.iter().filter(|(_, server)| server["enabled"] != false);
        used.map(|(name, _)| name.clone()).collect()
    }

    /// The parameters of `skills/extraRoots/set`; none if there are no skills.
    pub(super) fn skills(&self) -> Option<Value> {
        let roots: Vec<_> = self.skills.values().map(|root| root.to_string_lossy()).collect();
        (!roots.is_empty()).then(|| json!({ "extraRoots": roots }))
    }

    /// The parameters of `thread/start`, or of `thread/resume` if there is a thread to go on with.
    pub(super) fn thread(&self) -> Value {
        let mut params = json!({
            "cwd": self.directory.to_string_lossy(),
            "approvalPolicy": self.approvals(self.permissions),
            "sandbox": match self.permissions {
                PermissionMode::Default => "workspace-write",
                PermissionMode::Plan => "read-only",
                PermissionMode::Bypass => "danger-full-access",
            },
            "config": self.config(),
        });
        if let Some(model) = &self.model {
            params["model"] = json!(model);
        }
        if let Some(thread) = &self.resume {
            params["threadId"] = json!(thread);
            // The history is in our own journal; here it would be one line without a limit.
            params["excludeTurns"] = json!(true);
        }
        params
    }

    /// What goes over the user's configuration, for this thread alone: nothing of it is written to disk.
    fn config(&self) -> Value {
        let mut config = json!({
            // It asks people outside of plans too.
            "features": { "default_mode_request_user_input": true },
            "suppress_unstable_features_warning": true,
        });
        if let Some(effort) = &self.effort {
            config["model_reasoning_effort"] = json!(effort);
        }
        if !self.servers.is_empty() {
            config["mcp_servers"] = json!(self.servers);
        }
        config
    }

    /// When it asks: at every command that is not known to be harmless and at every change of a file, or never. While
    /// only reading is allowed what it would have to ask for is refused.
    fn approvals(&self, permissions: PermissionMode) -> &'static str {
        match permissions {
            PermissionMode::Default => "untrusted",
            PermissionMode::Plan | PermissionMode::Bypass => "never",
        }
    }

    /// There is a thread, as `result` says.
    pub(super) fn opened(&mut self, result: &Value, resumed: bool) {
        if let Some(model) = result["model"].as_str() {
            self.model = Some(model.to_owned());
        }
        if let Some(effort) = result["reasoningEffort"].as_str() {
            self.effort = Some(effort.to_owned());
        }
        self.told = (!resumed).then_some(Mode::Default);
    }

    /// The plan is approved: from now on it builds, and may do so.
    pub(super) fn approve(&mut self, turn: &mut Value) {
        self.mode = Mode::Default;
        if self.permissions == PermissionMode::Plan {
            self.permissions = PermissionMode::Default;
            turn["approvalPolicy"] = json!(self.approvals(self.permissions));
            turn["sandboxPolicy"] = json!({
                "type": "workspaceWrite",
                "writableRoots": [],
                "networkAccess": false,
                "excludeTmpdirEnvVar": false,
                "excludeSlashTmp": false,
            });
        }
    }

    /// Adds to a turn what the thread has not been told yet.
    pub(super) fn bring_up_to_date(&mut self, turn: &mut Value) {
        if self.told == Some(self.mode) {
            return;
        }
        self.told = Some(self.mode);
        turn["collaborationMode"] = json!({
            "mode": match self.mode { Mode::Default => "default", Mode::Plan => "plan" },
            "settings": { "model": self.model, "reasoning_effort": self.effort, "developer_instructions": null },
        });
    }
}

/// An MCP server as an entry of `mcp_servers`.
fn mcp_server(name: &str, server: &McpServer) -> Result<Value, AgentError> {
    let (mut entry, enabled, timeout_ms) = match server {
        McpServer::Local { command, args, env, enabled, timeout_ms } => {
            let (program, first) = match command {
                McpServerCommand::Program(program) => (program.as_str(), &[][..]),
                McpServerCommand::Line(words) => match words.split_first() {
                    Some((program, first)) => (program.as_str(), first),
                    None => return Err(unsupported("mcp", format!("MCP server `{name}` has no command"))),
                },
            };
            let args: Vec<_> = first.iter().chain(args).collect();
            (json!({ "command": program, "args": args, "env": env }), enabled, timeout_ms)
        }
        McpServer::Remote { transport: Some(McpTransport::Sse), .. } => {
            return Err(unsupported(
                "mcp",
                format!("MCP server `{name}` uses SSE, which Codex does not support"),
            ));
        }
        McpServer::Remote { oauth: Some(McpOauth::Client(_)), .. } => {
            return Err(unsupported(
                "mcp",
                format!("MCP server `{name}` names an OAuth client, which Codex does not support"),
            ));
        }
        McpServer::Remote { url, headers, enabled, timeout_ms, .. } => {
            (json!({ "url": url, "http_headers": headers }), enabled, timeout_ms)
        }
    };
    // Said in any case: one that the user has switched off under the same name would never say that it has started.
    entry["enabled"] = json!(enabled.unwrap_or(true));
    if let Some(timeout_ms) = timeout_ms {
        entry["tool_timeout_sec"] = json!(*timeout_ms as f64 / 1000.0);
    }
    Ok(entry)
}
