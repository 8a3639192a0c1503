//! How Claude Code is started.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use protocol::{
    agents::AgentMode,
    sessions::{AgentError, PermissionMode},
};
use serde_json::json;

use crate::{
    Options,
    offers::{BUILD, check, mode},
    stream_json::mcp,
};

/// Lines of JSON both ways, with requests that control it. `--permission-prompt-tool stdio` is what lets it ask.
const ARGS: [&str; 9] = [
    "-p",
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
];

/// The modes that a session can choose, with name and description. All but `build`, another name for `default`, are words of
/// `--permission-mode`.
const MODES: [(&str, &str, &str); 5] = [
    (BUILD, "Build", "Always asks before it makes changes"),
    ("default", "Manual", "Always asks before it makes changes"),
    ("acceptEdits", "Accept edits", "Edits files without asking"),
    ("plan", "Plan", "Makes a plan, which a person approves before it is carried out"),
    ("auto", "Auto", "Decides by itself what it may do"),
];

pub(crate) fn modes() -> Vec<AgentMode> {
    MODES.map(|(id, name, description)| mode(id, name, description)).into()
}

/// With its own choice here, every command in plan mode is refused without a question unless the vendor's server is used.
const SETTINGS: &str = r#"{"useAutoModeDuringPlan":false}"#;

/// How hard it may think. It takes any other word for `medium`, and says nothing.
const VARIANTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// How Claude Code is started.
pub(super) struct Launch {
    pub(super) args: Vec<OsString>,
    pub(super) env: BTreeMap<String, OsString>,
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
    /// The mode that it goes into once its plan is approved.
    pub(super) after_plan: &'static str,
}

/// Makes a launch of what a session wants.
///
/// # Errors
/// [`AgentError::Unsupported`] for a mode or a variant that it does not have.
pub(super) fn launch(options: &Options) -> Result<Launch, AgentError> {
    let (mode, after_plan) = starting_modes(options)?;
    let mut args: Vec<OsString> = ARGS.iter().chain(&["--settings", SETTINGS]).map(Into::into).collect();
    let mut arg = |name: &str, value: OsString| args.extend([name.into(), value]);
    if let Some(mode) = mode {
        arg("--permission-mode", mode.into());
    }
    if let Some(model) = &options.model {
        arg("--model", model.into());
    }
    if let Some(variant) = &options.variant {
        check("variant", "variant", variant, VARIANTS.into_iter())?;
        arg("--effort", variant.into());
    }
    if let Some(session) = &options.resume {
        arg("--resume", session.into());
    }
    // A directory that holds nothing but a skill is a plugin to it.
    for directory in options.skills.values() {
        arg("--plugin-dir", directory.into());
    }
    let mut files = Vec::new();
    let servers = mcp::servers(&options.mcp);
    if !servers.is_empty() {
        let path = options.private.join("mcp.json");
        arg("--mcp-config", path.clone().into());
        files.push((path, json!({ "mcpServers": servers }).to_string().into_bytes()));
    }
    let mut env = BTreeMap::from([
        ("DISABLE_AUTOUPDATER".into(), "1".into()),
        // Without it the agent has no list of what it means to do.
        ("CLAUDE_CODE_ENABLE_TODO_TOOLS".into(), "1".into()),
    ]);
    if options.permission_mode == PermissionMode::Bypass {
        args.push("--allow-dangerously-skip-permissions".into());
        // It refuses that to root otherwise, which is who runs a container.
        env.insert("IS_SANDBOX".into(), "1".into());
    }
    Ok(Launch { args, env, files, after_plan })
}

/// The mode that it starts in, unless that is its own choice, and the one after a plan.
fn starting_modes(options: &Options) -> Result<(Option<&'static str>, &'static str), AgentError> {
    let modes = MODES.map(|(mode, ..)| mode);
    check("agentMode", "mode", &options.agent_mode, modes.into_iter())?;
    let behaviour = modes.into_iter().find(|mode| *mode == options.agent_mode);
    let behaviour = behaviour.filter(|mode| ![BUILD, "default"].contains(mode));
    let after_plan = behaviour.filter(|mode| *mode != "plan").unwrap_or("default");
    Ok(match options.permission_mode {
        PermissionMode::Default => (behaviour, after_plan),
        PermissionMode::Plan => (Some("plan"), after_plan),
        PermissionMode::Bypass if behaviour == Some("plan") => (behaviour, "bypassPermissions"),
        PermissionMode::Bypass => (Some("bypassPermissions"), "bypassPermissions"),
    })
}
