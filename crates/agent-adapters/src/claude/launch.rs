//! The command line of Claude Code.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use protocol::{
    agents::AgentMode,
    sessions::{AgentError, PermissionMode},
};
use serde_json::json;

use crate::{
    Options,
    offers::{BUILD, check, mode},
    stream_json::mcp_servers::enabled_servers,
};

/// JSON lines in both directions, with control requests. With `--permission-prompt-tool stdio` the agent asks for permission.
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

/// The modes that a session can choose, with name and description. All but `build`, another name for `default`, are values of
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

/// By default, Claude Code rejects every command in plan mode without a question unless it uses the vendor's server.
const SETTINGS: &str = r#"{"useAutoModeDuringPlan":false}"#;

/// Levels of effort. Claude Code silently treats any other word as `medium`.
const VARIANTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// The command line of Claude Code.
pub(super) struct ClaudeLaunch {
    pub(super) args: Vec<OsString>,
    pub(super) env: BTreeMap<String, OsString>,
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
    /// The mode that follows the approval of a plan.
    pub(super) after_plan: &'static str,
}

/// Builds the command line for a session.
///
/// # Errors
/// [`AgentError::Unsupported`] for a mode or a variant that Claude Code does not have.
pub(super) fn launch(options: &Options) -> Result<ClaudeLaunch, AgentError> {
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
    // To Claude Code, a directory with only a skill is a plugin.
    for directory in options.skills.values() {
        arg("--plugin-dir", directory.into());
    }
    let mut files = Vec::new();
    let servers = enabled_servers(&options.mcp);
    if !servers.is_empty() {
        let path = options.private.join("mcp.json");
        arg("--mcp-config", path.clone().into());
        files.push((path, json!({ "mcpServers": servers }).to_string().into_bytes()));
    }
    let mut env = BTreeMap::from([
        ("DISABLE_AUTOUPDATER".into(), "1".into()),
        // Without this variable the agent keeps no todo list.
        ("CLAUDE_CODE_ENABLE_TODO_TOOLS".into(), "1".into()),
    ]);
    if options.permission_mode == PermissionMode::Bypass {
        args.push("--allow-dangerously-skip-permissions".into());
        // Otherwise Claude Code refuses this argument to root, the usual user in a container.
        env.insert("IS_SANDBOX".into(), "1".into());
    }
    Ok(ClaudeLaunch { args, env, files, after_plan })
}

/// The mode at the start, `None` for the default mode, and the mode after a plan.
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
