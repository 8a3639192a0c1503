use reqwest::Method;
use tokio::{net::TcpListener, time::timeout};
use tokio_tungstenite::accept_async;

use super::*;
use crate::{Client, websocket};

/// How long a server may be silent here.
const SILENCE: Duration = Duration::from_millis(400);

/// Whoever looks at other things meanwhile finds out all the same that the server is lost.
#[tokio::test]
async fn a_silent_server_is_lost_however_often_somebody_looks_away() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let client = Client::new(endpoint, None).unwrap();
    let serve = async {
        let _socket = accept_async(listener.accept().await.unwrap().0).await.unwrap();
        std::future::pending::<()>().await;
    };
    let listen = async {
        let request = client.request(Method::GET, &["v1", "terminal"]);
        let (mut reader, _writer) = SocketFrame::split(websocket::open(request).await.unwrap());
        loop {
            if let Ok(ended) = timeout(SILENCE / 8, reader.next(SILENCE)).await {
                return ended;
            }
        }
    };
    let ended = tokio::select! {
        () = serve => unreachable!("it is silent for ever"),
        ended = timeout(100 * SILENCE, listen) => ended.expect("it is lost"),
    };
    assert!(matches!(ended, Err(Error::Transport(_))), "{ended:?}");
}
