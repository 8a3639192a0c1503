//! How commands end: exit codes, problems, and what is never printed.

use std::net::TcpListener;

use testkit::TestDaemonOptions;

use super::{Run, api, api_at, assert_shown, tombolo};
use crate::TOMBOLO;

const TOKEN: &str = "a-very-secret-token";

fn guarded() -> testkit::TestDaemon {
    TestDaemonOptions::default().arg("--token").arg(TOKEN).start(TOMBOLO)
}

/// An address where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// daemon-2: the token by flag, file and variable, in this order.
#[test]
fn the_token_opens_the_door_however_it_is_given() {
    let daemon = guarded();
    let file = daemon.home().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let file = file.to_str().unwrap();
    api(&daemon, &["acp", "list", "--token", TOKEN]).ok();
    api(&daemon, &["acp", "--token-file", file, "list"]).ok();
    let run = |arguments: &[&str], variable: &str| {
        Run::of(api_at(daemon.base(), arguments).env("TOMBOLO_TOKEN", variable).output().unwrap())
    };
    run(&["acp", "list"], TOKEN).ok();
    run(&["acp", "list", "--token", TOKEN], "another-token").ok();
    run(&["acp", "list", "--token-file", file], "another-token").ok();
    run(&["acp", "list", "--token", "wrong-token"], TOKEN).said(1);
    api(&daemon, &["info", "health"]).ok();
}

#[test]
fn a_refusal_is_1_with_title_detail_and_name() {
    let daemon = guarded();
    assert_shown!("refused", api(&daemon, &["acp", "list"]).said(1));
    let json = api(&daemon, &["acp", "list", "--json", "--token", "wrong-token"]).said(1);
    let problem: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&problem["type"], &problem["status"]), (&"urn:problem:unauthorized".into(), &401.into()));
}

#[test]
fn a_dead_agent_leaves_its_last_words() {
    let daemon = testkit::TestDaemon::start(TOMBOLO);
    let said = api(&daemon, &["acp", "send", "a", "--agent", "mock", &super::prompt(1, "/crash 3")]).said(1);
    assert!(said.contains("urn:problem:agent-exited\n  | mock: crashing with code 3, as told\n"), "{said}");
}

#[test]
fn a_senseless_command_is_2() {
    let nobody = nobody();
    for arguments in [
        &["acp"][..],
        &["acp", "send"],
        &["acp", "send", "a/b", "{}"],
        &["acp", "send", "a", "{}", "--agent", "Not A Name"],
        &["acp", "send", "a", "{}", "--timeout", "0s"],
        &["acp", "list", "--no-such-option"],
        &["acp", "list", "--token", "a", "--token-file", "b"],
        &["mcp", "set", "-d", "/", "x", "not json"],
        &["mcp", "list"],
        &["acp", "prepare", "a", "--agent", "mock", "--env", "NAME"],
        &["acp", "list", "--endpoint", "localhost:2468"],
        &["acp", "list", "--token", "two words"],
        &["nothing"],
    ] {
        let run = Run::of(api_at(&nobody, arguments).output().unwrap());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn an_unreachable_server_is_3() {
    let said = Run::of(api_at(&nobody(), &["acp", "list"]).output().unwrap()).said(3);
    assert!(said.starts_with("tombolo: could not reach the server: "), "{said}");
    assert!(said.contains("GET /v1/acp at http://127.0.0.1:"), "{said}");
}

#[test]
fn something_else_that_answers_is_4() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        "HTTP/1.1 500 Oh\r\ncontent-type: text/html\r\ncontent-length: 3\r\n\r\n<p>",
        "HTTP/1.1 302 Found\r\nlocation: http://example.org/\r\ncontent-length: 0\r\n\r\n",
    ] {
        let server = super::mirrored::Recorder::start(answer);
        let said = Run::of(api_at(&server.endpoint(), &["acp", "list"]).output().unwrap()).said(4);
        assert!(said.starts_with("tombolo: unexpected response"), "{said}");
    }
}

#[test]
fn a_local_file_that_cannot_be_read_is_5() {
    let nobody = nobody();
    for arguments in [
        &["fs", "write", "x", "/no/such/file"][..],
        &["fs", "write", "x", "/tmp"],
        &["fs", "upload-batch", "x", "/no/such/file"],
        &["acp", "list", "--token-file", "/no/such/file"],
    ] {
        Run::of(api_at(&nobody, arguments).output().unwrap()).said(5);
    }
}

/// Neither a refusal, nor a failure, nor a mistake repeats a token.
#[test]
fn a_token_is_never_printed() {
    let (daemon, nobody) =
        (testkit::TestDaemonOptions::default().arg("--token").arg("the-right-one").start(TOMBOLO), nobody());
    let with_secret = format!("http://user:{TOKEN}@127.0.0.1:1");
    let spaced = format!("{TOKEN} x");
    for (endpoint, arguments) in [
        (daemon.base(), &["acp", "list", "--token", TOKEN][..]),
        (daemon.base(), &["acp", "list", "--json", "--token", TOKEN]),
        (&nobody, &["acp", "list", "--token", TOKEN]),
        (&nobody, &["acp", "list", "--token", &spaced]),
        (&nobody, &["acp", "list", "--token", TOKEN, "--token-file", "x"]),
        (&nobody, &["acp", "list", "--token", TOKEN, "--no-such-option"]),
        (&with_secret, &["acp", "list"]),
    ] {
        let run = Run::of(api_at(endpoint, arguments).output().unwrap());
        assert_ne!(run.code, Some(0));
        assert!(!format!("{}{}", run.stdout, run.stderr).contains(TOKEN), "{arguments:?}: {}", run.stderr);
    }
    let help = tombolo().args(["api", "acp", "list", "--help"]).env("TOMBOLO_TOKEN", TOKEN).output().unwrap();
    assert!(!Run::of(help).ok().contains(TOKEN));
}
