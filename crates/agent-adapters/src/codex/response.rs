//! Results of our requests.

use serde::Deserialize;

use crate::lenient;

/// The result of `initialize`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct InitializeResult {
    user_agent: Option<String>,
}

impl InitializeResult {
    /// The version in the user agent: `name/0.166.0 (Debian …)`, with the name of our client.
    pub(super) fn version(&self) -> Option<String> {
        let (_, rest) = self.user_agent.as_deref()?.split_once('/')?;
        rest.split_whitespace().next().map(str::to_owned)
    }
}

/// The result of `account/read`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AccountReadResult {
    /// Whether the model's provider wants a login.
    pub(super) requires_openai_auth: Option<bool>,
}

/// The result of `thread/start` and `thread/resume`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ThreadOpenedResult {
    #[serde(deserialize_with = "lenient::field")]
    pub(super) thread: OpenedThread,
    pub(super) model: Option<String>,
    pub(super) model_provider: Option<String>,
    pub(super) reasoning_effort: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpenedThread {
    pub(super) id: Option<String>,
}
