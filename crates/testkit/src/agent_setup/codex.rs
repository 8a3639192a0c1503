//! Codex behind its ACP adapter.

use std::{fs, path::Path};

use super::{AgentSetup, ModelEndpoint, write_file};

/// Configures Codex.
///
/// The chosen model is one to which Codex offers its shell and patch tools directly; with its newest models it offers
/// a single tool that runs JavaScript. Plugins are off because Codex would wait for the network to load them.
pub fn codex(home: &Path, endpoint: ModelEndpoint<'_>) -> AgentSetup {
    let url = endpoint.url;
    let config = format!(
        r#"model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
request_max_retries = 1
stream_max_retries = 1
"#
    );
    write_file(home, ".codex/config.toml", &config);
    // Codex's helper programs refuse a home inside the directory for temporary files, where the test's home usually
    // is. So TMPDIR points to a directory inside the home instead.
    let temporary = home.join("temporary");
    fs::create_dir_all(&temporary).expect("could not create a directory");
    let (codex, temporary) = (home.join(".codex"), temporary.display().to_string());
    AgentSetup::new([
        ("CODEX_HOME", &codex.display().to_string()),
        ("TMPDIR", &temporary),
        ("SCRIPTED_API_KEY", endpoint.key),
    ])
}
