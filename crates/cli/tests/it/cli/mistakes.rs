//! What a user is told who mistook, mistyped or forgot something: what happened, and what to do.

use reqwest::Method;
use serde_json::json;
use testkit::{TestDaemonOptions, TestHub};

use super::*;

const TOKEN: &str = "a-very-secret-token";

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let mut command = tombolo();
    for name in ["TOMBOLO_HUB", "TOMBOLO_HUB_TOKEN", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    Run::of(command.args(arguments).envs(environment.iter().copied()).output().unwrap())
}

#[track_caller]
fn check_said(run: Run, code: i32, parts: &[&str]) {
    let said = run.said(code);
    for part in parts {
        assert!(said.contains(part), "`{part}` is missing: {said}");
    }
}

/// Issue 17: "hub/daemon mix-ups in both directions".
#[test]
fn a_hub_is_no_daemon_and_a_daemon_no_hub() {
    let (daemon, hub) = (TestDaemon::start(TOMBOLO), TestHub::start(TOMBOLO));
    let this_is_a_hub =
        ["this is a hub; a daemon behind it is at `/api/runtimes/NAME`", "tombolo hub runtimes list"];
    check_said(run(&["api", "sessions", "list", "--endpoint", hub.base()], &[]), 1, &this_is_a_hub);
    check_said(run(&["chat", "--agent", "mock", "--endpoint", hub.base()], &[]), 1, &this_is_a_hub);
    for arguments in [&["hub", "runtimes", "list"][..], &["hub", "whoami"], &["waits"]] {
        let wrong = run(&[arguments, &["--hub", daemon.base()]].concat(), &[("TOMBOLO_HUB_TOKEN", TOKEN)]);
        check_said(wrong, 1, &["this is a daemon, not a hub; pass the URL of the hub"]);
    }
}

/// Issue 17: "which token was tried (source, never the value) and why it failed".
#[tokio::test]
async fn a_refused_token_is_named_by_its_source() {
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let file = daemon.home().join("wrong");
    std::fs::write(&file, "wrong-secret").unwrap();
    let file = file.to_str().unwrap();
    let list = ["api", "sessions", "list", "--endpoint", daemon.base()];
    let with = |options: &[&str], environment: &[(&str, &str)], origin: &str| {
        let said = run(&[&list, options].concat(), environment).said(1);
        assert!(said.contains(origin) && !said.contains("wrong-secret"), "{said}");
    };
    let home = ("HOME", "/nonexistent");
    with(
        &[],
        &[home],
        "No token was sent. Pass a token with --token-file FILE or the variable TOMBOLO_TOKEN.",
    );
    with(
        &[],
        &[home, ("TOMBOLO_TOKEN", "wrong-secret")],
        "The token that was sent, from the variable TOMBOLO_TOKEN, is wrong",
    );
    with(&["--token-file", file], &[home], &format!("from the file `{file}`, is wrong"));
    with(&["--token", "wrong-secret"], &[home], "from --token, is wrong");
    let chat = run(&["chat", "--agent", "mock", "--endpoint", daemon.base()], &[home]);
    check_said(chat, 1, &["No token was sent."]);
    // An expired token says so.
    let hub = TestHub::start(TOMBOLO);
    let add = hub.request(Method::POST, "/api/tokens");
    let expires = one_second_from_now();
    let added = add.json(&json!({ "name": "short", "expiresAt": expires })).send().await.unwrap();
    let added: serde_json::Value = added.json().await.unwrap();
    let short = added["secret"].as_str().unwrap();
    let mut said = String::new();
    testkit::within_blocking(crate::secs(20), || {
        let whoami = run(&["hub", "whoami", "--hub", hub.base()], &[("TOMBOLO_HUB_TOKEN", short)]);
        said = whoami.stderr;
        whoami.code == Some(1)
    });
    assert!(
        said.contains("the token expired at ") && said.contains("the variable TOMBOLO_HUB_TOKEN"),
        "{said}"
    );
    assert!(said.contains("tombolo hub tokens recover"), "{said}");
}

#[test]
fn a_similar_agent_or_command_is_suggested() {
    let daemon = TestDaemon::start(TOMBOLO);
    let similar = ["there is no agent `cluade`; did you mean `claude`?", "tombolo agents list"];
    let at = ["--endpoint", daemon.base()];
    for arguments in [
        &["api", "sessions", "create", "s", "--agent", "cluade"][..],
        &["chat", "--agent", "cluade"],
        &["run", "hello", "--agent", "cluade"],
        &["api", "agents", "models", "cluade"],
        &["api", "acp", "send", "a", "--agent", "cluade", INITIALIZE],
    ] {
        check_said(run(&[arguments, &at].concat(), &[]), 1, &similar);
    }
    check_said(run(&["sessions", "list"], &[]), 2, &["did you mean `tombolo api sessions list`?"]);
    check_said(run(&["version"], &[]), 2, &["did you mean `tombolo --version`?"]);
}

#[test]
fn a_missing_server_or_directory_is_named() {
    let nobody = "http://127.0.0.1:9";
    for arguments in [&["api", "sessions", "list"][..], &["chat", "--agent", "mock"], &["run", "hello"]] {
        let hint = ["Start one with `tombolo up`", "--endpoint"];
        check_said(run(&[arguments, &["--endpoint", nobody]].concat(), &[]), 3, &hint);
    }
    let daemon = TestDaemon::start(TOMBOLO);
    let file = daemon.home().join("file");
    std::fs::write(&file, "").unwrap();
    for (directory, problem) in [
        ("/no/such/dir", "`/no/such/dir` does not exist"),
        (file.to_str().unwrap(), "is not a directory"),
        ("relative", "`relative` is relative"),
    ] {
        let create = ["api", "sessions", "create", "s", "--agent", "mock", "-d", directory];
        check_said(run(&[&create[..], &["--endpoint", daemon.base()]].concat(), &[]), 1, &[problem]);
    }
}

#[test]
fn a_wrong_mode_or_duration_says_what_is_right() {
    let device = run(&["device", "connect", "http://127.0.0.1:9", "--root", "main=/tmp:rwx"], &[]);
    check_said(device, 2, &["the mode `rwx` does not exist: write ro (read-only) or rw (writable)"]);
    let tomorrow = run(&["hub", "tokens", "add", "t", "--expires-in", "tomorrow"], &[]);
    check_said(tomorrow, 2, &["write a number and a unit, for example", "8h or 7d"]);
}

/// Issue 17: "an authentication failure is final".
#[test]
fn a_refused_join_token_is_reported_once_with_what_to_do() {
    let hub = TestHub::start(TOMBOLO);
    let daemon = TestDaemonOptions::default()
        .arg("--join")
        .arg(hub.base())
        .env("TOMBOLO_JOIN_TOKEN", "wrong-join-token")
        .start(TOMBOLO);
    // The hub has recorded the refusal, so that the daemon knows it in a moment; it is logged before the daemon ends.
    let refusals = || {
        let audit =
            run(&["hub", "audit", "--hub", hub.base(), "--json"], &[("TOMBOLO_HUB_TOKEN", hub.token())]);
        audit.stdout.matches("/api/join/ws").count()
    };
    testkit::within_blocking(crate::secs(20), || refusals() >= 1);
    let chat = run(&["run", "/drip 20 100", "--agent", "mock", "--endpoint", daemon.base()], &[]);
    assert_eq!(chat.code, Some(0), "{}", chat.stderr);
    assert_eq!(refusals(), 1, "it does not try again at once");
    daemon.signal("TERM");
    let (_, log) = daemon.wait_for_exit();
    assert_eq!(log.matches("refuses the join token").count(), 1, "{log}");
    assert!(log.contains("tombolo hub runtimes invite"), "{log}");
}

fn one_second_from_now() -> String {
    let now = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
    jiff::Timestamp::try_from(now).unwrap().to_string()
}
