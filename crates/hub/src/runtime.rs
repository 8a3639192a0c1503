//! Runtimes: what is asked and watched, wherever it runs.

mod hop;
mod joined;
mod local;
mod remote;
mod request_progress;
mod response_limit;

use std::time::Duration;

use axum::body::{Body, to_bytes};
use bytes::Bytes;
use client::{WebSocketHandshake, WorkerStream};
use futures_util::future::BoxFuture;
use http::{Request, Response, StatusCode, header};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{Problem, ProblemKind, RuntimeId, SessionId};
use serde::{Serialize, de::DeserializeOwned};
use server::ProblemResponse;
use tokio::time::timeout;
use websocket::KeepAlive;

pub(crate) use hop::Hop;
pub(crate) use joined::Joined;
pub use local::Local;
pub use remote::Remote;
pub(crate) use response_limit::ResponseLimit;

/// How long a runtime may take to answer what the hub itself wants to know.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The largest such answer: the list of as many sessions as a daemon holds.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// A runtime, wherever it is. It is spoken to in one way: its own HTTP.
pub trait Runtime: Send + Sync + 'static {
    /// Asks for one of its routes, `/v1/…`; bodies pass as they come, in both directions.
    ///
    /// A request for a WebSocket is one of HTTP/1.1, with `Upgrade`; if it is answered with 101, `hyper::upgrade::on` has
    /// what goes over it.
    fn send(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Down>>;

    /// Whether it is there, where that is known without asking.
    fn is_up(&self) -> Option<bool> {
        None
    }

    /// After how long without a sign of life one of its streams is taken for lost.
    fn silence_max(&self) -> Duration {
        KeepAlive::default().idle_timeout
    }

    /// Begins to watch a worker, after the place that the runtime calls `cursor`.
    fn watch<'a>(
        &'a self,
        worker: &'a SessionId,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn Upstream>, Down>> {
        Box::pin(watch(self, worker, cursor))
    }
}

/// What a runtime says of a worker.
pub trait Upstream: Send {
    /// The next frame, as text; nothing once the stream was closed. It ends by itself when the runtime is lost. Cancel
    /// safe.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<String>, Down>>;
}

/// Why a runtime does not answer, or a worker cannot be watched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Down {
    /// The runtime has no such worker.
    #[error("the worker does not exist")]
    NoWorker,
    /// The runtime cannot be reached, or does not let us in.
    #[error("the runtime is unreachable")]
    Unreachable,
    /// It said something that is no frame.
    #[error("the runtime sent a response that could not be parsed")]
    Malformed,
    /// As much is being asked of it as may be.
    #[error("too many requests to the runtime are open")]
    Busy,
    /// It did not begin its response within the time for such a request.
    #[error("the runtime did not respond within {} s", .0.as_secs())]
    Timeout(Duration),
    /// The body of the request that was forwarded is broken or ended early.
    #[error("the request body is broken or incomplete")]
    BrokenRequest,
    /// The client stopped sending the body of its request.
    #[error("received no data of the request body for {} s", .0.as_secs())]
    StalledRequest(Duration),
}

impl Down {
    /// The value of the attribute `error.type` of spans.
    pub(crate) fn error_type(&self) -> &'static str {
        match self {
            Self::NoWorker => "worker_not_found",
            Self::Unreachable => "unreachable",
            Self::Malformed => "malformed_response",
            Self::Busy => "busy",
            Self::Timeout(_) => "timeout",
            Self::BrokenRequest => "broken_request",
            Self::StalledRequest(_) => "stalled_request",
        }
    }
}

async fn watch<R: Runtime + ?Sized>(
    runtime: &R,
    worker: &SessionId,
    cursor: Option<&str>,
) -> Result<Box<dyn Upstream>, Down> {
    let handshake = WebSocketHandshake::new();
    let mut path = format!("/v1/workers/{worker}/events/ws");
    if let Some(cursor) = cursor {
        path += &format!("?cursor={}", utf8_percent_encode(cursor, NON_ALPHANUMERIC));
    }
    let mut request = get(&path)?;
    request.headers_mut().extend(handshake.headers());
    let response = runtime.send(request).await?;
    match response.status() {
        // Whatever a runtime has nothing at is no worker.
        StatusCode::NOT_FOUND => Err(Down::NoWorker),
        StatusCode::SWITCHING_PROTOCOLS => {
            let socket = handshake.finish(response).await.map_err(|error| down(&error))?;
            Ok(Box::new(WorkerStream::over(socket).with_silence_max(runtime.silence_max())))
        }
        _ => Err(Down::Unreachable),
    }
}

/// What a runtime answers to a `GET`.
pub(crate) async fn ask<T: DeserializeOwned>(runtime: &dyn Runtime, path: &str) -> Result<T, Down> {
    match exchange(runtime, get(path)?).await? {
        (status, body) if status.is_success() => serde_json::from_slice(&body).map_err(|_| Down::Malformed),
        _ => Err(Down::Unreachable),
    }
}

/// What a runtime answers to a `POST`; what it refuses is told in its own words.
pub(crate) async fn tell<T: DeserializeOwned>(
    (id, runtime): (&RuntimeId, &dyn Runtime),
    path: &str,
    body: &impl Serialize,
) -> server::Result<T> {
    let body = serde_json::to_vec(body).map_err(|error| ProblemResponse::internal(&error))?;
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/json").body(body.into());
    let request = request.map_err(|error| ProblemResponse::internal(&error))?;
    read_response(id, runtime, request).await
}

/// The response of a runtime to a `GET`. The client gets a refusal of the runtime as the runtime wrote it.
pub(crate) async fn read<T: DeserializeOwned>(
    (id, runtime): (&RuntimeId, &dyn Runtime),
    path: &str,
) -> server::Result<T> {
    let request = get(path).map_err(|down| refused(id, &down))?;
    read_response(id, runtime, request).await
}

async fn read_response<T: DeserializeOwned>(
    id: &RuntimeId,
    runtime: &dyn Runtime,
    request: Request<Body>,
) -> server::Result<T> {
    let (status, body) = exchange(runtime, request).await.map_err(|down| refused(id, &down))?;
    if status.is_success() {
        return serde_json::from_slice(&body).map_err(|_| refused(id, &Down::Malformed));
    }
    match serde_json::from_slice::<Problem>(&body) {
        // Whom the runtime does not let in is us.
        Ok(problem) if problem.kind != ProblemKind::Unauthorized => {
            Err(ProblemResponse::new(problem.kind, problem.detail))
        }
        _ => Err(refused(id, &Down::Unreachable)),
    }
}

/// Why a runtime did not answer, without where it is.
pub(crate) fn refused(id: &RuntimeId, down: &Down) -> ProblemResponse {
    match down {
        Down::Busy => ProblemResponse::new(
            ProblemKind::TooManyConnections,
            format!("too many requests to runtime `{id}` are open; try again later"),
        ),
        Down::Timeout(limit) => ProblemResponse::new(
            ProblemKind::RuntimeTimeout,
            format!(
                "runtime `{id}` did not begin its response within {} s; it may be overloaded or stopped: check its daemon, \
                 and read the state of what you asked for before you repeat a change",
                limit.as_secs()
            ),
        ),
        Down::BrokenRequest | Down::StalledRequest(_) => {
            let kind = if *down == Down::BrokenRequest {
                ProblemKind::InvalidRequest
            } else {
                ProblemKind::RequestTimeout
            };
            ProblemResponse::new(kind, down.to_string())
        }
        Down::NoWorker | Down::Unreachable | Down::Malformed => {
            ProblemResponse::new(ProblemKind::RuntimeUnavailable, format!("runtime `{id}` is unreachable"))
        }
    }
}

/// The whole of a short answer.
async fn exchange(runtime: &dyn Runtime, request: Request<Body>) -> Result<(StatusCode, Bytes), Down> {
    let answer = async {
        let response = runtime.send(request).await?;
        let status = response.status();
        let body = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
        Ok((status, body.map_err(|_| Down::Unreachable)?))
    };
    timeout(ANSWER_MAX, answer).await.unwrap_or(Err(Down::Unreachable))
}

pub(crate) fn get(path: &str) -> Result<Request<Body>, Down> {
    // A path that is none leads nowhere.
    Request::get(path).body(Body::empty()).map_err(|_| Down::Unreachable)
}

impl Upstream for WorkerStream {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<String>, Down>> {
        Box::pin(async {
            self.text().await.map(|text| text.map(|text| text.to_string())).map_err(|error| down(&error))
        })
    }
}

/// What is wrong, without where: the error may name the address.
fn down(error: &client::Error) -> Down {
    match error {
        client::Error::Unexpected { .. } => Down::Malformed,
        _ => Down::Unreachable,
    }
}
