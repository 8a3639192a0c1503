//! Choices of a session (model, variant, mode) that the adapter has yet to set in the agent.

use std::collections::VecDeque;

use protocol::sessions::{AgentError, PermissionMode};
use serde_json::{Value, json};

use super::session_setup::SessionSetup;
use crate::{
    Offers, Options,
    offers::{check, check_mode, check_model},
    unsupported,
};

/// The names that agents give the mode that only reads.
const READ_ONLY_MODES: [&str; 2] = ["plan", "read-only"];

/// Choices of a session that the adapter has yet to set, and the agent's offers to check them against.
pub(super) struct PendingChoices {
    queue: VecDeque<SessionChoice>,
    setup: SessionSetup,
}

/// A choice of a session.
enum SessionChoice {
    Model(String),
    Variant(String),
    /// Only one mode can be set, and a restriction counts for more than a behaviour.
    ReadOnly,
    Mode(String),
}

/// A request that sets a choice.
#[derive(Debug, PartialEq)]
pub(super) struct ChoiceRequest {
    /// The name of the choice in [`AgentError::Unsupported`].
    pub(super) feature: &'static str,
    pub(super) method: &'static str,
    /// The parameters without the session.
    pub(super) params: Value,
}

impl PendingChoices {
    /// Collects the choices in `options` for a session that the agent has opened with `setup`.
    pub(super) fn new(options: &Options, setup: SessionSetup) -> Self {
        let model = options.model.clone().map(SessionChoice::Model);
        let variant = options.variant.clone().map(SessionChoice::Variant);
        let mode = match options.permission_mode {
            PermissionMode::Plan => SessionChoice::ReadOnly,
            PermissionMode::Default | PermissionMode::Bypass => {
                SessionChoice::Mode(options.agent_mode.clone())
            }
        };
        Self { queue: model.into_iter().chain(variant).chain([mode]).collect(), setup }
    }

    /// Modes and models that the agent offers.
    pub(super) fn offers(&self) -> Offers {
        self.setup.offers()
    }

    /// Whether the agent itself has the mode.
    pub(super) fn has_mode(&self, id: &str) -> bool {
        self.setup.own_modes().iter().any(|mode| mode.id == id)
    }

    /// Takes over the options in the answer to a [`ChoiceRequest`].
    pub(super) fn update_options(&mut self, answer: &Value) {
        self.setup.update_options(SessionSetup::from_value(answer));
    }

    /// The request that sets the next choice.
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] if the agent does not offer it.
    pub(super) fn next_request(&mut self) -> Result<Option<ChoiceRequest>, AgentError> {
        while let Some(choice) = self.queue.pop_front() {
            let request = match choice {
                SessionChoice::Model(model) => Some(self.set_model(&model)?),
                SessionChoice::Variant(variant) => Some(self.set_variant(&variant)?),
                SessionChoice::ReadOnly => Some(self.set_read_only()?),
                SessionChoice::Mode(mode) => self.set_chosen_mode(&mode)?,
            };
            if request.is_some() {
                return Ok(request);
            }
        }
        Ok(None)
    }

    fn set_model(&self, model: &str) -> Result<ChoiceRequest, AgentError> {
        // The current model need not be listed: it may come from the agent's own configuration.
        if self.setup.model() != Some(model) {
            check_model(&self.setup.models(), model)?;
        }
        if self.setup.option("model").is_some() {
            return Ok(set_option("model", "model", model));
        }
        let params = json!({ "modelId": model });
        Ok(ChoiceRequest { feature: "model", method: "session/set_model", params })
    }

    fn set_variant(&self, variant: &str) -> Result<ChoiceRequest, AgentError> {
        let option = self.setup.variant_option();
        let option = option.ok_or_else(|| unsupported("variant", "this agent has no model variants"))?;
        let offered = option.choices();
        check("variant", "variant", variant, offered.iter().map(|choice| choice.value.as_str()))?;
        Ok(set_option("variant", &option.id, variant))
    }

    fn set_read_only(&self) -> Result<ChoiceRequest, AgentError> {
        let mode = READ_ONLY_MODES.into_iter().find(|id| self.has_mode(id));
        let mode = mode.ok_or_else(|| unsupported("permissionMode", "this agent has no read-only mode"))?;
        Ok(self.set_mode("permissionMode", mode))
    }

    fn set_chosen_mode(&self, mode: &str) -> Result<Option<ChoiceRequest>, AgentError> {
        check_mode(&self.setup.modes(), mode)?;
        Ok(self.has_mode(mode).then(|| self.set_mode("agentMode", mode)))
    }

    fn set_mode(&self, feature: &'static str, mode: &str) -> ChoiceRequest {
        // Some agents have modes as an option only.
        if self.setup.has_modes() {
            ChoiceRequest { feature, method: "session/set_mode", params: json!({ "modeId": mode }) }
        } else {
            set_option(feature, "mode", mode)
        }
    }
}

fn set_option(feature: &'static str, id: &str, value: &str) -> ChoiceRequest {
    let params = json!({ "configId": id, "value": value });
    ChoiceRequest { feature, method: "session/set_config_option", params }
}
