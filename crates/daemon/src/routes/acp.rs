//! `/v1/acp`: any ACP agent over HTTP.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use acp::{Answer, Listener, Wait};
use axum::{
    Json,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use journal::{Item, Seq};
use protocol::{
    AgentName, ServerId,
    acp::{AcpInstance, AcpInstanceList, PrepareInstanceRequest},
};
use serde::Deserialize;
use server::{
    extract::{self, Path, Query},
    intake, sse,
};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::Problems;
use crate::{app::App, problem::Result};

/// The largest message; the same as the longest line that an agent may write.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

const EVENT_ID: HeaderName = HeaderName::from_static("acp-event-id");
const PREFER: HeaderName = HeaderName::from_static("prefer");

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(send, stream, prepare, delete))
}

/// List the instances.
#[utoipa::path(get, path = "/v1/acp", tag = "acp", responses((status = OK, body = AcpInstanceList), Problems))]
async fn list(State(app): State<App>) -> Json<AcpInstanceList> {
    Json(AcpInstanceList { items: app.instances.list(), next_cursor: None })
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SendQuery {
    /// The agent to run; needed for the first message of an instance.
    #[param(value_type = Option<String>, pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    agent: Option<AgentName>,
    /// How long to wait for the answer; the daemon's limit if left out.
    #[param(minimum = 1)]
    timeout_ms: Option<u64>,
    /// Deletes an instance that is made by this message once nobody was there for it for so long: no reader of its
    /// stream, and no message on its way. Without it an instance stays until it is deleted.
    #[param(minimum = 1, maximum = 604_800_000)]
    linger_ms: Option<u64>,
}

/// Send one JSON-RPC message to the agent; a request is answered with the agent's response.
#[utoipa::path(
    post, path = "/v1/acp/{server_id}", tag = "acp",
    params(
        ("server_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The client's name for the instance"),
        SendQuery,
        ("prefer" = Option<String>, Header, description = "`respond-async` answers a request at once; its response is on the stream only"),
        ("idempotency-key" = Option<String>, Header, description = "Makes it safe to send the message again: one that was handed to the agent under this key is answered with 202 and not handed over twice, and its response is on the stream. The last 1024 keys of an instance are remembered. A key that came with other bytes is refused with 422. 1 to 128 visible ASCII characters"),
    ),
    request_body(content = Object, content_type = "application/json", description = "One JSON-RPC 2.0 message"),
    responses(
        (status = OK, description = "The agent's response, byte for byte", body = Object, content_type = "application/json",
            headers(("acp-event-id" = String, description = "The id of this response on the stream"))),
        (status = ACCEPTED, description = "The message was handed to the agent"),
        Problems,
    )
)]
async fn send(
    State(app): State<App>,
    Path(id): Path<ServerId>,
    Query(query): Query<SendQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response> {
    extract::need_json(&headers)?;
    let wait = wait(&headers, query.timeout_ms, app.timeout_max)?;
    let key = extract::idempotency_key(&headers)?;
    let body = intake::collect(body, MESSAGE_BYTES_MAX, app.stall).await?;
    let linger = query.linger_ms.map(Duration::from_millis);
    match app.instances.post(&id, query.agent.as_ref(), body, wait, key.as_ref(), linger).await? {
        Answer::Accepted => Ok(StatusCode::ACCEPTED.into_response()),
        Answer::Response { seq, body } => {
            let mut response = Response::new(Body::from(body));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(EVENT_ID, HeaderValue::from(seq.get()));
            Ok(response)
        }
    }
}

fn wait(headers: &HeaderMap, timeout_ms: Option<u64>, max: Duration) -> Result<Wait> {
    let preferences = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    if preferences
        .flat_map(|value| value.split(','))
        .any(|one| one.trim().eq_ignore_ascii_case("respond-async"))
    {
        return Ok(Wait::Async);
    }
    Ok(Wait::Within(extract::patience(timeout_ms, max)?))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StreamQuery {
    /// The id of the last event that was read; as the header `Last-Event-ID`.
    last_event_id: Option<u64>,
}

/// Follow what the agent says, as server-sent events.
#[utoipa::path(
    get, path = "/v1/acp/{server_id}", tag = "acp",
    params(
        ("server_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The instance"),
        StreamQuery,
        ("last-event-id" = Option<String>, Header, description = "Replay what came after this event"),
    ),
    responses(
        (status = OK, description = "`message` events with ids, and the control events `gap`, `unparsed` and `exited`",
            body = String, content_type = "text/event-stream"),
        Problems,
    )
)]
async fn stream(
    State(app): State<App>,
    Path(id): Path<ServerId>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    let last = extract::last_event(&headers, query.last_event_id)?.map(Seq::new);
    Ok(sse::response(Said(app.instances.listener(&id, last)?)))
}

/// What an agent says: frames that are events already.
struct Said(Listener);

impl sse::Source for Said {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_next(cx).map(|item| {
            item.map(|item| match item {
                Item::Frames(chunk) => chunk.bytes(),
                Item::Gap(gap) => acp::gap_frame(gap),
            })
        })
    }
}

/// Prepare an instance with its own launch options; its process starts with the first message.
#[utoipa::path(
    put, path = "/v1/acp/{server_id}", tag = "acp", request_body = PrepareInstanceRequest,
    params(("server_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The client's name for the instance")),
    responses((status = CREATED, body = AcpInstance), (status = OK, body = AcpInstance), Problems)
)]
async fn prepare(
    State(app): State<App>,
    Path(id): Path<ServerId>,
    extract::Json(options): extract::Json<PrepareInstanceRequest>,
) -> Result<(StatusCode, Json<AcpInstance>)> {
    let created = app.instances.prepare(&id, &options).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(app.instances.describe(&id)?)))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeleteQuery {
    /// How long the agent may take to end by itself before it is killed; no more than the daemon gives every agent,
    /// which it is if left out.
    #[param(value_type = Option<u64>, minimum = 0, maximum = 4_294_967_295_u64)]
    grace_ms: Option<u32>,
}

/// End an instance and every process of it.
#[utoipa::path(
    delete, path = "/v1/acp/{server_id}", tag = "acp",
    params(
        ("server_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The instance"),
        DeleteQuery,
    ),
    responses((status = NO_CONTENT, description = "It is gone, or never was"), Problems)
)]
async fn delete(
    State(app): State<App>,
    Path(id): Path<ServerId>,
    Query(query): Query<DeleteQuery>,
) -> StatusCode {
    app.instances.delete(&id, query.grace_ms.map(|ms| Duration::from_millis(ms.into()))).await;
    StatusCode::NO_CONTENT
}
