//! What is taken back is gone within a second, on sockets that are open too.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use protocol::relay::{RawJson, RelayErrorCode};
use relay::{Ask, Call};
use reqwest::Method;
use serde_json::json;

use super::{
    device::{Device, Offering},
    world::{Environment, Runtime, World, files, readme, shell, soon, until},
};

/// How long it may take.
const AT_ONCE: Duration = Duration::from_secs(1);

/// A device, an environment and a runtime with a request that goes on.
struct Lent {
    world: World,
    token: String,
    device: Device,
    environment: Environment,
    runtime: Runtime,
    grant: String,
}

impl Lent {
    async fn new() -> Self {
        let world = World::new().await;
        let token = world.let_in("laptop").await;
        let grant = world.grant("laptop", json!([files("rw"), shell()])).await;
        let device = world.connect(&token, Offering::all()).await;
        let environment = world.environment(json!({ "sessionId": "s1" })).await;
        let runtime = world.runtime(&environment).await;
        Self { world, token, device, environment, runtime, grant }
    }

    /// What another runtime uses of the same device, as it is granted the same.
    async fn other(&self) -> Environment {
        self.world.add_runtime("other").await;
        let capabilities = json!([files("rw"), shell()]);
        let add = json!({ "clientId": "laptop", "runtimeId": "other", "capabilities": capabilities });
        self.world.ok(Method::POST, "/api/grants", Some(add)).await;
        self.world.environment(json!({ "runtimeId": "other" })).await
    }

    /// A command that goes on.
    async fn command(&self) -> Call {
        let call = self
            .runtime
            .peer
            .request(Ask::new("shell.start", RawJson::from_value(&json!({ "command": "hang" }))))
            .await;
        self.device.works_on(1).await;
        call
    }

    /// The device is cut off: what goes on ends, and it cannot come back.
    async fn ends_cut_off(mut self, call: Call, since: Instant) {
        let error = soon(call.outcome()).await.unwrap_err();
        assert!(
            matches!(error.code, RelayErrorCode::RelayDisconnected | RelayErrorCode::PermissionDenied),
            "{error:?}"
        );
        self.device.ended().await;
        self.device.works_on(0).await;
        assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
        assert!(self.world.connection("laptop").await.is_null());
        let again = Device::connect(&self.world.client(&self.token), "laptop", Offering::all()).await;
        assert!(matches!(again, Err(client::Error::Problem(problem)) if matches!(problem.status, 401 | 403)));
    }
}

/// relay-155, relay-156, relay-157: the user disables the relay for a space.
#[tokio::test]
async fn a_workspace_that_lends_nothing_cuts_its_devices_off() {
    let lent = Lent::new().await;
    let call = lent.command().await;
    let since = Instant::now();
    lent.world.ok(Method::PUT, "/api/workspaces/default/relay", Some(json!({ "enabled": false }))).await;
    lent.ends_cut_off(call, since).await;
}

/// relay-130, relay-156, relay-157: the token expires while the device is connected.
#[tokio::test]
async fn a_token_that_expires_cuts_its_device_off() {
    let world = World::new().await;
    let expires = Timestamp::now() + SignedDuration::from_millis(1500);
    let add = json!({ "clientId": "laptop", "expiresAt": expires.to_string() });
    let added = world.ok(Method::POST, "/api/devices", Some(add)).await;
    world.grant("laptop", json!([files("rw")])).await;
    let mut device = world.connect(added["secret"].as_str().unwrap(), Offering::all()).await;
    let why = device.ended().await;
    let late = Timestamp::now().duration_since(expires);
    assert!(late.abs() < SignedDuration::from_secs(1) && !late.is_negative(), "{late:?} {why}");
}

/// relay-59, relay-156, relay-157: the provider loses a permission: what goes on there is ended, the rest is not.
#[tokio::test]
async fn a_permission_that_is_lost_ends_what_needs_it() {
    let lent = Lent::new().await;
    let call = lent.command().await;
    let read = lent
        .runtime
        .peer
        .request(Ask::new("file.read", RawJson::from_value(&json!({ "root_id": "main", "path": "hang" }))))
        .await;
    lent.device.works_on(2).await;
    let since = Instant::now();
    lent.device
        .says("capability.updated", json!({ "capability": "shell", "state": "permission_required" }))
        .await;
    assert_eq!(soon(call.outcome()).await.unwrap_err().code, RelayErrorCode::PermissionDenied);
    lent.device.works_on(1).await;
    assert!(since.elapsed() < AT_ONCE);
    let refused = lent.runtime.ask("shell.start", json!({ "command": "true" })).await.unwrap_err();
    assert_eq!(refused.code, RelayErrorCode::CapabilityUnavailable);
    lent.device.says("capability.updated", json!({ "capability": "shell", "state": "online" })).await;
    until(|| async { lent.runtime.ask("shell.start", json!({ "command": "true" })).await.is_ok() }).await;
    drop(read);
}

/// relay-156, relay-157: the runtime's identity changes: what was made for it is gone, whoever has that name next.
#[tokio::test]
async fn a_runtime_that_is_another_has_nothing() {
    let mut lent = Lent::new().await;
    let call = lent.command().await;
    let since = Instant::now();
    lent.world.ok(Method::DELETE, "/api/runtimes/box", None).await;
    lent.world.add_runtime("box").await;
    let error = soon(call.outcome()).await.unwrap_err();
    assert!(
        matches!(error.code, RelayErrorCode::RelayDisconnected | RelayErrorCode::PermissionDenied),
        "{error:?}"
    );
    lent.runtime.ended().await;
    lent.device.works_on(0).await;
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    let (status, _) = lent.world.ask(&lent.environment, "file.read", readme()).await;
    assert_eq!(status, 401, "its door is closed");
    // Nor is anything granted to whoever has its name now.
    let environment = lent.world.environment(json!({})).await;
    assert_eq!(lent.world.error(&environment, "file.read", readme()).await, "permission_denied");
    assert_eq!(lent.world.ok(Method::GET, "/api/grants", None).await["items"], json!([]));
}

/// relay-156, relay-157: the same for runtimes that a file names: one that it names otherwise is another. Whoever reads the file
/// again, or starts the hub again, and finds the same changes nothing.
#[tokio::test]
async fn a_runtime_that_is_named_otherwise_has_nothing() {
    let world = World::new().await;
    let named = |port: u16| json!([{ "id": "named", "endpoint": format!("http://127.0.0.1:{port}") }]);
    world.names(&named(1));
    let token = world.let_in("laptop").await;
    let add = json!({ "clientId": "laptop", "runtimeId": "named", "capabilities": [files("ro")] });
    world.ok(Method::POST, "/api/grants", Some(add)).await;
    let environment = world.environment(json!({ "runtimeId": "named" })).await;
    let device = world.connect(&token, Offering::all()).await;
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    world.names(&named(1));
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    drop(device);
    let world = world.restarted().await;
    let mut device = world.connect(&token, Offering::all()).await;
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    let mut runtime = world.runtime(&environment).await;
    let since = Instant::now();
    world.names(&named(2));
    runtime.ended().await;
    device.ended().await;
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 401);
    let other = world.environment(json!({ "runtimeId": "named" })).await;
    assert_eq!(world.error(&other, "file.read", readme()).await, "permission_denied");
    assert_eq!(world.ok(Method::GET, "/api/grants", None).await["items"], json!([]));
}

/// relay-156: the same if nobody saw the runtime go.
#[tokio::test]
async fn a_runtime_of_the_same_name_is_another() {
    let Lent { world, device, environment, .. } = Lent::new().await;
    drop(device);
    let world = world
        .restarted_after(|directory| {
            let file = directory.join("runtimes.json");
            let mut runtimes: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            runtimes[0]["addedAt"] = json!("2030-01-01T00:00:00Z");
            std::fs::write(&file, runtimes.to_string()).unwrap();
        })
        .await;
    until(|| async { world.ask(&environment, "file.read", readme()).await.0 == 401 }).await;
    assert_eq!(world.ok(Method::GET, "/api/v1/relay/environments", None).await["items"], json!([]));
    assert_eq!(world.ok(Method::GET, "/api/grants", None).await["items"], json!([]));
}

/// relay-156, relay-157: the policy version changes: a grant is taken back, and with it what goes on under it.
#[tokio::test]
async fn a_grant_that_is_taken_back_ends_what_goes_on_under_it() {
    let mut lent = Lent::new().await;
    let version = |status: serde_json::Value| status["policyVersion"].as_u64().unwrap();
    let before = version(lent.world.ok(Method::GET, "/api/v1/relay/status", None).await);
    let call = lent.command().await;
    let since = Instant::now();
    lent.world.ok(Method::DELETE, &format!("/api/grants/{}", lent.grant), None).await;
    let error = soon(call.outcome()).await.unwrap_err();
    assert!(
        matches!(error.code, RelayErrorCode::RelayDisconnected | RelayErrorCode::PermissionDenied),
        "{error:?}"
    );
    // What was accepted is no longer granted: it comes again, and is accepted for less.
    lent.device.ended().await;
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    assert_eq!(version(lent.world.ok(Method::GET, "/api/v1/relay/status", None).await), before + 1);
    let device = lent.world.connect(&lent.token, Offering::all()).await;
    assert_eq!(device.accepted().await.accepted_capabilities, []);
    assert_eq!(lent.world.error(&lent.environment, "file.read", readme()).await, "permission_denied");
}

/// relay-155, relay-156: of two runtimes only the one whose grant is taken back loses something.
#[tokio::test]
async fn a_grant_that_is_taken_back_does_not_concern_others() {
    let lent = Lent::new().await;
    let other = lent.other().await;
    let other = lent.world.runtime(&other).await;
    let call = lent.command().await;
    let theirs =
        other.peer.request(Ask::new("shell.start", RawJson::from_value(&json!({ "command": "hang" })))).await;
    lent.device.works_on(2).await;
    lent.world.ok(Method::DELETE, &format!("/api/grants/{}", lent.grant), None).await;
    assert_eq!(soon(call.outcome()).await.unwrap_err().code, RelayErrorCode::PermissionDenied);
    lent.device.works_on(1).await;
    assert_eq!(other.ask("file.read", readme()).await.unwrap()["content"], "content of README.md");
    drop(theirs);
}

/// relay-155, relay-157: a command in the background ends when what it was started under is taken back, those of others do not; what
/// the hub asks for that is written down.
#[tokio::test]
async fn commands_in_the_background_end_with_their_grant() {
    let lent = Lent::new().await;
    let other = lent.other().await;
    let other = lent.world.runtime(&other).await;
    let start = |name: &str| json!({ "command": name, "background": true });
    lent.runtime.ask("shell.start", start("mine")).await.unwrap();
    other.ask("shell.start", start("theirs")).await.unwrap();
    assert!(lent.runtime.ask("shell.start", json!({ "command": "named" })).await.is_ok(), "it has ended");
    let since = Instant::now();
    lent.world.ok(Method::DELETE, &format!("/api/grants/{}", lent.grant), None).await;
    until(|| async { !lent.device.asked_to_end().is_empty() }).await;
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    let ended = lent.device.asked().into_iter().find(|asked| asked.method == "shell.cancel").unwrap();
    assert_eq!(
        ended.context.unwrap().session_id.as_deref(),
        Some("s1"),
        "the device knows it by its session"
    );
    assert_eq!(other.ask("file.read", readme()).await.unwrap()["content"], "content of README.md");
    assert_eq!(lent.device.asked_to_end(), ["mine"]);
    let written = || async {
        let audit = lent.world.audit().await;
        audit.into_iter().filter(|entry| entry.method == "shell.cancel").collect::<Vec<_>>()
    };
    until(|| async { written().await.len() == 2 }).await;
    let entry = &written().await[1];
    assert_eq!((&entry.summary["command_id"], entry.session_id.as_deref()), (&json!("mine"), Some("s1")));
}

/// relay-155, relay-157: nor do they outlive their environment, …
#[tokio::test]
async fn commands_in_the_background_end_with_their_environment() {
    let lent = Lent::new().await;
    let start = json!({ "command": "mine", "background": true });
    lent.runtime.ask("shell.start", start).await.unwrap();
    lent.world.ok(Method::DELETE, &format!("/api/v1/relay/environments/{}", lent.environment.id), None).await;
    until(|| async { lent.device.asked_to_end() == ["mine"] }).await;
}

/// relay-123, relay-157: … also if their device was away when it was ended, and has kept them.
#[tokio::test]
async fn commands_that_a_device_has_kept_end_when_it_is_back() {
    let mut lent = Lent::new().await;
    let other = lent.other().await;
    let start = |name: &str| json!({ "command": name, "background": true });
    lent.runtime.ask("shell.start", start("mine")).await.unwrap();
    lent.world.runtime(&other).await.ask("shell.start", start("theirs")).await.unwrap();
    lent.device.unplug();
    until(|| async { lent.world.connection("laptop").await.is_null() }).await;
    lent.world.ok(Method::DELETE, &format!("/api/v1/relay/environments/{}", lent.environment.id), None).await;
    let device = lent.world.connect(&lent.token, Offering::all()).await;
    until(|| async { device.asked_to_end() == ["mine"] }).await;
}

/// relay-156, relay-157: a device that is cut off is told before to end its commands: all of them if nothing of it is lent any more, …
#[tokio::test]
async fn a_device_that_is_stopped_ends_its_commands() {
    let mut lent = Lent::new().await;
    let start = json!({ "command": "mine", "background": true });
    lent.runtime.ask("shell.start", start).await.unwrap();
    lent.world.ok(Method::POST, "/api/devices/laptop/stop", None).await;
    lent.device.ended().await;
    assert_eq!(lent.device.asked_to_end(), ["mine"]);
}

/// … and otherwise those that may not go on.
#[tokio::test]
async fn a_device_of_which_less_is_granted_ends_what_is_not_granted() {
    let mut lent = Lent::new().await;
    lent.world.add_runtime("other").await;
    let add = json!({ "clientId": "laptop", "runtimeId": "other", "capabilities": [shell()] });
    lent.world.ok(Method::POST, "/api/grants", Some(add)).await;
    let other = lent.world.environment(json!({ "runtimeId": "other" })).await;
    let start = |name: &str| json!({ "command": name, "background": true });
    lent.runtime.ask("shell.start", start("mine")).await.unwrap();
    lent.world.runtime(&other).await.ask("shell.start", start("theirs")).await.unwrap();
    lent.world.ok(Method::DELETE, &format!("/api/grants/{}", lent.grant), None).await;
    lent.device.ended().await;
    assert_eq!(lent.device.asked_to_end(), ["mine"]);
}

/// relay-154, relay-155, relay-157: what is taken back while it is being written down that it is asked is not asked.
#[tokio::test]
async fn what_is_taken_back_before_it_leaves_does_not_leave() {
    let lent = Lent::new().await;
    // Another still has it, so the device stays connected.
    lent.world.add_runtime("other").await;
    lent.world.grant_to("other", "laptop", json!([files("rw"), shell()])).await;
    let mut file = rusqlite::Connection::open(lent.world.file("relay-audit.db")).unwrap();
    let lock = file.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let params = json!({ "root_id": "main", "path": "a", "content": "b" });
    let write = lent.runtime.peer.request(Ask::new("file.write", RawJson::from_value(&params))).await;
    let status = || async { lent.world.ok(Method::GET, "/api/v1/relay/status", None).await };
    until(|| async { status().await["environments"][0]["pendingRequests"] == 1 }).await;
    lent.world.ok(Method::DELETE, &format!("/api/grants/{}", lent.grant), None).await;
    let since = Instant::now();
    assert_eq!(soon(write.outcome()).await.unwrap_err().code, RelayErrorCode::PermissionDenied);
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    drop(lock);
    until(|| async { lent.world.audit().await.iter().any(|entry| entry.status.is_some()) }).await;
    assert!(lent.device.asked().is_empty(), "{:?}", lent.device.asked());
}

/// relay-155, relay-156, relay-157: the user stops a device in an emergency.
#[tokio::test]
async fn a_device_that_is_stopped_is_cut_off() {
    let lent = Lent::new().await;
    let call = lent.command().await;
    let since = Instant::now();
    lent.world.ok(Method::POST, "/api/devices/laptop/stop", None).await;
    lent.ends_cut_off(call, since).await;
}

/// relay-155: a device that is removed is cut off, and nothing is left of what was granted or made of it.
#[tokio::test]
async fn a_device_that_is_removed_leaves_nothing() {
    let lent = Lent::new().await;
    let call = lent.command().await;
    let since = Instant::now();
    lent.world.ok(Method::DELETE, "/api/devices/laptop", None).await;
    let error = soon(call.outcome()).await.unwrap_err();
    assert!(
        matches!(error.code, RelayErrorCode::RelayDisconnected | RelayErrorCode::PermissionDenied),
        "{error:?}"
    );
    assert!(since.elapsed() < AT_ONCE);
    assert_eq!(lent.world.ok(Method::GET, "/api/grants", None).await["items"], json!([]));
    assert_eq!(lent.world.ok(Method::GET, "/api/v1/relay/environments", None).await["items"], json!([]));
    // Nor for another device that gets its name.
    lent.world.let_in("laptop").await;
    assert_eq!(lent.world.ok(Method::GET, "/api/grants", None).await["items"], json!([]));
}

/// An environment that is ended closes its doors and ends what goes on.
#[tokio::test]
async fn an_environment_that_is_ended_closes_its_doors() {
    let mut lent = Lent::new().await;
    let call = lent.command().await;
    let path = format!("/api/v1/relay/environments/{}", lent.environment.id);
    lent.world.ok(Method::DELETE, &path, None).await;
    assert!(soon(call.outcome()).await.is_err());
    lent.runtime.ended().await;
    lent.device.works_on(0).await;
    assert_eq!(lent.world.ask(&lent.environment, "file.read", readme()).await.0, 401);
}

/// A device that is granted more is told so, and need not connect again.
#[tokio::test]
async fn a_device_that_is_granted_more_stays_connected() {
    let lent = Lent::new().await;
    let id = lent.world.connection("laptop").await["connectionId"].clone();
    let more = json!([{ "capability": "fileops", "enabled": true, "roots": [
        { "root_id": "docs", "virtual_path": "/workspace/docs", "mode": "rw" },
    ] }]);
    lent.world.grant("laptop", more).await;
    let docs = || json!({ "root_id": "docs", "path": "a" });
    until(|| async { lent.world.ask(&lent.environment, "file.read", docs()).await.0 == 200 }).await;
    assert_eq!(lent.world.connection("laptop").await["connectionId"], id);
    let told = lent.device.desk.events.lock().clone();
    assert!(told.iter().any(|event| event.event == "relay.accepted"), "{told:?}");
    assert_eq!(
        lent.world.error(&lent.environment, "file.mkdir", docs()).await,
        "permission_denied",
        "it offers to read only"
    );
}
