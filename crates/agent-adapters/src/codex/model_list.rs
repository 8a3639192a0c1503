//! The response to `model/list`.

use protocol::agents::AgentModel;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::lenient;

/// Codex's models.
#[derive(Debug, Default)]
pub(super) struct CodexModels {
    /// Models that Codex shows to a person who chooses one.
    pub(super) shown: Vec<AgentModel>,
    /// All models. Codex hides older ones, which still work.
    pub(super) known: Vec<AgentModel>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelListResponse {
    #[serde(deserialize_with = "lenient::list")]
    data: Vec<ListedCodexModel>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListedCodexModel {
    model: String,
    display_name: Option<String>,
    hidden: Option<bool>,
    #[serde(deserialize_with = "lenient::list")]
    supported_reasoning_efforts: Vec<ListedEffort>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedEffort {
    reasoning_effort: String,
}

/// The parameters of `model/list` that request all models in one page.
pub(super) fn all_models() -> Value {
    json!({ "includeHidden": true, "limit": 1000 })
}

impl CodexModels {
    /// Parses the response to `model/list`.
    pub(super) fn parse(response: &Value) -> Self {
        let mut models = Self::default();
        for listed in lenient::object::<ModelListResponse>(response).data {
            let efforts = listed.supported_reasoning_efforts.into_iter();
            let model = AgentModel {
                id: listed.model,
                name: listed.display_name.unwrap_or_default(),
                variants: efforts.map(|effort| effort.reasoning_effort).collect(),
            };
            if listed.hidden != Some(true) {
                models.shown.push(model.clone());
            }
            models.known.push(model);
        }
        models
    }
}
