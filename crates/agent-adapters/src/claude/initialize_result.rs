//! Claude Code's answer to `initialize`: its models and commands.

use protocol::{
    agents::AgentModel,
    event::{AgentCommand, CommandsUpdated},
    sessions::AgentError,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{lenient, offers::check_model};

/// The answer to `initialize`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeInitializeResult {
    #[serde(deserialize_with = "lenient::list")]
    models: Vec<ClaudeModel>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeModel {
    value: String,
    display_name: String,
    resolved_model: String,
    supported_effort_levels: Vec<String>,
}

/// The slash commands of the session, in the answer to `initialize` or in a later line.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeCommands {
    #[serde(deserialize_with = "lenient::list")]
    commands: Vec<ClaudeCommand>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeCommand {
    name: String,
    #[serde(default, deserialize_with = "lenient::text")]
    description: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    argument_hint: Option<String>,
}

impl ClaudeInitializeResult {
    pub(super) fn from_value(result: &Value) -> Self {
        lenient::object(result)
    }

    /// The models that Claude Code offers.
    pub(super) fn into_models(self) -> Vec<AgentModel> {
        let offered = self.models.into_iter().filter(|model| !model.is_echo());
        let model = |model: ClaudeModel| AgentModel {
            id: model.value,
            name: model.display_name,
            variants: model.supported_effort_levels,
        };
        offered.map(model).collect()
    }
}

impl ClaudeModel {
    /// Whether it is the chosen model, if Claude Code does not know it: Claude Code adds any word to the list.
    fn is_echo(&self) -> bool {
        self.value == self.display_name && self.value == self.resolved_model
    }
}

impl From<ClaudeCommands> for CommandsUpdated {
    fn from(commands: ClaudeCommands) -> Self {
        let named = commands.commands.into_iter().filter(|command| !command.name.is_empty());
        let command = |command: ClaudeCommand| AgentCommand {
            name: command.name,
            description: command.description,
            hint: command.argument_hint,
        };
        Self { commands: named.map(command).collect() }
    }
}

/// Rejects the name of a model that Claude Code does not offer.
///
/// Claude Code lists short names only, and passes the full id of a model, such as `claude-opus-4-1` or
/// `us.anthropic.claude-sonnet:0`, on to the provider unchecked, and a session does the same. Without a list, any model is accepted.
pub(super) fn check_wanted_model(models: &[AgentModel], wanted: Option<&str>) -> Result<(), AgentError> {
    let is_full_id = |model: &str| model.contains(['-', '.', '/', ':']);
    match wanted {
        Some(wanted) if !models.is_empty() && !is_full_id(wanted) => check_model(models, wanted),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_listed_and_full_ids_are_passed_on() {
        let listed = |value: &str, name: &str, resolved: &str| json!({ "value": value, "displayName": name, "resolvedModel": resolved, "supportedEffortLevels": ["low"] });
        let answer = json!({ "models": [
            listed("opus", "Opus", "claude-opus-5-5"), listed("opusplan", "Opus Plan Mode", "claude-sonnet-5-5"),
            listed("nonesuch", "nonesuch", "nonesuch"),
        ] });
        let models = ClaudeInitializeResult::from_value(&answer).into_models();
        let ids: Vec<_> = models.iter().map(|model| (model.id.as_str(), model.variants.len())).collect();
        assert_eq!(ids, [("opus", 1), ("opusplan", 1)]);
        for accepted in
            [None, Some("opus"), Some("opusplan"), Some("claude-opus-4-1"), Some("arn:aws:bedrock/x")]
        {
            assert_eq!(check_wanted_model(&models, accepted), Ok(()), "{accepted:?}");
        }
        assert!(check_wanted_model(&models, Some("nonesuch")).is_err());
        assert_eq!(check_wanted_model(&[], Some("nonesuch")), Ok(()), "without a list nothing is known");
    }
}
