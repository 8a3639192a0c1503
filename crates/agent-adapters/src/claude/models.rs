//! Claude Code's models, as its answer to `initialize` tells them.

use protocol::{agents::AgentModel, sessions::AgentError};
use serde::Deserialize;
use serde_json::Value;

use crate::offers::check_model;

/// The part of the answer that is about models.
#[derive(Default, Deserialize)]
#[serde(default)]
struct InitializeResponse {
    models: Vec<ListedModel>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListedModel {
    value: String,
    display_name: String,
    resolved_model: String,
    supported_effort_levels: Vec<String>,
}

/// Reads the answer to `initialize`.
pub(super) fn read(answer: &Value) -> Vec<AgentModel> {
    let answer = InitializeResponse::deserialize(answer).unwrap_or_default();
    let offered = answer.models.into_iter().filter(|model| !model.is_echo());
    let model = |model: ListedModel| AgentModel {
        id: model.value,
        name: model.display_name,
        variants: model.supported_effort_levels,
    };
    offered.map(model).collect()
}

impl ListedModel {
    /// Whether it is the chosen model, of which Claude Code knows nothing: it adds any word to the list.
    fn is_echo(&self) -> bool {
        self.value == self.display_name && self.value == self.resolved_model
    }
}

/// Rejects the name of a model that Claude Code does not offer.
///
/// Claude Code lists short names only, and passes the full id of a model, such as `claude-opus-4-1` or
/// `us.anthropic.claude-sonnet:0`, on to the provider unseen: so does a session. Without a list, any model is accepted.
pub(super) fn check(models: &[AgentModel], wanted: Option<&str>) -> Result<(), AgentError> {
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
        let models = read(&answer);
        let ids: Vec<_> = models.iter().map(|model| (model.id.as_str(), model.variants.len())).collect();
        assert_eq!(ids, [("opus", 1), ("opusplan", 1)]);
        for accepted in
            [None, Some("opus"), Some("opusplan"), Some("claude-opus-4-1"), Some("arn:aws:bedrock/x")]
        {
            assert_eq!(check(&models, accepted), Ok(()), "{accepted:?}");
        }
        assert!(check(&models, Some("nonesuch")).is_err());
        assert_eq!(check(&[], Some("nonesuch")), Ok(()), "without a list nothing is known");
    }
}
