#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use axum::routing::get;
use http::request::Parts;
use protocol::ProblemKind;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::oneshot,
    task::JoinHandle,
};

use super::*;
use crate::{Refusal, Result, bearer};

/// Lets in whoever has the word.
struct Word;

impl Check for Word {
    fn check(&self, head: &mut Parts) -> Result<()> {
        match bearer(&head.headers) {
            Some("please") => Ok(()),
            _ => Err(Refusal::new(ProblemKind::Unauthorized, "say the word")),
        }
    }
}

/// A server on its way: where it is, how it is stopped, and when it has ended.
struct Running {
    address: SocketAddr,
    stop: CancellationToken,
    ended: JoinHandle<()>,
}

async fn start(router: Router, wind_down: impl Future<Output = ()> + Send + 'static) -> Running {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let (address, stop) = (listener.address().unwrap(), CancellationToken::new());
    let stall = Duration::from_secs(30);
    let service = Service {
        router,
        check: Arc::new(Word),
        cors: None,
        sockets: Sockets::new(8),
        templates: Arc::new(Templates::new(["/"])),
        metrics: Metrics::default(),
        stall,
    };
    let serving = listener.serve(service, stop.clone(), wind_down);
    let ended = TaskTracker::new().spawn(serving);
    Running { address, stop, ended }
}

async fn ask(address: SocketAddr, headers: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    socket
}

/// All that comes, to the end of the connection.
async fn rest(mut socket: TcpStream) -> String {
    let mut text = String::new();
    socket.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn only_who_passes_the_check_reaches_a_route() {
    let running = start(Router::new().route("/", get(|| async { "welcome" })), async {}).await;
    let refused = rest(ask(running.address, "Connection: close\r\n").await).await;
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    assert!(refused.contains("\r\nwww-authenticate: Bearer\r\n"), "{refused}");
    assert!(refused.contains("\r\ncontent-type: application/problem+json\r\n"), "{refused}");
    let headers = "Connection: close\r\nAuthorization: Bearer please\r\n";
    let answered = rest(ask(running.address, headers).await).await;
    assert!(answered.starts_with("HTTP/1.1 200 ") && answered.ends_with("welcome"), "{answered}");
    running.stop.cancel();
    running.ended.await.unwrap();
}

#[tokio::test]
async fn winding_down_comes_after_the_door_and_before_the_connections() {
    let (arrived_tx, mut arrived) = tokio::sync::mpsc::channel(1);
    let released = CancellationToken::new();
    let release = released.clone();
    let handler = move || {
        let (arrived, released) = (arrived_tx.clone(), released.clone());
        async move {
            arrived.send(()).await.unwrap();
            released.cancelled().await;
            "done"
        }
    };
    let (winding_tx, winding) = oneshot::channel();
    let (go_on, going_on) = oneshot::channel();
    let wind_down = async move {
        winding_tx.send(()).unwrap();
        going_on.await.unwrap();
        release.cancel();
    };
    let running = start(Router::new().route("/", get(handler)), wind_down).await;
    let waiting = ask(running.address, "Authorization: Bearer please\r\n").await;
    arrived.recv().await.unwrap();
    running.stop.cancel();
    winding.await.unwrap();
    assert!(TcpStream::connect(running.address).await.is_err(), "somebody was let in");
    go_on.send(()).unwrap();
    let answered = rest(waiting).await;
    assert!(answered.starts_with("HTTP/1.1 200 ") && answered.ends_with("done"), "{answered}");
    running.ended.await.unwrap();
}
