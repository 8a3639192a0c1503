//! pi behind its ACP adapter.

use std::path::Path;

use serde_json::json;

use super::{AgentSetup, ModelEndpoint, write_file};

/// Configures pi, which reads its providers from `models.json` and its defaults from `settings.json`.
pub fn pi(home: &Path, endpoint: ModelEndpoint<'_>) -> AgentSetup {
    let model = |id: &str| {
        json!({
            "id": id, "name": id, "reasoning": true, "input": ["text"], "contextWindow": 200_000, "maxTokens": 8192,
            "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 },
        })
    };
    let provider = json!({
        "baseUrl": format!("{}/v1", endpoint.url), "api": "openai-completions", "apiKey": "$SCRIPTED_API_KEY",
        "models": [model("scripted-1"), model("scripted-2")],
    });
    write_file(home, ".pi/agent/models.json", &json!({ "providers": { "scripted": provider } }).to_string());
    let settings = json!({ "defaultProvider": "scripted", "defaultModel": "scripted-1" });
    write_file(home, ".pi/agent/settings.json", &settings.to_string());
    AgentSetup::new([
        ("PI_CODING_AGENT_DIR", &home.join(".pi/agent").display().to_string()),
        ("PI_OFFLINE", "1"),
        ("SCRIPTED_API_KEY", endpoint.key),
    ])
}
