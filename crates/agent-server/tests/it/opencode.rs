use std::{collections::BTreeMap, path::Path, time::Duration};

use agent_adapters::Call;
use agent_catalog::{Catalog, Purpose, SearchPath, UserEnvironment};
use agent_install::{Config, Installer, ReadyError};
use agent_server::{AgentServers, DetachReason, ServerAttachment, ServerEvent};
use process::ProcessSpec;
use serde_json::{Value, json};

/// How long anything here may take: a cold start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// The real server with a home of its own; none, loudly, where it cannot be had.
async fn opencode(home: &Path) -> Option<ProcessSpec> {
    let variables =
        std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
    let variables: BTreeMap<_, _> = variables.collect();
    let users = variables.get("HOME").map(Into::into);
    let config = Config {
        directory: home.join("agents"),
        cache: variables.get("HOME").map(|home| Path::new(home).join(".cache/tombolo")),
        allowed: true,
        search_path: SearchPath::new(variables.get("PATH").cloned().unwrap_or_default()),
        environment: UserEnvironment { home: users, project: None, variables },
        ..Config::default()
    };
    let installer = Installer::new(config, Catalog::new(Path::new("/own"), Default::default()).unwrap());
    let agent = installer.agent(&"opencode".parse().unwrap()).await.unwrap();
    let launch = match installer.ready(&agent, Purpose::Native).await {
        Ok(launch) => launch,
        Err(ReadyError::Install(error)) => {
            eprintln!("SKIPPED: this test needs the real opencode: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let quiet = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"];
    let spec =
        ProcessSpec::new(launch.program).args(launch.args).args(["--hostname", "127.0.0.1", "--port", "0"]);
    let spec = quiet.iter().fold(spec, |spec, what| spec.env(format!("OPENCODE_DISABLE_{what}"), "1"));
    Some(spec.env("HOME", home).cwd(home))
}

async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it takes too long")
}

/// Makes a session in a directory; its name.
async fn create(server: &ServerAttachment, directory: &Path) -> String {
    let path = format!("/session?directory={}", directory.display());
    let call = Call { id: 1, method: "POST", path, body: Some(json!({})) };
    let (status, body) = within(server.client.call(call)).await;
    assert_eq!(status, 200);
    serde_json::from_slice::<Value>(&body).unwrap()["id"].as_str().unwrap().to_owned()
}

/// Waits until the server has told that a session was made.
async fn hears_of(server: &mut ServerAttachment, session: &str) {
    within(async {
        loop {
            let ServerEvent::Data(event) = server.events.next().await.unwrap() else { continue };
            let event: Value = serde_json::from_slice(&event).unwrap();
            let event = &event["payload"];
            if event["type"] == "session.created" && event["properties"]["sessionID"] == session {
                return;
            }
        }
    })
    .await;
}

async fn gone(server: &mut ServerAttachment) -> DetachReason {
    within(async {
        loop {
            if let Err(gone) = server.events.next().await {
                return gone;
            }
        }
    })
    .await
}

/// sessions-15: agent process death: the session stays usable (next message restarts and resumes). One server for two
/// sessions in two directories; `kill -9` is told to both; the next use starts another, which knows the sessions.
#[tokio::test]
async fn a_server_that_is_killed_is_told_to_all_and_started_again() {
    let home = tempfile::tempdir().unwrap();
    let Some(spec) = opencode(home.path()).await else { return };
    let servers = AgentServers::new(Duration::from_secs(60));
    let (one, other) = tokio::join!(servers.attach(spec.clone()), servers.attach(spec.clone()));
    let (mut one, mut other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.pid, other.pid);

    let first = create(&one, home.path()).await;
    let below = home.path().join("below");
    std::fs::create_dir(&below).unwrap();
    let second = create(&other, &below).await;
    for server in [&mut one, &mut other] {
        hears_of(server, &first).await;
        hears_of(server, &second).await;
    }
    // Nobody else gets in: the password is in no argument.
    let arguments = std::fs::read(format!("/proc/{}/cmdline", one.pid)).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&arguments).contains("PASSWORD"));

    let pid = rustix::process::Pid::from_raw(i32::try_from(one.pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    for server in [&mut one, &mut other] {
        let DetachReason::Died { exit, .. } = gone(server).await else { panic!() };
        assert_eq!(exit.signal, Some(9));
    }

    let again = within(servers.attach(spec)).await.unwrap();
    assert_ne!(again.pid, one.pid);
    let path = format!("/session/{first}?directory={}", home.path().display());
    let call = Call { id: 1, method: "GET", path, body: None };
    assert_eq!(within(again.client.call(call)).await.0, 200);
    within(servers.stop()).await;
}

/// A server with another environment is another server; one that nobody uses is stopped, with its whole group.
#[tokio::test]
async fn a_server_is_shared_by_those_who_would_start_the_same_and_stopped_when_they_have_left() {
    let home = tempfile::tempdir().unwrap();
    let Some(spec) = opencode(home.path()).await else { return };
    let servers = AgentServers::new(Duration::from_millis(10));
    let one = within(servers.attach(spec.clone())).await.unwrap();
    let other = within(servers.attach(spec.clone().env("ANTHROPIC_API_KEY", "another"))).await.unwrap();
    assert_ne!(one.pid, other.pid);
    let (pid, client) = (one.pid, one.client.clone());
    drop(one);
    within(async {
        while rustix::process::test_kill_process_group(
            rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(),
        )
        .is_ok()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let call = Call { id: 1, method: "GET", path: "/global/health".into(), body: None };
    assert_eq!(within(client.call(call)).await.0, 0, "nobody answers");
    within(servers.stop()).await;
    drop(other);
}
