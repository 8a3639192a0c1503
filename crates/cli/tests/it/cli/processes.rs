//! daemon-3, daemon-13: processes, by the command line.

use std::process::Stdio;

use serde_json::Value;
use testkit::TestDaemon;

use super::{Run, api, api_at, api_with_input, assert_shown};
use crate::TOMBOLO;

/// Starts a process; its id.
fn start(daemon: &TestDaemon, arguments: &[&str]) -> String {
    let started = api(daemon, &[&["processes", "start", "--json"], arguments].concat()).ok();
    serde_json::from_str::<Value>(&started).unwrap()["id"].as_str().unwrap().to_owned()
}

fn wait(daemon: &TestDaemon, id: &str) -> Value {
    let ended = api(daemon, &["processes", "wait", id, "--json"]).ok();
    serde_json::from_str::<Value>(&ended).unwrap()["exit"].clone()
}

#[tokio::test]
async fn processes_are_started_shown_waited_for_and_deleted() {
    let daemon = TestDaemon::start(TOMBOLO);
    let home = daemon.home();
    let sh = [
        "processes",
        "start",
        "--cwd",
        home.to_str().unwrap(),
        "--env",
        "A=b=c",
        "--",
        "sh",
        "-c",
        "echo $A; exit 3",
    ];
    assert_shown!("processes_start", api(&daemon, &sh).ok());
    let id = start(&daemon, &["--", "sh", "-c", "echo out; echo err >&2; exit 3"]);
    assert_eq!(wait(&daemon, &id)["code"], 3);
    assert_shown!("processes_wait", api(&daemon, &["processes", "wait", &id, "--timeout", "5s"]).ok());
    assert_shown!("processes_get", api(&daemon, &["processes", "get", &id]).ok());
    let listed = api(&daemon, &["processes", "list"]).ok();
    assert!(listed.contains(&id) && listed.contains("exited (3)") && listed.lines().count() == 3, "{listed}");
    for (arguments, path) in [
        (&["processes", "list", "--json"][..], "/v1/processes".to_owned()),
        (&["processes", "get", &id, "--json"], format!("/v1/processes/{id}")),
        (&["processes", "logs", &id, "--json"], format!("/v1/processes/{id}/logs")),
    ] {
        assert_eq!(api(&daemon, arguments).ok(), daemon.get(&path).await.text().await.unwrap());
    }
    assert_eq!(api(&daemon, &["processes", "delete", &id]).said(0), format!("deleted process {id}\n"));
    assert!(api(&daemon, &["processes", "get", &id]).said(1).contains("urn:problem:process-not-found"));
}

/// Issue 17: "`/v1/processes/run|stop|kill`".
#[test]
fn a_process_is_run_with_its_output_and_its_exit_code() {
    let daemon = TestDaemon::start(TOMBOLO);
    let run = |script: &str| api(&daemon, &["processes", "run", "--timeout", "2s", "--", "sh", "-c", script]);
    assert_eq!(run("echo out").ok(), "out\n");
    let failed = run("echo out; echo err >&2; exit 3");
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(3), "out\n"));
    assert_eq!(failed.stderr, "err\ntombolo: the process exited with code 3\n");
    assert_eq!(run("kill -9 $$").code, Some(137));
    assert_eq!(run("exec sleep 600").code, Some(124));
    for (how, signal) in [("stop", 15), ("kill", 9)] {
        let id = start(&daemon, &["--", "sleep", "600"]);
        let ended = api(&daemon, &["processes", how, &id, "--wait", "20s"]).ok();
        assert!(ended.contains(&format!("exited (signal {signal})")), "{ended}");
    }
}

#[test]
fn logs_go_where_they_came_from_and_following_ends_with_the_process() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = start(&daemon, &["--", "sh", "-c", "read line; echo out $line; echo err >&2"]);
    let mut command = api_at(daemon.base(), &["processes", "logs", &id, "--follow"]);
    let following = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert_eq!(
        api_with_input(&daemon, &["processes", "input", &id], b"now\n").said(0),
        format!("sent to process {id}\n")
    );
    let followed = Run::of(following.wait_with_output().unwrap());
    assert_eq!(
        (followed.code, followed.stdout.as_str(), followed.stderr.as_str()),
        (Some(0), "out now\n", "err\n")
    );
    let again = api(&daemon, &["processes", "logs", &id]);
    assert_eq!((again.code, again.stdout.as_str(), again.stderr.as_str()), (Some(0), "out now\n", "err\n"));
    let json = api(&daemon, &["processes", "logs", &id, "--follow", "--json"]).ok();
    let events: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["data"]["seq"], 1, "{json}");
    assert_eq!(events.last().unwrap()["event"], "exited", "{json}");
}

/// A page ends after 1 MiB: this takes two, and all of it is kept.
#[test]
fn long_logs_are_printed_whole() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = start(&daemon, &["--", "seq", "250000"]);
    wait(&daemon, &id);
    let printed = api(&daemon, &["processes", "logs", &id]).ok();
    assert!(printed.len() > 1 << 20);
    assert!(printed.lines().map(|line| line.parse::<u32>().unwrap()).eq(1..=250_000));
}

#[test]
fn input_is_closed_and_signals_are_sent() {
    let daemon = TestDaemon::start(TOMBOLO);
    let cat = start(&daemon, &["--", "cat"]);
    let file = daemon.home().join("input");
    std::fs::write(&file, "all of it\n").unwrap();
    api(&daemon, &["processes", "input", &cat, file.to_str().unwrap(), "--close"]).said(0);
    assert_eq!(wait(&daemon, &cat)["code"], 0);
    assert_eq!(api(&daemon, &["processes", "logs", &cat]).ok(), "all of it\n");
    let sleeper = start(&daemon, &["--", "sleep", "100"]);
    api(&daemon, &["processes", "signal", &sleeper, "sigterm"]).said(0);
    assert_eq!(wait(&daemon, &sleeper)["signal"], 15);
    let late = api(&daemon, &["processes", "signal", &sleeper, "INT"]).said(1);
    assert!(late.contains("urn:problem:process-ended"), "{late}");
    for wrong in [
        &["processes", "signal", &sleeper, "NOPE"][..],
        &["processes", "resize", &sleeper, "0x5"],
        &["processes", "start"],
    ] {
        assert_eq!(api(&daemon, wrong).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_terminal_is_typed_on_resized_and_left_with_the_process() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = start(&daemon, &["--terminal", "80x24", "--", "sh"]);
    assert_eq!(
        api(&daemon, &["processes", "resize", &id, "132x43"]).said(0),
        format!("resized the terminal of {id} to 132 columns and 43 rows\n")
    );
    let run = api_with_input(&daemon, &["processes", "terminal", &id], b"stty size\nexit 5\n");
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(0), "the process exited with code 5\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("43 132"), "{:?}", run.stdout);
    let another = start(&daemon, &["--terminal", "80x24", "--", "sh"]);
    let run = api_with_input(&daemon, &["processes", "terminal", &another], b"echo one two | tr o 0\n");
    assert_eq!(
        run.stderr, "the process exited with code 0\n",
        "the end of the input is typed: {}",
        run.stdout
    );
    assert!(run.stdout.contains("0ne tw0"), "{:?}", run.stdout);
    let none = start(&daemon, &["--", "sleep", "100"]);
    let refused = api(&daemon, &["processes", "terminal", &none]).said(1);
    assert!(refused.contains("urn:problem:not-a-terminal"), "{refused}");
}
