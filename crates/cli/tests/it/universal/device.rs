//! A real agent, in a daemon, that uses a device in another place: files and a command, through the hub and the relay.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestHub, within, within_blocking};

use super::{
    agent::{AMP_LOCAL, Agent, CLAUDE, CODEX, GEMINI, OPENCODE},
    stage::Stage,
    turn::Turn,
};
use crate::{
    relay::{Device, typed},
    secs,
};

/// How long a turn may take: an agent that starts on a busy machine, and four calls.
const TURN_MAX: Duration = Duration::from_secs(180);

/// How often is looked whether somebody is asked; not faster than one token may ask.
const LOOK: Duration = Duration::from_millis(100);

/// The session, as the hub knows it.
const SESSION: &str = "/api/runtimes/box/v1/sessions/a";

/// What only the file of the device says, before.
const BEFORE: &str = "the keeper of the light is Ada\n";

/// What the agent makes of it.
const AFTER: &str = "the keeper of the light is Grace\n";

/// What a command writes, which is nowhere in the prompt.
const WRITTEN: &str = "beacon-42";

/// Hub, daemon with an agent, and device.
struct Lent {
    stage: Stage,
    hub: TestHub,
    device: Device,
}

impl Lent {
    async fn new(agent: &'static Agent) -> Self {
        let stage = Stage::new(agent).await;
        let hub = TestHub::start(crate::TOMBOLO);
        hub.add_runtime("box", stage.daemon.base(), None).await;
        let token = typed(&hub, &["hub", "devices", "add", "laptop"]);
        let grant = ["hub", "grants", "add", "laptop", "--runtime", "box", "--root", "main:rw"];
        typed(&hub, &[&grant[..], &["--shell", "always_ask"]].concat());
        let device = Device::connect_with(&hub, token.trim(), &["--shell"]);
        fs::write(device.code("light.txt"), BEFORE).unwrap();
        within_blocking(secs(20), || typed(&hub, &["hub", "devices", "list"]).contains("shell"));
        Self { stage, hub, device }
    }

    /// What the hub answers; it must go well.
    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let mut request = self.hub.request(method, path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
        response.json().await.unwrap_or_default()
    }

    /// How the model of the agent calls a tool of the device.
    fn call(&self, tool: &str, arguments: &Value) -> String {
        let name = self.stage.agent.mcp_tool.expect("an agent that uses MCP");
        format!("tool:{} {arguments}", name.replace("everything", "device").replace("echo", tool))
    }

    /// Sends a message and waits for the end of its turn; what was asked on the way, all of which is allowed in the inbox.
    async fn turn(&self, message: &str) -> (Turn, Vec<Value>) {
        let body = json!({ "message": message });
        self.ask(Method::POST, &format!("{SESSION}/messages"), Some(body)).await;
        let (deadline, mut asked, mut records) = (Instant::now() + TURN_MAX, Vec::<Value>::new(), Vec::new());
        loop {
            let path = format!("{SESSION}/events?offset={}", records.len());
            let page = self.ask(Method::GET, &path, None).await;
            records.extend(page["events"].as_array().unwrap().iter().cloned());
            let turn = Turn::of(&records);
            if !turn.reason.is_empty() {
                return (turn, asked);
            }
            let waits = self.ask(Method::GET, "/api/waits", None).await;
            for wait in waits["items"].as_array().unwrap() {
                if asked.iter().all(|known| known["id"] != wait["id"]) {
                    self.allow(wait).await;
                    asked.push(wait.clone());
                }
            }
            assert!(Instant::now() < deadline, "the turn does not end: {turn:?} {asked:?}");
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn allow(&self, wait: &Value) {
        if is_of_the_device(wait) {
            assert!(!self.device.code("ran.txt").exists(), "nothing runs before somebody has agreed");
        }
        let path = format!("/api/waits/box/{}", wait["id"].as_str().unwrap());
        self.ask(Method::POST, &path, Some(json!({ "answer": { "permission": "once" } }))).await;
    }

    /// What was written down of a method, once `count` of it have ended.
    async fn recorded(&self, method: &str, count: usize) -> Vec<Value> {
        let ended = async {
            loop {
                let page = self.ask(Method::GET, "/api/v1/relay/audit", None).await;
                let mut all = page["items"].as_array().unwrap().clone();
                all.retain(|entry| entry["method"] == method && !entry["status"].is_null());
                if all.len() >= count {
                    return all;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        within(secs(10), ended).await
    }

    /// Whether the model was told this.
    fn model_knows(&self, text: &str) -> bool {
        self.stage.model.requests().iter().any(|seen| seen.body.to_string().contains(text))
    }
}

/// Whether it is the hub that asks, before a command runs on the device; agents ask too.
fn is_of_the_device(wait: &Value) -> bool {
    wait["request"]["permission"]["tool"] == "shell.start"
}

/// relay-90, relay-116, relay-140, relay-152, relay-154: a real agent reads and edits a file and runs a command on a device that is in another place.
/// Somebody is asked before the command, besides what the agent itself asks before; the record tells each step.
async fn uses_a_device(agent: &'static Agent, asks_before: &[&str]) {
    let lent = Lent::new(agent).await;
    let wish = lent.stage.create_request(&json!({ "environment": { "clientId": "laptop" } }));
    let created = lent.ask(Method::POST, SESSION, Some(wish)).await;
    assert_eq!(created["healthy"], true, "{created}");

    let file = "/workspace/main/light.txt";
    let steps = [
        lent.call("read_file", &json!({ "path": file })),
        lent.call("edit_file", &json!({ "path": file, "old_text": "Ada", "new_text": "Grace" })),
        lent.call("run_command", &json!({ "command": "echo beacon-$((40 + 2)) && cp light.txt ran.txt" })),
    ];
    let (turn, asked) = lent.turn(&steps.join(" ;; ")).await;
    assert_eq!((turn.reason.as_str(), &turn.errors[..]), ("completed", &[][..]), "{turn:?}");

    // On the device it is done, and the model knows what came of it.
    assert_eq!(
        (lent.device.file("light.txt").as_str(), lent.device.file("ran.txt").as_str()),
        (AFTER, AFTER)
    );
    assert!(lent.model_knows(BEFORE.trim()) && lent.model_knows(WRITTEN), "{turn:?}");
    assert!(turn.text.contains(WRITTEN), "{turn:?}");
    // Where the agent runs, it is not; and the agent knows neither the paths of the device nor a way in.
    assert_eq!(named(&lent.stage.daemon.home(), &["light.txt", "ran.txt"]), [] as [PathBuf; 0]);
    let place = lent.device.directory.path().to_str().unwrap();
    assert!(!lent.model_knows(place) && !lent.model_knows("tombolo_env_"));

    let [wait] = &asked.iter().filter(|wait| is_of_the_device(wait)).collect::<Vec<_>>()[..] else {
        panic!("somebody is asked once for the device: {asked:?}")
    };
    assert_eq!(wait["sessionId"], "a");
    let own = asked.iter().filter(|wait| !is_of_the_device(wait));
    let own: Vec<_> = own.map(|wait| wait["request"]["permission"]["tool"].as_str().unwrap()).collect();
    let as_wanted = own.iter().zip(asks_before).all(|(tool, wanted)| tool.ends_with(wanted));
    assert!(own.len() == asks_before.len() && as_wanted, "{own:?}");
    // Who edits a file reads it before.
    for (method, count, decision) in
        [("file.read", 2, "allowed"), ("file.write", 1, "allowed"), ("shell.start", 1, "approved")]
    {
        let entries = lent.recorded(method, count).await;
        assert_eq!(entries.len(), count, "{entries:?}");
        for entry in entries {
            assert_eq!(
                (&entry["session_id"], &entry["client_id"]),
                (&json!("a"), &json!("laptop")),
                "{entry}"
            );
            assert_eq!(
                (&entry["policy_decision"], &entry["status"]),
                (&json!(decision), &json!("succeeded")),
                "{entry}"
            );
            if let Some(id) = entry["tool_call_id"].as_str() {
                assert!(turn.calls.iter().any(|call| call["callId"] == id), "{entry} {turn:?}");
            }
            if decision == "approved" {
                let summary = &entry["summary"];
                assert_eq!((&summary["approved_by"], &summary["wait_id"]), (&json!("owner"), &wait["id"]));
            } else {
                assert_eq!(entry["virtual_path"], file, "{entry}");
            }
        }
    }
    assert!(typed(&lent.hub, &["audit", "verify"]).starts_with("intact: "));
    let own = lent.device.directory.path().join("data/device/laptop/audit/audit.jsonl");
    assert!(typed(&lent.hub, &["audit", "verify", "--file", own.to_str().unwrap()]).starts_with("intact: "));

    assert!(typed(&lent.hub, &["hub", "environments", "list"]).contains("laptop"));
    lent.ask(Method::DELETE, SESSION, None).await;
    let left = typed(&lent.hub, &["hub", "environments", "list"]);
    assert_eq!(left.lines().count(), 1, "only the head is left: {left}");
}

/// The files below a directory that are called so; links are not followed.
fn named(directory: &Path, names: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => named(&entry.path(), names),
        _ => vec![entry.path()],
    });
    below.filter(|path| names.iter().any(|name| path.ends_with(name))).collect()
}

#[tokio::test]
async fn claude() {
    uses_a_device(&CLAUDE, &["read_file", "edit_file", "run_command"]).await;
}

#[tokio::test]
async fn codex() {
    uses_a_device(&CODEX, &["edit_file", "run_command"]).await;
}

#[tokio::test]
async fn opencode() {
    uses_a_device(&OPENCODE, &[]).await;
}

#[tokio::test]
async fn gemini() {
    // It names a command by the command line.
    let asks = ["read_file (device MCP Server)", "edit_file (device MCP Server)", "cp light.txt ran.txt"];
    uses_a_device(&GEMINI, &asks).await;
}

#[tokio::test]
async fn amp() {
    uses_a_device(&AMP_LOCAL, &[]).await;
}
