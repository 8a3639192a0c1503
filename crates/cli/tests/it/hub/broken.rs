//! When something in between breaks.

use super::{wire::Wire, *};

/// Pieces that the agent says while everything breaks.
const PIECES: usize = 6_000;

/// How often something breaks, at most and at least.
const BREAKS: usize = 60;
const BREAKS_MIN: usize = 10;

/// Who sees something so much later reads on before the next break.
const OLD: jiff::SignedDuration = jiff::SignedDuration::from_millis(200);

/// observation-31, observation-35, observation-53: who watches stays when the runtime goes away, is told, and misses nothing.
#[tokio::test]
async fn a_runtime_goes_away_and_comes_back() {
    let (mut daemon, hub) = both().await;
    let wire = Wire::to(daemon.base()).await;
    hub.request(Method::DELETE, "/api/runtimes/box").send().await.unwrap();
    hub.add_runtime("box", &wire.base, Some(TOKEN)).await;
    create(&daemon, "s").await;
    let mut viewer = Viewer::new(&hub, "s", None).await;
    viewer.until("control").await;
    wire.set_down(true);
    assert_eq!(viewer.until("diagnostic").await["code"], "backend.upstream_disconnect");
    assert_eq!(viewer.until("diagnostic").await["code"], "backend.runtime_unavailable");
    // It is even another process by then.
    daemon.kill_and_restart();
    wire.lead_to(daemon.base());
    send(&daemon, "s", "hello").await;
    wire.set_down(false);
    assert_eq!(viewer.until("control").await, json!({ "type": "resumed", "resume": "ok" }));
    let seen = viewer.until_event("turnEnded").await;
    let told = events(&daemon, "s").await;
    let payloads: Vec<_> = seen.iter().map(|envelope| envelope["payload"].clone()).collect();
    let end = told.iter().position(|event| event.get("turnEnded").is_some()).unwrap();
    assert_eq!(payloads, told[end + 1 - seen.len()..=end]);
}

/// observation-27, observation-35, observation-56, observation-65: if more happened meanwhile than the runtime retains, the viewer is told of
/// the gap, gets what there is now, and stays.
#[tokio::test]
async fn a_long_absence_is_a_gap() {
    let (daemon, hub) = both().await;
    let wire = Wire::to(daemon.base()).await;
    hub.request(Method::DELETE, "/api/runtimes/box").send().await.unwrap();
    hub.add_runtime("box", &wire.base, Some(TOKEN)).await;
    create(&daemon, "s").await;
    let mut viewer = Viewer::new(&hub, "s", None).await;
    viewer.until("control").await;
    wire.set_down(true);
    assert_eq!(viewer.until("diagnostic").await["code"], "backend.upstream_disconnect");
    let mut direct = Viewer::at(&format!("{}/v1/workers/s/events/ws", daemon.base()), TOKEN).await.unwrap();
    direct.until("control").await;
    send(&daemon, "s", "/chunks 1100").await;
    direct.until_event("turnEnded").await;
    wire.set_down(false);
    assert_eq!(viewer.until("control").await, json!({ "type": "resumed", "resume": "gap" }));
    let snapshot = viewer.until("event").await["payload"]["snapshot"].clone();
    let text = snapshot["messages"].to_string();
    assert!(text.contains("chunk 1100"), "{text}");
    send(&daemon, "s", "hello").await;
    viewer.until_event("turnEnded").await;
}

/// observation-33, observation-52, observation-61, observation-62, observation-75: whatever breaks, and whoever is killed: all that somebody saw, put together, is what
/// happened, in order and each once.
#[tokio::test]
async fn nothing_is_missed_whatever_breaks() {
    let (daemon, hub) = both().await;
    let wire = Wire::to(daemon.base()).await;
    hub.request(Method::DELETE, "/api/runtimes/box").send().await.unwrap();
    hub.add_runtime("box", &wire.base, Some(TOKEN)).await;
    // One per millisecond.
    all_is_seen(daemon, hub, |_| (), &wire, &format!("/drip {PIECES} 1")).await;
}

/// observation-33, observation-52, observation-61, observation-75: the same where the daemon has called the hub, and the tunnel is what breaks.
#[tokio::test]
async fn nothing_is_missed_whatever_breaks_of_a_tunnel() {
    let hub = TestHub::start(TOMBOLO);
    let wire = Wire::to(hub.base()).await;
    let daemon = join(&hub, &wire.base, "box").await;
    // More slowly: it takes a moment to join again, and the hub keeps so much only.
    all_is_seen(daemon, hub, |hub| wire.lead_to(hub.base()), &wire, &format!("/drip {} 4", PIECES / 2)).await;
}

/// Whether it happened so long ago that whoever sees it only now may lose touch.
fn is_old(time: &Value) -> bool {
    let time: jiff::Timestamp = time.as_str().unwrap().parse().unwrap();
    jiff::Timestamp::now().duration_since(time) > OLD
}

/// Breaks the wire and kills the hub while the agent does what `message` says.
async fn all_is_seen(
    daemon: TestDaemon,
    mut hub: TestHub,
    restarted: impl Fn(&TestHub),
    wire: &Wire,
    message: &str,
) {
    create(&daemon, "s").await;
    let mut random = fastrand::Rng::with_seed(61);
    let mut viewer = Viewer::new(&hub, "s", None).await;
    let begun = viewer.until("event").await;
    let from = begun["payload"]["snapshot"]["seq"].as_u64().unwrap() as usize;
    let (mut cursor, mut log, mut resets) = (begun["cursor"].as_str().unwrap().to_owned(), Vec::new(), 0);
    send(&daemon, "s", message).await;
    let (mut breaks, mut over) = (0, false);
    while !over {
        let mut lost = false;
        let (mut left, mut behind) = (random.usize(1..120), true);
        while left > 0 || behind {
            left = left.saturating_sub(1);
            match viewer.next().await {
                Ok(frame) if frame["kind"] == "event" => {
                    let envelope = &frame["envelope"];
                    let payload = &envelope["payload"];
                    if payload.get("snapshot").is_some() {
                        continue;
                    }
                    cursor = envelope["cursor"].as_str().unwrap().into();
                    log.push(payload.clone());
                    behind = is_old(&envelope["time"]);
                    if payload.get("turnEnded").is_some() {
                        over = true;
                        break;
                    }
                }
                Ok(frame) => {
                    lost |= frame["diagnostic"]["code"].as_str().is_some_and(|code| code.contains("cursor"));
                    resets += usize::from(
                        ["reset", "gap"].iter().any(|outcome| frame["control"]["resume"] == *outcome),
                    );
                }
                Err(_) => break,
            }
        }
        assert!(!lost && resets == 0, "what was missed was within what is kept");
        if breaks < BREAKS && !over {
            breaks += 1;
            match random.u8(0..4) {
                0 => wire.cut(),
                1 => {
                    wire.set_down(true);
                    wire.set_down(false);
                }
                2 => {
                    hub.kill_and_restart();
                    restarted(&hub);
                }
                _ => {}
            }
            viewer = Viewer::new(&hub, "s", Some(&cursor)).await;
        }
    }
    assert!(breaks > BREAKS_MIN, "{breaks} breaks");
    let told = events(&daemon, "s").await;
    let end = told.iter().position(|event| event.get("turnEnded").is_some()).unwrap();
    assert_eq!(log.len(), end + 1 - from);
    assert_eq!(log, told[from..=end]);
}
