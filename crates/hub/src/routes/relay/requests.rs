//! `/api/v1/relay/environments/{environment_id}/requests`: one thing that is asked of a device, for those who keep no connection.

use std::time::Duration;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, header};
use protocol::{
    Problem, ProblemKind,
    lending::DeviceRequest,
    relay::{RawJson, RelayError, RelayErrorCode},
};
use relay::{Ask, Call, Part, bytes_not_taken};
use serde::Serialize;
use server::{ProblemResponse, Result, RouteCollector, extract::JsonUpTo, routes, sse};

use super::environments::OpenedEnvironment;
use crate::{app::App, routes::Problems};

/// The largest body: as large as the largest message of the relay, and some more around it.
const BODY_BYTES_MAX: usize = (1 << 20) + (4 << 10);

/// The name of the last event of a stream.
const RESPONSE: &str = "response";

/// The name of the events before it.
const STREAM: &str = "stream";

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(ask));
}

/// Send one request to a device, with the environment's secret instead of a user token.
///
/// Returns `{"result": …}`, or a problem whose member `relay` is the relay error. With `Accept: text/event-stream`, stream
/// chunks are sent as `stream` events with data `{event, seq, data, encoding}`; the last event is `response`, with `result` or
/// `error`. Closing the connection cancels the request.
#[utoipa::path(
    post, path = "/api/v1/relay/environments/{environment_id}/requests", tag = "environments", request_body = DeviceRequest,
    params(("environment_id" = String, Path, pattern = "^env_[0-9a-f]{32}$", description = "The environment")),
    responses(
        (status = OK, description = "The device's result", content(
            (serde_json::Value = "application/json"), (String = "text/event-stream"),
        )),
        Problems,
    )
)]
async fn ask(
    State(app): State<App>,
    OpenedEnvironment(environment): OpenedEnvironment,
    headers: HeaderMap,
    JsonUpTo(DeviceRequest { method, params, context, timeout_ms }): JsonUpTo<DeviceRequest, BODY_BYTES_MAX>,
) -> Result<Response> {
    let mut ask = Ask::new(method, params);
    if let Some(context) = context {
        ask = ask.context(context);
    }
    if let Some(ms) = timeout_ms {
        ask = ask.within(Duration::from_millis(ms));
    }
    let call = Call::of(app.relay.ask(&environment, ask).map(in_text));
    if wants_events(&headers) {
        return Ok(sse::response(events(call)));
    }
    match call.outcome().await {
        Ok(result) => Ok(axum::Json(Outcome { result: &result }).into_response()),
        Err(error) => Err(refused(error)),
    }
}

#[derive(Serialize)]
struct Outcome<'a> {
    result: &'a RawJson,
}

/// What is told on the way.
#[derive(Serialize)]
struct Told<'a> {
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    data: &'a RawJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<protocol::relay::Encoding>,
}

/// What is told as JSON has no bytes.
fn in_text(part: Part) -> Part {
    match part {
        Part::Outcome(Ok(result)) if !result.bytes().is_empty() => Part::Outcome(Err(bytes_not_taken())),
        part => part,
    }
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accepts =
        headers.get_all(header::ACCEPT).iter().filter_map(|value: &HeaderValue| value.to_str().ok());
    accepts.into_iter().any(|value| value.contains("text/event-stream"))
}

/// The parts of a call as events; reading them no faster than they are wanted.
fn events(call: Call) -> stream::BoxStream<'static, Bytes> {
    let event = |part: Part| match part {
        Part::Stream(frame) => {
            let told =
                Told { event: &frame.event, seq: frame.seq, data: &frame.data, encoding: frame.encoding };
            sse::event(STREAM, &told)
        }
        Part::Outcome(Ok(result)) => sse::event(RESPONSE, &Outcome { result: &result }),
        Part::Outcome(Err(error)) => sse::event(RESPONSE, &serde_json::json!({ "error": error })),
    };
    call.map(event).boxed()
}

/// Why nothing came of it, as a problem.
fn refused(error: RelayError) -> ProblemResponse {
    let kind = match error.code {
        RelayErrorCode::InvalidRequest => ProblemKind::InvalidRequest,
        RelayErrorCode::UnknownMethod | RelayErrorCode::NotFound => ProblemKind::NotFound,
        RelayErrorCode::CapabilityUnavailable => ProblemKind::DeviceUnavailable,
        RelayErrorCode::PermissionDenied
        | RelayErrorCode::ApprovalRequired
        | RelayErrorCode::PolicyBlocked => ProblemKind::RelayRefused,
        RelayErrorCode::Timeout => ProblemKind::DeviceTimeout,
        RelayErrorCode::Cancelled => ProblemKind::RelayCancelled,
        RelayErrorCode::ProviderError | RelayErrorCode::RelayDisconnected | RelayErrorCode::ArtifactError => {
            ProblemKind::DeviceFailed
        }
    };
    Problem { relay: Some(Box::new(error.clone())), ..Problem::new(kind, error.message) }.into()
}
