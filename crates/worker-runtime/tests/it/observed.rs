use futures_util::StreamExt;
use protocol::{
    Event,
    observation::{ObservationFrame, StreamControl},
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};
use websocket::KeepAlive;

use crate::runtime::{Runtime, id, within};

async fn next(socket: &mut WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>) -> ObservationFrame {
    let message = within(socket.next()).await.unwrap().unwrap();
    let Message::Text(text) = message else { panic!("{message:?}") };
    serde_json::from_str(&text).unwrap()
}

/// observation-9, observation-11, observation-13, observation-14, observation-72: a runtime without a daemon serves its snapshot and events.
#[tokio::test]
async fn a_worker_is_watched_without_a_daemon() {
    let runtime = Runtime::start(KeepAlive::default()).await;
    let (mut socket, _) = connect_async(format!("ws://{}/", runtime.address)).await.unwrap();
    let ObservationFrame::Event { envelope } = next(&mut socket).await else {
        panic!("an event comes first")
    };
    let Event::Snapshot(snapshot) = envelope.payload else { panic!("the snapshot comes first") };
    assert_eq!(snapshot.session.id, id());
    assert_eq!(next(&mut socket).await, ObservationFrame::Control { control: StreamControl::Live });
    runtime.send("hello").await;
    let mut seen = Vec::new();
    while !matches!(seen.last(), Some(Event::TurnEnded(_))) {
        let ObservationFrame::Event { envelope } = next(&mut socket).await else {
            panic!("only events come")
        };
        seen.push(envelope.payload);
    }
    let (page, _) = runtime.sessions.page(&id(), snapshot.seq, None, false).await.unwrap();
    let records: Vec<protocol::EventRecord> = serde_json::from_slice(&page).unwrap();
    assert_eq!(seen[..], records.into_iter().map(|record| record.event).collect::<Vec<_>>()[..seen.len()]);
    runtime.sessions.shutdown().await;
}
