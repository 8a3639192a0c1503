//! WebSockets of a runtime, passed on.

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::{self, Message};

use super::{person::Socket, *};
use crate::{check_problem, problem};

/// Shows exactly what is typed.
const RAW_CAT: &str = "stty raw -echo; echo ready; exec cat";

/// Starts a script in `box`; the path of its terminal.
async fn terminal(owner: &Person, script: &str) -> String {
    terminal_in(owner, "box", script).await
}

/// Starts a script in a runtime, through the hub; the path of its terminal.
async fn terminal_in(owner: &Person, runtime: &str, script: &str) -> String {
    let processes = format!("/api/runtimes/{runtime}/v1/processes");
    let body = json!({
        "command": "sh", "args": ["-c", script], "terminal": { "columns": 80, "rows": 24 },
    });
    let started = owner.post(&processes, &body).await;
    assert_eq!(started.status(), 201);
    let process: Value = started.json().await.unwrap();
    format!("{processes}/{}/terminal", process["id"].as_str().unwrap())
}

async fn next(socket: &mut Socket) -> Message {
    within(secs(20), async {
        loop {
            match socket.next().await.unwrap().unwrap() {
                Message::Ping(_) | Message::Pong(_) => {}
                message => return message,
            }
        }
    })
    .await
}

/// All bytes up to and including `end`; texts are passed over.
async fn shows(socket: &mut Socket, end: &[u8]) -> Vec<u8> {
    let mut shown = Vec::new();
    while !shown.windows(end.len()).any(|window| window == end) {
        match next(socket).await {
            Message::Binary(bytes) => shown.extend_from_slice(&bytes),
            Message::Text(_) => {}
            other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&shown)),
        }
    }
    shown
}

/// How it is closed; everything before is passed over.
async fn closed(socket: &mut Socket) -> (u16, String) {
    loop {
        if let Message::Close(close) = next(socket).await {
            let close = close.unwrap();
            return (close.code.into(), close.reason.to_string());
        }
    }
}

/// What is typed on a terminal through the hub is shown as it is; what is said of it and how it ends too.
#[tokio::test]
async fn a_terminal_through_the_hub_echoes() {
    let (_daemon, hub) = both().await;
    let owner = Person::owner(&hub);
    let path = terminal(&owner, RAW_CAT).await;
    let (mut socket, _) = owner.open(&path).await.unwrap();
    shows(&mut socket, b"ready").await;
    let every: Vec<u8> = (0..=255).rev().chain(*b"\xc3\xff\xfe!\n").collect();
    socket.send(Message::binary(every.clone())).await.unwrap();
    let shown = shows(&mut socket, b"!\n").await;
    assert_eq!(shown[shown.len() - every.len()..], every);
    // What nobody understands is refused by the daemon, in its own words.
    socket.send(Message::text("beep")).await.unwrap();
    let (code, reason) = closed(&mut socket).await;
    assert!(code == 1007 && reason.starts_with("not a command"), "{code} {reason}");
    let path = terminal(&owner, "stty -echo; echo ready; read x; stty size").await;
    let (mut socket, _) = owner.open(&path).await.unwrap();
    shows(&mut socket, b"ready").await;
    socket.send(Message::text(r#"{"type":"resize","columns":132,"rows":50}"#)).await.unwrap();
    socket.send(Message::binary(b"\n".to_vec())).await.unwrap();
    shows(&mut socket, b"50 132\r\n").await;
    assert_eq!(closed(&mut socket).await, (1000, "the process has ended".into()));
}

/// Who leaves, leaves; the process goes on, and whoever comes back sees what was shown.
#[tokio::test]
async fn who_leaves_ends_nothing() {
    let (_daemon, hub) = both().await;
    let owner = Person::owner(&hub);
    let path = terminal(&owner, RAW_CAT).await;
    let (mut socket, _) = owner.open(&path).await.unwrap();
    shows(&mut socket, b"ready").await;
    socket.close(None).await.unwrap();
    within(secs(20), async { while socket.next().await.is_some_and(|message| message.is_ok()) {} }).await;
    let (mut again, _) = owner.open(&path).await.unwrap();
    shows(&mut again, b"ready").await;
}

/// What the runtime refuses is told as it says it; workers are watched where the hub says.
#[tokio::test]
async fn what_is_refused_is_told() {
    let (_daemon, hub) = both().await;
    let owner = Person::owner(&hub);
    let body = json!({ "command": "cat" });
    let process: Value = owner.post("/api/runtimes/box/v1/processes", &body).await.json().await.unwrap();
    let piped = format!("/api/runtimes/box/v1/processes/{}/terminal", process["id"].as_str().unwrap());
    hub.add_runtime("down", "http://127.0.0.1:9", None).await;
    for (path, status, kind) in [
        (&*piped, 409, "urn:problem:not-a-terminal"),
        ("/api/runtimes/down/v1/processes/x/terminal", 502, "urn:problem:runtime-unavailable"),
        ("/api/runtimes/none/v1/processes/x/terminal", 404, "urn:problem:runtime-not-found"),
        ("/api/runtimes/box/v1/workers/s/events/ws", 404, "urn:problem:not-found"),
    ] {
        let Err(tungstenite::Error::Http(refused)) = owner.open(path).await else { panic!("{path}") };
        let told: Value = serde_json::from_slice(refused.body().as_ref().unwrap()).unwrap();
        check_problem(&told, status, kind);
        if kind == "urn:problem:not-found" {
            let detail = told["detail"].as_str().unwrap();
            assert!(detail.contains("/api/runtimes/box/workers/s/events/ws"), "{detail}");
        }
    }
}

/// A terminal of a daemon that joined is passed on as any other, and what waits in it is in the inbox.
#[tokio::test]
async fn a_daemon_that_joined_is_used_as_any_other() {
    let hub = TestHub::start(TOMBOLO);
    let _daemon = join(&hub, hub.base(), "box").await;
    let owner = Person::owner(&hub);
    check_terminal(&owner, "box").await;
    check_inbox(&owner, "box").await;
}

/// A terminal of the runtime shows what is typed through the hub.
pub(super) async fn check_terminal(owner: &Person, runtime: &str) {
    let path = terminal_in(owner, runtime, RAW_CAT).await;
    let (mut socket, _) = owner.open(&path).await.unwrap();
    shows(&mut socket, b"ready").await;
    socket.send(Message::binary(b"echo!".to_vec())).await.unwrap();
    shows(&mut socket, b"echo!").await;
}

/// What waits in the runtime, where nothing waited before, is told and listed; who answers is told, whoever they say they are.
pub(super) async fn check_inbox(owner: &Person, runtime: &str) {
    let mut listener = owner.listen().await;
    assert_eq!(listener.next().await["waits"], json!([]));
    let session = format!("/api/runtimes/{runtime}/v1/sessions/s");
    let ask = json!({ "message": "/permission" });
    assert_eq!(owner.post(&session, &json!({ "agent": "mock" })).await.status(), 200);
    assert_eq!(owner.post(&format!("{session}/messages"), &ask).await.status(), 202);
    let asked = listener.until("opened").await["wait"].clone();
    assert_eq!((&asked["runtimeId"], &asked["sessionId"]), (&json!(runtime), &json!("s")));
    assert_eq!(owner.get("/api/waits").await["items"], json!([asked]));
    let path = format!("/api/waits/{runtime}/{}", asked["id"].as_str().unwrap());
    let reject = json!({ "answer": "reject", "author": "mallory" });
    let answer = owner.request(Method::POST, &path).header("tombolo-author", "mallory").json(&reject);
    assert_eq!(answer.send().await.unwrap().status(), 200);
    let settled = listener.until("settled").await["wait"].clone();
    assert_eq!((&settled["id"], &settled["settlement"]["author"]), (&asked["id"], &json!(owner.name)));
    assert_eq!(owner.get("/api/waits").await["items"], json!([]));
    let again = problem(owner.post(&path, &reject).await).await;
    check_problem(&again, 409, "urn:problem:wait-settled");
    assert!(again["detail"].as_str().unwrap().contains(&format!("by {}", owner.name)), "{again}");
}

/// observation-49: a terminal ends with what let somebody have it.
#[tokio::test]
async fn a_terminal_ends_with_the_token() {
    let (_daemon, hub) = both().await;
    let path = terminal(&Person::owner(&hub), RAW_CAT).await;
    let (id, secret) = token(&hub, json!({ "name": "terminal", "user": "owner" })).await;
    let (mut socket, _) = Person::new(&hub, "owner", &secret).open(&path).await.unwrap();
    shows(&mut socket, b"ready").await;
    answer(hub.request(Method::DELETE, &format!("/api/tokens/{id}"))).await;
    assert_eq!(closed(&mut socket).await, (1008, "permission was revoked".into()));
}
