//! How Amp is started.

use std::{collections::BTreeMap, env, ffi::OsString, path::PathBuf};

use protocol::sessions::{AgentError, PermissionMode};
use serde_json::Value;

use crate::{
    Options,
    offers::{BUILD, check_mode},
    stream_json::mcp,
    unsupported,
};

/// Lines of JSON both ways, with what the model thinks.
const ARGS: [&str; 4] = ["--execute", "--stream-json", "--stream-json-thinking", "--stream-json-input"];

/// Another name for [`BUILD`].
pub(super) const DEFAULT: &str = "default";

type Launch = (Vec<OsString>, BTreeMap<String, OsString>, Vec<(PathBuf, Vec<u8>)>);

/// Makes arguments, variables and files of what a session wants.
///
/// # Errors
/// [`AgentError::Unsupported`] for what it does not have: models, variants, planning, other modes than its own.
pub(super) fn launch(options: &Options) -> Result<Launch, AgentError> {
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
        // A mode is a model, a prompt and a set of tools.
        mode => {
            check_mode(&super::modes(&options.modes), mode)?;
            args.extend(["--mode".into(), mode.into()]);
        }
    }
    if options.permission_mode == PermissionMode::Bypass {
        args.push("--dangerously-allow-all".into());
    }
    let mut files = Vec::new();
    let mut servers = mcp::servers(&options.mcp);
    if !servers.is_empty() {
        // It finds out by itself what a server is, and refuses what it does not know.
        for server in servers.values_mut().filter_map(Value::as_object_mut) {
            server.retain(|key, _| !matches!(key.as_str(), "type" | "timeout"));
        }
        let path = options.private.join("mcp.json");
        args.extend(["--mcp-config".into(), path.clone().into()]);
        files.push((path, Value::Object(servers).to_string().into_bytes()));
    }
    let mut variables = BTreeMap::from([("AMP_SKIP_UPDATE_CHECK".into(), "1".into())]);
    if !options.skills.is_empty() {
        // The only place for skills that needs neither the project nor the user's settings. It stands for the user's
        // own toolbox then.
        let toolbox = env::join_paths(options.skills.values()).map_err(|error| {
            unsupported("skills", format!("could not write Amp's skill settings: {error}"))
        })?;
        variables.insert("AMP_TOOLBOX".into(), toolbox);
    }
    Ok((args, variables, files))
}
