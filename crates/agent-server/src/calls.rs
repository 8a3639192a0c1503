//! Asking a server.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::{Client, Method, RequestBuilder, Response, header};
use secrecy::{ExposeSecret, SecretString};

use agent_adapters::Call;

/// How long an answer may take. The first call for a directory waits for its MCP servers, each of which may take half a
/// minute.
const ANSWER_MAX: Duration = Duration::from_secs(120);

/// How long a connection may take to be made: the server is on this machine.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// The largest answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// How long the stream of events may be silent. The server says something every ten seconds.
const SILENCE_MAX: Duration = Duration::from_secs(90);

/// The stream of the events of all directories.
const EVENTS: &str = "/global/event";

/// Asks a server; clones are the same.
#[derive(Debug, Clone)]
pub struct Calls {
    client: Client,
    address: String,
    password: SecretString,
}

impl Calls {
    pub(super) fn new(address: String, password: SecretString) -> Result<Self, reqwest::Error> {
        // A proxy would be asked for a server that only this machine has.
        let client = Client::builder().no_proxy().connect_timeout(CONNECT_MAX).read_timeout(SILENCE_MAX);
        Ok(Self { client: client.build()?, address, password })
    }

    /// Makes a call and waits for its answer: the status and what it says. The status is 0 if there is none, because the
    /// server is gone, takes too long or says too much.
    pub async fn call(&self, call: Call) -> (u16, Bytes) {
        let Ok(method) = Method::from_bytes(call.method.as_bytes()) else { return (0, Bytes::new()) };
        let mut request = self.request(method, &call.path).timeout(ANSWER_MAX);
        if let Some(body) = call.body {
            request = request.header(header::CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let Ok(answer) = request.send().await else { return (0, Bytes::new()) };
        let status = answer.status().as_u16();
        match whole(answer).await {
            Some(body) => (status, body),
            None => (0, Bytes::new()),
        }
    }

    /// The stream of events.
    pub(super) async fn events(&self) -> Result<Response, reqwest::Error> {
        let request = self.request(Method::GET, EVENTS).header(header::ACCEPT, "text/event-stream");
        request.send().await?.error_for_status().map_err(reqwest::Error::without_url)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.address));
        request.basic_auth("opencode", Some(self.password.expose_secret()))
    }
}

async fn whole(mut answer: Response) -> Option<Bytes> {
    let mut body = BytesMut::new();
    while let Some(piece) = answer.chunk().await.ok()? {
        if body.len() + piece.len() > ANSWER_BYTES_MAX {
            return None;
        }
        body.extend_from_slice(&piece);
    }
    Some(body.freeze())
}
