//! opencode.

use std::path::Path;

use serde_json::json;

use super::{AgentSetup, ModelEndpoint, write_file};

/// Configures opencode. Without the `permission` block it would run every tool without asking the user.
pub fn opencode(home: &Path, endpoint: ModelEndpoint<'_>) -> AgentSetup {
    let model = |name: &str| json!({ "name": name, "tool_call": true, "reasoning": true, "limit": { "context": 200_000, "output": 8192 } });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "Scripted",
        "options": { "baseURL": format!("{}/v1", endpoint.url), "apiKey": "{env:SCRIPTED_API_KEY}" },
        "models": { "scripted-1": model("Scripted One"), "scripted-2": model("Scripted Two") },
    });
    let config = json!({
        "model": "scripted/scripted-1", "small_model": "scripted/scripted-1", "autoupdate": false, "share": "disabled",
        "provider": { "scripted": provider }, "permission": { "bash": "ask", "edit": "ask", "webfetch": "ask" },
    });
    write_file(home, "opencode.json", &config.to_string());
    AgentSetup::new([
        ("OPENCODE_CONFIG", &home.join("opencode.json").display().to_string()),
        ("SCRIPTED_API_KEY", endpoint.key),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ])
}
