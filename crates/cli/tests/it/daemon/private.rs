//! What the daemon stores is private: other users of the machine read nothing of it, and the journal holds no secrets.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions};

use crate::TOMBOLO;

const KEY: &str = "sk-canary-of-env";
const HEADER: &str = "Bearer canary-of-header";

/// All files and directories below `directory`, and itself.
fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![directory.to_path_buf()];
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.symlink_metadata().unwrap().is_dir() {
            true => found.extend(walk(&path)),
            false => found.push(path),
        }
    }
    found
}

fn data_dir(daemon: &TestDaemon) -> PathBuf {
    daemon.home().join(".local/share/tombolo")
}

/// An agent that writes the key it was given to the file `seen` before it starts.
fn start() -> TestDaemon {
    let script = format!("printenv API_KEY >> seen; exec {TOMBOLO} mock-agent");
    TestDaemonOptions::default().agent("spy", &["sh", "-c", &script]).start(TOMBOLO)
}

fn request() -> Value {
    let server =
        json!({ "type": "remote", "url": "http://127.0.0.1:1/", "headers": { "Authorization": HEADER } });
    json!({ "agent": "spy", "env": { "API_KEY": KEY }, "mcp": { "tools": server } })
}

fn contains(content: &[u8], word: &str) -> bool {
    content.windows(word.len()).any(|window| window == word.as_bytes())
}

#[tokio::test]
async fn the_secrets_of_a_session_are_in_one_private_file_and_survive_a_restart() {
    let mut daemon = start();
    assert_eq!(daemon.post("/v1/sessions/s", &request()).await.status(), 200);
    for path in walk(&data_dir(&daemon)) {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
        if path.is_file() && !path.ends_with("secrets.json") {
            let content = fs::read(&path).unwrap();
            assert!(!contains(&content, KEY) && !contains(&content, HEADER), "{}", path.display());
        }
    }
    daemon.kill_and_restart();
    // The same request finds the session, and its agent has the key again.
    assert_eq!(daemon.post("/v1/sessions/s", &request()).await.status(), 200);
    assert_eq!(fs::read_to_string(daemon.home().join("seen")).unwrap(), format!("{KEY}\n{KEY}\n"));
    let other = json!({ "agent": "spy", "env": { "API_KEY": "another" } });
    assert_eq!(daemon.post("/v1/sessions/s", &other).await.status(), 409);
    assert_eq!(daemon.delete("/v1/sessions/s").await.status(), 204);
    assert!(walk(&data_dir(&daemon)).iter().all(|path| !path.ends_with("secrets.json")));
}

#[tokio::test]
async fn a_data_directory_that_others_could_read_is_made_private() {
    let mut daemon = start();
    assert_eq!(daemon.post("/v1/sessions/s", &json!({ "agent": "mock" })).await.status(), 200);
    let data = data_dir(&daemon);
    let database = data.join("sessions/sessions.db");
    let open = |path: &Path, mode: u32| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    open(&data, 0o755);
    open(&database, 0o644);
    daemon.kill_and_restart();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&database)), (0o700, 0o600));
}

/// Starts a daemon with this data directory, which must fail, and returns its message.
pub(crate) fn refused(data_dir: &Path) -> String {
    let mut command = Command::new(TOMBOLO);
    command.args(["daemon", "--port", "0", "--data-dir"]).arg(data_dir).env_remove("TOMBOLO_TOKEN");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    // A daemon that starts after all would run for ever.
    let _ = child.kill();
    assert_eq!(line, "");
    String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap()
}

#[tokio::test]
async fn the_first_session_creates_the_database() {
    let daemon = start();
    let database = data_dir(&daemon).join("sessions/sessions.db");
    assert_eq!(daemon.get("/v1/health").await.status(), 200);
    assert!(!database.exists());
    assert_eq!(daemon.post("/v1/sessions/s", &json!({ "agent": "mock" })).await.status(), 200);
    assert!(database.exists());
}

#[tokio::test]
async fn a_daemon_that_cannot_use_its_data_directory_does_not_start() {
    let daemon = start();
    let message = refused(&data_dir(&daemon));
    assert!(message.contains("--data-dir") && message.contains("in use"), "{message}");
    // Also by the lock of the database, which a daemon of an earlier version holds alone.
    assert_eq!(daemon.post("/v1/sessions/s", &json!({ "agent": "mock" })).await.status(), 200);
    let message = refused(&data_dir(&daemon));
    assert!(message.contains("--data-dir") && message.contains("in use"), "{message}");
    let file = daemon.home().join("config.toml");
    let message = refused(&file);
    assert!(message.contains("could not use the data directory"), "{message}");
}
