//! What a session wishes for, in the words of the agent: modes, models and options differ from agent to agent.

use std::collections::{BTreeMap, VecDeque};

use protocol::{
    agents::{AgentMode, AgentModel},
    config::{McpServer, McpServerCommand, McpTransport},
    sessions::{AgentError, PermissionMode},
};
use serde_json::{Value, json};

use super::super::{
    Offers, Options,
    offers::{check, check_mode, check_model, mode, with_build},
    unsupported,
};

/// What agents call the mode that only reads.
const READ_ONLY: [&str; 2] = ["plan", "read-only"];

/// What agents call the option for how long a model may think.
const VARIANT: [&str; 4] = ["effort", "reasoning_effort", "thought_level", "variant"];

/// What the agent has told of a session, and what is wished for and not set yet.
pub(super) struct Setup {
    wishes: VecDeque<Wish>,
    /// The answer that opened the session, with the newest options.
    opened: Value,
}

/// What a session chooses.
enum Wish {
    Model(String),
    Variant(String),
    /// One mode at most: what the agent may do counts for more than how it behaves.
    ReadOnly,
    Mode(String),
}

/// A request that fulfils a wish.
#[derive(Debug, PartialEq)]
pub(super) struct WishRequest {
    pub(super) feature: &'static str,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Setup {
    /// What `options` wish for, of an agent that has just opened the session.
    pub(super) fn new(options: &Options, opened: &Value) -> Self {
        let model = options.model.clone().map(Wish::Model);
        let variant = options.variant.clone().map(Wish::Variant);
        let mode = match options.permission_mode {
            PermissionMode::Plan => Wish::ReadOnly,
            PermissionMode::Default | PermissionMode::Bypass => Wish::Mode(options.agent_mode.clone()),
        };
        let wishes = model.into_iter().chain(variant).chain([mode]).collect();
        Self { wishes, opened: opened.clone() }
    }

    /// What the agent offers to choose from.
    pub(super) fn offers(&self) -> Offers {
        let models = models(&self.opened);
        Offers { modes: modes(&self.opened), models: (!models.is_empty()).then_some(models) }
    }

    /// Whether the agent itself has the mode.
    pub(super) fn has_mode(&self, id: &str) -> bool {
        offered_modes(&self.opened).iter().any(|mode| mode.id == id)
    }

    /// Notes the options as they are after one was set: another model may have other variants.
    pub(super) fn update(&mut self, answer: &Value) {
        if answer["configOptions"].is_array() {
            self.opened["configOptions"] = answer["configOptions"].clone();
        }
    }

    /// The request for the next wish.
    ///
    /// # Errors
    /// If the agent does not offer what is wished for.
    pub(super) fn next(&mut self) -> Result<Option<WishRequest>, AgentError> {
        while let Some(wish) = self.wishes.pop_front() {
            let request = match wish {
                Wish::Model(model) => Some(self.model(&model)?),
                Wish::Variant(variant) => Some(self.variant(&variant)?),
                Wish::ReadOnly => Some(self.read_only()?),
                Wish::Mode(mode) => self.mode(&mode)?,
            };
            if request.is_some() {
                return Ok(request);
            }
        }
        Ok(None)
    }

    fn model(&self, model: &str) -> Result<WishRequest, AgentError> {
        // The model that is set need not be listed: it may come from the agent's own configuration.
        if current(&self.opened, "model").as_deref() != Some(model) {
            check_model(&models(&self.opened), model)?;
        }
        if option(&self.opened, "model").is_some() {
            return Ok(option_request("model", "model", model));
        }
        let params = json!({ "modelId": model });
        Ok(WishRequest { feature: "model", method: "session/set_model", params })
    }

    fn variant(&self, variant: &str) -> Result<WishRequest, AgentError> {
        let option = variant_option(&self.opened);
        let option = option.ok_or_else(|| unsupported("variant", "this agent has no model variants"))?;
        let choices = choices(option);
        check("variant", "variant", variant, choices.iter().map(|choice| choice.value))?;
        Ok(option_request("variant", option["id"].as_str().unwrap_or_default(), variant))
    }

    fn read_only(&self) -> Result<WishRequest, AgentError> {
        let modes = offered_modes(&self.opened);
        let mode = READ_ONLY.into_iter().find(|id| modes.iter().any(|mode| mode.id == *id));
        let mode = mode.ok_or_else(|| unsupported("permissionMode", "this agent has no read-only mode"))?;
        Ok(set_mode("permissionMode", mode, &self.opened))
    }

    fn mode(&self, mode: &str) -> Result<Option<WishRequest>, AgentError> {
        check_mode(&modes(&self.opened), mode)?;
        let is_own = offered_modes(&self.opened).iter().any(|known| known.id == mode);
        Ok(is_own.then(|| set_mode("agentMode", mode, &self.opened)))
    }
}

fn set_mode(feature: &'static str, mode: &str, opened: &Value) -> WishRequest {
    // Some agents have modes as an option only.
    match opened["modes"].is_object() {
        true => WishRequest { feature, method: "session/set_mode", params: json!({ "modeId": mode }) },
        false => option_request(feature, "mode", mode),
    }
}

fn option_request(feature: &'static str, id: &str, value: &str) -> WishRequest {
    let params = json!({ "configId": id, "value": value });
    WishRequest { feature, method: "session/set_config_option", params }
}

/// The modes that a session can choose.
fn modes(opened: &Value) -> Vec<AgentMode> {
    with_build(offered_modes(opened))
}

/// The agent's own modes.
fn offered_modes(opened: &Value) -> Vec<AgentMode> {
    let listed = opened["modes"]["availableModes"].as_array().into_iter().flatten();
    let listed = listed.filter_map(|mode| Some(Choice { value: mode["id"].as_str()?, of: mode }));
    let mut modes = Vec::new();
    for choice in listed.chain(option(opened, "mode").map(choices).unwrap_or_default()) {
        if modes.iter().all(|known: &AgentMode| known.id != choice.value) {
            let description = choice.of["description"].as_str().unwrap_or_default();
            modes.push(mode(choice.value, choice.name(), description));
        }
    }
    modes
}

/// The models that a session can choose. The variants are those of the model that is set: agents tell no others.
fn models(opened: &Value) -> Vec<AgentModel> {
    let listed = opened["models"]["availableModels"].as_array().into_iter().flatten();
    let listed = listed.filter_map(|model| Some(Choice { value: model["modelId"].as_str()?, of: model }));
    let variants = variant_option(opened).map(choices).unwrap_or_default();
    let variants: Vec<_> = variants.iter().map(|choice| choice.value.to_owned()).collect();
    let mut models = Vec::new();
    for choice in listed.chain(option(opened, "model").map(choices).unwrap_or_default()) {
        if models.iter().all(|known: &AgentModel| known.id != choice.value) {
            let (id, name) = (choice.value.to_owned(), choice.name().to_owned());
            models.push(AgentModel { id, name, variants: variants.clone() });
        }
    }
    models
}

fn option<'a>(opened: &'a Value, id: &str) -> Option<&'a Value> {
    opened["configOptions"].as_array()?.iter().find(|option| option["id"] == id)
}

fn variant_option(opened: &Value) -> Option<&Value> {
    VARIANT.into_iter().find_map(|id| option(opened, id))
}

/// A value that can be chosen, and what describes it.
struct Choice<'a> {
    value: &'a str,
    of: &'a Value,
}

impl<'a> Choice<'a> {
    fn name(&self) -> &'a str {
        self.of["name"].as_str().unwrap_or(self.value)
    }
}

/// The values of an option, which may be in groups.
fn choices(option: &Value) -> Vec<Choice<'_>> {
    let all = option["options"].as_array().into_iter().flatten();
    let in_groups = all.flat_map(|one| match one["options"].as_array() {
        Some(group) => group.iter().collect::<Vec<_>>(),
        None => vec![one],
    });
    in_groups.filter_map(|of| Some(Choice { value: of["value"].as_str()?, of })).collect()
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

/// The names of the MCP servers that the agent cannot reach, and how it would have to.
pub(super) fn unreachable<'a>(
    servers: &'a BTreeMap<String, McpServer>,
    can: &Value,
) -> Vec<(&'a str, &'static str)> {
    let transport = |server: &McpServer| match server {
        McpServer::Remote { enabled: Some(false), .. } | McpServer::Local { .. } => None,
        McpServer::Remote { transport: Some(McpTransport::Sse), .. } => Some("sse"),
        McpServer::Remote { .. } => Some("http"),
    };
    let needed = servers.iter().filter_map(|(name, server)| Some((name.as_str(), transport(server)?)));
    needed.filter(|(_, transport)| can[*transport] != true).collect()
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
