//! A viewer of a terminal: a WebSocket, and what came over it.

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use testkit::{TestDaemon, within};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message, protocol::frame::coding::CloseCode},
};

use super::path;
use crate::secs;

pub(super) struct Viewer {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// What the first frame said.
    pub(super) attached_after: u64,
    /// How many binary frames came.
    pub(super) pieces: u64,
}

impl Viewer {
    pub(super) async fn open(daemon: &TestDaemon, id: &str, query: &str) -> Self {
        let url = format!("ws{}{}", daemon.base().strip_prefix("http").unwrap(), path(id, "/terminal"));
        let (socket, _) = connect_async(format!("{url}{query}")).await.unwrap();
        let mut viewer = Self { socket, attached_after: 0, pieces: 0 };
        let attached = viewer.text().await;
        assert_eq!(attached["type"], "attached", "{attached}");
        viewer.attached_after = attached["after"].as_u64().unwrap();
        viewer
    }

    pub(super) async fn types(&mut self, bytes: &[u8]) {
        self.socket.send(Message::Binary(bytes.to_vec().into())).await.unwrap();
    }

    /// Sends a frame that the daemon refuses. The daemon may close the connection before all of the frame was sent, so the
    /// send itself may fail; [`closed`](Self::closed) then finds the end.
    pub(super) async fn types_what_is_refused(&mut self, bytes: &[u8]) {
        let sent = self.socket.send(Message::Binary(bytes.to_vec().into())).await;
        assert!(
            matches!(sent, Ok(()) | Err(Error::Io(_) | Error::ConnectionClosed | Error::AlreadyClosed)),
            "{sent:?}"
        );
    }

    pub(super) async fn says(&mut self, command: &str) {
        self.socket.send(Message::Text(command.into())).await.unwrap();
    }

    /// All bytes up to and including `end`.
    pub(super) async fn shows(&mut self, end: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        while !shown.windows(end.len()).any(|window| window == end) {
            match self.next().await {
                Some(Message::Binary(bytes)) => {
                    self.pieces += 1;
                    shown.extend_from_slice(&bytes);
                }
                other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&shown)),
            }
        }
        shown
    }

    /// The next text frame; what is shown before it is passed over.
    pub(super) async fn text(&mut self) -> Value {
        loop {
            match self.next().await {
                Some(Message::Text(text)) => return serde_json::from_str(&text).unwrap(),
                Some(Message::Binary(_)) => self.pieces += 1,
                other => panic!("{other:?}"),
            }
        }
    }

    /// The code with which the connection is closed; everything before it is passed over.
    pub(super) async fn closed(&mut self) -> Option<u16> {
        loop {
            match self.next().await {
                Some(Message::Close(frame)) => return frame.map(|frame| CloseCode::into(frame.code)),
                Some(_) => {}
                None => return None,
            }
        }
    }

    pub(super) async fn leaves(mut self) {
        self.socket.close(None).await.unwrap();
        while self.next().await.is_some() {}
    }

    /// The next frame that says something. Signs of life do not make the wait longer.
    async fn next(&mut self) -> Option<Message> {
        let next = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(message)) => return Some(message),
                    Some(Err(_)) | None => return None,
                }
            }
        };
        within(secs(20), next).await
    }
}
