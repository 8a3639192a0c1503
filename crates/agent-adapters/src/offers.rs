//! The modes and models that an agent offers to a session.
//!
//! `GET /v1/agents/{agent}/modes` and `/models` list the same value that decides whether the choice of a session is accepted, so
//! that the two cannot differ.

use protocol::{
    agents::{AgentMode, AgentModel, AgentProtocol},
    sessions::AgentError,
};
use serde::{Deserialize, Serialize};

use super::{amp, claude, codex, unsupported};

/// The mode that every agent has: its default behaviour.
pub(super) const BUILD: &str = "build";

/// How many ids an error lists. OpenCode may have thousands of models.
const LISTED_MAX: usize = 40;

/// The modes and models that an agent offers to a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Offers {
    /// Its modes.
    pub modes: Vec<AgentMode>,
    /// Its models; `None` if the adapter did not request them, or the agent cannot list them.
    pub models: Option<Vec<AgentModel>>,
}

/// The modes of agents that speak `protocol`, where the protocol or the catalog's `row` fixes them. Other agents
/// list them themselves.
pub fn fixed_modes(protocol: AgentProtocol, row: &[AgentMode]) -> Option<Vec<AgentMode>> {
    match protocol {
        AgentProtocol::Claude => Some(claude::modes()),
        AgentProtocol::Codex => Some(codex::modes()),
        AgentProtocol::Amp => Some(amp::modes(row)),
        AgentProtocol::Acp | AgentProtocol::Opencode => None,
    }
}

/// Adds the mode `build` to modes without it: every session accepts it.
pub fn with_build(mut modes: Vec<AgentMode>) -> Vec<AgentMode> {
    if modes.iter().all(|mode| mode.id != BUILD) {
        modes.insert(0, mode(BUILD, "Build", "The default behaviour of the agent"));
    }
    modes
}

pub(super) fn mode(id: &str, name: &str, description: &str) -> AgentMode {
    AgentMode { id: id.into(), name: name.into(), description: description.into() }
}

/// Rejects a mode that is not among `modes`.
pub(super) fn check_mode(modes: &[AgentMode], wanted: &str) -> Result<(), AgentError> {
    check("agentMode", "mode", wanted, modes.iter().map(|mode| mode.id.as_str()))
}

/// Rejects a model that is not among `models`.
pub(super) fn check_model(models: &[AgentModel], wanted: &str) -> Result<(), AgentError> {
    check("model", "model", wanted, models.iter().map(|model| model.id.as_str()))
}

/// Rejects a variant that `model` does not have. Of an unknown model, the variants of all models count.
pub(super) fn check_variant(
    models: &[AgentModel],
    model: Option<&str>,
    wanted: &str,
) -> Result<(), AgentError> {
    let known = models.iter().find(|known| Some(known.id.as_str()) == model);
    let mut variants: Vec<_> = match known {
        Some(model) => model.variants.iter().map(String::as_str).collect(),
        None => models.iter().flat_map(|model| &model.variants).map(String::as_str).collect(),
    };
    let mut seen = std::collections::HashSet::new();
    variants.retain(|variant| seen.insert(*variant));
    check("variant", "variant", wanted, variants.into_iter())
}

/// Rejects a choice that is not offered, with a list of those that are.
pub(super) fn check<'a>(
    feature: &str,
    noun: &str,
    wanted: &str,
    offered: impl Iterator<Item = &'a str>,
) -> Result<(), AgentError> {
    let offered: Vec<_> = offered.collect();
    if offered.contains(&wanted) {
        return Ok(());
    }
    let listed = offered[..offered.len().min(LISTED_MAX)].join(", ");
    let message = match offered.len() {
        0 => format!("there is no {noun} `{wanted}`: the agent offers no choice of {noun}s"),
        1..=LISTED_MAX => format!("there is no {noun} `{wanted}`; choose one of {listed}"),
        count => format!(
            "there is no {noun} `{wanted}`; choose one of {listed} or of {} others, which `tombolo api agents {noun}s` lists",
            count - LISTED_MAX
        ),
    };
    Err(unsupported(feature, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(error: Result<(), AgentError>) -> String {
        match error {
            Err(AgentError::Unsupported { message, .. }) => message,
            other => panic!("not rejected: {other:?}"),
        }
    }

    #[test]
    fn what_is_not_offered_is_rejected_with_a_list_of_what_is() {
        let modes = with_build(vec![mode("plan", "Plan", "")]);
        assert_eq!(check_mode(&modes, "plan"), Ok(()));
        assert_eq!(
            message(check_mode(&modes, "dance")),
            "there is no mode `dance`; choose one of build, plan"
        );
        assert_eq!(with_build(modes.clone()), modes, "there is one `build`");
        assert!(message(check_model(&[], "x")).contains("offers no choice of models"));
    }

    #[test]
    fn a_long_list_is_cut() {
        let ids: Vec<_> = (0..LISTED_MAX + 3).map(|n| format!("m{n}")).collect();
        let message = message(check("model", "model", "x", ids.iter().map(String::as_str)));
        assert!(
            message.contains("m39") && !message.contains("m40") && message.contains("3 others"),
            "{message}"
        );
    }

    #[test]
    fn a_variant_belongs_to_its_model() {
        let model = |id: &str, variants: &[&str]| AgentModel {
            id: id.into(),
            name: id.into(),
            variants: variants.iter().map(ToString::to_string).collect(),
        };
        let models = [model("a", &["low", "high"]), model("b", &[])];
        assert_eq!(check_variant(&models, Some("a"), "high"), Ok(()));
        assert!(check_variant(&models, Some("b"), "high").is_err());
        assert_eq!(check_variant(&models, None, "high"), Ok(()), "the model is the agent's own choice");
        assert!(message(check_variant(&models, None, "odd")).contains("low, high"));
    }
}
