//! Installing through the real program.

use std::{path::Path, process::Stdio};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{
    TestDaemon, TestDaemonOptions,
    download_mirror::{DownloadMirror, large_shell_script, sha256, shell_script, tar_gz},
    within,
};

use crate::{TOMBOLO, check_problem, problem, secs};

/// Where the archive of the agent `loopback` is, as a mirror has it.
const LOOPBACK: &str = "127.0.0.1:9/loopback.tar.gz";

/// A version of opencode that the catalog does not pin, and where its tarball is, as a mirror has it.
const UNPINNED: &str = "0.0.0-loopback";
const CODEX: &str =
    "github.com/openai/codex/releases/download/rust-v0.0.0-loopback/codex-x86_64-unknown-linux-musl.tar.gz";
const OPENCODE: &str =
    "github.com/anomalyco/opencode/releases/download/v0.0.0-loopback/opencode-linux-x64.tar.gz";

/// An agent that answers one request as an ACP agent would.
pub(super) const ACP: &[u8] = br#"#!/bin/sh
read line
echo '{"jsonrpc":"2.0","id":1,"result":{"from":"installed"}}'
read line
"#;

pub(super) fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" })
}

/// Publishes the agent `loopback`: its archive, and an ACP registry with the archive's SHA-256.
pub(super) fn publish(mirror: &DownloadMirror, archive: Vec<u8>) {
    let binary = json!({
        "archive": format!("http://{LOOPBACK}"), "cmd": "./loopback", "args": ["acp"], "sha256": sha256(&archive),
    });
    let entry = json!({
        "id": "loopback", "name": "Loopback", "version": "1.0.0",
        "distribution": { "binary": { "linux-x86_64": binary } },
    });
    mirror.put_file("registry.json", json!({ "version": "1.0.0", "agents": [entry] }).to_string());
    mirror.put_file(LOOPBACK, archive);
}

/// A daemon that fetches everything from `mirror`, and has no agents on its PATH.
fn daemon(mirror: &DownloadMirror) -> TestDaemon {
    options(mirror).start(TOMBOLO)
}

pub(super) fn options(mirror: &DownloadMirror) -> TestDaemonOptions {
    TestDaemonOptions::default()
        .arg(format!("--mirror={}", mirror.url))
        .arg(format!("--acp-registry={}/registry.json", mirror.url))
        .env("npm_config_registry", &format!("{}/npm", mirror.url))
        .env("PATH", "/bin:/usr/bin")
        .env("XDG_CACHE_HOME", "")
        .env("XDG_DATA_HOME", "")
        .env("TOMBOLO_CACHE_DIR", "")
}

/// `tombolo agents install loopback` into `home`.
fn install(home: &Path, mirror: &DownloadMirror) -> std::process::Command {
    let registry = format!("{}/registry.json", mirror.url);
    agents(home, mirror, &["install", "loopback", "--mirror", &mirror.url, "--acp-registry", &registry])
}

/// `tombolo agents` with `home` as the home.
fn agents(home: &Path, mirror: &DownloadMirror, arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(TOMBOLO);
    command.arg("agents").args(arguments);
    command
        .env("HOME", home)
        .env("PATH", "/bin:/usr/bin")
        .env("npm_config_registry", format!("{}/npm", mirror.url));
    command.env_remove("XDG_DATA_HOME").env_remove("XDG_CACHE_HOME").env_remove("TOMBOLO_CACHE_DIR");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// daemon-6: the first message to an instance installs its agent, then starts it.
#[tokio::test]
async fn the_first_message_installs_the_agent() {
    let mirror = DownloadMirror::start().await;
    publish(&mirror, tar_gz(&[("loopback", ACP)]));
    let daemon = daemon(&mirror);
    // Preparing does not install, and does not mind.
    let prepared =
        daemon.request(Method::PUT, "/v1/acp/x").json(&json!({ "agent": "loopback" })).send().await;
    assert_eq!(prepared.unwrap().status(), 201);
    let answer: Value = daemon.post("/v1/acp/x?agent=loopback", &initialize()).await.json().await.unwrap();
    assert_eq!(answer["result"]["from"], "installed");
    let list: Value = daemon.get("/v1/agents").await.json().await.unwrap();
    let loopback = list["items"].as_array().unwrap().iter().find(|agent| agent["id"] == "loopback").unwrap();
    assert_eq!((&loopback["installed"], &loopback["version"]), (&json!(true), &json!("1.0.0")));
}

/// daemon-6: twenty first messages at once: one download, one installation, twenty answers.
#[tokio::test]
async fn twenty_first_messages_install_the_agent_once() {
    let mirror = DownloadMirror::start().await;
    publish(&mirror, tar_gz(&[("loopback", ACP), ("filling", &large_shell_script("x"))]));
    let daemon = daemon(&mirror);
    let message = initialize();
    let first = |id: u32| {
        let path = format!("/v1/acp/x{id}?agent=loopback");
        let (daemon, message) = (&daemon, &message);
        async move { daemon.post(&path, message).await.json::<Value>().await.unwrap() }
    };
    for answer in futures_util::future::join_all((0..20).map(first)).await {
        assert_eq!(answer["result"]["from"], "installed");
    }
    assert_eq!(mirror.requested_ranges(LOOPBACK).len(), 1, "downloads");
}

/// daemon-6: a request's patience ends the wait, not the installation.
#[tokio::test]
async fn a_request_that_gives_up_leaves_the_installation() {
    let mirror = DownloadMirror::start().await;
    publish(&mirror, tar_gz(&[("loopback", ACP), ("filling", &large_shell_script("x"))]));
    mirror.stall_downloads(1_000_000, 1);
    let daemon = daemon(&mirror);
    let answer = daemon.post("/v1/acp/x?agent=loopback&timeoutMs=300", &initialize()).await;
    check_problem(&problem(answer).await, 504, "urn:problem:agent-timeout");
    let list: Value = daemon.get("/v1/acp").await.json().await.unwrap();
    assert_eq!(list["items"], json!([]), "nothing was started");
    let parts = daemon.home().join(".local/share/tombolo/agents/loopback/parts");
    assert!(parts.exists(), "the installation goes on");
}

/// daemon-6: an installation can be followed, and ends with what it came to.
#[tokio::test]
async fn an_installation_is_followed_by_events() {
    let mirror = DownloadMirror::start().await;
    publish(&mirror, tar_gz(&[("loopback", &large_shell_script("x"))]));
    let daemon = daemon(&mirror);
    let request = daemon.request(Method::POST, "/v1/agents/loopback/install");
    let events = request.header("accept", "text/event-stream").send().await.unwrap().text().await.unwrap();
    let last = events.trim_end().rsplit("\n\n").next().unwrap();
    let (name, data) = last.split_once('\n').unwrap();
    assert_eq!(name, "event: done");
    let done: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!((&done["agent"], &done["alreadyInstalled"]), (&json!("loopback"), &json!(false)));
    assert!(events.contains(r#""phase":"done""#) && events.contains("event: progress"), "{events}");
    let again: Value = daemon
        .request(Method::POST, "/v1/agents/loopback/install")
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!((&again["alreadyInstalled"], &again["version"]), (&json!(true), &json!("1.0.0")));
}

/// daemon-6: a failure is a problem that names every source; followed, it is the last event.
#[tokio::test]
async fn a_failed_installation_names_its_sources() {
    let mirror = DownloadMirror::start().await;
    let tarball = tar_gz(&[("package/bin/opencode", &shell_script("evil"))]);
    let other =
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==";
    let daemon = options(&mirror).arg("--mirror=https://github.com=http://127.0.0.1:9").start(TOMBOLO);
    let install = || daemon.request(Method::POST, "/v1/agents/opencode/install");
    let failed = problem(install().send().await.unwrap()).await;
    check_problem(&failed, 409, "urn:problem:install-unverified");
    let sources: Vec<_> =
        failed["causes"].as_array().unwrap().iter().map(|cause| cause["source"].as_str().unwrap()).collect();
    assert!(sources[0].starts_with("mirror 127.0.0.1:") && sources[1] == "mirror 127.0.0.1:9", "{sources:?}");
    assert!(sources.last().unwrap().starts_with("npm tarball"), "{sources:?}");
    mirror.put_npm("opencode-linux-x64", "1.18.33", &tarball, Some(other));
    let failed = problem(install().send().await.unwrap()).await;
    check_problem(&failed, 502, "urn:problem:checksum-mismatch");
    let events = install().header("accept", "text/event-stream").send().await.unwrap().text().await.unwrap();
    assert!(events.contains("event: failed\ndata: {\"type\":\"urn:problem:checksum-mismatch\""), "{events}");
}

/// daemon-6: a preprovisioned image installs nothing on first use either.
#[tokio::test]
async fn nothing_is_installed_on_first_use_where_that_is_switched_off() {
    let mirror = DownloadMirror::start().await;
    publish(&mirror, tar_gz(&[("loopback", ACP)]));
    let daemon = options(&mirror).arg("--no-install").start(TOMBOLO);
    let answer = daemon.post("/v1/acp/x?agent=loopback", &initialize()).await;
    check_problem(&problem(answer).await, 403, "urn:problem:forbidden");
    let answer = daemon.put("/v1/acp/x", &json!({ "agent": "loopback" })).await;
    check_problem(&problem(answer).await, 403, "urn:problem:forbidden");
    let answer = daemon.request(Method::POST, "/v1/agents/loopback/install").send().await.unwrap();
    check_problem(&problem(answer).await, 403, "urn:problem:forbidden");
    assert!(mirror.requested_ranges(LOOPBACK).is_empty());
}

/// daemon-6: a file without a checksum is only installed if that is allowed, and the list says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unverified_agent_has_to_be_allowed_and_is_listed_as_such() {
    let mirror = DownloadMirror::start().await;
    mirror.put_file(OPENCODE, tar_gz(&[("opencode", &shell_script("allowed"))]));
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = agents(home.path(), &mirror, arguments).output().unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.success(), stdout, stderr)
    };
    let asked = ["install", "opencode", "--version", UNPINNED, "--mirror", &mirror.url];
    let (done, _, stderr) = run(&asked);
    assert!(!done && stderr.contains("--allow-unverified"), "{stderr}");
    assert!(mirror.requested_ranges(OPENCODE).is_empty());
    let (done, stdout, stderr) = run(&[&asked[..], &["--allow-unverified"]].concat());
    assert!(done && stdout.starts_with("opencode 0.0.0-loopback /"), "{stdout}{stderr}");
    assert!(stderr.contains("warning: opencode has files that were not verified"), "{stderr}");
    let (_, list, _) = run(&["list"]);
    let row = list.lines().find(|line| line.starts_with("opencode ")).unwrap();
    assert_eq!(row.split_whitespace().nth(4), Some("no"), "{list}");
}

/// daemon-6: the same over the API.
#[tokio::test]
async fn an_unverified_agent_has_to_be_allowed_in_the_request() {
    let mirror = DownloadMirror::start().await;
    mirror.put_file(OPENCODE, tar_gz(&[("opencode", ACP)]));
    let daemon = daemon(&mirror);
    let install =
        |body: Value| daemon.request(Method::POST, "/v1/agents/opencode/install").json(&body).send();
    let refused = problem(install(json!({ "version": UNPINNED })).await.unwrap()).await;
    check_problem(&refused, 409, "urn:problem:install-unverified");
    assert!(refused["detail"].as_str().unwrap().contains("`allowUnverified`"), "{refused}");
    let allowed = install(json!({ "version": UNPINNED, "allowUnverified": true })).await.unwrap();
    let allowed: Value = allowed.json().await.unwrap();
    assert_eq!((&allowed["alreadyInstalled"], &allowed["verified"]), (&json!(false), &json!(false)));
    let list: Value = daemon.get("/v1/agents").await.json().await.unwrap();
    let verified = |id: &str| {
        list["items"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap()["verified"].clone()
    };
    assert_eq!((verified("opencode"), verified("mock")), (json!(false), Value::Null));
    // It stays usable without another permission.
    let answer: Value = daemon.post("/v1/acp/x?agent=opencode", &initialize()).await.json().await.unwrap();
    assert_eq!(answer["result"]["from"], "installed");
}

/// daemon-6: an adapter that cannot be had takes nothing from the agent itself, which sessions start without it.
#[tokio::test]
async fn a_missing_adapter_is_no_missing_agent() {
    let mirror = DownloadMirror::start().await;
    mirror.put_file(CODEX, tar_gz(&[("codex-x86_64-unknown-linux-musl", ACP)]));
    let daemon = daemon(&mirror);
    let install = daemon.request(Method::POST, "/v1/agents/codex/install");
    let asked = install.json(&json!({ "version": UNPINNED, "allowUnverified": true })).send().await.unwrap();
    assert_eq!(asked.status(), 200, "{:?}", asked.text().await);
    let installed: Value = asked.json().await.unwrap();
    assert_eq!((&installed["alreadyInstalled"], &installed["version"]), (&json!(false), &json!(UNPINNED)));
    let failed: Vec<_> =
        installed["failed"].as_array().unwrap().iter().map(|failed| &failed["component"]).collect();
    assert!(failed.contains(&&json!("codex-acp")) && !failed.contains(&&json!("codex")), "{installed}");
    let list: Value = daemon.get("/v1/agents").await.json().await.unwrap();
    let codex = list["items"].as_array().unwrap().iter().find(|agent| agent["id"] == "codex").unwrap();
    assert_eq!((&codex["installed"], &codex["version"]), (&json!(true), &json!(UNPINNED)));
    // Without the agent itself there is no way left.
    let asked = daemon.request(Method::POST, "/v1/agents/claude/install").send().await.unwrap();
    check_problem(&problem(asked).await, 409, "urn:problem:install-unverified");
}

/// daemon-8: an agent of another protocol cannot be driven by ACP.
#[tokio::test]
async fn an_agent_that_speaks_no_acp_is_refused() {
    let options = TestDaemonOptions::default().agent("mine", &["cat"]).config("protocol = \"codex\"\n");
    let daemon = options.start(TOMBOLO);
    let answer = daemon.post("/v1/acp/x?agent=mine", &initialize()).await;
    check_problem(&problem(answer).await, 409, "urn:problem:not-acp");
}

/// daemon-6: killed in mid-install, nothing is left that could be taken for the agent, and the next try goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_installation_is_taken_up_by_the_next() {
    let mirror = DownloadMirror::start().await;
    let tarball = tar_gz(&[("loopback", &large_shell_script("survived"))]);
    publish(&mirror, tarball.clone());
    mirror.stall_downloads(tarball.len() / 2, 1);
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join(".local/share/tombolo/agents/loopback");
    let mut killed = install(home.path(), &mirror).spawn().unwrap();
    let come = || {
        let parts = std::fs::read_dir(place.join("parts")).into_iter().flatten().flatten();
        parts.filter_map(|part| part.metadata().ok()).map(|metadata| metadata.len()).max().unwrap_or(0)
    };
    within(secs(20), async {
        while come() < 1_000_000 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    killed.kill().unwrap();
    killed.wait().unwrap();
    // A killed unpacking leaves such a directory.
    std::fs::create_dir(place.join(".new-left-behind")).unwrap();
    assert!(!place.join("current").exists());
    let output = install(home.path(), &mirror).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("loopback 1.0.0 /"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let program = said.trim().rsplit(' ').next().unwrap();
    let run = std::process::Command::new(program).output().unwrap();
    assert_eq!(run.stdout, b"survived\n");
    let ranges = mirror.requested_ranges("loopback.tar.gz");
    assert!(
        ranges.len() == 2 && ranges[1].as_ref().is_some_and(|range| range.starts_with("bytes=")),
        "{ranges:?}"
    );
    assert!(!place.join(".new-left-behind").exists());
}

/// daemon-6: two processes at once install it once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_at_once_install_it_once() {
    let mirror = DownloadMirror::start().await;
    publish(&mirror, tar_gz(&[("loopback", &large_shell_script("once"))]));
    let home = tempfile::tempdir().unwrap();
    let both =
        [install(home.path(), &mirror).spawn().unwrap(), install(home.path(), &mirror).spawn().unwrap()];
    let [one, two] = both.map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    });
    assert_eq!(one, two);
    assert_eq!(mirror.requested_ranges("loopback.tar.gz").len(), 1);
}

/// daemon-6: from the command line to another machine, in one file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_goes_from_one_home_to_another() {
    let mirror = DownloadMirror::start().await;
    publish(&mirror, tar_gz(&[("loopback", &shell_script("carried"))]));
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bundle = home.path().join("agents.tar.zst");
    let run = |home: &Path, arguments: &[&str]| {
        let mut command = std::process::Command::new(TOMBOLO);
        command.args(arguments).env("HOME", home).env("PATH", "/nowhere").env_remove("XDG_DATA_HOME");
        command.env_remove("XDG_CACHE_HOME").env_remove("TOMBOLO_CACHE_DIR");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let file = bundle.to_str().unwrap();
    let registry = format!("{}/registry.json", mirror.url);
    let sources = ["--mirror", &mirror.url, "--acp-registry", &registry];
    run(home.path(), &[&["agents", "bundle", "loopback", "-o", file], &sources[..]].concat());
    let said = run(other.path(), &["agents", "install", "--from", file]);
    assert!(said.contains("loopback   1.0.0    yes"), "{said}");
    let list = run(other.path(), &["agents", "list", "--acp-registry", &registry]);
    let row = list.lines().find(|line| line.starts_with("loopback ")).unwrap();
    let program = row.split_whitespace().last().unwrap();
    assert!(program.starts_with(other.path().to_str().unwrap()), "{list}");
    assert_eq!(std::process::Command::new(program).output().unwrap().stdout, b"carried\n");
    assert!(run(home.path(), &["agents", "cache", "clear"]).starts_with("removed "));
}
