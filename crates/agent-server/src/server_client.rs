//! HTTP requests to a server.

use std::time::Duration;

use agent_adapters::Call;
use bytes::{Bytes, BytesMut};
use reqwest::{Client, Method, RequestBuilder, Response, header};
use secrecy::{ExposeSecret, SecretString};

/// The time limit of a request. The first request for a directory waits for its MCP servers, each of which may take half a
/// minute.
const RESPONSE_MAX: Duration = Duration::from_secs(120);

/// The time limit of a connection attempt: the server is on this machine.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// The largest response body.
const RESPONSE_BYTES_MAX: usize = 64 << 20;

/// The longest silence of the event stream. The server sends a heartbeat every ten seconds.
const SILENCE_MAX: Duration = Duration::from_secs(90);

/// The stream of the events of all directories.
const EVENTS: &str = "/global/event";

/// Sends requests to a server. Clones share the connections.
#[derive(Debug, Clone)]
pub struct ServerClient {
    client: Client,
    address: String,
    password: SecretString,
}

impl ServerClient {
    pub(crate) fn new(address: String, password: SecretString) -> Result<Self, reqwest::Error> {
        // A proxy could not reach a server on the loopback address of this machine.
        let client = Client::builder().no_proxy().connect_timeout(CONNECT_MAX).read_timeout(SILENCE_MAX);
        Ok(Self { client: client.build()?, address, password })
    }

    /// Sends a request and returns status and body of the response. The status is 0 without a complete response: the server
    /// is gone, the response takes too long or is too large.
    pub async fn call(&self, call: Call) -> (u16, Bytes) {
        let Ok(method) = Method::from_bytes(call.method.as_bytes()) else { return (0, Bytes::new()) };
        let mut request = self.request(method, &call.path).timeout(RESPONSE_MAX);
        if let Some(body) = call.body {
            request = request.header(header::CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let Ok(response) = request.send().await else { return (0, Bytes::new()) };
        let status = response.status().as_u16();
        match read_body(response).await {
            Some(body) => (status, body),
            None => (0, Bytes::new()),
        }
    }

    /// Opens the event stream.
    pub(crate) async fn events(&self) -> Result<Response, reqwest::Error> {
        let request = self.request(Method::GET, EVENTS).header(header::ACCEPT, "text/event-stream");
        request.send().await?.error_for_status().map_err(reqwest::Error::without_url)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.address));
        request.basic_auth("opencode", Some(self.password.expose_secret()))
    }
}

async fn read_body(mut response: Response) -> Option<Bytes> {
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.ok()? {
        if body.len() + piece.len() > RESPONSE_BYTES_MAX {
            return None;
        }
        body.extend_from_slice(&piece);
    }
    Some(body.freeze())
}
