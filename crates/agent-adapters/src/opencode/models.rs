//! The models of the configured providers, as `/config/providers` tells them.

use std::collections::BTreeMap;

use protocol::agents::AgentModel;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

/// The answer of `/config/providers`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ProvidersResponse {
    providers: Vec<ListedProvider>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListedProvider {
    id: String,
    models: BTreeMap<String, ListedModel>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListedModel {
    name: String,
    variants: BTreeMap<String, IgnoredAny>,
}

/// Reads the answer of `/config/providers`. A model is called `provider/model`, as in OpenCode's own configuration.
pub(super) fn read(said: &Value) -> Vec<AgentModel> {
    let said = ProvidersResponse::deserialize(said).unwrap_or_default();
    let of_provider = |provider: ListedProvider| {
        let ListedProvider { id: provider, models } = provider;
        models.into_iter().map(move |(id, model)| AgentModel {
            id: format!("{provider}/{id}"),
            name: model.name,
            variants: model.variants.into_keys().collect(),
        })
    };
    said.providers.into_iter().flat_map(of_provider).collect()
}
