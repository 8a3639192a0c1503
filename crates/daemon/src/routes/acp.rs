//! `/v1/acp`: any ACP agent over HTTP.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use acp::{InstanceReader, OutgoingMessage, ResponseMode, SendOutcome};
use axum::{
    Json,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use journal::{JournalItem, Seq};
use protocol::{
    AgentName, ServerId,
    acp::{AcpInstance, AcpInstanceList, PrepareInstanceRequest},
};
use serde::Deserialize;
use server::{
    RouteCollector,
    extract::{self, AcceptsEventStream, Path, Query},
    request_body, routes, sse,
};
use utoipa::IntoParams;

use super::Problems;
use crate::{api_error::Result, app::App};

/// The largest message from a client, which equals the longest line that an agent may write.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

const EVENT_ID: HeaderName = HeaderName::from_static("acp-event-id");
const PREFER: HeaderName = HeaderName::from_static("prefer");

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list)).add(routes!(send, stream, prepare, delete));
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
    /// The agent to run; required for the first message of an instance.
    #[param(value_type = Option<String>, pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    agent: Option<AgentName>,
    /// How long to wait for the response; the daemon's limit if left out.
    #[param(minimum = 1)]
    timeout_ms: Option<u64>,
    /// If this message creates the instance: delete the instance after this many milliseconds without readers of its stream
    /// and messages in progress. Without it, the instance stays until a client deletes it.
    #[param(minimum = 1, maximum = 604_800_000)]
    linger_ms: Option<u64>,
}

/// Send one JSON-RPC message to the agent; a request is answered with the agent's response.
#[utoipa::path(
    post, path = "/v1/acp/{server_id}", tag = "acp",
    params(
        ("server_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The id that the client chose for the instance"),
        SendQuery,
        ("prefer" = Option<String>, Header, description = "`respond-async` answers a request at once; its response is on the stream only"),
        ("idempotency-key" = Option<String>, Header, pattern = "^[!-~]{1,128}$", description = "Makes retries safe: a message that was passed to the agent under this key is answered with 202 and not passed again; its response is on the stream. An instance remembers its last 1024 keys. A key that was used with other bytes is rejected with 422. 1 to 128 visible ASCII characters"),
    ),
    request_body(content = Object, content_type = "application/json", description = "One JSON-RPC 2.0 message"),
    responses(
        (status = OK, description = "The agent's response, byte for byte", body = Object, content_type = "application/json",
            headers(("acp-event-id" = String, description = "The id of this response on the stream"))),
        (status = ACCEPTED, description = "The message was passed to the agent"),
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
    extract::require_json(&headers)?;
    let response_mode = response_mode(&headers, query.timeout_ms, app.timeout_max)?;
    let idempotency_key = extract::idempotency_key(&headers)?;
    let body = request_body::collect(body, MESSAGE_BYTES_MAX, app.stall_timeout).await?;
    let linger = query.linger_ms.map(Duration::from_millis);
    let message = OutgoingMessage { body, agent: query.agent, response_mode, idempotency_key, linger };
    match app.instances.send(&id, message).await? {
        SendOutcome::Accepted => Ok(StatusCode::ACCEPTED.into_response()),
        SendOutcome::Response { seq, body } => {
            let mut response = Response::new(Body::from(body));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(EVENT_ID, HeaderValue::from(seq.get()));
            Ok(response)
        }
    }
}

/// Reads from the headers whether the client wants to wait for the response.
fn response_mode(headers: &HeaderMap, timeout_ms: Option<u64>, max: Duration) -> Result<ResponseMode> {
    let preferences = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    if preferences
        .flat_map(|value| value.split(','))
        .any(|one| one.trim().eq_ignore_ascii_case("respond-async"))
    {
        return Ok(ResponseMode::Async);
    }
    Ok(ResponseMode::Wait(extract::response_timeout(timeout_ms, max)?))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InstanceStreamQuery {
    /// The id of the last event that the client received, like the header `Last-Event-ID`.
    last_event_id: Option<u64>,
}

/// Stream the agent's output as server-sent events.
#[utoipa::path(
    get, path = "/v1/acp/{server_id}", tag = "acp",
    params(
        ("server_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The instance"),
        InstanceStreamQuery,
        ("last-event-id" = Option<String>, Header, description = "Replay the events after this one"),
    ),
    responses(
        (status = OK, description = "`message` events with ids, and the control events `gap`, `unparsed` and `exited`",
            body = String, content_type = "text/event-stream"),
        Problems,
    )
)]
async fn stream(
    _: AcceptsEventStream,
    State(app): State<App>,
    Path(id): Path<ServerId>,
    Query(query): Query<InstanceStreamQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    let last = extract::last_event_id(&headers, query.last_event_id)?.map(Seq::new);
    Ok(sse::response(InstanceEvents(app.instances.reader(&id, last)?)))
}

/// The event stream of an instance, whose frames are rendered as server-sent events already.
struct InstanceEvents(InstanceReader);

impl sse::EventSource for InstanceEvents {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_next(cx).map(|item| {
            item.map(|item| match item {
                JournalItem::Frames(chunk) => chunk.bytes(),
                JournalItem::Gap(gap) => sse::gap_event(gap),
            })
        })
    }
}

/// Prepare an instance with its own launch options; its process starts with the first message.
#[utoipa::path(
    put, path = "/v1/acp/{server_id}", tag = "acp", request_body = PrepareInstanceRequest,
    params(("server_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The id that the client chose for the instance")),
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
struct DeleteInstanceQuery {
    /// How long the agent may take to exit by itself before it is killed. The daemon's own limit is the maximum and the
    /// default.
    #[param(value_type = Option<u64>, minimum = 0, maximum = 4_294_967_295_u64)]
    grace_ms: Option<u32>,
}

/// Delete an instance and stop its processes.
#[utoipa::path(
    delete, path = "/v1/acp/{server_id}", tag = "acp",
    params(
        ("server_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The instance"),
        DeleteInstanceQuery,
    ),
    responses((status = NO_CONTENT, description = "Deleted, or did not exist"), Problems)
)]
async fn delete(
    State(app): State<App>,
    Path(id): Path<ServerId>,
    Query(query): Query<DeleteInstanceQuery>,
) -> StatusCode {
    app.instances.delete(&id, query.grace_ms.map(|ms| Duration::from_millis(ms.into()))).await;
    StatusCode::NO_CONTENT
}
