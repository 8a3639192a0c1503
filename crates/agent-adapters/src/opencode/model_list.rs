//! The models of the configured providers: the answer of `/config/providers`.

use std::collections::BTreeMap;

use protocol::agents::AgentModel;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::lenient;

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProvidersResponse {
    #[serde(deserialize_with = "lenient::list")]
    providers: Vec<OpencodeProvider>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpencodeProvider {
    id: String,
    /// An [`OpencodeModel`] for each id.
    models: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpencodeModel {
    name: Option<String>,
    variants: BTreeMap<String, IgnoredAny>,
}

/// Parses the answer of `/config/providers`. The id of a model is `provider/model`, as in OpenCode's own configuration.
pub(super) fn parse(response: &Value) -> Vec<AgentModel> {
    let of_provider = |provider: OpencodeProvider| {
        let OpencodeProvider { id: provider, models } = provider;
        models.into_iter().map(move |(id, model)| {
            let OpencodeModel { name, variants } = lenient::object(&model);
            AgentModel {
                id: format!("{provider}/{id}"),
                name: name.unwrap_or_default(),
                variants: variants.into_keys().collect(),
            }
        })
    };
    lenient::object::<ProvidersResponse>(response).providers.into_iter().flat_map(of_provider).collect()
}
