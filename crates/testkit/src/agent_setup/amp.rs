//! Amp behind an ACP adapter, in the last version that sends requests to the model itself. Later versions leave that
//! to Amp's servers, where a scripted model cannot replace the real one.

use std::path::Path;

use super::{AgentSetup, ModelEndpoint};

/// Configures Amp, which takes all its settings from the environment.
pub fn amp(_home: &Path, endpoint: ModelEndpoint<'_>) -> AgentSetup {
    AgentSetup::new([
        ("AMP_URL", endpoint.url),
        ("AMP_API_KEY", endpoint.key),
        ("AMP_SKIP_UPDATE_CHECK", "1"),
    ])
}
