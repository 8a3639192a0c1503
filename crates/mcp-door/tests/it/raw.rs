//! A client that is nothing but HTTP requests, so that a test sees each byte of the answers.

use std::fmt::Write;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use crate::stage::{Stage, within};

pub(crate) struct RawClient {
    http: reqwest::Client,
    url: String,
    /// The revision that the client speaks.
    version: &'static str,
    /// The id of its session, in revisions that have sessions.
    session: Option<String>,
}

impl RawClient {
    /// A client that has opened no session.
    pub(crate) fn new(stage: &Stage, version: &'static str) -> Self {
        Self { http: reqwest::Client::new(), url: stage.url.clone(), version, session: None }
    }

    /// Opens a session. Returns the events of the answer.
    pub(crate) async fn initialize(&mut self) -> Result<Vec<String>, StatusCode> {
        let params = json!({
            "protocolVersion": self.version, "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" },
        });
        let request = self.post("initialize", params);
        let response = within(request.send()).await.unwrap();
        if response.status() != StatusCode::OK {
            return Err(response.status());
        }
        let session = response.headers().get("mcp-session-id").expect("a session");
        self.session = Some(session.to_str().unwrap().to_owned());
        let opened = events(&response.text().await.unwrap());
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let accepted = within(self.request(Method::POST).json(&ready).send()).await.unwrap();
        assert_eq!(accepted.status(), StatusCode::ACCEPTED);
        Ok(opened)
    }

    /// A request with the headers of the client.
    pub(crate) fn request(&self, method: Method) -> RequestBuilder {
        let accept =
            if method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
        let mut request = self.http.request(method, &self.url).header("accept", accept);
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", self.version);
        }
        request
    }

    /// A JSON-RPC request.
    pub(crate) fn post(&self, method: &str, params: Value) -> RequestBuilder {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.request(Method::POST).json(&body)
    }

    /// A JSON-RPC request of the revision of 2026-07-28, which has no sessions.
    pub(crate) fn post_stateless(&self, method: &str, mut params: Value) -> RequestBuilder {
        let name = params["name"].as_str().map(str::to_owned);
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": self.version,
            "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = self.post(method, params).header("mcp-protocol-version", self.version);
        let request = request.header("mcp-method", method);
        match name {
            Some(name) => request.header("mcp-name", name),
            None => request,
        }
    }

    /// The events that answer a request.
    pub(crate) async fn answer(&self, method: &str) -> Vec<String> {
        let response = within(self.post(method, json!({})).send()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        events(&within(response.text()).await.unwrap())
    }

    /// Opens the stream of what the server sends by itself.
    pub(crate) async fn listen(&self) -> Response {
        let response = within(self.request(Method::GET).send()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        response
    }

    pub(crate) async fn status(&self, method: Method) -> StatusCode {
        let mut request = self.request(method.clone());
        if method == Method::POST {
            request = self.post("tools/list", json!({}));
        }
        within(request.send()).await.unwrap().status()
    }
}

/// The first event of a stream that stays open.
pub(crate) async fn first_event(response: &mut Response) -> String {
    let mut text = String::new();
    loop {
        let chunk = within(response.chunk()).await.unwrap().expect("an event");
        write!(text, "{}", String::from_utf8_lossy(&chunk)).unwrap();
        if let [first, ..] = &events(&text)[..] {
            return first.clone();
        }
    }
}

/// The complete events of a stream, without comments.
fn events(text: &str) -> Vec<String> {
    let (complete, _) = text.rsplit_once("\n\n").unwrap_or_default();
    complete.split("\n\n").filter(|event| event.contains("data:")).map(str::to_owned).collect()
}

/// Whether an event has no data: only a client of 2025-11-25 or later knows what that means.
pub(crate) fn is_priming(event: &str) -> bool {
    event.lines().filter_map(|line| line.strip_prefix("data:")).all(|data| data.trim().is_empty())
}
