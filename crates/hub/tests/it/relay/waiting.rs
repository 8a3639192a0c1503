//! What waits for somebody, until it need not wait any more.

use std::time::{Duration, Instant};

use protocol::relay::{RawJson, RelayErrorCode};
use relay::Ask;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    approved::{answer, lent, open, wait},
    device::Offering,
    world::{APPROVAL_MAX, World, files, soon, tools, until},
};

/// How long anything may take that need not wait any more.
const AT_ONCE: Duration = Duration::from_secs(1);

fn use_open() -> Ask {
    Ask::new("tool.call", RawJson::from_value(&json!({ "name": "open", "arguments": { "path": "a" } })))
}

/// relay-36: whoever says how long it may take waits no longer, for people either.
#[tokio::test]
async fn a_request_waits_for_people_no_longer_than_it_says() {
    let (world, device, environment, _) = lent("always_ask", json!({})).await;
    let since = Instant::now();
    let call = json!({ "name": "open", "arguments": { "path": "a" } });
    let body = json!({ "method": "tool.call", "params": call, "timeout_ms": 100 });
    let (status, problem) = world.post(&environment, body.to_string()).await;
    assert_eq!((status, &problem["relay"]["code"]), (504, &json!("timeout")), "{problem}");
    assert!(since.elapsed() < APPROVAL_MAX / 2, "{:?}", since.elapsed());
    assert!(open(&world).await.is_empty() && device.asked().is_empty());
}

/// relay-36: what somebody is asked says until when, which is no longer than whoever asks waits.
#[tokio::test]
async fn a_wait_ends_when_whoever_asks_no_longer_waits() {
    let (world, _device, environment, _) = lent("always_ask", json!({})).await;
    let call = json!({ "name": "open", "arguments": { "path": "a" } });
    let body = json!({ "method": "tool.call", "params": call, "timeout_ms": 1000 });
    let seen = async {
        let wait = wait(&world).await;
        let at = |name: &str| wait[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(
            at("expiresAt").duration_since(at("openedAt")) <= jiff::SignedDuration::from_secs(1),
            "{wait}"
        );
        answer(&world, &world.token, &wait, json!({ "permission": "once" })).await
    };
    let ((status, _), _) = tokio::join!(world.post(&environment, body.to_string()), seen);
    assert_eq!(status, 200);
}

/// relay-120: a device that is lost while somebody is asked fails what waits, and nothing is asked of it when it is back.
#[tokio::test]
async fn a_device_that_is_lost_ends_what_waits_for_people() {
    let (world, mut device, _, runtime) = lent("always_ask", json!({})).await;
    let waiting = runtime.peer.request(use_open()).await;
    let asked = wait(&world).await;
    let since = Instant::now();
    device.unplug();
    assert_eq!(soon(waiting.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
    until(|| async { open(&world).await.is_empty() }).await;
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    let (status, late) = answer(&world, &world.token, &asked, json!({ "permission": "once" })).await;
    assert_eq!((status, &late["type"]), (409, &json!("urn:problem:wait-settled")));
    until(|| async {
        world.audit().await.iter().any(|entry| entry.error == Some(RelayErrorCode::RelayDisconnected))
    })
    .await;
    let entry = world.audit().await.remove(0);
    assert_eq!(entry.summary["wait_id"], asked["id"]);
}

/// relay-34, relay-36: those who wait for the same are each asked about no later than they would be alone.
#[tokio::test]
async fn those_who_wait_for_their_turn_wait_no_longer() {
    let (world, device, _, runtime) = lent("ask_once", json!({})).await;
    let since = Instant::now();
    let ask = || async { runtime.peer.request(use_open()).await.outcome().await };
    let (one, two, three) = tokio::join!(ask(), ask(), ask());
    for outcome in [one, two, three] {
        let error = outcome.unwrap_err();
        assert_eq!(
            (error.code, &error.details["reason"]),
            (RelayErrorCode::ApprovalRequired, &json!("expired"))
        );
    }
    assert!(since.elapsed() < APPROVAL_MAX + AT_ONCE, "{:?}", since.elapsed());
    assert!(open(&world).await.is_empty() && device.asked().is_empty());
}

/// relay-118, relay-157: what is taken back ends at once for those who wait until others were asked about the same, too.
#[tokio::test]
async fn those_who_wait_for_their_turn_are_told_that_it_is_taken_back() {
    let (world, device, _, first) = lent("ask_once", json!({})).await;
    world.add_runtime("other").await;
    let grant = world.grant_to("other", "laptop", json!([tools()])).await;
    let second = world.runtime(&world.environment(json!({ "runtimeId": "other" })).await).await;
    let _theirs = first.peer.request(use_open()).await;
    let asked = wait(&world).await;
    let waiting = second.peer.request(use_open()).await;
    let status = || async { world.ok(Method::GET, "/api/v1/relay/status", None).await };
    until(|| async { status().await["environments"][1]["pendingRequests"] == 1 }).await;
    let since = Instant::now();
    world.ok(Method::DELETE, &format!("/api/grants/{grant}"), None).await;
    assert_eq!(soon(waiting.outcome()).await.unwrap_err().code, RelayErrorCode::PermissionDenied);
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    assert_eq!(open(&world).await[0]["id"], asked["id"], "the others still wait");
    assert!(device.asked().is_empty());
}

/// relay-143: what cannot be shown to whoever is asked is not asked: nothing is done that somebody has not seen.
#[tokio::test]
async fn what_cannot_be_shown_is_refused() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([{ "capability": "shell", "enabled": true }])).await;
    let environment = world.environment(json!({})).await;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for more in [deep.as_str(), "1e999", r#""\ud800""#, r#"{"a":1,"a":2}"#] {
        let params = format!(r#"{{"command":"ls","x":{more}}}"#);
        let body = format!(r#"{{"method":"shell.start","params":{params}}}"#);
        let (status, problem) = world.post(&environment, body).await;
        assert_eq!((status, &problem["relay"]["code"]), (400, &json!("invalid_request")), "{more} {problem}");
    }
    assert!(open(&world).await.is_empty() && device.asked().is_empty());
}

/// relay-143: a person who approves a large request can read all of it, also its end.
#[tokio::test]
async fn a_large_request_is_shown_in_full() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([files("rw")])).await;
    let environment = world.environment(json!({ "approvals": { "file.write": "always_ask" } })).await;
    let params = json!({
        "a": vec![json!({ "": 0 }); 10_000], "content": format!("{}HIDDEN-PART", "x".repeat(500_000)),
        "path": "some/file", "root_id": "main",
    });
    let reason = format!("{}HIDDEN-REASON", "y".repeat(2000));
    let body = json!({
        "method": "file.write", "params": params, "context": { "user_visible_reason": reason },
    });
    let seen = async {
        let wait = wait(&world).await;
        assert!(wait["request"]["permission"]["input"] == params, "not all of it is shown");
        assert_eq!(wait["request"]["permission"]["reason"], json!(reason));
        answer(&world, &world.token, &wait, json!({ "permission": "once" })).await
    };
    let ((status, body), _) = tokio::join!(world.post(&environment, body.to_string()), seen);
    assert_eq!(status, 200, "{body}");
}

/// relay-34, relay-143: a request that takes too much memory to be shown is refused, and nobody is asked.
#[tokio::test]
async fn what_is_too_large_to_be_shown_is_refused() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("rw")])).await;
    let environment = world.environment(json!({ "approvals": { "file.write": "always_ask" } })).await;
    let params =
        json!({ "a": vec![0; 300_000], "content": "", "path": "a", "root_id": "main", "encoding": "utf-8" });
    let body = json!({ "method": "file.write", "params": params });
    let (status, problem) = world.post(&environment, body.to_string()).await;
    assert_eq!((status, &problem["relay"]["code"]), (400, &json!("invalid_request")), "{problem}");
    assert!(problem["relay"]["details"]["limit"].is_u64(), "{problem}");
    assert!(open(&world).await.is_empty() && device.asked().is_empty());
}

/// relay-154: what a request is said to be for is short.
#[tokio::test]
async fn what_a_request_is_for_is_short() {
    let (world, device, environment, _) = lent("ask_once_per_run", json!({})).await;
    let call = json!({ "name": "open", "arguments": { "path": "a" } });
    for name in ["session_id", "run_id", "tool_call_id"] {
        let context: Value = json!({ name: "x".repeat(300) });
        let body = json!({ "method": "tool.call", "params": call, "context": context });
        let (status, problem) = world.post(&environment, body.to_string()).await;
        assert_eq!((status, &problem["relay"]["code"]), (400, &json!("invalid_request")), "{name} {problem}");
        assert_eq!(problem["relay"]["details"]["field"], name);
    }
    until(|| async { world.audit().await.len() == 3 }).await;
    for entry in world.audit().await {
        assert_eq!([entry.session_id, entry.run_id, entry.tool_call_id], [const { None }; 3]);
    }
    assert!(device.asked().is_empty());
}

/// What nobody waits for any more while it is being written down leaves nothing open behind it.
#[tokio::test]
async fn what_is_dropped_while_it_is_written_down_is_not_open_for_ever() {
    let (world, _device, _, runtime) = lent("always_ask", json!({})).await;
    let status = || async { world.ok(Method::GET, "/api/v1/relay/status", None).await };
    let pending = |count: u64| async move { status().await["environments"][0]["pendingRequests"] == count };
    let mut file = rusqlite::Connection::open(world.file("relay-audit.db")).unwrap();
    let lock = file.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let waiting = runtime.peer.request(use_open()).await;
    until(|| pending(1)).await;
    drop(waiting);
    until(|| pending(0)).await;
    drop(lock);
    assert_eq!(status().await["waits"], json!([]));
    let open = |directory: &std::path::Path| {
        let file = rusqlite::Connection::open(directory.join("relay-audit.db")).unwrap();
        let count = "SELECT count(*) FROM notes WHERE kind = 'open'";
        assert_eq!(file.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    };
    world.restarted_after(open).await;
}
