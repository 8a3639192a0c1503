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
use crate::{ProblemResponse, Result, bearer_token};

/// Admits requests with the token `please`.
struct RequirePassword;

impl AccessCheck for RequirePassword {
    fn check(&self, head: &mut Parts) -> Result<()> {
        match bearer_token(&head.headers) {
            Some("please") => Ok(()),
            _ => Err(ProblemResponse::new(ProblemKind::Unauthorized, "wrong token")),
        }
    }
}

struct RunningServer {
    address: SocketAddr,
    stop: CancellationToken,
    ended: JoinHandle<()>,
}

async fn start(router: Router, wind_down: impl Future<Output = ()> + Send + 'static) -> RunningServer {
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap();
    let stop = CancellationToken::new();
    let service = HttpService {
        router,
        access_check: Arc::new(RequirePassword),
        cors: None,
        websockets: OpenWebSockets::new(8),
        templates: Arc::new(RouteTemplates::new(["/"])),
        metrics: HttpMetrics::default(),
        stall_timeout: Duration::from_secs(30),
    };
    let serving = listener.serve(service, stop.clone(), wind_down);
    let ended = TaskTracker::new().spawn(serving);
    RunningServer { address, stop, ended }
}

async fn send_request(address: SocketAddr, headers: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    socket
}

/// Reads to the end of the connection.
async fn read_to_end(mut socket: TcpStream) -> String {
    let mut text = String::new();
    socket.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn only_admitted_requests_reach_a_route() {
    let running = start(Router::new().route("/", get(|| async { "welcome" })), async {}).await;
    let rejected = read_to_end(send_request(running.address, "Connection: close\r\n").await).await;
    assert!(rejected.starts_with("HTTP/1.1 401 "), "{rejected}");
    assert!(rejected.contains("\r\nwww-authenticate: Bearer\r\n"), "{rejected}");
    assert!(rejected.contains("\r\ncontent-type: application/problem+json\r\n"), "{rejected}");
    let headers = "Connection: close\r\nAuthorization: Bearer please\r\n";
    let answered = read_to_end(send_request(running.address, headers).await).await;
    assert!(answered.starts_with("HTTP/1.1 200 ") && answered.ends_with("welcome"), "{answered}");
    running.stop.cancel();
    running.ended.await.unwrap();
}

#[tokio::test]
async fn wind_down_runs_after_the_last_accept_and_before_connections_close() {
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
    let waiting = send_request(running.address, "Authorization: Bearer please\r\n").await;
    arrived.recv().await.unwrap();
    running.stop.cancel();
    winding.await.unwrap();
    assert!(TcpStream::connect(running.address).await.is_err(), "a connection was accepted during shutdown");
    go_on.send(()).unwrap();
    let answered = read_to_end(waiting).await;
    assert!(answered.starts_with("HTTP/1.1 200 ") && answered.ends_with("done"), "{answered}");
    running.ended.await.unwrap();
}
