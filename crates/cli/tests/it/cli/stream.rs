//! daemon-3: streams by the command line, so far and followed.

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Stdio},
};

use serde_json::Value;
use testkit::{TestDaemon, TestDaemonOptions, within_blocking};

use super::{INITIALIZE, api, api_at, assert_shown, prompt};
use crate::{TOMBOLO, secs};

/// A stream that is being followed; it ends with the test.
struct Following {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Following {
    fn start(daemon: &TestDaemon, arguments: &[&str]) -> Self {
        let mut command =
            api_at(daemon.base(), &[&["acp", "stream", "--follow", "--json"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> Option<Value> {
        self.lines.next().map(|line| serde_json::from_str(&line.unwrap()).unwrap())
    }

    /// Its exit code, once it has ended by itself.
    fn ended(&mut self) -> Option<i32> {
        let mut code = None;
        within_blocking(secs(10), || {
            let status = self.child.try_wait().unwrap();
            code = status.and_then(|status| status.code());
            status.is_some()
        });
        code
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(daemon: &TestDaemon, message: &str) {
    api(daemon, &["acp", "send", "a", "--agent", "mock", message]).ok();
}

#[test]
fn what_was_said_so_far_is_printed() {
    let daemon = TestDaemon::start(TOMBOLO);
    send(&daemon, INITIALIZE);
    send(&daemon, &prompt(2, "/chunks 2\n/garbage"));
    assert_shown!("acp_stream", api(&daemon, &["acp", "stream", "a"]).ok());
    assert_shown!("acp_stream_json", api(&daemon, &["acp", "stream", "a", "--json", "--after", "3"]).ok());
    assert_eq!(api(&daemon, &["acp", "stream", "a", "--after", "9"]).ok(), "");
    let unknown = api(&daemon, &["acp", "stream", "b"]).said(1);
    assert!(unknown.contains("urn:problem:instance-not-found"), "{unknown}");
}

#[test]
fn an_instance_that_said_nothing_prints_nothing() {
    let daemon = TestDaemon::start(TOMBOLO);
    api(&daemon, &["acp", "prepare", "a", "--agent", "mock"]).ok();
    assert_eq!(api(&daemon, &["acp", "stream", "a"]).ok(), "");
}

#[test]
fn what_fell_out_is_told_as_a_gap() {
    let daemon = TestDaemonOptions::default().arg("--events-max").arg("4").start(TOMBOLO);
    send(&daemon, &prompt(1, "/chunks 20"));
    let shown = api(&daemon, &["acp", "stream", "a", "--after", "1", "--json"]).ok();
    let events: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["event"], &events[0]["id"]), (&"gap".into(), &Value::Null));
    assert_eq!(events.last().unwrap()["id"], 21);
}

#[test]
fn a_followed_stream_goes_on_and_ends_with_the_instance() {
    let daemon = TestDaemon::start(TOMBOLO);
    send(&daemon, INITIALIZE);
    let mut following = Following::start(&daemon, &["a"]);
    assert_eq!(following.next().unwrap()["id"], 1);
    send(&daemon, &prompt(2, "later"));
    let update = following.next().unwrap();
    assert_eq!((&update["event"], &update["id"]), (&"message".into(), &2.into()));
    assert_eq!(update["data"]["params"]["update"]["content"]["text"], "later");
    assert_eq!(following.next().unwrap()["data"]["id"], 2);
    api(&daemon, &["acp", "delete", "a"]).said(0);
    assert_eq!(following.next().unwrap()["event"], "exited");
    assert_eq!((following.next(), following.ended()), (None, Some(0)));
}

#[test]
fn a_followed_stream_ends_with_the_agent() {
    let daemon = TestDaemon::start(TOMBOLO);
    send(&daemon, INITIALIZE);
    let mut following = Following::start(&daemon, &["a", "--after", "1"]);
    api(&daemon, &["acp", "send", "a", &prompt(2, "/crash 7")]).said(1);
    let exited = following.next().unwrap();
    assert_eq!((&exited["event"], &exited["data"]["code"]), (&"exited".into(), &7.into()));
    assert_eq!((following.next(), following.ended()), (None, Some(0)));
}

#[test]
fn a_daemon_that_goes_away_is_told_after_some_tries() {
    let daemon = TestDaemon::start(TOMBOLO);
    send(&daemon, INITIALIZE);
    let mut following = Following::start(&daemon, &["a"]);
    assert_eq!(following.next().unwrap()["id"], 1);
    daemon.signal("KILL");
    assert_eq!(following.next(), None);
    assert_eq!(following.ended(), Some(3));
}
