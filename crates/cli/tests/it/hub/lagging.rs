//! A viewer that does not read, over a real socket.

use super::*;

/// More than the sockets between the hub and a viewer buffer, and more events than the hub retains.
const FLOOD: &str = "/updates 10000 2000";

/// observation-47, observation-55, observation-66: a viewer that does not read is told so and disconnected with the last cursor that
/// it received. Coming back so late it is told that the events are gone, and begins with a snapshot.
#[tokio::test]
async fn a_viewer_that_does_not_read_is_disconnected_with_its_cursor() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let mut stalled = Viewer::new(&hub, "s", None).await;
    let mut direct = Viewer::at(&format!("{}/v1/workers/s/events/ws", daemon.base()), TOKEN).await.unwrap();
    for viewer in [&mut stalled, &mut direct] {
        viewer.until("control").await;
    }
    send(&daemon, "s", FLOOD).await;
    // The runtime's own stream has no bound: what it stores can be read at any pace.
    within(secs(60), direct.until_event("turnEnded")).await;
    let mut cursor = Value::Null;
    let diagnostic = loop {
        let frame = stalled.next().await.unwrap();
        match frame["kind"].as_str() {
            Some("event") => cursor = frame["envelope"]["cursor"].clone(),
            Some("diagnostic") => break frame["diagnostic"].clone(),
            _ => {}
        }
    };
    assert_eq!(diagnostic["code"], "backend.lagged");
    assert_eq!(diagnostic["details"]["cursor"], cursor);
    let close = stalled.next().await.unwrap_err().unwrap();
    assert_eq!((u16::from(close.code), close.reason.as_str()), (1013, "backend.lagged"));
    let (last, ended) = Viewer::new(&hub, "s", cursor.as_str()).await.end().await;
    assert_eq!(last["diagnostic"]["code"], "backend.cursor_expired");
    let close = ended.unwrap();
    assert_eq!((u16::from(close.code), close.reason.as_str()), (1008, "backend.cursor_expired"));
    let begun = Viewer::new(&hub, "s", None).await.until("event").await;
    assert!(begun["payload"]["snapshot"].is_object());
}
