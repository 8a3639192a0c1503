use std::{collections::BTreeMap, path::Path};

use secrecy::ExposeSecret;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::Catalog;

/// A made-up home.
fn home(files: &[(&str, Value)]) -> TempDir {
    let home = TempDir::new().unwrap();
    for (path, content) in files {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
    }
    home
}

fn environment(home: &TempDir, variables: &[(&str, &str)]) -> UserEnvironment {
    let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    UserEnvironment { variables, home: Some(home.path().into()), project: None }
}

/// Variable or file, and value, of what is found for an agent.
fn of(agent: &str, environment: &UserEnvironment) -> Vec<(String, String)> {
    let catalog = Catalog::new(Path::new("/own"), BTreeMap::new()).unwrap();
    let found = find_credentials(catalog.get(&agent.parse().unwrap()).unwrap(), environment);
    let place = |one: &Credential| match (&one.variable, &one.file) {
        (Some(variable), Some(file)) => format!("{variable} of {file}"),
        (Some(place), None) | (None, Some(place)) => place.clone(),
        (None, None) => unreachable!("it was found somewhere"),
    };
    found.iter().map(|one| (place(one), one.secret.expose_secret().to_owned())).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(place, value)| (place.to_string(), value.to_string())).collect()
}

/// daemon-9: the variables of document 003's table.
#[test]
fn variables_are_found() {
    let home = home(&[]);
    let all = environment(
        &home,
        &[("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o"), ("CODEX_API_KEY", "c"), ("PATH", "/bin")],
    );
    assert_eq!(of("claude", &all), pairs(&[("ANTHROPIC_API_KEY", "a")]));
    assert_eq!(of("codex", &all), pairs(&[("OPENAI_API_KEY", "o"), ("CODEX_API_KEY", "c")]));
    assert_eq!(of("opencode", &all), pairs(&[("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o")]));
    assert_eq!(of("amp", &all), pairs(&[("ANTHROPIC_API_KEY", "a")]));
    let empty = environment(&home, &[("ANTHROPIC_API_KEY", "")]);
    assert_eq!(of("claude", &empty), []);
}

/// daemon-9: the files of document 003's table, and that Amp uses those of Claude Code.
#[test]
fn files_are_found() {
    let home = home(&[
        (".claude.json", json!({ "numStartups": 3, "primaryApiKey": "key of claude" })),
        (".claude/.credentials.json", json!({ "claudeAiOauth": { "accessToken": "token of claude" } })),
        (".codex/auth.json", json!({ "OPENAI_API_KEY": "key of codex", "tokens": { "access_token": "t" } })),
        (
            ".local/share/opencode/auth.json",
            json!({
                "anthropic": { "type": "api", "key": "key of opencode" },
                "openai": { "type": "oauth", "access": "token", "refresh": "r", "expires": 1 },
            }),
        ),
    ]);
    let environment = environment(&home, &[]);
    let claude = pairs(&[
        ("ANTHROPIC_API_KEY of .claude.json", "key of claude"),
        ("CLAUDE_CODE_OAUTH_TOKEN of .claude/.credentials.json", "token of claude"),
    ]);
    assert_eq!(of("claude", &environment), claude);
    assert_eq!(of("amp", &environment), claude[..1]);
    let codex = [("OPENAI_API_KEY of .codex/auth.json", "key of codex"), (".codex/auth.json", "t")];
    assert_eq!(of("codex", &environment), pairs(&codex));
    let opencode = [
        ("ANTHROPIC_API_KEY of .local/share/opencode/auth.json", "key of opencode"),
        (".local/share/opencode/auth.json", "token"),
    ];
    assert_eq!(of("opencode", &environment), pairs(&opencode));
}

/// daemon-9: passed to agents by env, where they would not find it themselves and nobody said otherwise.
#[test]
fn an_agent_is_handed_what_another_one_keeps() {
    let home = home(&[(".claude.json", json!({ "primaryApiKey": "key of claude" }))]);
    let catalog = Catalog::new(Path::new("/own"), BTreeMap::new()).unwrap();
    let lent_to = |agent: &str, variables: &[(&str, &str)]| {
        lent_credentials(catalog.get(&agent.parse().unwrap()).unwrap(), &environment(&home, variables))
    };
    let handed = BTreeMap::from([("ANTHROPIC_API_KEY".to_owned(), "key of claude".to_owned())]);
    assert_eq!(lent_to("amp", &[]), handed);
    assert_eq!(lent_to("amp", &[("ANTHROPIC_API_KEY", "said")]), BTreeMap::new());
    assert_eq!(lent_to("claude", &[]), BTreeMap::new(), "it reads its own file");
}

#[test]
fn an_old_token_is_known_to_be_old() {
    let token = |expires_at: i64| json!({ "claudeAiOauth": { "accessToken": "t", "expiresAt": expires_at } });
    let home = home(&[(".claude/.credentials.json", token(1_000_000))]);
    let catalog = Catalog::new(Path::new("/own"), BTreeMap::new()).unwrap();
    let claude = catalog.get(&"claude".parse().unwrap()).unwrap();
    let found = find_credentials(claude, &environment(&home, &[]));
    assert!(found[0].is_valid(Timestamp::from_second(999).unwrap()));
    assert!(!found[0].is_valid(Timestamp::from_second(1_000).unwrap()));
}

/// What is no file of credentials holds none, whatever it is.
#[test]
fn odd_files_hold_nothing() {
    let home = home(&[
        (".codex/auth.json", json!({ "OPENAI_API_KEY": null, "tokens": { "access_token": 7 } })),
        (".claude.json/primaryApiKey", json!("a directory is in the way")),
        (".local/share/opencode/auth.json", json!([])),
    ]);
    fs::create_dir_all(home.path().join(".claude")).unwrap();
    fs::write(home.path().join(".claude/.credentials.json"), b"{\"claudeAiOauth\":\xff").unwrap();
    let environment = environment(&home, &[]);
    for agent in ["claude", "codex", "opencode", "amp"] {
        assert_eq!(of(agent, &environment), [], "{agent}");
    }
    assert_eq!(of("claude", &UserEnvironment::default()), []);
}

/// daemon-9: never logged.
#[test]
fn a_credential_does_not_print_itself() {
    let home = home(&[]);
    let catalog = Catalog::new(Path::new("/own"), BTreeMap::new()).unwrap();
    let claude = catalog.get(&"claude".parse().unwrap()).unwrap();
    let found = find_credentials(claude, &environment(&home, &[("ANTHROPIC_API_KEY", "hush")]));
    assert!(found.len() == 1 && !format!("{found:?}").contains("hush"));
}

/// sessions-1: `token?`: it goes to the variable of the provider whose model is chosen.
#[test]
fn a_key_goes_to_the_variable_of_its_provider() {
    let catalog = Catalog::new(Path::new("/own"), BTreeMap::new()).unwrap();
    let variable = |agent: &str, model: Option<&str>| {
        let agent = catalog.get(&agent.parse().unwrap()).unwrap();
        agent.credentials.key_variable(model).map(|variable| variable.unwrap_or_default().to_owned())
    };
    let known = |agent: &str, model: Option<&str>| variable(agent, model).unwrap();
    assert_eq!(known("opencode", Some("openai/gpt-5.1")), "OPENAI_API_KEY");
    assert_eq!(known("opencode", Some("google/gemini-2.5-flash")), "GOOGLE_GENERATIVE_AI_API_KEY");
    assert_eq!(known("pi", Some("google/gemini-2.5-flash")), "GEMINI_API_KEY");
    assert_eq!(
        known("opencode", None),
        "ANTHROPIC_API_KEY",
        "it chooses a model of the provider that it has a key of"
    );
    assert_eq!(known("claude", Some("some/model")), "ANTHROPIC_API_KEY", "it has one provider");
    assert_eq!(known("mock", None), "", "it has no key");
    for model in ["nowhere/big", "big"] {
        let error = variable("opencode", Some(model)).unwrap_err().to_string();
        assert!(error.contains(model) && error.contains("openrouter"), "{error}");
    }
}
