//! The head of a request to a proxy: `CONNECT host:port`, or a request with an absolute URL.

use http::{Uri, uri::Authority};
use tokio::{io::AsyncReadExt, net::TcpStream};

use super::ProxyError;

/// The largest head of a request, which is more than servers accept.
pub(super) const HEAD_BYTES_MAX: usize = 64 << 10;

/// The port of `http://` without one.
const HTTP_PORT: u16 = 80;

/// What ends a head.
const END: &[u8] = b"\r\n\r\n";

/// Headers that are for the proxy, or that it sets itself.
const DROPPED_HEADERS: [&str; 6] =
    ["connection", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te"];

/// The head of a request to a proxy.
pub(super) struct RequestHead {
    pub(super) host: String,
    pub(super) port: u16,
    /// What the server gets instead of this head; `None` for a tunnel.
    pub(super) forwarded: Option<Vec<u8>>,
    /// What the client sent after the head.
    pub(super) rest: Vec<u8>,
}

impl RequestHead {
    pub(super) async fn read(client: &mut TcpStream) -> Result<Self, ProxyError> {
        let mut received = Vec::new();
        let end = loop {
            if let Some(end) = received.windows(END.len()).position(|window| window == END) {
                break end;
            }
            if received.len() >= HEAD_BYTES_MAX {
                return Err(ProxyError::Request("its head is too large"));
            }
            if client.read_buf(&mut received).await? == 0 {
                return Err(ProxyError::Request("it ended early"));
            }
        };
        let rest = received.split_off(end + END.len());
        received.truncate(end);
        let head = String::from_utf8(received)
            .map_err(|_| ProxyError::Request("its head has characters that are not UTF-8"))?;
        Self::parse(&head, rest)
    }

    fn parse(head: &str, rest: Vec<u8>) -> Result<Self, ProxyError> {
        let (first, headers) = head.split_once("\r\n").unwrap_or((head, ""));
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(ProxyError::Request("its first line is not `METHOD TARGET VERSION`"));
        };
        if method == "CONNECT" {
            let authority: Authority = target.parse().map_err(|_| no_host())?;
            let port = authority.port_u16().ok_or(ProxyError::Request("CONNECT needs a port"))?;
            return Ok(Self { host: host(&authority)?, port, forwarded: None, rest });
        }
        let uri: Uri = target.parse().map_err(|_| no_host())?;
        if uri.scheme_str() != Some("http") {
            return Err(ProxyError::Request("use CONNECT for everything but `http://` URLs"));
        }
        let authority = uri.authority().ok_or_else(no_host)?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let name = authority.as_str().rsplit('@').next().unwrap_or_default();
        let mut forwarded = format!("{method} {path} {version}\r\nhost: {name}\r\n");
        for line in headers.lines().filter(|line| !is_dropped(line)) {
            forwarded.push_str(line);
            forwarded.push_str("\r\n");
        }
        // The next request on this connection could be for another server, which this one must not get.
        forwarded.push_str("connection: close\r\n\r\n");
        let port = authority.port_u16().unwrap_or(HTTP_PORT);
        Ok(Self { host: host(authority)?, port, forwarded: Some(forwarded.into_bytes()), rest })
    }
}

fn host(authority: &Authority) -> Result<String, ProxyError> {
    let host = authority.host().trim_matches(['[', ']']);
    if host.is_empty() { Err(no_host()) } else { Ok(host.to_owned()) }
}

fn no_host() -> ProxyError {
    ProxyError::Request("it names no host")
}

fn is_dropped(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default().trim();
    DROPPED_HEADERS.iter().any(|dropped| name.eq_ignore_ascii_case(dropped))
}
