//! The command line of Amp.

use std::{collections::BTreeMap, env, ffi::OsString, path::PathBuf};

use protocol::sessions::{AgentError, PermissionMode};
use serde_json::Value;

use crate::{
    Options,
    offers::{BUILD, check_mode},
    stream_json::mcp_servers::enabled_servers,
    unsupported,
};

/// JSON lines in both directions, with the model's reasoning.
const ARGS: [&str; 4] = ["--execute", "--stream-json", "--stream-json-thinking", "--stream-json-input"];

/// A synonym of [`BUILD`].
pub(super) const DEFAULT: &str = "default";

/// The command line of Amp.
pub(super) struct AmpLaunch {
    pub(super) args: Vec<OsString>,
    pub(super) env: BTreeMap<String, OsString>,
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
}

/// Builds the command line for a session.
///
/// # Errors
/// [`AgentError::Unsupported`] for an option that Amp does not have: a model, a variant, planning, an unknown mode.
pub(super) fn launch(options: &Options) -> Result<AmpLaunch, AgentError> {
    if options.model.is_some() {
        return Err(unsupported("model", "Amp chooses its model by mode; set `agentMode` instead"));
    }
    if options.variant.is_some() {
        return Err(unsupported("variant", "Amp chooses its variant by mode; set `agentMode` instead"));
    }
    if options.permission_mode == PermissionMode::Plan {
        return Err(unsupported("permissionMode", "Amp has no read-only mode"));
    }
    let mut args = Vec::new();
    if let Some(thread) = &options.resume {
        args.extend(["threads".into(), "continue".into(), thread.into()]);
    }
    args.extend(ARGS.map(OsString::from));
    match options.agent_mode.as_str() {
        BUILD | DEFAULT => {}
        // In Amp, a mode chooses the model, the prompt and the set of tools.
        mode => {
            check_mode(&super::modes(&options.modes), mode)?;
            args.extend(["--mode".into(), mode.into()]);
        }
    }
    if options.permission_mode == PermissionMode::Bypass {
        args.push("--dangerously-allow-all".into());
    }
    let mut files = Vec::new();
    let mut servers = enabled_servers(&options.mcp);
    if !servers.is_empty() {
        // Amp infers the transport of a server, and rejects fields that it does not know.
        for server in servers.values_mut().filter_map(Value::as_object_mut) {
            server.retain(|key, _| !matches!(key.as_str(), "type" | "timeout"));
        }
        let path = options.private.join("mcp.json");
        args.extend(["--mcp-config".into(), path.clone().into()]);
        files.push((path, Value::Object(servers).to_string().into_bytes()));
    }
    let mut variables = BTreeMap::from([("AMP_SKIP_UPDATE_CHECK".into(), "1".into())]);
    if !options.skills.is_empty() {
        // The only place for skills outside the project and the user's settings. It replaces the user's own toolbox.
        let toolbox = env::join_paths(options.skills.values()).map_err(|error| {
            unsupported("skills", format!("could not write Amp's skill settings: {error}"))
        })?;
        variables.insert("AMP_TOOLBOX".into(), toolbox);
    }
    Ok(AmpLaunch { args, env: variables, files })
}
