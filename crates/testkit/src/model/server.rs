//! The HTTP server of the scripted model: parses a request in the vendor's format, plays the script's next steps, and
//! sends them in the same format.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    Json, Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use super::{
    Dialect, Scenario, Seen,
    amp::Backend,
    dialect::Ids,
    frames::Frame,
    key::Key,
    reply::{Answer, Reply},
    seen::Log,
    turn::{self, Done},
};

/// Maximum size of a request body. Agents send their whole conversation with each request.
const BODY_BYTES_MAX: usize = 64 << 20;

/// Scenario, API key and port of a model.
#[derive(Debug, Default)]
pub struct ModelOptions {
    scenario: Scenario,
    key: Option<Key>,
    port: u16,
}

impl ModelOptions {
    /// Plays this scenario for prompts that contain no script.
    #[must_use]
    pub fn scenario(mut self, scenario: Scenario) -> Self {
        self.scenario = scenario;
        self
    }

    /// Requires this API key; rejects requests without it with 401.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(Key::new(key));
        self
    }

    /// Listens on this port; by default, or for 0, on a free one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Starts the model on the loopback interface.
    ///
    /// # Errors
    /// If the port is in use.
    pub async fn start(self) -> io::Result<Model> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { scenario: self.scenario, key: self.key, state: Mutex::default() });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(Model { address, shared, _serving: serving })
    }
}

/// A running model. It stops accepting connections when it is dropped, because the `JoinSet` then aborts its task.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

impl Model {
    /// Starts a model on a free port. It plays the scripts in prompts and requires no API key.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start() -> Self {
        ModelOptions::default().start().await.expect("no port is free")
    }

    /// The base URL of the model, such as `http://127.0.0.1:1234`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The newest of the received requests, oldest first.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.state.lock().seen.all()
    }
}

#[derive(Debug)]
struct Shared {
    scenario: Scenario,
    key: Option<Key>,
    state: Mutex<Conduct>,
}

/// The part of the state that requests change.
#[derive(Debug, Default)]
struct Conduct {
    seen: Log,
    done: Done,
    ids: Ids,
    amp: Backend,
}

/// Handles every request. There is no router, because agents put arbitrary prefixes before the vendors' paths.
async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, BODY_BYTES_MAX).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let path = head.uri.path();
    let dialect = Dialect::of(path).filter(|_| head.method == Method::POST);
    let admitted = shared.key.as_ref().is_none_or(|key| key.is_in(&head.uri, &head.headers));
    let response = match dialect {
        Some(dialect) if admitted => shared.say(dialect, path, &body).await,
        Some(dialect) => fail(dialect, 401, "this key is not known here"),
        None => shared.aside(&head.method, &head.uri, &body),
    };
    let status = response.status().as_u16();
    let seen = Seen { dialect, path: path.to_owned(), body, status };
    shared.state.lock().seen.add(bytes.len(), seen);
    response
}

impl Shared {
    async fn say(&self, dialect: Dialect, path: &str, body: &Value) -> Response {
        let conversation = dialect.read(body);
        let reply = turn::next(&conversation, &self.scenario, &mut self.state.lock().done);
        let answer = match reply {
            Reply::Fail { status, message } => return fail(dialect, status, &message),
            Reply::Answer(answer) => answer,
        };
        // Gemini names the model in the path, as in `/models/NAME:generateContent`; the other APIs in the body.
        let named = path.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(model, _)| model);
        let model = body["model"].as_str().or(named).unwrap_or("scripted-1");
        if dialect.streams(path, body) {
            let frames = dialect.stream(&answer, &mut self.state.lock().ids, model);
            return ([(header::CONTENT_TYPE, "text/event-stream")], played(frames)).into_response();
        }
        self.in_one_piece(dialect, &answer, model).await
    }

    async fn in_one_piece(&self, dialect: Dialect, answer: &Answer, model: &str) -> Response {
        tokio::time::sleep(answer.time()).await;
        if answer.is_cut() {
            // The first bytes make the agent see a response that starts and then breaks.
            return ([(header::CONTENT_TYPE, "application/json")], played(vec![Frame::Comment, Frame::Cut]))
                .into_response();
        }
        Json(dialect.whole(answer, &mut self.state.lock().ids, model)).into_response()
    }

    /// Responds to connectivity checks, requests for model lists and token counts, and calls of Amp's backend.
    fn aside(&self, method: &Method, uri: &Uri, body: &Value) -> Response {
        let path = uri.path();
        if method == Method::HEAD {
            return StatusCode::OK.into_response();
        }
        if method == Method::GET && path.ends_with("/models") {
            let model = json!({
                "id": "scripted-1", "object": "model", "type": "model", "display_name": "Scripted 1", "created": 0,
                "created_at": "2026-01-01T00:00:00Z", "owned_by": "scripted",
            });
            return Json(json!({ "object": "list", "models": [], "data": [model], "has_more": false }))
                .into_response();
        }
        if method == Method::POST && (path.ends_with("/count_tokens") || path.ends_with(":countTokens")) {
            return Json(json!({ "input_tokens": 1000, "totalTokens": 1000 })).into_response();
        }
        if method == Method::POST && path == "/api/internal" {
            let called = uri.query().unwrap_or_default().split('&').next().unwrap_or_default();
            return Json(self.state.lock().amp.call(called, body)).into_response();
        }
        let error = json!({ "error": { "type": "not_found_error", "message": "there is nothing here" } });
        (StatusCode::NOT_FOUND, Json(error)).into_response()
    }
}

fn fail(dialect: Dialect, status: u16, message: &str) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (code, Json(dialect.error(status, message))).into_response()
}

/// A response body that sends the frames one by one, with their pauses, and ends with an error at [`Frame::Cut`].
fn played(frames: Vec<Frame>) -> Body {
    let frames = stream::unfold(frames.into_iter(), |mut frames| async move {
        loop {
            let sent = match frames.next()? {
                Frame::Event(Some(name), data) => Ok(format!("event: {name}\ndata: {data}\n\n")),
                Frame::Event(None, data) => Ok(format!("data: {data}\n\n")),
                Frame::Comment => Ok(":\n\n".to_owned()),
                Frame::Pause(time) => {
                    tokio::time::sleep(time).await;
                    continue;
                }
                Frame::Cut => {
                    // hyper buffers frames and writes them when the body is pending. Without this yield the error
                    // would follow at once, and hyper would drop the connection together with the buffered frames.
                    tokio::task::yield_now().await;
                    Err(io::Error::from(io::ErrorKind::ConnectionReset))
                }
            };
            return Some((sent.map(Bytes::from), frames));
        }
    });
    Body::from_stream(frames)
}
