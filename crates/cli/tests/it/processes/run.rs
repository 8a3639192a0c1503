//! A process that is run to its end by one request, and the two short ways to end a running one.

use super::*;
use crate::{check_problem, problem, secs};
use testkit::within;

async fn run(daemon: &TestDaemon, request: &Value) -> Value {
    let response = within(secs(30), daemon.post("/v1/processes/run", request)).await;
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    response.json().await.unwrap()
}

async fn listed(daemon: &TestDaemon) -> usize {
    let list: Value = daemon.get("/v1/processes").await.json().await.unwrap();
    list["items"].as_array().unwrap().len()
}

/// Issue 17: "`/v1/processes/run|stop|kill`".
#[tokio::test]
async fn a_process_is_run_to_its_end() {
    let daemon = TestDaemon::start(TOMBOLO);
    let script = "pwd; echo $A >&2; cat; exit 3";
    let request = json!({ "command": "sh", "args": ["-c", script], "cwd": "/", "env": { "A": "b" } });
    let mut result = run(&daemon, &request).await;
    assert!(result["durationMs"].take().is_u64());
    let expected = json!({
        "exitCode": 3, "signal": null, "timedOut": false, "stdout": "/\n", "stderr": "b\n",
        "stdoutTruncated": false, "stderrTruncated": false, "durationMs": null,
    });
    assert_eq!(result, expected);
    let killed = run(&daemon, &json!({ "command": "sh", "args": ["-c", "kill -9 $$"] })).await;
    assert_eq!((&killed["exitCode"], &killed["signal"]), (&Value::Null, &json!(9)));
    within(secs(20), async { while listed(&daemon).await > 0 {} }).await;
}

#[tokio::test]
async fn output_and_time_of_a_run_are_limited() {
    let daemon = TestDaemon::start(TOMBOLO);
    let script = "printf 0123456789; printf 0123 >&2";
    let limited = json!({ "command": "sh", "args": ["-c", script], "maxOutputBytes": 4 });
    let result = run(&daemon, &limited).await;
    assert_eq!((&result["stdout"], &result["stdoutTruncated"]), (&json!("0123"), &json!(true)));
    assert_eq!((&result["stderr"], &result["stderrTruncated"]), (&json!("0123"), &json!(false)));
    // Far more than the log of a process keeps.
    let much = json!({ "command": "sh", "args": ["-c", "head -c 20000000 /dev/zero | tr '\\0' x"] });
    let result = run(&daemon, &much).await;
    assert_eq!((&result["exitCode"], &result["stdoutTruncated"]), (&json!(0), &json!(true)));
    let length = result["stdout"].as_str().unwrap().len();
    assert!((1..=1 << 20).contains(&length), "{length}");

    let slow = json!({ "command": "sh", "args": ["-c", "echo early; sleep 600"], "timeoutMs": 500 });
    let result = run(&daemon, &slow).await;
    assert_eq!((&result["timedOut"], &result["exitCode"]), (&json!(true), &Value::Null));
    assert_eq!(result["stdout"], "early\n");
    within(secs(20), async { while listed(&daemon).await > 0 {} }).await;
    for wrong in [
        json!({ "command": "" }),
        json!({ "command": "true", "timeoutMs": 0 }),
        json!({ "command": "true", "maxOutputBytes": (1 << 20) + 1 }),
        json!({ "command": "true", "terminal": { "columns": 1, "rows": 1 } }),
    ] {
        let refused = problem(daemon.post("/v1/processes/run", &wrong).await).await;
        check_problem(&refused, 400, "urn:problem:invalid-request");
    }
}

/// A client that leaves ends what it runs.
#[tokio::test]
async fn a_run_ends_with_its_client() {
    let daemon = TestDaemon::start(TOMBOLO);
    let request = json!({ "command": "sleep", "args": ["600"] });
    let running = daemon.request(Method::POST, "/v1/processes/run").json(&request).send();
    let started = within(secs(20), async { while listed(&daemon).await == 0 {} });
    // The request is dropped as soon as the process is listed.
    tokio::select! {
        response = running => panic!("it ended: {response:?}"),
        () = started => {}
    }
    within(secs(20), async { while listed(&daemon).await > 0 {} }).await;
}

#[tokio::test]
async fn a_process_is_stopped_or_killed() {
    let daemon = TestDaemon::start(TOMBOLO);
    let ignoring = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
    let id = sh(&daemon, ignoring).await;
    within(secs(20), text(&mut follow(&daemon, &id).await)).await;
    let end = async |how: &str| -> Value {
        let response = daemon.post_text(&path(&id, how), "").await;
        assert_eq!(response.status(), 200);
        response.json().await.unwrap()
    };
    assert_eq!(end("/stop?waitMs=300").await["state"], "running");
    let killed = end("/kill?waitMs=20000").await;
    assert_eq!((&killed["state"], &killed["exit"]["signal"]), (&json!("exited"), &json!(9)));
    // It has ended already.
    assert_eq!(end("/stop").await, killed);
    let id = sh(&daemon, "exec sleep 600").await;
    let stopped: Value = daemon.post_text(&path(&id, "/stop?waitMs=20000"), "").await.json().await.unwrap();
    assert_eq!(stopped["exit"]["signal"], 15);
    let unknown = daemon.post_text("/v1/processes/prc_0198c0de0198c0de0198c0de0198c0de/kill", "").await;
    check_problem(&problem(unknown).await, 404, "urn:problem:process-not-found");
}
