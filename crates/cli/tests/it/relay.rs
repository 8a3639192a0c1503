//! A device that is lent through the hub: the real hub, daemon and device, and what people type.

mod chat;
mod killed;
mod plug;
mod secret_sweep;
mod secrets;
mod slice;
mod status;

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use protocol::EnvironmentId;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{TestDaemonOptions, TestHub, within, within_blocking};

use crate::{
    TOMBOLO,
    device_tools::TOOLS,
    hub::{TOKEN, viewer::Viewer},
    secs,
};

/// A device that lends a directory, which has the file `a.txt`.
pub(crate) struct Device {
    child: Child,
    pub(crate) directory: TempDir,
}

impl Device {
    fn connect(hub: &TestHub, token: &str) -> Self {
        Self::connect_with(hub, token, &[])
    }

    /// The same, with more arguments.
    pub(crate) fn connect_with(hub: &TestHub, token: &str, arguments: &[&str]) -> Self {
        Self::connect_logging(hub, token, arguments, "info")
    }

    /// The same, with a log of this level.
    fn connect_logging(hub: &TestHub, token: &str, arguments: &[&str], level: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let code = directory.path().join("code");
        std::fs::create_dir(&code).unwrap();
        std::fs::write(code.join("a.txt"), "from the device").unwrap();
        std::fs::write(directory.path().join("token"), token).unwrap();
        let mut command = Command::new(TOMBOLO);
        command.env("HOME", directory.path()).env("TOMBOLO_LOG", level).args([
            "device",
            "connect",
            hub.base(),
            "--client-id",
            "laptop",
        ]);
        command.arg("--token-file").arg(directory.path().join("token"));
        command.arg("--data-dir").arg(directory.path().join("data"));
        command.arg("--root").arg(format!("main={}:rw", code.display())).args(arguments);
        let log = std::fs::File::create(directory.path().join("log")).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        Self { child, directory }
    }

    /// What a file of the directory holds.
    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.code(name)).unwrap()
    }

    /// Where a file of the directory is.
    pub(crate) fn code(&self, name: &str) -> PathBuf {
        self.directory.path().join("code").join(name)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!(
                "the device said:\n{}",
                std::fs::read_to_string(self.directory.path().join("log")).unwrap()
            );
        }
    }
}

/// What is typed, with the hub and its token; what it prints. It must go well.
pub(crate) fn typed(hub: &TestHub, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run(hub, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {stdout}{stderr}");
    stdout
}

fn run(hub: &TestHub, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(TOMBOLO)
        .args(arguments)
        .env("TOMBOLO_HUB", hub.base())
        .env("TOMBOLO_HUB_TOKEN", hub.token())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A device `laptop` that lends a directory, commands and a tool to the runtime `box`, once it is connected; and where its tool is.
fn lend(hub: &TestHub, approval: &str) -> (Device, TempDir) {
    lend_logging(hub, approval, "info")
}

/// The same; the device writes a log of this level.
fn lend_logging(hub: &TestHub, approval: &str, level: &str) -> (Device, TempDir) {
    let token = typed(hub, &["hub", "devices", "add", "laptop"]);
    let grant = ["hub", "grants", "add", "laptop", "--runtime", "box", "--root", "main:rw", "--tools"];
    typed(hub, &[&grant[..], &["--shell", approval, "--env", "API_KEY"]].concat());
    let tools = TempDir::new().unwrap();
    let file = tools.path().join("tools.toml");
    std::fs::write(&file, TOOLS).unwrap();
    let arguments = ["--shell", "--shell-env", "API_KEY", "--tools", file.to_str().unwrap()];
    let device = Device::connect_logging(hub, token.trim(), &arguments, level);
    within_blocking(secs(20), || typed(hub, &["hub", "devices", "list"]).contains("tools"));
    (device, tools)
}

/// An environment of the runtime `box` with the device `laptop`: its name and its secret.
fn environment(hub: &TestHub) -> (EnvironmentId, String) {
    let add = ["hub", "environments", "add", "--runtime", "box", "--device", "laptop", "--json"];
    let added: Value = serde_json::from_str(&typed(hub, &add)).unwrap();
    let id = added["environment"]["id"].as_str().unwrap().parse().unwrap();
    (id, added["secret"].as_str().unwrap().to_owned())
}

/// Another environment with the device `laptop` for a session of the runtime `box`: its id and its secret.
fn session_environment(hub: &TestHub, session: &str) -> (String, String) {
    let add = [
        "hub",
        "environments",
        "add",
        "--runtime",
        "box",
        "--device",
        "laptop",
        "--session",
        session,
        "--json",
    ];
    let added: Value = serde_json::from_str(&typed(hub, &add)).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&added["environment"]["id"]), text(&added["secret"]))
}

/// What comes of asking once.
async fn ask(hub: &TestHub, (id, secret): (&str, &str), method: &str, params: Value) -> Value {
    let path = format!("/api/v1/relay/environments/{id}/requests");
    let context = json!({ "tool_call_id": "call-1", "run_id": "run-1" });
    let body = json!({ "method": method, "params": params, "context": context });
    let response = hub.request_as(secret, Method::POST, &path).json(&body).send().await.unwrap();
    response.json().await.unwrap()
}

/// relay-116, relay-152, relay-154, relay-169, relay-177, relay-178: a device is let in, granted and used by a session; those who watch the session see each
/// request, the audit proves it, and one command shows everything.
#[tokio::test]
async fn a_session_uses_a_device_and_everybody_can_tell() {
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    let token = typed(&hub, &["hub", "devices", "add", "laptop"]);
    let grant =
        ["hub", "grants", "add", "laptop", "--runtime", "box", "--root", "main:rw", "--shell", "allow"];
    assert!(typed(&hub, &grant).contains("fileops(main:rw) shell(allow)"));
    let device = Device::connect(&hub, token.trim());
    within_blocking(secs(20), || typed(&hub, &["hub", "devices", "list"]).contains("fileops"));
    let create = json!({ "agent": "mock", "environment": { "clientId": "laptop" } });
    let made =
        hub.request(Method::POST, "/api/runtimes/box/v1/sessions/demo").json(&create).send().await.unwrap();
    assert_eq!(made.status(), 200, "{}", made.text().await.unwrap());
    assert!(typed(&hub, &["hub", "environments", "list"]).contains("demo"));

    let mut viewer = Viewer::new(&hub, "demo", None).await;
    until(&mut viewer, |frame| frame["control"]["type"] == "live").await;
    let (id, secret) = session_environment(&hub, "demo");
    let door = (id.as_str(), secret.as_str());
    let read = ask(&hub, door, "file.read", json!({ "root_id": "main", "path": "a.txt" })).await;
    assert_eq!(read["result"]["content"], "from the device", "{read}");
    let write = json!({ "root_id": "main", "path": "b.txt", "content": "from the agent" });
    ask(&hub, door, "file.write", write).await;
    assert_eq!(device.file("b.txt"), "from the agent");
    let refused = ask(&hub, door, "file.read", json!({ "root_id": "other", "path": "a" })).await;
    assert_eq!(refused["relay"]["code"], "permission_denied");

    let seen = until(&mut viewer, |frame| {
        let call = &frame["control"];
        call["type"] == "relay" && call["method"] == "file.write" && call["status"] == "succeeded"
    })
    .await;
    let call = &seen["control"];
    assert_eq!((&call["target"], &call["tool_call_id"]), (&json!("/workspace/main/b.txt"), &json!("call-1")));
    assert!(call["duration_ms"].is_u64() && call["policy_decision"] == "allowed", "{call}");

    within_blocking(secs(10), || typed(&hub, &["audit", "list"]).lines().count() == 6);
    let list = typed(&hub, &["audit", "list"]);
    assert!(list.contains("/workspace/main/b.txt") && list.contains("blocked"), "{list}");
    assert!(typed(&hub, &["audit", "verify"]).starts_with("intact: entries 1 to 5, last hash "));
    let status = typed(&hub, &["hub", "relay", "status"]);
    assert!(status.contains("laptop") && status.contains("audit head: 5 "), "{status}");
    assert!(!status.contains(device.directory.path().to_str().unwrap()), "no path of the device is told");

    let deleted = hub.request(Method::DELETE, "/api/runtimes/box/v1/sessions/demo").send().await.unwrap();
    assert!(deleted.status().is_success());
    assert_eq!(typed(&hub, &["hub", "environments", "list"]).lines().count(), 1, "only the head is left");
    typed(&hub, &["hub", "devices", "stop", "laptop"]);
    within_blocking(secs(5), || !typed(&hub, &["hub", "devices", "list"]).contains("fileops"));
}

/// relay-154: a record in a file is verified too, and the first entry that does not hold is named.
#[tokio::test]
async fn a_record_in_a_file_is_verified() {
    let hub = TestHub::start(TOMBOLO);
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("audit.jsonl");
    let entry = |id: &str| {
        serde_json::from_value(json!({
            "id": id, "connection_id": "c", "client_id": "laptop", "method": "file.read", "capability": "fileops",
            "policy_decision": "allowed", "started_at": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    };
    let (mut head, mut lines) = (None, Vec::new());
    for id in ["a", "b", "c"] {
        let mut line = Vec::new();
        head = Some(protocol::relay::audit::chain::append(head.as_ref(), entry(id), &mut line));
        lines.push(String::from_utf8(line).unwrap());
    }
    let verify = |lines: &[String], file: &Path| {
        std::fs::write(file, lines.join("\n")).unwrap();
        run(&hub, &["audit", "verify", "--file", file.to_str().unwrap()])
    };
    let (code, stdout, _) = verify(&lines, &file);
    assert_eq!(code, Some(0));
    assert!(
        stdout.starts_with("intact: entries 1 to 3, last hash ")
            && stdout.contains("3 requests have no recorded end"),
        "{stdout}"
    );
    let changed = [lines[0].clone(), lines[1].replace("file.read", "file.stat"), lines[2].clone()];
    for (lines, named) in
        [(changed.to_vec(), "entry 2"), (vec![lines[0].clone(), lines[2].clone()], "entry 2")]
    {
        let (code, _, stderr) = verify(&lines, &file);
        assert!(code != Some(0) && stderr.contains(named), "{stderr}");
    }
}

/// The next frame like this; all others are passed over.
async fn until(viewer: &mut Viewer, is_it: impl Fn(&Value) -> bool) -> Value {
    within(secs(30), async {
        loop {
            let frame = viewer.next().await.unwrap();
            if is_it(&frame) {
                return frame;
            }
        }
    })
    .await
}
