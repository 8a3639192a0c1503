//! `tombolo credentials extract`, on made-up homes.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Run, tombolo};

fn home() -> TempDir {
    let home = TempDir::new().unwrap();
    let write = |path: &str, content: Value| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
    };
    write(".claude.json", json!({ "primaryApiKey": "it's a \"$key\"" }));
    write(".claude/.credentials.json", json!({ "claudeAiOauth": { "accessToken": "old", "expiresAt": 1 } }));
    write(".codex/auth.json", json!({ "tokens": { "access_token": "only in a file" } }));
    home
}

fn extract(home: &Path, arguments: &[&str]) -> String {
    let mut command: Command = tombolo();
    command.env_clear().env("HOME", home).env("CODEX_API_KEY", "of the environment");
    Run::of(command.args(["credentials", "extract"]).args(arguments).output().unwrap()).ok()
}

/// daemon-9: what is exported is what was found, whatever characters are in it, and only what can be used.
#[test]
fn a_shell_gets_the_credentials_that_were_found() {
    let home = home();
    let exports = extract(home.path(), &["--export"]);
    let script = format!(
        "{exports}\nprintf '%s|%s|%s' \"$ANTHROPIC_API_KEY\" \"$CODEX_API_KEY\" \"$CLAUDE_CODE_OAUTH_TOKEN\""
    );
    let said = Command::new("sh").env_clear().args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(said.stdout).unwrap(), "it's a \"$key\"|of the environment|");
    assert!(!exports.contains("only in a file"));
    let claude = extract(home.path(), &["--export", "--agent", "claude"]);
    assert_eq!(claude.lines().count(), 1);
}

/// daemon-9: shown is where they are, never what they are.
#[test]
fn nothing_else_shows_them() {
    let home = home();
    for arguments in [&[][..], &["--json"]] {
        let shown = extract(home.path(), arguments);
        for secret in ["it's", "$key", "of the environment", "only in a file"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains(".codex/auth.json") && shown.contains("CODEX_API_KEY"), "{shown}");
    }
    let json: Value = serde_json::from_str(&extract(home.path(), &["--json", "--agent", "claude"])).unwrap();
    let old = json!({
        "agent": "claude", "variable": "CLAUDE_CODE_OAUTH_TOKEN", "file": ".claude/.credentials.json",
        "expiresAt": "1970-01-01T00:00:00.001Z", "valid": false,
    });
    assert_eq!(json[1], old);
}

#[test]
fn an_unknown_agent_is_refused() {
    let output = tombolo().args(["credentials", "extract", "--agent", "nobody"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no agent `nobody`"));
}
