//! Claude Code behind its ACP adapter.

use std::path::Path;

use super::{Endpoint, Setup};

/// Everything is in the environment.
pub fn claude(_home: &Path, endpoint: Endpoint<'_>) -> Setup {
    Setup::new([
        ("ANTHROPIC_BASE_URL", endpoint.url),
        ("ANTHROPIC_API_KEY", endpoint.key),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Without it Claude refuses some modes to root, which is who runs a container.
        ("IS_SANDBOX", "1"),
    ])
}
