//! A device and the real hub: let in by a code, used, and sent away.

use std::{
    io::{BufRead, BufReader},
    process::ChildStdout,
};

use reqwest::Method;
use serde_json::json;
use testkit::TestHub;

use super::*;

/// A device that waits to be let in.
struct Waiting {
    child: Child,
    code: String,
    _stdout: BufReader<ChildStdout>,
}

impl Waiting {
    /// Wants to be let in, with a directory and commands.
    fn start(place: &Place, hub: &TestHub) -> Self {
        let mut command =
            place.device(&["pair", hub.base(), "--client-id", "laptop", "--root", "main=code:rw", "--shell"]);
        let log = File::create(place.path("pair.log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut code = String::new();
        stdout.read_line(&mut code).unwrap();
        Self { child, code: code.trim().to_owned(), _stdout: stdout }
    }

    fn ended(mut self) -> Option<i32> {
        let mut status = None;
        within_blocking(secs(10), || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.and_then(|status| status.code())
    }
}

/// What a hub answers.
async fn tell(hub: &TestHub, token: &str, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let response = hub.request_as(token, method, path).json(body).send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.json().await.unwrap_or_default())
}

async fn confirmed(hub: &TestHub, code: &str) {
    hub.add_runtime("box", "http://127.0.0.1:9", None).await;
    let root = json!({ "root_id": "main", "virtual_path": "/workspace/main", "mode": "ro" });
    let confirm = json!({
        "runtimes": ["box"],
        "capabilities": [{ "capability": "fileops", "enabled": true, "roots": [root] }],
    });
    let path = format!("/api/devices/pairings/{code}/confirm");
    let (status, answer) = tell(hub, hub.token(), Method::POST, &path, &confirm).await;
    assert_eq!(status, 201, "{answer}");
}

/// Issue 6: "`tombolo device pair` shows a short code that is confirmed in the hub; no token copying".
/// relay-24 to relay-26, relay-170: what is used is what was granted of what is lent.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_paired_lent_and_sent_away() {
    let (hub, place) = (TestHub::start(TOMBOLO), Place::new());
    let waiting = Waiting::start(&place, &hub);
    let path = format!("/api/devices/pairings/{}", waiting.code);
    let (_, asked) = tell(&hub, hub.token(), Method::GET, &path, &json!(null)).await;
    assert_eq!(asked["clientId"], "laptop");
    assert_eq!(asked["capabilities"]["fileops"]["roots"][0]["root_id"], "main", "{asked}");
    assert_eq!(asked["capabilities"]["shell"]["runtime"], "sandboxed_local_shell", "{asked}");
    confirmed(&hub, &waiting.code).await;
    assert_eq!(waiting.ended(), Some(0));
    let kept = place.path("data/device/laptop/paired.json");
    assert_eq!(mode(&kept), 0o600);
    let token = serde_json::from_slice::<Value>(&std::fs::read(&kept).unwrap()).unwrap()["token"].clone();
    let said = std::fs::read_to_string(place.path("pair.log")).unwrap();
    assert!(said.contains("paired as laptop") && !said.contains(token.as_str().unwrap()), "{said}");

    // Neither the hub nor the token has to be said again.
    let log = File::create(place.path("stderr.log")).unwrap();
    let mut command = place.device(&["connect", "--root", "main=code:rw", "--shell"]);
    let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let mut lender = Lender { child, place };
    lender.said("accepted: fileops");
    let status = lender.place.status().unwrap();
    assert_eq!(status["connection"]["acceptedCapabilities"], json!(["fileops"]), "{status}");
    assert_eq!(status["connection"]["acceptedRoots"][0]["mode"], "ro", "{status}");

    std::fs::write(lender.place.path("code/a.txt"), "hello").unwrap();
    let environment = json!({ "runtimeId": "box", "sessionId": "s-1", "clientId": "laptop" });
    let (status, made) =
        tell(&hub, hub.token(), Method::POST, "/api/v1/relay/environments", &environment).await;
    assert_eq!(status, 201, "{made}");
    let path = format!("/api/v1/relay/environments/{}/requests", made["environment"]["id"].as_str().unwrap());
    let secret = made["secret"].as_str().unwrap();
    let read = json!({ "method": "file.read", "params": { "root_id": "main", "path": "a.txt", "encoding": "utf-8" } });
    let (status, answer) = tell(&hub, secret, Method::POST, &path, &read).await;
    assert_eq!((status, &answer["result"]["content"]), (200, &json!("hello")), "{answer}");
    let write = json!({
        "method": "file.write",
        "params": { "root_id": "main", "path": "b.txt", "content": "x", "encoding": "utf-8" },
    });
    let (status, answer) = tell(&hub, secret, Method::POST, &path, &write).await;
    assert_eq!(status, 403, "{answer}");
    assert!(!lender.place.path("code/b.txt").exists());
    assert_eq!(lender.place.status().unwrap()["sessions"][0]["sessionId"], "s-1");
    lender.said("session s-1 uses this device");

    // relay-157: a token that was revoked is of no use, and the device does not try for ever.
    let (status, _) = tell(&hub, hub.token(), Method::DELETE, "/api/devices/laptop", &json!(null)).await;
    assert_eq!(status, 204);
    assert_eq!(lender.ended(), Some(1));
    let log = lender.log();
    assert!(!log.contains(token.as_str().unwrap()), "{log}");
}

/// Whoever says no is heard.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_is_not_wanted_is_told() {
    let (hub, place) = (TestHub::start(TOMBOLO), Place::new());
    let waiting = Waiting::start(&place, &hub);
    let path = format!("/api/devices/pairings/{}/refuse", waiting.code);
    let (status, _) = tell(&hub, hub.token(), Method::POST, &path, &json!(null)).await;
    assert_eq!(status, 204);
    assert_eq!(waiting.ended(), Some(1));
    assert!(!place.path("data/device/laptop/paired.json").exists());
}

/// A token is shown to nobody but the hub that made it.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_for_one_hub() {
    let (hub, place) = (TestHub::start(TOMBOLO), Place::new());
    let waiting = Waiting::start(&place, &hub);
    confirmed(&hub, &waiting.code).await;
    assert_eq!(waiting.ended(), Some(0));
    let other = StandIn::start().await;
    let output = place.run(&["connect", other.base()]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("is not paired with this hub"));
}
