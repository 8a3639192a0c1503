//! What is written down.

use std::time::Duration;

use hub::Rate;
use protocol::relay::{PolicyDecision, RawJson, RelayErrorCode, RequestStatus, audit::chain};
use relay::Ask;
use reqwest::Method;
use serde_json::json;

use super::{
    approved::{answer, wait},
    device::{Offering, tool},
    world::{World, files, readme, shell, tools, until},
};

/// relay-151, relay-153, relay-154: a request has an entry before it leaves and one when it has ended; the chain holds.
#[tokio::test]
async fn a_request_is_written_down() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({ "sessionId": "s1", "runId": "r1" })).await;
    world.ask(&environment, "file.read", readme()).await;
    until(|| async { world.audit().await.len() == 2 }).await;
    let audit = world.audit().await;
    assert_eq!(audit[0].id, audit[1].id);
    assert_eq!((audit[0].status, audit[1].status), (None, Some(RequestStatus::Succeeded)));
    for entry in &audit {
        assert_eq!((entry.method.as_str(), entry.policy_decision), ("file.read", PolicyDecision::Allowed));
        assert_eq!((entry.session_id.as_deref(), entry.run_id.as_deref()), (Some("s1"), Some("r1")));
        assert_eq!(entry.virtual_path.as_ref().unwrap().as_str(), "/workspace/main/README.md");
        assert!(!entry.connection_id.is_empty());
    }
    assert!(audit[1].completed_at.is_some());
    chain::verify(&world.raw_audit().await).unwrap();
}

/// relay-153: what is blocked is written down too, with what it was about.
#[tokio::test]
async fn what_is_blocked_is_written_down() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    world.ask(&environment, "file.write", json!({ "root_id": "main", "path": "a/b", "content": "c" })).await;
    world.ask(&environment, "file.read", json!({ "root_id": "nothing", "path": "a" })).await;
    world.ask(&environment, "shell.start", json!({ "command": "true" })).await;
    until(|| async { world.audit().await.len() == 3 }).await;
    let audit = world.audit().await;
    for entry in &audit {
        assert_eq!(
            (entry.policy_decision, entry.status),
            (PolicyDecision::Blocked, Some(RequestStatus::Failed))
        );
        assert_eq!(entry.error, Some(RelayErrorCode::PermissionDenied));
    }
    assert_eq!(audit[0].virtual_path.as_ref().unwrap().as_str(), "/workspace/main/a/b");
    assert_eq!(audit[1].root_id.as_ref().unwrap().as_str(), "nothing");
}

/// relay-151, relay-153: what nobody can ask is written down too, once, and with who asked.
#[tokio::test]
async fn what_is_nothing_to_ask_is_written_down() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({ "sessionId": "s1" })).await;
    for (method, code) in [
        ("file.chmod", RelayErrorCode::UnknownMethod),
        ("telepathy.listen", RelayErrorCode::UnknownMethod),
        ("tool.register", RelayErrorCode::InvalidRequest),
    ] {
        let before = world.audit().await.len();
        assert_eq!(world.error(&environment, method, json!({ "tools": [] })).await, code.as_str());
        until(|| async { world.audit().await.len() == before + 1 }).await;
        let entry = world.audit().await.pop().unwrap();
        assert_eq!((entry.method.as_str(), entry.error), (method, Some(code)));
        assert_eq!(
            (entry.policy_decision, entry.status),
            (PolicyDecision::Blocked, Some(RequestStatus::Failed))
        );
        assert_eq!(entry.session_id.as_deref(), Some("s1"));
        assert_eq!(entry.summary["environment_id"], json!(environment.id.to_string()));
    }
    assert_eq!(world.audit().await[0].capability, None, "it is of no family");
    chain::verify(&world.raw_audit().await).unwrap();
}

/// relay-30, relay-151: what a device asks of the hub is written down: a tool that it registers may be another than before.
#[tokio::test]
async fn what_a_device_asks_is_written_down() {
    let world = World::new().await;
    let device = world.lend(Offering::all().with_tool("open", "always_ask"), json!([tools()])).await;
    let list = json!({ "tools": [tool("open", "allow"), tool("bad name", "allow")] });
    device.ask("tool.register", list).await.unwrap();
    device.ask("tool.unregister", json!({ "names": ["open"] })).await.unwrap();
    device.ask("artifact.reserve", json!({})).await.unwrap_err();
    until(|| async { world.audit().await.len() == 3 }).await;
    let audit = world.audit().await;
    let seen: Vec<_> = audit.iter().map(|entry| (entry.method.as_str(), entry.policy_decision)).collect();
    assert_eq!(
        seen,
        [
            ("tool.register", PolicyDecision::Allowed),
            ("tool.unregister", PolicyDecision::Allowed),
            ("artifact.reserve", PolicyDecision::Blocked)
        ]
    );
    assert_eq!(json!(audit[0].summary), json!({ "tools": ["open"], "rejected": 1 }));
    assert_eq!(audit[0].connection_id, device.accepted().await.connection_id);
    assert_eq!(audit[2].error, Some(RelayErrorCode::CapabilityUnavailable));
}

/// relay-151: what is cancelled, fails or is lost has an end as well.
#[tokio::test]
async fn every_end_is_written_down() {
    let world = World::new().await;
    let mut device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let hang = || Ask::new("file.read", RawJson::from_value(&json!({ "root_id": "main", "path": "hang" })));
    let call = runtime.peer.request(hang()).await;
    device.works_on(1).await;
    drop(call);
    device.works_on(0).await;
    world.ask(&environment, "file.read", json!({ "root_id": "main", "path": "missing" })).await;
    let _lost = runtime.peer.request(hang()).await;
    device.works_on(1).await;
    device.unplug();
    until(|| async { world.audit().await.iter().filter(|entry| entry.status.is_some()).count() == 3 }).await;
    let ended = world.audit().await.into_iter().filter_map(|entry| Some((entry.status?, entry.error)));
    let mut ended: Vec<_> = ended.map(|end| format!("{end:?}")).collect();
    ended.sort();
    assert_eq!(
        ended,
        ["(Cancelled, Some(Cancelled))", "(Failed, Some(NotFound))", "(Failed, Some(RelayDisconnected))"]
    );
    chain::verify(&world.raw_audit().await).unwrap();
}

/// relay-135, relay-154: contents, arguments, variables and tokens are nowhere in what is written down, nor in the log of the hub's own.
#[tokio::test]
async fn contents_and_secrets_are_not_written_down() {
    let world = World::new().await;
    let device =
        world.lend(Offering::all().with_tool("open", "allow"), json!([files("rw"), shell(), tools()])).await;
    let environment = world.environment(json!({})).await;
    for (method, params) in [
        ("file.write", json!({ "root_id": "main", "path": "a", "content": "hunter2" })),
        (
            "shell.start",
            json!({ "command": "TOKEN=hunter2 deploy --key hunter2", "env": { "KEY": "hunter2" } }),
        ),
        ("shell.start", json!({ "argv": ["deploy", "hunter2"] })),
        ("shell.input", json!({ "command_id": "c", "data": "hunter2" })),
        ("tool.call", json!({ "name": "open", "arguments": { "path": "hunter2" } })),
    ] {
        let (status, body) = world.ask(&environment, method, params).await;
        assert_eq!(status, 200, "{body}");
    }
    assert_eq!(device.asked().len(), 5);
    until(|| async { world.audit().await.len() == 10 }).await;
    let audit = world.audit().await;
    // `deploy` is no well-known program, and what stands there may be a secret as well.
    assert_eq!(audit.iter().filter(|entry| entry.summary.get("unnamed_count") == Some(&json!(1))).count(), 4);
    assert_eq!(audit[0].summary["content_bytes"], 7);
    let text = format!("{:?}", world.raw_audit().await);
    assert!(!text.contains("hunter2"), "{text}");
    let world = world.restarted().await;
    for file in ["relay-audit.db", "relay-audit.db-wal", "audit.db", "relay.json"] {
        let bytes = std::fs::read(world.file(file)).unwrap_or_default();
        for secret in ["hunter2", environment.secret.as_str()] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{file}");
        }
    }
}

/// relay-154, relay-177: no word of a command is written down or shown that may be a secret, however the command is written,
/// and every program of a compound command counts.
#[tokio::test]
async fn a_command_is_written_down_without_its_words() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([shell()])).await;
    let environment = world.environment(json!({})).await;
    let lines = [
        r#"API_KEY="sk live hunter2" curl x"#,
        "PASSWORD='correct horse battery' mysql",
        r"API_KEY=sk\ live\ hunter2 curl x",
        r#"TOKEN=$(printf "s3cr3t tok") true"#,
        r#"A="x y=z hunter4" true"#,
        r#"(PASS="a hunter11" env)"#,
        "<<<hunter5 cat",
        "echo;hunter10;x",
        "mysql:-phunter13",
        "ls -la X; id; whoami",
    ];
    let argv = json!({ "argv": ["sh -c \"PASS=hunter14\""] });
    let all = lines.iter().map(|line| json!({ "command": line })).chain([argv]);
    let count = all.clone().count();
    for params in all {
        world.ask(&environment, "shell.start", params).await;
    }
    until(|| async { world.audit().await.len() == 2 * count }).await;
    let audit = world.audit().await;
    for entry in &audit {
        let summary = json!(entry.summary).to_string();
        for secret in ["live", "horse", "s3cr3t", "hunter"] {
            assert!(!summary.contains(secret), "{summary}");
        }
    }
    let compound =
        audit.iter().filter(|entry| entry.summary.get("programs") == Some(&json!(["ls", "id", "whoami"])));
    assert_eq!(compound.count(), 2);
}

/// relay-154: the same while somebody is asked: what they see is nowhere on disk.
#[tokio::test]
async fn what_somebody_is_asked_is_not_written_down() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("rw"), shell()])).await;
    let ask = json!({ "approvals": { "shell.start": "always_ask", "file.write": "always_ask" } });
    let environment = world.environment(ask).await;
    for (method, params) in [
        ("file.write", json!({ "root_id": "main", "path": "a", "content": "hunter2" })),
        (
            "shell.start",
            json!({ "command": "TOKEN=hunter2 deploy --key hunter2", "env": { "KEY": "hunter2" } }),
        ),
    ] {
        let context = json!({ "user_visible_reason": "as hunter2 says" });
        let body = json!({ "method": method, "params": params, "context": context }).to_string();
        let once = async {
            let wait = wait(&world).await;
            assert!(wait["request"]["permission"]["input"].to_string().contains("hunter2"), "{wait}");
            answer(&world, &world.token, &wait, json!({ "permission": "once" })).await
        };
        let ((status, body), (_, settled)) = tokio::join!(world.post(&environment, body), once);
        assert_eq!(status, 200, "{body}");
        assert_eq!(
            settled["request"]["permission"]["input"],
            json!(null),
            "what is settled is no longer kept"
        );
    }
    assert_eq!(device.asked().len(), 2);
    let world = world.restarted().await;
    for file in ["relay-audit.db", "relay-audit.db-wal", "audit.db", "audit.db-wal", "relay.json"] {
        let bytes = std::fs::read(world.file(file)).unwrap_or_default();
        assert!(!bytes.windows(7).any(|window| window == b"hunter2"), "{file}");
    }
}

/// relay-154: the chain goes on where it was after the hub was started again.
#[tokio::test]
async fn the_chain_goes_on_after_a_restart() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    for _ in 0..3 {
        world.ask(&environment, "file.read", readme()).await;
    }
    drop(device);
    let world = world.restarted().await;
    let before = world.raw_audit().await;
    assert_eq!(before.len(), 6);
    world.ask(&environment, "file.read", readme()).await;
    until(|| async { world.raw_audit().await.len() == 7 }).await;
    let after = world.raw_audit().await;
    assert_eq!(after[..6], before);
    chain::verify(&after).unwrap();
    let mut broken = after.clone();
    broken[2]["method"] = json!("file.stat");
    assert_eq!(chain::verify(&broken).unwrap_err().seq, 3);
}

/// The verbs of the hub's own audit.
async fn verbs(world: &World, wanted: &str) -> usize {
    let page = world.ok(Method::GET, "/api/audit?limit=1000", None).await;
    let entries = page["items"].as_array().unwrap().iter();
    entries.filter(|item| item["entry"]["action"] == wanted).count()
}

/// Nobody can push out what is in the audit of the hub: neither who is not known, …
#[tokio::test]
async fn who_is_not_known_leaves_little_in_the_audit() {
    let world = World::with(|config| {
        config.failures = Rate { burst: 1, every: Duration::from_secs(3600) };
    })
    .await;
    for (path, verb) in [
        ("/api/devices/pairings/claim", "pairings.claim"),
        ("/api/devices/pairings", "pairings.begin"),
        ("/api/login", "login"),
    ] {
        for _ in 0..5 {
            // What makes no sense is never counted.
            for body in [json!({ "clientId": "laptop" }), json!({ "token": "nothing" }), json!([])] {
                world.answer(world.request_as("nothing", Method::POST, path).json(&body)).await;
            }
        }
        assert!(verbs(&world, verb).await <= 1, "{verb}");
    }
    let environment = protocol::EnvironmentId::mint();
    for path in ["/api/v1/relay/connect".into(), format!("/api/v1/relay/environments/{environment}/mcp")] {
        for _ in 0..5 {
            let (status, _) = world.answer(world.request_as("nothing", Method::GET, &path)).await;
            assert_eq!(status, 429, "{path}");
        }
    }
    assert_eq!(verbs(&world, "relay.connect").await + verbs(&world, "environments.use").await, 0);
}

/// … nor a device that waits to be let in, nor an agent, which can ask only so often.
#[tokio::test]
async fn who_uses_a_device_leaves_nothing_in_the_audit_of_the_hub() {
    let world = World::with(|config| {
        config.requests = Rate { burst: 300, every: Duration::from_secs(3600) };
    })
    .await;
    let begin = json!({ "clientId": "laptop" });
    let begun = world.answer(world.request(Method::POST, "/api/devices/pairings").json(&begin)).await.1;
    let secret = begun["claimSecret"].as_str().unwrap();
    for _ in 0..5 {
        let claim = world.request_as(secret, Method::POST, "/api/devices/pairings/claim");
        assert_eq!(world.answer(claim).await.0, 202);
    }
    let _device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let asked = |method: &'static str| world.ask(&environment, method, readme());
    assert_eq!((asked("file.read").await.0, asked("file.write").await.0), (200, 403));
    let mut statuses = Vec::new();
    for _ in 0..300 {
        statuses.push(asked("file.read").await.0);
    }
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    for verb in ["pairings.claim", "environments.use"] {
        assert_eq!(verbs(&world, verb).await, 0, "{verb}");
    }
    let wrong = super::world::Environment { secret: "nothing".into(), ..environment.clone() };
    assert_eq!(world.ask(&wrong, "file.read", readme()).await.0, 401);
    assert_eq!(verbs(&world, "environments.use").await, 1, "who is not let in is seen");
}
