//! Data directories and configuration files that an earlier release wrote still work.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use testkit::within_blocking;

use crate::{TOMBOLO, secs};

/// A child process that ends with the test, also when the test fails.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `tombolo up` on a copy of the data that release 0.1.0 wrote.
struct UpgradedInstallation {
    _up: KillOnDrop,
    home: TempDir,
    daemon: String,
    hub: String,
    hub_token: String,
}

impl UpgradedInstallation {
    fn start() -> Self {
        let home = TempDir::new().unwrap();
        let data = home.path().join("data");
        copy_tree(&fixture(), &data);
        let tokens = fs::read_to_string(data.join("tokens")).unwrap();
        let hub_token = tokens.lines().find_map(|line| line.strip_prefix("TOKEN=")).unwrap().to_owned();
        let mut child = Command::new(TOMBOLO)
            .args(["up", "--port", "0", "--config"])
            .arg(data.join("agents.toml"))
            .arg("--data-dir")
            .arg(&data)
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut next_url = || {
            let line = lines.next().expect("`up` ended before it printed where it listens");
            line.split(' ').find(|word| word.starts_with("http://")).unwrap_or_default().to_owned()
        };
        let (daemon, hub) = (next_url(), next_url());
        Self { _up: KillOnDrop(child), home, daemon, hub, hub_token }
    }

    /// Runs `tombolo ARGS --json` and parses its output.
    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[args, &["--json"]].concat())).unwrap()
    }

    /// Runs `tombolo ARGS`, which must succeed.
    fn run(&self, args: &[&str]) -> String {
        let output = Command::new(TOMBOLO)
            .args(args)
            .env("HOME", self.home.path())
            .env("TOMBOLO_ENDPOINT", &self.daemon)
            .env("TOMBOLO_TOKEN", fs::read_to_string(self.home.path().join("data/daemon-token")).unwrap())
            .env("TOMBOLO_HUB", &self.hub)
            .env("TOMBOLO_HUB_TOKEN", &self.hub_token)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/upgrade/0.1.0")
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn sessions_of_the_previous_release_keep_their_events_and_go_on() {
    let installation = UpgradedInstallation::start();
    let sessions = installation.json(&["api", "sessions", "list"]).to_string();
    assert!(sessions.contains("\"fix\"") && sessions.contains("\"done\""), "{sessions}");
    let done = installation.json(&["api", "sessions", "get", "done"]);
    assert_eq!(done["title"], "Done", "{done}");
    let events = installation.json(&["api", "sessions", "events", "done"]);
    let before = events.to_string();
    assert!(before.contains("hello") && before.contains("turnEnded"), "{before}");

    // The previous release stored messages without times.
    let messages = installation.json(&["api", "sessions", "messages", "done"]);
    let messages = messages["items"].as_array().unwrap();
    assert!(messages.len() >= 2, "{messages:?}");
    for message in messages {
        let records = events["events"].as_array().unwrap().iter().filter(|record| {
            let event = &record["event"];
            event["message"]["id"] == message["id"] || event["messageDelta"]["messageId"] == message["id"]
        });
        let times: Vec<_> = records.map(|record| &record["time"]).collect();
        let expected = (times.first().copied(), times.last().copied());
        assert_eq!((message.get("createdAt"), message.get("updatedAt")), expected, "{message}");
    }

    installation.json(&["api", "sessions", "send", "done", "again"]);
    let ended_turns = || {
        let events = installation.json(&["api", "sessions", "events", "done"]).to_string();
        events.matches("turnEnded").count()
    };
    within_blocking(secs(30), || ended_turns() == 2);
    let messages = installation.json(&["api", "sessions", "messages", "done"]).to_string();
    assert!(messages.contains("hello") && messages.contains("again"), "{messages}");
}

#[test]
fn the_hub_of_the_previous_release_keeps_users_runtimes_devices_grants_and_its_audit() {
    let installation = UpgradedInstallation::start();
    for (args, names) in [
        (["hub", "users", "list"], ["ana", "owner"]),
        (["hub", "tokens", "list"], ["bootstrap", "owner"]),
        (["hub", "runtimes", "list"], ["far", "local"]),
        (["hub", "devices", "list"], ["laptop", "default"]),
        (["hub", "grants", "list"], ["/workspace/main", "ask_once_per_run"]),
        (["hub", "environments", "list"], ["env_", "laptop"]),
    ] {
        let listed = installation.json(&args).to_string();
        names.iter().for_each(|name| assert!(listed.contains(name), "{args:?} lost {name}: {listed}"));
    }
    installation.run(&["audit", "verify"]);
}

#[test]
fn a_device_of_the_previous_release_connects_with_its_pairing_and_keeps_its_audit() {
    let installation = UpgradedInstallation::start();
    let data = installation.home.path().join("data");
    // The fixture's hub listened on another port.
    let paired = data.join("device/device/laptop/paired.json");
    let text = fs::read_to_string(&paired).unwrap();
    fs::write(&paired, text.replace("http://127.0.0.1:24701", &installation.hub)).unwrap();
    fs::create_dir(installation.home.path().join("code")).unwrap();

    let device = Command::new(TOMBOLO)
        .args(["device", "connect", &installation.hub, "--client-id", "laptop", "--config"])
        .arg(data.join("device.toml"))
        .arg("--data-dir")
        .arg(data.join("device"))
        .env("HOME", installation.home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let device = KillOnDrop(device);
    within_blocking(secs(30), || {
        let devices = installation.json(&["hub", "devices", "list"]);
        !devices["items"][0]["connection"].is_null()
    });
    drop(device);

    let audit = data.join("device/device/laptop/audit/audit.jsonl");
    let verifies = || {
        let verify = Command::new(TOMBOLO).args(["audit", "verify", "--file"]).arg(&audit).output().unwrap();
        verify.status.success()
    };
    assert!(verifies());
    let entries = fs::read_to_string(&audit).unwrap();
    fs::write(&audit, entries.replacen("file.read", "file.list", 1)).unwrap();
    assert!(!verifies(), "a changed entry must be found");
}
