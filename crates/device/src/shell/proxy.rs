//! The network of a sandboxed command with `network = "proxy"`: an HTTP proxy in the device, which reaches other machines and
//! never this one.
//!
//! The command has a network namespace of its own, in which nothing but the loopback interface exists. The sandbox's first
//! process opens a listener there and hands it to the device ([`handover`]). The proxy resolves names itself and connects to the
//! very address that it has checked, so that a name cannot resolve to another address in between.

mod destination;
pub(super) mod handover;
mod request_head;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, lookup_host},
    sync::{Notify, Semaphore},
    task::JoinSet,
    time::{sleep, timeout},
};
use tracing::{debug, warn};

use self::request_head::RequestHead;

/// How many connections one command may have at a time. Further ones wait in the listener's backlog.
const CONNECTIONS_MAX: usize = 64;

/// How many connections all commands together may have at a time. Each needs two descriptors of the device, which often may
/// have no more than 1,024, and may need one of its 512 threads for the name.
const ALL_CONNECTIONS_MAX: usize = 256;

/// Slots for the connections of all commands: descriptors belong to the process, and not to a shell.
static ALL_CONNECTIONS: Semaphore = Semaphore::const_new(ALL_CONNECTIONS_MAX);

/// How long a client may take to send the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long resolving a name and connecting to all of its addresses may take together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// How many addresses of one name are tried.
const ADDRESSES_MAX: usize = 8;

/// How long a connection may be silent in both directions. Long polls and slow builds of remote services need minutes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// How much of one direction of a connection is in memory.
const BUFFER_BYTES: usize = 16 << 10;

/// How much of a refused request is read, and for how long, so that the client can read the response.
const DRAINED_BYTES_MAX: u64 = 1 << 20;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait after a failed `accept`: the device may have no descriptors left for a while.
const ACCEPT_RETRY_AFTER: Duration = Duration::from_millis(100);

/// The proxy of one command. All of its connections end when this value is dropped.
#[derive(Debug)]
pub(super) struct NetworkProxy {
    /// Accepts connections, and owns the tasks that serve them.
    _task: JoinSet<()>,
}

/// Decides whether commands may not connect to an address.
type Refuses = fn(IpAddr) -> io::Result<bool>;

/// Why the proxy does not connect.
#[derive(Debug, thiserror::Error)]
enum ProxyError {
    #[error("the request is not one for a proxy: {0}")]
    Request(&'static str),
    #[error(
        "commands on this device may not connect to the device itself; its owner can allow that with `network = \"host\"`"
    )]
    Refused,
    #[error("could not resolve the name")]
    Resolve(#[source] io::Error),
    #[error("could not connect")]
    Connect(#[source] io::Error),
    #[error("could not connect in time")]
    Timeout,
    #[error(transparent)]
    Client(#[from] io::Error),
}

impl NetworkProxy {
    /// Serves the connections that a command makes to `listener`.
    pub(super) fn start(listener: std::net::TcpListener) -> io::Result<Self> {
        Self::with_policy(listener, destination::is_refused)
    }

    fn with_policy(listener: std::net::TcpListener, refuses: Refuses) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let mut task = JoinSet::new();
        task.spawn(accept_connections(listener, refuses));
        Ok(Self { _task: task })
    }
}

async fn accept_connections(listener: TcpListener, refuses: Refuses) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    // Dropped, and so ended, with this task.
    let mut connections = JoinSet::new();
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((client, _)) => {
                let Ok(slot_of_all) = ALL_CONNECTIONS.acquire().await else { return };
                connections.spawn(async move {
                    let _slots = (slot, slot_of_all);
                    if let Err(error) = serve_connection(client, refuses).await {
                        debug!(%error, "a command's connection failed");
                    }
                });
            }
            Err(error) => {
                warn!(%error, "could not accept a command's connection");
                sleep(ACCEPT_RETRY_AFTER).await;
            }
        }
    }
}

async fn serve_connection(mut client: TcpStream, refuses: Refuses) -> io::Result<()> {
    match open(&mut client, refuses).await {
        Ok(server) => forward(client, server).await,
        Err(ProxyError::Client(error)) => Err(error),
        Err(error) => {
            client.write_all(response(&error).as_bytes()).await?;
            client.shutdown().await?;
            // Closing a connection with unread bytes resets it, and the client might not see the response.
            let mut unread = client.take(DRAINED_BYTES_MAX);
            let mut discarded = tokio::io::sink();
            let drained = timeout(DRAIN_TIMEOUT, tokio::io::copy(&mut unread, &mut discarded));
            drained.await.unwrap_or(Ok(0)).map(drop)
        }
    }
}

/// Reads the request, connects to its server and sends what comes before the bytes that are forwarded unchanged.
async fn open(client: &mut TcpStream, refuses: Refuses) -> Result<TcpStream, ProxyError> {
    let head = timeout(HEAD_TIMEOUT, RequestHead::read(client));
    let head = head.await.map_err(|_| ProxyError::Request("its head did not arrive in time"))??;
    let connected = timeout(CONNECT_TIMEOUT, connect(&head.host, head.port, refuses)).await;
    let mut server = connected.map_err(|_| ProxyError::Timeout)??;
    match head.forwarded {
        Some(forwarded) => server.write_all(&forwarded).await?,
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
    }
    server.write_all(&head.rest).await?;
    Ok(server)
}

async fn connect(host: &str, port: u16, refuses: Refuses) -> Result<TcpStream, ProxyError> {
    let addresses: Vec<SocketAddr> =
        lookup_host((host, port)).await.map_err(ProxyError::Resolve)?.take(ADDRESSES_MAX).collect();
    let mut failure = ProxyError::Resolve(io::ErrorKind::NotFound.into());
    for address in addresses {
        // The routes of this machine are read from files.
        let refused = tokio::task::spawn_blocking(move || refuses(address.ip())).await;
        if refused.map_err(io::Error::other).flatten().map_err(ProxyError::Connect)? {
            failure = ProxyError::Refused;
            continue;
        }
        match TcpStream::connect(address).await {
            // The address may have become one of this machine since it was checked. Nothing has been sent yet.
            Ok(server) if server.local_addr()?.ip() == address.ip() => failure = ProxyError::Refused,
            Ok(server) => return Ok(server),
            Err(error) => failure = ProxyError::Connect(error),
        }
    }
    Err(failure)
}

fn response(error: &ProxyError) -> String {
    let status = match error {
        ProxyError::Request(_) | ProxyError::Client(_) => "400 Bad Request",
        ProxyError::Refused => "403 Forbidden",
        ProxyError::Resolve(_) | ProxyError::Connect(_) => "502 Bad Gateway",
        ProxyError::Timeout => "504 Gateway Timeout",
    };
    let body = format!("{}\n", protocol::ErrorChain(error));
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Forwards bytes in both directions until both have ended, or nothing moves for [`IDLE_TIMEOUT`].
async fn forward(mut client: TcpStream, mut server: TcpStream) -> io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let moved = Notify::new();
    let both = async {
        tokio::try_join!(copy(from_client, to_server, &moved), copy(from_server, to_client, &moved))
    };
    let idle = async { while timeout(IDLE_TIMEOUT, moved.notified()).await.is_ok() {} };
    tokio::select! {
        ended = both => ended.map(drop),
        () = idle => Err(io::ErrorKind::TimedOut.into()),
    }
}

async fn copy(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    moved: &Notify,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..count]).await?;
        moved.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// Stands in for another machine: the loopback address that the tests' policy does not refuse.
    const OTHER_MACHINE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

    fn refuses_all_but_one(address: IpAddr) -> io::Result<bool> {
        Ok(address != OTHER_MACHINE)
    }

    /// A proxy, and its address.
    fn proxy() -> (NetworkProxy, SocketAddr) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (NetworkProxy::with_policy(listener, refuses_all_but_one).unwrap(), address)
    }

    /// Sends `request` through the proxy and returns everything that comes back.
    async fn exchange(proxy: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(proxy).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    /// A server that answers one connection with what it received up to an empty line.
    async fn echo_head() -> (JoinSet<()>, SocketAddr) {
        let listener = TcpListener::bind((OTHER_MACHINE, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut task = JoinSet::new();
        task.spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut received = Vec::new();
            while !received.ends_with(b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut received).await.unwrap(), 0);
            }
            stream.write_all(&received).await.unwrap();
        });
        (task, address)
    }

    #[tokio::test]
    async fn a_tunnel_passes_bytes_unchanged() {
        let (_proxy, address) = proxy();
        let (_server, server) = echo_head().await;
        let request = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\nGET / HTTP/1.1\r\n\r\n");
        let answer = exchange(address, &request).await;
        assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    }

    #[tokio::test]
    async fn a_plain_request_reaches_the_server_without_what_is_for_the_proxy() {
        let (_proxy, address) = proxy();
        let (_server, server) = echo_head().await;
        let request = format!(
            "GET http://{server}/a?b HTTP/1.1\r\nHost: other\r\nProxy-Authorization: x\r\nProxy-Connection: keep-alive\r\n\
             Connection: keep-alive\r\nAccept: */*\r\n\r\n"
        );
        let expected =
            format!("GET /a?b HTTP/1.1\r\nhost: {server}\r\nAccept: */*\r\nconnection: close\r\n\r\n");
        assert_eq!(exchange(address, &request).await, expected);
    }

    #[tokio::test]
    async fn other_addresses_and_other_requests_are_refused() {
        let (_proxy, address) = proxy();
        for (request, status) in [
            ("CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n", "403"),
            ("CONNECT localhost:80 HTTP/1.1\r\n\r\n", "403"),
            ("CONNECT 2130706433:80 HTTP/1.1\r\n\r\n", "403"),
            ("GET http://0177.0.0.1/ HTTP/1.1\r\n\r\n", "403"),
            ("GET http://[::1]/ HTTP/1.1\r\n\r\n", "403"),
            ("CONNECT no-such-name.invalid:80 HTTP/1.1\r\n\r\n", "502"),
            ("GET / HTTP/1.1\r\n\r\n", "400"),
            ("GET https://host/ HTTP/1.1\r\n\r\n", "400"),
            ("CONNECT host HTTP/1.1\r\n\r\n", "400"),
            ("hello\r\n\r\n", "400"),
        ] {
            let answer = exchange(address, request).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
        }
    }

    #[tokio::test]
    async fn a_head_that_is_too_large_is_refused() {
        let (_proxy, address) = proxy();
        let request = format!("GET http://h/ HTTP/1.1\r\nA: {}", "x".repeat(request_head::HEAD_BYTES_MAX));
        let answer = exchange(address, &request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }

    #[tokio::test]
    async fn connections_end_with_their_proxy() {
        let (proxy, address) = proxy();
        let server = TcpListener::bind((OTHER_MACHINE, 0)).await.unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        let request = format!("CONNECT {} HTTP/1.1\r\n\r\n", server.local_addr().unwrap());
        client.write_all(request.as_bytes()).await.unwrap();
        let (mut accepted, _) = server.accept().await.unwrap();
        drop(proxy);
        assert_eq!(accepted.read(&mut [0; 16]).await.unwrap_or(0), 0);
    }
}
