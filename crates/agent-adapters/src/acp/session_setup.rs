//! The state of a session that the agent has just opened: its modes, models and options.

use protocol::agents::{AgentMode, AgentModel};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Offers, lenient,
    offers::{mode, with_build},
};

/// The names that agents give the option for how long a model may think.
const VARIANT_OPTIONS: [&str; 4] = ["effort", "reasoning_effort", "thought_level", "variant"];

/// The answer to `session/new`, `session/load` and `session/resume`. Agents list modes and models in fields of their own, as
/// options, or as both.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SessionSetup {
    pub(super) session_id: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    modes: Option<SessionModes>,
    #[serde(deserialize_with = "lenient::field")]
    models: SessionModels,
    #[serde(deserialize_with = "lenient::list")]
    config_options: Vec<ConfigOption>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SessionModes {
    current_mode_id: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    available_modes: Vec<SessionMode>,
}

#[derive(Deserialize)]
struct SessionMode {
    id: String,
    name: Option<String>,
    description: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SessionModels {
    current_model_id: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    available_models: Vec<SessionModel>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionModel {
    model_id: String,
    name: Option<String>,
}

/// An option of the session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConfigOption {
    pub(super) id: String,
    /// A boolean for a switch.
    #[serde(default)]
    current_value: Value,
    /// Missing for a switch.
    #[serde(default, deserialize_with = "lenient::list")]
    options: Vec<ConfigChoices>,
}

/// A value of an option, or a group of values.
#[derive(Deserialize)]
#[serde(untagged)]
enum ConfigChoices {
    Group {
        #[serde(deserialize_with = "lenient::list")]
        options: Vec<ConfigChoice>,
    },
    One(ConfigChoice),
}

/// A value of an option.
#[derive(Deserialize)]
pub(super) struct ConfigChoice {
    pub(super) value: String,
    name: Option<String>,
    description: Option<String>,
}

impl SessionSetup {
    pub(super) fn from_value(result: &Value) -> Self {
        lenient::object(result)
    }

    /// Modes and models that a session can choose.
    pub(super) fn offers(&self) -> Offers {
        let models = self.models();
        Offers { modes: self.modes(), models: (!models.is_empty()).then_some(models) }
    }

    /// The modes that a session can choose.
    pub(super) fn modes(&self) -> Vec<AgentMode> {
        with_build(self.own_modes())
    }

    /// The agent's own modes.
    pub(super) fn own_modes(&self) -> Vec<AgentMode> {
        let listed = self.modes.iter().flat_map(|modes| &modes.available_modes);
        let listed = listed.map(|mode| (&mode.id, &mode.name, &mode.description));
        let options = self.option("mode").map(ConfigOption::choices).unwrap_or_default();
        let options = options.into_iter().map(|choice| (&choice.value, &choice.name, &choice.description));
        let mut modes: Vec<AgentMode> = Vec::new();
        for (id, name, description) in listed.chain(options) {
            if modes.iter().all(|known| known.id != *id) {
                let description = description.as_deref().unwrap_or_default();
                modes.push(mode(id, name.as_deref().unwrap_or(id), description));
            }
        }
        modes
    }

    /// The models that a session can choose. All have the variants of the current model, because agents list no others.
    pub(super) fn models(&self) -> Vec<AgentModel> {
        let listed = self.models.available_models.iter().map(|model| (&model.model_id, &model.name));
        let options = self.option("model").map(ConfigOption::choices).unwrap_or_default();
        let options = options.into_iter().map(|choice| (&choice.value, &choice.name));
        let variants = self.variant_option().map(ConfigOption::choices).unwrap_or_default();
        let variants: Vec<_> = variants.iter().map(|choice| choice.value.clone()).collect();
        let mut models: Vec<AgentModel> = Vec::new();
        for (id, name) in listed.chain(options) {
            if models.iter().all(|known| known.id != *id) {
                let name = name.as_ref().unwrap_or(id).clone();
                models.push(AgentModel { id: id.clone(), name, variants: variants.clone() });
            }
        }
        models
    }

    /// The current model.
    pub(super) fn model(&self) -> Option<&str> {
        let option = self.option("model").and_then(ConfigOption::current);
        option.or(self.models.current_model_id.as_deref())
    }

    /// The current mode.
    pub(super) fn mode(&self) -> Option<&str> {
        let option = self.option("mode").and_then(ConfigOption::current);
        option.or_else(|| self.modes.as_ref()?.current_mode_id.as_deref())
    }

    /// Whether modes are more than an option, so that `session/set_mode` sets them.
    pub(super) fn has_modes(&self) -> bool {
        self.modes.is_some()
    }

    pub(super) fn option(&self, id: &str) -> Option<&ConfigOption> {
        self.config_options.iter().find(|option| option.id == id)
    }

    /// The option for how long the model may think.
    pub(super) fn variant_option(&self) -> Option<&ConfigOption> {
        VARIANT_OPTIONS.into_iter().find_map(|id| self.option(id))
    }

    /// Takes over the options of a later answer: another model may have other variants.
    pub(super) fn update_options(&mut self, later: Self) {
        if !later.config_options.is_empty() {
            self.config_options = later.config_options;
        }
    }
}

impl ConfigOption {
    /// The values of the option, without groups.
    pub(super) fn choices(&self) -> Vec<&ConfigChoice> {
        let choices = self.options.iter().flat_map(|choices| match choices {
            ConfigChoices::Group { options } => options.as_slice(),
            ConfigChoices::One(choice) => std::slice::from_ref(choice),
        });
        choices.collect()
    }

    fn current(&self) -> Option<&str> {
        self.current_value.as_str()
    }
}
