//! The options of a session as settings of Codex.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::PathBuf,
};

use protocol::{
    agents::AgentMode,
    sessions::{AgentError, PermissionMode},
};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    mcp_servers::CodexMcpServer, model_list::CodexModels, response::ThreadOpenedResult,
    turn_input::TurnStartParams,
};
use crate::{
    Options,
    offers::{BUILD, check_mode, check_model, check_variant, mode},
};

/// The provider of Codex's own models.
const VENDOR: &str = "openai";

/// The options of a session as settings of Codex.
pub(super) struct CodexSettings {
    pub(super) run: String,
    pub(super) agent_mode: String,
    /// The model: the session's choice, and once a thread is open the one that Codex uses.
    pub(super) model: Option<String>,
    /// The thread to resume.
    pub(super) resume: Option<String>,
    pub(super) mode: CollaborationMode,
    /// The mode that the thread has. None if an earlier process may have changed it.
    thread_mode: Option<CollaborationMode>,
    effort: Option<String>,
    /// Whether to request the models although the session chooses none.
    asks_models: bool,
    token: Option<SecretString>,
    permissions: PermissionMode,
    directory: PathBuf,
    servers: BTreeMap<String, CodexMcpServer>,
    skills: BTreeMap<String, PathBuf>,
}

/// Codex's own modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollaborationMode {
    Default,
    Plan,
}

/// The parameters of `thread/start` and `thread/resume`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadParams<'a> {
    cwd: String,
    approval_policy: &'static str,
    sandbox: &'static str,
    config: ThreadConfig<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(flatten)]
    resume: Option<ResumeParams<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResumeParams<'a> {
    thread_id: &'a str,
    /// Our own journal contains the history; here it would be one line without a limit.
    exclude_turns: bool,
}

/// Overrides of the user's configuration for one thread. Codex does not write them to disk.
#[derive(Serialize)]
struct ThreadConfig<'a> {
    features: Value,
    suppress_unstable_features_warning: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    mcp_servers: &'a BTreeMap<String, CodexMcpServer>,
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

/// The parameters of `initialize`.
pub(super) fn initialize_params() -> Value {
    json!({
        "clientInfo": { "name": "tombolo", "title": "Tombolo", "version": env!("CARGO_PKG_VERSION") },
        // Plans, questions and the end of background commands belong to the experimental API.
        "capabilities": { "experimentalApi": true, "requestAttestation": false },
    })
}

impl CodexSettings {
    pub(super) fn new(options: &Options) -> Result<Self, AgentError> {
        check_mode(&modes(), &options.agent_mode)?;
        let plans = options.agent_mode == PLAN || options.permission_mode == PermissionMode::Plan;
        let servers =
            options.mcp.iter().map(|(name, server)| Ok((name.clone(), CodexMcpServer::new(name, server)?)));
        Ok(Self {
            run: options.run.clone(),
            agent_mode: options.agent_mode.clone(),
            model: options.model.clone(),
            resume: options.resume.clone(),
            mode: if plans { CollaborationMode::Plan } else { CollaborationMode::Default },
            thread_mode: None,
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
        // Keeps the key in memory: otherwise it would become the user's login, on disk.
        let ephemeral = ["-c", "cli_auth_credentials_store=\"ephemeral\""];
        if self.token.is_some() { ephemeral.map(Into::into).to_vec() } else { Vec::new() }
    }

    /// The parameters of `account/login/start`; none if Codex uses the user's own login. The app server takes no key from
    /// its environment, which `codex exec` does.
    pub(super) fn login_params(&self) -> Option<Value> {
        let token = self.token.as_ref()?;
        Some(json!({ "type": "apiKey", "apiKey": token.expose_secret() }))
    }

    /// Whether to request Codex's models.
    pub(super) fn lists_models(&self) -> bool {
        self.asks_models || self.model.is_some() || self.effort.is_some()
    }

    /// Rejects a model or a variant that Codex does not have. Of a provider from the user's own configuration Codex cannot
    /// know the models: its list has only those of its vendor.
    pub(super) fn check_model(
        &self,
        models: &CodexModels,
        opened: &ThreadOpenedResult,
    ) -> Result<(), AgentError> {
        let model = self.model.as_deref().or(opened.model.as_deref()).unwrap_or_default();
        if models.known.iter().any(|known| known.id == model) {
            let check = |effort| check_variant(&models.known, Some(model), effort);
            return self.effort.as_deref().map_or(Ok(()), check);
        }
        let is_vendors = opened.model_provider.as_deref() == Some(VENDOR);
        self.model.as_ref().filter(|_| is_vendors).map_or(Ok(()), |model| check_model(&models.shown, model))
    }

    /// The names of the MCP servers that are enabled.
    pub(super) fn enabled_servers(&self) -> BTreeSet<String> {
        let enabled = self.servers.iter().filter(|(_, server)| server.enabled);
        enabled.map(|(name, _)| name.clone()).collect()
    }

    /// The parameters of `skills/extraRoots/set`; none if there are no skills.
    pub(super) fn skill_params(&self) -> Option<Value> {
        let roots: Vec<_> = self.skills.values().map(|root| root.to_string_lossy()).collect();
        (!roots.is_empty()).then(|| json!({ "extraRoots": roots }))
    }

    /// The parameters of `thread/start`, or of `thread/resume` if there is a thread to resume.
    pub(super) fn thread_params(&self) -> ThreadParams<'_> {
        ThreadParams {
            cwd: self.directory.to_string_lossy().into_owned(),
            approval_policy: approval_policy(self.permissions),
            sandbox: match self.permissions {
                PermissionMode::Default => "workspace-write",
                PermissionMode::Plan => "read-only",
                PermissionMode::Bypass => "danger-full-access",
            },
            config: ThreadConfig {
                // Lets the agent ask questions outside of plans too.
                features: json!({ "default_mode_request_user_input": true }),
                suppress_unstable_features_warning: true,
                model_reasoning_effort: self.effort.as_deref(),
                mcp_servers: &self.servers,
            },
            model: self.model.as_deref(),
            resume: self.resume.as_deref().map(|thread_id| ResumeParams { thread_id, exclude_turns: true }),
        }
    }

    /// Takes over the settings of the thread that Codex has opened.
    pub(super) fn thread_opened(&mut self, opened: ThreadOpenedResult, is_resumed: bool) {
        self.model = opened.model.or(self.model.take());
        self.effort = opened.reasoning_effort.or(self.effort.take());
        self.thread_mode = (!is_resumed).then_some(CollaborationMode::Default);
    }

    /// Leaves the plan mode, because the plan is approved: the next turn may change files.
    pub(super) fn approve_plan(&mut self, turn: &mut TurnStartParams) {
        self.mode = CollaborationMode::Default;
        if self.permissions == PermissionMode::Plan {
            self.permissions = PermissionMode::Default;
            turn.approval_policy = Some(approval_policy(self.permissions));
            turn.sandbox_policy = Some(json!({
                "type": "workspaceWrite",
                "writableRoots": [],
                "networkAccess": false,
                "excludeTmpdirEnvVar": false,
                "excludeSlashTmp": false,
            }));
        }
    }

    /// Adds the collaboration mode to a turn if the thread has another one.
    pub(super) fn set_collaboration_mode(&mut self, turn: &mut TurnStartParams) {
        if self.thread_mode == Some(self.mode) {
            return;
        }
        self.thread_mode = Some(self.mode);
        turn.collaboration_mode = Some(json!({
            "mode": match self.mode {
                CollaborationMode::Default => "default",
                CollaborationMode::Plan => PLAN,
            },
            "settings": { "model": self.model, "reasoning_effort": self.effort, "developer_instructions": null },
        }));
    }
}

/// When Codex asks for approval: for every command that is not known to be harmless and for every change of a file, or never.
/// In the read-only sandbox it then refuses whatever would need an approval.
fn approval_policy(permissions: PermissionMode) -> &'static str {
    match permissions {
        PermissionMode::Default => "untrusted",
        PermissionMode::Plan | PermissionMode::Bypass => "never",
    }
}
