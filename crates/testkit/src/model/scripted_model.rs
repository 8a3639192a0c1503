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
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use super::{
    ModelApi, ModelRequest, Scenario,
    amp_backend::AmpBackend,
    answer_frames::AnswerFrame,
    api_key::SentKey,
    model_api::IdGenerator,
    model_reply::{ModelAnswer, ModelReply},
    model_request::RequestLog,
    next_reply::{PlayedOnceSteps, next_reply},
};

/// Maximum size of a request body. Agents send their whole conversation with each request.
const BODY_BYTES_MAX: usize = 64 << 20;

/// Scenario, API key and port of a model.
#[derive(Debug, Default)]
pub struct ScriptedModelOptions {
    scenario: Scenario,
    key: Option<SecretString>,
    port: u16,
}

impl ScriptedModelOptions {
    /// Plays this scenario for prompts that contain no script.
    #[must_use]
    pub fn scenario(mut self, scenario: Scenario) -> Self {
        self.scenario = scenario;
        self
    }

    /// Requires this API key; rejects requests without it with 401.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.into());
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
    pub async fn start(self) -> io::Result<ScriptedModel> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await?;
        let address = listener.local_addr()?;
        let service =
            Arc::new(ModelService { scenario: self.scenario, key: self.key, state: Mutex::default() });
        let router = Router::new().fallback(answer_request).with_state(service.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(ScriptedModel { address, service, _serving: serving })
    }
}

/// A running model. It stops accepting connections when it is dropped, because the `JoinSet` then aborts its task.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    service: Arc<ModelService>,
    _serving: JoinSet<()>,
}

impl ScriptedModel {
    /// Starts a model on a free port. It plays the scripts in prompts and requires no API key.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start() -> Self {
        ScriptedModelOptions::default().start().await.expect("no port is free")
    }

    /// The base URL of the model, such as `http://127.0.0.1:1234`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The newest of the received requests, oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.service.state.lock().requests.all()
    }
}

/// Answers the requests of all connections.
#[derive(Debug)]
struct ModelService {
    scenario: Scenario,
    key: Option<SecretString>,
    state: Mutex<ModelState>,
}

/// The part of the state that requests change.
#[derive(Debug, Default)]
struct ModelState {
    requests: RequestLog,
    played_once: PlayedOnceSteps,
    ids: IdGenerator,
    amp: AmpBackend,
}

/// Handles every request. There is no router, because agents put arbitrary prefixes before the vendors' paths.
async fn answer_request(State(service): State<Arc<ModelService>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, BODY_BYTES_MAX).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let path = head.uri.path();
    let api = ModelApi::from_path(path).filter(|_| head.method == Method::POST);
    let keys = SentKey::all(&head.uri, &head.headers);
    let wanted = service.key.as_ref().map(ExposeSecret::expose_secret);
    let authorized = wanted.is_none_or(|wanted| keys.iter().any(|key| key.is(wanted)));
    let response = match api {
        Some(api) if authorized => service.answer_prompt(api, path, &body).await,
        Some(api) => error_response(api, 401, "this key is not known here"),
        None => service.answer_side_request(&head.method, &head.uri, &body),
    };
    let status = response.status().as_u16();
    let request = ModelRequest { api, path: path.to_owned(), keys, body, status };
    service.state.lock().requests.add(bytes.len(), request);
    response
}

impl ModelService {
    async fn answer_prompt(&self, api: ModelApi, path: &str, body: &Value) -> Response {
        let conversation = api.parse_request(body);
        let reply = next_reply(&conversation, &self.scenario, &mut self.state.lock().played_once);
        let answer = match reply {
            ModelReply::Fail { status, message } => return error_response(api, status, &message),
            ModelReply::Answer(answer) => answer,
        };
        // Gemini names the model in the path, as in `/models/NAME:generateContent`; the other APIs in the body.
        let named = path.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(model, _)| model);
        let model = body["model"].as_str().or(named).unwrap_or("scripted-1");
        if api.is_streamed(path, body) {
            let frames = api.stream_frames(&answer, &mut self.state.lock().ids, model);
            return ([(header::CONTENT_TYPE, "text/event-stream")], stream_body(frames)).into_response();
        }
        self.answer_unstreamed(api, &answer, model).await
    }

    async fn answer_unstreamed(&self, api: ModelApi, answer: &ModelAnswer, model: &str) -> Response {
        tokio::time::sleep(answer.time()).await;
        if answer.is_cut() {
            // The first bytes make the agent see a response that starts and then breaks.
            return (
                [(header::CONTENT_TYPE, "application/json")],
                stream_body(vec![AnswerFrame::Comment, AnswerFrame::Cut]),
            )
                .into_response();
        }
        Json(api.response_body(answer, &mut self.state.lock().ids, model)).into_response()
    }

    /// Responds to connectivity checks, requests for model lists and token counts, and calls of Amp's backend.
    fn answer_side_request(&self, method: &Method, uri: &Uri, body: &Value) -> Response {
        let path = uri.path();
        if method == Method::HEAD {
            return StatusCode::OK.into_response();
        }
        if method == Method::GET && path.ends_with("/responses") {
            // Codex asks OpenAI for a WebSocket first. On any other status it tries that five times.
            return StatusCode::UPGRADE_REQUIRED.into_response();
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
            let amp_method = uri.query().unwrap_or_default().split('&').next().unwrap_or_default();
            return Json(self.state.lock().amp.call(amp_method, body)).into_response();
        }
        let error = json!({ "error": { "type": "not_found_error", "message": "there is nothing here" } });
        (StatusCode::NOT_FOUND, Json(error)).into_response()
    }
}

fn error_response(api: ModelApi, status: u16, message: &str) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (code, Json(api.error_body(status, message))).into_response()
}

/// A response body that sends the frames one by one, with their pauses, and ends with an error at [`AnswerFrame::Cut`].
fn stream_body(frames: Vec<AnswerFrame>) -> Body {
    let frames = stream::unfold(frames.into_iter(), |mut frames| async move {
        loop {
            let sent = match frames.next()? {
                AnswerFrame::Event(Some(name), data) => Ok(format!("event: {name}\ndata: {data}\n\n")),
                AnswerFrame::Event(None, data) => Ok(format!("data: {data}\n\n")),
                AnswerFrame::Comment => Ok(":\n\n".to_owned()),
                AnswerFrame::Pause(time) => {
                    tokio::time::sleep(time).await;
                    continue;
                }
                AnswerFrame::Cut => {
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
