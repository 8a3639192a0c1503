//! Codex's models, as `model/list` tells them.

use protocol::agents::AgentModel;
use serde::Deserialize;
use serde_json::{Value, json};

/// Codex's models.
#[derive(Debug, Default)]
pub(super) struct Models {
    /// Those that Codex shows to a person who chooses.
    pub(super) shown: Vec<AgentModel>,
    /// All of them. Codex hides older ones, which still work.
    pub(super) known: Vec<AgentModel>,
}

/// The answer to `model/list`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelListResponse {
    data: Vec<ListedModel>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListedModel {
    model: String,
    display_name: String,
    hidden: bool,
    supported_reasoning_efforts: Vec<ListedEffort>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListedEffort {
    reasoning_effort: String,
}

/// The parameters of `model/list`: all models in one page.
pub(super) fn all() -> Value {
    json!({ "includeHidden": true, "limit": 1000 })
}

/// Reads the answer to `model/list`.
pub(super) fn read(listed: &Value) -> Models {
    let listed = ModelListResponse::deserialize(listed).unwrap_or_default();
    let mut models = Models::default();
    for model in listed.data {
        let efforts = model.supported_reasoning_efforts.into_iter();
        let read = AgentModel {
            id: model.model,
            name: model.display_name,
            variants: efforts.map(|effort| effort.reasoning_effort).collect(),
        };
        if !model.hidden {
            models.shown.push(read.clone());
        }
        models.known.push(read);
    }
    models
}
