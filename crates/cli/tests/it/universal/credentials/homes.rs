//! Homes in which an agent uses the standard provider of its vendor, at the address of the scripted model, without a key.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};
use testkit::agent_setup::{AgentSetup, ModelEndpoint};

pub(super) fn amp(_home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    setup(&[("AMP_URL", model.url), ("AMP_SKIP_UPDATE_CHECK", "1")])
}

pub(super) fn claude(_home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    setup(&[
        ("ANTHROPIC_BASE_URL", model.url),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ])
}

pub(super) fn codex(home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    codex_with(home, &format!("openai_base_url = \"{}/v1\"", model.url), "")
}

/// A provider that the user has configured, which wants no key.
pub(super) fn codex_provider_without_key(home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    codex_with(home, "model_provider = \"own\"", &own_provider(model))
}

/// A provider that the user has configured with a key of its own.
pub(super) fn codex_provider_with_key(home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    let provider = own_provider(model) + "env_key = \"OWN_KEY\"\n";
    codex_with(home, "model_provider = \"own\"", &provider)
}

fn own_provider(model: ModelEndpoint<'_>) -> String {
    let url = model.url;
    let retries = "request_max_retries = 0\nstream_max_retries = 0";
    format!(
        "[model_providers.own]\nname = \"Own\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n{retries}\n"
    )
}

fn codex_with(home: &Path, provider: &str, table: &str) -> AgentSetup {
    let config = format!(
        "model = \"gpt-5.5\"\n{provider}\ncheck_for_update_on_startup = false\n\
         [analytics]\nenabled = false\n[features]\nplugins = false\n{table}"
    );
    write(home, ".codex/config.toml", &config);
    // Codex's helper programs refuse a home inside the directory for temporary files.
    let temporary = home.join("temporary");
    fs::create_dir_all(&temporary).expect("make the directory");
    setup(&[("TMPDIR", &temporary.display().to_string())])
}

/// As it is before its user has chosen how to log in.
pub(super) fn gemini(home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    gemini_with(home, model, &json!({}))
}

pub(super) fn gemini_vertex(home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    gemini_with(home, model, &json!({ "selectedType": "vertex-ai" }))
}

pub(super) fn gemini_oauth(home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    gemini_with(home, model, &json!({ "selectedType": "oauth-personal" }))
}

fn gemini_with(home: &Path, model: ModelEndpoint<'_>, auth: &Value) -> AgentSetup {
    let settings = json!({
        "security": { "auth": auth, "folderTrust": { "enabled": false } },
        "general": { "enableAutoUpdate": false }, "privacy": { "usageStatisticsEnabled": false },
    });
    write(home, ".gemini/settings.json", &settings.to_string());
    setup(&[("GOOGLE_GEMINI_BASE_URL", model.url), ("GOOGLE_VERTEX_BASE_URL", model.url)])
}

pub(super) fn opencode(home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    let providers = providers(model.url, "baseURL", |options| json!({ "options": options }));
    let config = json!({ "autoupdate": false, "share": "disabled", "provider": providers });
    write(home, ".config/opencode/opencode.json", &config.to_string());
    setup(&[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ])
}

pub(super) fn pi(home: &Path, model: ModelEndpoint<'_>) -> AgentSetup {
    let mut providers = providers(model.url, "baseUrl", |options| options);
    // Its Anthropic client adds the version itself.
    providers["anthropic"]["baseUrl"] = model.url.into();
    write(home, ".pi/agent/models.json", &json!({ "providers": providers }).to_string());
    setup(&[("PI_OFFLINE", "1")])
}

/// The entry of each provider, with its address under `name`.
fn providers(url: &str, name: &str, entry: fn(Value) -> Value) -> Value {
    let address = |version: &str| entry(json!({ name: format!("{url}/{version}") }));
    json!({ "anthropic": address("v1"), "openai": address("v1"), "google": address("v1beta") })
}

fn setup(env: &[(&str, &str)]) -> AgentSetup {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    AgentSetup { env: BTreeMap::from_iter(env), args: Vec::new() }
}

fn write(home: &Path, name: &str, content: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("make the directory");
    fs::write(path, content).expect("write the file");
}
