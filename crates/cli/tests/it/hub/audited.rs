//! What is left of what was done.

use std::time::Duration;

use tokio::{io::AsyncReadExt, net::TcpListener};

use super::*;

/// All entries.
async fn entries(hub: &TestHub) -> Vec<Value> {
    let (mut entries, mut offset, mut more) = (Vec::new(), 0, true);
    while more {
        let (status, page) =
            answer(hub.request(Method::GET, &format!("/api/audit?cursor={offset}&limit=3"))).await;
        assert_eq!(status, 200, "{page}");
        for record in page["items"].as_array().unwrap() {
            assert_eq!(record["seq"].as_u64(), Some(offset + 1), "nothing is left out");
            offset += 1;
            entries.push(record["entry"].clone());
        }
        more = !page["nextCursor"].is_null();
    }
    entries
}

/// Everything that was done and every refusal is there, in order, with who, what and how it ended; reads are not, nor is
/// anything that was said. It outlives the hub.
#[tokio::test]
async fn everything_that_is_done_leaves_an_entry() {
    let (_daemon, mut hub) = both().await;
    let ana = somebody(&hub, "ana", json!({ "roles": { "default": "controller" } })).await;
    let at = |path: &str| format!("/api/runtimes/box/v1/{path}");
    let asked = [
        (&*ana, Method::POST, at("sessions/s"), json!({ "agent": "mock" }), 200),
        (
            &ana,
            Method::POST,
            at("sessions/s/messages?secret=in-a-query"),
            json!({ "message": "a-word-of-ana" }),
            202,
        ),
        (&ana, Method::GET, at("sessions/s"), Value::Null, 200),
        (&ana, Method::GET, at("fs/file?path=/x"), Value::Null, 403),
        (&ana, Method::DELETE, at("sessions/s"), Value::Null, 403),
        (&ana, Method::POST, "/api/users".into(), json!({ "name": "eve" }), 403),
        (&ana, Method::GET, "/api/tokens?user=owner".into(), Value::Null, 403),
        ("wrong", Method::GET, "/api/runtimes".into(), Value::Null, 401),
        (hub.token(), Method::GET, "/api/runtimes/none".into(), Value::Null, 404),
        (hub.token(), Method::POST, "/api/login".into(), json!({ "token": "wrong" }), 401),
        (hub.token(), Method::POST, "/api/login".into(), json!({ "token": ana }), 200),
        (hub.token(), Method::DELETE, at("sessions/s"), Value::Null, 204),
        (hub.token(), Method::DELETE, "/api/runtimes/box".into(), Value::Null, 204),
        (hub.token(), Method::GET, "/api/whoami".into(), Value::Null, 200),
    ];
    for (token, method, path, body, status) in asked {
        let mut request = hub.request_as(token, method, &path);
        if !body.is_null() {
            request = request.json(&body);
        }
        let (told, body) = answer(request).await;
        assert_eq!(told, status, "{path}: {body}");
    }
    let before = entries(&hub).await;
    let told: Vec<Value> = before
        .iter()
        .map(|entry| {
            for known in ["receivedAt", "durationMs", "method"] {
                assert!(!entry[known].is_null(), "{entry}");
            }
            assert_eq!(entry["peer"], "127.0.0.1");
            assert_eq!(entry["user"].is_null(), entry["token"].is_null());
            json!([
                entry["user"],
                entry["action"],
                entry["runtime"],
                entry["worker"],
                entry["path"],
                entry["status"]
            ])
        })
        .collect();
    let forwarded = |path: &str| format!("/api/runtimes/box/v1/{path}");
    let expected = json!([
        ["owner", "runtimes.add", null, null, "/api/runtimes", 201],
        ["owner", "users.add", null, null, "/api/users", 201],
        ["owner", "tokens.add", null, null, "/api/tokens", 201],
        ["ana", "sessions.create", "box", "s", forwarded("sessions/s"), 200],
        ["ana", "sessions.send", "box", "s", forwarded("sessions/s/messages"), 202],
        ["ana", "files.read", "box", null, forwarded("fs/file"), 403],
        ["ana", "sessions.delete", "box", "s", forwarded("sessions/s"), 403],
        ["ana", "users.add", null, null, "/api/users", 403],
        ["ana", "tokens.read", null, null, "/api/tokens", 403],
        [null, "runtimes.list", null, null, "/api/runtimes", 401],
        ["owner", "runtimes.read", "none", null, "/api/runtimes/none", 404],
        [null, "login", null, null, "/api/login", 401],
        ["ana", "login", null, null, "/api/login", 200],
        ["owner", "sessions.delete", "box", "s", forwarded("sessions/s"), 204],
        ["owner", "runtimes.remove", "box", null, "/api/runtimes/box", 204],
    ]);
    assert_eq!(json!(told), expected);
    let all = json!(before).to_string();
    for word in ["in-a-query", "a-word-of-ana", &ana, hub.token(), "wrong"] {
        assert!(!all.contains(word), "{word}");
    }
    hub.kill_and_restart();
    assert_eq!(entries(&hub).await, before);
}

/// Who asks for a name that is not ours, or from a page that may not, leaves an entry, wherever they ask; a flood leaves few.
#[tokio::test]
async fn names_that_are_not_ours_leave_an_entry() {
    let (_daemon, hub) = both().await;
    let before = entries(&hub).await.len();
    let asked = [
        ("host", Method::GET, "/api/runtimes", "runtimes.list", Value::Null),
        ("origin", Method::POST, "/api/runtimes/box/v1/sessions/s", "sessions.create", json!("box")),
        ("origin", Method::GET, "/elsewhere", "nowhere", Value::Null),
        ("host", Method::GET, "/api/health", "health", Value::Null),
    ];
    let ask = |name, method, path| hub.request(method, path).header(name, "http://evil.example");
    for (name, method, path, ..) in asked.clone() {
        let (status, told) = answer(ask(name, method, path)).await;
        assert_eq!((status, &told["type"]), (403, &json!("urn:problem:host-not-allowed")));
    }
    let told = entries(&hub).await.split_off(before);
    assert_eq!(told.len(), asked.len(), "{told:?}");
    for (entry, (_, method, path, action, runtime)) in told.iter().zip(asked) {
        // It is not looked at what token they have.
        let expected = json!({
            "receivedAt": entry["receivedAt"], "user": null, "token": null, "peer": "127.0.0.1",
            "action": action, "runtime": runtime, "worker": entry["worker"], "method": method.as_str(),
            "path": path, "status": 403, "durationMs": entry["durationMs"],
        });
        assert_eq!(*entry, expected);
    }
    const FLOOD: usize = 200;
    let mut last = 0;
    for _ in 0..FLOOD {
        last = answer(ask("origin", Method::GET, "/api/runtimes")).await.0;
    }
    assert_eq!(last, 429);
    assert!(entries(&hub).await.len() - before < FLOOD / 2);
    // Who asks for us is answered all the same.
    assert_eq!(answer(hub.request(Method::GET, "/api/runtimes")).await.0, 200);
}

/// A command leaves an entry also if whoever gave it is gone before it is answered.
#[tokio::test]
async fn who_leaves_early_leaves_an_entry() {
    let hub = TestHub::start(TOMBOLO);
    let runtime = TcpListener::bind("127.0.0.1:0").await.unwrap();
    hub.add_runtime("box", &format!("http://{}", runtime.local_addr().unwrap()), None).await;
    let request = hub.request(Method::POST, "/api/runtimes/box/v1/sessions/s/cancel");
    // It is asked, and does not answer.
    let asked = async {
        let (mut socket, _) = runtime.accept().await.unwrap();
        socket.read_u8().await.unwrap();
        socket
    };
    let _socket = tokio::select! {
        _ = request.send() => panic!("nobody has answered"),
        socket = within(secs(20), asked) => socket,
    };
    within(secs(20), async {
        while entries(&hub).await.last().is_none_or(|entry| entry["action"] != "sessions.cancel") {
            // Nobody announces it, and a token may ask only so often.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let entries = entries(&hub).await;
    assert_eq!(entries.last().unwrap()["status"], Value::Null, "{entries:?}");
}
