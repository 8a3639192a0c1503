//! Claude Code behind its ACP adapter.

use std::path::Path;

use super::{AgentSetup, ModelEndpoint};

/// Configures Claude Code, which takes all its settings from the environment.
pub fn claude(_home: &Path, endpoint: ModelEndpoint<'_>) -> AgentSetup {
    AgentSetup::new([
        ("ANTHROPIC_BASE_URL", endpoint.url),
        ("ANTHROPIC_API_KEY", endpoint.key),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ])
}
