//! `tombolo up`: daemon and hub in one process.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;
use testkit::IS_SANDBOX;

use super::{
    forwarded::check_large_bodies,
    passed::{check_inbox, check_terminal},
    *,
};

/// What it writes to standard error, in its home.
const LOG: &str = "stderr.log";

/// Ends with the test.
pub(crate) struct Up {
    child: Child,
    home: PathBuf,
    pub(crate) daemon: String,
    pub(crate) hub: String,
    /// What it said of the token of the hub.
    token: String,
}

impl Up {
    /// Started in this home; each request is logged.
    pub(crate) fn start(home: &Path) -> Self {
        let mut command = Command::new(TOMBOLO);
        command.env("TOMBOLO_LOG", "server=debug").stderr(File::create(home.join(LOG)).unwrap());
        command
            .args(["up", "--port", "0"])
            .env_remove(IS_SANDBOX)
            .env("HOME", home)
            .env_remove("XDG_DATA_HOME")
            .current_dir(home);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let daemon = lines.next().unwrap().strip_prefix("listening on ").unwrap().to_owned();
        assert!(daemon.starts_with("http://127.0.0.1:"));
        let hub = lines.next().unwrap().strip_prefix("hub on ").unwrap().to_owned();
        let token = lines.next().unwrap();
        // The rest is read, so that nothing is in its way.
        let rest = lines.take_while(|line| !line.contains("acp delete demo")).count();
        assert!(rest > 5);
        Self { child, home: home.into(), daemon, hub, token }
    }

    /// The token of the hub, which is told the first time.
    pub(crate) fn secret(&self) -> &str {
        self.token.strip_prefix("admin token of the hub, shown once: ").unwrap()
    }

    /// What it wrote to standard error so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.join(LOG)).unwrap()
    }

    async fn ask(&self, token: &str, method: Method, path: &str, body: Option<Value>) -> Value {
        let http = reqwest::Client::new();
        let mut request = http.request(method, format!("{}{path}", self.hub)).bearer_auth(token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
        response.json().await.unwrap_or_default()
    }

    /// The one whom the hub made a token for.
    fn owner(&self) -> Person {
        Person::at(&self.hub, "owner", self.secret())
    }

    pub(crate) async fn watch(&self, token: &str, worker: &str) -> Viewer {
        let address = format!("{}/api/runtimes/local/workers/{worker}/events/ws", self.hub);
        Viewer::at(&address, token).await.unwrap()
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// observation-7: the daemon in the same process is a runtime like any other: a session is created, watched and answered
/// through the hub. It is there again after a restart, and is not written down; the token is told once.
#[tokio::test]
async fn one_process_is_a_daemon_and_a_hub() {
    let home = TempDir::new().unwrap();
    let up = Up::start(home.path());
    let token = up.secret().to_owned();
    let list = up.ask(&token, Method::GET, "/api/runtimes", None).await;
    let local = &list["items"][0];
    assert_eq!(
        (&local["id"], &local["kind"], &local["isReachable"]),
        (&json!("local"), &json!("local"), &json!(true))
    );
    let at = |path: &str| format!("/api/runtimes/local/v1/sessions/s{path}");
    up.ask(&token, Method::POST, &at(""), Some(json!({ "agent": "mock" }))).await;
    let mut viewer = up.watch(&token, "s").await;
    viewer.until("control").await;
    up.ask(&token, Method::POST, &at("/messages"), Some(json!({ "message": "/permission" }))).await;
    let asked = viewer.until_event("permissionAsked").await;
    let wait = asked.last().unwrap()["payload"]["permissionAsked"]["id"].as_str().unwrap().to_owned();
    let reply = at(&format!("/permissions/{wait}/reply"));
    up.ask(&token, Method::POST, &reply, Some(json!({ "reply": "once" }))).await;
    viewer.until_event("turnEnded").await;
    let workers = up.ask(&token, Method::GET, "/api/runtimes/local/workers", None).await;
    assert_eq!(workers["items"][0]["id"], "s");
    // Who watches is told that it ends, before what they watch does.
    let mut up = up;
    let stopped = Command::new("kill").arg(up.child.id().to_string()).status().unwrap();
    assert!(stopped.success());
    let (last, closed) = viewer.end().await;
    assert_ne!(last["kind"], "diagnostic", "{last}");
    assert_eq!(closed.map(|close| close.code.into()), Some(1001));
    assert!(up.child.wait().unwrap().success());
    let again = Up::start(home.path());
    assert!(!again.token.contains("tombolo_"), "{}", again.token);
    let kept = home.path().join(".local/share/tombolo/hub/runtimes.json");
    assert!(!kept.exists() || !std::fs::read_to_string(kept).unwrap().contains("local"));
    let workers = again.ask(&token, Method::GET, "/api/runtimes/local/workers", None).await;
    assert_eq!(workers["items"][0]["id"], "s");
    assert!(again.watch(&token, "s").await.until("event").await["payload"]["snapshot"].is_object());
}

/// observation-7: terminals and what waits are those of any other runtime, though nothing is connected: all is in memory.
#[tokio::test]
async fn what_is_in_the_process_is_used_as_any_other() {
    let home = TempDir::new().unwrap();
    let up = Up::start(home.path());
    check_terminal(&up.owner(), "local").await;
    check_inbox(&up.owner(), "local").await;
}

/// Large bodies pass within the process as they come.
#[tokio::test]
async fn large_bodies_are_not_held_in_the_process() {
    let home = TempDir::new().unwrap();
    let up = Up::start(home.path());
    check_large_bodies(&up.owner(), "local", home.path(), &[("process", up.child.id())]).await;
}
