//! What a session wishes for, in the words of the agent: modes, models and options differ from agent to agent.

use std::collections::{BTreeMap, VecDeque};

use protocol::{
    config::{McpServer, McpServerCommand, McpTransport},
    sessions::{AgentError, PermissionMode},
};
use serde_json::{Value, json};

use super::super::{Options, unsupported};

/// What agents call the mode that only reads.
const READ_ONLY: [&str; 2] = ["plan", "read-only"];

/// What agents call the option for how long a model may think.
const VARIANT: [&str; 4] = ["effort", "reasoning_effort", "thought_level", "variant"];

/// What is wished for and not set yet.
pub(super) struct Setup(VecDeque<Wish>);

/// A request that fulfils a wish.
pub(super) struct Wish {
    pub(super) feature: &'static str,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Setup {
    /// What `options` wish for, as far as the agent, which has just opened the session, has it.
    pub(super) fn new(options: &Options, opened: &Value) -> Result<Self, AgentError> {
        let mut wishes = VecDeque::new();
        if let Some(model) = &options.model {
            wishes.push_back(model_wish(opened, model)?);
        }
        if let Some(variant) = &options.variant {
            wishes.push_back(variant_wish(opened, variant)?);
        }
        wishes.extend(mode_wish(options, opened)?);
        Ok(Self(wishes))
    }

    pub(super) fn next(&mut self) -> Option<Wish> {
        self.0.pop_front()
    }
}

fn model_wish(opened: &Value, model: &str) -> Result<Wish, AgentError> {
    if option(opened, "model").is_some() {
        return Ok(option_wish("model", "model", model));
    }
    if opened["models"].is_object() {
        let params = json!({ "modelId": model });
        return Ok(Wish { feature: "model", method: "session/set_model", params });
    }
    Err(unsupported("model", "this agent does not allow choosing a model"))
}

fn variant_wish(opened: &Value, variant: &str) -> Result<Wish, AgentError> {
    let known = VARIANT.into_iter().find(|id| option(opened, id).is_some());
    let id = known.ok_or_else(|| unsupported("variant", "this agent has no model variants"))?;
    Ok(option_wish("variant", id, variant))
}

/// One mode at most: what it may do counts for more than how it behaves.
fn mode_wish(options: &Options, opened: &Value) -> Result<Option<Wish>, AgentError> {
    let modes = modes(opened);
    let has = |id: &str| modes.iter().any(|mode| mode == id);
    if options.permission_mode == PermissionMode::Plan {
        let read_only = READ_ONLY.into_iter().find(|id| has(id));
        let mode =
            read_only.ok_or_else(|| unsupported("permissionMode", "this agent has no read-only mode"))?;
        return Ok(Some(set_mode("permissionMode", mode, opened)));
    }
    let wanted = options.agent_mode.as_str();
    match wanted {
        wanted if has(wanted) => Ok(Some(set_mode("agentMode", wanted, opened))),
        "build" => Ok(None),
        _ => Err(unsupported(
            "agentMode",
            format!("this agent has no mode `{wanted}`; choose one of {}", modes.join(", ")),
        )),
    }
}

fn set_mode(feature: &'static str, mode: &str, opened: &Value) -> Wish {
    // Some agents have modes as an option only.
    match opened["modes"].is_object() {
        true => Wish { feature, method: "session/set_mode", params: json!({ "modeId": mode }) },
        false => option_wish(feature, "mode", mode),
    }
}

fn option_wish(feature: &'static str, id: &str, value: &str) -> Wish {
    Wish { feature, method: "session/set_config_option", params: json!({ "configId": id, "value": value }) }
}

fn modes(opened: &Value) -> Vec<String> {
    let listed = opened["modes"]["availableModes"].as_array();
    let ids = listed.into_iter().flatten().filter_map(|mode| mode["id"].as_str());
    let values = option(opened, "mode").and_then(|option| option["options"].as_array());
    let values = values.into_iter().flatten().filter_map(|value| value["value"].as_str());
    ids.chain(values).map(str::to_owned).collect()
}

fn option<'a>(opened: &'a Value, id: &str) -> Option<&'a Value> {
    opened["configOptions"].as_array()?.iter().find(|option| option["id"] == id)
}

/// What is set now: the `model` or the `mode`.
pub(super) fn current(opened: &Value, what: &str) -> Option<String> {
    let option = option(opened, what).and_then(|option| option["currentValue"].as_str());
    let listed = match what {
        "mode" => opened["modes"]["currentModeId"].as_str(),
        _ => opened["models"]["currentModelId"].as_str(),
    };
    option.or(listed).map(str::to_owned)
}

/// The MCP servers as the protocol has them; those that the agent cannot reach are left out.
pub(super) fn servers(servers: &BTreeMap<String, McpServer>, can: &Value) -> Vec<Value> {
    servers.iter().filter_map(|(name, server)| self::server(name, server, can)).collect()
}

fn server(name: &str, server: &McpServer, can: &Value) -> Option<Value> {
    let pairs = |pairs: &BTreeMap<String, String>| -> Vec<Value> {
        pairs.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
    };
    match server {
        McpServer::Local { enabled: Some(false), .. } | McpServer::Remote { enabled: Some(false), .. } => {
            None
        }
        McpServer::Local { command, args, env, .. } => {
            let (program, mut all) = match command {
                McpServerCommand::Program(program) => (program.clone(), Vec::new()),
                McpServerCommand::Line(line) => {
                    let (program, rest) = line.split_first()?;
                    (program.clone(), rest.to_vec())
                }
            };
            all.extend(args.iter().cloned());
            Some(json!({ "name": name, "command": program, "args": all, "env": pairs(env) }))
        }
        McpServer::Remote { url, transport, headers, .. } => {
            let kind = match transport {
                Some(McpTransport::Sse) => "sse",
                _ => "http",
            };
            let reachable = can[kind] == true;
            reachable.then(|| json!({ "type": kind, "name": name, "url": url, "headers": pairs(headers) }))
        }
    }
}
