use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

use agent_catalog::{Catalog, SearchPath, UserEnvironment};
use agent_install::{Config, Installer};
use secrecy::ExposeSecret;
use tempfile::TempDir;

fn user_environment(home: &TempDir, variables: &[(&str, &str)]) -> UserEnvironment {
    let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    UserEnvironment { variables, home: Some(home.path().into()), project: None }
}

/// The agent itself reports whether its user is logged in, so that a login in a keyring counts too. The key of a variable that other
/// programs use as well does not replace that login.
#[tokio::test]
async fn an_agent_is_logged_in_with_a_key_if_its_user_is_not() {
    let directory = TempDir::new().unwrap();
    let program = directory.path().join("codex");
    let installer = |variables: &[(&str, &str)], logged_in: bool| {
        fs::write(&program, format!("#!/bin/sh\nexit {}\n", i32::from(!logged_in))).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let config = Config {
            environment: user_environment(&directory, variables),
            search_path: SearchPath::new(directory.path()),
            ..Config::default()
        };
        Installer::new(config, Catalog::new(Path::new("/own"), BTreeMap::new()).unwrap())
    };
    let key = async |installer: Installer, agent: &str, own: &[(&str, &str)]| {
        let agent = installer.agent(&agent.parse().unwrap()).await.unwrap();
        let own = own.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let key = installer.login_key(&agent, directory.path(), &own).await;
        key.map(|key| key.expose_secret().to_owned()).unwrap_or_default()
    };
    let both = [("OPENAI_API_KEY", "o"), ("CODEX_API_KEY", "c")];
    assert_eq!(key(installer(&both, true), "codex", &[]).await, "c");
    assert_eq!(key(installer(&both, true), "codex", &[("CODEX_API_KEY", "")]).await, "", "the login");
    assert_eq!(key(installer(&both[..1], true), "codex", &[]).await, "", "the login");
    assert_eq!(key(installer(&both[..1], false), "codex", &[]).await, "o");
    assert_eq!(key(installer(&both[..1], false), "codex", &[("OPENAI_API_KEY", " own\n")]).await, "own");
    assert_eq!(
        key(installer(&[("ANTHROPIC_API_KEY", "a")], false), "claude", &[]).await,
        "",
        "it reads its own"
    );
}
