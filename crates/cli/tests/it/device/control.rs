//! What the owner says to a device that runs.

use std::process::Command;

use serde_json::json;

use super::*;

/// relay-178: one command shows the state; relay-145: it is visible.
#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_a_device_is_shown() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start_with(&hub, &["--label", "Ana's laptop"]);
    let connected = hub.next().await;
    lender.said("connected to");
    let _ = connected
        .ask("file.read", json!({ "root_id": "main", "path": "secret.txt", "encoding": "utf-8" }))
        .await;
    let status = lender.place.status().unwrap();
    assert_eq!((&status["clientId"], &status["label"]), (&json!("laptop"), &json!("Ana's laptop")));
    assert_eq!(status["lending"], json!({ "state": "active" }));
    assert_eq!(status["connection"]["state"], "connected");
    assert_eq!(status["connection"]["connectionId"], "relay_conn_1");
    assert_eq!(status["hub"], hub.base());
    assert_eq!(status["lent"]["roots"][0]["directory"], lender.place.path("code").to_str().unwrap());
    assert_eq!(
        (&status["sessions"][0]["sessionId"], &status["sessions"][0]["requests"]),
        (&json!("s-1"), &json!(1))
    );
    assert_eq!(status["lastErrors"][0]["method"], "file.read");
    assert!(status["audit"]["seq"].as_u64() >= Some(1), "{status}");
    assert_eq!(status["audit"]["hash"].as_str().map(str::len), Some(64));
    let view = text(&lender.place.run(&["status"]).stdout);
    for part in ["laptop (Ana's laptop)", "connected as relay_conn_1", "main rw", "s-1", "file.read"] {
        assert!(view.contains(part), "{part}: {view}");
    }
}

/// relay-61: nothing new begins while it is paused, and the hub is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_paused_and_resumed() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start(&hub);
    let mut connected = hub.next().await;
    lender.said("connected to");
    let paused = lender.place.run(&["pause", "back in an hour"]);
    assert!(paused.status.success(), "{}", text(&paused.stderr));
    assert_eq!(connected.event("provider.paused").await, json!({ "reason": "back in an hour" }));
    let status = lender.place.status().unwrap();
    assert_eq!(status["lending"], json!({ "state": "paused", "reason": "back in an hour" }));
    let refused =
        connected.ask("file.read", json!({ "root_id": "main", "path": "x", "encoding": "utf-8" })).await;
    assert_eq!(refused.unwrap_err().code.as_str(), "capability_unavailable");
    lender.said("paused (back in an hour)");
    assert!(lender.place.run(&["resume"]).status.success());
    connected.event("provider.resumed").await;
    assert_eq!(lender.place.status().unwrap()["lending"], json!({ "state": "active" }));
}

/// relay-155, relay-156, relay-157: it ends at once, and is gone when `stop` returns.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_is_stopped_is_gone() {
    let mut hub = StandIn::start().await;
    let mut lender = Lender::start(&hub);
    let mut connected = hub.next().await;
    lender.said("connected to");
    let since = std::time::Instant::now();
    let stopped = lender.place.run(&["stop"]);
    assert!(stopped.status.success(), "{}", text(&stopped.stderr));
    assert!(since.elapsed() < secs(1), "{:?}", since.elapsed());
    assert!(connected.lost().await.to_string().contains("the device's owner has stopped it"));
    assert_eq!(lender.ended(), Some(0));
    let status = lender.place.run(&["status"]);
    assert_eq!(status.status.code(), Some(3));
    assert!(text(&status.stderr).contains("device `laptop` is not running on this machine"));
}

/// A signal ends it in order.
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_a_device_in_order() {
    let mut hub = StandIn::start().await;
    let mut lender = Lender::start(&hub);
    let mut connected = hub.next().await;
    lender.said("connected to");
    assert!(Command::new("kill").arg(lender.child.id().to_string()).status().unwrap().success());
    assert!(connected.lost().await.to_string().contains("the device is shutting down"));
    assert_eq!(lender.ended(), Some(0));
    assert!(!lender.place.path("data/device/laptop/control.sock").exists());
}

/// Nobody but its owner can speak to it or read its files.
#[tokio::test(flavor = "multi_thread")]
async fn its_files_are_for_its_owner() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start(&hub);
    hub.next().await;
    lender.said("connected to");
    assert_eq!(mode(&lender.place.path("data/device/laptop")), 0o700);
    assert_eq!(mode(&lender.place.path("data/device/laptop/control.sock")), 0o600);
    assert_eq!(mode(&lender.audit()), 0o600);
}

/// What a device that was killed left behind is in nobody's way.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_was_killed_can_be_started_again() {
    let mut hub = StandIn::start().await;
    let mut lender = Lender::start(&hub);
    hub.next().await;
    assert!(Command::new("kill").args(["-9", &lender.child.id().to_string()]).status().unwrap().success());
    lender.ended();
    let mut command = lender.place.device(&["connect", hub.base(), "--client-id", "laptop"]);
    command.arg("--token-file").arg(lender.place.path("token"));
    let mut again = command.stderr(Stdio::null()).spawn().unwrap();
    hub.next().await;
    assert!(lender.place.run(&["stop"]).status.success());
    assert!(again.wait().unwrap().success());
}
