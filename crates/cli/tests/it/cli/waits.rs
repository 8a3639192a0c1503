//! `tombolo waits`: a request is allowed only by a user who was shown all of it.

use serde_json::{Value, json};

use super::*;
use crate::{asker::asker_with_input, terminal_process::TerminalProcess};

/// A command whose end is far behind what the list shows.
fn long_command() -> String {
    format!("echo {}; touch HIDDEN-PART", "x".repeat(500))
}

/// A daemon whose agent asks to run this command, and the id of its wait.
fn asking(command: &str) -> (TestDaemon, String) {
    let daemon = asker_with_input(&json!({ "command": command })).start(TOMBOLO);
    api(&daemon, &["sessions", "create", "s", "--agent", "asker"]).ok();
    api(&daemon, &["sessions", "send", "s", "ask"]).ok();
    let mut id = None;
    testkit::within_blocking(crate::secs(20), || {
        let waits: Value = serde_json::from_str(&api(&daemon, &["waits", "list", "--json"]).ok()).unwrap();
        id = waits["items"][0]["id"].as_str().map(str::to_owned);
        id.is_some()
    });
    (daemon, id.unwrap())
}

fn waits(daemon: &TestDaemon, arguments: &[&str]) -> Run {
    let mut command = tombolo();
    command.arg("waits").args(arguments).env_remove("TOMBOLO_HUB");
    Run::of(command.env("TOMBOLO_ENDPOINT", daemon.base()).output().unwrap())
}

fn is_open(daemon: &TestDaemon) -> bool {
    let waits: Value = serde_json::from_str(&api(daemon, &["waits", "list", "--json"]).ok()).unwrap();
    !waits["items"].as_array().unwrap().is_empty()
}

#[test]
fn a_long_request_is_allowed_only_with_the_fingerprint_of_all_of_it() {
    let (daemon, id) = asking(&long_command());
    let listed = waits(&daemon, &[]).ok();
    assert!(listed.contains("command echo xxx") && !listed.contains("HIDDEN-PART"), "{listed}");
    assert!(listed.contains(" more characters; `tombolo waits show "), "{listed}");
    for answer in [&["once"][..], &["always"], &["once", "--seen", "00000000"]] {
        let refused = waits(&daemon, &[&["answer", &id], answer].concat()).said(2);
        assert!(refused.contains(&format!("tombolo waits show {id}")), "{refused}");
        assert!(is_open(&daemon));
    }
    let shown = waits(&daemon, &["show", &id]).ok();
    assert!(shown.contains("; touch HIDDEN-PART\n"), "{shown}");
    let program: Value = serde_json::from_str(&waits(&daemon, &["show", &id, "--json"]).ok()).unwrap();
    let fingerprint = program["fingerprint"].as_str().unwrap();
    assert!(fingerprint.len() == 8 && shown.contains(&format!("--seen {fingerprint}")), "{shown}");
    assert_eq!(program["wait"]["id"], json!(id));
    assert!(shown.starts_with(program["text"].as_str().unwrap()), "{program}\n{shown}");
    let settled = waits(&daemon, &["answer", &id, "once", "--seen", fingerprint]).ok();
    assert!(settled.contains("allow once"), "{settled}");
    assert!(!is_open(&daemon));
    // Issue 17: "a settled wait says who answered what".
    let late = waits(&daemon, &["answer", &id, "deny"]).said(1);
    assert!(late.contains("already answered by user: allow once"), "{late}");
    let unknown = waits(&daemon, &["answer", "wat_0198c0de0198c0de0198c0de0198c0de", "deny"]).said(2);
    assert!(unknown.contains("no open wait has the id"), "{unknown}");
}

/// Issue 17: "`tombolo waits` asks the hub when a hub is configured".
#[test]
fn a_user_with_a_token_of_a_hub_means_the_hub() {
    let daemon = TestDaemon::start(TOMBOLO);
    let with_token = |endpoint: Option<&str>| {
        let mut command = tombolo();
        command.arg("waits").env_remove("TOMBOLO_HUB").env("TOMBOLO_HUB_TOKEN", "some-token");
        endpoint.map(|endpoint| command.env("TOMBOLO_ENDPOINT", endpoint));
        Run::of(command.output().unwrap())
    };
    // Whether a hub listens at the default address or not.
    let said = with_token(None).stderr;
    assert!(said.contains("--hub") || said.contains("TOMBOLO_HUB_TOKEN"), "{said}");
    assert!(with_token(Some(daemon.base())).ok().contains("QUESTION"), "a named daemon is asked");
}

#[test]
fn a_rejection_needs_no_fingerprint() {
    for rejection in [&["deny"][..], &["--reject"]] {
        let (daemon, id) = asking(&long_command());
        let settled = waits(&daemon, &[&["answer", &id], rejection].concat()).ok();
        assert!(settled.contains("deny"), "{settled}");
    }
}

/// A line break in a row of the list could hide that a comment ends, so such a request has to be shown.
#[test]
fn a_short_request_is_listed_in_full_unless_it_has_line_breaks() {
    let (daemon, id) = asking("make test");
    let listed = waits(&daemon, &[]).ok();
    assert!(listed.contains("command make test") && !listed.contains("more characters"), "{listed}");
    waits(&daemon, &["answer", &id, "once"]).ok();
    let (daemon, id) = asking("make test #\nrm -r x");
    let listed = waits(&daemon, &[]).ok();
    assert!(!listed.contains("rm -r") && listed.contains("more characters"), "{listed}");
    waits(&daemon, &["answer", &id, "once"]).said(2);
    assert!(is_open(&daemon));
}

#[tokio::test]
async fn on_a_terminal_all_is_shown_before_the_answer_is_confirmed() {
    let (daemon, id) = tokio::task::spawn_blocking(|| asking(&long_command())).await.unwrap();
    let mut screen = TerminalProcess::start(daemon, &["waits", "--hub", "", "answer", &id, "once"]).await;
    // Typed ahead: it is no confirmation of a request that the user has not read.
    screen.type_line("y").await;
    screen.sees("; touch HIDDEN-PART").await;
    screen.type_line("y").await;
    screen.sees("send this answer? [y]es [n]o > ").await;
    assert!(is_open(&screen.daemon), "typed-ahead lines confirmed the answer");
    screen.type_line("perhaps").await;
    screen.sees("send this answer? [y]es [n]o > ").await;
    screen.type_line("y").await;
    screen.sees("settled").await;
    assert_eq!(screen.exit_code().await, 0);
    assert!(!is_open(&screen.daemon));
}
