use std::collections::HashSet;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, within};

use super::*;
use crate::secs;

/// acp-1, acp-6: an instance lives under the client's name and is listed with its process.
#[tokio::test]
async fn an_instance_is_made_listed_and_ended() {
    let daemon = TestDaemon::start(TOMBOLO);
    let empty: Value = daemon.get("/v1/acp").await.json().await.unwrap();
    assert_eq!(empty, json!({ "items": [], "nextCursor": null }));
    let answer: Value =
        daemon.post("/v1/acp/my.id?agent=mock", &request(1, "initialize")).await.json().await.unwrap();
    assert_eq!(answer["result"]["protocolVersion"], 1);
    let instance = daemon.instance("my.id").await;
    assert_eq!((&instance["agent"], &instance["state"]), (&json!("mock"), &json!("running")));
    assert!(instance["pid"].as_u64().is_some_and(|pid| pid > 1));
    assert!(instance["startedAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(instance["events"], json!({ "oldest": 1, "newest": 1 }));
    assert_eq!(
        (&instance["pendingRequests"], &instance["subscribers"], &instance["exit"]),
        (&json!(0), &json!(0), &Value::Null)
    );
    assert_eq!(daemon.delete("/v1/acp/my.id").await.status(), 204);
    let empty: Value = daemon.get("/v1/acp").await.json().await.unwrap();
    assert_eq!(empty["items"], json!([]));
}

/// acp-2: fifty racing first messages start one process.
#[tokio::test]
async fn racing_first_messages_start_one_process() {
    let daemon = with_script(
        "import os,sys,json\nopen('starts','a').write('x')\nfor l in sys.stdin:\n m=json.loads(l); print(json.dumps({'jsonrpc':'2.0','id':m['id'],'result':os.getpid()}))",
    );
    let posts = (0..50).map(|id| {
        let request = daemon.request(Method::POST, "/v1/acp/a?agent=x").json(&request(id, "m"));
        async move { request.send().await.unwrap().json::<Value>().await.unwrap()["result"].as_u64().unwrap() }
    });
    let pids: HashSet<u64> = join_all(posts).await.into_iter().collect();
    assert_eq!(pids.len(), 1);
    assert_eq!(std::fs::read_to_string(daemon.home().join("starts")).unwrap(), "x");
}

async fn join_all<T: Send + 'static>(
    tasks: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let set: tokio::task::JoinSet<T> = tasks.collect();
    set.join_all().await
}

/// acp-3: what is asked of an instance that is there, not there, or another's.
#[tokio::test]
async fn agents_must_be_named_known_and_right() {
    let daemon = TestDaemonOptions::default().agent("x", &["cat"]).start(TOMBOLO);
    let ping = request(1, "initialize");
    check_problem(&problem(daemon.post("/v1/acp/a", &ping).await).await, 400, "urn:problem:agent-required");
    check_problem(
        &problem(daemon.post("/v1/acp/a?agent=nobody", &ping).await).await,
        400,
        "urn:problem:unknown-agent",
    );
    check_problem(
        &problem(daemon.post("/v1/acp/a?agent=NOT%20A", &ping).await).await,
        400,
        "urn:problem:invalid-request",
    );
    check_problem(&problem(daemon.get("/v1/acp/a").await).await, 404, "urn:problem:instance-not-found");
    assert_eq!(daemon.delete("/v1/acp/a").await.status(), 204);
    assert_eq!(daemon.post("/v1/acp/a?agent=mock", &ping).await.status(), 200);
    check_problem(
        &problem(daemon.post("/v1/acp/a?agent=x", &ping).await).await,
        409,
        "urn:problem:agent-mismatch",
    );
    assert_eq!(daemon.post("/v1/acp/a", &ping).await.status(), 200);
    assert_eq!(daemon.post("/v1/acp/a?agent=mock", &ping).await.status(), 200);
    for _ in 0..2 {
        assert_eq!(daemon.delete("/v1/acp/a").await.status(), 204);
    }
}

/// acp-4: two instances of one agent share nothing.
#[tokio::test]
async fn instances_of_one_agent_are_isolated() {
    let daemon = TestDaemon::start(TOMBOLO);
    for id in ["server-a", "server-b"] {
        assert_eq!(
            daemon.post(&format!("/v1/acp/{id}?agent=mock"), &request(1, "initialize")).await.status(),
            200
        );
    }
    let mut a = daemon.events("server-a", Some(1)).await;
    let mut b = daemon.events("server-b", Some(1)).await;
    let hang = daemon.request(Method::POST, "/v1/acp/server-a").json(&prompt(7, "only a\n/hang"));
    let hanging = tokio::spawn(hang.send());
    assert!(within(secs(5), a.next_of("message")).await.data.contains("only a"));
    // The same id is free on the other instance, and its answer goes there.
    assert_eq!(daemon.post("/v1/acp/server-b", &prompt(7, "only b")).await.status(), 200);
    assert!(within(secs(5), b.next_of("message")).await.data.contains("only b"));
    let (first, second) = (daemon.instance("server-a").await, daemon.instance("server-b").await);
    assert_ne!(first["pid"], second["pid"]);
    assert_eq!((&first["pendingRequests"], &second["pendingRequests"]), (&json!(1), &json!(0)));
    daemon.delete("/v1/acp/server-b").await;
    assert_eq!(daemon.instance("server-a").await["state"], "running");
    assert_eq!(
        daemon.post("/v1/acp/server-a", &json!({"jsonrpc":"2.0","method":"session/cancel"})).await.status(),
        202
    );
    let ended: Value = within(secs(5), hanging).await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(ended["result"]["stopReason"], "cancelled");
}

/// acp-5: a name outside the rule is refused, whatever is done with it.
#[tokio::test]
async fn a_server_id_outside_the_rule_is_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    let long = "x".repeat(129);
    for id in ["a%20b", "a%2Fb", "%C3%A9", "%2E%2E%20", long.as_str()] {
        for method in [Method::POST, Method::GET, Method::DELETE, Method::PUT] {
            let request = daemon.request(method.clone(), &format!("/v1/acp/{id}?agent=mock"));
            let response = request.json(&request_body(&method)).send().await.unwrap();
            check_problem(&problem(response).await, 400, "urn:problem:invalid-request");
        }
    }
}

fn request_body(method: &Method) -> Value {
    if *method == Method::PUT { json!({ "agent": "mock" }) } else { request(1, "initialize") }
}

/// acp-10b: an instance is prepared with its own directory, variables and arguments, and starts lazily.
#[tokio::test]
async fn a_prepared_instance_starts_lazily_with_its_own_options() {
    let daemon = with_script(
        "import os,sys,json\nfor l in sys.stdin:\n m=json.loads(l); print(json.dumps({'jsonrpc':'2.0','id':m['id'],'result':[os.getcwd(),os.environ.get('KEY'),sys.argv[1:],os.environ.get('TOMBOLO_TOKEN')]}))",
    );
    let cwd = daemon.home().join("project");
    std::fs::create_dir(&cwd).unwrap();
    let options = json!({ "agent": "x", "cwd": cwd, "env": { "KEY": "s3cret" }, "args": ["--model", "m"] });
    let put = |options: Value| daemon.request(Method::PUT, "/v1/acp/a").json(&options).send();
    let made = put(options.clone()).await.unwrap();
    assert_eq!(made.status(), 201);
    let text = made.text().await.unwrap();
    assert!(text.contains(r#""state":"starting""#) && text.contains(r#""pid":null"#), "{text}");
    assert!(!text.contains("s3cret"));
    assert_eq!(put(options.clone()).await.unwrap().status(), 200);
    // No agent needs to be named: the instance knows it.
    let answer: Value = daemon.post("/v1/acp/a?agent=x", &request(1, "m")).await.json().await.unwrap();
    assert_eq!(answer["result"], json!([cwd, "s3cret", ["--model", "m"], null]));
    check_problem(&problem(put(options).await.unwrap()).await, 409, "urn:problem:instance-running");
    for bad in [
        json!({ "agent": "x", "cwd": "relative" }),
        json!({ "agent": "x", "cwd": "/no/such/directory" }),
        json!({ "agent": "x", "env": { "A=B": "" } }),
        json!({ "agent": "x", "args": ["\u{0}"] }),
        json!({ "agent": "x", "unknown": 1 }),
        json!({ "cwd": "/" }),
    ] {
        let response = daemon.request(Method::PUT, "/v1/acp/b").json(&bad).send().await.unwrap();
        check_problem(&problem(response).await, 400, "urn:problem:invalid-request");
    }
    let nobody =
        daemon.request(Method::PUT, "/v1/acp/b").json(&json!({ "agent": "nobody" })).send().await.unwrap();
    check_problem(&problem(nobody).await, 400, "urn:problem:unknown-agent");
    let all: Value = daemon.get("/v1/acp").await.json().await.unwrap();
    assert_eq!(all["items"].as_array().unwrap().len(), 1, "what was refused changed nothing");
}

/// acp-2, acp-11: a message that cannot be sent starts nothing, and an agent that cannot be started says why.
#[tokio::test]
async fn nothing_is_started_for_nothing() {
    let daemon = TestDaemonOptions::default().agent("gone", &["/no/such/program"]).start(TOMBOLO);
    assert_eq!(daemon.post("/v1/acp/a?agent=mock", &json!({ "no": "message" })).await.status(), 400);
    let refused = problem(daemon.post("/v1/acp/b?agent=gone", &request(1, "m")).await).await;
    check_problem(&refused, 502, "urn:problem:agent-start");
    assert!(refused["detail"].as_str().unwrap().contains("/no/such/program"));
    let all: Value = daemon.get("/v1/acp").await.json().await.unwrap();
    assert_eq!(all["items"], json!([]));
}

/// acp-21: whoever deletes gets an answer when the process is gone.
#[tokio::test]
async fn deleting_ends_the_process() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &request(1, "initialize")).await;
    let pid = daemon.instance("a").await["pid"].as_u64().unwrap();
    daemon.delete("/v1/acp/a").await;
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}
