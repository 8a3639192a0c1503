//! gemini-cli.

use std::path::Path;

use serde_json::json;

use super::{AgentSetup, ModelEndpoint, write_file};

/// Configures gemini-cli. It takes the key from the environment, but uses it only if the settings file selects it.
pub fn gemini(home: &Path, endpoint: ModelEndpoint<'_>) -> AgentSetup {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
        "general": { "enableAutoUpdate": false }, "privacy": { "usageStatisticsEnabled": false },
    });
    write_file(home, ".gemini/settings.json", &settings.to_string());
    let mut setup = AgentSetup::new([
        ("GEMINI_API_KEY", endpoint.key),
        ("GOOGLE_GEMINI_BASE_URL", endpoint.url),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ]);
    setup.args = vec!["-m".into(), "gemini-2.5-flash".into()];
    setup
}
