//! The doors of an environment.

use std::sync::atomic::Ordering::SeqCst;

use futures_util::{FutureExt, StreamExt};
use protocol::relay::{RawJson, RelayContext, RelayErrorCode};
use relay::{Ask, Part};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use super::{
    device::Offering,
    raw::{CONNECT, Raw, door, hello, request},
    world::{Environment, World, files, readme, shell, soon, until},
};

fn hang() -> Value {
    json!({ "root_id": "main", "path": "hang" })
}

/// relay-85, relay-116, relay-118: what is asked once comes to the device with its terms, and what comes of it comes back.
#[tokio::test]
async fn a_request_comes_to_the_device_and_back() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro"), shell()])).await;
    let environment = world.environment(json!({ "sessionId": "s1" })).await;
    let (status, body) = world.ask(&environment, "file.read", readme()).await;
    assert_eq!((status, &body["result"]["content"]), (200, &json!("content of README.md")));
    let asked = device.asked();
    let context = asked[0].context.clone().unwrap();
    assert_eq!(context.session_id.as_deref(), Some("s1"));
    let terms = context.terms.unwrap();
    let root = json!({ "root_id": "main", "virtual_path": "/workspace/main", "mode": "ro" });
    assert_eq!(json!(terms.roots), json!([root]));
    assert!(terms.shell.is_some());
}

/// relay-37, relay-38, relay-39: the context is passed on; only the hub says which session, workspace and terms it is for.
#[tokio::test]
async fn the_context_is_passed_on_and_terms_are_the_hubs() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({ "sessionId": "s1", "scopeId": "space-1" })).await;
    let runtime = world.runtime(&environment).await;
    let said: RelayContext = serde_json::from_value(json!({
        "session_id": "somebody-elses", "run_id": "r1", "tool_call_id": "c1", "workspace_id": "lab",
        "profile_name": "careful", "source_kind": "api", "user_visible_reason": "to see it",
        "terms": { "roots": [{ "root_id": "docs", "virtual_path": "/workspace/docs", "mode": "rw" }] },
    }))
    .unwrap();
    runtime.ask_for("file.read", readme(), said).await.unwrap();
    let context = serde_json::to_value(device.asked()[0].context.clone().unwrap()).unwrap();
    let root = json!({ "root_id": "main", "virtual_path": "/workspace/main", "mode": "ro" });
    assert_eq!(
        context,
        json!({
            "session_id": "s1", "run_id": "r1", "tool_call_id": "c1", "workspace_id": "default", "scope_id": "space-1",
            "profile_name": "careful", "source_kind": "api", "user_visible_reason": "to see it",
            "terms": { "roots": [root] },
        })
    );
    until(|| async { !world.audit().await.is_empty() }).await;
    let entry = &world.audit().await[0];
    assert_eq!((entry.session_id.as_deref(), entry.tool_call_id.as_deref()), (Some("s1"), Some("c1")));
}

/// A request to the environment's MCP server.
fn mcp(world: &World, environment: &Environment, method: Method, session: &str) -> RequestBuilder {
    let path = door(environment).replace("/connect", "/mcp");
    let accept =
        if method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
    let request = world.request_as(&environment.secret, method, &path).header("accept", accept);
    if session.is_empty() { request } else { request.header("mcp-session-id", session) }
}

/// Asks the environment's MCP server for a session.
async fn initialize(world: &World, environment: &Environment) -> Response {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    mcp(world, environment, Method::POST, "").json(&message).send().await.unwrap()
}

/// Opens a session of the environment's MCP server.
async fn mcp_session(world: &World, environment: &Environment) -> String {
    let initialized = initialize(world, environment).await;
    let session = initialized.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let accepted = mcp(world, environment, Method::POST, &session).json(&ready).send().await.unwrap();
    assert!(accepted.status().is_success());
    session
}

/// Calls a tool of the environment's MCP server.
async fn call_tool(world: &World, environment: &Environment, params: Value) -> String {
    let session = mcp_session(world, environment).await;
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let called = mcp(world, environment, Method::POST, &session).json(&call).send().await.unwrap();
    called.text().await.unwrap()
}

/// A client that finds all MCP sessions of an environment in use is told so, and when to try again.
#[tokio::test]
async fn a_client_without_an_mcp_session_is_told_when_to_try_again() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let mut streams = Vec::new();
    for _ in 0..64 {
        let session = mcp_session(&world, &environment).await;
        streams.push(mcp(&world, &environment, Method::GET, &session).send().await.unwrap());
    }
    let refused = initialize(&world, &environment).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["content-type"], "application/problem+json");
    let seconds: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!(seconds > 0);
    let problem: Value = refused.json().await.unwrap();
    assert_eq!(problem["type"], "urn:problem:too-many-sessions", "{problem}");
}

/// relay-38, relay-151: an environment that is for no session cannot name one: neither the hub's record nor the device is told
/// a session that the hub does not know to be true. With a session it is that one, whatever the client says.
#[tokio::test]
async fn an_environment_cannot_claim_the_session_of_another() {
    let claimed = json!({ "session_id": "victim", "run_id": "r1", "tool_call_id": "c1" });
    for (bound, expected) in [(json!({}), None), (json!({ "sessionId": "mine" }), Some("mine"))] {
        let world = World::new().await;
        let device = world.lend(Offering::all(), json!([files("ro")])).await;
        let environment = world.environment(bound).await;
        for method in ["file.read", "no.such_method"] {
            let body = json!({ "method": method, "params": readme(), "context": claimed });
            world.post(&environment, body.to_string()).await;
        }
        let runtime = world.runtime(&environment).await;
        let context: RelayContext = serde_json::from_value(claimed.clone()).unwrap();
        runtime.ask_for("file.read", readme(), context).await.unwrap();
        let by_others = device.asked().len();
        let params = json!({
            "name": "file_info", "arguments": { "path": "/workspace/main/README.md" },
            "_meta": { "session_id": "victim", "sessionId": "victim", "context": claimed },
        });
        call_tool(&world, &environment, params).await;
        let asked = device.asked();
        assert!(by_others == 2 && asked.len() > by_others, "{asked:?}");
        for request in &asked {
            assert_eq!(request.context.as_ref().unwrap().session_id.as_deref(), expected);
        }
        // One was refused before it came to the device.
        until(|| async { world.audit().await.len() > asked.len() }).await;
        for entry in &world.audit().await {
            assert_eq!(entry.session_id.as_deref(), expected, "{entry:?}");
            assert!(!json!(entry).to_string().contains("victim"), "{entry:?}");
        }
    }
}

/// relay-45, relay-46, relay-76, relay-118: the same over a WebSocket with the same frames, with its stream in order.
#[tokio::test]
async fn a_runtime_uses_a_device_over_a_websocket() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([files("rw"), shell()])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let read = runtime.ask("file.read", readme()).await.unwrap();
    assert_eq!(read["content"], "content of README.md");
    let start = json!({ "command": "seq", "output_limit_bytes": 2000 });
    let mut call = runtime.peer.request(Ask::new("shell.start", RawJson::from_value(&start))).await;
    for number in 0..2000 {
        let Some(Part::Stream(frame)) = soon(call.next()).await else { panic!("a stream") };
        assert_eq!((frame.seq, frame.event.as_str()), (Some(number), "stdout"));
        assert_eq!(frame.data, RawJson::from_value(&format!("line {number}\n")));
    }
    let Some(Part::Outcome(Ok(ended))) = soon(call.next()).await else { panic!("an outcome") };
    assert_eq!(ended.read::<Value>().unwrap()["exit_code"], 0);
}

/// relay-4, relay-28, relay-118: bytes pass the hub as they are, to who takes them; who does not is told, and what passed is counted.
#[tokio::test]
async fn bytes_pass_to_who_takes_them() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let params = json!({ "root_id": "main", "path": "README.md", "encoding": "binary" });
    let call = runtime.peer.request(Ask::new("file.read", RawJson::from_value(&params))).await;
    let result = soon(call.outcome()).await.unwrap();
    assert_eq!(result.bytes().as_ref(), b"bytes of README.md");
    until(|| async { world.audit().await.len() == 2 }).await;
    let entry = &world.audit().await[1];
    assert_eq!(entry.summary["result_bytes"], json!(result.as_str().len() + result.bytes().len()));

    let (status, body) = world.ask(&environment, "file.read", params.clone()).await;
    assert_eq!((status, &body["relay"]["details"]["reason"]), (400, &json!("not_negotiated")));
    let (mut raw, _) =
        Raw::accepted(&world, &door(&environment), &environment.secret, hello("box", json!({}))).await;
    raw.say(request("a", "file.read", params)).await;
    let refused = raw.hears().await;
    assert_eq!(refused["error"]["details"]["reason"], "not_negotiated", "{refused}");
}

/// relay-36, relay-41, relay-46, relay-118: the same as server-sent events; what goes wrong is the last of them.
#[tokio::test]
async fn a_request_streams_as_events() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([shell()])).await;
    let environment = world.environment(json!({})).await;
    let path = format!("/api/v1/relay/environments/{}/requests", environment.id);
    let ask = |method: &str, params: Value| {
        let request = world.request_as(&environment.secret, Method::POST, &path);
        request.header("accept", "text/event-stream").json(&json!({ "method": method, "params": params }))
    };
    let text =
        soon(ask("shell.start", json!({ "command": "seq" })).send()).await.unwrap().text().await.unwrap();
    let events: Vec<(String, Value)> = text
        .split("\n\n")
        .filter_map(|event| {
            let (name, data) = event.strip_prefix("event: ")?.split_once("\ndata: ")?;
            Some((name.to_owned(), serde_json::from_str(data).unwrap()))
        })
        .collect();
    assert_eq!(events.len(), 4);
    for (number, (name, data)) in events[..3].iter().enumerate() {
        assert_eq!(name, "stream");
        assert_eq!(*data, json!({ "event": "stdout", "seq": number, "data": format!("line {number}\n") }));
    }
    assert_eq!(events[3], ("response".into(), json!({ "result": { "exit_code": 0, "duration_ms": 1 } })));
    let text = ask("file.read", readme()).send().await.unwrap().text().await.unwrap();
    assert!(text.contains("event: response\ndata: {\"error\":{\"code\":\"permission_denied\""), "{text}");
}

/// relay-50, relay-51, relay-54: who leaves cancels, at every door.
#[tokio::test]
async fn who_leaves_cancels() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let cancelled = || device.desk.cancelled.load(SeqCst);
    let call = runtime.peer.request(Ask::new("file.read", RawJson::from_value(&hang()))).await;
    device.works_on(1).await;
    drop(call);
    device.works_on(0).await;
    assert_eq!(cancelled(), 1);
    // A connection that is closed, with all that goes on through it.
    let calls = [1, 2].map(|_| runtime.peer.request(Ask::new("file.read", RawJson::from_value(&hang()))));
    let calls = futures_util::future::join_all(calls).await;
    device.works_on(2).await;
    runtime.peer.close("enough");
    device.works_on(0).await;
    drop(calls);
    assert_eq!(cancelled(), 3);
    let path = format!("/api/v1/relay/environments/{}/requests", environment.id);
    let request = world.request_as(&environment.secret, Method::POST, &path);
    let request = request.json(&json!({ "method": "file.read", "params": hang() })).send();
    tokio::select! {
        _ = request => panic!("it hangs"),
        () = device.works_on(1) => {}
    }
    device.works_on(0).await;
    assert_eq!(cancelled(), 4);
}

/// relay-51, relay-53: a runtime hears `cancelled` when the device has ended it, and not before.
#[tokio::test]
async fn a_runtime_hears_that_it_is_cancelled_when_it_has_ended() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let linger = RawJson::from_value(&json!({ "root_id": "main", "path": "linger" }));
    let mut call = runtime.peer.request(Ask::new("file.read", linger)).await;
    device.works_on(1).await;
    call.cancel();
    until(|| async { device.desk.cancelled.load(SeqCst) == 1 }).await;
    // What is said of it would be heard before what is asked later is answered.
    runtime.ask("file.read", readme()).await.unwrap();
    assert!(call.next().now_or_never().is_none(), "it goes on at the device");
    device.desk.may_end.notify_one();
    let error = soon(call.outcome()).await.unwrap_err();
    assert_eq!((error.code, error.recoverable, error.is_lost()), (RelayErrorCode::Cancelled, true, false));
    device.works_on(0).await;
}

/// relay-53: a runtime hears that nobody can tell whether it has ended: if the device says so, or is gone.
#[tokio::test]
async fn a_runtime_hears_that_nobody_can_tell() {
    let world = World::new().await;
    let mut device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    for path in ["lost", "linger"] {
        let ask = Ask::new("file.read", RawJson::from_value(&json!({ "root_id": "main", "path": path })));
        let mut call = runtime.peer.request(ask).await;
        device.works_on(1).await;
        let before = device.desk.cancelled.load(SeqCst);
        call.cancel();
        until(|| async { device.desk.cancelled.load(SeqCst) > before }).await;
        if path == "linger" {
            device.unplug();
        }
        let error = soon(call.outcome()).await.unwrap_err();
        assert_eq!((error.code, error.is_lost()), (RelayErrorCode::Cancelled, true), "{path}");
        if path == "lost" {
            device.works_on(0).await;
        }
    }
}

/// relay-50, relay-143: what waits for somebody is cancelled without having left.
#[tokio::test]
async fn what_has_not_left_is_cancelled_at_once() {
    let world = World::new().await;
    let ask = json!({ "capability": "shell", "enabled": true, "shell": { "approval_policy": "always_ask" } });
    let device = world.lend(Offering::all(), json!([ask])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let start = RawJson::from_value(&json!({ "command": "true" }));
    let mut call = runtime.peer.request(Ask::new("shell.start", start)).await;
    let waits =
        || async { world.ok(Method::GET, "/api/waits", None).await["items"].as_array().unwrap().len() };
    until(|| async { waits().await == 1 }).await;
    call.cancel();
    assert_eq!(soon(call.outcome()).await.unwrap_err().code, RelayErrorCode::Cancelled);
    until(|| async { waits().await == 0 }).await;
    assert!(device.asked().is_empty());
}

/// relay-36: what takes longer than it may ends with `timeout`, and is cancelled at the device.
#[tokio::test]
async fn what_takes_too_long_ends() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let path = format!("/api/v1/relay/environments/{}/requests", environment.id);
    let body = json!({ "method": "file.read", "params": hang(), "timeout_ms": 100 });
    let request = world.request_as(&environment.secret, Method::POST, &path).json(&body);
    let (status, body) = soon(world.answer(request)).await;
    assert_eq!((status, &body["relay"]["code"]), (504, &json!("timeout")));
    device.works_on(0).await;
}

/// relay-118: sessions that use the same device do not see or end what others do there.
#[tokio::test]
async fn sessions_that_use_the_same_device_are_apart() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let [one, two] = [
        world.environment(json!({ "sessionId": "s1" })).await,
        world.environment(json!({ "sessionId": "s2" })).await,
    ];
    let (first, second) = (world.runtime(&one).await, world.runtime(&two).await);
    let ask = || Ask::new("file.read", RawJson::from_value(&hang()));
    let (mine, theirs) = (first.peer.request(ask()).await, second.peer.request(ask()).await);
    device.works_on(2).await;
    let path = format!("/api/v1/relay/environments/{}", one.id);
    world.ok(Method::DELETE, &path, None).await;
    soon(mine.outcome()).await.unwrap_err();
    device.works_on(1).await;
    assert!(second.ask("file.read", readme()).await.is_ok());
    drop(theirs);
    device.works_on(0).await;
}

/// relay-77, relay-78, relay-118: a command and a use of a tool are there for who has started them, and for nobody else.
#[tokio::test]
async fn what_one_has_started_is_not_there_for_another() {
    let world = World::new().await;
    let offering = Offering::all().with_tool("open", "allow");
    let device = world.lend(offering, json!([shell(), super::world::tools()])).await;
    let (one, two) = (world.environment(json!({})).await, world.environment(json!({})).await);
    let (mine, theirs) = (world.runtime(&one).await, world.runtime(&two).await);
    let start = json!({ "command": "named" });
    assert_eq!(mine.ask("shell.start", start).await.unwrap()["command_id"], "cmd-1");
    let call = json!({ "name": "open", "arguments": { "path": "hang" }, "call_id": "call-1" });
    let _call = mine.peer.request(Ask::new("tool.call", RawJson::from_value(&call))).await;
    device.works_on(1).await;
    let before = device.asked().len();
    for (method, params) in [
        ("shell.input", json!({ "command_id": "cmd-1", "data": "x" })),
        ("shell.signal", json!({ "command_id": "cmd-1", "signal": "TERM" })),
        ("shell.cancel", json!({ "command_id": "cmd-1" })),
        ("shell.status", json!({ "command_id": "cmd-1" })),
        ("tool.cancel", json!({ "call_id": "call-1" })),
        // Only what the device looks at counts.
        ("tool.cancel", json!({ "call_id": "call-1", "command_id": "nobody" })),
        ("shell.cancel", json!({ "command_id": "cmd-1", "call_id": "nobody" })),
    ] {
        let refused = theirs.ask(method, params.clone()).await.unwrap_err();
        assert_eq!(refused.code, RelayErrorCode::NotFound, "{method}");
        assert!(mine.ask(method, params).await.is_ok(), "{method}");
    }
    assert_eq!(device.asked().len(), before + 7, "nothing of the other reached the device");
}

/// relay-118: what sessions call their uses of tools is their own: one that is over holds up nobody, and one that goes on nobody
/// in another session.
#[tokio::test]
async fn a_name_of_a_use_is_free_for_others() {
    let world = World::new().await;
    let offering = Offering::all().with_tool("open", "allow");
    let device = world.lend(offering, json!([super::world::tools()])).await;
    let [one, two, three] = [json!({}), json!({}), json!({ "sessionId": "s3" })];
    let (one, two) = (world.environment(one).await, world.environment(two).await);
    let three = world.environment(three).await;
    let call = |path: &str| json!({ "name": "open", "arguments": { "path": path }, "call_id": "call-1" });
    for environment in [&one, &two, &one] {
        let (status, body) = world.ask(environment, "tool.call", call("a")).await;
        assert_eq!(status, 200, "{body}");
    }
    let runtime = world.runtime(&one).await;
    let going_on = runtime.peer.request(Ask::new("tool.call", RawJson::from_value(&call("hang")))).await;
    device.works_on(1).await;
    // The device could not tell both apart.
    assert_eq!(world.error(&two, "tool.call", call("a")).await, "invalid_request");
    assert_eq!(world.ask(&three, "tool.call", call("a")).await.0, 200);
    drop(going_on);
    device.works_on(0).await;
    until(|| async { world.ask(&two, "tool.call", call("a")).await.0 == 200 }).await;
}

/// relay-118: names are short, whoever gives them.
#[tokio::test]
async fn a_name_that_is_too_long_is_refused() {
    let world = World::new().await;
    let offering = Offering::all().with_tool("open", "allow");
    let device = world.lend(offering, json!([shell(), super::world::tools()])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let long = "x".repeat(257);
    for (method, params) in [
        ("tool.call", json!({ "name": "open", "arguments": { "path": "a" }, "call_id": long })),
        ("tool.cancel", json!({ "call_id": long })),
        ("shell.cancel", json!({ "command_id": long })),
    ] {
        let refused = runtime.ask(method, params).await.unwrap_err();
        assert_eq!(
            (refused.code, &refused.details["limit"]),
            (RelayErrorCode::InvalidRequest, &json!(256)),
            "{method}"
        );
    }
    let said = |name: &str| serde_json::from_value::<RelayContext>(json!({ name: long })).unwrap();
    for name in ["session_id", "run_id", "tool_call_id"] {
        let refused = runtime.ask_for("shell.start", json!({ "command": "true" }), said(name)).await;
        assert_eq!(refused.unwrap_err().code, RelayErrorCode::InvalidRequest, "{name}");
    }
    assert!(device.asked().is_empty());
    until(|| async { world.audit().await.len() == 6 }).await;
    assert!(!format!("{:?}", world.raw_audit().await).contains(&long), "nor are they written down");
}

/// relay-34: so many requests of an environment go on at a time, and of one family fewer; more are told so at once.
#[tokio::test]
async fn only_so_many_requests_go_on_at_a_time() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro"), shell()])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let mut going_on = Vec::new();
    for _ in 0..24 {
        going_on.push(runtime.peer.request(Ask::new("file.read", RawJson::from_value(&hang()))).await);
    }
    device.works_on(24).await;
    let (status, body) = world.ask(&environment, "file.read", readme()).await;
    let busy = &body["relay"];
    assert_eq!((status, &busy["code"], &busy["recoverable"]), (502, &json!("provider_error"), &json!(true)));
    assert_eq!(
        (&busy["details"]["reason"], &busy["details"]["capability"]),
        (&json!("busy"), &json!("fileops"))
    );
    assert!(busy["message"].as_str().unwrap().contains("this environment"), "{busy}");
    assert!(runtime.ask("shell.start", json!({ "command": "true" })).await.is_ok(), "others have room");
    for _ in 0..8 {
        let ask = Ask::new("shell.start", RawJson::from_value(&json!({ "command": "hang" })));
        going_on.push(runtime.peer.request(ask).await);
    }
    device.works_on(32).await;
    let (_, body) = world.ask(&environment, "shell.start", json!({ "command": "true" })).await;
    assert_eq!(body["relay"]["details"]["reason"], "busy", "{body}");
    let other = world.environment(json!({})).await;
    assert_eq!(world.ask(&other, "file.read", readme()).await.0, 200, "others have room at the device");
    going_on.clear();
    device.works_on(0).await;
    // The hub hears of it soon.
    until(|| async { runtime.ask("file.read", readme()).await.is_ok() }).await;
}

/// relay-34: who leaves has the place until the device has answered, so that nobody can take more than their share by leaving.
#[tokio::test]
async fn who_leaves_has_the_place_until_the_device_is_done() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let (one, two) = (world.environment(json!({})).await, world.environment(json!({})).await);
    let runtime = world.runtime(&one).await;
    let ignore = RawJson::from_value(&json!({ "root_id": "main", "path": "ignore" }));
    for count in 1..=24 {
        let call = runtime.peer.request(Ask::new("file.read", ignore.clone())).await;
        device.works_on(count).await;
        drop(call);
    }
    let busy = runtime.ask("file.read", readme()).await.unwrap_err();
    assert_eq!(busy.details["reason"], "busy", "{busy:?}");
    assert_eq!(world.ask(&two, "file.read", readme()).await.0, 200);
}

/// relay-52, relay-53, relay-157: a command that a device has started before it heard that nobody wants it is ended.
#[tokio::test]
async fn a_command_that_nobody_hears_of_is_ended() {
    let world = World::new().await;
    let token = world.let_in("laptop").await;
    world.grant("laptop", json!([shell()])).await;
    let lent = json!({ "enabled": true, "runtime": "sandboxed_local_shell", "interactive": true });
    let (mut device, _) =
        Raw::accepted(&world, CONNECT, &token, hello("laptop", json!({ "shell": lent }))).await;
    until(|| async { !world.connection("laptop").await.is_null() }).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let start = json!({ "command": "x", "background": true });
    let call = runtime.peer.request(Ask::new("shell.start", RawJson::from_value(&start))).await;
    let request = device.hears().await;
    drop(call);
    assert_eq!(device.hears().await["type"], "cancel");
    let result = json!({ "duration_ms": 1, "command_id": "cmd-9" });
    device.say(json!({ "type": "response", "id": request["id"], "result": result })).await;
    let end = device.hears().await;
    assert_eq!((&end["method"], &end["params"]["command_id"]), (&json!("shell.cancel"), &json!("cmd-9")));
}
